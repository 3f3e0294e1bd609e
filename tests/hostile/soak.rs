//! Everything at once for a while (issue 3, item 7): memory does not creep. `SOAK_SECONDS=600` is the long form.

use super::faulty::{Faulty, body_of};
use super::process::{Curve, MIB, descriptors, mib, rss, threads};
use super::{Random, number, turn};
use crate::support::{Gate, MEETING, Request, Setup};
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How much higher the floor of the last third may lie than that of the second. The allocator takes memory from the
/// system and gives it back in steps of about 20 MiB; over the ten minutes of the long form a leak of 20 bytes a request
/// shows, or of 40 KiB a reload.
const GROWTH: u64 = 24 * MIB;

fn work(gate: &Gate, stop: &AtomicBool, next: &AtomicU64, requests: &AtomicU64) {
    let mut client = gate.client();
    let pause = Duration::from_millis(number("SOAK_PAUSE_MS", 0));
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(pause);
        let act = next.fetch_add(1, Ordering::SeqCst);
        let mut random = Random(act);
        let request = match random.below(12) {
            0..=2 => Request::get(MEETING)
                .field("X-Forwarded-For", &format!("10.{}.{}.1", random.below(256), random.below(256))),
            3 => Request::post(MEETING, "{"),
            4 => Request::post(MEETING, format!("{{\"n\":{act}}}")).field("GPT-Actor", &format!("a{act}")),
            5 => Request::get(&format!("/{act}")),
            6 => Request::get(MEETING).field("Accept-Encoding", "br"),
            7 => Request::post(MEETING, body_of(act)).field("Content-Length", "9").raw(),
            8 => Request::post(MEETING, body_of(act)).field("X-Act", &act.to_string()).chunked(1000),
            _ => Request::post(MEETING, body_of(act)).field("X-Act", &act.to_string()),
        };
        let kept = client
            .try_exchange(&request)
            .is_ok_and(|response| response.status < 400 || response.status == 404);
        requests.fetch_add(1, Ordering::Relaxed);
        if !kept || random.below(30) == 0 {
            client = gate.client();
        }
        if random.below(50) == 0 {
            let mut half = gate.client();
            half.send(&request.bytes()[..20]);
            half.reset();
        }
    }
}

#[test]
fn memory_does_not_creep() {
    let _turn = turn();
    let time = Duration::from_secs(number("SOAK_SECONDS", 20));
    let faulty = Faulty::new(number("FAULT_SEED", 7));
    let gate = Setup::towards(&faulty.url())
        .case_route("meetings-start")
        .with("routes/0/upstream/pass_headers", json!(["X-Act"]))
        .with("routes/0/limits", json!({ "get": "50/s burst 100", "post": "none", "refused": "none" }))
        .with("trusted_proxies", json!(["127.0.0.1"]))
        .with("limiter_keys", 1000)
        .with("upstreams/backend/timeouts", json!({ "connect": "1s", "exchange": "300ms" }))
        .with("access_log", "/dev/null")
        .start();
    let (stop, next, requests) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let mut curve = Curve::new(gate.pid());
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| work(&gate, &stop, &next, &requests));
        }
        let began = Instant::now();
        let mut reloads = 0;
        while began.elapsed() < time {
            std::thread::sleep(Duration::from_millis(250));
            curve.sample();
            // The memory of what the test itself remembers is not the gate's.
            faulty.log.seen.lock().unwrap().clear();
            if began.elapsed() > Duration::from_secs(reloads + 1) {
                reloads += 1;
                let text = std::fs::read_to_string(gate.config()).unwrap();
                let next = format!("{}\n", text.trim_end()).replace("\"threads\": 2", "\"threads\":  2");
                gate.replace("gateway.yaml", if reloads % 2 == 0 { text } else { next });
                let _ = gate.reload();
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let risen = curve.risen();
    let slope = curve.slope(time / 4);
    println!(
        "soak: {time:?}, {} requests, RSS {:.1} MiB at the end, floor +{:.1} MiB, slope {:+.2} KiB/s, {} threads, {} descriptors",
        requests.load(Ordering::Relaxed),
        mib(rss(gate.pid())),
        mib(risen),
        slope / 1024.0,
        threads(gate.pid()),
        descriptors(gate.pid())
    );
    assert!(risen < GROWTH, "the floor has risen by {:.1} MiB, {:.1} KiB/s", mib(risen), slope / 1024.0);
}
