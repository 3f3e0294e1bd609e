//! Alerts and dashboard against series of real runs: each run is scraped before and after, and Prometheus is told that
//! what happened in between happens once a minute.

use super::promtool;
use crate::support::backend::answer;
use crate::support::metrics::Metrics;
use crate::support::{After, Backend, Client, Gate, MEETING, MEETING_BODY, Request, Setup, eventually};
use formgate::gateway::TokenHash;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// One run: what was scraped at its beginning and at its end, under the name of an instance.
pub(super) struct Run {
    instance: &'static str,
    before: Metrics,
    after: Metrics,
}

impl Run {
    /// What `events` do to a gate.
    pub(super) fn of(gate: &Gate, events: impl FnOnce()) -> Self {
        let before = gate.metrics();
        events();
        // Counts come after answers.
        std::thread::sleep(std::time::Duration::from_millis(100));
        Self { instance: "a", before, after: gate.metrics() }
    }

    /// As `input_series` of promtool: counters go on rising at the rate of the run, gauges stay where it left them.
    pub(super) fn series(&self) -> String {
        let mut out = String::new();
        for ((name, labels), after) in &self.after.series {
            let mut key = format!("{name}{{job=\"formgate\",instance=\"{}\"", self.instance);
            for (label, value) in labels {
                write!(key, ",{label}=\"{value}\"").unwrap();
            }
            let counts = ["_total", "_bucket", "_sum", "_count"].iter().any(|end| name.ends_with(end));
            let before = self.before.series.get(&(name.clone(), labels.clone())).copied().unwrap_or_default();
            let values =
                if counts { format!("{before}+{}x60", after - before) } else { format!("{after}x60") };
            writeln!(out, "      - series: '{key}}}'\n        values: '{values}'").unwrap();
        }
        out
    }
}

/// The alerts that must fire, and no other, where these runs go on for most of an hour.
fn expects(name: &str, runs: &[Run], up: u8, alerts: &[&str]) -> String {
    let mut test = format!("  - name: {name}\n    interval: 1m\n    input_series:\n");
    writeln!(test, "      - series: 'up{{job=\"formgate\",instance=\"a\"}}'\n        values: '{up}x60'")
        .unwrap();
    for run in runs {
        test.push_str(&run.series());
    }
    test.push_str("    promql_expr_test:\n");
    test.push_str(
        "      - expr: count by (alertname) (ALERTS{alertstate=\"firing\"})\n        eval_time: 45m\n",
    );
    test.push_str("        exp_samples:");
    if alerts.is_empty() {
        test.push_str(" []\n");
    }
    for alert in alerts {
        let alert = format!("{{alertname=\"{alert}\"}}");
        // How many routes it fires for is not asked.
        write!(test, "\n          - labels: '{alert}'\n            value: 1").unwrap();
    }
    test.push('\n');
    test
}

fn keyed(key: &str) -> Request {
    Request::post(MEETING, MEETING_BODY).field("Idempotency-Key", key)
}

fn act(gate: &Gate) {
    gate.post(MEETING, MEETING_BODY);
}

fn answering(status: &str, body: &str) -> Backend {
    Backend::answering(answer(status, "Content-Type: text/plain\r\n", body))
}

/// Runs, and the alerts that they must give cause for.
#[derive(Default)]
struct Script {
    tests: String,
    fired: BTreeSet<&'static str>,
}

