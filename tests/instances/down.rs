//! The server is paused, gone, full of other things or of another mind: what `when_down` says is done, at once.

use super::{keyed, rates, setup, two, with};
use crate::support::redis::{Redis, is_up, readiness};
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, eventually};
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn errors(gate: &Gate, kind: &str) -> f64 {
    gate.metrics().sum("formgate_store_errors_total", &[("kind", kind)])
}

/// SIGSTOP: connections stay, answers do not come. One request pays the timeout, the others do not wait; what was asked
/// meanwhile is not begun later behind everybody's back.
#[test]
fn a_server_that_does_not_answer_is_waited_for_once() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let store = with(redis.store("refuse"), "timeout", "300ms");
    let gate = setup(&backend, store).start();
    assert_eq!(gate.exchange(&keyed("before")).status, 200);
    redis.signal("STOP");
    for number in 0..40 {
        assert_eq!(gate.exchange(&keyed(&format!("k-{number}"))).status, 503);
    }
    // One question an act: what cannot be looked up is not asked to begin.
    assert!(errors(&gate, "down") > 35.0, "{}", errors(&gate, "down"));
    assert!(errors(&gate, "timeout") < 10.0, "{}", errors(&gate, "timeout"));
    assert_eq!(backend.count(), 1);
    std::thread::sleep(Duration::from_secs(2));
    redis.signal("CONT");
    is_up(&gate, 1);
    for number in 0..40 {
        let told = gate.exchange(&keyed(&format!("k-{number}")));
        assert_eq!((told.status, told.field("idempotency-replayed")), (200, None), "k-{number} is free");
    }
    assert_eq!(backend.count(), 41);
}

/// `local`: each instance goes on by what it knows, what it began at the server included, and keeps to it when that is back.
#[test]
fn each_instance_goes_on_alone_where_it_may() {
    let Some(mut redis) = Redis::durable() else { return };
    let backend = Backend::agreeing();
    let gates = two(&backend, &redis.store("local"));
    assert_eq!(gates[0].exchange(&keyed("shared")).status, 200);
    redis.kill();
    for gate in &gates {
        is_up(gate, 0);
    }
    let told = gates[0].exchange(&keyed("shared"));
    assert_eq!(
        (told.status, told.field("idempotency-replayed")),
        (200, Some("true")),
        "it was this one that did it"
    );
    for gate in &gates {
        for replayed in [None, Some("true")] {
            let told = gate.exchange(&keyed("alone"));
            assert_eq!((told.status, told.field("idempotency-replayed")), (200, replayed));
        }
        let page = readiness(gate);
        assert_eq!(page["limits_down"]["meanwhile"], "local", "{page}");
    }
    // Once by each instance, not once by all.
    assert_eq!(backend.count(), 3);
    redis.restart();
    for gate in &gates {
        is_up(gate, 1);
        for key in ["alone", "shared"] {
            assert_eq!(gate.exchange(&keyed(key)).field("idempotency-replayed"), Some("true"), "{key}");
        }
    }
    assert_eq!(backend.count(), 3);
}

/// What cannot be looked up may have been done: neither the form that it names nor its body says that nothing happened.
#[test]
fn nobody_is_told_that_nothing_happened_where_that_is_not_known() {
    let Some(mut redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let gate = setup(&backend, redis.store("refuse")).start();
    let stale = |key: &str| keyed(key).field("If-Match", "\"00000000000000000000000000000000\"");
    assert_eq!(gate.exchange(&keyed("k")).status, 200);
    assert_eq!(gate.exchange(&stale("k")).field("idempotency-replayed"), Some("true"));
    assert_eq!(gate.exchange(&stale("another")).status, 412);
    redis.kill();
    is_up(&gate, 0);
    for request in [stale("k"), stale("another"), keyed("k").body("{}"), keyed("k")] {
        assert_eq!(gate.exchange(&request).status, 503);
    }
    assert_eq!(backend.count(), 1);
}

/// The server comes back while acts with keys keep coming: what was asked in vain keeps nobody waiting.
#[test]
fn a_server_comes_back_under_load() {
    let Some(mut redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let gate = setup(&backend, with(redis.store("refuse"), "timeout", "50ms")).start();
    let (number, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = gate.client();
                while !stop.load(Ordering::SeqCst) {
                    let number = number.fetch_add(1, Ordering::SeqCst);
                    client.exchange(&keyed(&format!("load-{number}")));
                }
            });
        }
        redis.kill();
        is_up(&gate, 0);
        eventually("many were asked in vain", || errors(&gate, "down") > 1000.0);
        redis.restart();
        is_up(&gate, 1);
        stop.store(true, Ordering::SeqCst);
    });
    assert!(gate.metrics().counts("formgate_store_ends_dropped_total", &[], 0));
}

