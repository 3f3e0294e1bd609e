//! Every lint has a name, two sentences, a line in `docs/warnings.md`, and somebody who warns of it.

use super::root;
use formgate::lint::{Lint, Subject};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn formgate(words: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_formgate")).args(words).current_dir(root("")).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn page() -> String {
    std::fs::read_to_string(root("docs/warnings.md")).unwrap()
}

/// The table of the page is the table of the code: all of it, in its order, word for word.
#[test]
fn the_page_has_every_lint_as_the_code_has_it() {
    let row = |lint: &Lint| format!("| `{}` | {} | {} |\n", lint.name(), lint.meaning(), lint.remedy());
    let rows: String = Lint::ALL.iter().map(row).collect();
    let table = format!("| lint | what it means | what to do |\n|---|---|---|\n{rows}\n");
    assert!(page().contains(&table), "docs/warnings.md shows another table than:\n{table}");
}

/// What the page says of levels holds for the lints above a line of its table, and for no other.
#[test]
fn the_lints_of_forms_come_first() {
    let of_forms: Vec<Lint> = Lint::of_forms().collect();
    assert_eq!(of_forms, Lint::ALL[..of_forms.len()]);
    assert!(of_forms.iter().all(|lint| lint.subject() != Subject::File));
    let last = of_forms.last().unwrap().name();
    assert!(page().contains(&format!("down to `{last}`")), "{last}");
}

#[test]
fn names_and_sentences_are_fit_for_a_table() {
    let names: BTreeSet<&str> = Lint::ALL.iter().map(|lint| lint.name()).collect();
    assert_eq!(names.len(), Lint::ALL.len(), "a name twice");
    for lint in Lint::ALL {
        assert!(lint.name().bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", lint.name());
        for sentence in [lint.meaning(), lint.remedy()] {
            let fits = !sentence.is_empty() && !sentence.contains(['|', '\n']) && !sentence.ends_with('.');
            assert!(fits, "{}: {sentence}", lint.name());
        }
    }
}

/// A lint that nobody warns of any more would stand on the page for ever.
#[test]
fn somebody_warns_of_every_lint() {
    let mut text = String::new();
    collect(&root("src"), &mut text);
    for lint in Lint::ALL {
        assert!(text.contains(&format!("Lint::{lint:?}")), "nothing gives `{}`", lint.name());
    }
}

/// The text of every source but that of the table itself.
fn collect(folder: &Path, text: &mut String) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, text);
        } else if path != root("src/lint.rs") {
            text.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// The first lines of the page are what `check` prints.
#[test]
fn the_page_shows_what_check_prints() {
    let dir = tempfile::tempdir().unwrap();
    let form = r#"{
  "description": "Cancels orders.",
  "type": "object",
  "properties": {
    "orders": { "type": "array", "items": { "type": "integer", "minimum": 1, "maximum": 99999 } }
  },
  "required": ["orders"],
  "additionalProperties": false
}
"#;
    std::fs::write(dir.path().join("cancel.json"), form).unwrap();
    std::fs::write(
        dir.path().join("gateway.yaml"),
        "listen: ['127.0.0.1:0']\n\
         upstreams: { shop: { servers: ['http://127.0.0.1:1'] } }\n\
         defaults: { limits: none }\n\
         lints: { largest-body: allow }\n\
         routes: [{ address: /a, name: a, form: cancel.json, upstream: { to: shop, path: /a } }]\n",
    )
    .unwrap();
    let check = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_formgate"));
        let output =
            command.arg("check").args(words).arg("gateway.yaml").current_dir(dir.path()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, told) = check(&[]);
    assert_eq!(code, 0);
    assert!(page().contains(&format!("```text\n{told}```\n")), "docs/warnings.md does not show:\n{told}");
    let (code, told) = check(&["--deny-warnings"]);
    assert_eq!(code, 78);
    assert!(told.contains("[unbounded-array]"), "{told}");
}

#[test]
fn explain_says_what_a_lint_means() {
    let (code, out, err) = formgate(&["explain", "--lint", "unbounded-array"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(page().contains(&format!("```text\n{out}```\n")), "docs/warnings.md does not show:\n{out}");
    let (code, out, _) = formgate(&["explain", "--lint", "readable-key"]);
    assert_eq!((code, out.lines().count()), (0, 2), "{out}");
    let (code, out, _) = formgate(&["explain", "--lint", "all"]);
    assert_eq!(code, 0);
    for lint in Lint::ALL {
        let words = format!("{}: {}\n    help: {}\n", lint.name(), lint.meaning(), lint.remedy());
        assert!(out.contains(&words), "{words}");
    }
    for (name, told) in [
        ("unbounded_arrays", "error: no lint `unbounded_arrays`; did you mean `unbounded-array`?\n"),
        ("\u{1b}[2J", "error: no lint `\\u{1b}[2J`; there is missing-type, open-object, "),
        ("", "error: no lint ``; there is missing-type, "),
    ] {
        let (code, out, err) = formgate(&["explain", "--lint", name]);
        assert_eq!((code, out.as_str()), (64, ""));
        assert!(err.starts_with(told), "{err}");
    }
    for words in [&["--lint", "one-of", "/a"][..], &["--lint", "one-of", "--reason", "form"], &["--lint"]] {
        let (code, out, _) = formgate(&[&["explain"], words].concat());
        assert_eq!((code, out.as_str()), (64, ""), "{words:?}");
    }
}
