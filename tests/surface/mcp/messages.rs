//! JSON-RPC: what is a message, what is answered, and under which id.

use super::{META, call_text, error, gate, message, result, stateless};
use crate::support::{Backend, Request};
use serde_json::json;

#[test]
fn a_client_gets_through_its_first_minute() {
    let (gate, backend) = gate();
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"test","version":"1"}}}"#;
    let welcome = result(&gate.exchange(&Request::post(super::MCP, hello)));
    assert_eq!(welcome["protocolVersion"], "2025-11-25");
    assert_eq!(welcome["capabilities"], json!({ "tools": {} }));
    assert_eq!(welcome["serverInfo"]["name"], "formgate");
    assert_eq!(welcome["serverInfo"]["version"].as_str().unwrap().len(), 12);
    assert!(welcome["instructions"].as_str().unwrap().contains("inputSchema"));
    let ready = gate.exchange(&message(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#));
    assert_eq!((ready.status, ready.body.len()), (202, 0));
    assert_eq!(ready.field("content-type"), None);
    assert_eq!(result(&gate.exchange(&message(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#))), json!({}));
    let list = result(&gate.exchange(&message(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#)));
    let names: Vec<_> = list["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["meetings_start", "count"]);
    assert!(list.get("nextCursor").is_none() && list.get("resultType").is_none(), "{list}");
    backend.untouched();
}

/// An id is repeated byte for byte: no number is read and written again, no string unescaped.
#[test]
fn an_id_comes_back_as_it_was_written() {
    let (gate, _backend) = gate();
    for id in [
        "0",
        "-0",
        "-7",
        "9007199254740993",
        "123456789012345678901234567890123456789012345678901234567890",
        r#""""#,
        r#""a""#,
        r#""\u0061\/\"\\""#,
        r#""\ud83d\ude00 \u0000""#,
        "\"ünïcode 😀\"",
    ] {
        let body = format!("{{\"method\":\"ping\", \"id\" : {id} ,\"jsonrpc\":\"2.0\"}}");
        let response = gate.exchange(&message(&body));
        assert_eq!(response.text(), format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}"));
        let body = format!("{{\"method\":\"nothing\",\"id\":{id},\"jsonrpc\":\"2.0\"}}");
        let response = gate.exchange(&message(&body));
        assert!(
            response.text().starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":")),
            "{id}"
        );
    }
}

/// MCP: an id is a string or an integer, never null. What is neither is not repeated.
#[test]
fn what_is_no_id_makes_no_message() {
    let (gate, _backend) = gate();
    for id in ["null", "true", "1.0", "1e3", "1E0", "0.5", "[1]", "{}"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_eq!(error(&gate.exchange(&message(&body))), (400, -32600, None), "{id}");
    }
}

#[test]
fn what_cannot_be_read_is_a_parse_error() {
    let (gate, backend) = gate();
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}1{}}}}}"#,
        "[".repeat(127),
        "]".repeat(127)
    );
    let bodies: [&[u8]; 14] = [
        b"",
        b" ",
        b"{",
        b"nonsense",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}x",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}{}",
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"ping\"}",
        // A name twice, anywhere: who reads the first and who reads the last would read two messages.
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"\\u006dethod\":\"tools/list\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"count\",\"arguments\":{\"n\":1,\"n\":2}}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"count\",\"arguments\":{\"n\":1},\"arguments\":{\"n\":2}}}",
        deep.as_bytes(),
    ];
    let mut answers = Vec::new();
    for body in bodies {
        let response = gate.exchange(&message(body));
        assert_eq!(error(&response), (400, -32700, None), "{}", String::from_utf8_lossy(body));
        answers.push(response.body);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "a parse error says nothing about the case");
    backend.untouched();
}

