//! What a secret file holds reaches the upstream's field and nothing else.

use formgate::config::load;
use formgate::lint::Lint;
use std::path::{Path, PathBuf};
use std::process::Command;

const CANARY: &str = "canary-3f9a-5c21";

fn write(dir: &Path, fault: &str) -> PathBuf {
    std::fs::write(dir.join("token"), format!("{CANARY}\n")).unwrap();
    let path = dir.join("gateway.yaml");
    std::fs::write(
        &path,
        format!(
            "listen: ['127.0.0.1:0']\n\
             upstreams: {{ crm: {{ servers: ['http://127.0.0.1:1'] }} }}\n\
             defaults: {{ limits: none }}\n\
             routes:\n\
             - address: /a\n\
             \x20 name: a\n\
             \x20 form: {{ type: string, maxLength: 3, description: d }}\n\
             \x20 upstream: {{ to: crm, path: /a, set_headers: {{ Authorization: 'Bearer ${{file:token}}{fault}' }} }}\n"
        ),
    )
    .unwrap();
    path
}

#[test]
fn a_secret_is_read_and_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let loaded = load(&write(dir.path(), "")).unwrap();
    let field = &loaded.gateway.at("/a").unwrap().outbound.set_fields[0];
    assert_eq!((field.name.as_str(), field.value.as_str()), ("Authorization", &*format!("Bearer {CANARY}")));
    assert!(!format!("{field:?}").contains(CANARY));
    assert!(!format!("{loaded:?}").contains(CANARY));
    assert!(loaded.files.contains(&dir.path().join("token")), "a rotated secret is a change");
}

#[test]
fn a_secret_that_everybody_can_write_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = write(dir.path(), "");
    for (mode, told) in [(0o666, 1), (0o602, 1), (0o644, 0), (0o640, 0), (0o600, 0)] {
        std::fs::set_permissions(dir.path().join("token"), std::fs::Permissions::from_mode(mode)).unwrap();
        let warnings = load(&path).unwrap().warnings;
        let about: Vec<_> =
            warnings.iter().filter(|warning| warning.lint == Some(Lint::WritableSecret)).collect();
        assert_eq!(about.len(), told, "{mode:o}: {warnings:#?}");
        let place = "/routes/0/upstream/set_headers/Authorization";
        assert!(about.iter().all(|warning| warning.pointer == place), "{warnings:#?}");
    }
}

#[test]
fn no_fault_shows_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let refused = load(&write(dir.path(), "ü")).unwrap_err();
    assert!(!format!("{refused:?}").contains(CANARY));
}

#[test]
fn no_verb_shows_a_secret() {
    for fault in ["", "ü"] {
        let dir = tempfile::tempdir().unwrap();
        let path = write(dir.path(), fault);
        for words in [&["check"][..], &["check", "--json"], &["explain"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_formgate"));
            command.args(words).arg(&path);
            if words == ["explain"] {
                command.arg("/a").arg("/dev/null");
            }
            let output = command.output().unwrap();
            let all = [output.stdout, output.stderr].concat();
            assert!(!all.is_empty());
            assert!(!String::from_utf8(all).unwrap().contains(CANARY), "{words:?}");
        }
    }
}
