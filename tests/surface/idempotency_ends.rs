//! How an act ends is how its key stays: an answer is given again, what may have happened is never done again, and
//! only what surely did not happen may be tried under the same key (P5, B-17, B-30).

use super::idempotency::{counted, counting, keyed, replayed, setup};
use crate::support::backend::{answer, json as agreed, nobody};
use crate::support::{After, Backend, Gate, MEETING, MEETING_BODY, Setup, eventually};
use serde_json::json;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Ends the first act so, and agrees to every other.
fn first_ends(first: Vec<u8>, after: After) -> Backend {
    Backend::scripted(move |seen, stream| {
        let bytes = if (seen.connection, seen.nth) == (0, 0) { first.clone() } else { agreed("{}") };
        let sent = stream.write_all(&bytes).is_ok();
        if (seen.connection, seen.nth) == (0, 0) || !sent { after } else { After::Keep }
    })
}

/// P5: sent, and no answer. Asked again and again, it is not sent again.
#[test]
fn what_may_have_happened_is_never_done_again() {
    for after in [After::Close, After::Reset] {
        let backend = first_ends(Vec::new(), after);
        let gate = setup(&backend, "optional").start();
        for _ in 0..4 {
            let response = gate.exchange(&keyed("k"));
            assert_eq!((response.status, response.body.len()), (504, 0), "{}", response.head);
            assert_eq!(response.field("idempotency-replayed"), None);
        }
        assert_eq!(backend.count(), 1, "{after:?}");
        counted(&gate, "unknown", 3);
        let labels = [("route", "meetings_start"), ("outcome", "unknown")];
        assert!(gate.metrics().counts("formgate_requests_total", &labels, 4));
    }
}

/// A backend that takes too long is the same.
#[test]
fn an_act_without_an_answer_in_time_is_never_done_again() {
    let backend = counting(Duration::from_secs(2));
    let gate = setup(&backend, "optional").with("upstreams/backend/timeouts/exchange", "200ms").start();
    assert_eq!(gate.exchange(&keyed("k")).status, 504);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(gate.exchange(&keyed("k")).status, 504);
    assert_eq!(backend.count(), 1);
}

/// The upstream's refusal and its failure are answers too.
#[test]
fn refusals_and_failures_of_the_upstream_are_given_again() {
    let statuses =
        [(400, 204), (404, 204), (409, 204), (422, 204), (403, 502), (500, 502), (503, 503), (504, 504)];
    for (said, shown) in statuses {
        let backend = first_ends(answer(&format!("{said} No"), "Retry-After: 7\r\n", "because"), After::Keep);
        let gate = setup(&backend, "optional").start();
        let (first, again) = (gate.exchange(&keyed("k")), gate.exchange(&keyed("k")));
        assert_eq!((first.status, again.status), (shown, shown), "{said}");
        // A refusal has one face. A failure says that it is told again, and not how long to wait: that would not help.
        let told = again.constant_head().replace("Idempotency-Replayed: true\n", "");
        assert_eq!(again.field("idempotency-replayed").is_some(), shown != 204, "{said}");
        assert_eq!(again.field("retry-after"), None, "{said}");
        assert_eq!(told, first.constant_head().replace("Retry-After: 7\n", ""), "{said}");
        assert_eq!(first.body, again.body, "{said}");
        assert_eq!(backend.count(), 1, "{said}");
        assert_eq!(gate.exchange(&keyed("another")).status, 200);
        counted(&gate, "done", 1);
    }
}

/// Success whose words cannot be shown is success all the same (P7), also the second time.
#[test]
fn a_success_without_content_is_given_again() {
    let ends = [
        ("HTTP/1.1 204 No Content\r\n\r\n".into(), After::Keep),
        (answer("200 OK", "Content-Type: text/html\r\n", "<p>"), After::Keep),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{".to_vec(),
            After::Close,
        ),
    ];
    for (bytes, after) in ends {
        let backend = first_ends(bytes, after);
        let gate = setup(&backend, "optional").start();
        let first = gate.exchange(&keyed("k"));
        assert_eq!((first.status, first.body.as_slice()), (200, b"{}".as_slice()));
        replayed(&first, &gate.exchange(&keyed("k")));
        assert_eq!(backend.count(), 1);
    }
}

