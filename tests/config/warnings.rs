//! Every lint has a name, two sentences, a line in `docs/warnings.md`, and somebody who warns of it.

use super::root;
use formgate::config::load;
use formgate::lint::Lint;
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
    let (of_forms, others) = Lint::ALL.split_at(Lint::ALL.iter().filter(|lint| lint.is_of_form()).count());
    assert!(of_forms.iter().all(|lint| lint.is_of_form()) && others.iter().all(|lint| !lint.is_of_form()));
    let last = of_forms.last().unwrap().name();
    assert!(page().contains(&format!("down to `{last}`")), "{last}");
}

/// A gateway with one route that has three warnings of the file and one of its form.
fn levels(top: &str, route: &str) -> String {
    format!(
        "listen: ['127.0.0.1:0']\n\
         lints: {{ {top} }}\n\
         upstreams:\n\
         \x20 crm: {{ servers: ['http://127.0.0.1:1'], timeouts: {{ exchange: 41s }}, eject: {{ failures: 3 }} }}\n\
         \x20 erp: {{ servers: ['http://127.0.0.1:1'] }}\n\
         defaults: {{ limits: none }}\n\
         routes:\n\
         - {{ address: /a, name: a, form: {{ type: string, maxLength: 3 }}, lints: {{ {route} }}, upstream: {{ to: crm, path: /a }} }}\n"
    )
}

/// The lints that warn of it, or the faults and their lints.
fn judged(top: &str, route: &str) -> Result<Vec<Lint>, Vec<(String, Option<Lint>)>> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gateway.yaml");
    std::fs::write(&path, levels(top, route)).unwrap();
    match load(&path) {
        Ok(loaded) => Ok(loaded.warnings.iter().filter_map(|warning| warning.lint).collect()),
        Err(refused) => Err(refused.faults.into_iter().map(|fault| (fault.reason, fault.lint)).collect()),
    }
}

/// Two routes share a form; what is a warning to one is a fault to the other, whichever comes first.
#[test]
fn what_one_route_is_warned_of_another_is_refused_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gateway.yaml");
    std::fs::write(dir.path().join("form.json"), r#"{"type":"string","maxLength":3}"#).unwrap();
    for levels in [["warn", "deny"], ["deny", "warn"], ["deny", "deny"], ["warn", "warn"]] {
        let route = |name: &str, level: &str| {
            format!(
                "- {{ address: /{name}, name: {name}, form: form.json, lints: {{ missing-description: {level} }}, \
                 upstream: {{ to: crm, path: / }} }}\n"
            )
        };
        let head = "listen: ['127.0.0.1:0']\nupstreams: { crm: { servers: ['http://127.0.0.1:1'] } }\n\
                    defaults: { limits: none }\nroutes:\n";
        std::fs::write(&path, format!("{head}{}{}", route("a", levels[0]), route("b", levels[1]))).unwrap();
        let told = match load(&path) {
            Ok(loaded) => (loaded.gateway.routes().len(), loaded.warnings),
            Err(refused) => (0, refused.faults),
        };
        let lints: Vec<_> = told.1.iter().map(|fault| fault.lint).collect();
        let routes = if levels.contains(&"deny") { 0 } else { 2 };
        assert_eq!((told.0, lints), (routes, vec![Some(Lint::MissingDescription)]), "{levels:?}");
    }
}

#[test]
fn every_lint_has_a_level() {
    let usual =
        [Lint::SlowExchange, Lint::SingleServerEjection, Lint::UnusedUpstream, Lint::MissingDescription];
    assert_eq!(judged("", "").unwrap(), usual);
    let allowed = "slow-exchange: allow, single-server-ejection: allow, unused-upstream: allow, missing-description: allow";
    assert_eq!(judged(allowed, "").unwrap(), []);
    assert_eq!(judged(allowed, "missing-description: warn").unwrap(), [Lint::MissingDescription]);
    let all: Vec<String> = Lint::ALL.iter().map(|lint| format!("{}: allow", lint.name())).collect();
    assert_eq!(judged(&all.join(", "), "").unwrap(), []);
    // Denied, it is a fault like any other, and the others are told as they are.
    let denied = judged("unused-upstream: deny, missing-description: deny", "").unwrap_err();
    assert_eq!(
        denied.iter().map(|(_, lint)| *lint).collect::<Vec<_>>(),
        [Some(Lint::UnusedUpstream), Some(Lint::MissingDescription)]
    );
}

/// What a route that is wrong uses is used, and what one that cannot be read would use is not known: no fault follows from
/// another.
#[test]
fn a_denied_lint_does_not_follow_from_a_fault() {
    let denied = "unused-upstream: deny, slow-exchange: allow, single-server-ejection: allow, missing-description: allow";
    let text = levels(denied, "").replace("  erp: { servers: ['http://127.0.0.1:1'] }\n", "");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gateway.yaml");
    std::fs::write(&path, &text).unwrap();
    assert_eq!(load(&path).unwrap().warnings, []);
    std::fs::write(&path, text.replace("name: a,", "")).unwrap();
    let reasons: Vec<String> =
        load(&path).unwrap_err().faults.into_iter().map(|fault| fault.reason).collect();
    assert_eq!(reasons, ["`name` is missing"]);
    let (before, _) = text.split_once("- { address").unwrap();
    std::fs::write(&path, format!("{before}- colour\n")).unwrap();
    let faults = load(&path).unwrap_err().faults;
    assert!(faults.iter().all(|fault| fault.lint.is_none()), "{faults:#?}");
}

/// What a route cannot decide is refused there, and a name is a name.
#[test]
fn a_level_has_its_place() {
    for (top, route, told) in [
        ("", "unused-upstream: allow", "`unused-upstream` is not about the form of a route"),
        ("", "passed-token: deny", "`passed-token` is not about the form of a route"),
        ("unused-upstreams: allow", "", "unknown lint `unused-upstreams`"),
        ("widening: allow", "", "unknown lint `widening`"),
    ] {
        let faults = judged(top, route).unwrap_err();
        assert_eq!(faults, [(told.to_owned(), None)]);
    }
    assert!(judged("unused-upstream: no", "").is_err());
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
    assert!(
        code == 0 && out.ends_with("meant: `lints: { readable-key: allow }` at the top of the file\n"),
        "{out}"
    );
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
