//! `diff`, as the shell and a pipeline see it.

use super::root;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The example with some of its text replaced, in a folder of its own.
struct Edited(tempfile::TempDir);

impl Edited {
    fn new(edits: &[(&str, &str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["", "forms", "secrets"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
            for entry in std::fs::read_dir(root("config").join(folder)).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_file() {
                    std::fs::copy(entry.path(), dir.path().join(folder).join(entry.file_name())).unwrap();
                }
            }
        }
        for (file, from, to) in edits {
            let path = dir.path().join(file);
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains(from), "{file} has no {from}");
            std::fs::write(path, text.replacen(from, to, 1)).unwrap();
        }
        Self(dir)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("gateway.yaml")
    }
}

fn diff(words: &[&str], old: &Path, new: &Path) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_formgate"))
        .arg("diff")
        .args(words)
        .arg(old)
        .arg(new)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const MEETING: &str = "forms/meetings-start.json";

#[test]
fn the_same_files_do_not_differ() {
    let old = root("config/gateway.yaml");
    for words in [&[][..], &["--refuse-widening"]] {
        let said = diff(words, &old, &old);
        assert_eq!(said, (0, "nothing that decides about requests differs\n".to_owned(), String::new()));
    }
}

#[test]
fn a_wider_form_is_said_and_refused() {
    let (old, new) =
        (root("config/gateway.yaml"), Edited::new(&[(MEETING, "\"maxLength\": 80", "\"maxLength\": 81")]));
    let (code, out, err) = diff(&[], &old, &new.path());
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        out.starts_with(
            "start_meeting at /api/v2/meetings/start: the form is wider\n    newly admits     {\""
        ),
        "{out}"
    );
    assert!(out.contains("\n    newly refuses    nothing\n"), "{out}");
    let (code, out, err) = diff(&["--refuse-widening"], &old, &new.path());
    assert_eq!((code, err.as_str()), (1, "refused: 1 address admits more than before\n"), "{out}");
    // The other way round it is narrower, and nothing is refused.
    let (code, out, err) = diff(&["--refuse-widening"], &new.path(), &old);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(
        out.contains(": the form is narrower\n    newly admits     nothing\n    newly refuses    {\""),
        "{out}"
    );
    let (code, out, _) = diff(&["--json", "--refuse-widening"], &old, &new.path());
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &document["widening"], &document["routes"][0]["change"]),
        (1, &true.into(), &"widened".into())
    );
    let example = document["routes"][0]["admits"]["example"].as_str().unwrap();
    // What is said to be admitted is.
    let explain = |config: &Path| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_formgate"))
            .arg("explain")
            .arg(config)
            .arg("/api/v2/meetings/start")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), example.as_bytes()).unwrap();
        child.wait().unwrap().code().unwrap()
    };
    assert_eq!((explain(&old), explain(&new.path())), (1, 0), "{example}");
}

/// What is not the form's is named, and is no widening.
#[test]
fn other_keys_are_named() {
    let new = Edited::new(&[
        ("gateway.yaml", "path: /meetings", "path: /conferences"),
        ("gateway.yaml", "max_connections: 10000", "max_connections: 9999"),
        ("gateway.yaml", "trusted_proxies: []", "trusted_proxies: [\"10.0.0.0/8\"]"),
    ]);
    let (code, out, err) = diff(&["--refuse-widening"], &root("config/gateway.yaml"), &new.path());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("start_meeting at /api/v2/meetings/start: the form admits the same\n    changed besides  upstream.path\n"), "{out}");
    assert!(out.contains("of the whole file: trusted_proxies\nneeds a restart: max_connections\n"), "{out}");
}

#[test]
fn addresses_come_and_go() {
    let new = Edited::new(&[(
        "gateway.yaml",
        "address: /api/v2/meetings/start",
        "address: /api/v3/meetings/start",
    )]);
    let (code, out, err) = diff(&["--refuse-widening"], &root("config/gateway.yaml"), &new.path());
    assert_eq!((code, err.as_str()), (1, "refused: 1 address admits more than before\n"));
    assert!(out.contains("start_meeting at /api/v2/meetings/start: gone\n"), "{out}");
    assert!(out.contains("start_meeting at /api/v3/meetings/start: a new address\n"), "{out}");
}

#[test]
fn forms_by_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let short = file("short.json", r#"{"type":"string","maxLength":3}"#);
    let long = file("long.json", r#"{"type":"string","maxLength":400}"#);
    let (code, out, _) = diff(&["--refuse-widening"], &short, &long);
    assert_eq!(code, 1);
    assert!(out.contains("newly admits     \"aaaa\"\n"), "{out}");
    // Where nobody can tell, that is said and counts.
    let exact = file("exact.json", r#"{"type":"number","maximum":0.3}"#);
    let finer = file("finer.json", r#"{"type":"number","maximum":0.30000000000000001}"#);
    let (code, out, err) = diff(&["--refuse-widening"], &exact, &finer);
    assert_eq!(
        (code, err.as_str()),
        (1, "refused: whether 1 address admits more could not be decided\n"),
        "{out}"
    );
    assert!(out.contains("newly admits     not decided: take it for something\n"), "{out}");
    // Hostile: broken, missing, of another kind.
    let broken = file("broken.json", r#"{"type":"strin"}"#);
    let (code, out, err) = diff(&[], &broken, &dir.path().join("nowhere.json"));
    assert_eq!((code, out.as_str()), (78, ""));
    assert!(err.contains("broken.json:1:9") && err.contains("nowhere.json: error: cannot read"), "{err}");
    let (code, _, err) = diff(&[], &short, &root("config/gateway.yaml"));
    assert_eq!((code, err.contains("error: one is a form")), (64, true), "{err}");
    let (code, ..) = diff(&[], &root("config/gateway.yaml"), &root("tests/cases/config/refused/dozen.yaml"));
    assert_eq!(code, 78);
}

/// What is wrong with either file is said as `check --json` says it.
#[test]
fn faults_are_told_to_programs_too() {
    let config = root("tests/cases/config/refused/dozen.yaml");
    let checked =
        Command::new(env!("CARGO_BIN_EXE_formgate")).args(["check", "--json"]).arg(&config).output().unwrap();
    let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let (code, out, err) = diff(&["--json"], &root("config/gateway.yaml"), &config);
    assert_eq!((code, err.as_str()), (78, ""));
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["faults"], checked["faults"]);
    assert!(told["faults"][0]["line"].as_u64().is_some_and(|line| line > 0), "{told}");
    let dir = tempfile::tempdir().unwrap();
    let form = dir.path().join("form.json");
    std::fs::write(&form, "{\"type\":\"string\",\n \"maxlength\":3}").unwrap();
    let (code, out, _) = diff(&["--json"], &root(&format!("config/{MEETING}")), &form);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &told["faults"][0]["line"], &told["faults"][0]["pointer"]),
        (78, &2.into(), &"/maxlength".into())
    );
    let same = root("config/gateway.yaml");
    let told: Value = serde_json::from_str(&diff(&["--json"], &same, &same).1).unwrap();
    assert_eq!(told["faults"], serde_json::json!([]));
}