/// "Not now": nothing happened, and the key is free.
#[test]
fn an_act_that_the_upstream_put_off_may_be_tried_again() {
    for status in [408, 425, 429] {
        let backend = first_ends(answer(&format!("{status} Later"), "", ""), After::Keep);
        let gate = setup(&backend, "optional").start();
        assert_eq!(gate.exchange(&keyed("k")).status, 429);
        assert!(gate.metrics().counts("formgate_records", &[], 0), "{status} leaves a record");
        assert_eq!(gate.exchange(&keyed("k")).status, 200);
        assert_eq!(gate.exchange(&keyed("k")).field("idempotency-replayed"), Some("true"));
        assert_eq!(backend.count(), 2, "{status}");
    }
}

/// No connection: nothing was sent. Those that waited for it try for themselves.
#[test]
fn an_act_that_was_not_sent_may_be_tried_again() {
    let gate = Setup::towards(&format!("http://{}", nobody()))
        .case_route("meetings-start")
        .with("routes/0/idempotency", "required")
        .start();
    for _ in 0..3 {
        assert_eq!(gate.exchange(&keyed("k")).status, 503);
    }
    counted(&gate, "fresh", 3);
    assert!(gate.metrics().counts("formgate_records", &[], 0));
}

/// While one waits for an act that then is put off, it takes its turn: the act is done, once.
#[test]
fn who_waits_for_an_act_that_is_put_off_takes_its_turn() {
    let held = Arc::new(AtomicBool::new(true));
    let hold = Arc::clone(&held);
    let backend = Backend::scripted(move |seen, stream| {
        let first = (seen.connection, seen.nth) == (0, 0);
        while first && hold.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let bytes = if first { answer("429 Later", "", "") } else { agreed("{\"done\":true}") };
        if stream.write_all(&bytes).is_ok() { After::Keep } else { After::Close }
    });
    let gate = setup(&backend, "optional").start();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let first = scope.spawn(|| gate.exchange(&keyed("k")).status);
        eventually("it is under way", || backend.count() == 1);
        let others: Vec<_> = (0..4).map(|_| scope.spawn(|| gate.exchange(&keyed("k")).status)).collect();
        std::thread::sleep(Duration::from_millis(150));
        held.store(false, Ordering::SeqCst);
        std::iter::once(first).chain(others).map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(statuses, [429, 200, 200, 200, 200]);
    assert_eq!(backend.count(), 2);
}

/// Full: new keys are turned away and nothing is sent; those that are there stay good (B-30).
#[test]
fn a_full_store_turns_new_keys_away_and_forgets_none() {
    let backend = counting(Duration::ZERO);
    let full = |gate: &Gate| {
        let first = gate.exchange(&keyed("first"));
        assert_eq!(gate.exchange(&keyed("second")).status, 200);
        for number in 0..3 {
            let before = backend.count();
            let turned_away = gate.exchange(&keyed(&format!("new-{number}")));
            assert_eq!((turned_away.status, turned_away.body.len()), (503, 0), "{}", turned_away.head);
            assert!(turned_away.field("retry-after").is_some());
            replayed(&first, &gate.exchange(&keyed("first")));
            assert_eq!(backend.count(), before, "sent without a record");
        }
        // What needs no record goes on.
        assert_eq!((gate.post(MEETING, MEETING_BODY).status, gate.get(MEETING).status), (200, 200));
        counted(gate, "full", 3);
        let labels = [("route", "meetings_start"), ("reason", "records_full")];
        assert!(gate.metrics().counts("formgate_refusals_total", &labels, 3));
        assert!(gate.metrics().counts("formgate_records", &[], 2));
    };
    let dir = tempfile::tempdir().unwrap();
    full(&setup(&backend, "optional").with("store", json!({ "max_records": 2 })).start());
    let file = dir.path().join("records.db");
    full(&setup(&backend, "optional").with("store", json!({ "file": file, "max_records": 2 })).start());
}

/// The bytes of what is kept are bounded, too: answers of 40 000 bytes fill 64 KiB in two.
#[test]
fn answers_that_take_all_the_room_turn_new_keys_away() {
    let body = format!("\"{}\"", "x".repeat(40_000));
    let backend = Backend::answering(agreed(&body));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("records.db");
    for store in [json!({ "max_bytes": "64KiB" }), json!({ "file": file, "max_bytes": "64KiB" })] {
        let gate = setup(&backend, "optional").with("store", store).start();
        let statuses = ["a", "b", "c", "a", "b"].map(|key| gate.exchange(&keyed(key)).status);
        assert_eq!(statuses, [200, 200, 503, 200, 200]);
        assert_eq!(gate.exchange(&keyed("b")).body, body.as_bytes());
    }
}
