//! Where it is and for whom: methods, origins, HTTP/2, the list that load draws, and what load refuses.

use super::super::{faults, told};
use super::{APP, MCP, call_text, error, gate, message, result, setup, small};
use crate::support::gate::replace;
use crate::support::{Backend, Request, Response, Setup, eventually};
use serde_json::{Value, json};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// Without streams there is nothing to get, without sessions nothing to delete.
#[test]
fn only_post_is_heard() {
    let (gate, _backend) = gate();
    for method in ["GET", "HEAD", "DELETE", "PUT", "PATCH"] {
        let response = gate.exchange(
            &Request::new(method, MCP).field("Accept", "text/event-stream").field("Mcp-Session-Id", "x"),
        );
        assert_eq!((response.status, response.body.len()), (405, 0), "{method}");
        assert_eq!(response.field("allow"), Some("POST, OPTIONS"));
    }
    assert_eq!(gate.get("/mcp/").status, 404);
    assert_eq!(gate.get("/MCP").status, 404);
}

/// Neither what a client says it would read nor a session that it thinks it has changes anything.
#[test]
fn accept_and_sessions_are_passed_over() {
    let (gate, _backend) = gate();
    let told = gate.exchange(&message(PING));
    for request in [
        Request::post(MCP, PING),
        Request::post(MCP, PING).field("Accept", "application/json"),
        Request::post(MCP, PING).field("Accept", "text/event-stream"),
        Request::post(MCP, PING).field("Accept", "text/html"),
        message(PING).field("Mcp-Session-Id", "of-another-server"),
        message(PING).field("Last-Event-ID", "9"),
        message(PING).without("Content-Type").field("Content-Type", "application/json; charset=utf-8"),
        message(PING).chunked(7),
    ] {
        let response = gate.exchange(&request);
        assert_eq!(response.constant_head(), told.constant_head());
        assert_eq!(response.body, told.body);
    }
}

#[test]
fn what_is_not_declared_as_json_is_not_read() {
    let (gate, backend) = gate();
    let whole = call_text("count", "{\"n\":1}");
    let bare = || message(&whole).without("Content-Type");
    for request in [
        bare(),
        bare().field("Content-Type", "text/plain"),
        bare().field("Content-Type", "application/x-www-form-urlencoded"),
        bare().field("Content-Type", "application/json; charset=utf-16"),
        message(&whole).field("Content-Type", "application/json"),
        message(&whole).field("Content-Encoding", "gzip"),
    ] {
        assert_eq!(error(&gate.exchange(&request)), (415, -32600, None));
    }
    backend.untouched();
}

/// A page that a person looks at must not reach tools through their browser (DNS rebinding).
#[test]
fn a_foreign_page_is_turned_away() {
    let (gate, backend) = gate();
    let whole = call_text("count", "{\"n\":1}");
    for origin in [
        "https://evil.example",
        "null",
        "",
        "https://app.example.evil.example",
        "HTTPS://APP.EXAMPLE",
        "http://app.example",
        "https://app.example:443",
    ] {
        let response = gate.exchange(&message(&whole).field("Origin", origin));
        assert_eq!(error(&response), (403, -32600, None), "{origin}");
        assert_eq!(response.field("access-control-allow-origin"), None);
    }
    let twice = message(&whole).field("Origin", APP).field("Origin", "https://evil.example");
    assert_eq!(error(&gate.exchange(&twice)).0, 403);
    backend.untouched();
    let response = gate.exchange(&message(PING).field("Origin", APP));
    assert_eq!(result(&response), json!({}));
    assert_eq!(response.field("access-control-allow-origin"), Some(APP));
    assert_eq!(gate.exchange(&message(PING)).field("access-control-allow-origin"), None);
}

/// A listed page asks first, and is told which fields of MCP it may send.
#[test]
fn a_listed_page_may_ask_first() {
    let (gate, _backend) = gate();
    let ask = |origin: &str| {
        gate.exchange(
            &Request::new("OPTIONS", MCP)
                .field("Origin", origin)
                .field("Access-Control-Request-Method", "POST")
                .field("Access-Control-Request-Headers", "content-type,mcp-protocol-version"),
        )
    };
    let listed = ask(APP);
    assert_eq!(listed.status, 204);
    assert_eq!(listed.field("access-control-allow-origin"), Some(APP));
    assert_eq!(listed.field("access-control-allow-methods"), Some("POST"));
    let fields = listed.field("access-control-allow-headers").unwrap();
    for name in ["content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "authorization"] {
        assert!(fields.split(", ").any(|field| field == name), "{fields}");
    }
    assert_eq!(ask("https://evil.example").field("access-control-allow-origin"), None);
}

/// The gateway's own pages are its own: `public_url` is an origin without being listed.
#[test]
fn the_public_name_is_an_origin() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).with("public_url", "https://api.example.com/base").start();
    for (origin, status) in [
        ("https://api.example.com", 200),
        ("http://api.example.com", 403),
        ("https://api.example.com/base", 403),
    ] {
        assert_eq!(gate.exchange(&message(PING).field("Origin", origin)).status, status, "{origin}");
    }
}

fn tools(response: &Response) -> Vec<Value> {
    result(response)["tools"].as_array().unwrap().clone()
}

