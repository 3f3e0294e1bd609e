//! `call_runtime_tool` and `tool_manifest` (A-18, A-19, A-20, A-21): what a tool is sent are the very bytes of its
//! arguments, and everything else is the one refusal.

use super::URL;
use crate::support::{Backend, Client, Gate, MEETING, MEETING_BODY, Request, Setup, cases, eventually};
use serde_json::{Value, json};

const CALL: &str = "/actions/call_runtime_tool";
const MANIFEST: &str = "/actions/tool_manifest";

/// All forms of the cases as tools, but `meetings-start`, which has an operation of its own, and the one that is no
/// object, which has none.
fn setup(backend: &Backend) -> Setup {
    let setup = Setup::bare(backend).with("public_url", URL).with("surfaces", json!({ "openapi": "on" }));
    cases::forms().iter().zip(0..).fold(setup, |setup, (form, index)| {
        let actions = match form.as_str() {
            "meetings-start" => "direct",
            "note-scalar" => "none",
            _ => "longtail",
        };
        setup.case_route(form).with(&format!("routes/{index}/actions"), actions)
    })
}

fn tools() -> Vec<String> {
    cases::forms()
        .into_iter()
        .filter(|form| !["meetings-start", "note-scalar"].contains(&form.as_str()))
        .collect()
}

fn call(tool: &str, arguments: &[u8]) -> Vec<u8> {
    [b"{\"tool\":\"", tool.as_bytes(), b"\",\"arguments\":", arguments, b"}"].concat()
}

#[test]
fn a_tool_decides_as_its_address_does() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).start();
    let (mut sent, mut refused) = (0, 0);
    for form in tools() {
        for (kind, fits) in [("accept", true), ("reject", false)] {
            for (file, body) in cases::bodies(&form, kind) {
                let answer = gate.post(CALL, call(&form.replace('-', "_"), &body));
                assert_eq!(answer.status, if fits { 200 } else { 204 }, "{form}/{kind}/{file}");
                if fits {
                    sent += 1;
                    let seen = backend.seen().pop().unwrap();
                    // What stands around a value is not part of it; inside, nothing is touched.
                    assert_eq!(seen.body, body.trim_ascii(), "{form}/{file}");
                    assert_eq!(seen.line(), format!("POST /legacy/{form} HTTP/1.1"));
                    assert_eq!(answer.json(), json!({ "ok": true }));
                } else {
                    refused += 1;
                }
                assert_eq!(backend.count(), sent, "{form}/{kind}/{file}");
            }
        }
    }
    assert!(sent > 30 && refused > 60, "{sent}, {refused}");
}

/// The bytes are cut, never written anew.
#[test]
fn the_arguments_are_forwarded_as_they_came() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).start();
    let arguments = "{ \"title\" :\t\"\\u004Cog\\/out \u{1d11e} caf\\u00e9\",\r\n\"project\":\"WEB\" , \"estimate\":1.50e0 }";
    for (before, after) in [
        ("{\"tool\":\"issue_create\",\"arguments\":", "}"),
        ("\n { \"arguments\" :\t", "\r\n , \"tool\" : \"issue_create\" } \n"),
        ("{\"\\u0074ool\":\"issue\\u005fcreate\",\"argument\\u0073\":", "}"),
    ] {
        let answer = gate.post(CALL, [before, arguments, after].concat());
        assert_eq!(answer.status, 200, "{before}");
        let seen = backend.seen().pop().unwrap();
        assert_eq!(seen.body, arguments.as_bytes());
        assert_eq!(seen.field("content-length"), Some(arguments.len().to_string()));
    }
    assert_eq!(backend.count(), 3);
}

