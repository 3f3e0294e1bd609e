//! Every case of `tests/cases/http.json` (arrival, negotiation, media types, codings, framing, methods, paths,
//! head allow-list): G-01, G-02, G-10, G-12, G-13, G-22, G-23, G-24, G-30, G-32, B-1 to B-6, B-11 to B-13.

use crate::support::{Backend, Client, Gate, MEETING, MEETING_BODY, Request, Response, Setup, cases, padded};
use serde_json::Value;
use std::time::Duration;

/// Cases that other work proves, with where.
const ELSEWHERE: &[(&str, &str)] = &[
    ("html", "issue 4: the HTML page"),
    ("openapi", "issue 4: the OpenAPI document"),
    ("arrive_twice", "wire::arrival::a_hundred_gets_among_everything_else_are_identical"),
    ("slow_body", "wire::deadlines::a_trickled_body_meets_its_deadline"),
    ("rate", "wire::limits::acts_over_the_rate_are_429"),
];

/// What must come back.
struct Want {
    statuses: Vec<u16>,
    closes: bool,
}

/// Where a case leaves a choice, DESIGN 4 decides it.
fn want(case: &Value) -> Want {
    let id = case["id"].as_str().unwrap();
    let status = &case["expect"]["status"];
    let exactly = |status: u16| Want { statuses: vec![status], closes: false };
    match id {
        "chunked_trailer" => exactly(200),
        // The case allows both; `framing::an_upgrade_is_refused` holds what DESIGN 4 says.
        "hdr Upgrade" => Want { statuses: vec![200, 400], closes: false },
        "cl_te" | "two_cl" | "short_body" => Want { statuses: vec![400], closes: true },
        "hdr Expect" => exactly(417),
        "hdr connection-nominated" => Want { statuses: vec![200], closes: true },
        "method CONNECT" | "method TRACE" => Want { statuses: vec![400, 405, 501], closes: false },
        "path *" => Want { statuses: vec![400, 404], closes: false },
        id if id.starts_with("hdr ") => exactly(200),
        id if id.starts_with("method ") => exactly(405),
        id if id.starts_with("path ") => exactly(404),
        _ => exactly(u16::try_from(status.as_u64().unwrap_or_else(|| panic!("{id}: {status}"))).unwrap()),
    }
}

/// The body as the case describes it.
fn body(case: &Value) -> Vec<u8> {
    let Some(text) = case["body"].as_str() else { return Vec::new() };
    match text {
        "<valid body padded with spaces to max+1>" | "<same, chunked>" => padded(MEETING_BODY, 65_537),
        "<valid body padded with spaces to exactly max>" => padded(MEETING_BODY, 65_536),
        text => text.as_bytes().to_vec(),
    }
}

fn send(gate: &Gate, case: &Value, etag: &str) -> (Client, Response) {
    let mut request =
        Request::new(case["method"].as_str().unwrap(), case["path"].as_str().unwrap()).body(body(case));
    for (name, value) in case["headers"].as_object().unwrap() {
        let value = value.as_str().unwrap();
        request = match (name.as_str(), value) {
            ("(version)", "HTTP/1.0, no Host") => request.version("HTTP/1.0").host(None),
            ("Transfer-Encoding", "chunked") if case["id"] != "cl_te" => request.chunked(20),
            ("Content-Length" | "Transfer-Encoding", value) => request.field(name, value).raw(),
            ("If-None-Match", "<etag of GET>") => request.field(name, etag),
            (name, value) => request.field(name, value),
        };
    }
    let mut client = gate.client();
    if case["id"] == "chunked_trailer" {
        client.send(&request.head());
        let tail = String::from_utf8(request.tail()).unwrap();
        client.send(
            tail.replace("\r\n0\r\n\r\n", "\r\n0\r\nX-HTTP-Method-Override: DELETE\r\n\r\n").as_bytes(),
        );
    } else {
        client.send(&request.bytes());
    }
    if case["id"] == "short_body" {
        client.finish();
    }
    let id = &case["id"];
    let response =
        client.try_receive(&request.method).unwrap_or_else(|loss| panic!("{id}: no response: {loss:?}"));
    (client, response)
}

