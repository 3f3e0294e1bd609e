//! Refusals of one stage take alike (issue 3, item 9): the time until a 204 comes back tells nothing that the bytes do not.

use super::{number, turn};
use crate::support::{Backend, MEETING, MEETING_BODY, Request, Setup};
use std::time::{Duration, Instant};

/// What may lie between the medians of two reasons of one stage. Parsing stops at the fault and forms are as deep as they
/// are, so bodies of one length are compared, whose faults lie at their end.
const APART: Duration = Duration::from_micros(100);

struct Measured {
    name: &'static str,
    request: Vec<u8>,
    took: Vec<Duration>,
}

impl Measured {
    fn quantile(&self, percent: usize) -> Duration {
        self.took[(self.took.len() - 1) * percent / 100]
    }
}

fn body(tail: &str) -> Request {
    let head = r#"{"title":"Q3 Planning","displayName":"Agent Alpha""#;
    let text = format!("{head}{tail}");
    assert!(text.len() <= 100, "{text}");
    Request::post(MEETING, crate::support::padded(&text, 100))
}

/// Each stage, and the reasons that a request can be refused for in it.
fn stages() -> Vec<(&'static str, Vec<(&'static str, Request)>)> {
    let act = || Request::post(MEETING, crate::support::padded(MEETING_BODY, 100));
    vec![
        (
            "head",
            vec![
                (
                    "query",
                    Request::post(&format!("{MEETING}?x=1"), crate::support::padded(MEETING_BODY, 100)),
                ),
                ("media_type", act().without("Content-Type").field("Content-Type", "text/plain")),
                ("content_coding", act().field("Content-Encoding", "gzip")),
            ],
        ),
        (
            "parse",
            vec![
                ("grammar", body(",}")),
                ("duplicate", body(r#","title":"A"}"#)),
                ("surrogate", body(r#","recording":"\ud800"}"#)),
                ("trailing", body("}x")),
                ("number_inexact", body(r#","durationMinutes":1e999}"#)),
                ("encoding", {
                    let mut request = body(r#","recording":"?"}"#);
                    let at = request.body.iter().position(|byte| *byte == b'?').unwrap();
                    request.body[at] = 0xff;
                    request
                }),
            ],
        ),
        (
            "form",
            vec![
                ("unknown member", body(r#","other":1}"#)),
                ("wrong type", body(r#","recording":1}"#)),
                ("out of range", body(r#","durationMinutes":4}"#)),
                ("not a multiple", body(r#","durationMinutes":5.5}"#)),
                (
                    "too long",
                    Request::post(MEETING, format!(r#"{{"title":"{}","displayName":"A"}}"#, "x".repeat(81))),
                ),
            ],
        ),
    ]
}

#[test]
fn refusals_of_one_stage_take_alike() {
    let _turn = turn();
    let rounds = usize::try_from(number("TIMING_ROUNDS", 2000)).unwrap();
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("access_log", "off").with("threads", 1).start();
    let mut client = gate.client();
    println!("timing: {rounds} requests each, one connection, one after the other; microseconds");
    println!("timing: {:<6} {:<16} {:>7} {:>7} {:>7}", "stage", "reason", "p25", "median", "p75");
    let mut apart = Vec::new();
    for (stage, reasons) in stages() {
        let mut all: Vec<Measured> = reasons
            .into_iter()
            .map(|(name, request)| Measured { name, request: request.bytes(), took: Vec::new() })
            .collect();
        for round in 0..rounds + 50 {
            // In turns, so that what the machine does besides falls on all alike.
            for measured in &mut all {
                let began = Instant::now();
                client.send(&measured.request);
                let response = client.receive("POST");
                let took = began.elapsed();
                assert_eq!(response.status, 204, "{stage}: {}", measured.name);
                if round >= 50 {
                    measured.took.push(took);
                }
            }
        }
        for measured in &mut all {
            measured.took.sort_unstable();
            let [low, median, high] = [25, 50, 75].map(|percent| measured.quantile(percent).as_nanos() / 100);
            let tenth = |n: u128| format!("{}.{}", n / 10, n % 10);
            println!(
                "timing: {stage:<6} {:<16} {:>7} {:>7} {:>7}",
                measured.name,
                tenth(low),
                tenth(median),
                tenth(high)
            );
        }
        let medians = || all.iter().map(|measured| measured.quantile(50));
        let spread = medians().max().unwrap().saturating_sub(medians().min().unwrap());
        println!("timing: {stage}: medians are {spread:?} apart");
        apart.push((stage, spread));
    }
    backend.untouched();
    assert!(apart.iter().all(|(_, spread)| *spread < APART), "{apart:?}");
}

/// The hash of a token is compared in one time, whichever of its bytes differ: the processor time of asking a guard whose
/// hashes all differ from the right one in their first byte, in their last, or not at all.
#[test]
fn a_hash_is_compared_in_one_time() {
    use crate::support::clock;
    use formgate::gateway::{Field, Guard, Head, Token, TokenHash};
    let _turn = clock::in_turn();
    let right = TokenHash::of(b"right").hex();
    let flipped = |at: usize| {
        let mut hex = right.clone().into_bytes();
        hex[at] = if hex[at] == b'0' { b'1' } else { b'0' };
        TokenHash::parse(std::str::from_utf8(&hex).unwrap()).unwrap()
    };
    let guards = [("first byte", flipped(0)), ("last byte", flipped(63)), ("none", TokenHash::of(b"right"))];
    // Many hashes, so that comparing them is most of the work.
    let guards = guards.map(|(name, hash)| {
        (name, Guard::new(vec![Token { name: "t".into(), hashes: vec![hash; 200] }]).unwrap())
    });
    let fields = [Field { name: "authorization", value: b"Bearer right" }];
    let head = Head { fields: &fields, ..Head::nothing("127.0.0.1".parse().unwrap()) };
    let times = guards.map(|(name, guard)| {
        let took = clock::best(60, || {
            for _ in 0..20 {
                assert_eq!(guard.admit(&head).is_some(), name == "none");
            }
        });
        println!("timing: 20 × 200 hashes that differ in: {name}: {took:?}");
        took.as_secs_f64()
    });
    let (least, most) =
        (times.iter().copied().fold(f64::MAX, f64::min), times.iter().copied().fold(0.0, f64::max));
    // One that stopped at the first difference would take a fraction for the first of them.
    assert!(most / least < 1.5, "{times:?}");
}