/// One policy for records, another for rates.
#[test]
fn records_and_rates_may_differ() {
    let Some(mut redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let gate = |when_down| {
        let limits = rates("1/m burst 5", "none");
        setup(&backend, redis.store(when_down)).with("defaults/limits", limits).start()
    };
    let first = gate(json!({ "records": "refuse", "limits": "local" }));
    let second = gate(json!({ "records": "local", "limits": "refuse" }));
    redis.kill();
    for gate in [&first, &second] {
        is_up(gate, 0);
    }
    let statuses = [first.post(MEETING, MEETING_BODY).status, first.exchange(&keyed("k")).status];
    assert_eq!(statuses, [200, 503]);
    // The limiter of this process takes over at once, fed.
    let more: Vec<_> = (0..5).map(|_| first.post(MEETING, MEETING_BODY).status).collect();
    assert_eq!(more, [200, 200, 200, 429, 429]);
    let told = second.post(MEETING, MEETING_BODY);
    assert_eq!((told.status, told.field("retry-after")), (503, Some("1")), "{}", told.head);
    let labels = [("route", "meetings_start"), ("reason", "limits_down")];
    eventually("it is counted", || second.metrics().counts("formgate_refusals_total", &labels, 1));
    assert_eq!(second.get(MEETING).status, 200);
}

/// A gateway starts without its store, and finds it when it comes.
#[test]
fn a_store_may_come_later() {
    let Some(mut redis) = Redis::start(&[]) else { return };
    redis.kill();
    let backend = Backend::agreeing();
    let gate = setup(&backend, redis.store("refuse")).start();
    assert_eq!(gate.exchange(&keyed("k")).status, 503);
    redis.restart();
    is_up(&gate, 1);
    assert_eq!(gate.exchange(&keyed("k")).status, 200);
}

/// Records are not kept where they would be removed for something else; rates are still counted there.
#[test]
fn a_server_that_evicts_keeps_no_records() {
    let Some(redis) = Redis::start(&["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]) else {
        return;
    };
    let backend = Backend::agreeing();
    let gate = setup(&backend, redis.store("refuse")).start();
    assert_eq!(gate.exchange(&keyed("k")).status, 503);
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
    let page = readiness(&gate);
    assert!(page["records_down"]["cause"].to_string().contains("allkeys-lru"), "{page}");
    assert_eq!(page["limits_down"], serde_json::Value::Null);
}

/// With a password from a file: a wrong one is a state, and neither is ever shown.
#[test]
fn a_password_opens_it_and_is_not_shown() {
    let Some(redis) = Redis::start(&["--requirepass", "open-sesame-5Qx"]) else { return };
    let backend = Backend::agreeing();
    let gate = |password: &str| {
        let store = with(redis.store("refuse"), "password_file", "secrets/redis");
        setup(&backend, store).file("secrets/redis", format!("{password}\n")).start()
    };
    let right = gate("open-sesame-5Qx");
    assert_eq!(right.exchange(&keyed("k")).status, 200);
    let wrong = gate("open-barley-7Zy");
    assert_eq!(wrong.exchange(&keyed("k")).status, 503);
    let page = readiness(&wrong).to_string();
    assert!(page.contains("records_down") && page.contains("since"), "{page}");
    for text in [page, wrong.written(), right.written(), wrong.metrics().text] {
        assert!(!text.contains("open-sesame") && !text.contains("open-barley"), "{text}");
    }
}

/// The ACL user of docs/instances.md: it can do what is done, and nothing else.
#[test]
fn a_user_needs_no_more_than_the_docs_say() {
    let Some(redis) = Redis::start(&["--appendonly", "yes"]) else { return };
    let docs = include_str!("../../docs/instances.md");
    let rules = docs.split_once("ACL SETUSER formgate on >… ").unwrap().1.split_once('`').unwrap().0;
    let words: Vec<_> = rules.split(' ').map(|word| word.replace("\\|", "|")).collect();
    let mut ask = vec!["ACL", "SETUSER", "formgate", "on", ">a-password"];
    ask.extend(words.iter().map(String::as_str));
    assert_eq!(redis.ask(&ask), "OK", "{rules}");
    let backend = Backend::agreeing();
    let mut store = with(redis.store("refuse"), "password_file", "secrets/redis");
    store["user"] = json!("formgate");
    let gate = setup(&backend, store)
        .with("defaults/limits", rates("1000/s burst 1000", "1000/s burst 1000"))
        .file("secrets/redis", "a-password")
        .start();
    for replayed in [None, Some("true")] {
        assert_eq!(gate.exchange(&keyed("k")).field("idempotency-replayed"), replayed);
    }
    assert_eq!(gate.post(MEETING, "{}").status, 204);
    assert_eq!(readiness(&gate)["store_warnings"], json!([]));
    assert!(gate.metrics().counts("formgate_store_errors_total", &[], 0));
}

/// Clients that leave in the middle, many at once: nobody is ever given another's answer, and no key is stuck.
#[test]
fn clients_that_leave_leave_nothing_behind() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let gate = setup(&backend, redis.store("refuse")).start();
    let began = Instant::now();
    for number in 0..60 {
        let mut client = gate.client();
        client.send(&keyed(&format!("left-{number}")).bytes());
        client.reset();
    }
    eventually("what was begun has ended", || gate.metrics().sum("formgate_inflight_body_bytes", &[]) == 0.0);
    for number in 0..60 {
        let told = gate.exchange(&keyed(&format!("left-{number}")));
        // Done, or done now; what was cut off while it was sent may have happened.
        assert!(
            [200, 504].contains(&told.status),
            "left-{number}: {} after {:?}",
            told.head,
            began.elapsed()
        );
        assert_eq!(gate.exchange(&keyed(&format!("after-{number}"))).status, 200);
    }
}
