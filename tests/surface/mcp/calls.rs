//! A call of a tool is an act on its route: the same bytes, once, under the same limits, and a refusal says nothing.

use super::{APP, MCP, call, call_text, error, gate, message, result, sentence, setup};
use crate::support::backend::{answer, json};
use crate::support::{After, Backend, MEETING, Request, Setup, eventually, padded};
use serde_json::json as value;
use std::collections::BTreeSet;
use std::io::Write;

/// P5: byte for byte, and only what `arguments` was.
#[test]
fn arguments_reach_the_upstream_as_they_were_written() {
    let (gate, backend) = gate();
    let written = [
        "{\"n\":1}",
        "{ \"n\"\t: 1 }",
        "{\"n\":1e0}",
        "{\"n\":1.0}",
        "{\"n\":-0}",
        "{\"n\":9007199254740993}",
        "{\"\\u006e\":100000000000000000000000000000000}",
        "{\r\n  \"n\": 10E-1\r\n}",
    ];
    for (count, arguments) in written.into_iter().enumerate() {
        let body = format!(
            "{{\"params\": {{\"arguments\" :{arguments} , \"name\":\"count\"}}, \"jsonrpc\":\"2.0\",\n\"method\":\"tools/call\",\"id\":\"x\"}}"
        );
        let done = result(&gate.exchange(&message(body)));
        assert_eq!(done["isError"], false, "{arguments}: {done}");
        let seen = backend.seen();
        assert_eq!(seen.len(), count + 1);
        assert_eq!(String::from_utf8_lossy(&seen[count].body), arguments);
        assert_eq!(seen[count].line(), "POST /legacy/count HTTP/1.1");
    }
}

/// The head that leaves is the route's own (P10).
#[test]
fn nothing_of_the_message_but_the_arguments_goes_on() {
    let (gate, backend) = gate();
    let request = call("count", "{\"n\":1}")
        .field("Origin", APP)
        .field("Mcp-Session-Id", "of-nobody")
        .field("Last-Event-ID", "7")
        .field("Authorization", "Bearer x")
        .field("Cookie", "a=b");
    let response = gate.exchange(&request);
    assert_eq!(result(&response)["isError"], false);
    assert_eq!(response.field("access-control-allow-origin"), Some(APP));
    gate.post("/count", "{\"n\":1}");
    let [over_mcp, direct]: [_; 2] = backend.seen().try_into().unwrap();
    let names = |seen: &crate::support::backend::Seen| {
        seen.fields().into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(&over_mcp), names(&direct));
    assert_eq!(over_mcp.field("content-type").as_deref(), Some("application/json"));
    assert_eq!(over_mcp.field("content-length").as_deref(), Some("7"));
    assert!(!over_mcp.head.contains("mcp") && !over_mcp.head.contains("Bearer"), "{}", over_mcp.head);
}

#[test]
fn left_out_arguments_are_an_empty_object() {
    let backend = Backend::agreeing();
    let empty = value!({ "type": "object", "description": "Purges.", "additionalProperties": false });
    let gate = setup(&backend).inline_route("purge", &empty).with("routes/3/mcp", true).start();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"purge"}}"#;
    assert_eq!(result(&gate.exchange(&message(body)))["isError"], false);
    assert_eq!(backend.only().body, b"{}");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count"}}"#;
    sentence(&gate.exchange(&message(body)));
    assert_eq!(backend.count(), 1);
}

/// What the upstream said about an act that was done: as text, and as it is where it is an object.
#[test]
fn the_consequence_is_handed_on() {
    let bodies = [
        (json("{\"a\": [1.0, 9007199254740993]}\n"), "{\"a\": [1.0, 9007199254740993]}\n", true),
        (json(" \n{}"), " \n{}", true),
        (json("[1,2]"), "[1,2]", false),
        (json("\"a \\\"quoted\\\" ü\\u0000\""), "\"a \\\"quoted\\\" ü\\u0000\"", false),
        (json("null"), "null", false),
        (answer("204 No Content", "", ""), "{}", true),
        (answer("201 Created", "Content-Type: text/html\r\n", "<p>done"), "{}", true),
    ];
    for (bytes, text, is_object) in bodies {
        let backend = Backend::answering(bytes);
        let gate = setup(&backend).start();
        let response = gate.exchange(&call("count", "{\"n\":1}"));
        let done = result(&response);
        assert_eq!(done["isError"], false, "{text}");
        assert_eq!(done["content"], value!([{ "type": "text", "text": text }]));
        let structured = format!(",\"structuredContent\":{text},");
        assert_eq!(response.text().contains(&structured), is_object, "{}", response.text());
        assert_eq!(done.get("structuredContent").is_some(), is_object);
    }
}

