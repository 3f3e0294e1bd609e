//! From recorded requests: every body that was seen is admitted, by a form that is closed and bounded.

use super::{Made, admits, formgate};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What `init` made of these lines.
#[track_caller]
fn of_lines(lines: &[Value], more: &[&str]) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("recorded.jsonl");
    let text = lines.iter().fold(String::new(), |text, line| text + &line.to_string() + "\n");
    std::fs::write(&path, text).unwrap();
    Made::from("--from-traffic", &path, more)
}

fn order(number: usize) -> Value {
    let mut body = json!({
        "customer": format!("ada{number}@example.com"),
        "day": format!("2026-11-{:02}", 1 + number % 28),
        "size": (if number.is_multiple_of(2) { "small" } else { "large" }),
        "lines": [{"sku": format!("AB-{number}"), "count": number + 1}],
        "price": 9.99,
        "note": null,
    });
    if number == 3 {
        body["coupon"] = json!("X");
    }
    json!({"method": "POST", "path": "/orders?trace=1", "host": "127.0.0.1:8081", "body": body})
}

#[test]
fn what_was_seen_becomes_a_closed_form() {
    let lines: Vec<Value> = (0..12).map(order).collect();
    let made = of_lines(&lines, &[]);
    let form = made.form("post_orders");
    let member = |name: &str| form["properties"][name].clone();
    assert_eq!(member("customer"), json!({"type": "string", "format": "email", "maxLength": 20}));
    assert_eq!(member("day"), json!({"type": "string", "format": "date"}));
    assert_eq!(member("size"), json!({"enum": ["large", "small"]}));
    assert_eq!(member("price"), json!({"type": "number", "minimum": 0, "maximum": 10}));
    assert_eq!(member("note"), json!({"type": "null"}));
    assert_eq!(
        member("lines")["items"]["properties"]["count"],
        json!({"type": "integer", "minimum": 0, "maximum": 20})
    );
    assert_eq!(form["required"], json!(["customer", "day", "size", "lines", "price", "note"]));
    assert_eq!(form["additionalProperties"], false);
    let yaml = made.yaml();
    for line in [
        "bound guessed: maxLength 20 at /customer",
        "the query of 12 requests",
        "127.0.0.1:8081",
        "copies of recorded values",
    ] {
        assert!(yaml.contains(line), "{line}\n{yaml}");
    }
}

#[test]
fn values_are_not_copied_where_that_is_said() {
    let lines: Vec<Value> = (0..12).map(order).collect();
    let made = of_lines(&lines, &["--no-examples"]);
    let all = made.yaml() + &made.form("post_orders").to_string();
    for value in ["ada1@example.com", "AB-1", "small", "large"] {
        assert!(!all.contains(value), "{value}\n{all}");
    }
}

#[test]
fn tokens_are_not_listed() {
    let token = |number: usize| ["Zk3JqPx9TtR2bW", "a8F4kLm2QsY7vN"][number % 2];
    let lines: Vec<Value> = (0..20)
        .map(|number| json!({"method": "PUT", "path": "/keys", "body": {"key": token(number)}}))
        .collect();
    assert_eq!(
        of_lines(&lines, &[]).form("put_keys")["properties"]["key"],
        json!({"type": "string", "maxLength": 20})
    );
}

#[test]
fn what_cannot_be_used_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("recorded.jsonl");
    let lines = [
        r#"{"method":"POST","path":"/a","body":{"n":1}}"#,
        r#"{"method":"POST","path":"/a","text":"{\"n\":2}"}"#,
        r#"{"method":"POST","path":"/a","text":"{\"n\":2,\"n\":3}"}"#,
        r#"{"method":"POST","path":"/a"}"#,
        r#"{"method":"GET","path":"/a"}"#,
        r#"{"method":"POST","path":"/a/12345/b","body":{}}"#,
        r#"{"method":"POST","path":"/a/123e4567-e89b-12d3-a456-426614174000/b","body":{}}"#,
        "not json",
    ];
    std::fs::write(&path, lines.join("\n")).unwrap();
    let made = Made::from("--from-traffic", &path, &[]);
    assert_eq!(made.report["carried"].as_array().unwrap().len(), 1);
    let reasons: Vec<&str> = made.report["not_carried"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| left["reason"].as_str().unwrap())
        .collect();
    for told in [
        "looks like an id in it (2 requests)",
        "request 3: its body is refused: a member name twice",
        "request 4: it has no body",
        "request 8: the line cannot be read",
    ] {
        assert!(reasons.iter().any(|reason| reason.contains(told)), "{told}: {reasons:#?}");
    }
}

