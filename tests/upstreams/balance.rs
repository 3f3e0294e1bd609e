//! Which server an act goes to.

use super::{body, form, servers, setup};
use crate::support::{Gate, Setup};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

#[track_caller]
fn post(gate: &Gate, n: usize, tenant: &str) {
    let response = gate.post("/order", body(n, tenant));
    assert_eq!(response.status, 200, "{}", response.head);
}

#[test]
fn turns_are_even() {
    let three = servers::<3>();
    let gate = setup(&three.each_ref()).start();
    (0..150).for_each(|n| post(&gate, n, "a"));
    assert_eq!(three.each_ref().map(super::Server::acts), [50, 50, 50]);
}

#[test]
fn turns_go_by_weight() {
    let two = servers::<2>();
    let urls = json!([{ "url": two[0].url(), "weight": 3 }, two[1].url()]);
    let gate = setup(&two.each_ref()).with("upstreams/backend/servers", urls).start();
    (0..80).for_each(|n| post(&gate, n, "a"));
    assert_eq!(two.each_ref().map(super::Server::acts), [60, 20]);
}

/// Eight clients at once: who waits for the slow one does not ask it again.
#[test]
fn the_slow_one_gets_little() {
    let two = servers::<2>();
    two[0].state.slow.store(300, Ordering::SeqCst);
    let gate = setup(&two.each_ref()).with("upstreams/backend/balance", "least_in_flight").start();
    std::thread::scope(|scope| {
        for client in 0..8 {
            let gate = &gate;
            scope.spawn(move || (0..25).for_each(|n| post(gate, client * 1000 + n, "a")));
        }
    });
    let [slow, quick] = two.each_ref().map(super::Server::acts);
    assert_eq!(slow + quick, 200);
    assert!(slow < 70, "{slow} of 200 went to the slow one");
}

/// Where each of these tenants has its acts.
fn homes(gate: &Gate, servers: &[super::Server]) -> BTreeMap<usize, usize> {
    let mut homes = BTreeMap::new();
    for tenant in 0..40 {
        let before: Vec<_> = servers.iter().map(super::Server::acts).collect();
        (0..3).for_each(|n| post(gate, n, &format!("t{tenant}")));
        let after = servers.iter().map(super::Server::acts);
        let grown: Vec<_> = after.zip(before).map(|(after, before)| after - before).collect();
        let home = grown.iter().position(|grown| *grown == 3);
        homes.insert(tenant, home.unwrap_or_else(|| panic!("tenant {tenant} went to {grown:?}")));
    }
    homes
}

#[test]
fn a_tenant_stays_and_few_move_with_a_change() {
    let four = servers::<4>();
    let by_tenant = |setup: Setup| setup.with("upstreams/backend/balance", json!({ "hash": "/tenant" }));
    let gate = by_tenant(setup(&four.each_ref())).start();
    let before = homes(&gate, &four);
    assert_eq!(before.values().collect::<BTreeSet<_>>().len(), 4, "{before:?}");
    let fewer = by_tenant(setup(&[&four[0], &four[1], &four[3]]));
    let mut text: Value = serde_json::from_str(&fewer.text()).unwrap();
    text["listen"] = json!(["127.0.0.1:0"]);
    gate.replace("gateway.yaml", text.to_string());
    gate.reload();
    let after = homes(&gate, &four);
    for (tenant, home) in &before {
        assert!(
            *home == 2 || after[tenant] == *home,
            "tenant {tenant} moved from {home} to {}",
            after[tenant]
        );
    }
    assert!(after.values().all(|home| *home != 2));
}

#[test]
fn a_client_stays_until_its_server_is_gone() {
    let four = servers::<4>();
    let gate = setup(&four.each_ref()).with("upstreams/backend/balance", json!({ "hash": "client" })).start();
    (0..20).for_each(|n| post(&gate, n, "a"));
    let home = four.iter().position(|server| server.acts() == 20).expect("all at one server");
    four[home].kill();
    (0..20).for_each(|n| post(&gate, n, "a"));
    assert_eq!(four.iter().filter(|server| server.acts() == 20).count(), 2);
}

/// What is not to be had is a fault before anything is served.
#[test]
fn what_cannot_be_meant_is_refused() {
    let one = servers::<1>();
    let refused = |path: &str, value: Value| {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("gateway.yaml");
        std::fs::write(&file, setup(&one.each_ref()).with(path, value).text()).unwrap();
        let faults = formgate::config::load(&file).map(|_| ()).unwrap_err().faults;
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let url = one[0].url();
    let many: Vec<String> = (1..=65).map(|port| format!("http://127.0.0.1:{port}")).collect();
    for (path, value, said) in [
        ("upstreams/backend/balance", json!("random"), "expected `round_robin`, `least_in_flight`"),
        ("upstreams/backend/balance", json!({ "hash": "ip" }), "expected `client`, or a JSON Pointer"),
        ("upstreams/backend/balance", json!({}), "`hash` is missing"),
        ("upstreams/backend/servers", json!(many), "from 1 to 64 servers are needed"),
        ("upstreams/backend/servers", json!([url, { "url": url }]), "is listed twice"),
        ("upstreams/backend/servers", json!([{ "url": url, "weight": 0 }]), "must be from 1 to 100"),
        ("upstreams/backend/servers", json!([{ "weight": 1 }]), "`url` is missing"),
        ("upstreams/backend/servers", json!(["unix:app.sock"]), "a unix socket needs an absolute path"),
        ("upstreams/backend/max_in_flight", json!(0), "must be from 1 to"),
        ("upstreams/backend/health", json!({}), "`path` is missing"),
        ("upstreams/backend/health", json!({ "path": "/{/n}" }), "a check has no body"),
        ("upstreams/backend/health", json!({ "path": "/", "interval": "1ms" }), "must be from 50ms to 1h"),
        ("upstreams/backend/eject", json!({ "failures": 0 }), "must be from 1 to 1000"),
        ("upstreams/backend/eject", json!({ "max_percent": 101 }), "must be from 1 to 100"),
        ("upstreams/backend/resolve", json!("100ms"), "must be from 1s to 1h"),
    ] {
        let faults = refused(path, value.clone());
        assert!(faults.contains(said), "{path}: {value}: {faults}");
    }
    assert!(form().is_object());
}