/// P6 behind this door: one sentence, whatever the reason, whoever refused.
#[test]
fn all_refusals_are_byte_identical() {
    let backend = Backend::scripted(|seen, stream| {
        let body = String::from_utf8_lossy(&seen.body).into_owned();
        let bytes = match body.split_once("status ") {
            Some((_, rest)) => answer(&format!("{} No", &rest[..3]), "X-Why: secret\r\n", "because"),
            None => json("{}"),
        };
        if stream.write_all(&bytes).is_ok() { After::Keep } else { After::Close }
    });
    let gate = setup(&backend).start();
    let meeting =
        |title: &str| call("meetings_start", &format!("{{\"title\":{title},\"displayName\":\"Ada\"}}"));
    let long = format!("{{\"n\":1{}}}", " ".repeat(1100));
    let mut requests = vec![
        call("count", "{}"),
        call("count", "{\"n\":\"1\"}"),
        call("count", "{\"n\":1.5}"),
        call("count", "{\"n\":1,\"m\":2}"),
        call("count", "{\"__proto__\":1}"),
        // Fits, and is longer than the route's `max_body`.
        call("count", &long),
        meeting("7"),
        meeting("\"\""),
    ];
    requests.extend([400, 404, 409, 410, 412, 422].map(|status| meeting(&format!("\"status {status}\""))));
    let answers: BTreeSet<_> = requests
        .iter()
        .map(|request| {
            let response = gate.exchange(request);
            assert!(sentence(&response).starts_with("Refused"), "{}", response.text());
            (response.constant_head(), response.text().to_owned())
        })
        .collect();
    assert_eq!(answers.len(), 1, "refusals that can be told apart: {answers:#?}");
    assert_eq!(backend.count(), 6, "only what the upstream itself refused");
    eventually("each is counted where its route is", || {
        let metrics = gate.metrics();
        let count =
            |route, reason| metrics.sum("formgate_refusals_total", &[("route", route), ("reason", reason)]);
        (count("count", "form") - 5.0).abs() < 0.1
            && (count("count", "too_large") - 1.0).abs() < 0.1
            && (count("meetings_start", "upstream") - 6.0).abs() < 0.1
    });
}

/// What a model may conclude when there is no consequence, and never an upstream's word.
#[test]
fn other_endings_say_what_may_have_happened() {
    let failing =
        |status: &str| Backend::answering(answer(status, "X-Why: secret\r\nRetry-After: 7\r\n", "secret"));
    for (backend, starts, retry) in [
        (failing("500 No"), "It failed.", None),
        (failing("401 No"), "It failed.", None),
        (failing("503 No"), "It failed.", None), // waiting does not tell what was done
        (failing("429 No"), "Too many calls", Some("7")),
        (Backend::scripted(|_, _| After::Close), "No answer came.", None),
    ] {
        let gate = setup(&backend).start();
        let response = gate.exchange(&call("count", "{\"n\":1}"));
        let told = sentence(&response);
        assert!(told.starts_with(starts), "{told}");
        assert_eq!(response.field("retry-after"), retry, "{told}");
        assert!(!response.head.contains("secret") && !response.text().contains("secret"));
        assert_eq!(backend.count(), 1, "once");
    }
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gate = setup_towards(&format!("http://{nobody}")).start();
    let response = gate.exchange(&call("count", "{\"n\":1}"));
    let told = sentence(&response);
    assert!(told.starts_with("Not available") && told.contains("nothing was done"), "{told}");
    assert_eq!(response.field("retry-after"), Some("1"));
}

fn setup_towards(url: &str) -> Setup {
    let backend = Backend::agreeing();
    setup(&backend).with("upstreams/backend/servers", value!([url]))
}