#[test]
fn whatever_is_no_call_is_the_one_refusal() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).start();
    let fit = r#"{"project":"WEB","title":"Logout"}"#;
    assert_eq!(gate.post(CALL, call("issue_create", fit.as_bytes())).status, 200);
    let one_refusal = gate.post(MEETING, "{}").constant_head();
    let named = |tool: &str| String::from_utf8(call(tool, fit.as_bytes())).unwrap();
    let cases = [
        // Unknown, hidden, direct and recursive targets.
        named("nothing"),
        named(""),
        named("note_scalar"),
        String::from_utf8(call("meetings_start", MEETING_BODY.as_bytes())).unwrap(),
        named("call_runtime_tool"),
        String::from_utf8(call("call_runtime_tool", &call("issue_create", fit.as_bytes()))).unwrap(),
        String::from_utf8(call("tool_manifest", b"{}")).unwrap(),
        named("_openapi"),
        named("ISSUE_CREATE"),
        named("issue_create "),
        named("issue-create"),
        named("/api/v2/issue-create"),
        named("issue_create\\u0000"),
        named(&"a".repeat(10_000)),
        // Members too many, too few, twice, or of another type.
        format!(r#"{{"tool":"issue_create","arguments":{fit},"params":{{}}}}"#),
        format!(r#"{{"tool":"issue_create","arguments":{fit},"idempotency_key":"k"}}"#),
        format!(r#"{{"tool":"issue_create","Arguments":{fit}}}"#),
        format!(r#"{{"name":"issue_create","arguments":{fit}}}"#),
        r#"{"tool":"issue_create"}"#.into(),
        format!(r#"{{"arguments":{fit}}}"#),
        r#"{"tool":"issue_create","project":"WEB","title":"Logout"}"#.into(),
        format!(r#"{{"tool":"issue_create","tool":"issue_create","arguments":{fit}}}"#),
        format!(r#"{{"tool":"issue_create","arguments":{fit},"arguments":{fit}}}"#),
        format!(r#"{{"tool":"nothing","t\u006fol":"issue_create","arguments":{fit}}}"#),
        format!(r#"{{"tool":["issue_create"],"arguments":{fit}}}"#),
        format!(r#"{{"tool":null,"arguments":{fit}}}"#),
        format!(r#"{{"tool":7,"arguments":{fit}}}"#),
        r#"{"tool":"issue_create","arguments":null}"#.into(),
        r#"{"tool":"issue_create","arguments":[]}"#.into(),
        format!(r#"{{"tool":"issue_create","arguments":[{fit}]}}"#),
        format!(r#"{{"tool":"issue_create","arguments":{}}}"#, Value::from(fit)),
        // No call at all.
        String::new(),
        "{}".into(),
        "[]".into(),
        "null".into(),
        fit.into(),
        format!("[{}]", named("issue_create")),
        format!("{} {}", named("issue_create"), named("issue_create")),
        named("issue_create") + ",",
        format!("\u{feff}{}", named("issue_create")),
        format!(r#"{{"tool":"issue_create","arguments":{fit}"#),
    ];
    for body in &cases {
        let answer = gate.post(CALL, body);
        assert_eq!((answer.status, answer.constant_head()), (204, one_refusal.clone()), "{body}");
    }
    // The head is judged as at an address.
    let ask = |request: Request| gate.exchange(&request);
    let good = named("issue_create");
    for request in [
        Request::post(&format!("{CALL}?tool=issue_create"), &good),
        Request::post(CALL, &good).without("content-type"),
        Request::post(CALL, &good).without("content-type").field("Content-Type", "text/plain"),
        Request::post(CALL, &good).field("Content-Encoding", "gzip"),
        Request::post(CALL, format!("{good}{}", " ".repeat(70_000))),
        Request::post(CALL, format!("{good}{}", " ".repeat(70_000))).chunked(4096),
    ] {
        let answer = ask(request);
        assert_eq!((answer.status, answer.constant_head()), (204, one_refusal.clone()));
    }
    // Only posted to.
    for address in [CALL, MANIFEST] {
        for method in ["GET", "HEAD", "PUT", "DELETE"] {
            let answer = ask(Request::new(method, address));
            assert_eq!((answer.status, answer.field("allow")), (405, Some("POST, OPTIONS")));
        }
        assert_eq!(ask(Request::new("OPTIONS", address)).field("allow"), Some("POST, OPTIONS"));
    }
    assert_eq!(backend.count(), 1);
}

/// The routes of one body each, so that nothing of one call reaches the next.
#[test]
fn a_connection_goes_on_after_any_call() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).start();
    let mut client: Client = gate.client();
    for round in 0..3 {
        assert_eq!(client.exchange(&Request::post(CALL, call("cache_purge", b"{}"))).status, 200, "{round}");
        assert_eq!(client.exchange(&Request::post(CALL, call("cache_purge", b"{\"a\":1}"))).status, 204);
        assert_eq!(client.exchange(&Request::post(CALL, "{")).status, 204);
        assert_eq!(client.exchange(&Request::post(MANIFEST, "{}").chunked(1)).status, 200);
    }
    assert!(backend.seen().iter().all(|seen| seen.body == b"{}"));
}

#[test]
fn the_manifest_lists_the_long_tail() {
    let backend = Backend::agreeing();
    let gate = setup(&backend)
        .with("routes/0/context", "Empties the cache.")
        .with("routes/1/context", "A longer story.")
        .with("routes/1/summary", "In short.")
        .start();
    let answer = gate.post(MANIFEST, "{}");
    assert_eq!((answer.status, answer.field("content-type")), (200, Some("application/json")));
    assert_eq!(answer.field("cache-control"), Some("no-store"));
    let list = answer.json();
    let listed = list["tools"].as_array().unwrap();
    let names: Vec<_> = listed.iter().map(|tool| tool["name"].as_str().unwrap().replace('_', "-")).collect();
    assert_eq!(names, tools());
    assert_eq!(
        (&listed[0]["description"], &listed[1]["description"]),
        (&json!("Empties the cache."), &json!("In short."))
    );
    assert_eq!(listed[2]["description"], "Open an issue in the tracker.");
    for (tool, form) in listed.iter().zip(tools()) {
        // The very form of the address (A-02).
        assert_eq!(tool["form"].to_string(), gate.get(&cases::address(&form)).json()["s"].to_string());
    }
    // The enumeration of the operation is this list.
    let document = gate.get("/openapi.json").json();
    let schema = &document["paths"][CALL]["post"]["requestBody"]["content"]["application/json"]["schema"];
    let enumerated: Vec<_> = listed.iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(schema["properties"]["tool"]["enum"], Value::from(enumerated));

    assert_eq!(gate.post(MANIFEST, " {\n} ").json(), list);
    for body in ["", "null", "[]", "[{}]", "{\"tool\":\"cache_purge\"}", "{}{}", "{"] {
        assert_eq!(gate.post(MANIFEST, body).status, 204, "{body}");
    }
    assert_eq!(gate.exchange(&Request::post(&format!("{MANIFEST}?a=1"), "{}")).status, 204);
    backend.untouched();
}

/// Nothing is cheaper by this door than at the address.
#[test]
fn the_rates_of_the_route_hold() {
    let backend = Backend::agreeing();
    let purge = cases::forms().iter().position(|form| form == "cache-purge").unwrap();
    let limits = json!({ "get": "none", "post": "1/m burst 2", "refused": "none" });
    let gate = setup(&backend).with(&format!("routes/{purge}/limits"), limits).start();
    assert_eq!(gate.post(CALL, call("cache_purge", b"{}")).status, 200);
    assert_eq!(gate.post(&cases::address("cache-purge"), "{}").status, 200);
    let throttled = gate.post(CALL, call("cache_purge", b"{}"));
    assert_eq!(throttled.status, 429);
    assert!(throttled.field("retry-after").is_some());
    // Another tool has its own.
    let issue = br#"{"project":"WEB","title":"Logout"}"#;
    assert_eq!(gate.post(CALL, call("issue_create", issue)).status, 200);
    assert_eq!(backend.count(), 3);
    // And who only tries names is turned away too.
    let limits = json!({ "get": "none", "post": "none", "refused": "1/m burst 2" });
    let gate: Gate = setup(&backend).with("defaults/limits", limits).start();
    let statuses: Vec<_> = (0..3).map(|_| gate.post(CALL, call("nothing", b"{}")).status).collect();
    assert_eq!(statuses, [204, 204, 429]);
}

/// A-16: what the address asks for, this door asks for: a token of the route, and no other.
#[test]
fn the_tokens_of_the_route_hold() {
    let backend = Backend::agreeing();
    let at = |form: &str| cases::forms().iter().position(|name| name == form).unwrap();
    let hash = |token: &str| formgate::gateway::TokenHash::of(token.as_bytes()).hex();
    let gate = setup(&backend)
        .with(
            "tokens",
            json!({
                "cache": { "class": "act", "sha256": hash("token-of-the-cache") },
                "issues": { "class": "act", "sha256": hash("token-of-the-issues") },
                "oncall": { "class": "operator", "sha256": hash("token-of-the-operator") },
            }),
        )
        .with(&format!("routes/{}/tokens", at("cache-purge")), json!(["cache"]))
        .with(&format!("routes/{}/tokens", at("issue-create")), json!(["issues"]))
        .start();
    let purge = || Request::post(CALL, call("cache_purge", b"{}"));
    for token in [None, Some("token-of-the-issues"), Some("token-of-the-operator"), Some("")] {
        let request = match token {
            Some(token) => purge().field("Authorization", &format!("Bearer {token}")),
            None => purge(),
        };
        assert_eq!(gate.exchange(&request).status, 401, "{token:?}");
        // Nor does it tell whether the arguments would fit.
        let unfit = request.body(call("cache_purge", b"{\"a\":1}"));
        assert_eq!(gate.exchange(&unfit).status, 401, "{token:?}");
    }
    backend.untouched();
    let good = purge().field("Authorization", "Bearer token-of-the-cache");
    assert_eq!(gate.exchange(&good).status, 200);
    assert_eq!(backend.only().field("authorization"), None);
    // A tool without tokens takes none, and minds none; the list is everyone's.
    let review = Request::post(CALL, call("review_request", br#"{"subject":"agent"}"#));
    assert_eq!(gate.exchange(&review).status, 200);
    assert_eq!(gate.post(MANIFEST, "{}").status, 200);
}

/// P12, A-21: an act counts at its route, the rest at the desk, and nothing of a call reaches a log.
#[test]
fn it_is_recorded_by_its_door() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).start();
    gate.post(CALL, call("cache_purge", b"{}"));
    gate.post(CALL, call("cache_purge", br#"{"canary-7f3a":"canary-9c1d"}"#));
    gate.post(CALL, call("canary-5e2b", b"{}"));
    gate.post(MANIFEST, "{}");
    let lines = gate.access_lines(4);
    let shown: Vec<_> = lines
        .iter()
        .map(|line| [&line["route"], &line["door"], &line["outcome"], &line["reason"]].map(Clone::clone))
        .collect();
    let text = |words: [&str; 4]| words.map(|word| if word.is_empty() { Value::Null } else { word.into() });
    assert_eq!(
        shown,
        [
            text(["cache_purge", "tools", "accepted", ""]),
            text(["cache_purge", "tools", "refused", "form"]),
            text(["_call_tool", "", "refused", "form"]),
            text(["_tool_manifest", "", "arrived", ""]),
        ]
    );
    let counted = |route: &str, outcome: &str| {
        gate.metrics().counts("formgate_requests_total", &[("route", route), ("outcome", outcome)], 1)
    };
    eventually("counts", || {
        counted("cache_purge", "accepted")
            && counted("cache_purge", "refused")
            && counted("_call_tool", "refused")
    });
    let said = gate.written() + gate.ask_admin("GET", "/metrics").text();
    assert!(!said.contains("canary"), "{said}");
}

/// A tool that is gone is gone with the generation that lost it.
#[test]
fn tools_follow_a_reload() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).with("watch", "off").start();
    assert_eq!(gate.post(CALL, call("cache_purge", b"{}")).status, 200);
    let purge = cases::forms().iter().position(|form| form == "cache-purge").unwrap();
    let changed = setup(&backend).with("watch", "off").with(&format!("routes/{purge}/actions"), "none");
    gate.replace("gateway.yaml", changed.text());
    assert_eq!(gate.reload().status, 200);
    assert_eq!(gate.post(CALL, call("cache_purge", b"{}")).status, 204);
    assert_eq!(gate.post(&cases::address("cache-purge"), "{}").status, 200);
    let list = gate.post(MANIFEST, "{}").json();
    assert_eq!(list["tools"].as_array().unwrap().len(), tools().len() - 1);
}
