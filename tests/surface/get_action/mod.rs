//! GET-Action (DESIGN 8; the rows `U-…` of REQUIREMENTS and those of `B-…` about it): every case of `getaction.json`, and
//! every sequence.

mod bystanders;
mod cases;
mod config;
mod outcomes;
mod query;
mod sequences;
mod silence;
mod store;
mod texts;

use crate::support::{Backend, Gate, MEETING, Request, Response, Setup, backend, cases as files};
use serde_json::{Value, json};

/// What every test's URL names.
pub(super) const MEMBERS: &str = "title=Q3+Planning&displayName=Agent+Alpha";
pub(super) const REJECTED: &str = "https://example.org/help";

/// A GET-Action that executes; its result is in the backend's answer.
pub(super) fn executes() -> Value {
    json!({
        "execute": true,
        "idempotent": true,
        "consent": "public",
        "category": "coordination",
        "boundaries": "Starts a public meeting.",
        "example": { "title": "Q3 Planning", "displayName": "Agent Alpha" },
        "result_url": { "pointer": "/joinUrl", "hosts": ["meet.example"] },
        "review_url": "https://example.org/review/{key}",
        "rejected_url": REJECTED,
    })
}

/// One that leaves everything to a person.
pub(super) fn reviews(review_url: &str, example: &Value) -> Value {
    json!({
        "category": "review",
        "boundaries": "A person decides.",
        "example": example,
        "review_url": review_url,
        "rejected_url": REJECTED,
    })
}

/// `start_meeting`, openable.
pub(super) fn meeting(backend: &Backend) -> Setup {
    Setup::meeting(backend)
        .with("public_url", "https://api.example.com")
        .with("routes/0/get_action", executes())
}

/// Answers each act with a link of its own.
pub(super) fn starts_meetings() -> Backend {
    Backend::scripted(|seen, stream| {
        let number = seen.connection * 1000 + seen.nth;
        let body = format!(r#"{{"id":{number},"joinUrl":"https://meet.example/{number}"}}"#);
        match std::io::Write::write_all(
            stream,
            &backend::answer("201 Created", "Content-Type: application/json\r\n", body),
        ) {
            Ok(()) => backend::After::Keep,
            Err(_) => backend::After::Close,
        }
    })
}

pub(super) fn opening(query: &str) -> Request {
    Request::get(&format!("{MEETING}?{query}"))
}

/// Opens the meeting's URL; the answer has the shape that all have (U-06, U-07, U-08).
#[track_caller]
pub(super) fn open(gate: &Gate, query: &str) -> (String, String) {
    told(&gate.exchange(&opening(query)))
}

/// Code and URL, after a look at everything that every answer has in common.
#[track_caller]
pub(super) fn told(response: &Response) -> (String, String) {
    assert!(matches!(response.status, 200 | 429), "{}", response.head);
    assert_eq!(response.field("content-type"), Some("application/json"));
    assert_eq!(response.field("cache-control"), Some("no-store"));
    assert_eq!(response.field("x-robots-tag"), Some("noindex, nofollow"));
    assert_eq!(response.field("etag"), None);
    let text = response.text();
    let value = response.json();
    let members = value.as_object().unwrap();
    assert_eq!(members.keys().collect::<Vec<_>>(), ["code", "url"], "{text}");
    let (code, url) = (members["code"].as_str().unwrap(), members["url"].as_str().unwrap());
    assert!(["ok", "human_review_required", "rejected"].contains(&code), "{text}");
    assert!(url.starts_with("https://") && !url.contains('@'), "{text}");
    assert_eq!(text, json!({ "code": code, "url": url }).to_string(), "two keys, in this order, compact");
    (code.to_owned(), url.to_owned())
}

#[track_caller]
pub(super) fn code(gate: &Gate, query: &str) -> String {
    open(gate, query).0
}

/// The cases of a form.
pub(super) fn file(form: &str) -> Value {
    let path = files::dir().join("forms").join(form).join("getaction.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