/// The rates of the route are one purse, whichever door the act comes by.
#[test]
fn the_limits_of_the_route_hold() {
    let backend = Backend::agreeing();
    let limits = value!({ "get": "none", "post": "1/m burst 3", "refused": "none" });
    let gate = setup(&backend).with("routes/1/limits", limits).start();
    assert_eq!(result(&gate.exchange(&call("count", "{\"n\":1}")))["isError"], false);
    assert_eq!(gate.post("/count", "{\"n\":2}").status, 200);
    sentence(&gate.exchange(&call("count", "{}")));
    let response = gate.exchange(&call("count", "{\"n\":3}"));
    assert!(sentence(&response).starts_with("Too many calls for now: nothing was done."));
    let wait: u32 = response.field("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(gate.post("/count", "{\"n\":4}").status, 429, "nothing is left at the address either");
    assert_eq!(backend.count(), 2);
    assert_eq!(gate.post(MEETING, crate::support::MEETING_BODY).status, 200, "another route has its own");

    let limits = value!({ "get": "none", "post": "none", "refused": "1/m burst 2" });
    let gate = setup(&backend).with("routes/1/limits", limits).start();
    for _ in 0..2 {
        assert!(sentence(&gate.exchange(&call("count", "{}"))).starts_with("Refused"));
    }
    assert!(sentence(&gate.exchange(&call("count", "{\"n\":1}"))).starts_with("Too many"));
    assert_eq!(gate.post("/count", "{\"n\":4}").status, 429);
}

/// Messages that reach no route are counted where they end: asking is free within the rates, nonsense soon is not.
#[test]
fn the_address_of_mcp_has_rates_of_its_own() {
    let backend = Backend::agreeing();
    let list = || message(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let limits = value!({ "get": "none", "post": "1/m burst 2", "refused": "none" });
    let gate = setup(&backend)
        .with("defaults/limits", limits)
        .with("routes/0/limits", "none")
        .with("routes/1/limits", "none")
        .start();
    for _ in 0..2 {
        assert_eq!(gate.exchange(&list()).status, 200);
    }
    let waits = gate.exchange(&list());
    assert_eq!((waits.status, waits.body.len()), (429, 0));
    assert!(waits.field("retry-after").is_some());
    assert_eq!(gate.post(MEETING, crate::support::MEETING_BODY).status, 200, "routes have their own");

    let limits = value!({ "get": "none", "post": "none", "refused": "1/m burst 2" });
    let gate = setup(&backend).with("defaults/limits", limits).start();
    for _ in 0..2 {
        assert_eq!(error(&gate.exchange(&message("nonsense"))).0, 400);
    }
    assert_eq!(gate.exchange(&list()).status, 429, "who talks nonsense is heard less");
}

/// A key that the route takes is not dropped on the way through this door (B-30).
#[test]
fn a_key_is_done_once_here_too() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).with("routes/1/idempotency", "optional").start();
    let keyed = |arguments| gate.exchange(&call("count", arguments).field("Idempotency-Key", "k"));
    let first = keyed("{\"n\":1}");
    assert_eq!(result(&first)["isError"], false);
    assert_eq!(result(&keyed("{\"n\":1}")), result(&first));
    assert_eq!(result(&keyed("{\"n\":2}"))["isError"], true, "another act under the key");
    assert_eq!(backend.count(), 1);
    let unread = gate.exchange(&call("count", "{\"n\":1}").field("Idempotency-Key", "a b"));
    assert_eq!(unread.status, 400);
    assert_eq!(backend.count(), 1);
}

