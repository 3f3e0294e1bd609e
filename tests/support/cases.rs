//! The case files under `tests/cases`.

use serde_json::Value;
use std::path::{Path, PathBuf};

pub(crate) fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// Names of all forms that have bodies.
pub(crate) fn forms() -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir().join("forms"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 9, "forms of the cases: {names:?}");
    names
}

pub(crate) fn form(name: &str) -> Vec<u8> {
    std::fs::read(dir().join("forms").join(name).join("form.json")).unwrap()
}

/// File name and bytes of each body in `accept`, `reject` or `edge`.
pub(crate) fn bodies(form: &str, kind: &str) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(dir().join("forms").join(form).join(kind)) else { return Vec::new() };
    let mut bodies: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    bodies.sort();
    bodies
}

/// Where the tests put a form.
pub(crate) fn address(form: &str) -> String {
    match form {
        "meetings-start" => super::MEETING.into(),
        other => format!("/api/v2/{other}"),
    }
}

pub(crate) fn http() -> Value {
    let text = std::fs::read(dir().join("http.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}
