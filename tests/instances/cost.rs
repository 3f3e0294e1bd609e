//! What sharing costs an act: processor time of the gateway and latency, with and without, in alternating rounds of one
//! run. Not part of the tests: `FORMGATE_BIN=target/release/formgate cargo test --test main -- instances::cost --ignored
//! --nocapture`

#![allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]

use super::{keyed, rates, setup};
use crate::support::redis::Redis;
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request};
use serde_json::json;
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
const ACTS: usize = 400;
const AT_ONCE: usize = 8;

/// Ticks of a hundredth of a second.
fn processor_time(gate: &Gate) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", gate.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = [11, 12].map(|at: usize| fields[at].parse::<u64>().unwrap()).iter().sum();
    Duration::from_millis(ticks * 10)
}

struct Subject {
    name: &'static str,
    gate: Gate,
    key: bool,
    acts: usize,
    /// Of one act, in microseconds, by round.
    processor: Vec<f64>,
    alone: Vec<f64>,
}

impl Subject {
    fn act(&mut self) -> Request {
        self.acts += 1;
        if self.key { keyed(&format!("key-{}", self.acts)) } else { Request::post(MEETING, MEETING_BODY) }
    }

    fn round(&mut self) {
        let mut client = self.gate.client();
        let began = Instant::now();
        for _ in 0..ACTS {
            let act = self.act();
            assert_eq!(client.exchange(&act).status, 200);
        }
        self.alone.push(began.elapsed().as_secs_f64() * 1e6 / ACTS as f64);
        let acts: Vec<Vec<Request>> = (0..AT_ONCE).map(|_| (0..ACTS).map(|_| self.act()).collect()).collect();
        let before = processor_time(&self.gate);
        std::thread::scope(|scope| {
            for acts in &acts {
                let gate = &self.gate;
                scope.spawn(move || {
                    let mut client = gate.client();
                    for act in acts {
                        assert_eq!(client.exchange(act).status, 200);
                    }
                });
            }
        });
        let spent = processor_time(&self.gate).checked_sub(before).unwrap();
        self.processor.push(spent.as_secs_f64() * 1e6 / (ACTS * AT_ONCE) as f64);
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
#[ignore = "a measurement"]
fn what_sharing_costs_an_act() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let subject = |name, shares: bool, key| {
        let store = if shares { redis.store("refuse") } else { json!("memory") };
        let limits = rates("1000000/s burst 1000000", "1000000/s burst 1000000");
        let gate = setup(&backend, store).with("defaults/limits", limits).start();
        Subject { name, gate, key, acts: 0, processor: Vec::new(), alone: Vec::new() }
    };
    let mut subjects = [
        subject("alone", false, false),
        subject("shared limits", true, false),
        subject("alone, with a key", false, true),
        subject("shared limits, with a key", true, true),
    ];
    for _ in 0..ROUNDS {
        subjects.iter_mut().for_each(Subject::round);
    }
    println!(
        "medians of {ROUNDS} alternating rounds of {ACTS} acts one by one, then {AT_ONCE} times {ACTS} at once"
    );
    let (processor, alone) = (median(&subjects[0].processor), median(&subjects[0].alone));
    for subject in &subjects {
        let (cost, latency) = (median(&subject.processor), median(&subject.alone));
        println!(
            "{:28} {cost:6.0} us of processor ({:.2}), {latency:6.0} us one by one ({:+.0} us)",
            subject.name,
            cost / processor,
            latency - alone
        );
    }
}
