//! What a listener that speaks TLS shows and takes (G-43, A-25).

use super::{curl, s_client, setup, through};
use crate::support::tls::{Authority, client, dial};
use crate::support::{Backend, Client, MEETING, MEETING_BODY, Request, eventually, padded};
use std::io::{Read, Write};

/// The subject names of the certificate that a client which asks for `name` is shown.
fn shown(to: std::net::SocketAddr, authority: &Authority, name: &str) -> Result<Vec<u8>, String> {
    let line = dial(to, name, client(authority, &[])).map_err(|fault| fault.to_string())?;
    Ok(line.conn.peer_certificates().unwrap()[0].to_vec())
}

#[test]
fn the_certificate_is_chosen_by_the_name_asked_for() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let pairs = [
        ca.issue(&["first.test", "127.0.0.1"]),
        ca.issue(&["second.test", "third.test"]),
        ca.issue(&["*.wild.test"]),
        ca.issue(&["exact.wild.test"]),
    ];
    let gate = setup(&backend, &pairs).start();
    let to = gate.tls.unwrap();
    let asked = [
        ("first.test", 0),
        ("second.test", 1),
        ("THIRD.test", 1),
        ("a.wild.test", 2),
        ("exact.wild.test", 3),
        // An address is asked for without a name.
        ("127.0.0.1", 0),
    ];
    for (name, index) in asked {
        assert_eq!(shown(to, &ca, name).unwrap(), pairs[index].chain()[0].to_vec(), "{name}");
    }
    // Unknown names are shown the first, which is for others: the client goes away by itself.
    for name in ["unknown.test", "wild.test", "a.b.wild.test"] {
        let refused = shown(to, &ca, name).unwrap_err();
        assert!(
            refused.contains("not valid for name") && refused.contains("first.test"),
            "{name}: {refused}"
        );
    }
    eventually("they are counted", || {
        gate.metrics().sum("formgate_tls_handshakes_total", &[("result", "rejected")]) == 3.0
    });
    // As openssl sees it.
    let (_, said) = s_client(&gate, &["-servername", "second.test", "-showcerts"], "");
    let pem = pairs[1].cert.replace("\r\n", "\n");
    assert!(said.contains(pem.trim()), "{said}");
}

/// ALPN decides between HTTP/2 and HTTP/1.1, and the scheme that the backend is told is https (G-43).
#[test]
fn curl_gets_the_form_and_acts_over_both_versions() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).start();
    let plain = gate.get(MEETING);
    for (flag, version) in [("--http2", "2"), ("--http1.1", "1.1"), ("--no-alpn", "1.1")] {
        let (done, form) = curl(&gate, &ca, "site.test", &[flag, "-w", "\n%{http_version}"]);
        assert_eq!((done, form), (true, format!("{}\n{version}", plain.text())), "{flag}");
        let words = [flag, "-H", "content-type: application/json", "-d", MEETING_BODY];
        let (done, answer) = curl(&gate, &ca, "site.test", &words);
        assert_eq!((done, answer.as_str()), (true, r#"{"ok":true}"#), "{flag}");
    }
    let port = gate.tls.unwrap().port();
    for seen in backend.seen() {
        assert_eq!(seen.field("x-forwarded-proto").as_deref(), Some("https"));
        assert_eq!(seen.field("x-forwarded-host"), Some(format!("site.test:{port}")));
        assert_eq!(seen.field("x-forwarded-for").as_deref(), Some("127.0.0.1"));
        assert_eq!(seen.body, MEETING_BODY.as_bytes());
    }
    assert_eq!(backend.count(), 3);
    // In the clear nothing has changed.
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
    assert_eq!(backend.seen()[3].field("x-forwarded-proto").as_deref(), Some("http"));
    // Whoever offers neither is told that there is nothing in common.
    let refused = dial(gate.tls.unwrap(), "site.test", client(&ca, &["spdy/1"])).unwrap_err();
    assert!(refused.to_string().contains("NoApplicationProtocol"), "{refused}");
}

/// TLS 1.2 at least (A-25).
#[test]
fn older_versions_are_refused() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).start();
    for version in ["-tls1_2", "-tls1_3"] {
        let (done, said) = s_client(&gate, &[version, "-servername", "site.test", "-brief"], "");
        assert!(done && said.contains("CONNECTION ESTABLISHED"), "{version}: {said}");
    }
    for version in ["-tls1", "-tls1_1"] {
        let (done, said) = s_client(&gate, &[version, "-cipher", "DEFAULT@SECLEVEL=0"], "");
        // Which of the two depends on what else such an old hello leaves out.
        let alert = said.contains("alert protocol version") || said.contains("alert handshake failure");
        assert!(!done && alert, "{version}: {said}");
    }
    eventually("they are counted", || {
        gate.metrics().sum("formgate_tls_handshakes_total", &[("result", "incompatible")]) == 2.0
    });
    assert!(gate.access().is_empty());
}

