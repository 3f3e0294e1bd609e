//! Two processes on one file, the one that hands over to the other, and time that goes wrong (B-30, P5, P11).

use super::idempotency::{counting, keyed, replayed};
use super::idempotency_file::with_file;
use crate::support::{Backend, Client, Gate, MEETING, MEETING_BODY, Request, eventually};
use std::collections::HashMap;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// How often each body came to the backend.
fn times(backend: &Backend) -> HashMap<Vec<u8>, usize> {
    let mut times = HashMap::new();
    for seen in backend.seen() {
        *times.entry(seen.body).or_default() += 1;
    }
    times
}

fn numbered(number: usize) -> Request {
    let body = format!(r#"{{"title":"Meeting {number}","displayName":"A"}}"#);
    Request::post(MEETING, body).field("Idempotency-Key", &format!("key-{number}"))
}

/// Two gateways race for 200 keys, each from several connections: each act is done once, and both answer the same.
#[test]
fn two_processes_do_each_act_once() {
    const KEYS: usize = 200;
    let backend = counting(Duration::from_millis(2));
    let dir = tempfile::tempdir().unwrap();
    let setup = with_file(&backend, &dir.path().join("records.db"));
    let gates = [Gate::start(&setup), Gate::start(&setup)];
    let answers: Vec<Vec<Vec<u8>>> = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..8)
            .map(|racer| {
                let gate = &gates[racer % 2];
                scope.spawn(move || {
                    let mut client = gate.client();
                    let mut act = |number| {
                        let response = client.exchange(&numbered(number));
                        assert_eq!(response.status, 200, "{}", response.head);
                        response.body
                    };
                    // Some forwards, some backwards: they meet everywhere.
                    let mut bodies: Vec<_> = if racer < 4 {
                        (0..KEYS).map(&mut act).collect()
                    } else {
                        (0..KEYS).rev().map(&mut act).collect()
                    };
                    if racer >= 4 {
                        bodies.reverse();
                    }
                    bodies
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    let times = times(&backend);
    assert_eq!((times.len(), backend.count()), (KEYS, KEYS), "{times:?}");
    assert!(answers.iter().all(|bodies| *bodies == answers[0]), "two answers to one act");
    // The other process's records are this one's, too.
    for gate in &gates {
        assert_eq!(gate.exchange(&numbered(7)).field("idempotency-replayed"), Some("true"));
    }
}

/// One of two is killed in the middle: for the other its act is under way until its time is over, and never done again.
#[test]
fn an_act_of_a_process_that_died_is_not_done_by_another() {
    let backend = counting(Duration::from_secs(20));
    let dir = tempfile::tempdir().unwrap();
    let setup = with_file(&backend, &dir.path().join("records.db"))
        .with("routes/0/idempotency", serde_json::json!({ "wait": "50ms" }));
    let (dying, other) = (Gate::start(&setup), Gate::start(&setup));
    dying.client().send(&keyed("k").bytes());
    eventually("it is under way", || backend.count() == 1);
    dying.signal("KILL");
    drop(dying);
    let response = other.exchange(&keyed("k"));
    assert_eq!(response.status, 409, "{}", response.head);
    // Alone on the file, a new process knows that nobody does it any more.
    drop(other);
    let gate = Gate::start(&setup);
    assert_eq!(gate.exchange(&keyed("k")).status, 504);
    assert_eq!(backend.count(), 1);
}

/// A process that has stopped in the middle of a transaction holds the file: acts with a key are turned away in time,
/// the others go on.
#[test]
fn a_file_that_another_process_holds_turns_acts_away() {
    let backend = counting(Duration::ZERO);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("records.db");
    let gate = Gate::start(&with_file(&backend, &file));
    let first = gate.exchange(&keyed("k"));
    let holder = rusqlite::Connection::open(&file).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    // What was done before can be read; what is new cannot be recorded.
    replayed(&first, &gate.exchange(&keyed("k")));
    std::thread::scope(|scope| {
        let began = Instant::now();
        let waiting: Vec<_> =
            ["l", "m"].map(|key| scope.spawn(|| gate.exchange(&keyed(key)).status)).into_iter().collect();
        let plain = gate.post(MEETING, MEETING_BODY);
        assert_eq!(plain.status, 200);
        assert!(began.elapsed() < Duration::from_secs(3), "acts without a key wait too");
        let statuses: Vec<_> = waiting.into_iter().map(|waiting| waiting.join().unwrap()).collect();
        assert_eq!(statuses, [503, 503]);
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    });
    assert_eq!(backend.count(), 2);
    let ready = gate.ask_admin("GET", "/readyz").json();
    assert!(ready["records_down"]["cause"].as_str().unwrap().contains("locked"), "{ready}");
    holder.execute_batch("ROLLBACK").unwrap();
    replayed(&first, &gate.exchange(&keyed("k")));
    assert_eq!(gate.exchange(&keyed("l")).status, 200);
}

/// The process that answers on the admin listener now.
fn pid(gate: &Gate) -> Option<u32> {
    let mut client = Client::try_connect(gate.admin).ok()?;
    let host = gate.admin.to_string();
    let page = client.try_exchange(&Request::new("GET", "/-/snapshot").host(Some(&host))).ok()?;
    let page: serde_json::Value = serde_json::from_slice(&page.body).ok()?;
    u32::try_from(page["pid"].as_u64()?).ok()
}

/// Ends the whole group: the heirs too, whom the gate does not know.
struct Group(u32);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.0)]).status();
    }
}

