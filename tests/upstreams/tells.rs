//! A server that takes no connections is told in the log, once in a while, and each by itself.

use super::{body, form};
use crate::support::backend::nobody;
use crate::support::{Backend, Setup, eventually};
use serde_json::json;
use std::time::Instant;

#[test]
fn a_server_that_takes_no_connections_is_told_with_its_cause() {
    let backend = Backend::agreeing();
    let (first, second) = (nobody(), nobody());
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let began = Instant::now();
    let gate = Setup::bare(&backend)
        .with("upstreams/first/servers", json!([url(first.port())]))
        .with("upstreams/second/servers", json!([url(second.port())]))
        .inline_route("sound", &form())
        .inline_route("a", &form())
        .inline_route("b", &form())
        .with("routes/1/upstream/to", "first")
        .with("routes/2/upstream/to", "second")
        .start();
    assert_eq!(gate.post("/sound", body(0, "a")).status, 200);
    for n in 0..20 {
        assert_eq!(gate.post("/a", body(n, "a")).status, 503);
        assert_eq!(gate.post("/b", body(n, "a")).status, 503);
    }
    for (upstream, address) in [("first", first), ("second", second)] {
        let told = || {
            let log = gate.log();
            let of_it =
                |line: &&str| line.contains("no connection to an upstream") && line.contains(upstream);
            log.lines().filter(of_it).map(str::to_owned).collect::<Vec<_>>()
        };
        eventually("it is told", || !told().is_empty());
        let lines = told();
        assert!(lines.len() as u64 <= 1 + began.elapsed().as_secs() / 10, "{lines:#?}");
        assert!(lines[0].contains("WARN"), "{lines:#?}");
        assert!(lines[0].contains(&url(address.port())) && lines[0].contains("refused"), "{lines:#?}");
    }
    assert!(!gate.log().contains("upstream=\"backend\""), "{}", gate.log());
}