#[test]
fn the_access_line_names_route_and_door() {
    let (gate, _backend) = gate();
    gate.exchange(&call("count", "{\"n\":1}"));
    gate.exchange(&call("count", "{\"n\":\"secret\"}"));
    gate.exchange(&message(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
    let lines = gate.access_lines(3);
    let shown = |index: usize, name: &str| lines[index][name].as_str().unwrap_or_default().to_owned();
    for (index, route, door, outcome) in
        [(0, "count", "mcp", "accepted"), (1, "count", "mcp", "refused"), (2, "_mcp", "", "arrived")]
    {
        assert_eq!(
            (shown(index, "route"), shown(index, "outcome")),
            (route.into(), outcome.into()),
            "{index}"
        );
        assert_eq!(shown(index, "door"), door);
    }
    assert_eq!(shown(1, "reason"), "form");
    assert!(!gate.written().contains("secret"));
}

/// The longest message is the longest arguments and what goes around them.
#[test]
fn a_message_that_is_too_long_is_turned_away() {
    let (gate, backend) = gate();
    let limit = 65_536 + 16_384;
    let whole = call_text("count", "{\"n\":1}");
    let exactly = gate.exchange(&message(padded(&whole, limit)));
    assert_eq!(result(&exactly)["isError"], false);
    for request in [
        message(padded(&whole, limit + 1)),
        message(padded(&whole, limit + 1)).chunked(4096),
        message(padded(&whole, 5 << 20)),
    ] {
        let response = gate.exchange(&request);
        assert_eq!(error(&response), (413, -32600, None), "{}", response.head);
    }
    assert_eq!(backend.count(), 1);
}

/// What the form of one route allows says nothing about another.
#[test]
fn arguments_are_held_against_the_form_of_their_own_tool() {
    let (gate, backend) = gate();
    sentence(&gate.exchange(&call("count", crate::support::MEETING_BODY)));
    sentence(&gate.exchange(&call("meetings_start", "{\"n\":1}")));
    backend.untouched();
    assert_eq!(gate.exchange(&Request::post(MCP, call_text("count", "{\"n\":1}"))).status, 200);
    assert_eq!(backend.only().line(), "POST /legacy/count HTTP/1.1");
}

/// A route that asks for a token asks for it here as well, in HTTP's words: clients know what to do with a 401.
#[test]
fn tokens_of_the_route_hold() {
    let backend = Backend::agreeing();
    let hash = formgate::gateway::TokenHash::of(b"open-sesame-open-sesame-open-sesame").hex();
    let gate = setup(&backend)
        .with("tokens", value!({ "agents": { "class": "act", "sha256": hash } }))
        .with("routes/1/tokens", value!(["agents"]))
        .start();
    for request in [
        call("count", "{\"n\":1}"),
        call("count", "{\"n\":1}").field("Authorization", "Bearer another-sesame-another-sesame"),
        // Whether it would fit is not told either.
        call("count", "{}"),
    ] {
        let response = gate.exchange(&request);
        assert_eq!((response.status, response.body.len()), (401, 0), "{}", response.head);
        assert!(response.field("www-authenticate").unwrap().starts_with("Bearer "));
    }
    backend.untouched();
    let known =
        || call("count", "{\"n\":1}").field("Authorization", "Bearer open-sesame-open-sesame-open-sesame");
    assert_eq!(result(&gate.exchange(&known()))["isError"], false);
    assert!(!backend.only().head.contains("sesame"));
    assert!(!gate.written().contains("sesame"));
    // The list is for everyone, as the forms are.
    let list = gate.exchange(&message(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
    assert_eq!(result(&list)["tools"].as_array().unwrap().len(), 2);
}

/// What is made of an answer is held like the answer (P9): where there is no memory for it, the act was done all the same.
#[test]
fn a_result_counts_as_memory_in_flight() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(30_000));
    let backend = Backend::answering(json(&long));
    let gate = setup(&backend).with("inflight_bodies", "64KiB").with("routes/0/max_body", "32KiB").start();
    assert_eq!(gate.post("/count", "{\"n\":1}").text(), long, "there is room at the address");
    let done = result(&gate.exchange(&call("count", "{\"n\":1}")));
    assert_eq!((&done["isError"], &done["structuredContent"]), (&value!(false), &value!({})));
    assert_eq!(backend.count(), 2);
    let roomy = setup(&backend).with("routes/0/max_body", "32KiB").start();
    let done = result(&roomy.exchange(&call("count", "{\"n\":1}")));
    assert_eq!(done["structuredContent"], serde_json::from_str::<serde_json::Value>(&long).unwrap());
    eventually("it is given back", || gate.metrics().sum("formgate_inflight_body_bytes", &[]).abs() < 0.1);
}
