//! Rates and memory (issue 2, item 5; G-34, G-40): three separate buckets per client and route, and a budget for bodies.

use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request, Response, Setup, eventually, padded};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn limited(limits: Value) -> (Gate, Backend) {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .case_route("note-scalar")
        .with("routes/0/limits", limits)
        .with("trusted_proxies", json!(["127.0.0.1"]))
        .start();
    (gate, backend)
}

fn from(client: &str, request: Request) -> Request {
    request.field("X-Forwarded-For", client)
}

#[track_caller]
fn throttled(response: &Response) {
    assert_eq!((response.status, response.body.len()), (429, 0), "{}", response.head);
    let seconds: u32 = response.field("retry-after").unwrap().parse().unwrap();
    assert!((1..=3600).contains(&seconds), "{seconds}");
    assert_eq!(response.field("cache-control"), Some("no-store"));
    assert_eq!(response.field("content-type"), None);
}

#[test]
fn acts_over_the_rate_are_429() {
    let (gate, backend) = limited(json!({ "get": "none", "post": "1/m burst 3", "refused": "none" }));
    let act = || Request::post(MEETING, MEETING_BODY);
    for _ in 0..3 {
        assert_eq!(gate.exchange(&act()).status, 200);
    }
    throttled(&gate.exchange(&act()));
    throttled(&gate.exchange(&act().field("GPT-Actor", "another")));
    throttled(&gate.exchange(&Request::post(MEETING, "{}")));
    assert_eq!(backend.count(), 3, "an act over the rate is not sent");
    assert_eq!(gate.get(MEETING).status, 200, "GET has its own");
    assert_eq!(gate.post("/api/v2/note-scalar", "\"x\"").status, 200, "another route has its own");
    assert_eq!(gate.exchange(&from("203.0.113.1", act())).status, 200, "another client has its own");
    let refusals = [("route", "meetings_start"), ("reason", "throttled")];
    eventually("they are counted", || {
        (gate.metrics().sum("formgate_refusals_total", &refusals) - 3.0).abs() < 0.1
    });
}

#[test]
fn arrivals_over_the_rate_are_429() {
    let (gate, _backend) = limited(json!({ "get": "1/m burst 3", "post": "none", "refused": "none" }));
    for method in ["GET", "HEAD", "GET"] {
        assert_eq!(gate.exchange(&Request::new(method, MEETING)).status, 200);
    }
    throttled(&gate.get(MEETING));
    let head = gate.exchange(&Request::new("HEAD", MEETING));
    assert_eq!(head.status, 429);
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200, "POST has its own");
    assert_eq!(gate.exchange(&Request::new("OPTIONS", MEETING)).status, 204);
}

#[test]
fn refused_acts_have_a_rate_of_their_own() {
    let (gate, backend) = limited(json!({ "get": "none", "post": "none", "refused": "1/m burst 3" }));
    for _ in 0..5 {
        assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200, "what is accepted does not count");
    }
    let refused = [
        Request::post(MEETING, "{}"),
        Request::post(MEETING, "{"),
        Request::post(&format!("{MEETING}?x"), MEETING_BODY),
    ];
    for request in &refused {
        assert_eq!(gate.exchange(request).status, 204);
    }
    throttled(&gate.post(MEETING, MEETING_BODY));
    throttled(&gate.post(MEETING, "{}"));
    assert_eq!(backend.count(), 5);
    assert_eq!(gate.get(MEETING).status, 200);
}

/// A client that waits as long as it is told is served.
#[test]
fn retry_after_is_true() {
    let (gate, _backend) = limited(json!({ "get": "none", "post": "1/s burst 1", "refused": "none" }));
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
    let wait: u64 = gate.post(MEETING, MEETING_BODY).field("retry-after").unwrap().parse().unwrap();
    assert_eq!(wait, 1);
    std::thread::sleep(Duration::from_millis(1010));
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
}

