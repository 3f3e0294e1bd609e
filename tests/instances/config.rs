//! The shipped example, and what cannot change without a restart.

use super::{setup, with};
use crate::support::Backend;
use crate::support::redis::{Redis, readiness};
use std::path::Path;
use std::process::Command;

fn formgate(words: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_formgate")).args(words).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn the_example_loads() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/instances.yaml");
    let (well, said) = formgate(&["check", "--deny-warnings", file.to_str().unwrap()]);
    assert!(well, "{said}");
}

#[test]
fn another_store_needs_a_restart() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let gate = setup(&backend, redis.store("refuse")).start();
    gate.replace("gateway.yaml", setup(&backend, with(redis.store("refuse"), "prefix", "other")).text());
    gate.reload();
    // Asked of what is served: the watch may have been first.
    let page = readiness(&gate);
    assert_eq!(page["needs_restart"], serde_json::json!(["store"]), "{page}");
}

/// `check` asks nothing of the network unless it is told to; then what cannot be reached is warned of, not refused.
#[test]
fn check_online_says_whether_the_store_can_be_used() {
    let Some(mut redis) = Redis::start(&[]) else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("gateway.yaml");
    let backend = Backend::agreeing();
    let config = setup(&backend, redis.store("refuse"));
    for (name, bytes) in &config.files {
        std::fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(dir.path().join(name), bytes).unwrap();
    }
    std::fs::write(&file, config.text()).unwrap();
    let path = file.to_str().unwrap();
    let (well, said) = formgate(&["check", "--online", path]);
    assert!(well && said.contains("store: redis+unix://") && said.contains("can be used"), "{said}");
    redis.kill();
    let (well, said) = formgate(&["check", "--online", path]);
    assert!(well && said.contains("cannot be used"), "{said}");
    let (well, said) = formgate(&["check", path]);
    assert!(well && !said.contains("store:"), "{said}");
    let (well, _) = formgate(&["check", "--online", "--deny-warnings", path]);
    assert!(!well);
    // A file is looked at and not made.
    let records = dir.path().join("records.db");
    let config = setup(&backend, serde_json::json!({ "file": records }));
    std::fs::write(&file, config.text()).unwrap();
    let (well, said) = formgate(&["check", "--online", path]);
    assert!(well && said.contains("can be used") && !records.exists(), "{said}");
    let config = setup(&backend, serde_json::json!({ "file": dir.path().join("no/records.db") }));
    std::fs::write(&file, config.text()).unwrap();
    let (well, said) = formgate(&["check", "--online", path]);
    assert!(well && said.contains("cannot be used"), "{said}");
}
