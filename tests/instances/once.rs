//! A key is done once by all, also when the server is killed, started again, or told to forget its scripts.

use super::{keyed, setup, two};
use crate::support::backend::answer;
use crate::support::redis::{Redis, is_up, readiness};
use crate::support::{After, Backend, Gate, MEETING, Request, eventually};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Answers each act differently, after so long.
fn counting(pause: Duration) -> Backend {
    let acts = AtomicUsize::new(0);
    Backend::scripted(move |_, stream| {
        let number = acts.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(pause);
        let bytes = answer("200 OK", "Content-Type: application/json\r\n", format!("{{\"act\": {number}}}"));
        if stream.write_all(&bytes).is_ok() { After::Keep } else { After::Close }
    })
}

#[track_caller]
fn replayed(gate: &Gate, key: &str, body: &[u8]) {
    let again = gate.exchange(&keyed(key));
    assert_eq!((again.status, again.field("idempotency-replayed")), (200, Some("true")), "{}", again.head);
    assert_eq!(again.body, body);
}

#[test]
fn two_instances_do_an_act_once() {
    let Some(redis) = Redis::durable() else { return };
    let backend = counting(Duration::from_millis(20));
    let gates = two(&backend, &redis.store("refuse"));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let gates = &gates;
            scope.spawn(move || {
                for key in 0..10 {
                    let told = gates[number % 2].exchange(&keyed(&format!("key-{key}")));
                    assert_eq!(told.status, 200, "{}", told.head);
                }
            });
        }
    });
    assert_eq!(backend.count(), 10);
    let first = gates[0].exchange(&keyed("key-0"));
    replayed(&gates[1], "key-0", &first.body);
    // Another body under the same key is refused by both.
    for gate in &gates {
        let other = Request::post(MEETING, r#"{"title":"Q4","displayName":"Ada"}"#);
        assert_eq!(gate.exchange(&other.field("Idempotency-Key", "key-0")).status, 204);
    }
    eventually("they are counted", || gates[0].metrics().counts("formgate_records", &[], 10));
    // No name in the server says who asked or for what.
    let names = redis.ask(&["KEYS", "*"]);
    assert!(names.lines().all(|name| name.starts_with("{formgate}:")), "{names}");
    assert!(!names.contains("key-") && !names.contains("127.0.0.1"), "{names}");
    assert_eq!(backend.count(), 10);
}

#[test]
fn scripts_that_are_forgotten_are_told_again() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = counting(Duration::ZERO);
    let gate = setup(&backend, redis.store("refuse")).start();
    let first = gate.exchange(&keyed("a"));
    assert_eq!(redis.ask(&["SCRIPT", "FLUSH"]), "OK");
    replayed(&gate, "a", &first.body);
    assert_eq!(gate.exchange(&keyed("b")).status, 200);
    assert_eq!(backend.count(), 2);
    assert!(gate.metrics().counts("formgate_store_errors_total", &[], 0));
}

/// Killed with `-9` and started again, with an append-only file: what was done is known, what was under way is ended.
#[test]
fn a_kill_forgets_nothing_where_it_is_written_down() {
    let Some(mut redis) = Redis::durable() else { return };
    let backend = counting(Duration::from_millis(1500));
    let gates = two(&backend, &redis.store("refuse"));
    let done = gates[0].exchange(&keyed("done"));
    assert_eq!(done.status, 200);
    let under_way = std::thread::scope(|scope| {
        let first = scope.spawn(|| gates[0].exchange(&keyed("under-way")));
        eventually("it is under way", || backend.count() == 2);
        redis.kill();
        // It was begun, so it is done, and told.
        first.join().unwrap()
    });
    assert_eq!(under_way.status, 200, "{}", under_way.head);
    for gate in &gates {
        is_up(gate, 0);
        let told = gate.exchange(&keyed("new"));
        assert_eq!((told.status, told.field("retry-after")), (503, Some("1")), "{}", told.head);
        assert_eq!(gate.get(MEETING).status, 200, "arrivals need no store");
        let page = readiness(gate);
        assert!(page["ready"] == true && page["records_down"]["since"].is_string(), "{page}");
    }
    assert_eq!(backend.count(), 2);
    redis.restart();
    for gate in &gates {
        is_up(gate, 1);
    }
    for gate in [&gates[1], &gates[0]] {
        replayed(gate, "done", &done.body);
        replayed(gate, "under-way", &under_way.body);
        assert_eq!(readiness(gate)["records_down"], serde_json::Value::Null);
    }
    assert_eq!(gates[1].exchange(&keyed("new")).status, 200);
    assert_eq!(backend.count(), 3);
    assert!(gates[0].metrics().counts("formgate_store_losses_total", &[], 0));
}

/// The same without one: what was done is forgotten, and that is said.
#[test]
fn a_kill_forgets_everything_where_it_is_not_and_it_is_said() {
    let Some(mut redis) = Redis::start(&[]) else { return };
    let backend = counting(Duration::ZERO);
    let gate = setup(&backend, redis.store("refuse")).start();
    let warned = readiness(&gate)["store_warnings"].to_string();
    assert!(warned.contains("appendonly"), "{warned}");
    assert_eq!(gate.exchange(&keyed("a")).status, 200);
    redis.restart();
    let lost = || gate.metrics().counts("formgate_store_losses_total", &[], 1);
    eventually("the loss is noticed", lost);
    assert_eq!(gate.exchange(&keyed("a")).status, 200);
    assert_eq!(backend.count(), 2);
    assert_eq!(redis.ask(&["FLUSHALL"]), "OK");
    eventually("so is this one", || gate.metrics().counts("formgate_store_losses_total", &[], 2));
    assert!(readiness(&gate)["store_warnings"].to_string().contains("lost its data"));
    assert_eq!(gate.exchange(&keyed("a")).status, 200);
    assert_eq!(backend.count(), 3);
}

/// An instance that dies in the middle: nobody else does its act again.
#[test]
fn an_act_of_a_dead_instance_is_not_done_again() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = counting(Duration::from_secs(30));
    let [first, second] = two(&backend, &redis.store("refuse"));
    let mut cut_off = first.client();
    cut_off.send(&keyed("k").bytes());
    eventually("it is under way", || backend.count() == 1);
    first.signal("KILL");
    drop(first);
    assert_eq!(second.exchange(&keyed("k")).status, 409, "under way, as far as anyone knows");
    assert_eq!(backend.count(), 1);
}
