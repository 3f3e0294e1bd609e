//! Passive ejection: a server that fails is left out for a while, never the last one.

use super::{body, series, servers, setup};
use crate::support::{Gate, eventually};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

const RULE: &str = "upstreams/backend/eject";

fn rule(time: &str) -> Value {
    json!({ "failures": 3, "within": "10s", "for": time })
}

fn ejected(gate: &Gate, url: &str) -> bool {
    gate.metrics().counts("formgate_upstream_server_ejected", &series(url), 1)
}

#[test]
fn what_fails_is_left_out_and_comes_back() {
    let three = servers::<3>();
    let gate = setup(&three.each_ref()).with(RULE, rule("1500ms")).start();
    three[0].state.status.store(503, Ordering::SeqCst);
    let statuses: Vec<u16> = (0..30).map(|n| gate.post("/order", body(n, "a")).status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 503).count(), 3, "{statuses:?}");
    assert_eq!(three[0].acts(), 3, "an act that was answered is not sent to another server");
    assert_eq!(three[1].acts() + three[2].acts(), 27);
    let url = three[0].url();
    assert!(gate.metrics().counts("formgate_upstream_ejections_total", &series(&url), 1));
    assert!(gate.log().contains("ejected"), "{}", gate.log());
    three[0].state.status.store(0, Ordering::SeqCst);
    eventually("its time is over", || !ejected(&gate, &url));
    (0..9).for_each(|n| assert_eq!(gate.post("/order", body(n, "a")).status, 200));
    assert_eq!(three[0].acts(), 6);
}

/// A failed connect goes on to the next server: nobody notices but the metrics, and after a few nobody tries.
#[test]
fn a_server_that_is_gone_fails_no_act() {
    let three = servers::<3>();
    let gate = setup(&three.each_ref()).with(RULE, rule("1h")).start();
    three[1].kill();
    (0..60).for_each(|n| assert_eq!(gate.post("/order", body(n, "a")).status, 200));
    assert!(ejected(&gate, &three[1].url()));
    assert_eq!(three[0].acts() + three[2].acts(), 60);
    // A reload keeps the ejection where the server stays, and forgets it where the rule goes.
    let mut config: Value = serde_json::from_str(&std::fs::read_to_string(gate.config()).unwrap()).unwrap();
    config["defaults"]["max_body"] = json!("32KiB");
    gate.replace("gateway.yaml", config.to_string());
    gate.reload();
    assert!(ejected(&gate, &three[1].url()));
    config["upstreams"]["backend"].as_object_mut().unwrap().remove("eject");
    gate.replace("gateway.yaml", config.to_string());
    gate.reload();
    assert!(!ejected(&gate, &three[1].url()));
}

#[test]
fn where_all_fail_one_is_still_asked() {
    let two = servers::<2>();
    let gate = setup(&two.each_ref()).with(RULE, rule("1h")).start();
    for server in &two {
        server.state.status.store(502, Ordering::SeqCst);
    }
    (0..40).for_each(|n| assert_eq!(gate.post("/order", body(n, "a")).status, 502));
    assert_eq!(two[0].acts() + two[1].acts(), 40);
    let out = two.iter().filter(|server| ejected(&gate, &server.url())).count();
    assert_eq!(out, 1, "never the last");
}

/// One client's poison takes no server from the others.
#[test]
fn what_one_body_breaks_ejects_nobody() {
    let two = servers::<2>();
    let gate = setup(&two.each_ref()).with(RULE, rule("1h")).start();
    for status in [500, 404, 429, 401] {
        for server in &two {
            server.state.status.store(status, Ordering::SeqCst);
        }
        (0..20).for_each(|n| drop(gate.post("/order", body(n, "a"))));
    }
    assert!(two.iter().all(|server| !ejected(&gate, &server.url())));
}
