//! Clients that do not come to the end of a handshake: bounded like heads, counted, and in nobody's way.

use super::{setup, through};
use crate::support::tls::{Authority, client, dial};
use crate::support::{Backend, Client, MEETING, MEETING_BODY, Request, eventually};
use std::io::{Read, Write};
use std::time::Duration;

/// The first bytes of a hello of 16 KB whose rest never comes.
const HALF_A_HELLO: &[u8] = b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03";

#[test]
fn a_handshake_has_the_deadline_of_a_head() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).with("head_deadline", "300ms").start();
    let to = gate.tls.unwrap();
    let mut silent = Client::connect(to);
    let mut half = Client::connect(to);
    half.send(HALF_A_HELLO);
    // A byte now and then is no progress: the deadline is for all of it.
    let mut slow = Client::connect(to);
    slow.send(HALF_A_HELLO);
    for _ in 0..8 {
        std::thread::sleep(Duration::from_millis(50));
        slow.send(b"\x00");
    }
    for client in [&mut silent, &mut half, &mut slow] {
        assert!(client.closes_within(Duration::from_secs(8)));
    }
    // Done with the handshake and silent: the deadline of the first head, over both versions.
    for protocol in ["http/1.1", "h2"] {
        let mut line = dial(to, "site.test", client(&ca, &[protocol])).unwrap();
        let mut rest = Vec::new();
        let read = line.read_to_end(&mut rest);
        assert!(read.is_ok(), "{protocol}: closed without a farewell: {read:?}");
    }
    eventually("they are counted", || {
        gate.metrics().sum("formgate_tls_handshakes_total", &[("result", "deadline")]) == 3.0
    });
    assert_eq!(gate.metrics().sum("formgate_tls_handshakes_total", &[]), 5.0);
    // HTTP/2 agreed upon, and then something else.
    let mut line = dial(to, "site.test", client(&ca, &["h2"])).unwrap();
    line.write_all(b"canary-in-the-place-of-a-preface").unwrap();
    let _ = line.read_to_end(&mut Vec::new());
    assert!(gate.access().is_empty(), "a handshake is no request");
    assert!(!gate.log().contains("canary") && !gate.log().contains("H2"), "{}", gate.log());
    eventually("nothing is left open", || gate.metrics().sum("formgate_connections", &[]) == 0.0);
}

/// Hellos that never end are cut by their size, before their deadline.
#[test]
fn a_handshake_is_bounded_in_bytes() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).with("head_deadline", "60s").start();
    let mut client = Client::connect(gate.tls.unwrap());
    // Records of 4 KB, each a piece of one hello of 16 MB.
    client.send(b"\x16\x03\x01\x10\x00\x01\xff\xff\xff\x03\x03");
    let piece = [&[0; 4096 - 6][..], b"\x16\x03\x01\x10\x00"].concat();
    let sent = (0..64).take_while(|_| client.send(&piece)).count();
    let mut rest = Vec::new();
    let _ = client.stream.read_to_end(&mut rest);
    eventually("it is counted", || {
        gate.metrics().sum("formgate_tls_handshakes_total", &[("result", "malformed")]) == 1.0
    });
    assert!(sent > 0);
}

#[test]
fn slow_handshakes_are_in_nobodys_way() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).with("head_deadline", "60s").start();
    let to = gate.tls.unwrap();
    let slow: Vec<Client> = (0..400)
        .map(|_| {
            let mut client = Client::connect(to);
            client.send(HALF_A_HELLO);
            client
        })
        .collect();
    eventually("all are open", || gate.metrics().sum("formgate_connections", &[]) >= 400.0);
    for _ in 0..20 {
        let mut client = through(&gate, &ca, "site.test");
        assert_eq!(client.exchange(&Request::post(MEETING, MEETING_BODY)).status, 200);
    }
    assert_eq!(gate.metrics().sum("formgate_tls_handshakes_total", &[("result", "done")]), 20.0);
    drop(slow);
    eventually("they are gone", || {
        gate.metrics().sum("formgate_tls_handshakes_total", &[("result", "cut")]) == 400.0
    });
}

/// A connection counts before its handshake.
#[test]
fn connections_are_counted_before_they_shake_hands() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).with("max_connections", 2).start();
    let mut held: Vec<Client> = (0..2).map(|_| Client::connect(gate.tls.unwrap())).collect();
    eventually("both are open", || gate.metrics().sum("formgate_connections", &[]) == 2.0);
    assert!(dial(gate.tls.unwrap(), "site.test", client(&ca, &[])).is_err());
    eventually("it is counted", || gate.metrics().sum("formgate_connections_refused_total", &[]) == 1.0);
    held.pop();
    eventually("there is room", || gate.metrics().sum("formgate_connections", &[]) == 1.0);
    assert_eq!(through(&gate, &ca, "site.test").exchange(&Request::get(MEETING)).status, 200);
}

/// Cut anywhere in an act: what is not whole is no act, and the gate is none the worse.
#[test]
fn a_client_that_leaves_early_has_done_nothing() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).start();
    let bytes = Request::post(MEETING, MEETING_BODY).bytes();
    for cut in [1, 20, bytes.len() - 20, bytes.len() - 1] {
        for farewell in [true, false] {
            let mut line = dial(gate.tls.unwrap(), "site.test", client(&ca, &["http/1.1"])).unwrap();
            line.write_all(&bytes[..cut]).unwrap();
            if farewell {
                line.conn.send_close_notify();
                let _ = line.flush();
            }
        }
    }
    eventually("all are gone", || gate.metrics().sum("formgate_connections", &[]) == 0.0);
    backend.untouched();
    // Gone after a whole act: it is done, once.
    let mut line = dial(gate.tls.unwrap(), "site.test", client(&ca, &["http/1.1"])).unwrap();
    line.write_all(&bytes).unwrap();
    drop(line);
    eventually("the act is done", || backend.count() == 1);
}