/// IPv4 by address, IPv6 by /64 (DESIGN 4).
#[test]
fn clients_are_told_apart_by_address_and_by_64() {
    let (gate, _backend) = limited(json!({ "get": "none", "post": "1/m burst 1", "refused": "none" }));
    let status = |client: &str| gate.exchange(&from(client, Request::post(MEETING, MEETING_BODY))).status;
    assert_eq!(status("203.0.113.1"), 200);
    assert_eq!(status("203.0.113.2"), 200);
    assert_eq!(status("203.0.113.1"), 429);
    assert_eq!(status("2001:db8:0:1::1"), 200);
    assert_eq!(status("2001:db8:0:1:ffff::2"), 429, "the same /64");
    assert_eq!(status("2001:db8:0:2::1"), 200, "another /64");
    assert_eq!(status("::ffff:203.0.113.1"), 429, "an IPv4 address in IPv6 clothes");
}

/// Whoever is not behind a trusted proxy cannot choose whom it counts as.
#[test]
fn a_stranger_cannot_choose_its_bucket() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .with("routes/0/limits", json!({ "get": "none", "post": "1/m burst 1", "refused": "none" }))
        .start();
    let status = |client: &str| gate.exchange(&from(client, Request::post(MEETING, MEETING_BODY))).status;
    assert_eq!((status("203.0.113.1"), status("203.0.113.2")), (200, 429));
}

/// The number of clients remembered is bounded; beyond it they are limited together.
#[test]
fn remembered_clients_are_bounded() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .with("limiter_keys", 64)
        .with("trusted_proxies", json!(["127.0.0.1"]))
        .with("routes/0/limits", json!({ "get": "1/m burst 2", "post": "none", "refused": "none" }))
        .start();
    let mut client = gate.client();
    let mut served = 0;
    for n in 0..2000 {
        let request = from(&format!("10.{}.{}.1", n / 250, n % 250), Request::get(MEETING));
        served += usize::from(client.exchange(&request).status == 200);
    }
    assert!((64..400).contains(&served), "{served} of 2000 served");
    eventually("the keys are shown and bounded", || {
        let keys = gate.metrics().sum("formgate_limiter_keys", &[("route", "meetings_start")]);
        keys > 0.0 && keys <= 80.0
    });
}

/// A rate that is taken away takes its count with it.
#[test]
fn clients_of_a_rate_that_is_gone_are_not_shown() {
    let backend = Backend::agreeing();
    let limited =
        |limits: Value| Setup::meeting(&backend).with("routes/0/limits", limits).with("watch", "off");
    let gate = limited(json!({ "get": "1/m burst 2", "post": "none", "refused": "none" })).start();
    assert_eq!(gate.get(MEETING).status, 200);
    let shown = || gate.metrics().sum("formgate_limiter_keys", &[("route", "meetings_start")]);
    eventually("the client is shown", || shown() > 0.0);
    let mut setup = limited("none".into());
    for (key, bound) in [("listen", json!([gate.addr.to_string()])), ("admin", json!(gate.admin.to_string()))]
    {
        setup.config[key] = bound;
    }
    gate.replace("gateway.yaml", setup.text());
    assert_eq!(gate.reload().status, 200);
    assert!(shown() < 0.5, "{}", shown());
}

