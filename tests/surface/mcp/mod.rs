//! MCP (DESIGN 8; revisions 2025-06-18, 2025-11-25 and 2026-07-28 of its specification), against the real binary.

mod calls;
mod http2;
mod messages;
mod places;
mod revisions;

use crate::support::{Backend, Gate, Request, Response, Setup};
use serde_json::{Value, json};

const MCP: &str = "/mcp";
const APP: &str = "https://app.example";

/// The meeting of the cases and a small form of its own, both tools; a third route that is none.
fn setup(backend: &Backend) -> Setup {
    Setup::meeting(backend)
        .inline_route("count", &small())
        .inline_route("hidden", &small())
        .with("routes/0/context", "Starts a meeting.")
        .with("routes/0/mcp", true)
        .with("routes/1/mcp", json!({ "title": "Count", "read_only": true, "open_world": false }))
        .with("routes/1/max_body", "1KiB")
        .with("surfaces", json!({ "mcp": { "path": MCP, "origins": [APP] } }))
}

/// One integer.
fn small() -> Value {
    json!({
        "type": "object",
        "description": "Counts.",
        "properties": { "n": { "type": "integer" } },
        "required": ["n"],
        "additionalProperties": false,
    })
}

/// What every client sends, of the first era.
fn message(body: impl AsRef<[u8]>) -> Request {
    Request::post(MCP, body)
        .field("Accept", "application/json, text/event-stream")
        .field("MCP-Protocol-Version", "2025-11-25")
}

/// The same of 2026-07-28, with the fields that mirror the body.
fn stateless(method: &str, name: Option<&str>, body: impl AsRef<[u8]>) -> Request {
    let request = Request::post(MCP, body)
        .field("Accept", "application/json, text/event-stream")
        .field("MCP-Protocol-Version", "2026-07-28")
        .field("Mcp-Method", method);
    match name {
        Some(name) => request.field("Mcp-Name", name),
        None => request,
    }
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A call of a tool, its arguments as written.
fn call(tool: &str, arguments: &str) -> Request {
    message(call_text(tool, arguments))
}

fn call_text(tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// The result of a 200.
#[track_caller]
fn result(response: &Response) -> Value {
    assert_eq!(response.status, 200, "{}\n{}", response.head, response.text());
    assert_eq!(response.field("content-type"), Some("application/json"));
    assert_eq!(response.field("cache-control"), Some("no-store"));
    assert_eq!(response.field("mcp-session-id"), None);
    let mut answer = response.json();
    assert_eq!(answer["jsonrpc"], "2.0");
    answer["result"].take()
}

/// Status and code of an error, and its id.
#[track_caller]
fn error(response: &Response) -> (u16, i64, Option<Value>) {
    assert_eq!(response.field("content-type"), Some("application/json"), "{}", response.head);
    let answer = response.json();
    assert_eq!(answer["jsonrpc"], "2.0");
    assert!(answer.get("result").is_none(), "{answer}");
    assert!(answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
    (response.status, answer["error"]["code"].as_i64().unwrap(), answer.get("id").cloned())
}

/// The one sentence of a call that ended badly.
#[track_caller]
fn sentence(response: &Response) -> String {
    let result = result(response);
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!(result["content"][0]["type"], "text");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// A gate and a backend that answers `{"ok":true}`.
fn gate() -> (Gate, Backend) {
    let backend = Backend::agreeing();
    (setup(&backend).start(), backend)
}
