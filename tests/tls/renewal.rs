//! Certificates are renewed while requests go on, and a broken pair changes nothing.

use super::{s_client, setup, through};
use crate::support::tls::{Authority, Pair, client, dial};
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request, eventually};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn shown(gate: &Gate, ca: &Authority) -> Vec<u8> {
    let line = dial(gate.tls.unwrap(), "site.test", client(ca, &["http/1.1"])).unwrap();
    line.conn.peer_certificates().unwrap()[0].to_vec()
}

fn put(gate: &Gate, pair: &Pair) {
    gate.replace("tls/0.key", &pair.key);
    gate.replace("tls/0.pem", &pair.cert);
}

/// Twenty renewals by the watch under acts on new and on old connections.
#[test]
fn a_renewed_certificate_is_taken_over_under_load() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let first = ca.issue(&["site.test"]);
    let gate = setup(&backend, std::slice::from_ref(&first)).with("watch", "50ms").start();
    let (done, acts) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut old = through(&gate, &ca, "site.test");
    assert_eq!(old.exchange(&Request::get(MEETING)).status, 200);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let mut client = through(&gate, &ca, "site.test");
                    for _ in 0..3 {
                        let answer = client.exchange(&Request::post(MEETING, MEETING_BODY));
                        assert_eq!(answer.status, 200, "{}", answer.head);
                        acts.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        for _ in 0..5 {
            let renewed = ca.issue(&["site.test"]);
            put(&gate, &renewed);
            eventually("the renewed one is shown", || shown(&gate, &ca) == renewed.chain()[0].to_vec());
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(backend.count(), acts.load(Ordering::Relaxed));
    // The connection of the first certificate has seen nothing of it.
    assert_eq!(old.exchange(&Request::post(MEETING, MEETING_BODY)).status, 200);
}

#[test]
fn a_broken_renewal_keeps_the_old_pair() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let (first, second) = (ca.issue(&["site.test"]), ca.issue(&["site.test"]));
    let gate = setup(&backend, std::slice::from_ref(&first)).with("watch", "off").start();
    let digest = || gate.ask_admin("GET", "/readyz").json()["digest"].as_str().unwrap().to_owned();
    let before = digest();
    let broken = [
        ("tls/0.pem", second.cert.clone(), "tls/0.key does not belong to the certificate"),
        ("tls/0.pem", "nothing".to_owned(), "tls/0.pem holds no certificate"),
        ("tls/0.pem", first.cert[..first.cert.len() / 2].to_owned(), "tls/0.pem is broken PEM"),
        ("tls/0.key", String::new(), "tls/0.key holds no private key"),
    ];
    for (file, bytes, reason) in broken {
        gate.replace(file, &bytes);
        gate.signal("HUP");
        let refused = || gate.ask_admin("GET", "/readyz").json()["refused"]["faults"].to_string();
        eventually(reason, || refused().contains(reason));
        assert_eq!(gate.metrics().sum("formgate_config_refused", &[]), 1.0);
        assert_eq!(shown(&gate, &ca), first.chain()[0].to_vec());
        assert_eq!(digest(), before);
        put(&gate, &first);
        assert_eq!(gate.reload().json()["result"], "unchanged");
    }
    // A file that is gone is like a broken one.
    std::fs::remove_file(gate.dir.path().join("tls/0.key")).unwrap();
    assert_eq!(gate.reload().status, 422);
    assert_eq!(shown(&gate, &ca), first.chain()[0].to_vec());
    put(&gate, &second);
    assert_eq!(gate.reload().json()["result"], "published");
    assert_eq!(shown(&gate, &ca), second.chain()[0].to_vec());
    assert_ne!(digest(), before);
    // Nothing of a key is anywhere but in its file.
    let written = gate.written() + gate.ask_admin("GET", "/-/snapshot").text() + &gate.metrics().text;
    for line in
        [&first.key, &second.key].into_iter().flat_map(|key| key.lines()).filter(|line| line.len() > 20)
    {
        assert!(line.starts_with("-----") || !written.contains(line));
    }
}

/// A reload that takes `tls` away changes nothing about listeners, which need a restart.
#[test]
fn listeners_keep_their_certificates_until_a_restart() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let pair = ca.issue(&["site.test"]);
    let setup = setup(&backend, std::slice::from_ref(&pair)).with("watch", "off");
    let gate = Gate::start(&setup);
    let mut without = setup.with("listen", vec!["127.0.0.1:0"]);
    without.config.as_object_mut().unwrap().remove("tls");
    gate.replace("gateway.yaml", without.text());
    let reloaded = gate.reload().json();
    assert_eq!((&reloaded["result"], &reloaded["needs_restart"][0]), (&"published".into(), &"listen".into()));
    assert_eq!(shown(&gate, &ca), pair.chain()[0].to_vec());
}

/// An expired certificate is served, for a restart must not be worse than going on; it is warned of and measured.
#[test]
fn an_expired_certificate_is_told_and_served() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let pairs = [ca.issue_between(&["site.test"], 2000, 2020), ca.issue(&["other.test"])];
    let gate = setup(&backend, &pairs).start();
    assert!(gate.log().contains("tls/0.pem has expired"), "{}", gate.log());
    let expiry = |name| {
        let labels = [("certificate", name)];
        gate.metrics().sum("formgate_certificate_expiry_timestamp_seconds", &labels)
    };
    // 2020-01-01 and 2124-01-01.
    assert_eq!((expiry("tls/0.pem"), expiry("tls/1.pem")), (1_577_836_800.0, 4_859_740_800.0));
    let (_, said) = s_client(&gate, &["-servername", "site.test"], "");
    assert!(said.contains("notAfter=Jan  1") || said.contains("Jan  1 00:00:00 2020"), "{said}");
    let mut line = dial(gate.tls.unwrap(), "other.test", client(&ca, &["http/1.1"])).unwrap();
    line.write_all(b"GET / HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    line.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
}
