//! An alert on a series that nobody serves never fires, and nobody notices.

use super::{content, read, root, tool};
use crate::support::tls::Authority;
use crate::support::{Backend, MEETING};
use crate::tls;
use std::collections::{BTreeMap, BTreeSet};

/// Labels that Prometheus adds.
const ADDED: [&str; 2] = ["instance", "job"];

/// A series as it is asked for: its name, and label and value of each matcher.
type Selector = (String, Vec<(String, String)>);

#[test]
fn every_series_label_and_value_is_served() {
    let backend = Backend::agreeing();
    let pair = Authority::new("ca").issue(&["site.test"]);
    let gate = tls::setup(&backend, &[pair]).with("routes/0/idempotency", "optional").start();
    gate.get(MEETING);
    let served = gate.metrics();
    let mut labels: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for (name, of_series) in served.series.keys() {
        let have = labels.entry(name).or_default();
        for (label, value) in of_series {
            have.entry(label).or_default().insert(value);
        }
    }
    let mut asked = 0;
    for file in ["deploy/alerts.yaml", "deploy/alerts.test.yaml", "deploy/prometheus.yaml"] {
        for (name, matchers) in selectors(&read(file)) {
            asked += 1;
            let have =
                labels.get(name.as_str()).unwrap_or_else(|| panic!("{file}: no series {name} is served"));
            for (label, value) in matchers {
                if ADDED.contains(&label.as_str()) {
                    continue;
                }
                let values =
                    have.get(label.as_str()).unwrap_or_else(|| panic!("{file}: {name} has no label {label}"));
                // Names of routes, upstreams, servers and certificates are the config's.
                let named = ["route", "upstream", "server", "certificate"].contains(&label.as_str());
                for value in value.split('|').filter(|_| !named) {
                    assert!(values.contains(value), "{file}: {name} never has {label}={value:?}: {values:?}");
                }
            }
        }
    }
    assert!(asked > 20, "only {asked} selectors were found");
    let known: BTreeSet<&str> = labels.values().flat_map(BTreeMap::keys).copied().collect();
    for label in grouped(&read("deploy/alerts.yaml")) {
        assert!(ADDED.contains(&label.as_str()) || known.contains(label.as_str()), "grouped by {label}");
    }
}

#[test]
fn every_alert_says_how_bad_and_what_to_do() {
    let text = read("deploy/alerts.yaml");
    let alerts: Vec<&str> = text.split("- alert: ").skip(1).collect();
    assert!(alerts.len() >= 10, "{}", alerts.len());
    for alert in alerts {
        let name = alert.lines().next().unwrap_or("");
        for part in ["expr: ", "severity: ", "summary: ", "runbook: ", "description: "] {
            assert_eq!(alert.matches(part).count(), 1, "{name}: {part}");
        }
    }
}

#[test]
fn prometheus_takes_the_rules_and_they_fire_when_they_should() {
    for arguments in [
        ["check", "rules", "deploy/alerts.yaml"],
        ["check", "config", "deploy/prometheus.yaml"],
        ["test", "rules", "deploy/alerts.test.yaml"],
    ] {
        let [verb, what, file] = arguments;
        let file = root(file);
        if let Some(output) = tool("promtool", &[verb, what, file.to_str().unwrap()]) {
            content(&output);
        }
    }
}

#[test]
fn the_scan_sees_what_a_person_sees() {
    let text = "sum by (a, b) (rate(formgate_x_total{r=~\"p|q\", s!=\"{{ $v }}\"}[5m])) > formgate_y";
    let x = vec![("r".to_owned(), "p|q".to_owned()), ("s".to_owned(), "{{ $v }}".to_owned())];
    assert_eq!(selectors(text), [("formgate_x_total".to_owned(), x), ("formgate_y".to_owned(), vec![])]);
    assert_eq!(grouped(text), ["a", "b"]);
}

/// Every `formgate_…` with what stands in braces behind it.
fn selectors(text: &str) -> Vec<Selector> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("formgate_") {
        let (name, after) = word(&rest[at..]);
        rest = after;
        let mut matchers = Vec::new();
        if let Some(mut inside) = rest.strip_prefix('{') {
            while !inside.starts_with('}') {
                let (label, after) = word(inside.trim_start_matches([',', ' ']));
                let value = after.trim_start_matches(['=', '!', '~']);
                let (value, after) = value.strip_prefix('"').unwrap().split_once('"').unwrap();
                matchers.push((label.to_owned(), value.to_owned()));
                inside = after;
            }
            rest = inside;
        }
        found.push((name.to_owned(), matchers));
    }
    found
}

/// Labels behind `by`, `on` and `without`.
fn grouped(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for opening in [" by (", " on (", " without ("] {
        for piece in text.split(opening).skip(1) {
            let labels = piece.split_once(')').map_or("", |(labels, _)| labels);
            found.extend(labels.split(',').map(|label| label.trim().to_owned()));
        }
    }
    found
}

fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len()))
}
