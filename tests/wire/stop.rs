//! A stop loses nothing (P11): acts in flight are finished, new connections turned away, the exit is prompt and 0.

use crate::support::backend::json;
use crate::support::{After, Backend, Client, Gate, MEETING, MEETING_BODY, Request, Setup, eventually};
use std::io::Write;
use std::time::{Duration, Instant};

fn slow(time: u64) -> (Gate, Backend) {
    let backend = Backend::scripted(move |_, stream| {
        std::thread::sleep(Duration::from_millis(time));
        if stream.write_all(&json(r#"{"done":true}"#)).is_ok() { After::Keep } else { After::Close }
    });
    let gate = Setup::meeting(&backend).with("grace", "5s").start();
    (gate, backend)
}

#[test]
fn an_act_in_flight_is_finished() {
    let (mut gate, backend) = slow(700);
    let mut client = gate.client();
    client.send(&Request::post(MEETING, MEETING_BODY).bytes());
    eventually("the act is at the backend", || backend.count() == 1);
    let start = Instant::now();
    gate.signal("TERM");
    let response = client.receive("POST");
    assert_eq!((response.status, response.text()), (200, r#"{"done":true}"#));
    assert!(client.closes_within(Duration::from_secs(2)), "after the answer the connection is closed");
    let status = gate.wait(Duration::from_secs(4));
    assert_eq!(status.code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    let lines = gate.access_lines(1);
    assert_eq!(lines[0]["outcome"], "accepted");
}

/// A body half read when the stop comes is still read and done.
#[test]
fn a_body_in_flight_is_read_to_its_end() {
    let (mut gate, backend) = slow(0);
    let mut client = gate.client();
    let bytes = Request::post(MEETING, MEETING_BODY).bytes();
    client.send(&bytes[..bytes.len() - 10]);
    std::thread::sleep(Duration::from_millis(100));
    gate.signal("TERM");
    std::thread::sleep(Duration::from_millis(200));
    client.send(&bytes[bytes.len() - 10..]);
    let response = client.receive("POST");
    assert!(matches!(response.status, 200 | 503), "{}", response.head);
    assert_eq!(backend.count(), usize::from(response.status == 200));
    assert_eq!(gate.wait(Duration::from_secs(4)).code(), Some(0));
}

/// With `leave`, new connections are served for so long, each answer the last of its connection; `/readyz` says it.
#[test]
fn a_stop_that_leaves_goes_on_serving_for_a_while() {
    let backend = Backend::agreeing();
    let mut gate = Setup::meeting(&backend).with("leave", "3s").start();
    let mut open = gate.client();
    assert_eq!(open.exchange(&Request::get(MEETING)).field("connection"), None);
    gate.signal("TERM");
    eventually("load balancers are told", || gate.ask_admin("GET", "/readyz").status == 503);
    let last = open.exchange(&Request::get(MEETING));
    assert_eq!((last.status, last.field("connection")), (200, Some("close")));
    for _ in 0..5 {
        let act = gate.post(MEETING, MEETING_BODY);
        assert_eq!((act.status, act.field("connection")), (200, Some("close")));
    }
    assert!(gate.is_running());
    assert_eq!(gate.wait(Duration::from_secs(15)).code(), Some(0));
    assert_eq!(backend.count(), 5);
}

/// Nobody who asks twice waits for it.
#[test]
fn a_second_signal_ends_the_leaving() {
    let mut gate = Setup::meeting(&Backend::agreeing()).with("leave", "5m").start();
    gate.signal("TERM");
    eventually("it leaves", || gate.log().contains("leaving"));
    gate.signal("TERM");
    assert_eq!(gate.wait(Duration::from_secs(15)).code(), Some(0));
}

/// Without anything in flight a stop takes no time, idle connections or not.
#[test]
fn an_idle_gate_stops_at_once() {
    let (mut gate, _backend) = slow(0);
    let mut idle: Vec<Client> = (0..3).map(|_| gate.client()).collect();
    for client in &mut idle {
        assert_eq!(client.exchange(&Request::get(MEETING)).status, 200);
    }
    let start = Instant::now();
    assert_eq!(gate.stop().code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    for client in &mut idle {
        assert!(client.closes_within(Duration::from_secs(1)));
    }
}

/// The grace is an end: an act that takes longer does not hold the stop for ever.
#[test]
fn the_grace_is_an_end() {
    let backend = Backend::scripted(|_, _| {
        std::thread::sleep(Duration::from_secs(20));
        After::Close
    });
    let mut gate = Setup::meeting(&backend)
        .with("grace", "500ms")
        .with("upstreams/backend/timeouts/exchange", "15s")
        .start();
    let mut client = gate.client();
    client.send(&Request::post(MEETING, MEETING_BODY).bytes());
    eventually("the act is at the backend", || backend.count() == 1);
    let start = Instant::now();
    gate.stop();
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

/// While it stops, open connections may ask once more for half a second; then whoever still gets in is told
/// 503, and nothing of theirs is sent.
#[test]
fn a_stopping_gate_takes_no_new_acts() {
    let (mut gate, backend) = slow(1500);
    let mut busy = gate.client();
    let mut idle = gate.client();
    assert_eq!(idle.exchange(&Request::get(MEETING)).status, 200);
    busy.send(&Request::post(MEETING, MEETING_BODY).bytes());
    eventually("the act is at the backend", || backend.count() == 1);
    gate.signal("TERM");
    std::thread::sleep(Duration::from_millis(750));
    if let Ok(response) = idle.try_exchange(&Request::post(MEETING, MEETING_BODY)) {
        assert_eq!(response.status, 503, "{}", response.head);
    }
    if let Ok(mut fresh) = Client::try_connect(gate.addr)
        && let Ok(response) = fresh.try_exchange(&Request::post(MEETING, MEETING_BODY))
    {
        assert_eq!(response.status, 503, "{}", response.head);
    }
    assert_eq!(busy.receive("POST").status, 200);
    assert_eq!(backend.count(), 1);
    assert_eq!(gate.wait(Duration::from_secs(5)).code(), Some(0));
}

/// An HTTP/2 connection that has said hello and nothing else is no request in flight.
#[test]
fn a_silent_http2_connection_holds_no_stop() {
    let (mut gate, _backend) = slow(0);
    let mut client = gate.client();
    client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    assert_eq!(gate.stop().code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

/// Whoever asks a second time does not want to wait.
#[test]
fn a_second_signal_ends_at_once() {
    let (mut gate, backend) = slow(4000);
    let mut client = gate.client();
    client.send(&Request::post(MEETING, MEETING_BODY).bytes());
    eventually("the act is at the backend", || backend.count() == 1);
    let start = Instant::now();
    gate.signal("TERM");
    std::thread::sleep(Duration::from_millis(100));
    gate.signal("TERM");
    assert_eq!(gate.wait(Duration::from_secs(3)).code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

/// Connections that are kept are let go of while there is still something to say it with: whatever is logged.
#[test]
fn a_stop_is_clean_whatever_is_logged() {
    let backend = Backend::agreeing();
    let mut gate = Gate::start_with(&Setup::meeting(&backend), |command| {
        command.env("RUST_LOG", "trace");
    });
    assert_eq!(gate.exchange(&Request::post(MEETING, MEETING_BODY)).status, 200);
    gate.signal("TERM");
    assert_eq!(gate.wait(Duration::from_secs(10)).code(), Some(0));
}
