//! `init`: from OpenAPI documents and recorded requests to files that pass `check` and serve.

mod admits;
mod cost;
mod documents;
mod faults;
mod guide;
mod hostile;
mod inference;
mod keywords;
mod served;
mod verbs;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A document among the cases.
fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/openapi").join(name)
}

/// `formgate` with these words.
fn formgate<W: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = W>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_formgate")).args(words).stdin(Stdio::null()).output().unwrap()
}

/// What `init` made of a document.
struct Made {
    dir: tempfile::TempDir,
    report: Value,
}

impl Made {
    /// Of a file, with more words behind it. It must come to something, and pass `check`.
    #[track_caller]
    fn of(path: &Path, more: &[&str]) -> Self {
        Self::from("--openapi", path, more)
    }

    #[track_caller]
    fn from(kind: &str, path: &Path, more: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (path, out) = (path.to_str().unwrap(), dir.path().to_str().unwrap());
        let words = ["init", kind, path, "--out", out, "--report", "json"];
        let done = formgate(words.iter().chain(more));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let report = serde_json::from_slice(&done.stdout).unwrap();
        let made = Self { dir, report };
        let checked = formgate(["check".as_ref(), made.dir.path().join("gateway.yaml").as_os_str()]);
        assert!(checked.status.success(), "{}\n{}", String::from_utf8_lossy(&checked.stderr), made.yaml());
        made
    }

    /// Of the text of a document.
    #[track_caller]
    fn of_text(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("document.yaml");
        std::fs::write(&path, text).unwrap();
        Self::of(&path, &[])
    }

    /// Of one schema, as the body of the one operation of a document of this version.
    #[track_caller]
    fn of_schema(version: &str, schema: &Value) -> Self {
        Self::of_text(&document(version, schema).to_string())
    }

    fn yaml(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("gateway.yaml")).unwrap()
    }

    #[track_caller]
    fn form(&self, name: &str) -> Value {
        let path = self.dir.path().join("forms").join(format!("{name}.json"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// Why the operation of an identifier was not carried: kind and reason.
    #[track_caller]
    fn refusal(&self, operation: &str) -> (String, String) {
        let all = self.report["not_carried"].as_array().unwrap();
        let left = all
            .iter()
            .find(|left| left["operation"] == operation)
            .unwrap_or_else(|| panic!("{operation} was carried"));
        (left["kind"].as_str().unwrap().to_owned(), left["reason"].as_str().unwrap().to_owned())
    }

    /// Why something was dropped, by its pointer in the source.
    fn dropped(&self, pointer: &str) -> Vec<String> {
        let all = self.report["keywords"].as_array().unwrap();
        let found = all
            .iter()
            .filter(|entry| entry["at"] == pointer)
            .flat_map(|entry| entry["dropped"].as_array().unwrap());
        found.map(|why| why.as_str().unwrap().to_owned()).collect()
    }
}

/// A document with one operation, `act`, and this schema as its body; `Named` is one that it may refer to.
fn document(version: &str, schema: &Value) -> Value {
    serde_json::json!({
        "openapi": version,
        "info": { "title": "One", "version": "1" },
        "paths": { "/act": { "post": {
            "operationId": "act",
            "requestBody": { "content": { "application/json": { "schema": schema } } }
        } } },
        "components": { "schemas": {
            "Named": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string", "maxLength": 9 } } },
            "Round": { "type": "object", "properties": { "next": { "$ref": "#/components/schemas/Round" }, "n": { "type": "integer" } } }
        } }
    })
}

/// Whether a form admits a value, by the validator alone.
fn admits(form: &Value, value: &Value) -> bool {
    jsonschema::options().should_validate_formats(true).build(form).unwrap().is_valid(value)
}
