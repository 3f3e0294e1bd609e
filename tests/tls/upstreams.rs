//! Upstreams over TLS: always verified, and what fails before an act is sent is said to be so.

use crate::support::tls::{Authority, Terminator};
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Setup, eventually, padded};
use std::io::{Read, Write};

/// A route to a backend behind TLS that believes in `ca`.
fn setup(url: &str, ca: &Authority) -> Setup {
    Setup::towards(url)
        .case_route("meetings-start")
        .file("tls/ca.pem", ca.pem.clone())
        .with("upstreams/backend/tls", serde_json::json!({ "ca": "tls/ca.pem" }))
}

#[track_caller]
fn accepted(gate: &Gate) {
    let answer = gate.post(MEETING, MEETING_BODY);
    assert_eq!((answer.status, answer.text()), (200, r#"{"ok":true}"#));
}

/// 503, counted as not sent, and nothing reaches what is behind.
#[track_caller]
fn not_sent(gate: &Gate, backend: &Backend, port: u16, kind: &str) {
    let answer = gate.post(MEETING, MEETING_BODY);
    assert_eq!(answer.status, 503, "{}", gate.log());
    assert_eq!(backend.count(), 0);
    let labels = [("route", "meetings_start"), ("result", "not_sent")];
    eventually("it is counted", || gate.metrics().sum("formgate_upstream_results_total", &labels) > 0.0);
    eventually("it is told why", || gate.log().contains(kind));
    let line = gate.log().lines().find(|line| line.contains(kind)).unwrap().to_owned();
    assert!(line.contains("upstream=\"backend\"") && line.contains(&format!(" port={port} ")), "{line}");
}

#[test]
fn an_act_arrives_byte_for_byte_and_connections_are_kept() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let front = Terminator::start(backend.addr, ca.issue(&["localhost"]).server(None));
    let mut gate = setup(&front.url(), &ca).with("threads", 1).start();
    accepted(&gate);
    let large = padded(MEETING_BODY, 64 << 10);
    assert_eq!(gate.post(MEETING, &large).status, 200);
    assert_eq!(backend.seen()[0].body, MEETING_BODY.as_bytes());
    assert_eq!(backend.seen()[1].body, large);
    let port = front.addr.port();
    assert_eq!(backend.seen()[0].field("host"), Some(format!("localhost:{port}")));
    // One connection, one handshake, both acts.
    assert_eq!((front.handshakes(), backend.connections()), (1, 1));
    // And a stop with a kept connection is a stop like any other.
    assert_eq!(gate.stop().code(), Some(0));
}

#[test]
fn who_is_not_verified_is_sent_nothing() {
    let ca = Authority::new("ca");
    let cases = [
        (Authority::new("other").issue(&["localhost"]), "its certificate is from no root that is believed"),
        (ca.issue(&["other.test"]), "its certificate is for another name"),
        (ca.issue_between(&["localhost"], 2000, 2020), "its certificate has expired"),
        (ca.issue_between(&["localhost"], 2100, 2190), "its certificate is not valid yet"),
    ];
    for (pair, kind) in cases {
        let backend = Backend::agreeing();
        let front = Terminator::start(backend.addr, pair.server(None));
        let gate = setup(&front.url(), &ca).start();
        not_sent(&gate, &backend, front.addr.port(), kind);
        assert!(!gate.log().contains("other.test"), "{}", gate.log());
    }
}

#[test]
fn a_server_that_does_not_speak_tls_is_sent_nothing() {
    let ca = Authority::new("ca");
    let plain = Backend::raw(|_, mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let url = format!("https://{}", plain.addr);
    not_sent(&setup(&url, &ca).start(), &plain, plain.addr.port(), "it does not speak TLS");
    // And one that never answers is given up after `connect`.
    let mute = Backend::raw(|_, stream| {
        std::thread::sleep(std::time::Duration::from_secs(20));
        drop(stream);
    });
    let url = format!("https://{}", mute.addr);
    let gate = setup(&url, &ca).with("upstreams/backend/timeouts/connect", "100ms").start();
    not_sent(&gate, &mute, mute.addr.port(), "no handshake in time");
}

#[test]
fn the_name_may_be_said_and_the_next_server_is_tried() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let right = Terminator::start(backend.addr, ca.issue(&["crm.internal"]).server(None));
    let wrong = Terminator::start(backend.addr, ca.issue(&["other.internal"]).server(None));
    let gate = setup(&wrong.url(), &ca)
        .with("upstreams/backend/servers", vec![wrong.url(), right.url()])
        .with("upstreams/backend/tls/server_name", "crm.internal")
        .start();
    for _ in 0..4 {
        accepted(&gate);
    }
    assert_eq!((backend.count(), wrong.handshakes()), (4, 0));
    assert!(wrong.connections() > 0);
}

/// In TLS 1.3 a client learns that its certificate was not taken only after its act may be on its way.
#[test]
fn a_certificate_of_ours_is_shown_where_it_is_demanded() {
    let (ca, clients, backend) = (Authority::new("ca"), Authority::new("clients"), Backend::agreeing());
    let front = Terminator::start(backend.addr, ca.issue(&["localhost"]).server(Some(&clients)));
    let pair = clients.issue(&["formgate"]);
    let shown = setup(&front.url(), &ca)
        .file("tls/client.pem", pair.cert)
        .file("tls/client.key", pair.key)
        .with("upstreams/backend/tls/cert", "tls/client.pem")
        .with("upstreams/backend/tls/key", "tls/client.key");
    let gate = shown.start();
    accepted(&gate);
    drop(gate);
    // Not shown, the act is turned away with the handshake, and the client may try again.
    let backend = Backend::agreeing();
    let front = Terminator::start(backend.addr, ca.issue(&["localhost"]).server(Some(&clients)));
    let gate = setup(&front.url(), &ca).start();
    let answer = gate.post(MEETING, MEETING_BODY);
    assert_eq!((answer.status, backend.count()), (503, 0), "{}", gate.log());
}

/// After a reload with other roots no connection of the roots before is used.
#[test]
fn kept_connections_are_of_one_trust() {
    let (first, second, backend) = (Authority::new("first"), Authority::new("second"), Backend::agreeing());
    let front = Terminator::start(backend.addr, first.issue(&["localhost"]).server(None));
    let gate = setup(&front.url(), &first).with("threads", 1).with("watch", "off").start();
    accepted(&gate);
    gate.replace("tls/ca.pem", &second.pem);
    assert_eq!(gate.reload().status, 200);
    let answer = gate.post(MEETING, MEETING_BODY);
    assert_eq!((answer.status, backend.count()), (503, 1), "a connection of the older roots was used");
    gate.replace("tls/ca.pem", &first.pem);
    assert_eq!(gate.reload().status, 200);
    accepted(&gate);
    // Broken roots are refused, and what was believed is.
    gate.replace("tls/ca.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let refused = gate.reload();
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(
        refused.text().contains("tls/ca.pem holds a certificate that cannot be read"),
        "{}",
        refused.text()
    );
    accepted(&gate);
    assert_eq!(gate.metrics().sum("formgate_config_refused", &[]), 1.0);
}

/// Without `ca` the machine's roots are believed, and no test certificate is from one of them.
#[test]
fn the_machines_roots_are_the_default() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let front = Terminator::start(backend.addr, ca.issue(&["localhost"]).server(None));
    let gate = Setup::towards(&front.url()).case_route("meetings-start").start();
    not_sent(&gate, &backend, front.addr.port(), "its certificate is from no root that is believed");
}

/// What breaks once an act may have left is never said to be unsent (P5), and never sent again.
#[test]
fn what_breaks_behind_the_handshake_is_unknown() {
    let ca = Authority::new("ca");
    let config = std::sync::Arc::new(ca.issue(&["localhost"]).server(None));
    let backend = Backend::raw(move |_, stream| {
        let session = rustls::ServerConnection::new(std::sync::Arc::clone(&config)).unwrap();
        let mut line = rustls::StreamOwned::new(session, stream);
        // Some of the act, and then the end of the connection.
        let _ = line.read(&mut [0; 100]);
        crate::support::backend::reset(&line.sock);
    });
    let url = format!("https://localhost:{}", backend.addr.port());
    let gate = setup(&url, &ca).with("defaults/max_body", "8MiB").start();
    for length in [MEETING_BODY.len(), 60_000, 6 << 20] {
        let answer = gate.post(MEETING, padded(MEETING_BODY, length));
        assert_eq!(answer.status, 504, "{length}");
    }
    assert_eq!(backend.connections(), 3, "an act was sent twice");
}

/// A kept connection that the backend has closed meanwhile is not used.
#[test]
fn closed_connections_are_left_alone() {
    let (ca, backend) = (
        Authority::new("ca"),
        Backend::scripted(|_, stream| {
            let _ = stream.write_all(&crate::support::backend::json(r#"{"ok":true}"#));
            crate::support::After::Close
        }),
    );
    let front = Terminator::start(backend.addr, ca.issue(&["localhost"]).server(None));
    let gate = setup(&front.url(), &ca).with("threads", 1).start();
    for _ in 0..5 {
        accepted(&gate);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!((backend.count(), backend.connections()), (5, 5));
}

/// An act comes over TLS and leaves over TLS, byte for byte.
#[test]
fn sealed_on_both_sides() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let front = Terminator::start(backend.addr, ca.issue(&["localhost"]).server(None));
    let pair = ca.issue(&["site.test"]);
    let gate = setup(&front.url(), &ca)
        .file("tls/0.pem", pair.cert)
        .file("tls/0.key", pair.key)
        .with("listen", vec!["https://127.0.0.1:0"])
        .with("tls", serde_json::json!({ "certificates": [{ "cert": "tls/0.pem", "key": "tls/0.key" }] }))
        .start();
    let body = padded(MEETING_BODY, 65_536);
    let file = gate.dir.path().join("body.json");
    std::fs::write(&file, &body).unwrap();
    let file = format!("@{}", file.display());
    for flag in ["--http2", "--http1.1"] {
        let words = [flag, "-H", "content-type: application/json", "--data-binary", &file];
        assert_eq!(super::curl(&gate, &ca, "site.test", &words), (true, r#"{"ok":true}"#.to_owned()));
    }
    assert!(backend.seen().iter().all(|seen| seen.body == body) && backend.count() == 2);
}