/// Batches went with revision 2025-06-18; a server that asks nothing is owed no answers.
#[test]
fn what_is_no_message_is_an_invalid_request() {
    let (gate, backend) = gate();
    let whole = call_text("count", r#"{"n":1}"#);
    for body in ["[]", "null", "7", "\"ping\"", &format!("[{whole}]"), &format!("[{whole},{whole}]")] {
        assert_eq!(error(&gate.exchange(&message(body))), (400, -32600, None), "{body}");
    }
    for rest in [
        r#""method":"ping""#,
        r#""jsonrpc":"1.0","method":"ping""#,
        r#""jsonrpc":2.0,"method":"ping""#,
        r#""jsonrpc":"2.0""#,
        r#""jsonrpc":"2.0","method":1"#,
        r#""jsonrpc":"2.0","method":"ping","params":[]"#,
        r#""jsonrpc":"2.0","method":"ping","params":null"#,
        r#""jsonrpc":"2.0","method":"ping","extra":1"#,
        r#""jsonrpc":"2.0","result":{}"#,
        r#""jsonrpc":"2.0","error":{"code":-1,"message":"no"}"#,
        r#""jsonrpc":"2.0","method":"ping","result":{}"#,
    ] {
        let body = format!("{{\"id\":5,{rest}}}");
        assert_eq!(error(&gate.exchange(&message(&body))), (400, -32600, Some(json!(5))), "{body}");
    }
    backend.untouched();
}

#[test]
fn notifications_are_taken_and_answered_with_nothing() {
    let (gate, backend) = gate();
    for method in
        ["notifications/initialized", "notifications/cancelled", "notifications/what", "tools/call", "ping"]
    {
        let body = format!(
            r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"name":"count","arguments":{{"n":1}}}}}}"#
        );
        let response = gate.exchange(&message(&body));
        assert_eq!((response.status, response.body.len()), (202, 0), "{method}");
    }
    // A call without an id is a notification: nothing is done.
    backend.untouched();
    let broken = gate.exchange(&message(r#"{"jsonrpc":"2.0","method":"notifications/initialized","x":1}"#));
    assert_eq!(error(&broken), (400, -32600, None));
    let foreign = Request::post(super::MCP, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .field("MCP-Protocol-Version", "2024-11-05");
    assert_eq!(error(&gate.exchange(&foreign)), (400, -32022, None));
}

#[test]
fn methods_that_are_not_there() {
    let (gate, _backend) = gate();
    for method in [
        "",
        "Ping",
        "ping ",
        "tools",
        "resources/list",
        "prompts/list",
        "logging/setLevel",
        "server/discover",
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        assert_eq!(error(&gate.exchange(&message(&body))), (200, -32601, Some(json!(1))), "{method}");
    }
    // Revision 2026-07-28 has no handshake and no ping, and says 404 besides.
    for method in ["initialize", "ping", "resources/list", "subscriptions/listen"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{META}}}}}"#);
        let response = gate.exchange(&stateless(method, None, &body));
        assert_eq!(error(&response), (404, -32601, Some(json!(1))), "{method}");
    }
}

#[test]
fn what_a_method_does_not_take() {
    let (gate, backend) = gate();
    let ask = |method: &str, params: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let response = gate.exchange(&message(&body));
        assert_eq!(error(&response), (200, -32602, Some(json!(1))), "{method} {params}");
        response.json()["error"]["message"].as_str().unwrap().to_owned()
    };
    for params in ["{}", r#"{"protocolVersion":1}"#, r#"{"protocolVersion":null}"#] {
        ask("initialize", params);
    }
    // There is one page: no cursor was ever given.
    assert_eq!(ask("tools/list", r#"{"cursor":"x"}"#), "Unknown cursor");
    assert_eq!(ask("tools/list", r#"{"cursor":""}"#), "Unknown cursor");
    ask("tools/list", r#"{"cursor":null}"#);
    for params in [
        "{}",
        r#"{"name":null}"#,
        r#"{"name":["count"]}"#,
        r#"{"arguments":{"n":1}}"#,
        r#"{"name":"count","arguments":null}"#,
        r#"{"name":"count","arguments":[]}"#,
        r#"{"name":"count","arguments":"{\"n\":1}"}"#,
    ] {
        assert_eq!(ask("tools/call", params), "Invalid params");
    }
    // Routes that are no tools cannot be told from names that nobody has.
    for name in ["hidden", "nobody", "", "Count", "/count", "_mcp"] {
        let params = format!(r#"{{"name":"{name}","arguments":{{"n":1}}}}"#);
        assert_eq!(ask("tools/call", &params), "Unknown tool");
    }
    backend.untouched();
}

/// What MCP puts beside name and arguments is for others: progress, tasks, tracing.
#[test]
fn other_params_are_passed_over() {
    let (gate, backend) = gate();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":7,"traceparent":"x"},"task":{"ttl":1},"arguments":{"n":1},"name":"count"}}"#;
    assert_eq!(result(&gate.exchange(&message(body)))["isError"], false);
    assert_eq!(backend.only().body, br#"{"n":1}"#);
}

/// Without `params` at all.
#[test]
fn a_call_without_params_is_none() {
    let backend = Backend::agreeing();
    let gate = super::setup(&backend).start();
    let response = gate.exchange(&message(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#));
    assert_eq!(error(&response), (200, -32602, Some(json!(1))));
    backend.untouched();
}
