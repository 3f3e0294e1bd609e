//! `formgate_mismatches_total`: which place of which form refuses, in labels that are the form's (P12).

use crate::support::metrics::Metrics;
use crate::support::{Backend, MEETING, Setup, eventually};
use serde_json::json;
use std::collections::BTreeMap;

const NAME: &str = "formgate_mismatches_total";

/// Counts of a route by pointer.
fn by_pointer(metrics: &Metrics, route: &str) -> BTreeMap<String, f64> {
    let of_route =
        metrics.series.iter().filter(|((name, labels), _)| name == NAME && labels["route"] == route);
    of_route.map(|((_, labels), count)| (labels["pointer"].clone(), *count)).collect()
}

#[test]
fn a_mismatch_counts_where_the_access_line_says() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let before = gate.metrics();
    assert!(by_pointer(&before, "meetings_start").len() > 5);
    assert!(
        by_pointer(&before, "meetings_start").values().all(|count| *count == 0.0),
        "from the start, at zero"
    );
    let bodies = [
        r#"{"title":"A"}"#,
        r#"{"title":"","displayName":"A"}"#,
        r#"{"title":"A","displayName":"B","Canary7Zq":1}"#,
    ];
    for body in bodies {
        assert_eq!(gate.post(MEETING, body).status, 204);
    }
    // Not of the form: no count here.
    assert_eq!(gate.post(MEETING, "{").status, 204);
    let lines = gate.access_lines(4);
    eventually("all are counted", || gate.metrics().counts(NAME, &[], 3));
    let after = gate.metrics();
    for line in &lines[..3] {
        let (pointer, keyword) = (line["schema"].as_str().unwrap(), line["keyword"].as_str().unwrap());
        assert!(after.counts(NAME, &[("pointer", pointer), ("keyword", keyword)], 1), "{line}");
    }
    assert_eq!(after.series.len(), before.series.len(), "no series is new");
    assert!(!after.text.contains("Canary7Zq"));
}

#[test]
fn places_beyond_the_first_are_counted_together() {
    let members: serde_json::Map<String, serde_json::Value> =
        (0..200).map(|n| (format!("m{n:03}"), json!({ "type": "string", "maxLength": 9 }))).collect();
    let form =
        json!({ "type": "object", "description": "d", "additionalProperties": false, "properties": members });
    let backend = Backend::agreeing();
    let gate = Setup::bare(&backend).inline_route("wide", &form).start();
    assert_eq!(by_pointer(&gate.metrics(), "wide").len(), 65);
    assert_eq!(gate.post("/wide", r#"{"m199":1}"#).status, 204);
    eventually("it is counted", || {
        gate.metrics().counts(NAME, &[("pointer", "_other"), ("keyword", "_other")], 1)
    });
}

/// However often a form changes, its series are those of the form that is served.
#[test]
fn series_of_places_that_are_gone_go_with_them() {
    let backend = Backend::agreeing();
    let with = |member: &str| {
        let properties = json!({ "kept": { "type": "string", "maxLength": 3 }, member: { "type": "string", "maxLength": 3 } });
        let form = json!({ "type": "object", "description": "d", "properties": properties });
        Setup::bare(&backend).inline_route("changing", &form).with("watch", "off")
    };
    let gate = with("first").start();
    assert_eq!(gate.post("/changing", r#"{"kept":1}"#).status, 204);
    let count = by_pointer(&gate.metrics(), "changing").len();
    for member in ["second", "third", "fourth"] {
        let mut setup = with(member);
        for (key, bound) in
            [("listen", json!([gate.addr.to_string()])), ("admin", json!(gate.admin.to_string()))]
        {
            setup.config[key] = bound;
        }
        gate.replace("gateway.yaml", setup.text());
        assert_eq!(gate.reload().status, 200);
        let now = by_pointer(&gate.metrics(), "changing");
        assert_eq!(now.len(), count, "{now:?}");
        assert!(now.contains_key(&format!("/properties/{member}/maxLength")), "{now:?}");
        assert!((now["/properties/kept/type"] - 1.0).abs() < 0.1, "what stays goes on counting");
    }
}
