//! A gateway that is killed again and again while acts with keys go through it (B-30, P5): no act is ever done twice,
//! and what was answered is answered the same for ever.

use super::idempotency::{OTHER_BODY, counting};
use super::idempotency_file::with_file;
use crate::support::{Client, Gate, MEETING, Request};
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const KEYS: usize = 400;
const ROUNDS: usize = 6;

fn act(number: usize) -> Request {
    let body = format!(r#"{{"title":"Meeting {number}","displayName":"A"}}"#);
    Request::post(MEETING, body).field("Idempotency-Key", &format!("\"key-{number}\""))
}

#[test]
fn no_kill_makes_an_act_happen_twice() {
    let backend = counting(Duration::from_millis(1));
    let dir = tempfile::tempdir().unwrap();
    let setup = with_file(&backend, &dir.path().join("records.db"));
    // The first 200 for each key; every later one must be the same.
    let answers = Mutex::new(BTreeMap::<usize, Vec<u8>>::new());
    let mut statuses = HashMap::<u16, usize>::new();
    for round in 0..ROUNDS {
        let gate = Gate::start(&setup);
        let killed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..6)
                .map(|client| {
                    let (answers, killed, addr) = (&answers, &killed, gate.addr);
                    scope.spawn(move || {
                        let mut seen = Vec::new();
                        let Ok(mut connection) = Client::try_connect(addr) else { return seen };
                        let mut number = (round * 67 + client * 41) % KEYS;
                        while !killed.load(Ordering::Relaxed) {
                            number = (number + 7) % KEYS;
                            let Ok(response) = connection.try_exchange(&act(number)) else { break };
                            seen.push(response.status);
                            if response.status == 200 {
                                let mut answers = answers.lock().unwrap();
                                let first = answers.entry(number).or_insert_with(|| response.body.clone());
                                assert_eq!(*first, response.body, "another answer for {number}");
                            }
                        }
                        seen
                    })
                })
                .collect();
            // A different moment each time.
            std::thread::sleep(Duration::from_millis(120 + 37 * u64::try_from(round).unwrap()));
            gate.signal("KILL");
            killed.store(true, Ordering::Relaxed);
            for status in clients.into_iter().flat_map(|client| client.join().unwrap()) {
                *statuses.entry(status).or_default() += 1;
            }
        });
    }
    // Whatever was told is told again; what was cut off is unknown, and stays so.
    let gate = Gate::start(&setup);
    let answers = answers.into_inner().unwrap();
    let mut client = gate.client();
    for (number, answer) in &answers {
        let response = client.exchange(&act(*number));
        assert_eq!((response.status, &response.body), (200, answer), "key {number}");
        assert_eq!(client.exchange(&act(*number).body(OTHER_BODY)).status, 204);
    }
    for number in 0..KEYS {
        let status = client.exchange(&act(number)).status;
        assert!([200, 504].contains(&status), "key {number}: {status}");
    }
    let mut times = HashMap::<Vec<u8>, usize>::new();
    for seen in backend.seen() {
        *times.entry(seen.body).or_default() += 1;
    }
    let twice: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "done more than once: {twice:?}");
    println!(
        "crashes: {ROUNDS} kills, {} answers kept, {} acts done, answers by status {statuses:?}",
        answers.len(),
        times.len()
    );
    assert!(answers.len() > 50, "too little happened: {statuses:?}");
}
