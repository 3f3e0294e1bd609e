//! Names of servers: looked up beside the acts, kept while nothing answers, followed when they change. Each gate has an
//! `/etc/hosts` of its own, in a mount namespace.

use super::{Server, body, form, series};
use crate::support::{Gate, Setup, eventually};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Whether this machine lets a test mount; CI must.
fn can_mount() -> bool {
    let can = Command::new("unshare").args(["-m", "true"]).output().is_ok_and(|done| done.status.success());
    if !can {
        assert!(std::env::var_os("FORMGATE_CI").is_none(), "`unshare -m` is not allowed");
        eprintln!("not run: `unshare -m` is not allowed here");
    }
    can
}

/// Starts a gate for which `hosts` is `/etc/hosts`, and nothing is asked besides.
fn start(setup: &Setup, hosts: &Path) -> Gate {
    let nsswitch = hosts.with_extension("nsswitch");
    std::fs::write(&nsswitch, "hosts: files\n").unwrap();
    Gate::start_with(setup, |command| {
        let mut inside = Command::new("unshare");
        inside.args([
            "-m",
            "sh",
            "-c",
            "mount --bind \"$0\" /etc/hosts && mount --bind \"$1\" /etc/nsswitch.conf && shift && exec \"$@\"",
        ]);
        inside.arg(hosts).arg(&nsswitch).arg(command.get_program()).args(command.get_args());
        inside.env_remove("RUST_LOG");
        *command = inside;
    })
}

/// Three servers at one port and three addresses.
fn three() -> [Server; 3] {
    let first = Server::start();
    let at =
        |last: u8| Server::start_at((std::net::Ipv4Addr::new(127, 0, 0, last), first.addr.port()).into());
    let (second, third) = (at(2), at(3));
    [first, second, third]
}

fn setup(port: u16) -> Setup {
    Setup::towards(&format!("http://app.test:{port}"))
        .inline_route("order", &form())
        .with("threads", 1)
        .with("upstreams/backend/resolve", "1s")
}

/// In place, so that the mount sees it.
fn write(hosts: &Path, addresses: &[&str]) {
    let lines: Vec<String> = addresses.iter().map(|address| format!("{address} app.test\n")).collect();
    std::fs::write(hosts, lines.concat()).unwrap();
}

#[test]
fn a_name_that_changes_is_followed_and_one_that_fails_is_kept() {
    if !can_mount() {
        return;
    }
    let servers = three();
    let port = servers[0].addr.port();
    let dir = tempfile::tempdir().unwrap();
    let hosts = dir.path().join("hosts");
    write(&hosts, &["127.0.0.1"]);
    let gate = start(&setup(port), &hosts);
    let url = format!("http://app.test:{port}");
    let acts = || servers.each_ref().map(Server::acts);
    let post = |n| assert_eq!(gate.post("/order", body(n, "a")).status, 200);
    (0..5).for_each(post);
    assert_eq!(acts(), [5, 0, 0]);
    let head = servers[0].state.heads.lock().unwrap()[0].clone();
    assert!(head.contains(&format!("\r\nHost: app.test:{port}\r\n")), "{head}");

    // Nothing answers: what was known stays.
    let failed = || gate.metrics().sum("formgate_upstream_lookups_failed_total", &series(&url));
    assert!(failed() < 0.5);
    write(&hosts, &[]);
    eventually("a look-up has failed", || failed() > 0.5);
    (5..10).for_each(post);
    assert_eq!(acts(), [10, 0, 0]);

    // A new answer: the kept connection to the old address is not used again, nor kept.
    write(&hosts, &["127.0.0.2"]);
    eventually("acts go to the new address", || {
        post(0);
        servers[1].acts() > 0
    });
    let old = servers[0].acts();
    (0..5).for_each(post);
    assert_eq!(servers[0].acts(), old);
    eventually("the old connection is closed", || {
        gate.metrics().counts("formgate_upstream_connections", &series(&url), 1)
    });

    // Several addresses: all are used, and one where nothing listens is passed over.
    write(&hosts, &["127.0.0.2", "127.0.0.3", "127.0.0.4"]);
    eventually("three addresses are known", || {
        gate.metrics().counts("formgate_upstream_addresses", &series(&url), 3)
    });
    eventually("each is used", || {
        std::thread::scope(|scope| {
            for n in 0..8 {
                scope.spawn(move || post(n));
            }
        });
        servers[2].acts() > 0
    });
    assert_eq!(servers[0].acts(), old);
}

/// A name without an answer at the start: the gateway serves, acts are told, and no act waits for it.
#[test]
fn a_name_without_an_answer_is_waited_for_beside_the_acts() {
    if !can_mount() {
        return;
    }
    let server = Server::start();
    let dir = tempfile::tempdir().unwrap();
    let hosts = dir.path().join("hosts");
    write(&hosts, &[]);
    let (url, began) = (format!("http://app.test:{}", server.addr.port()), Instant::now());
    let gate = start(&setup(server.addr.port()).with("upstreams/backend/eject", json!({})), &hosts);
    assert_eq!(gate.get("/order").status, 200);
    assert_eq!(gate.post("/order", body(1, "a")).status, 503);
    eventually("looked up again and again", || {
        gate.metrics().sum("formgate_upstream_lookups_failed_total", &series(&url)) > 2.5
    });
    let log = gate.log();
    let told = log.matches("nothing is known of it yet: acts get 503").count() as u64;
    assert!((1..=1 + began.elapsed().as_secs() / 10).contains(&told), "{log}");
    assert!(!log.contains("what was known of it stays") && !log.contains("no connection"), "{log}");
    write(&hosts, &["127.0.0.1"]);
    eventually("it is found", || gate.post("/order", body(2, "a")).status == 200);
    assert!(server.acts() >= 1);
}
