//! Three servers that are killed and come back at random, and what became of ten thousand acts (P5, G-32, B-17).

use super::{body, servers, setup};
use crate::support::Client;
use crate::support::Request;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const ACTS: usize = 10_000;

#[test]
fn no_act_is_seen_twice_and_all_outcomes_add_up() {
    let three = servers::<3>();
    let gate = setup(&three.each_ref())
        .with("access_log", "off")
        .with("upstreams/backend/balance", "least_in_flight")
        .with("upstreams/backend/max_in_flight", 8)
        .with(
            "upstreams/backend/health",
            json!({ "path": "/up", "interval": "100ms", "timeout": "2s", "unhealthy": 1 }),
        )
        .with("upstreams/backend/eject", json!({ "failures": 3, "within": "1s", "for": "200ms" }))
        .start();
    let next = AtomicUsize::new(0);
    let over = AtomicBool::new(false);
    let told: Mutex<HashMap<usize, u16>> = Mutex::default();
    std::thread::scope(|scope| {
        let killer = scope.spawn(|| {
            let mut random = fastrand::Rng::with_seed(7);
            let mut kills = 0;
            while !over.load(Ordering::SeqCst) {
                // One at a time is gone, sometimes two.
                let gone = random.usize(1..=2);
                let first = random.usize(..3);
                let chosen: Vec<_> = (0..gone).map(|offset| &three[(first + offset) % 3]).collect();
                for server in &chosen {
                    server.kill();
                }
                kills += gone;
                std::thread::sleep(Duration::from_millis(random.u64(5..60)));
                for server in &chosen {
                    server.revive();
                }
                std::thread::sleep(Duration::from_millis(random.u64(20..80)));
            }
            kills
        });
        let clients: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = Client::connect(gate.addr);
                    loop {
                        let act = next.fetch_add(1, Ordering::SeqCst);
                        if act >= ACTS {
                            return;
                        }
                        let response = client.exchange(&Request::post("/order", body(act, "a")));
                        told.lock().unwrap().insert(act, response.status);
                    }
                })
            })
            .collect();
        for client in clients {
            client.join().unwrap();
        }
        over.store(true, Ordering::SeqCst);
        println!("storm: {} kills", killer.join().unwrap());
    });
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    for server in &three {
        for (body, times) in server.state.seen.lock().unwrap().iter() {
            *seen.entry(body.clone()).or_default() += times;
        }
    }
    let told = told.into_inner().unwrap();
    let mut counts: HashMap<u16, usize> = HashMap::new();
    for act in 0..ACTS {
        let times = seen.get(body(act, "a").as_bytes()).copied().unwrap_or(0);
        let status = told[&act];
        *counts.entry(status).or_default() += 1;
        match status {
            200 => assert_eq!(times, 1, "act {act} was told done"),
            503 => assert_eq!(times, 0, "act {act} was told not sent"),
            504 => assert!(times <= 1, "act {act} came {times} times"),
            other => panic!("act {act}: {other}"),
        }
    }
    println!("storm: {counts:?}");
    assert_eq!(seen.len(), seen.values().sum::<usize>());
    // One is always there, and none of them is ever full: who cannot be reached is passed over.
    assert!(counts[&200] > ACTS * 9 / 10, "{counts:?}");
    assert!(counts.get(&503).is_none_or(|many| *many < ACTS / 50), "{counts:?}");
    // Every one is counted, by what became of it.
    let metrics = gate.metrics();
    for (status, outcome) in [(200, "accepted"), (503, "unavailable"), (504, "unknown")] {
        let labels = [("route", "order"), ("outcome", outcome)];
        let many = counts.get(&status).copied().unwrap_or(0);
        assert!(metrics.counts("formgate_requests_total", &labels, many), "{outcome}: {many}");
    }
    assert!(metrics.counts("formgate_upstream_in_flight", &[("upstream", "backend")], 0));
}