#[test]
fn har_files_are_read() {
    let entry = |kind: &str, text: &str| json!({"request": {"method": "POST", "url": "http://127.0.0.1:8081/v1/notes?x=1", "postData": {"mimeType": kind, "text": text}}, "response": {"status": 200}});
    let har = json!({"log": {"version": "1.2", "entries": [entry("application/json; charset=utf-8", r#"{"title":"a"}"#), entry("application/x-www-form-urlencoded", "a=b")]}});
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("recorded.har");
    std::fs::write(&path, format!("{har:#}")).unwrap();
    let made = Made::from("--from-traffic", &path, &[]);
    assert_eq!(made.form("post_v1_notes")["required"], json!(["title"]));
    assert_eq!(made.report["reasons"]["unreadable"], 1);
    std::fs::write(&path, "{}").unwrap();
    let done = formgate(["init".as_ref(), "--from-traffic".as_ref(), path.as_os_str()]);
    assert_eq!(done.status.code(), Some(65), "{done:?}");
}

#[test]
fn who_asked_is_not_copied() {
    let request = |url: &str, text: &str| {
        json!({"request": {
            "method": "POST", "url": url, "headers": [{"name": "Authorization", "value": "Bearer Zk3JqPx9TtR2bW"}],
            "postData": {"mimeType": "application/json", "text": text}
        }})
    };
    let entries = [
        request("http://ada:correct-horse@127.0.0.1:8081/notes?key=battery-staple", r#"{"title":"a"}"#),
        request("http://bob@127.0.0.1:8081/notes", r#"{"title":"b"}"#),
        request("http://127.0.0.1:8081/resets/8f14e45fceea167a5a36dedd4bea2543/use", ""),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("recorded.har");
    std::fs::write(&path, json!({"log": {"entries": entries}}).to_string()).unwrap();
    let made = Made::from("--from-traffic", &path, &[]);
    let all = made.yaml() + &made.report.to_string();
    for secret in ["ada:", "bob@", "correct-horse", "battery-staple", "Zk3JqPx9", "8f14e45fceea"] {
        assert!(!all.contains(secret), "{secret}\n{all}");
    }
    assert!(all.contains("http://127.0.0.1:8081") && all.contains("/resets/{id}/use"), "{all}");
    // One server, whoever asked it.
    assert_eq!(made.report["carried"].as_array().unwrap().len(), 1);
}

/// Any body: objects of everything, a few names so that they meet.
fn body() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1000..1000_i32).prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        ".{0,30}".prop_map(Value::from),
        Just(json!("2026-11-30")),
        Just(json!("https://example.com/")),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-d]|.{0,4}", inner, 0..6)
                .prop_map(|map| Value::from(map.into_iter().collect::<serde_json::Map<_, _>>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_body_that_was_seen_is_admitted(bodies in prop::collection::vec(body(), 1..12)) {
        let line = |body| json!({"method": "POST", "path": "/a", "body": body}).to_string();
        let text = bodies.iter().fold(String::new(), |text, body| text + &line(body) + "\n");
        let recording = formgate::adopt::Recording { format: Some(formgate::adopt::Format::Jsonl), values: true };
        let adoption = formgate::adopt::from_traffic(&text, "drawn.jsonl", recording).unwrap();
        // A body that the strict parser refuses is listed; all others are in the form.
        let left = adoption.report.json()["not_carried"].to_string();
        prop_assert!(adoption.files.len() == 2, "{left}");
        let form: Value = serde_json::from_str(&adoption.files[1].1).unwrap();
        for body in &bodies {
            prop_assert!(admits(&form, body) || left.contains("its body is refused"), "{body} {form:#}");
        }
    }
}

#[test]
fn one_of_a_thing_is_called_one() {
    let one = of_lines(&[order(0)], &[]).yaml();
    assert!(one.contains(": 1 request, 1 route."), "{one}");
    let several = of_lines(&[order(0), order(1)], &[]).yaml();
    assert!(several.contains(": 2 requests, 1 route."), "{several}");
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let operation = Made::of_schema("3.1.0", &schema).yaml();
    assert!(operation.contains("1 operation is a route; 0 are not"), "{operation}");
}