/// SIGUSR2 while acts are under way: they end in the old process, are repeated at the new one, and are done once.
#[test]
fn a_hand_over_forgets_no_key_in_flight() {
    let backend = counting(Duration::from_millis(1200));
    let dir = tempfile::tempdir().unwrap();
    let setup = with_file(&backend, &dir.path().join("records.db"));
    let gate = Gate::start_with(&setup, |command| {
        command.process_group(0);
    });
    let group = Group(gate.pid());
    let old = pid(&gate).unwrap();
    std::thread::scope(|scope| {
        let in_flight: Vec<_> = (0..8).map(|number| (number, gate.client())).collect();
        let in_flight: Vec<_> = in_flight
            .into_iter()
            .map(|(number, mut client)| scope.spawn(move || client.exchange(&numbered(number))))
            .collect();
        eventually("all are under way", || backend.count() == 8);
        gate.signal("USR2");
        eventually("a new process answers", || pid(&gate).is_some_and(|pid| pid != old));
        // These come to the new process, some while the first are still under way in the old one.
        let repeated: Vec<_> = (0..8)
            .map(|number| {
                let gate = &gate;
                scope.spawn(move || gate.exchange(&numbered(number)))
            })
            .collect();
        let first: Vec<_> = in_flight.into_iter().map(|client| client.join().unwrap()).collect();
        let repeated: Vec<_> = repeated.into_iter().map(|client| client.join().unwrap()).collect();
        for (first, again) in first.iter().zip(&repeated) {
            assert_eq!((first.status, again.status), (200, 200), "{}", again.head);
            assert_eq!(first.body, again.body);
        }
    });
    assert_eq!(backend.count(), 8);
    drop(group);
}

/// Where Debian puts it, whatever the machine is.
fn faketime() -> Option<PathBuf> {
    let places = std::fs::read_dir("/usr/lib").ok()?.filter_map(Result::ok);
    places.map(|place| place.path().join("faketime/libfaketime.so.1")).find(|library| library.exists())
}

/// A key is forgotten when its time is over, and not when the wall clock steps: neither years ahead nor years back
/// does it forget one early or keep one for ever.
#[test]
fn keys_live_as_long_as_they_were_given_whatever_the_clock_does() {
    let Some(library) = faketime() else {
        println!("idempotency: NOT RUN: libfaketime is not there (apt-get install faketime)");
        return;
    };
    let backend = counting(Duration::ZERO);
    let dir = tempfile::tempdir().unwrap();
    let offset = dir.path().join("offset");
    let setup = with_file(&backend, &dir.path().join("records.db"));
    let start = |by: &str| {
        std::fs::write(&offset, by).unwrap();
        Gate::start_with(&setup, |command| {
            command
                .env("LD_PRELOAD", &library)
                .env("FAKETIME_TIMESTAMP_FILE", &offset)
                .env("FAKETIME_NO_CACHE", "1")
                .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
                .env("DONT_FAKE_MONOTONIC", "1");
        })
    };
    let mut gate = start("+0");
    let first = gate.exchange(&keyed("k"));
    for by in ["+4000d", "-4000d", "+0"] {
        std::fs::write(&offset, by).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        replayed(&first, &gate.exchange(&keyed("k")));
    }
    gate.stop();
    // Twenty hours later: still there. A clock that was set back: still there, and it still ends.
    for by in ["+20h", "-4000d", "+0"] {
        gate = start(by);
        replayed(&first, &gate.exchange(&keyed("k")));
        gate.stop();
    }
    assert_eq!(backend.count(), 1);
    // A day later: over, and the same key is a new act.
    gate = start("+45h");
    let second = gate.exchange(&keyed("k"));
    assert_eq!((second.body.as_slice(), backend.count()), (b"{\"act\": 1}".as_slice(), 2));
    replayed(&second, &gate.exchange(&keyed("k")));
}
