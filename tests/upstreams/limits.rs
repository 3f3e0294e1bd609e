//! `max_in_flight`: never more, and what is over is told before anything is sent (P4, A-28).

use super::{body, servers, setup};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn no_server_ever_has_more_and_the_rest_is_told() {
    let two = servers::<2>();
    for server in &two {
        server.state.slow.store(30, Ordering::SeqCst);
    }
    let urls = json!([two[0].url(), { "url": two[1].url(), "max_in_flight": 3 }]);
    let gate = setup(&two.each_ref())
        .with("upstreams/backend/servers", urls)
        .with("upstreams/backend/max_in_flight", 2)
        .with("upstreams/backend/keepalive", 4)
        .with("threads", 4)
        .start();
    let (done, full) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for client in 0..24 {
            let (gate, done, full) = (&gate, &done, &full);
            scope.spawn(move || {
                for n in 0..20 {
                    let response = gate.post("/order", body(client * 1000 + n, "a"));
                    match response.status {
                        200 => done.fetch_add(1, Ordering::SeqCst),
                        503 => {
                            assert_eq!(response.field("Retry-After"), Some("1"), "{}", response.head);
                            assert!(response.body.is_empty());
                            full.fetch_add(1, Ordering::SeqCst)
                        }
                        _ => panic!("{}", response.head),
                    };
                }
            });
        }
    });
    let (done, full) = (done.into_inner(), full.into_inner());
    assert_eq!(done + full, 480);
    assert_eq!(two[0].acts() + two[1].acts(), done, "what was turned away was not sent");
    let most = two.each_ref().map(|server| server.state.most.load(Ordering::SeqCst));
    assert!(most[0] <= 2 && most[1] <= 3, "{most:?}");
    assert!(full > 0, "24 clients found 5 places");
    crate::support::eventually("everything is counted", || {
        let metrics = gate.metrics();
        let reason = [("route", "order"), ("reason", "upstream_full")];
        let result = [("route", "order"), ("result", "full")];
        metrics.counts("formgate_refusals_total", &reason, full)
            && metrics.counts("formgate_upstream_results_total", &result, full)
            && metrics.counts("formgate_upstream_in_flight", &[("upstream", "backend")], 0)
    });
    let line = gate.access().into_iter().find(|line| line["status"] == 503).unwrap();
    assert_eq!(
        (&line["outcome"], &line["reason"], &line["upstream"]),
        (&json!("unavailable"), &json!("upstream_full"), &json!("full")),
        "{line}"
    );
    // None is under way any more: what is open is kept, `keepalive` to each.
    let open = gate.metrics().sum("formgate_upstream_connections", &[("upstream", "backend")]);
    assert!((1.0..=8.0).contains(&open), "{open} connections are open");
}

/// Full and refused by nobody: a key may try again.
#[test]
fn a_key_is_not_burnt_by_a_full_server() {
    use crate::support::Request;
    let one = servers::<1>();
    one[0].state.slow.store(500, Ordering::SeqCst);
    let gate = setup(&one.each_ref())
        .with("upstreams/backend/max_in_flight", 1)
        .with("routes/0/idempotency", "optional")
        .start();
    let keyed =
        |n| gate.exchange(&Request::post("/order", body(n, "a")).field("Idempotency-Key", "a-key-of-mine"));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gate.post("/order", body(1, "a")).status);
        crate::support::eventually("the first is there", || one[0].acts() == 1);
        assert_eq!(keyed(2).status, 503);
        assert_eq!(first.join().unwrap(), 200);
    });
    assert_eq!(keyed(2).status, 200);
    assert_eq!(one[0].acts(), 2);
}