/// Clients of the gateway's own addresses are shown, and forgotten once their allowance is whole again, as those of routes
/// are: or each new one would soon share what the crowd has left.
#[test]
fn clients_of_the_gateways_own_addresses_are_forgotten() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .with("surfaces", json!({ "index": "on" }))
        .with("trusted_proxies", json!(["127.0.0.1"]))
        .with("defaults/limits", json!({ "get": "5/s burst 2", "post": "none", "refused": "none" }))
        .start();
    let remembered = || gate.metrics().sum("formgate_limiter_keys", &[("route", "_own")]);
    for n in 0..100 {
        assert_eq!(gate.exchange(&from(&format!("203.0.113.{n}"), Request::get("/"))).status, 200);
    }
    assert!(remembered() > 0.0);
    let began = Instant::now();
    while remembered() > 0.0 {
        assert!(began.elapsed() < Duration::from_secs(30), "still {}", remembered());
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Bodies in flight have one budget; beyond it 503, and afterwards all is as before.
#[test]
fn bodies_in_flight_are_bounded() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .with("inflight_bodies", "256KiB")
        .with("defaults/body_deadline", "20s")
        .start();
    let body = padded(MEETING_BODY, 60_000);
    for request in [Request::post(MEETING, &body), Request::post(MEETING, &body).chunked(1000)] {
        let bytes = request.bytes();
        let mut slow = Vec::new();
        let mut refused = 0;
        eventually("an act finds no memory", || {
            // One after the other: those that grow together may all be turned away.
            let mut client = gate.client();
            client.send(&bytes[..bytes.len() - 30]);
            slow.push(client);
            std::thread::sleep(Duration::from_millis(20));
            let response = gate.exchange(&request);
            assert!(matches!(response.status, 200 | 503), "{}", response.head);
            if response.status == 503 {
                let seconds: u32 = response.field("retry-after").unwrap().parse().unwrap();
                assert!(seconds >= 1 && response.body.is_empty());
                refused += 1;
            }
            refused > 0
        });
        assert_eq!(gate.get(MEETING).status, 200, "GET needs none");
        let held = gate.metrics().sum("formgate_inflight_body_bytes", &[]);
        assert!(held > 0.0 && held <= 262_144.0, "{held}");
        drop(slow);
        eventually("the budget is free again", || {
            gate.metrics().sum("formgate_inflight_body_bytes", &[]).abs() < 0.1
        });
        assert_eq!(gate.exchange(&request).status, 200);
    }
    let reasons = [("route", "meetings_start"), ("reason", "budget")];
    assert!(gate.metrics().sum("formgate_refusals_total", &reasons) >= 2.0);
}

/// `content_type: any` lets any declared type pass, and judges the body all the same.
#[test]
fn any_declared_type_where_the_route_says_so() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("routes/0/content_type", "any").start();
    let plain = Request::post(MEETING, MEETING_BODY).without("Content-Type");
    let form = plain.clone().field("Content-Type", "application/x-www-form-urlencoded");
    for request in [plain, form] {
        assert_eq!(gate.exchange(&request).status, 200);
        assert_eq!(gate.exchange(&request.body("{}")).status, 204);
    }
    assert!(
        backend.seen().iter().all(|seen| seen.field("content-type").as_deref() == Some("application/json"))
    );
    assert_eq!(backend.count(), 2);
}

/// CORS only where configured, only for the origins named, never with credentials (B-11).
#[test]
fn pages_of_other_origins_read_only_where_configured() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .case_route("note-scalar")
        .with("routes/0/cors", json!({ "origins": ["https://app.example"] }))
        .start();
    let preflight = |origin: &str, target: &str| {
        let request = Request::new("OPTIONS", target).field("Origin", origin);
        gate.exchange(
            &request
                .field("Access-Control-Request-Method", "POST")
                .field("Access-Control-Request-Headers", "content-type"),
        )
    };
    let allowed = preflight("https://app.example", MEETING);
    assert_eq!(allowed.status, 204);
    assert_eq!(allowed.field("access-control-allow-origin"), Some("https://app.example"));
    assert!(allowed.field("access-control-allow-methods").unwrap().contains("POST"));
    assert!(allowed.field("access-control-allow-headers").unwrap().to_lowercase().contains("content-type"));
    assert_eq!(allowed.field("access-control-allow-credentials"), None);
    for (origin, target) in [
        ("https://evil.example", MEETING),
        ("https://app.example.evil", MEETING),
        ("null", MEETING),
        ("https://app.example", "/api/v2/note-scalar"),
    ] {
        let response = preflight(origin, target);
        let named = response.field("access-control-allow-origin");
        assert!(named.is_none_or(|named| named != origin && named != "*"), "{origin}: {}", response.head);
    }
    let act = gate.exchange(&Request::post(MEETING, MEETING_BODY).field("Origin", "https://app.example"));
    assert_eq!((act.status, act.field("access-control-allow-origin")), (200, Some("https://app.example")));
}
