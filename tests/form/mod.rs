//! Forms: what loads, what is refused and why, what is decided, what is published.

mod barren;
mod cost;
mod difference;
mod exact;
mod faults;
mod glance;
mod lints;
mod load;
mod misspelling;
mod pattern;
mod places;
mod published;
mod representation;
mod shipped;
mod suites;
mod unroll;

use formgate::form::{CompiledForm, FormFault, FormOptions, Numbers, Seen};
use formgate::json::Document;
use formgate::lint::{Level, Lint, LintLevels};
use std::path::PathBuf;

/// Options under which only faults refuse.
fn lenient() -> FormOptions {
    let mut lints = LintLevels::default();
    for lint in Lint::ALL {
        lints.set(*lint, Level::Allow);
    }
    FormOptions { lints, ..usual() }
}

/// Options as a route has them that says nothing.
fn usual() -> FormOptions {
    FormOptions {
        lints: LintLevels::default(),
        annotations: Vec::new(),
        unroll: None,
        numbers: Numbers::Exact,
        max_body: 64 * 1024,
    }
}

fn loads(text: &str) -> CompiledForm {
    CompiledForm::compile(text, &lenient()).unwrap_or_else(|faults| panic!("{text}\n{faults:#?}"))
}

fn refused(text: &str) -> Vec<FormFault> {
    match CompiledForm::compile(text, &lenient()) {
        Ok(_) => panic!("loads: {text}"),
        Err(faults) => faults,
    }
}

/// The verdict on a body's bytes: what is no strict JSON is refused. What shows at a glance must agree.
fn decides(form: &CompiledForm, body: &[u8]) -> bool {
    let mut document = Document::new();
    let admitted = document.parse(body).is_ok_and(|value| {
        let admitted = form.admits(value);
        assert_eq!(form.mismatch(value).is_none(), admitted, "{:?}", String::from_utf8_lossy(body));
        admitted
    });
    let contradicted = match form.glance(body) {
        Seen::Fits => !admitted,
        Seen::Unfit => admitted,
        Seen::Unsure => false,
    };
    assert!(!contradicted, "{} {:?}", form.published(), String::from_utf8_lossy(body));
    admitted
}

fn cases(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name)
}

fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(path: &std::path::Path) -> serde_json::Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
