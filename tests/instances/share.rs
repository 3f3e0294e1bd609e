//! One client cannot take all the room from the others, wherever records are.

use super::setup;
use crate::support::redis::Redis;
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request, eventually};
use serde_json::json;

fn status(gate: &Gate, client: &str, key: &str) -> u16 {
    let act = Request::post(MEETING, MEETING_BODY).field("Idempotency-Key", key);
    gate.exchange(&act.field("X-Forwarded-For", client)).status
}

#[test]
fn one_client_gets_half_and_leaves_room() {
    let backend = Backend::agreeing();
    let dir = tempfile::tempdir().unwrap();
    let small = json!({ "max_records": 64, "client_share": "1/2" });
    let mut stores = vec![small.clone(), small.clone()];
    stores[1]["file"] = json!(dir.path().join("records.db"));
    let redis = Redis::start(&[]);
    if let Some(redis) = &redis {
        let mut store = redis.store("refuse");
        for key in ["max_records", "client_share"] {
            store[key] = small[key].clone();
        }
        stores.push(store);
    }
    for store in stores {
        let gate = setup(&backend, store.clone()).with("trusted_proxies", json!(["127.0.0.1"])).start();
        let greedy = |many: std::ops::Range<u32>| -> Vec<u16> {
            many.map(|number| status(&gate, "192.0.2.1", &format!("greedy-{number}"))).collect()
        };
        // More than half is used once there are 33.
        assert!(greedy(0..33).iter().all(|status| *status == 200), "{store}");
        assert!(greedy(33..36).iter().all(|status| *status == 503), "{store}");
        for number in 0..31 {
            assert_eq!(status(&gate, "192.0.2.2", &format!("other-{number}")), 200, "{store}");
        }
        assert_eq!(status(&gate, "192.0.2.3", "full"), 503, "{store}");
        // What was done is told, whatever there is room for.
        assert!(greedy(0..33).iter().all(|status| *status == 200), "{store}");
        for (reason, many) in [("records_share", 3), ("records_full", 1)] {
            let labels = [("route", "meetings_start"), ("reason", reason)];
            eventually(reason, || gate.metrics().counts("formgate_refusals_total", &labels, many));
        }
    }
}
