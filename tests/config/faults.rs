//! Each file under `tests/cases/config/refused` (or `warned`) lists at its end what must be said about it: all of
//! it, in this order, and nothing else.
//!
//! `#! [FILE] LINE:COLUMN POINTER REASON…`, the pointer `-` for the root, the reason as far as it is given.

use super::root;
use formgate::config::{Fault, load};
use std::path::Path;

struct Expected {
    file: Option<String>,
    position: Option<(usize, usize)>,
    pointer: Option<String>,
    reason: String,
}

fn expected(path: &Path) -> Vec<Expected> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("#! "));
    lines
        .map(|line| {
            let mut words = line.split(' ').peekable();
            let position = |word: &str| {
                let (line, column) = word.split_once(':')?;
                Some((line.parse().ok()?, column.parse().ok()?))
            };
            let file = words.next_if(|word| position(word).is_none()).map(str::to_owned);
            Expected {
                file,
                position: words.next().and_then(position),
                pointer: words.next().map(|word| word.replace('-', if word == "-" { "" } else { "-" })),
                reason: words.collect::<Vec<_>>().join(" "),
            }
        })
        .collect()
}

fn compare(path: &Path, faults: &[Fault]) -> Vec<String> {
    let expected = expected(path);
    let mut wrong = Vec::new();
    for index in 0..expected.len().max(faults.len()) {
        let same = match (expected.get(index), faults.get(index)) {
            (Some(expected), Some(fault)) => {
                let file = match &expected.file {
                    Some(file) => path.parent().unwrap().join(file),
                    None => path.to_owned(),
                };
                fault.file == file
                    && expected.position.is_none_or(|position| position == (fault.line, fault.column))
                    && expected.pointer.as_ref().is_none_or(|pointer| *pointer == fault.pointer)
                    && fault.reason.starts_with(&expected.reason)
            }
            _ => false,
        };
        if !same {
            let said =
                faults.get(index).map(|f| format!("{}:{} {} {}", f.line, f.column, f.pointer, f.reason));
            let wanted =
                expected.get(index).map(|e| format!("{:?} {:?} {}", e.position, e.pointer, e.reason));
            wrong.push(format!("{} #{index}: said {said:?}, wanted {wanted:?}", path.display()));
        }
    }
    wrong
}

