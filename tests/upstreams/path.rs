//! Members of the body in the target at the upstream (P10, B-3): through every door, in one spelling, and never another path.

use super::{Server, servers};
use crate::support::{Gate, Request, Setup};
use serde_json::{Value, json};

fn form() -> Value {
    json!({
        "description": "Refunds an order.",
        "type": "object",
        "properties": {
            "order": { "type": "string", "pattern": "^[A-Za-z0-9._~-]{3,40}$" },
            "line": { "type": "integer", "minimum": -1000, "maximum": 1_000_000 },
            "express": { "type": "boolean" },
            "note": { "type": "string", "maxLength": 100 },
        },
        "required": ["order", "line", "express"],
        "additionalProperties": false,
    })
}

fn setup(server: &Server) -> Setup {
    Setup::towards(&server.url())
        .inline_route("refund", &form())
        .with("routes/0/upstream/path", "/orders/{/order}/lines/{/line}.json?express={/express}&by=gate")
}

fn targets(server: &Server) -> Vec<String> {
    let heads = server.state.heads.lock().unwrap();
    heads.iter().map(|head| head.split("\r\n").next().unwrap().to_owned()).collect()
}

#[track_caller]
fn one(gate: &Gate, server: &Server, body: &str) -> String {
    let before = targets(server).len();
    let response = gate.post("/refund", body);
    assert_eq!(response.status, 200, "{body}: {}", response.head);
    let after = targets(server);
    assert_eq!(after.len(), before + 1);
    assert_eq!(server.state.seen.lock().unwrap().get(body.as_bytes()), Some(&1), "byte for byte: {body}");
    after.last().unwrap().clone()
}

/// However a value is written, it gives one path; the body goes along as it came (G-22).
#[test]
fn a_value_gives_one_path_however_it_is_written() {
    let [server] = servers::<1>();
    let gate = setup(&server).start();
    let line = |order: &str, line: &str| {
        format!("POST /orders/{order}/lines/{line}.json?express=true&by=gate HTTP/1.1")
    };
    for (order, number, path) in [
        ("abc-1", "7", line("abc-1", "7")),
        ("abc-2", "1e2", line("abc-2", "100")),
        ("abc-3", "1.0", line("abc-3", "1")),
        ("abc-4", "-0", line("abc-4", "0")),
        ("abc-5", "-12", line("abc-5", "-12")),
        ("abc-6", "0.1e1", line("abc-6", "1")),
        ("...", "0", line("...", "0")),
        ("\\u0061bc\\u002d7", "1", line("abc-7", "1")),
        ("A.b_c~d", "1000000", line("A.b_c~d", "1000000")),
    ] {
        let body = format!("{{\"order\":\"{order}\", \"line\":{number} ,\"express\":true}}");
        assert_eq!(one(&gate, &server, &body), path, "{body}");
    }
}

/// What would be another path is another value, and refused: nothing is sent (P4).
#[test]
fn what_would_be_another_path_does_not_fit() {
    let [server] = servers::<1>();
    let gate = setup(&server).start();
    for order in [
        "..",
        ".",
        "",
        "a/b",
        "../../admin",
        "abc?x=1",
        "abc#x",
        "abc%2Fdef",
        "abc%2e%2e",
        "abc\\u0000",
        "abc\\r\\nX: y",
        "abc def",
        "äbc",
        "\\uff0e\\uff0e\\uff0f",
        "abc;x",
        "abc\\\\def",
        "abc\\u2028",
        "a\\u202eb",
        "abc\\n",
    ] {
        let body = format!("{{\"order\":\"{order}\",\"line\":1,\"express\":true}}");
        assert_eq!(gate.post("/refund", &body).status, 204, "{body}");
    }
    for line in ["1.5", "1e9", "\"1\"", "null", "1e400"] {
        let body = format!("{{\"order\":\"abc\",\"line\":{line},\"express\":true}}");
        assert_eq!(gate.post("/refund", &body).status, 204, "{body}");
    }
    assert_eq!((server.acts(), targets(&server).len()), (0, 0));
}

/// The same through tools, MCP and a GET-Action: they share the act (U-17).
#[test]
fn every_door_leads_to_the_same_path() {
    let [server] = servers::<1>();
    let gate = setup(&server)
        .with("public_url", "https://api.example.com")
        .with("surfaces", json!({ "openapi": "on", "mcp": { "path": "/mcp" } }))
        .with("routes/0/actions", "longtail")
        .with("routes/0/mcp", true)
        .with(
            "routes/0/get_action",
            json!({
                "category": "coordination",
                "boundaries": "Refunds an order.",
                "execute": true,
                "idempotent": true,
                "consent": "public",
                "review_url": "https://example.com/review",
                "rejected_url": "https://example.com/rejected",
                "example": { "order": "abc", "line": 1, "express": true },
            }),
        )
        .start();
    let arguments = r#"{"order":"abc","line":7,"express":false}"#;
    let expected = "POST /orders/abc/lines/7.json?express=false&by=gate HTTP/1.1";
    let tool = format!(r#"{{"tool":"refund","arguments":{arguments}}}"#);
    let told = gate.post("/actions/call_runtime_tool", tool);
    assert_eq!(told.status, 200, "{}", told.head);
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"refund","arguments":{arguments}}}}}"#
    );
    let told =
        gate.exchange(&Request::post("/mcp", call).field("Accept", "application/json, text/event-stream"));
    assert_eq!(told.status, 200, "{}", told.head);
    let told = gate.get("/refund?order=abc&line=7&express=false&idempotency_key=stable-key-1");
    assert!(told.text().starts_with(r#"{"code":"ok""#), "{}", told.text());
    assert_eq!(targets(&server), [expected; 3]);
}

/// A form that is too loose does not load; what it must say is said with the place in the file.
#[test]
fn a_form_that_is_too_loose_is_a_fault() {
    let [server] = servers::<1>();
    let faults = |path: &str| {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("gateway.yaml");
        std::fs::write(&file, setup(&server).with("routes/0/upstream/path", path).text()).unwrap();
        formgate::config::load(&file).map(|_| ()).unwrap_err().faults
    };
    let loose = faults("/notes/{/note}/{/line}/{/other}");
    assert_eq!(loose.len(), 2, "{loose:#?}");
    assert!(loose[0].line > 1 && loose[0].pointer == "/routes/0/upstream/path", "{:?}", loose[0]);
    assert!(loose[0].reason.contains("the body need not have `note`"), "{}", loose[0].reason);
    for (path, said) in [
        ("/a/{/line", "a `{` without its `}`"),
        ("/a/{line}", "no JSON Pointer"),
        ("/a/{}", "no JSON Pointer"),
        ("/a/{/line}{/order}", "two members side by side"),
        ("{/line}/a", "must start with `/`"),
        ("/a//{/line}", "empty segment"),
        ("/../{/line}", "segment `.` or `..`"),
        ("/a/{/line}#x", "cannot stand in a path"),
        ("/a/}", "cannot stand in a path"),
    ] {
        let found = faults(path);
        assert!(found[0].reason.contains(said), "{path}: {}", found[0].reason);
    }
}
