//! What the admin listener tells about upstreams and their servers.

use crate::gateway::{Balance, Gateway, HashBy, Upstream};
use serde_json::{Value, json};
use std::time::Instant;

/// For `/readyz`: whether what the config asks of readiness is there, and the upstreams that have less than all their
/// servers, each with those that get no acts.
pub(super) fn readiness(gateway: &Gateway) -> (bool, Value) {
    let now = Instant::now();
    let mut ready = true;
    let mut degraded = serde_json::Map::new();
    for upstream in gateway.upstreams() {
        let out: Vec<String> = (0..upstream.servers.len())
            .filter(|number| !upstream.condition(*number).is_fit(now))
            .map(|number| upstream.servers[number].url())
            .collect();
        ready &= !(upstream.is_down() && upstream.health.as_ref().is_some_and(|rule| rule.fails_readiness));
        if !out.is_empty() {
            let none_left = out.len() == upstream.servers.len();
            degraded.insert(upstream.name.clone(), json!({ "out": out, "none_left": none_left }));
        }
    }
    (ready, Value::Object(degraded))
}

/// For the snapshot: every upstream that a route goes to.
pub(super) fn upstreams(gateway: &Gateway) -> Vec<Value> {
    gateway.upstreams().into_iter().map(|upstream| shown(upstream)).collect()
}

fn shown(upstream: &Upstream) -> Value {
    let now = Instant::now();
    let servers = upstream.servers.iter().zip(upstream.fleet.seats()).map(|(server, seat)| {
        let condition = &seat.condition;
        json!({
            "url": server.url(),
            "weight": seat.weight,
            "healthy": condition.is_up(),
            "ejected": condition.is_ejected(now),
            "in_flight": condition.in_flight(),
            "max_in_flight": seat.max_in_flight,
            "connections": condition.connections(),
            "addresses": condition.addresses().map(|known| {
                known.iter().map(ToString::to_string).collect::<Vec<_>>()
            }),
        })
    });
    json!({
        "name": upstream.name,
        "balance": match &upstream.fleet.balance {
            Balance::RoundRobin => "round_robin".to_owned(),
            Balance::LeastInFlight => "least_in_flight".to_owned(),
            Balance::Hash(HashBy::Client) => "hash: client".to_owned(),
            Balance::Hash(HashBy::Member(pointer)) => format!("hash: {pointer}"),
        },
        "servers": servers.collect::<Vec<_>>(),
    })
}