fn each(dir: &str, mut judge: impl FnMut(&Path) -> Vec<Fault>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(root(dir)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    assert!(!paths.is_empty(), "no cases in {dir}");
    let wrong: Vec<_> = paths.iter().flat_map(|path| compare(path, &judge(path))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_fault_is_said_with_its_place() {
    each("tests/cases/config/refused", |path| load(path).map(|_| path.to_owned()).unwrap_err().faults);
}

#[test]
fn every_warning_is_said_with_its_place() {
    each("tests/cases/config/warned", |path| load(path).unwrap().warnings);
}

/// A watch must go on looking at the files of a broken configuration, also at those that are missing.
#[test]
fn a_refused_load_names_its_files() {
    let refused = load(&root("tests/cases/config/refused/dozen.yaml")).unwrap_err();
    let dir = root("tests/cases/config/refused");
    let named = ["dozen.yaml", "../forms/good.json", "../forms/missing.json"].map(|name| dir.join(name));
    assert_eq!(refused.files, named);
    assert_eq!(refused.digest.len(), 32);
}

#[test]
fn what_cannot_be_read_is_a_fault() {
    for path in ["tests/cases/config/nowhere.yaml", "tests/cases/config"] {
        let refused = load(&root(path)).unwrap_err();
        assert_eq!(refused.faults.len(), 1);
        assert_eq!((refused.faults[0].line, refused.faults[0].column), (0, 0));
        assert!(refused.faults[0].reason.starts_with("cannot read "), "{}", refused.faults[0].reason);
        assert_eq!(refused.files, [root(path)]);
    }
}

#[test]
fn suggestions_name_what_was_meant() {
    let refused = load(&root("tests/cases/config/refused/dozen.yaml")).unwrap_err();
    let suggestions: Vec<_> = refused.faults.iter().filter_map(|fault| fault.suggestion.as_deref()).collect();
    for meant in ["did you mean `address`?", "did you mean `crm`?"] {
        assert!(suggestions.contains(&meant), "{suggestions:?}");
    }
}

/// What is said of the fault at a place.
fn suggested(case: &str, pointer: &str) -> String {
    let refused = load(&root(&format!("tests/cases/config/refused/{case}.yaml"))).unwrap_err();
    let found = refused.faults.iter().find(|fault| fault.pointer == pointer);
    found.unwrap_or_else(|| panic!("{pointer}: {:#?}", refused.faults)).suggestion.clone().unwrap_or_default()
}

#[test]
fn slips_get_the_place_or_the_words_that_were_meant() {
    for (case, pointer, words) in [
        ("slips", "/limits", "`limits` stands under `defaults` or on a route"),
        ("slips", "/routes/0/timeouts", "`timeouts` stands on an entry of `upstreams`"),
        ("slips", "/routes/1/set_headers", "`set_headers` stands under `upstream`"),
        ("slips", "/routes/1/path", "`path` stands under `upstream`"),
        ("slips", "/listen", r#"`listen: ["0.0.0.0:8080","https://0.0.0.0:8443"]`"#),
        ("slips", "/upstreams/crm/health", "`health: { path: /healthz }`"),
        ("slips", "/routes/1/upstream/set_headers/X-Key", "the path is relative to the YAML file"),
        ("misspelt-upstreams", "/upsteams", "did you mean `upstreams`?"),
        ("tab", "", "indent with spaces"),
        ("json-slips", "", "no comma before a closing bracket"),
        ("own-addresses", "/upstreams/crm/servers/0", "the address of the backend"),
    ] {
        assert_eq!(suggested(case, pointer), words, "{case} {pointer}");
    }
    let get_action = suggested("slips", "/routes/0/get_action");
    assert!(get_action.starts_with("`get_action: { category: "), "{get_action}");
    assert!(suggested("colon", "").contains("in it stands in quotes"));
}

/// No input makes the reader panic: prefixes and single-byte changes of the shipped example.
#[test]
fn mangled_files_are_refused_or_read() {
    let whole = std::fs::read(root("config/gateway.yaml")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gateway.yaml");
    for step in 0..200 {
        let at = step * whole.len() / 200;
        let mut bytes = if step % 2 == 0 { whole[..at].to_vec() } else { whole.clone() };
        if let Some(byte) = bytes.get_mut(at) {
            *byte = b"{}[]:-&*!\"'\xff\0"[step % 13];
        }
        std::fs::write(&path, bytes).unwrap();
        // The forms are not beside it, so it never loads; it must say so rather than die.
        assert!(!load(&path).unwrap_err().faults.is_empty());
    }
}

/// What is no file is not opened, nor for the sake of a better word: a FIFO would wait for a writer.
#[test]
fn what_is_no_file_is_said_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.json")).status();
    assert!(made.unwrap().success());
    std::fs::create_dir(folder.path().join("forms")).unwrap();
    for (form, help) in [
        ("pipe.json", "the path is relative to the YAML file"),
        ("forms", "it is a folder: name a file in it"),
    ] {
        let path = folder.path().join("gateway.yaml");
        let text = format!(
            "listen: [\"127.0.0.1:0\"]\nupstreams: {{ crm: {{ servers: [\"http://10.0.0.7\"] }} }}\ndefaults: {{ limits: none }}\n\
             routes:\n  - {{ address: /a, name: a, form: {form}, upstream: {{ to: crm, path: /a }} }}\n"
        );
        std::fs::write(&path, text).unwrap();
        let faults = load(&path).unwrap_err().faults;
        assert_eq!(faults.len(), 1, "{faults:#?}");
        assert!(faults[0].reason.ends_with("not a file"), "{}", faults[0]);
        assert_eq!(faults[0].suggestion.as_deref(), Some(help));
    }
}
