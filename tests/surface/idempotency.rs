//! `Idempotency-Key` on POST (issue 4, item 4; B-30, U-04, U-05, P5, P6): with a key an act is done once, and whoever
//! repeats it is given the first answer, byte for byte.

use crate::support::backend::answer;
use crate::support::{After, Backend, Gate, MEETING, MEETING_BODY, Request, Response, Setup, eventually};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(super) const OTHER_BODY: &str = r#"{"title":"Q4 Planning","displayName":"Agent Alpha"}"#;

pub(super) fn keyed(key: &str) -> Request {
    Request::post(MEETING, MEETING_BODY).field("Idempotency-Key", key)
}

/// Answers each act differently, after so long: a repeated act would show.
pub(super) fn counting(pause: Duration) -> Backend {
    let acts = AtomicUsize::new(0);
    Backend::scripted(move |_, stream| {
        let number = acts.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(pause);
        let fields = format!("Content-Type: application/json\r\nLocation: /meetings/{number}\r\n");
        let bytes = answer("201 Created", &fields, format!("{{\"act\": {number}}}"));
        if stream.write_all(&bytes).is_ok() { After::Keep } else { After::Close }
    })
}

pub(super) fn setup(backend: &Backend, rule: impl Into<Value>) -> Setup {
    Setup::meeting(backend)
        .with("routes/0/idempotency", rule)
        .with("routes/0/consequence", json!({ "pass_headers": ["Location"] }))
}

/// The first answer again, and nothing but the mark that it is that.
#[track_caller]
pub(super) fn replayed(first: &Response, again: &Response) {
    assert_eq!(again.field("idempotency-replayed"), Some("true"), "{}", again.head);
    let unmarked = again.constant_head().replace("Idempotency-Replayed: true\n", "");
    assert_eq!(unmarked, first.constant_head());
    assert_eq!(again.body, first.body);
    assert_ne!(first.field("x-request-id"), again.field("x-request-id"), "each request has its own name");
}

#[track_caller]
pub(super) fn counted(gate: &Gate, state: &str, many: usize) {
    let labels = [("route", "meetings_start"), ("state", state)];
    eventually(&format!("{many} counted as {state}"), || {
        gate.metrics().counts("formgate_replays_total", &labels, many)
    });
}

#[test]
fn a_repeated_act_is_done_once_and_answered_byte_for_byte() {
    let backend = counting(Duration::ZERO);
    let gate = setup(&backend, "optional").start();
    for state in ["fresh", "done", "pending", "unknown", "conflict", "full", "down"] {
        assert!(
            gate.metrics().text.contains(&format!("state=\"{state}\"}} 0")),
            "{state} is not there at zero"
        );
    }
    let first = gate.exchange(&keyed("8e03978e-40d5-43dd-bc93-6894a57f9324"));
    assert_eq!((first.status, first.field("idempotency-replayed")), (200, None), "{}", first.head);
    assert_eq!(first.field("location"), Some("/meetings/0"));
    // With quotes, as the draft writes it, or without: one key. Chunked or not: the same bytes.
    for request in [
        keyed("8e03978e-40d5-43dd-bc93-6894a57f9324"),
        keyed("\"8e03978e-40d5-43dd-bc93-6894a57f9324\""),
        keyed("8e03978e-40d5-43dd-bc93-6894a57f9324").chunked(7),
    ] {
        replayed(&first, &gate.exchange(&request));
    }
    let seen = backend.only();
    assert_eq!(seen.field("idempotency-key"), None, "a key stays here unless the route passes it");
    // Without a key, and with another, it is another act.
    assert_eq!(gate.exchange(&keyed("another")).body, b"{\"act\": 1}");
    assert_eq!(gate.post(MEETING, MEETING_BODY).body, b"{\"act\": 2}");
    counted(&gate, "fresh", 2);
    counted(&gate, "done", 3);
    let accepted = [("route", "meetings_start"), ("outcome", "accepted")];
    assert!(gate.metrics().counts("formgate_requests_total", &accepted, 6));
    assert!(gate.metrics().counts("formgate_records", &[], 2));
    let lines = gate.access_lines(6);
    let replays: Vec<_> = lines.iter().map(|line| line["replay"].as_str()).collect();
    let (done, fresh) = (Some("done"), Some("fresh"));
    assert_eq!(replays, [fresh, done, done, done, fresh, None]);
    assert!(lines[1].get("upstream").is_none(), "{}", lines[1]);
    assert!(!gate.written().contains("8e03978e"), "a key is in a log");
}

/// U-04; P6 holds over the draft's 422.
#[test]
fn another_body_under_a_used_key_is_the_one_refusal() {
    let backend = counting(Duration::ZERO);
    let gate = setup(&backend, "optional").start();
    let refusal = gate.post(MEETING, "{}");
    let first = gate.exchange(&keyed("k"));
    // Another spelling of the same value is another body: what would be sent are bytes.
    for body in [OTHER_BODY.to_owned(), format!("{MEETING_BODY} ")] {
        let conflict = gate.exchange(&keyed("k").body(&body));
        assert_eq!((conflict.status, conflict.constant_head()), (204, refusal.constant_head()));
    }
    replayed(&first, &gate.exchange(&keyed("k")));
    assert_eq!(backend.count(), 1);
    counted(&gate, "conflict", 2);
    let labels = [("route", "meetings_start"), ("reason", "key_conflict")];
    assert!(gate.metrics().counts("formgate_refusals_total", &labels, 2));
}

