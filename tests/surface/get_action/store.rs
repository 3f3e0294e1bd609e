//! Records that are full, over, shared by two processes, or outlive the one that wrote them (B-30, P5).

use super::{MEMBERS, REJECTED, code, executes, meeting, open, opening, starts_meetings, told};
use crate::support::backend::{After, json as answers};
use crate::support::{Backend, Gate, Request, Setup, eventually};
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn with_file(backend: &Backend, file: &Path) -> Setup {
    meeting(backend).with("store", json!({ "file": file }))
}

/// A number in the title, so that the backend's bodies tell which act is which.
fn numbered(number: usize) -> String {
    format!("title=Meeting+{number}&displayName=A&idempotency_key=agent_race_{number:03}")
}

fn slow(wait: Duration) -> Backend {
    Backend::scripted(move |seen, stream| {
        std::thread::sleep(wait);
        let id = seen.connection * 1000 + seen.nth;
        let body = answers(format!(r#"{{"joinUrl":"https://meet.example/{id}"}}"#));
        if stream.write_all(&body).is_ok() { After::Keep } else { After::Close }
    })
}

/// The case `capacity`: a full store turns new keys away, and forgets none that lives.
#[test]
fn a_full_store_rejects_new_keys_and_keeps_the_old() {
    let backend = starts_meetings();
    let dir = tempfile::tempdir().unwrap();
    for store in
        [json!({ "max_records": 5 }), json!({ "file": dir.path().join("records.db"), "max_records": 5 })]
    {
        let gate = meeting(&backend).with("store", store).start();
        let before = backend.count();
        let first: Vec<_> = (0..5).map(|number| open(&gate, &numbered(number))).collect();
        assert!(first.iter().all(|(code, _)| code == "ok"));
        for number in 5..8 {
            assert_eq!(open(&gate, &numbered(number)), ("rejected".to_owned(), REJECTED.to_owned()));
        }
        for (number, first) in first.iter().enumerate() {
            assert_eq!(open(&gate, &numbered(number)), *first, "an old key is answered still");
        }
        assert_eq!(backend.count(), before + 5);
        // A count is made after its answer.
        let route = ("route", "meetings_start");
        let counts =
            |name: &str, label, many| eventually(name, || gate.metrics().counts(name, &[route, label], many));
        for (state, many) in [("fresh", 5), ("full", 3), ("done", 5)] {
            counts("formgate_replays_total", ("state", state), many);
        }
        counts("formgate_refusals_total", ("reason", "records_full"), 3);
    }
}

/// The case `restart`: killed, not stopped, and what was answered is answered again.
#[test]
fn a_kill_forgets_nothing_that_was_answered() {
    let backend = starts_meetings();
    let dir = tempfile::tempdir().unwrap();
    let mut action = executes();
    action["result_url"] = json!("receipt");
    let setup = with_file(&backend, &dir.path().join("records.db")).with("routes/0/get_action", action);
    let gate = Gate::start(&setup);
    let first = open(&gate, &numbered(1));
    let receipt = first.1.strip_prefix("https://api.example.com").unwrap();
    let shown = gate.get(receipt).body;
    gate.signal("KILL");
    drop(gate);
    let gate = Gate::start(&setup);
    assert_eq!(open(&gate, &numbered(1)), first);
    assert_eq!(gate.get(receipt).body, shown, "the receipt, too");
    assert_eq!(backend.count(), 1);
}

/// Killed between *pending* and *done*: found unknown after the restart, and never done again.
#[test]
fn an_act_that_a_kill_cut_off_is_for_a_person() {
    let backend = slow(Duration::from_secs(30));
    let dir = tempfile::tempdir().unwrap();
    let setup = with_file(&backend, &dir.path().join("records.db"));
    let gate = Gate::start(&setup);
    let mut cut_off = gate.client();
    cut_off.send(&opening(&numbered(2)).bytes());
    eventually("it is at the backend", || backend.count() == 1);
    gate.signal("KILL");
    drop(gate);
    let gate = Gate::start(&setup);
    let review = ("human_review_required".to_owned(), "https://example.org/review/agent_race_002".to_owned());
    for _ in 0..3 {
        assert_eq!(open(&gate, &numbered(2)), review);
    }
    assert_eq!(
        code(&gate, &numbered(2).replace("Meeting", "Other")),
        "rejected",
        "another body under its key"
    );
    assert_eq!(backend.count(), 1);
    let unknown = [("route", "meetings_start"), ("state", "unknown")];
    eventually("three are counted", || gate.metrics().counts("formgate_replays_total", &unknown, 3));
}

/// Two processes on one file race for each of sixty keys: one act, one answer.
#[test]
fn two_processes_do_each_act_once() {
    const KEYS: usize = 60;
    let backend = slow(Duration::from_millis(3));
    let dir = tempfile::tempdir().unwrap();
    let setup = with_file(&backend, &dir.path().join("records.db"));
    let gates = [Gate::start(&setup), Gate::start(&setup)];
    let answers: Vec<HashMap<usize, String>> = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..6)
            .map(|racer| {
                let gate = &gates[racer % 2];
                scope.spawn(move || {
                    let mut client = gate.client();
                    let order: Vec<_> =
                        if racer < 3 { (0..KEYS).collect() } else { (0..KEYS).rev().collect() };
                    let mut act = |number| {
                        let (code, url) = told(&client.exchange(&opening(&numbered(number))));
                        assert_eq!(code, "ok");
                        (number, url)
                    };
                    order.into_iter().map(&mut act).collect()
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    let mut times: HashMap<Vec<u8>, usize> = HashMap::new();
    for seen in backend.seen() {
        *times.entry(seen.body).or_default() += 1;
    }
    assert_eq!((times.len(), backend.count()), (KEYS, KEYS), "{times:?}");
    assert!(answers.iter().all(|urls| *urls == answers[0]), "two answers to one act");
}

/// Where Debian puts it, whatever the machine is.
fn faketime() -> Option<PathBuf> {
    let places = std::fs::read_dir("/usr/lib").ok()?.filter_map(Result::ok);
    places.map(|place| place.path().join("faketime/libfaketime.so.1")).find(|library| library.exists())
}

/// A key is remembered for `keep`, a day at least, and then it is a new one; its receipt ends with it.
#[test]
fn a_key_that_is_over_is_a_new_one() {
    let Some(library) = faketime() else {
        println!("get_action: NOT RUN: libfaketime is not there (apt-get install faketime)");
        return;
    };
    let backend = starts_meetings();
    let dir = tempfile::tempdir().unwrap();
    let mut action = executes();
    action["result_url"] = json!("receipt");
    action["keep"] = json!("48h");
    let setup = with_file(&backend, &dir.path().join("records.db")).with("routes/0/get_action", action);
    // The clock of the process when it starts; what elapses then is real.
    let start = |by: &str| {
        Gate::start_with(&setup, |command| {
            command.env("LD_PRELOAD", &library).env("FAKETIME", by);
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("DONT_FAKE_MONOTONIC", "1");
        })
    };
    let mut gate = start("+0");
    let first = open(&gate, &numbered(3));
    let receipt = first.1.strip_prefix("https://api.example.com").unwrap().to_owned();
    assert!(gate.stop().success());
    let mut gate = start("+47h");
    assert_eq!(open(&gate, &numbered(3)), first);
    assert_eq!(gate.get(&receipt).status, 200);
    assert_eq!(backend.count(), 1);
    assert!(gate.stop().success());
    let gate = start("+49h");
    assert_eq!(gate.get(&receipt).status, 404);
    let second = open(&gate, &numbered(3));
    assert_eq!((second.0.as_str(), backend.count()), ("ok", 2));
    assert_ne!(second.1, first.1);
}

/// Records of the two doors are apart, also in their answers: a POST's is no receipt.
#[test]
fn a_posts_record_is_nobodys_receipt() {
    let backend = starts_meetings();
    let gate = meeting(&backend).with("routes/0/idempotency", json!("optional")).start();
    let body = r#"{"title":"Q3 Planning","displayName":"Agent Alpha"}"#;
    let post = || Request::post(crate::support::MEETING, body).field("Idempotency-Key", "agent_seq_010");
    let first = gate.exchange(&post());
    assert_eq!(first.status, 200);
    let (code, url) = open(&gate, &format!("{MEMBERS}&idempotency_key=agent_seq_010"));
    assert_eq!((code.as_str(), backend.count()), ("ok", 2), "post_then_get: two name spaces");
    assert_eq!(gate.exchange(&post()).body, first.body);
    assert_eq!(open(&gate, &format!("{MEMBERS}&idempotency_key=agent_seq_010")).1, url);
    assert_eq!(backend.count(), 2);
}