/// What a case says about the response, beyond its status.
fn check_response(case: &Value, response: &Response, form: &Value) {
    let (id, expect) = (&case["id"], &case["expect"]);
    if let Some(media) = expect["content_type"].as_str() {
        assert_eq!(response.field("content-type"), Some(media), "{id}");
    }
    if expect["members"].is_object() {
        let arrival = response.json();
        assert!(arrival["p"].is_string() && arrival["m"].is_array(), "{id}: {arrival}");
        assert_eq!(&arrival["s"], form, "{id}");
    }
    if response.status == 204 && case["method"] == "POST" {
        assert!(response.body.is_empty(), "{id}");
        for name in response.names() {
            let fine = ["date", "x-request-id", "cache-control", "connection"].contains(&name.as_str());
            assert!(fine, "{id}: a refusal with {name}");
        }
    }
    if response.status == 405 {
        let mut methods: Vec<_> = response.field("allow").unwrap_or("").split(", ").collect();
        methods.sort_unstable();
        assert_eq!(methods, ["GET", "HEAD", "OPTIONS", "POST"], "{id}");
    }
    if case["method"] == "OPTIONS" {
        assert!(response.field("allow").is_some(), "{id}");
        assert!(!response.names().iter().any(|name| name.starts_with("access-control-")), "{id}");
    }
}

/// What the upstream may have seen.
fn check_upstream(case: &Value, response: &Response, backend: &Backend) {
    let id = &case["id"];
    let calls = match (case["expect"]["upstream_calls"].as_u64(), response.status) {
        (Some(calls), _) => usize::try_from(calls).unwrap(),
        (None, 200) => usize::from(case["method"] == "POST"),
        (None, _) => 0,
    };
    if calls == 0 {
        backend.untouched();
        return;
    }
    let seen = backend.only();
    assert_eq!(seen.line(), "POST /legacy/meetings-start HTTP/1.1", "{id}");
    assert_eq!(seen.body, body(case), "{id}: the body changed on its way");
    for (name, value) in case["headers"].as_object().unwrap() {
        let ours = ["content-type", "content-length", "x-forwarded-host"];
        if !ours.contains(&name.to_lowercase().as_str()) {
            let passed = seen.fields().into_iter().find(|(have, _)| have == &name.to_lowercase());
            assert_eq!(passed, None, "{id}: a field of the client passed");
        }
        assert!(!seen.head.contains("DELETE") || value != "DELETE", "{id}: {}", seen.head);
    }
}

#[test]
fn every_case_of_the_http_table() {
    let table = cases::http();
    let all = table["cases"].as_array().unwrap();
    assert_eq!(all.len(), 111);
    let form: Value = serde_json::from_slice(&cases::form("meetings-start")).unwrap();
    let mut tried = 0;
    let mut wrong = Vec::new();
    let gate_and_backend = || {
        let backend = Backend::agreeing();
        let gate = Setup::meeting(&backend).start();
        (gate, backend)
    };
    let (mut gate, mut backend) = gate_and_backend();
    let etag = gate.get(MEETING).field("etag").unwrap().to_owned();
    for case in all {
        let id = case["id"].as_str().unwrap();
        if ELSEWHERE.iter().any(|(elsewhere, _)| *elsewhere == id) {
            continue;
        }
        tried += 1;
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let (mut client, response) = send(&gate, case, &etag);
            let want = want(case);
            assert!(
                want.statuses.contains(&response.status),
                "{id}: {} for {:?}",
                response.status,
                want.statuses
            );
            assert!(!want.closes || client.closes_within(Duration::from_secs(2)), "{id}: left open");
            check_response(case, &response, &form);
            check_upstream(case, &response, &backend);
        }));
        if outcome.is_err() {
            wrong.push(id);
        }
        if backend.connections() > 0 || outcome.is_err() {
            (gate, backend) = gate_and_backend();
        }
    }
    assert!(wrong.is_empty(), "{} of {tried} cases: {wrong:#?}", wrong.len());
    assert_eq!(tried + ELSEWHERE.len(), all.len());
}

/// The body of a GET is no part of what is asked, and no next request (`get_with_body`).
#[test]
fn the_body_of_a_get_is_never_a_request() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let mut client = gate.client();
    let inner = Request::post(MEETING, MEETING_BODY).bytes();
    client.send(&Request::get(MEETING).body(inner).bytes());
    assert_eq!(client.receive("GET").status, 200);
    assert!(
        client.closes_within(Duration::from_millis(500))
            || client.exchange(&Request::get(MEETING)).status == 200
    );
    backend.untouched();
}
