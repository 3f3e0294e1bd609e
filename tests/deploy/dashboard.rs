//! The dashboard: every expression parses and shows something of a real run, every series is on it or left out for a
//! reason.

use super::promtool;
use super::recorded::Run;
use super::{read, root};
use crate::support::tls::Authority;
use crate::support::{Backend, MEETING, MEETING_BODY, Request, Setup};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Families that no panel shows, and why.
const LEFT_OUT: &[(&str, &str)] = &[];

/// Families that this run does not serve: those of a store that is shared, and of the servers of upstreams.
const ELSEWHERE: &[&str] = &[
    "formgate_store_",
    "formgate_upstream_addresses",
    "formgate_upstream_connections",
    "formgate_upstream_ejections_total",
    "formgate_upstream_in_flight",
    "formgate_upstream_lookups_failed_total",
    "formgate_upstream_server_",
];

fn is_elsewhere(name: &str) -> bool {
    ELSEWHERE.iter().any(|start| name.starts_with(start))
}

fn dashboard() -> Value {
    serde_json::from_str(&read("deploy/grafana/formgate.json")).unwrap()
}

/// Every `expr`, with what Grafana puts in for its variables, under the title of its panel.
fn expressions(dashboard: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let title = panel["title"].as_str().unwrap();
        for target in panel["targets"].as_array().into_iter().flatten() {
            let expression = target["expr"].as_str().unwrap();
            let expression = expression
                .replace("$__rate_interval", "5m")
                .replace("$__range", "30m")
                .replace("$instance", ".*")
                .replace("$route", ".*");
            assert!(!expression.contains('$'), "{title}: {expression}");
            found.push((title.to_owned(), expression));
        }
    }
    assert!(found.len() > 25, "{}", found.len());
    found
}

/// Names of series in an expression.
fn names(expression: &str) -> BTreeSet<String> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("formgate_")).map(ToOwned::to_owned).collect()
}

/// A run with something of everything.
fn mixed() -> (Run, String) {
    let backend = Backend::agreeing();
    let pair = Authority::new("dashboard").issue(&["gate.example"]);
    let tls = json!({ "certificates": [{ "cert": "site.pem", "key": "site.key" }] });
    let setup = Setup::meeting(&backend).file("site.pem", pair.cert).file("site.key", pair.key);
    let setup = setup.with("listen", vec!["127.0.0.1:0", "https://127.0.0.1:0"]).with("tls", tls);
    let gate = setup.with("routes/0/idempotency", "optional").start();
    let run = Run::of(&gate, || {
        for number in 0..4 {
            gate.get(MEETING);
            gate.exchange(
                &Request::post(MEETING, MEETING_BODY).field("Idempotency-Key", &number.to_string()),
            );
            gate.post(MEETING, "{}");
            gate.post(MEETING, r#"{"title":"","displayName":"A"}"#);
            gate.get("/elsewhere");
        }
        gate.reload();
    });
    (run, gate.metrics().text)
}

#[test]
fn every_panel_shows_something_of_a_real_run() {
    let (run, _) = mixed();
    let mut text = String::from("evaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n");
    text.push_str(&run.series());
    text.push_str("    promql_expr_test:\n");
    for (_, expression) in expressions(&dashboard()) {
        if names(&expression).iter().any(|name| is_elsewhere(name)) {
            continue;
        }
        writeln!(text, "      - expr: 'count({expression}) > bool 0'\n        eval_time: 40m").unwrap();
        text.push_str("        exp_samples: [{ labels: '{}', value: 1 }]\n");
    }
    promtool::test(&text);
}

#[test]
fn every_series_is_on_it_or_left_out_for_a_reason() {
    let (_, page) = mixed();
    let types: BTreeMap<&str, &str> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    let family = |name: &str| -> String {
        let ends = ["_bucket", "_sum", "_count"].iter();
        let mut stems = [name].into_iter().chain(ends.filter_map(|end| name.strip_suffix(end)));
        let known = stems.find(|stem| types.contains_key(stem)).map(ToOwned::to_owned);
        known.unwrap_or_else(|| panic!("no series {name} is served"))
    };
    let dashboard = dashboard();
    let mut shown: BTreeSet<String> = BTreeSet::new();
    for (_, expression) in expressions(&dashboard) {
        let names = names(&expression);
        let served = |name: &&String| !is_elsewhere(name) || types.contains_key(name.as_str());
        shown.extend(names.iter().filter(served).map(|name| family(name)));
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        for name in names(variable["definition"].as_str().unwrap_or_default()) {
            family(&name);
        }
    }
    for (name, reason) in LEFT_OUT {
        assert!(types.contains_key(name) && !reason.is_empty(), "{name} is left out and not there");
        assert!(!shown.contains(*name), "{name} is left out and shown");
    }
    let left_out = |name: &str| LEFT_OUT.iter().any(|(left, _)| *left == name);
    let missing: Vec<_> = types.keys().filter(|name| !shown.contains(**name) && !left_out(name)).collect();
    assert!(missing.is_empty(), "neither shown nor left out: {missing:?}");
}

/// Grafana draws panels over each other, or two under one number, without a word.
#[test]
fn no_panel_is_under_another() {
    let dashboard = dashboard();
    let mut taken: BTreeMap<(u64, u64), &str> = BTreeMap::new();
    let mut numbers = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let title = panel["title"].as_str().unwrap();
        assert!(numbers.insert(panel["id"].as_u64().unwrap()), "{title}: its id is another's");
        let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
        assert!(at("x") + at("w") <= 24, "{title}");
        for x in at("x")..at("x") + at("w") {
            for y in at("y")..at("y") + at("h") {
                assert_eq!(taken.insert((x, y), title), None, "{title}");
            }
        }
        for target in panel["targets"].as_array().into_iter().flatten() {
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}: {target}");
        }
    }
}

/// Compose mounts what the provisioning files name.
#[test]
fn grafana_finds_it() {
    let compose = read("deploy/compose.yaml");
    let provider = read("deploy/grafana/provisioning/dashboards/formgate.yaml");
    let folder = provider.split_once("path: ").unwrap().1.split([' ', '}']).next().unwrap();
    assert!(compose.contains(&format!("./grafana/formgate.json:{folder}/formgate.json:ro")), "{folder}");
    assert!(compose.contains("./grafana/provisioning:/etc/grafana/provisioning:ro"));
    assert!(root("deploy/grafana/provisioning/datasources/formgate.yaml").exists());
}
