//! The verb itself: where it writes, what it overwrites, what it says.

use super::{case, formgate};
use std::path::Path;
use std::process::Output;

fn init(dir: &Path, more: &[&str]) -> Output {
    let document = case("orders.yaml");
    let words = ["init", "--openapi", document.to_str().unwrap(), "--out", dir.to_str().unwrap()];
    formgate(words.iter().chain(more))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn nothing_is_overwritten_unless_it_is_said() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("forms")).unwrap();
    let form = dir.path().join("forms/pay.json");
    std::fs::write(&form, "mine").unwrap();
    let refused = init(dir.path(), &[]);
    assert_eq!(refused.status.code(), Some(64));
    assert!(text(&refused.stderr).contains("forms/pay.json"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&form).unwrap(), "mine");
    assert!(!dir.path().join("gateway.yaml").exists());
    // Of an earlier one, or of no one: it stays, and is named.
    std::fs::write(dir.path().join("forms/older\u{202e}.json"), "mine").unwrap();
    let forced = init(dir.path(), &["--force"]);
    assert!(forced.status.success());
    let said = "1 form that gateway.yaml does not name stay as they were:\n  forms/older\\u{202e}.json\n";
    assert!(text(&forced.stderr).ends_with(said), "{}", text(&forced.stderr));
    assert_eq!(std::fs::read_to_string(dir.path().join("forms/older\u{202e}.json")).unwrap(), "mine");
    assert_ne!(std::fs::read_to_string(&form).unwrap(), "mine");
    // Nothing is left of the way there.
    let left: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_dry_run_prints_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let done = init(dir.path(), &["--dry-run"]);
    let shown = text(&done.stdout);
    assert!(
        done.status.success() && shown.contains("gateway.yaml <==") && shown.contains("carried: 5 of"),
        "{shown}"
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_written_to_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let done = init(&file, &[]);
    assert_eq!(done.status.code(), Some(70), "{done:?}");
    assert!(text(&done.stderr).contains("nothing is written"), "{done:?}");
}

#[test]
fn operations_are_picked() {
    let dir = tempfile::tempdir().unwrap();
    let done = init(dir.path(), &["--operation", "oldOrder", "--operation", "POST /payments"]);
    assert!(done.status.success(), "{done:?}");
    let forms = std::fs::read_dir(dir.path().join("forms")).unwrap().count();
    assert_eq!(forms, 2, "a deprecated one is carried when it is asked for");
    let unknown = init(&dir.path().join("other"), &["--operation", "createOder"]);
    assert_eq!(unknown.status.code(), Some(64));
    assert!(text(&unknown.stderr).contains("`createOder`"), "{unknown:?}");
}

#[test]
fn without_a_source_there_is_something_to_start_from() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let done = formgate(["init", "--out", out]);
    assert!(done.status.success() && text(&done.stdout).contains("--openapi"), "{done:?}");
    let config = dir.path().join("gateway.yaml");
    let checked = formgate(["check".as_ref(), "--deny-warnings".as_ref(), config.as_os_str()]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    assert_eq!(formgate(["init", "--out", out]).status.code(), Some(64));
    assert!(formgate(["init", "--dry-run"]).status.success());
}

#[test]
fn words_that_do_not_go_together_are_refused() {
    for words in [
        &["init", "--operation", "a"][..],
        &["init", "--openapi", "a", "--from-traffic", "b"],
        &["init", "--from-traffic", "a", "--operation", "b"],
        &["init", "--from-traffic", "a", "--path-members"],
        &["init", "--format", "har"],
        &["init", "--openapi", "a", "--no-examples"],
    ] {
        assert_eq!(formgate(words).status.code(), Some(64), "{words:?}");
    }
}