impl Script {
    fn expect(&mut self, name: &str, runs: &[Run], alerts: &[&'static str]) {
        self.fired.extend(alerts);
        self.tests.push_str(&expects(name, runs, 1, alerts));
    }
}

/// Every alert fires in a run that gives cause for it, or in `alerts.test.yaml`; a quiet run gives cause for none.
#[test]
fn alerts_fire_where_a_real_run_gives_cause() {
    let mut script = Script::default();
    for part in [quiet, upstreams, acts, room, process] {
        part(&mut script);
    }
    let Script { mut tests, mut fired } = script;
    fired.insert("FormgateDown");
    tests.push_str(&expects("nobody answers the scrape", &[], 0, &["FormgateDown"]));

    let by_hand = super::read("deploy/alerts.test.yaml");
    for alert in super::read("deploy/alerts.yaml").split("- alert: ").skip(1) {
        let name = alert.lines().next().unwrap();
        assert!(fired.contains(name) || by_hand.contains(name), "{name} fires in no test");
    }
    promtool::test(&format!(
        "rule_files: [{}]\nevaluation_interval: 1m\ntests:\n{tests}",
        super::root("deploy/alerts.yaml").display()
    ));
}

/// Nothing to tell, and a bug.
fn quiet(script: &mut Script) {
    let agreeing = Backend::agreeing();
    let gate = Setup::meeting(&agreeing).with("routes/0/idempotency", "optional").start();
    let quiet = Run::of(&gate, || {
        for _ in 0..3 {
            gate.get(MEETING);
            act(&gate);
        }
        gate.exchange(&keyed("once"));
        gate.post(MEETING, "{}");
    });
    let mut internal = Run { instance: "a", before: quiet.before.clone(), after: quiet.after.clone() };
    script.expect("quiet", &[quiet], &[]);
    // Nothing is known that provokes it: one such answer is written into the real page.
    let series = internal.after.series.iter_mut();
    let mut series = series.filter(|((name, labels), _)| {
        name == "formgate_requests_total"
            && labels["outcome"] == "internal"
            && labels["method"] == "POST"
            && labels["route"] == "meetings_start"
    });
    *series.next().unwrap().1 += 1.0;
    script.expect("something unforeseen", &[internal], &["FormgateInternal"]);
}

/// What upstreams do.
fn upstreams(script: &mut Script) {
    let run = |backend: &Backend| {
        let gate = Setup::meeting(backend).start();
        Run::of(&gate, || act(&gate))
    };
    let misconfigured = run(&answering("401 Unauthorized", ""));
    script.expect("the upstream wants another token", &[misconfigured], &["FormgateUpstreamMisconfigured"]);
    let unknown = run(&Backend::scripted(|_, _| After::Close));
    script.expect(
        "the upstream hangs up",
        &[unknown],
        &["FormgateOutcomeUnknown", "FormgateUpstreamFailing"],
    );
    let failing = run(&answering("500 Oops", ""));
    script.expect("the upstream fails", &[failing], &["FormgateUpstreamFailing"]);
    let lost = run(&answering("200 OK", "done"));
    script.expect("the upstream answers text", &[lost], &["FormgateUpstreamAnswersLost"]);
}

/// What operators and clients do.
fn acts(script: &mut Script) {
    let agreeing = Backend::agreeing();
    let gate = Setup::meeting(&agreeing).start();
    let refused = Run::of(&gate, || {
        gate.replace("gateway.yaml", "listen: nowhere\n");
        eventually("it is refused", || gate.metrics().counts("formgate_config_refused", &[], 1));
    });
    script.expect("a refused reload", &[refused], &["FormgateReloadRefused"]);

    let gate = Setup::meeting(&agreeing).start();
    let share = Run::of(&gate, || {
        for _ in 0..3 {
            gate.post(MEETING, "{}");
        }
    });
    script.expect("everything is refused", &[share], &["FormgateRefusalShare"]);

    let hash = TokenHash::of(b"fg_act_Recorded00000000000000000000").hex();
    let tokens = json!({ "agents": { "class": "act", "sha256": hash } });
    let gate = Setup::meeting(&agreeing).with("tokens", tokens).with("routes/0/tokens", json!(["agents"]));
    let gate = gate.start();
    let strangers = Run::of(&gate, || (0..3).for_each(|_| act(&gate)));
    script.expect("acts without a token", &[strangers], &["FormgateStrangers"]);
}

/// Memory and records.
fn room(script: &mut Script) {
    let agreeing = Backend::agreeing();
    let gate = Setup::meeting(&agreeing).with("inflight_bodies", "64KiB").start();
    let mut slow = gate.client();
    let budget = Run::of(&gate, || {
        let head = Request::post(MEETING, "").field("Content-Length", "64000").raw().head();
        slow.send(&head);
        slow.send(&vec![b' '; 60_000]);
        let held = || gate.metrics().sum("formgate_inflight_body_bytes", &[]);
        eventually("it is held", || held() > 0.8 * 65536.0);
    });
    script.expect("a slow sender holds the memory", &[budget], &["FormgateBodyBudget"]);
    drop(slow);

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("records.db");
    let gate = Setup::meeting(&agreeing).with("routes/0/idempotency", "optional");
    let gate = gate.with("store", json!({ "file": file, "max_records": 1 })).start();
    gate.exchange(&keyed("first"));
    let full = Run::of(&gate, || {
        assert_eq!(gate.exchange(&keyed("second")).status, 503);
    });
    script.expect("no room for records", &[full], &["FormgateRecordsFull"]);
    let gone = Run::of(&gate, || {
        std::fs::rename(&file, dir.path().join("aside")).unwrap();
        std::fs::write(&file, b"").unwrap();
        eventually("it is noticed", || {
            gate.exchange(&keyed("first"));
            gate.metrics().counts("formgate_records_down", &[], 1)
        });
    });
    script.expect("the file of records is gone", &[gone], &["FormgateRecordsDown"]);
}

/// The machine, and the other instances.
fn process(script: &mut Script) {
    let agreeing = Backend::agreeing();
    let gate = Setup::meeting(&agreeing).with("max_connections", 1).start();
    let mut open = gate.client();
    open.exchange(&Request::get(MEETING));
    let connections = Run::of(&gate, || {
        let refused = || {
            let _ = Client::connect(gate.addr).try_exchange(&Request::get(MEETING));
            gate.metrics().sum("formgate_connections_refused_total", &[]) > 0.0
        };
        eventually("one is refused", refused);
    });
    script.expect("too many connections", &[connections], &["FormgateConnectionsRefused"]);

    let gate = Setup::meeting(&agreeing).with("access_log", "/dev/full").start();
    let lines = Run::of(&gate, || {
        gate.get(MEETING);
        let lost = || gate.metrics().sum("formgate_access_lines_lost_total", &[]) > 0.0;
        eventually("a line is lost", lost);
    });
    script.expect("a full disk", &[lines], &["FormgateAccessLinesLost"]);

    let other = Setup::meeting(&agreeing).with("max_connections", 7).start();
    let gate = Setup::meeting(&agreeing).start();
    let generations = [Run::of(&gate, || {}), Run { instance: "b", ..Run::of(&other, || {}) }];
    script.expect("two generations", &generations, &["FormgateGenerationsDiffer"]);
}