/// The form goes in byte for byte, with what the route says around it.
#[test]
fn the_list_is_drawn_from_the_routes() {
    let (gate, _backend) = gate();
    let response = gate.exchange(&message(LIST));
    let [meeting, count]: [_; 2] = tools(&response).try_into().unwrap();
    assert_eq!(count["name"], "count");
    assert_eq!(count["title"], "Count");
    assert_eq!(count["description"], "Counts.");
    assert_eq!(count["inputSchema"], small());
    assert_eq!(
        count["annotations"],
        json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false })
    );
    assert!(meeting.get("title").is_none());
    assert!(meeting["description"].as_str().unwrap().starts_with("Starts a meeting.\n"));
    // The most that a client must reckon with, where nothing is said.
    assert_eq!(
        meeting["annotations"],
        json!({ "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true })
    );
    for address in [crate::support::MEETING, "/count"] {
        let arrival = gate.get(address);
        let (_, form) = arrival.text().split_once("\"s\":").unwrap();
        let (form, _) = form.rsplit_once(",\"digest\":").unwrap();
        assert!(response.text().contains(&format!("\"inputSchema\":{form},\"annotations\"")), "{address}");
    }
    // What is not marked is nowhere, and nothing is told about upstreams.
    assert!(!response.text().contains("hidden") && !response.text().contains("legacy"));
}

#[test]
fn a_reload_changes_the_list() {
    let backend = Backend::agreeing();
    let before = setup(&backend).with("watch", "50ms");
    let gate = before.start();
    let version = || {
        let hello =
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        result(&gate.exchange(&message(hello)))["serverInfo"]["version"].clone()
    };
    let first = version();
    assert_eq!(tools(&gate.exchange(&message(LIST))).len(), 2);
    let after = setup(&backend).with("watch", "50ms").with("routes/2/mcp", true).with("routes/1/mcp", false);
    replace(&gate.config(), after.text().as_bytes());
    eventually("the other list", || {
        let names: Vec<_> =
            tools(&gate.exchange(&message(LIST))).iter().map(|tool| tool["name"].clone()).collect();
        names == ["meetings_start", "hidden"]
    });
    assert_ne!(version(), first, "the version follows the list");
    let gone = gate.exchange(&message(call_text("count", "{\"n\":1}")));
    assert_eq!(error(&gone), (200, -32602, Some(json!(1))));
    assert_eq!(result(&gate.exchange(&message(call_text("hidden", "{\"n\":1}"))))["isError"], false);
    assert_eq!(backend.only().line(), "POST /legacy/hidden HTTP/1.1");
}

#[test]
fn it_is_off_unless_it_is_turned_on() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    assert_eq!(gate.exchange(&message(PING)).status, 404);
}

#[test]
fn what_load_refuses() {
    let backend = Backend::agreeing();
    assert_eq!(told(&setup(&backend)), "");
    let text = json!({ "type": "string", "maxLength": 9, "description": "Text." });
    let open = json!({ "description": "Either.", "anyOf": [small(), { "type": "object", "additionalProperties": false }] });
    let silent = json!({ "type": "object", "additionalProperties": false });
    for (setup, pointer, words) in [
        (
            setup(&backend).with("routes/2/form", text).with("routes/2/mcp", true),
            "/routes/2/mcp",
            "takes an object",
        ),
        (
            setup(&backend).with("routes/2/form", open).with("routes/2/mcp", true),
            "/routes/2/mcp",
            "takes an object",
        ),
        (
            setup(&backend).with("routes/2/form", silent).with("routes/2/mcp", true),
            "/routes/2/mcp",
            "would not know what the tool does",
        ),
        (
            setup(&backend).with("routes/1/mcp/destructive", true),
            "/routes/1/mcp/destructive",
            "is not `destructive`",
        ),
        (setup(&backend).with("surfaces/mcp/origins", json!(["*"])), "/surfaces/mcp/origins/0", "every page"),
        (setup(&backend).with("surfaces/mcp", json!({})), "/surfaces/mcp", "`path` is missing"),
        (setup(&backend).with("surfaces/mcp/path", "/count"), "/routes/1", "is the gateway's own"),
        (setup(&backend).with("surfaces/mcp/path", "mcp"), "/surfaces/mcp/path", "must start with `/`"),
        (setup(&backend).with("routes/1/idempotency", "required"), "/routes/1", "a tool's call has none"),
        (setup(&backend).with("surfaces/mcp/session", true), "/surfaces/mcp", "session"),
        (
            setup(&backend).with("routes/0/mcp", false).with("routes/1/mcp", false),
            "/surfaces/mcp",
            "no route is a tool",
        ),
    ] {
        let faults = told(&setup);
        let found = faults.lines().any(|fault| fault.starts_with(pointer) && fault.contains(words));
        assert!(found, "{pointer} {words}: {faults:?}");
    }
}

/// A mark without an address to call at has no effect, as `actions` without a document has none.
#[test]
fn a_tool_without_mcp_is_a_fault() {
    let backend = Backend::agreeing();
    let mut setup = setup(&backend);
    setup.config.as_object_mut().unwrap().remove("surfaces");
    let told: Vec<_> = faults(&setup).into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(told, ["/routes/0/mcp", "/routes/1/mcp"]);
}

/// A short word for the model instead of context and description. Words change nothing about what is accepted (G-38).
#[test]
fn a_summary_stands_for_the_description() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).with("routes/0/summary", "Starts one.").start();
    assert_eq!(tools(&gate.exchange(&message(LIST)))[0]["description"], "Starts one.");
    assert_eq!(gate.post(crate::support::MEETING, crate::support::MEETING_BODY).status, 200);
    let unfit = gate.exchange(&message(call_text("meetings_start", "{}")));
    assert_eq!(result(&unfit)["isError"], true);
    assert_eq!(backend.count(), 1);
}
