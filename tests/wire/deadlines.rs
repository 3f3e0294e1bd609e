//! Everything read has a total deadline; a byte now and then extends nothing (P9; issue 2, item 5).

use crate::support::{Backend, Loss, MEETING, MEETING_BODY, Request, Setup, eventually};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(3);

/// A byte every 40 ms: 100 bytes would take four seconds.
#[test]
fn a_trickled_body_meets_its_deadline() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("routes/0/body_deadline", "400ms").start();
    for request in [Request::post(MEETING, MEETING_BODY), Request::post(MEETING, MEETING_BODY).chunked(1)] {
        let start = Instant::now();
        let mut client = gate.client();
        client.send(&request.head());
        let tail = request.tail();
        for byte in tail.chunks(1).take(25) {
            if !client.send(byte) {
                break;
            }
            std::thread::sleep(Duration::from_millis(40));
        }
        let response = client.receive("POST");
        assert_eq!((response.status, response.body.len()), (408, 0));
        assert!(client.closes_within(SOON));
        assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    }
    let mut silent = gate.client();
    silent.send(&Request::post(MEETING, MEETING_BODY).head());
    assert_eq!(silent.receive("POST").status, 408);
    backend.untouched();
    let refusals = |gate: &crate::support::Gate| {
        gate.metrics().sum("formgate_refusals_total", &[("route", "meetings_start")])
    };
    eventually("three deadlines are counted", || (refusals(&gate) - 3.0).abs() < f64::EPSILON);
}

#[test]
fn a_trickled_head_meets_its_deadline() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("head_deadline", "400ms").start();
    let start = Instant::now();
    let mut client = gate.client();
    for byte in Request::get(MEETING).head().chunks(1).take(20) {
        if !client.send(byte) {
            break;
        }
        std::thread::sleep(Duration::from_millis(40));
    }
    match client.try_receive("GET") {
        Ok(response) => {
            assert_eq!(response.status, 408);
            assert!(client.closes_within(SOON));
        }
        Err(loss) => assert!(matches!(loss, Loss::Closed(0) | Loss::Reset), "{loss:?}"),
    }
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

/// The deadline counts anew for each request of a connection, from its first byte.
#[test]
fn the_head_deadline_is_not_of_the_connection() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("head_deadline", "400ms").with("keepalive", "5s").start();
    let mut client = gate.client();
    for _ in 0..3 {
        assert_eq!(client.exchange(&Request::get(MEETING)).status, 200);
        std::thread::sleep(Duration::from_millis(250));
    }
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(client.exchange(&Request::get(MEETING)).status, 200, "idle is not slow");
    client.send(b"GET ");
    let _ = client.try_receive("GET").map(|response| assert_eq!(response.status, 408));
    assert!(client.closes_within(SOON));
}

/// Without a request a connection is closed, at first and between requests.
#[test]
fn an_idle_connection_is_closed() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("keepalive", "300ms").with("head_deadline", "300ms").start();
    let mut fresh = gate.client();
    let mut used = gate.client();
    for round in 0..4 {
        assert_eq!(used.exchange(&Request::get(MEETING)).status, 200, "round {round}");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(used.closes_within(SOON), "idle after requests");
    assert!(
        matches!(fresh.try_receive("GET"), Err(Loss::Closed(0) | Loss::Reset)) || fresh.closes_within(SOON),
        "idle from the start"
    );
}

/// Over `max_connections` one more is closed at once; when one leaves there is room again.
#[test]
fn connections_are_bounded() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("max_connections", 4).start();
    let mut clients: Vec<_> = (0..4).map(|_| gate.client()).collect();
    for client in &mut clients {
        assert_eq!(client.exchange(&Request::get(MEETING)).status, 200);
    }
    let mut over = gate.client();
    let answered = over.try_exchange(&Request::get(MEETING));
    let shut = match &answered {
        Err(loss) => matches!(loss, Loss::Closed(0) | Loss::Reset),
        Ok(response) => response.status == 503,
    };
    assert!(shut, "{answered:?}");
    assert_eq!(clients[0].exchange(&Request::get(MEETING)).status, 200, "those inside are served");
    clients.pop();
    eventually("there is room again", || {
        let mut client = gate.client();
        matches!(client.try_exchange(&Request::get(MEETING)), Ok(response) if response.status == 200)
    });
    eventually("three are left", || gate.metrics().counts("formgate_connections", &[], 3));
}
