//! GET: always the same bytes, whoever asks and whatever happened (P8; G-01 to G-04, G-08 to G-10, G-20, G-34, G-39).

use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request, Response, Setup, cases};
use serde_json::json;

fn with_context(backend: &Backend) -> Gate {
    Setup::meeting(backend)
        .with("routes/0/type", "meeting")
        .with("routes/0/context", "Starts a meeting and answers with a public join link.")
        .start()
}

/// G-01, G-02, G-03, G-08: `p`, `m`, `s` in that order, then the digest; GPT-Type when configured.
#[test]
fn the_first_request_after_start_gets_the_form() {
    let backend = Backend::agreeing();
    let gate = with_context(&backend);
    let first = gate.get(MEETING);
    assert_eq!(first.status, 200, "{}", first.head);
    assert_eq!(first.field("content-type"), Some("application/json"));
    assert_eq!(first.field("cache-control"), Some("no-cache"));
    assert_eq!(first.field("gpt-type"), Some("meeting"));
    assert!(first.field("vary").unwrap().split(", ").any(|name| name.eq_ignore_ascii_case("accept")));
    let etag = first.field("etag").unwrap();
    assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 16, "a strong tag: {etag}");
    let arrival = first.json();
    let text = first.text();
    let at = |member: &str| text.find(member).unwrap_or_else(|| panic!("no {member} in {text}"));
    assert!(
        text.starts_with("{\"p\":") && at("\"m\":") < at("\"s\":") && at("\"s\":") < at("\"digest\":"),
        "{text}"
    );
    assert_eq!(arrival["p"], "Starts a meeting and answers with a public join link.");
    assert_eq!(arrival["m"], json!([]));
    assert!(
        etag.contains(arrival["digest"].as_str().unwrap()),
        "the digest is the tag: {etag} {}",
        arrival["digest"]
    );
    backend.untouched();
}

/// G-03: not configured is `""` and `[]`, never absent; no GPT-Type then (G-44).
#[test]
fn without_context_the_members_are_empty_not_absent() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let arrival = gate.get(MEETING);
    assert!(arrival.text().starts_with(r#"{"p":"","m":[],"s":{"#), "{}", arrival.text());
    assert_eq!(arrival.field("gpt-type"), None);
}

/// Member order of the source is kept: models fill members in the order they read them (DESIGN 5).
#[test]
fn the_served_form_keeps_the_member_order_of_the_source() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let text = gate.get(MEETING).text().to_owned();
    let at = |member: &str| text.find(member).unwrap_or_else(|| panic!("no {member} in {text}"));
    assert!(at("\"title\"") < at("\"displayName\"") && at("\"displayName\"") < at("\"durationMinutes\""));
    assert!(at("\"type\":\"object\"") < at("\"properties\""), "{text}");
}

fn same(first: &Response, again: &Response, what: &str) {
    assert_eq!(first.constant_head(), again.constant_head(), "{what}");
    assert_eq!(first.body, again.body, "{what}");
}

/// G-09: `arrive_twice` of the table.
#[test]
fn a_hundred_gets_among_everything_else_are_identical() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .with("routes/0/limits", json!({ "get": "none", "post": "1/s burst 20", "refused": "1/s burst 5" }))
        .start();
    let first = gate.get(MEETING);
    assert_eq!(first.field("set-cookie"), None);
    let mut kept = gate.client();
    for round in 0..100 {
        let between = match round % 6 {
            0 => Request::post(MEETING, MEETING_BODY),
            1 => Request::post(MEETING, "{"),
            2 => Request::new("DELETE", MEETING),
            3 => Request::get("/elsewhere"),
            4 => Request::get(MEETING).field("Cookie", "sid=1").field("GPT-Actor", "claude"),
            _ => Request::new("HEAD", MEETING),
        };
        let mut other = gate.client();
        let _ = other.exchange(&between);
        same(&first, &gate.get(MEETING), "a new connection");
        if round % 6 == 0 {
            let _ = kept.exchange(&between);
        }
        same(&first, &kept.exchange(&Request::get(MEETING)), "a kept connection");
    }
}

/// G-01, G-10, G-34: nothing of the head matters.
#[test]
fn no_field_and_no_query_changes_a_byte() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let first = gate.get(MEETING);
    let long = "x".repeat(6000);
    let fields = [
        ("User-Agent", "curl/8"),
        ("User-Agent", ""),
        ("GPT-Actor", "claude; v=4"),
        ("GPT-Actor", long.as_str()),
        ("GPT-Actor", "\u{1F600}\t\"<>"),
        ("Authorization", "Bearer wrong"),
        ("Cookie", "a=b"),
        ("X-Forwarded-For", "10.1.2.3, nonsense"),
        ("X-Forwarded-Proto", "https"),
        ("Origin", "null"),
        ("Range", "bytes=0-0"),
        ("If-Match", "\"stale\""),
        ("Accept-Language", "fr"),
        ("Content-Type", "text/plain"),
        ("Cache-Control", "no-store"),
        ("Prefer", "return=minimal"),
    ];
    for (name, value) in fields {
        same(&first, &gate.exchange(&Request::get(MEETING).field(name, value)), name);
    }
    for query in
        ["?", "?x", "?x=1&x=2", "?title=A&displayName=B", "?%00", "?a=%ff", "?idempotency_key=12345678"]
    {
        same(&first, &gate.get(&format!("{MEETING}{query}")), query);
    }
    let twice = Request::get(MEETING).field("GPT-Actor", "a").field("GPT-Actor", "b");
    same(&first, &gate.exchange(&twice), "GPT-Actor twice");
    backend.untouched();
}

/// B-11: HEAD has the fields of GET and no body.
#[test]
fn head_is_get_without_its_body() {
    let backend = Backend::agreeing();
    let gate = with_context(&backend);
    let mut client = gate.client();
    let get = client.exchange(&Request::get(MEETING));
    let head = client.exchange(&Request::new("HEAD", MEETING));
    assert_eq!(get.constant_head(), head.constant_head());
    assert!(head.body.is_empty());
    same(&get, &client.exchange(&Request::get(MEETING)), "after HEAD: no body was left on the wire");
    assert_eq!(gate.exchange(&Request::new("HEAD", "/elsewhere")).status, 404);
    backend.untouched();
}

/// G-06, G-20: all forms of the cases are served as written.
#[test]
fn each_form_is_served_as_it_stands_in_its_file() {
    let backend = Backend::agreeing();
    let mut setup = Setup::bare(&backend);
    for form in cases::forms() {
        setup = setup.case_route(&form);
    }
    let gate = setup.start();
    for form in cases::forms() {
        let source: serde_json::Value = serde_json::from_slice(&cases::form(&form)).unwrap();
        assert_eq!(gate.get(&cases::address(&form)).json()["s"], source, "{form}");
    }
    backend.untouched();
}

/// G-04: the messages come back as configured.
#[test]
fn messages_are_served_as_configured() {
    let backend = Backend::agreeing();
    let messages =
        json!([{ "role": "user", "content": "hello" }, { "role": "assistant", "content": "name=\"x\"" }]);
    let gate = Setup::meeting(&backend).with("routes/0/messages", messages.clone()).start();
    assert_eq!(gate.get(MEETING).json()["m"], messages);
}
