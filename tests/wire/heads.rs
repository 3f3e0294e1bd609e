//! The head an act leaves under is the gateway's own (P10, B-3, B-4), and the client's address is not what it says it is.

use crate::support::{Backend, MEETING, MEETING_BODY, Request, Setup};
use serde_json::json;

/// All that a backend may see; `traceparent` and `X-Request-Id` are ours, too.
const SEEN: &[&str] = &[
    "accept",
    "accept-encoding",
    "content-length",
    "content-type",
    "host",
    "traceparent",
    "user-agent",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-request-id",
];

fn names(fields: &[(String, String)]) -> Vec<&str> {
    let mut names: Vec<_> = fields.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names
}

#[test]
fn the_backend_sees_exactly_the_allow_list() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let response = gate.exchange(&Request::post(MEETING, MEETING_BODY).field("GPT-Actor", "claude"));
    assert_eq!(response.status, 200);
    let seen = backend.only();
    assert_eq!(names(&seen.fields()), SEEN, "{}", seen.head);
    assert_eq!(seen.line(), "POST /legacy/meetings-start HTTP/1.1");
    let field = |name: &str| seen.field(name).unwrap();
    assert_eq!(field("host"), backend.addr.to_string());
    assert_eq!(field("content-type"), "application/json");
    assert_eq!(field("content-length"), MEETING_BODY.len().to_string());
    assert_eq!(field("accept"), "application/json");
    assert_eq!(field("accept-encoding"), "identity");
    assert_eq!(field("x-forwarded-for"), "127.0.0.1");
    assert_eq!(field("x-forwarded-proto"), "http");
    assert_eq!(field("x-forwarded-host"), "formgate.test");
    assert!(field("user-agent").starts_with("formgate"), "{}", seen.head);
    assert_eq!(Some(field("x-request-id").as_str()), response.field("x-request-id"), "one id on both sides");
    let trace = field("traceparent");
    let parts: Vec<_> = trace.split('-').map(str::len).collect();
    assert_eq!(parts, [2, 32, 16, 2], "W3C Trace Context: {trace}");
}

/// A trace goes on, a broken one begins anew; the client cannot choose our request id.
#[test]
fn a_trace_goes_on_and_ids_are_ours() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let id = "0af7651916cd43dd8448eb211c80319c";
    let act = Request::post(MEETING, MEETING_BODY).field("X-Request-Id", "chosen\u{1F600}");
    let traced = act.clone().field("traceparent", &format!("00-{id}-b7ad6b7169203331-01"));
    let response = gate.exchange(&traced);
    assert_eq!(response.status, 200);
    assert_ne!(response.field("x-request-id"), Some("chosen\u{1F600}"));
    gate.exchange(&act.field("traceparent", "00-0af7-\"<>-01"));
    let seen = backend.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen[0].field("traceparent").unwrap().contains(id), "{}", seen[0].head);
    assert!(!seen[1].head.contains("0af7-"), "{}", seen[1].head);
    assert!(!seen.iter().any(|seen| seen.head.contains("chosen")));
}

/// The target is the route's, path and query; nothing of the client's is in it.
#[test]
fn the_target_and_method_are_the_routes() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .with("routes/0/upstream/method", "PUT")
        .with("routes/0/upstream/path", "/legacy?mode=create&x=%20")
        .start();
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
    assert_eq!(backend.only().line(), "PUT /legacy?mode=create&x=%20 HTTP/1.1");
}

/// What the route sets and what it lets pass, and no more.
#[test]
fn set_and_passed_fields_reach_the_backend() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .file("secret", "hunter2\n")
        .with(
            "routes/0/upstream/set_headers",
            json!({ "Authorization": "Bearer ${file:secret}", "X-Tenant": "blue" }),
        )
        .with("routes/0/upstream/pass_headers", json!(["Idempotency-Key", "Accept-Language"]))
        .start();
    let act = Request::post(MEETING, MEETING_BODY)
        .field("Idempotency-Key", "k-1")
        .field("Accept-Language", "fr")
        .field("Authorization", "Bearer mine")
        .field("X-Tenant", "red")
        .field("X-Other", "1");
    assert_eq!(gate.exchange(&act).status, 200);
    let seen = backend.only();
    assert_eq!(seen.field("authorization").as_deref(), Some("Bearer hunter2"));
    assert_eq!(seen.field("x-tenant").as_deref(), Some("blue"));
    assert_eq!(seen.field("idempotency-key").as_deref(), Some("k-1"));
    assert_eq!(seen.field("accept-language").as_deref(), Some("fr"));
    let mut want: Vec<_> = SEEN.to_vec();
    want.extend(["authorization", "x-tenant", "idempotency-key", "accept-language"]);
    want.sort_unstable();
    assert_eq!(names(&seen.fields()), want);
    assert!(!gate.written().contains("hunter2"), "a secret in the log");
    assert!(!gate.metrics().text.contains("hunter2"));
}

/// Without `trusted_proxies` what a peer says about itself is overwritten.
#[test]
fn a_strangers_forwarded_fields_are_overwritten() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let act = Request::post(MEETING, MEETING_BODY)
        .field("X-Forwarded-For", "203.0.113.9")
        .field("X-Forwarded-Proto", "https")
        .field("X-Forwarded-Host", "evil.example")
        .field("Forwarded", "for=203.0.113.9");
    assert_eq!(gate.exchange(&act).status, 200);
    let seen = backend.only();
    assert_eq!(seen.field("x-forwarded-for").as_deref(), Some("127.0.0.1"));
    assert_eq!(seen.field("x-forwarded-proto").as_deref(), Some("http"));
    assert_eq!(seen.field("x-forwarded-host").as_deref(), Some("formgate.test"));
    assert!(!seen.head.contains("203.0.113.9") && !seen.head.contains("evil"), "{}", seen.head);
    assert_eq!(gate.access_lines(1)[0]["client"], "127.0.0.1");
}

/// Behind a trusted proxy the client is the right-most entry that is not one.
#[test]
fn behind_a_trusted_proxy_the_rightmost_stranger_is_the_client() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("trusted_proxies", json!(["127.0.0.0/8", "10.0.0.0/8"])).start();
    let cases = [
        ("203.0.113.9", "203.0.113.9"),
        ("1.2.3.4, 203.0.113.9", "203.0.113.9"),
        ("203.0.113.9, 10.0.0.1, 10.9.9.9", "203.0.113.9"),
        ("2001:db8::1, 10.0.0.1", "2001:db8::1"),
        ("10.0.0.1", "10.0.0.1"),
        ("spoof, 203.0.113.9", "203.0.113.9"),
    ];
    for (index, (said, client)) in cases.iter().enumerate() {
        let act = Request::post(MEETING, MEETING_BODY).field("X-Forwarded-For", said);
        assert_eq!(gate.exchange(&act).status, 200, "{said}");
        let lines = gate.access_lines(index + 1);
        assert_eq!(lines[index]["client"], *client, "{said}");
    }
}

/// With `public_url` a backend that builds links builds them to the gateway, whatever a client claims in `Host`.
#[test]
fn backends_are_told_the_public_name() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("public_url", "https://api.example.com").start();
    let request = Request::post(MEETING, MEETING_BODY).host(Some("evil.example"));
    assert_eq!(gate.exchange(&request).status, 200);
    let seen = backend.only();
    assert_eq!(seen.field("x-forwarded-host").as_deref(), Some("api.example.com"));
    assert_eq!(seen.field("x-forwarded-proto").as_deref(), Some("https"));
}