/// A refused body takes no key (B-30): validation comes first.
#[test]
fn what_is_refused_is_not_recorded() {
    let backend = counting(Duration::ZERO);
    let gate = setup(&backend, "required").start();
    for body in ["{}", "null", "{", r#"{"title":"","displayName":"A"}"#] {
        assert_eq!(gate.exchange(&keyed("k").body(body)).status, 204);
    }
    backend.untouched();
    assert!(gate.metrics().counts("formgate_records", &[], 0));
    assert_eq!(gate.exchange(&keyed("k")).status, 200);
}

/// 400, before the body is read, and nothing of it goes on. A head that is refused anyway stays a refusal.
#[test]
fn a_missing_or_malformed_key_is_a_bad_request() {
    let backend = counting(Duration::ZERO);
    let gate = setup(&backend, "required")
        .case_route("note-scalar")
        .with("routes/1/idempotency", "optional")
        .start();
    let bad = |request: &Request| {
        let response = gate.exchange(request);
        assert_eq!((response.status, response.body.len()), (400, 0), "{request:?}\n{}", response.head);
        let head = gate.exchange(&request.clone().body(""));
        assert_eq!(head.status, 400);
    };
    bad(&Request::post(MEETING, MEETING_BODY));
    bad(&keyed("a").field("Idempotency-Key", "a"));
    let note = || Request::post("/api/v2/note-scalar", "\"x\"");
    let too_long = "k".repeat(256);
    for key in [
        "",
        "\"\"",
        "\"",
        "\"a",
        "a b",
        "a,b",
        "\"a\", \"b\"",
        "a;b",
        "\"a\";b",
        "\\",
        "caf\u{e9}",
        &too_long,
    ] {
        bad(&keyed(key));
        bad(&note().field("Idempotency-Key", key));
    }
    assert_eq!(gate.exchange(&keyed("a").without("Content-Type")).status, 204);
    assert_eq!(gate.exchange(&Request::post(&format!("{MEETING}?a=b"), MEETING_BODY)).status, 204);
    backend.untouched();
    assert!(gate.metrics().counts("formgate_records", &[], 0));
    // An arrival needs no key and cares for none (G-01, P8).
    let plain = gate.get(MEETING);
    let keys = gate.exchange(&Request::get(MEETING).field("Idempotency-Key", "a b"));
    assert_eq!((plain.constant_head(), plain.body), (keys.constant_head(), keys.body));
    assert_eq!(gate.exchange(&keyed(&"k".repeat(255))).status, 200);
}

/// Many at once with one key: one act, one answer for all.
#[test]
fn those_that_come_while_it_is_under_way_wait_for_its_answer() {
    let backend = counting(Duration::from_millis(300));
    let gate = setup(&backend, "optional").start();
    let answers: Vec<Response> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..32).map(|_| scope.spawn(|| gate.exchange(&keyed("one")))).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(backend.count(), 1);
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.body == b"{\"act\": 0}"));
    let marked = answers.iter().filter(|answer| answer.field("idempotency-replayed").is_some()).count();
    assert_eq!(marked, 31);
    counted(&gate, "fresh", 1);
    counted(&gate, "done", 31);
}

#[test]
fn who_has_waited_long_enough_is_told_to_come_again() {
    let backend = counting(Duration::from_millis(1500));
    let gate = setup(&backend, json!({ "wait": "200ms" })).start();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gate.exchange(&keyed("slow")));
        eventually("it is under way", || backend.count() == 1);
        let began = Instant::now();
        let early = gate.exchange(&keyed("slow"));
        let waited = began.elapsed();
        assert_eq!((early.status, early.body.len()), (409, 0), "{}", early.head);
        assert_eq!(early.field("retry-after"), Some("1"));
        assert!(waited >= Duration::from_millis(190) && waited < Duration::from_millis(900), "{waited:?}");
        // Another body does not wait to be refused.
        let began = Instant::now();
        assert_eq!(gate.exchange(&keyed("slow").body(OTHER_BODY)).status, 204);
        assert!(began.elapsed() < Duration::from_millis(150));
        let first = first.join().unwrap();
        replayed(&first, &gate.exchange(&keyed("slow")));
    });
    assert_eq!(backend.count(), 1);
    counted(&gate, "pending", 1);
    let labels = [("route", "meetings_start"), ("outcome", "pending")];
    assert!(gate.metrics().counts("formgate_requests_total", &labels, 1));
}

