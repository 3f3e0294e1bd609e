//! Three revisions at one address: which one a message speaks, and that its head agrees with it.

use super::{MCP, META, error, gate, message, result, stateless};
use crate::support::Request;
use serde_json::{Value, json};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn initialize_agrees_on_a_revision() {
    let (gate, _backend) = gate();
    for (asked, agreed) in [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // The latest that begins so.
        ("2025-03-26", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{asked}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
        );
        let welcome = result(&gate.exchange(&Request::post(MCP, body)));
        assert_eq!(welcome["protocolVersion"], agreed, "{asked}");
    }
}

#[test]
fn the_field_must_name_a_revision_that_is_spoken() {
    let (gate, _backend) = gate();
    let with = |values: &[&str]| {
        let plain = Request::post(MCP, PING);
        values.iter().fold(plain, |request, value| request.field("MCP-Protocol-Version", value))
    };
    for good in [&[][..], &["2025-06-18"], &["2025-11-25"]] {
        assert_eq!(gate.exchange(&with(good)).text(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "{good:?}");
    }
    for bad in ["2024-11-05", "2025-03-26", "2099-01-01", "1", "", "2025-11-25, 2025-06-18", "\"2025-11-25\""]
    {
        let response = gate.exchange(&with(&[bad]));
        assert_eq!(error(&response), (400, -32022, Some(json!(1))), "{bad}");
        let data = &response.json()["error"]["data"];
        assert_eq!(data["supported"], json!(["2026-07-28", "2025-11-25", "2025-06-18"]));
        assert_eq!(data["requested"], bad);
    }
    // Twice, or not text: nobody can say which one was meant.
    assert_eq!(error(&gate.exchange(&with(&["2025-11-25", "2025-11-25"]))).1, -32020);
    assert_eq!(error(&gate.exchange(&with(&["2025-11-25", "2025-06-18"]))).1, -32020);
}

#[test]
fn a_stateless_client_needs_no_first_minute() {
    let (gate, backend) = gate();
    let discover = format!(r#"{{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{{{META}}}}}"#);
    let found = result(&gate.exchange(&stateless("server/discover", None, discover)));
    assert_eq!(found["resultType"], "complete");
    assert_eq!(found["supportedVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18"]));
    assert_eq!(found["capabilities"], json!({ "tools": {} }));
    assert_eq!(found["cacheScope"], "public");
    let server = &found["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(server["name"], "formgate");

    let list = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{META}}}}}"#);
    let list = result(&gate.exchange(&stateless("tools/list", None, list)));
    assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("public")));
    assert!(list["ttlMs"].as_u64().is_some());
    assert_eq!(list["_meta"]["io.modelcontextprotocol/serverInfo"], *server);
    let old = result(&gate.exchange(&message(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)));
    assert_eq!(list["tools"], old["tools"]);

    let call = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"count","arguments":{{"n": 1e0}},{META}}}}}"#
    );
    let done = result(&gate.exchange(&stateless("tools/call", Some("count"), call)));
    assert_eq!((&done["resultType"], &done["isError"]), (&json!("complete"), &json!(false)));
    assert_eq!(done["structuredContent"], json!({ "ok": true }));
    assert_eq!(done["_meta"]["io.modelcontextprotocol/serverInfo"], *server);
    assert_eq!(backend.only().body, br#"{"n": 1e0}"#);

    let refused = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"count","arguments":{{}},{META}}}}}"#
    );
    let refused = result(&gate.exchange(&stateless("tools/call", Some("count"), refused)));
    assert_eq!((&refused["resultType"], &refused["isError"]), (&json!("complete"), &json!(true)));
}

/// Whoever acts on the head and whoever acts on the body act on one message (2026-07-28, "Server Validation").
#[test]
fn a_head_that_says_something_else_is_refused() {
    let (gate, backend) = gate();
    let call = |meta: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{{"name":"count","arguments":{{"n":1}},{meta}}}}}"#
        )
    };
    let good = || stateless("tools/call", Some("count"), call(META));
    let mismatched = [
        good().without("Mcp-Method"),
        good().without("Mcp-Name"),
        good().without("MCP-Protocol-Version"),
        good().without("Mcp-Method").field("Mcp-Method", "tools/list"),
        good().without("Mcp-Method").field("Mcp-Method", "Tools/call"),
        good().field("Mcp-Method", "tools/call"),
        good().without("Mcp-Name").field("Mcp-Name", "meetings_start"),
        good().without("Mcp-Name").field("Mcp-Name", "=?base64?Y291bnR=?="),
        good().field("Mcp-Name", "count"),
        good().without("MCP-Protocol-Version").field("MCP-Protocol-Version", "2025-11-25"),
        good().field("MCP-Protocol-Version", "2026-07-28"),
    ];
    for (index, request) in mismatched.iter().enumerate() {
        assert_eq!(error(&gate.exchange(request)), (400, -32020, Some(json!(9))), "{index}");
    }
    // What every request carries.
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
    for meta in [
        format!(r#""_meta":{{{version}}}"#),
        format!(r#""_meta":{{{capabilities}}}"#),
        format!(r#""_meta":{{{version},"io.modelcontextprotocol/clientCapabilities":null}}"#),
        format!(r#""_meta":{{"io.modelcontextprotocol/protocolVersion":20260728,{capabilities}}}"#),
        r#""_meta":{}"#.to_owned(),
        r#""_meta":[]"#.to_owned(),
        r#""more":1"#.to_owned(),
    ] {
        let request = stateless("tools/call", Some("count"), call(&meta));
        assert_eq!(error(&gate.exchange(&request)), (400, -32602, Some(json!(9))), "{meta}");
    }
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let newer =
        good().without("MCP-Protocol-Version").field("MCP-Protocol-Version", "2027-01-01").body(call(meta));
    let response = gate.exchange(&newer);
    assert_eq!(error(&response), (400, -32022, Some(json!(9))));
    assert_eq!(response.json()["error"]["data"]["requested"], "2027-01-01");
    backend.untouched();

    // The name may come in the coding for what a head cannot carry.
    let coded = good().without("Mcp-Name").field("Mcp-Name", "=?base64?Y291bnQ=?=");
    assert_eq!(result(&gate.exchange(&coded))["isError"], false);
    assert_eq!(backend.count(), 1);
    let unknown = stateless(
        "tools/call",
        Some("=?base64?esOkaGxlbg==?="),
        call(META).replace("\"count\"", "\"zählen\""),
    );
    assert_eq!(error(&gate.exchange(&unknown)), (200, -32602, Some(json!(9))));
}

/// A name with quotes and controls in it comes back as JSON, whatever it is.
#[test]
fn a_strange_revision_is_told_back_as_text() {
    let (gate, _backend) = gate();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"a\"b"}}}"#;
    let request = Request::post(MCP, body).field("MCP-Protocol-Version", "a\"b");
    let response = gate.exchange(&request);
    assert_eq!(error(&response), (400, -32022, Some(json!(1))));
    assert_eq!(response.json()["error"]["data"]["requested"], Value::from("a\"b"));
}