#[test]
fn large_acts_arrive_byte_for_byte_both_ways() {
    let large = format!(r#"{{"echo":"{}"}}"#, "x".repeat(300_000));
    let backend = Backend::answering(crate::support::backend::json(&large));
    let ca = Authority::new("ca");
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).with("defaults/max_body", "1MiB").start();
    let mut client = through(&gate, &ca, "site.test");
    for length in [MEETING_BODY.len(), 2049, 16 << 10, 65_536, 65_537, 300_000] {
        let body = padded(MEETING_BODY, length);
        let answer = client.exchange(&Request::post(MEETING, &body));
        assert_eq!((answer.status, answer.text()), (200, large.as_str()), "{length}");
        assert_eq!(backend.seen().last().unwrap().body, body, "{length}");
    }
    let body = padded(MEETING_BODY, 200_000);
    let file = gate.dir.path().join("body.json");
    std::fs::write(&file, &body).unwrap();
    let file = format!("@{}", file.display());
    for flag in ["--http2", "--http1.1"] {
        let words = [flag, "-H", "content-type: application/json", "--data-binary", &file];
        let (done, answer) = curl(&gate, &ca, "site.test", &words);
        assert!(done && answer == large, "{flag}");
        assert_eq!(backend.seen().last().unwrap().body, body, "{flag}");
    }
}

/// A small answer, head and body, is one record: one write for the gate, one read for the client.
#[test]
fn a_small_answer_is_one_record() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).start();
    let mut line = dial(gate.tls.unwrap(), "site.test", client(&ca, &["http/1.1"])).unwrap();
    for _ in 0..3 {
        line.write_all(&Request::post(MEETING, MEETING_BODY).bytes()).unwrap();
        let mut room = [0; 16 << 10];
        // rustls gives one record a read.
        let read = line.read(&mut room).unwrap();
        assert!(room[..read].ends_with(br#"{"ok":true}"#), "{}", String::from_utf8_lossy(&room[..read]));
    }
}

#[test]
fn http_in_the_clear_is_told_so_and_garbage_is_not() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).start();
    let to = gate.tls.unwrap();
    let mut client = Client::connect(to);
    let answer = client.exchange(&Request::post(MEETING, MEETING_BODY));
    assert_eq!((answer.status, answer.text(), answer.field("connection")), (400, "", Some("close")));
    for garbage in [
        &b"\x00\x01\x02\x03"[..],
        b"\x16\x03\x01\xff\xff\xff",
        b"\x16\x03\x01\x00\x05hello",
        b"\x80\x2e\x01\x00\x02",
        &[0x16; 4096],
        &vec![0xff; 70_000],
    ] {
        let mut client = Client::connect(to);
        let _ = client.send(garbage);
        client.finish();
        // At most an alert comes, and the end.
        let mut rest = Vec::new();
        let _ = client.stream.read_to_end(&mut rest);
        assert!(rest.len() < 64 && !rest.starts_with(b"HTTP"), "{rest:?}");
    }
    eventually("they are counted", || {
        let metrics = gate.metrics();
        let count = |result| metrics.sum("formgate_tls_handshakes_total", &[("result", result)]);
        count("clear") == 1.0 && count("malformed") + count("cut") == 6.0
    });
    backend.untouched();
    assert!(gate.access().is_empty() && !gate.written().contains("hello"));
    assert_eq!(through(&gate, &ca, "site.test").exchange(&Request::get(MEETING)).status, 200);
}

/// HTTP/2 over TLS begins with ALPN or not at all (RFC 9113, 3.2).
#[test]
fn http2_is_not_guessed_on_tls() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).start();
    let mut line = dial(gate.tls.unwrap(), "site.test", client(&ca, &["http/1.1"])).unwrap();
    line.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    let mut answer = String::new();
    line.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[test]
fn a_client_comes_back_with_its_ticket() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let gate = setup(&backend, &[ca.issue(&["site.test"])]).start();
    for version in ["-tls1_2", "-tls1_3"] {
        let file = gate.dir.path().join(format!("session{version}"));
        let file = file.display().to_string();
        let request = "GET /api/v2/meetings/start HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n";
        let own = [version, "-servername", "site.test", "-quiet", "-ign_eof"];
        let (_, said) = s_client(&gate, &[&own[..], &["-sess_out", &file]].concat(), request);
        assert!(said.contains("HTTP/1.1 200 OK"), "{said}");
        let (_, said) = s_client(&gate, &[version, "-servername", "site.test", "-sess_in", &file], "");
        assert!(said.contains("Reused, TLSv1."), "{version}: {said}");
        // No early data: it can be replayed, and an act would be done twice.
        assert!(!said.contains("Max Early Data: 1"), "{said}");
    }
    eventually("they are counted", || {
        gate.metrics().sum("formgate_tls_handshakes_total", &[("result", "resumed")]) == 2.0
    });
}
