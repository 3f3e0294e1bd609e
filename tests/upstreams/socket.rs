//! Servers behind unix sockets.

use super::server::{State, said};
use super::{body, form};
use crate::support::backend::read_request_from;
use crate::support::{Setup, eventually};
use serde_json::json;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[test]
fn a_socket_is_a_server_like_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("app.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let state = Arc::new(State::default());
    let kept = state.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let state = kept.clone();
            state.connections.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                let mut pending = Vec::new();
                while let Some((head, body)) = read_request_from(&mut stream, &mut pending) {
                    let bytes = said(&state, head, body);
                    if stream.write_all(&bytes).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let url = format!("unix:{}", path.display());
    let gate = Setup::towards(&url)
        .inline_route("order", &form())
        .with("threads", 1)
        .with("upstreams/backend/health", json!({ "path": "/up", "interval": "100ms", "timeout": "5s" }))
        .start();
    (0..20).for_each(|n| assert_eq!(gate.post("/order", body(n, "a")).status, 200));
    assert_eq!(state.acts.load(Ordering::SeqCst), 20);
    eventually("it is checked, too", || state.checks.load(Ordering::SeqCst) > 1);
    let checks = state.checks.load(Ordering::SeqCst);
    let connections = state.connections.load(Ordering::SeqCst);
    assert!(connections <= checks + 2, "{connections} connections for 20 acts and {checks} checks");
    let heads = state.heads.lock().unwrap();
    assert!(heads.iter().all(|head| head.contains("\r\nHost: localhost\r\n")), "{heads:?}");
    assert!(gate.metrics().counts("formgate_upstream_server_up", &super::series(&url), 1));
}

#[test]
fn a_socket_that_is_not_there_is_no_connection() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("unix:{}", dir.path().join("none.sock").display());
    let gate = Setup::towards(&url).inline_route("order", &form()).start();
    assert_eq!(gate.post("/order", body(1, "a")).status, 503);
    assert_eq!(gate.access_lines(1)[0]["upstream"], "not_sent");
}
