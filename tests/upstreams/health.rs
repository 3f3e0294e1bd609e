//! Active checks: what is down gets nothing while something is up, and comes back; and what `/readyz` makes of it.

use super::{Server, body, series, servers, setup};
use crate::support::{Gate, Setup, eventually};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

fn checked(servers: &[&Server], more: &Value) -> Setup {
    let mut health = json!({ "path": "/healthz?deep=1", "interval": "60ms", "timeout": "5s", "healthy": 2, "unhealthy": 2 });
    for (name, value) in more.as_object().unwrap() {
        health[name] = value.clone();
    }
    setup(servers).with("upstreams/backend/health", health)
}

fn stands(gate: &Gate, server: &Server, up: usize) {
    eventually(&format!("{} stands at {up}", server.url()), || {
        gate.metrics().counts("formgate_upstream_server_up", &series(&server.url()), up)
    });
}

fn ready(gate: &Gate) -> (u16, Value) {
    let response = gate.ask_admin("GET", "/readyz");
    (response.status, serde_json::from_str(response.text()).unwrap())
}

#[test]
fn what_is_ill_gets_nothing_until_it_is_well() {
    let two = servers::<2>();
    let gate = checked(&two.each_ref(), &json!({})).start();
    eventually("both are asked", || two.iter().all(|s| s.state.checks.load(Ordering::SeqCst) > 2));
    assert_eq!(ready(&gate), (200, ready(&gate).1));
    assert_eq!(ready(&gate).1["degraded"], json!({}));
    two[0].state.health.store(503, Ordering::SeqCst);
    stands(&gate, &two[0], 0);
    eventually("the log names upstream and port", || {
        let port = format!(" port={} ", two[0].addr.port());
        let named = |line: &str| line.contains("upstream=\"backend\"") && line.contains(&port);
        gate.log().lines().any(|line| line.contains("unhealthy") && named(line))
    });
    (0..10).for_each(|n| assert_eq!(gate.post("/order", body(n, "a")).status, 200));
    assert_eq!([two[0].acts(), two[1].acts()], [0, 10]);
    let (status, said) = ready(&gate);
    assert_eq!((status, &said["ready"]), (200, &json!(true)));
    assert_eq!(said["degraded"], json!({ "backend": { "out": [two[0].url()], "none_left": false } }));
    // A reload of something else keeps what is known.
    let mut config: Value = serde_json::from_str(&std::fs::read_to_string(gate.config()).unwrap()).unwrap();
    config["defaults"]["max_body"] = json!("32KiB");
    gate.replace("gateway.yaml", config.to_string());
    gate.reload();
    (0..10).for_each(|n| assert_eq!(gate.post("/order", body(n, "a")).status, 200));
    assert_eq!([two[0].acts(), two[1].acts()], [0, 20]);
    two[0].state.health.store(0, Ordering::SeqCst);
    stands(&gate, &two[0], 1);
    (0..10).for_each(|n| assert_eq!(gate.post("/order", body(n, "a")).status, 200));
    assert_eq!([two[0].acts(), two[1].acts()], [5, 25]);
}

/// Nothing of a client is in a check.
#[test]
fn a_check_is_the_gateways_own() {
    let one = servers::<1>();
    let gate = checked(&one.each_ref(), &json!({})).start();
    eventually("it is asked", || one[0].state.checks.load(Ordering::SeqCst) > 0);
    let head = one[0].state.heads.lock().unwrap()[0].clone();
    let lines: Vec<&str> = head.trim_end().split("\r\n").collect();
    let own = format!("User-Agent: formgate/{} (health)", env!("CARGO_PKG_VERSION"));
    let host = format!("Host: {}", one[0].addr);
    let expected = ["GET /healthz?deep=1 HTTP/1.1", &host, &own, "Accept: */*", "Connection: close"];
    assert_eq!(lines, expected);
    drop(gate);
}

/// Where all are down all are tried: a check may be wrong, an act that is not sent helps nobody.
#[test]
fn where_all_are_down_all_are_tried() {
    let two = servers::<2>();
    let gate = checked(&two.each_ref(), &json!({ "fails_readiness": true })).start();
    assert_eq!(ready(&gate).0, 200);
    for server in &two {
        server.state.health.store(500, Ordering::SeqCst);
    }
    eventually("it is not ready", || ready(&gate).0 == 503);
    let said = ready(&gate).1;
    assert_eq!((&said["ready"], &said["degraded"]["backend"]["none_left"]), (&json!(false), &json!(true)));
    (0..4).for_each(|n| assert_eq!(gate.post("/order", body(n, "a")).status, 200));
    assert_eq!([two[0].acts(), two[1].acts()], [2, 2]);
    // Nobody asks any more: they count as up.
    let mut config: Value = serde_json::from_str(&std::fs::read_to_string(gate.config()).unwrap()).unwrap();
    config["upstreams"]["backend"].as_object_mut().unwrap().remove("health");
    gate.replace("gateway.yaml", config.to_string());
    gate.reload();
    eventually("it is ready", || ready(&gate).0 == 200);
    for server in &two {
        stands(&gate, server, 1);
    }
    let asked = two[0].state.checks.load(Ordering::SeqCst);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(
        two[0].state.checks.load(Ordering::SeqCst) <= asked + 1,
        "checks went on after they were taken out"
    );
}

/// One that hangs, one that is gone, one that speaks something else.
#[test]
fn no_answer_is_a_bad_answer() {
    use std::io::Write;
    let hanging = crate::support::Backend::raw(|_, stream| {
        std::thread::sleep(std::time::Duration::from_secs(30));
        drop(stream);
    });
    let babbling = crate::support::Backend::raw(|_, mut stream| {
        let _ = stream.write_all(b"220 mail.example ESMTP ready\r\n");
    });
    let [gone, well] = servers::<2>();
    gone.kill();
    let urls = json!([hanging.url(), babbling.url(), gone.url(), well.url()]);
    let gate = checked(&[&well], &json!({ "timeout": "2s" }))
        .with("upstreams/backend/servers", urls.clone())
        .start();
    for url in &urls.as_array().unwrap()[..3] {
        let labels = series(url.as_str().unwrap());
        eventually("it is down", || gate.metrics().counts("formgate_upstream_server_healthy", &labels, 0));
    }
    (0..6).for_each(|n| assert_eq!(gate.post("/order", body(n, "a")).status, 200));
    assert_eq!(well.acts(), 6);
}

/// Over TLS a check is as strict as an act: who is not verified is not up.
#[test]
fn a_check_speaks_tls_where_the_server_does() {
    use crate::support::tls::{Authority, Terminator};
    let (ca, one) = (Authority::new("ca"), servers::<1>());
    let front = Terminator::start(one[0].addr, ca.issue(&["localhost"]).server(None));
    let wrong = Terminator::start(one[0].addr, ca.issue(&["other.test"]).server(None));
    let urls = [front.url(), wrong.url()];
    let gate = checked(&one.each_ref(), &json!({ "interval": "200ms" }))
        .with("upstreams/backend/servers", json!(urls))
        .with("upstreams/backend/tls", json!({ "ca": "tls/ca.pem" }))
        .file("tls/ca.pem", ca.pem.clone())
        .start();
    eventually("it is asked", || one[0].state.checks.load(Ordering::SeqCst) > 1);
    eventually("the other is down", || {
        gate.metrics().counts("formgate_upstream_server_up", &series(&urls[1]), 0)
    });
    assert!(gate.metrics().counts("formgate_upstream_server_up", &series(&urls[0]), 1));
    (0..4).for_each(|n| assert_eq!(gate.post("/order", body(n, "a")).status, 200));
}
