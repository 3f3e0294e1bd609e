//! The access line's published schema: every line of a mixed run fits, and its lists are those of the metrics
//! (`docs/access-log.md`).

use crate::support::backend::answer;
use crate::support::{After, Backend, MEETING, MEETING_BODY, Request, Setup};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/access-line.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The schema as it is, but closed: a new member is to be written down first.
fn closed() -> jsonschema::Validator {
    let mut schema = schema();
    schema["additionalProperties"] = json!(false);
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

#[test]
fn access_schema_fits_every_line_of_a_mixed_run() {
    let backend = Backend::scripted(|seen, stream| {
        use std::io::Write;
        if seen.head.contains("x-request-id") && seen.body.windows(4).any(|four| four == b"Gone") {
            return After::Close;
        }
        let status = if seen.body.windows(4).any(|four| four == b"Nope") { "422 No" } else { "200 OK" };
        let _ = stream.write_all(&answer(status, "Content-Type: application/json\r\n", "{}"));
        After::Keep
    });
    let gate = Setup::meeting(&backend)
        .with("routes/0/idempotency", "optional")
        .with("surfaces", json!({ "index": "on", "openapi": "on", "mcp": { "path": "/mcp" } }))
        .with("public_url", "https://api.example.com")
        .with("routes/0/mcp", true)
        .with("routes/0/examples", json!({ "accepted": [MEETING_BODY] }))
        .with(
            "routes/0/get_action",
            json!({
                "category": "coordination",
                "label": "openThisUrlToMeet",
                "boundaries": "Asks for a meeting. A person reviews every request.",
                "review_url": "https://example.org/review/{key}",
                "rejected_url": "https://example.org/rejected",
            }),
        )
        .start();
    let act = || Request::post(MEETING, MEETING_BODY);
    let named = |name: &str| Request::post(MEETING, format!(r#"{{"title":"{name}","displayName":"A"}}"#));
    let mcp = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "meetings_start", "arguments": { "title": "Q3", "displayName": "A" } } });
    let requests = [
        Request::get(MEETING),
        Request::new("HEAD", MEETING),
        Request::new("OPTIONS", MEETING),
        Request::get(MEETING).field("If-None-Match", "*"),
        act().field("GPT-Actor", "claude \"\\\u{7}"),
        act().field("Idempotency-Key", "k"),
        act().field("Idempotency-Key", "k"),
        named("Nope"),
        named("Gone"),
        Request::post(MEETING, "{}"),
        Request::post(MEETING, "{"),
        Request::post(MEETING, "{\"a\":1,\"a\":1}"),
        act().without("Content-Type"),
        act().field("If-Match", "\"old\""),
        act().field("Expect", "x"),
        act().field("Content-Length", "3, 4").raw(),
        Request::new("DELETE", MEETING),
        Request::get("/elsewhere"),
        Request::get(&format!("{MEETING}?title=Q3&displayName=A&idempotency_key=agent_req_001")),
        Request::get(&format!("{MEETING}?title=Q3&idempotency_key=agent_req_002")),
        Request::get("/openapi.json"),
        Request::get("/.well-known/gpt.json"),
        Request::post("/mcp", mcp.to_string()).field("Accept", "application/json, text/event-stream"),
    ];
    for request in &requests {
        gate.exchange(request);
    }
    let mut gone = gate.client();
    gone.send(&act().field("Content-Length", "999").raw().bytes());
    gone.reset();
    let lines = gate.access_lines(requests.len() + 1);
    let validator = closed();
    for line in &lines {
        let faults: Vec<_> = validator.iter_errors(line).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{line}: {faults:?}");
    }
    let outcomes: BTreeSet<_> = lines.iter().map(|line| line["outcome"].as_str().unwrap()).collect();
    assert!(outcomes.len() >= 10, "{outcomes:?}");
}

/// A label that is new, and not in the schema, is found here.
#[test]
fn access_schema_lists_what_metrics_count() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("routes/0/idempotency", "optional").start();
    let served = gate.metrics();
    let schema = schema();
    for (name, label, member) in [
        ("formgate_refusals_total", "reason", "reason"),
        ("formgate_requests_total", "outcome", "outcome"),
        ("formgate_requests_total", "method", "method"),
        ("formgate_upstream_results_total", "result", "upstream"),
        ("formgate_replays_total", "state", "replay"),
    ] {
        let listed = schema["properties"][member]["enum"].as_array().unwrap().iter();
        let listed: BTreeSet<&str> = listed.map(|value| value.as_str().unwrap()).collect();
        let series = served.series.keys().filter(|(have, _)| have == name);
        let counted: BTreeSet<&str> = series.map(|(_, labels)| labels[label].as_str()).collect();
        let unknown: Vec<_> = counted.difference(&listed).collect();
        assert!(unknown.is_empty(), "{member}: not in the schema: {unknown:?}");
        // `review` befalls GET-Actions only, which this gate has none of.
        let gone: Vec<_> = listed.difference(&counted).filter(|value| **value != "review").collect();
        assert!(gone.is_empty(), "{member}: in the schema and never counted: {gone:?}");
    }
}

/// The page has a row for each member, and no other.
#[test]
fn access_schema_and_the_page_name_the_same_members() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/access-log.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split_once("| member |").unwrap().1.split("\n\n").next().unwrap();
    let rows = table.lines().filter_map(|row| row.strip_prefix("| `")?.split_once(" |"));
    let names = rows.flat_map(|(names, _)| names.split(", ").map(|name| name.trim_matches('`')));
    let named: BTreeSet<String> = names.map(ToOwned::to_owned).collect();
    let schema = schema();
    let members: BTreeSet<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(named, members);
}
