//! Two hundred reloads under four posting threads: no failed request, no answer that mixes generations, no quota
//! forgiven (P1, P11; G-27; issue 2, "What it must reach").

use super::reload::form;
use crate::support::gate::replace;
use crate::support::{Backend, Client, Gate, Request, Response, Setup};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const RELOADS: usize = 200;
const QUOTA: usize = 40;

/// Generation `n` wants the member `a` when it is even, `b` when it is odd, and says its number in `p`.
fn generation(backend: &Backend, n: usize) -> Setup {
    let form = if n.is_multiple_of(2) { "forms/a.json" } else { "forms/b.json" };
    Setup::bare(backend)
        .route(json!({
            "address": "/flip",
            "name": "flip",
            "context": format!("generation {n}"),
            "form": form,
            "upstream": { "to": "backend", "path": "/legacy" },
        }))
        .route(json!({
            "address": "/quota",
            "name": "quota",
            "context": format!("generation {n}"),
            "form": { "description": "Nothing.", "type": "null" },
            "upstream": { "to": "backend", "path": "/legacy" },
            "limits": { "get": "none", "post": format!("1/h burst {QUOTA}"), "refused": "none" },
        }))
        .file("forms/a.json", self::form("a"))
        .file("forms/b.json", self::form("b"))
        .with("watch", "off")
}

struct Load {
    stop: AtomicBool,
    acts: AtomicUsize,
    accepted: AtomicUsize,
    within: AtomicUsize,
    tags: Mutex<HashMap<usize, (String, Vec<u8>)>>,
}

impl Load {
    /// The generation of an arrival, which must be whole: number, form, digest and tag belong together.
    fn number(&self, arrival: &Response) -> usize {
        assert_eq!(arrival.status, 200, "{}", arrival.head);
        let value = arrival.json();
        let number: usize = value["p"].as_str().unwrap().trim_start_matches("generation ").parse().unwrap();
        assert_eq!(
            value["s"]["required"][0],
            if number.is_multiple_of(2) { "a" } else { "b" },
            "mixed: {value}"
        );
        let tag = arrival.field("etag").unwrap().to_owned();
        let mut tags = self.tags.lock().unwrap();
        let known = tags.entry(number).or_insert_with(|| (tag.clone(), arrival.body.clone()));
        assert_eq!(known, &(tag, arrival.body.clone()), "generation {number} has two faces");
        number
    }

    fn run(&self, gate: &Gate, mut n: usize) {
        let mut client = gate.client();
        while !self.stop.load(Ordering::SeqCst) {
            n += 1;
            let before = self.number(&exchange(&mut client, &Request::get("/flip")));
            let member = if n.is_multiple_of(2) { "a" } else { "b" };
            let act = Request::post("/flip", format!("{{\"{member}\":{}}}", n % 10));
            let status = exchange(&mut client, &act).status;
            let after = self.number(&exchange(&mut client, &Request::get("/flip")));
            assert!(before <= after, "time goes back: {before} then {after}");
            assert!(matches!(status, 200 | 204), "a failed act: {status}");
            let fits = before.is_multiple_of(2) == (member == "a");
            if before == after {
                self.within.fetch_add(1, Ordering::SeqCst);
                assert_eq!(status, if fits { 200 } else { 204 }, "{member} in generation {before}");
            }
            self.acts.fetch_add(1, Ordering::SeqCst);
            self.accepted.fetch_add(usize::from(status == 200), Ordering::SeqCst);
        }
    }

    /// Acts on the route with a quota; gives the number accepted.
    fn spend(&self, gate: &Gate) -> usize {
        let mut client = gate.client();
        let mut accepted = 0;
        while !self.stop.load(Ordering::SeqCst) {
            let status = exchange(&mut client, &Request::post("/quota", "null")).status;
            assert!(matches!(status, 200 | 429), "{status}");
            accepted += usize::from(status == 200);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        accepted
    }
}

/// No failed request: a connection that is lost is one.
fn exchange(client: &mut Client, request: &Request) -> Response {
    client.try_exchange(request).unwrap_or_else(|loss| panic!("a request was lost: {loss:?}"))
}

#[test]
fn two_hundred_reloads_under_four_posting_threads() {
    let backend = Backend::agreeing();
    let gate = generation(&backend, 0).start();
    let load = Load {
        stop: AtomicBool::new(false),
        acts: AtomicUsize::new(0),
        accepted: AtomicUsize::new(0),
        within: AtomicUsize::new(0),
        tags: Mutex::default(),
    };
    let quota = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|n| {
                scope.spawn({
                    let (load, gate) = (&load, &gate);
                    move || load.run(gate, n)
                })
            })
            .collect();
        let spender = scope.spawn(|| load.spend(&gate));
        // Whatever fails here must stop the threads, or the scope waits for ever.
        let reloaded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for n in 1..=RELOADS {
                if n.is_multiple_of(20) {
                    replace(&gate.config(), &generation(&backend, n).text().as_bytes()[..200]);
                    assert!((400..600).contains(&gate.reload().status), "a bad file before generation {n}");
                }
                replace(&gate.config(), generation(&backend, n).text().as_bytes());
                let response = gate.reload();
                assert!(
                    (200..300).contains(&response.status),
                    "reload {n}: {} {}",
                    response.head,
                    response.text()
                );
                assert_eq!(load.number(&gate.get("/flip")), n, "the answer to a reload comes after the swap");
                assert!(!workers.iter().any(std::thread::ScopedJoinHandle::is_finished), "a worker failed");
            }
        }));
        load.stop.store(true, Ordering::SeqCst);
        for worker in workers {
            worker.join().unwrap();
        }
        let quota = spender.join().unwrap();
        reloaded.unwrap();
        quota
    });
    assert_eq!(quota, QUOTA, "the quota of one hour, whatever was reloaded");
    let acts = load.acts.load(Ordering::SeqCst);
    assert!(acts >= RELOADS && load.within.load(Ordering::SeqCst) > 20, "{acts} acts are no load");
    let accepted = load.accepted.load(Ordering::SeqCst) + quota;
    assert_eq!(
        (backend.count(), backend.stray()),
        (accepted, 0),
        "each accepted act was sent once, no other was"
    );
    let digests = gate.metrics().series.keys().filter(|(name, _)| name == "formgate_snapshot_info").count();
    assert!(digests <= 2, "{digests} digests shown");
}