/// A client that leaves in the middle changes nothing: its act goes on, once, and its answer is kept for it.
#[test]
fn a_client_that_leaves_finds_its_answer() {
    let backend = counting(Duration::from_millis(300));
    let gate = setup(&backend, "optional").start();
    for number in 0..2 {
        let mut leaving = gate.client();
        leaving.send(&keyed(&format!("left {number}").replace(' ', "-")).bytes());
        eventually("it is under way", || backend.count() == number + 1);
        if number == 0 {
            leaving.reset();
        } else {
            drop(leaving);
        }
        let found = gate.exchange(&keyed(&format!("left-{number}")));
        assert_eq!(found.body, format!("{{\"act\": {number}}}").into_bytes());
    }
    assert_eq!(backend.count(), 2);
}

#[test]
fn a_key_is_its_routes_own_and_passes_only_where_the_route_says_so() {
    let backend = counting(Duration::ZERO);
    let gate = setup(&backend, "optional")
        .route(json!({
            "address": "/second",
            "name": "second",
            "form": "forms/meetings-start.json",
            "upstream": { "to": "backend", "path": "/second", "pass_headers": ["Idempotency-Key"] },
            "idempotency": { "key": "required", "keep": "48h" },
        }))
        .start();
    assert_eq!(gate.exchange(&keyed("k")).body, b"{\"act\": 0}");
    let second = Request::post("/second", MEETING_BODY).field("Idempotency-Key", "\"k\"");
    assert_eq!(gate.exchange(&second).body, b"{\"act\": 1}");
    assert_eq!(gate.exchange(&second).body, b"{\"act\": 1}");
    let keys: Vec<_> = backend.seen().iter().map(|seen| seen.field("idempotency-key")).collect();
    assert_eq!(keys, [None, Some("\"k\"".to_owned())]);
}

/// Nobody is answered with what was another's.
#[test]
fn a_key_is_its_holders_own_where_there_are_tokens() {
    use formgate::gateway::TokenHash;
    let backend = counting(Duration::ZERO);
    let hash = |token: &str| TokenHash::of(token.as_bytes()).hex();
    let gate = setup(&backend, "optional")
        .with(
            "tokens",
            json!({
                "ada": { "class": "act", "sha256": [hash("ada-old-token"), hash("ada-new-token")] },
                "bob": { "class": "act", "sha256": hash("bob-token") },
            }),
        )
        .with("routes/0/tokens", json!(["ada", "bob"]))
        .start();
    let act =
        |token: &str| gate.exchange(&keyed("k").field("Authorization", &format!("Bearer {token}"))).body;
    assert_eq!(act("ada-old-token"), b"{\"act\": 0}");
    assert_eq!(act("bob-token"), b"{\"act\": 1}");
    assert_eq!(act("ada-new-token"), b"{\"act\": 0}", "a token that was replaced is the same holder");
    assert_eq!(backend.count(), 2);
}

/// Pages may send the field where the route allows pages and keys.
#[test]
fn a_preflight_names_the_field() {
    let backend = counting(Duration::ZERO);
    let gate = setup(&backend, "optional").with("routes/0/cors", json!({ "origins": ["*"] })).start();
    let told = gate.exchange(&Request::new("OPTIONS", MEETING).field("Origin", "https://a.example"));
    let allowed = told.field("access-control-allow-headers").unwrap();
    assert!(allowed.contains("idempotency-key"), "{allowed}");
}

/// A reload, also one that changes the route's rule, forgets no key (B-30).
#[test]
fn a_reload_keeps_the_records() {
    let backend = counting(Duration::ZERO);
    let setup = setup(&backend, "optional");
    let gate = Gate::start(&setup);
    let first = gate.exchange(&keyed("k"));
    gate.replace("gateway.yaml", setup.with("routes/0/idempotency", json!({ "key": "required" })).text());
    assert_eq!(gate.reload().status, 200);
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 400, "the new rule holds");
    replayed(&first, &gate.exchange(&keyed("k")));
    assert_eq!(backend.count(), 1);
}

/// The key comes before the form: what was done is told, whatever the form says by now; what was not is judged by it.
#[test]
fn what_was_done_is_told_also_when_the_form_has_changed() {
    let backend = counting(Duration::ZERO);
    let gate = setup(&backend, "optional").start();
    let digest = gate.get(MEETING).field("etag").unwrap().to_owned();
    let first = gate.exchange(&keyed("k"));
    assert_eq!(first.status, 200);
    gate.replace(
        "forms/meetings-start.json",
        r#"{ "type": "object", "description": "Shorter.", "additionalProperties": false,
        "properties": { "title": { "type": "string", "maxLength": 3 } } }"#,
    );
    assert_eq!(gate.reload().status, 200);
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 204, "the new form holds");
    replayed(&first, &gate.exchange(&keyed("k")));
    // Also who says which form it was made for, as the page does; nothing is done for that form any more.
    let stale = |key: &str| gate.exchange(&keyed(key).field("If-Match", &digest));
    replayed(&first, &stale("k"));
    assert_eq!(stale("another").status, 412);
    assert_eq!(gate.exchange(&keyed("another")).status, 204);
    assert_eq!(gate.exchange(&keyed("k").body(OTHER_BODY)).status, 204);
    assert_eq!(backend.count(), 1);
}
