//! TLS towards upstreams and from clients, against the real binary; with curl and openssl on the other side where they
//! are what users have.

#![allow(clippy::float_cmp, reason = "counts are whole numbers")]

mod faults;
mod handshakes;
mod life;
mod listeners;
mod renewal;
mod upstreams;

use crate::support::tls::{Authority, Pair, client, tunnel};
use crate::support::{Backend, Client, Gate, Setup};
use std::process::{Command, Stdio};

/// One listener in the clear and one that speaks TLS, with these certificates in this order.
pub(crate) fn setup(backend: &Backend, pairs: &[Pair]) -> Setup {
    let certificates = (0..pairs.len())
        .map(|n| serde_json::json!({ "cert": format!("tls/{n}.pem"), "key": format!("tls/{n}.key") }));
    let mut setup = Setup::meeting(backend)
        .with("listen", vec!["127.0.0.1:0", "https://127.0.0.1:0"])
        .with("tls", serde_json::json!({ "certificates": certificates.collect::<Vec<_>>() }));
    for (pair, n) in pairs.iter().zip(0..) {
        setup = setup
            .file(&format!("tls/{n}.pem"), pair.cert.clone())
            .file(&format!("tls/{n}.key"), pair.key.clone());
    }
    setup
}

/// A client of the harness, in the clear, whose bytes go to the gate over TLS as HTTP/1.1.
fn through(gate: &Gate, authority: &Authority, name: &str) -> Client {
    Client::connect(tunnel(gate.tls.unwrap(), name, client(authority, &["http/1.1"])))
}

/// What a program wrote to both of its outputs, and whether it was content.
fn run(program: &str, words: &[&str], input: &str) -> (bool, String) {
    use std::io::Write;
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|fault| panic!("{program}: {fault}"));
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.success(), text.concat())
}

/// `openssl s_client` towards the gate; it ends when its input does.
fn s_client(gate: &Gate, words: &[&str], input: &str) -> (bool, String) {
    let to = gate.tls.unwrap().to_string();
    run("openssl", &[&["s_client", "-connect", &to][..], words].concat(), input)
}

/// curl towards the gate as `name`, believing in what is in the gate's folder under `ca.pem`.
fn curl(gate: &Gate, authority: &Authority, name: &str, words: &[&str]) -> (bool, String) {
    let ca = gate.dir.path().join("ca.pem");
    std::fs::write(&ca, &authority.pem).unwrap();
    let port = gate.tls.unwrap().port();
    let resolve = format!("{name}:{port}:127.0.0.1");
    let url = format!("https://{name}:{port}{}", crate::support::MEETING);
    let ca = ca.display().to_string();
    let own = ["-sS", "-m", "20", "--cacert", &ca, "--resolve", &resolve, &url];
    run("curl", &[&own[..], words].concat(), "")
}
