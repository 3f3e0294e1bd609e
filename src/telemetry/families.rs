//! The families that have a series for each route, and what one route counts on.

use super::label::{
    method_label, outcome_label, own_label, reason_label, replay_label, result_label, route_reasons,
    stray_reasons,
};
use super::possible::{can_be_opened, can_happen, can_happen_at_own};
use super::{Record, STRAY};
use crate::form::CompiledForm;
use crate::gateway::{Method, Outcome, Own, ReplayState, Route, UpstreamResult};
use crate::reason::Reason;
use foldhash::fast::RandomState;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry,
};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// From what an arrival costs to what an upstream may take.
const SECONDS: [f64; 12] = [0.0001, 0.0005, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 40.0];
/// Label of the places in a form beyond the first so many, and of those that have no one place.
const OTHER: &str = "_other";
const BYTES: [f64; 8] = [64.0, 256.0, 1024.0, 4096.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0];

/// The families that have a series for each route.
#[derive(Debug, Clone)]
pub(super) struct Families {
    requests: IntCounterVec,
    refusals: IntCounterVec,
    request_seconds: HistogramVec,
    upstream_seconds: HistogramVec,
    upstream_results: IntCounterVec,
    body_bytes: HistogramVec,
    replays: IntCounterVec,
    mismatches: IntCounterVec,
    pub(super) limiter_keys: IntGaugeVec,
}

/// The series of one route.
#[derive(Debug)]
pub struct RouteMeters {
    /// By method and outcome; none where the pair cannot happen.
    requests: [[Option<IntCounter>; Outcome::ALL.len()]; Method::ALL.len()],
    refusals: HashMap<Reason, IntCounter, RandomState>,
    /// By outcome; of many routes from the first of each.
    seconds: [OnceLock<Histogram>; Outcome::ALL.len()],
    upstream_seconds: Histogram,
    /// By result; none for strays.
    upstream_results: Vec<IntCounter>,
    body_bytes: Histogram,
    /// By state; none where nothing is recorded.
    replays: Vec<IntCounter>,
    /// By pointer into the form; none where there is no form.
    mismatches: HashMap<String, IntCounter, RandomState>,
    /// Those of other places.
    mismatch: Option<IntCounter>,
}

impl RouteMeters {
    /// One event: one count.
    pub(super) fn count(&self, families: &Families, record: &Record<'_>) {
        if let Some(counter) = &self.requests[record.method as usize][record.outcome as usize] {
            counter.inc();
        } else {
            // A pair we had not foreseen is worth more than a series that existed from the start.
            families
                .requests
                .with_label_values(&[
                    record.route,
                    method_label(record.method),
                    outcome_label(record.outcome),
                ])
                .inc();
        }
        if let Some(reason) = record.reason {
            match self.refusals.get(&reason) {
                Some(counter) => counter.inc(),
                None => families.refusals.with_label_values(&[record.route, reason_label(reason)]).inc(),
            }
        }
        if let Some(mismatch) = record.mismatch
            && let Some(counter) = self.mismatches.get(&mismatch.schema_pointer).or(self.mismatch.as_ref())
        {
            counter.inc();
        }
        let labels = [record.route, outcome_label(record.outcome)];
        let seconds = || families.request_seconds.with_label_values(&labels);
        self.seconds[record.outcome as usize].get_or_init(seconds).observe(record.took.as_secs_f64());
        if let Some(upstream) = record.upstream {
            self.upstream_seconds.observe(upstream.took.as_secs_f64());
            if let Some(counter) = self.upstream_results.get(upstream.result as usize) {
                counter.inc();
            }
        }
        if record.method == Method::Post {
            #[expect(clippy::cast_precision_loss, reason = "bodies are far below 2^52 bytes")]
            self.body_bytes.observe(record.bytes_in as f64);
        }
        if let Some(state) = record.replay
            && let Some(counter) = self.replays.get(state as usize)
        {
            counter.inc();
        }
    }
}

impl Families {
    pub(super) fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let counter = |name: &str, help: &str, labels: &[&str]| {
            register(registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        let histogram = |name: &str, help: &str, labels: &[&str], buckets: &[f64]| {
            let opts = HistogramOpts::new(name, help).buckets(buckets.to_vec());
            register(registry, HistogramVec::new(opts, labels))
        };
        let keys = Opts::new(
            "formgate_limiter_keys",
            "Clients that the rates of a route remember; _own: those of the gateway's own addresses.",
        );
        Ok(Self {
            requests: counter(
                "formgate_requests_total",
                "Requests, by what became of them.",
                &["route", "method", "outcome"],
            )?,
            refusals: counter(
                "formgate_refusals_total",
                "Requests not acted on, by why. The outside never learns it.",
                &["route", "reason"],
            )?,
            request_seconds: histogram(
                "formgate_request_seconds",
                "From the end of the head to the end of the answer.",
                &["route", "outcome"],
                &SECONDS,
            )?,
            upstream_seconds: histogram(
                "formgate_upstream_seconds",
                "Time of exchanges with the upstream, connects included.",
                &["route"],
                &SECONDS,
            )?,
            upstream_results: counter(
                "formgate_upstream_results_total",
                "Exchanges with the upstream, by what they came to.",
                &["route", "result"],
            )?,
            body_bytes: histogram(
                "formgate_body_bytes",
                "Bodies of acts, as far as they were read.",
                &["route"],
                &BYTES,
            )?,
            replays: counter(
                "formgate_replays_total",
                "Acts with a key, by what the records said of it.",
                &["route", "state"],
            )?,
            mismatches: counter(
                "formgate_mismatches_total",
                "Values that a form did not admit, by the place in the form that refused.",
                &["route", "pointer", "keyword"],
            )?,
            limiter_keys: register(registry, IntGaugeVec::new(keys, &["route"]))?,
        })
    }

    /// What an alert is about the first time that it happens (`deploy/alerts.yaml`): at zero for every route, however many
    /// there are.
    pub(super) fn watched(&self, route: &Route) {
        let name = route.name.as_str();
        let request = |method, outcome| {
            self.requests.with_label_values(&[name, method_label(method), outcome_label(outcome)]);
        };
        for method in [Method::Post, Method::Get, Method::Head, Method::Options] {
            request(method, Outcome::Internal);
        }
        request(Method::Post, Outcome::Unknown);
        if route.get_action.is_some() {
            request(Method::Get, Outcome::Unknown);
        }
        let lost = [
            UpstreamResult::NotJson,
            UpstreamResult::Encoded,
            UpstreamResult::Broken,
            UpstreamResult::TooLarge,
            UpstreamResult::Misconfigured,
        ];
        for result in lost {
            self.upstream_results.with_label_values(&[name, result_label(result)]);
        }
        self.refusals.with_label_values(&[name, reason_label(Reason::Budget)]);
        if route.guard.is_some() {
            self.refusals.with_label_values(&[name, reason_label(Reason::Unauthorized)]);
        }
        if route.keeps_records() {
            self.replays.with_label_values(&[name, replay_label(ReplayState::Full)]);
        }
    }

    /// All of a route; the histograms of its outcomes only where there are `few` routes: they are most of it.
    pub(super) fn route(&self, route: &Route, few: bool) -> RouteMeters {
        let name = route.name.as_str();
        let opened = route.get_action.is_some();
        let can_happen =
            |method, outcome| can_happen(method, outcome) || opened && can_be_opened(method, outcome);
        self.limiter_keys.with_label_values(&[name]);
        let states = ReplayState::ALL.iter().filter(|_| route.keeps_records());
        let place = |(pointer, keyword): &(String, String)| {
            (pointer.clone(), self.mismatches.with_label_values(&[name, pointer, keyword]))
        };
        let replay = |state: &ReplayState| self.replays.with_label_values(&[name, replay_label(*state)]);
        RouteMeters {
            replays: states.map(replay).collect(),
            mismatches: route.form.places().iter().map(place).collect(),
            mismatch: Some(self.mismatches.with_label_values(&[name, OTHER, OTHER])),
            ..self.build(name, can_happen, route_reasons(), &UpstreamResult::ALL, few)
        }
    }

    pub(super) fn own(&self, own: Own) -> RouteMeters {
        self.build(own_label(own), can_happen_at_own, route_reasons(), &[], true)
    }

    pub(super) fn stray(&self) -> RouteMeters {
        let can_happen = |_, outcome| matches!(outcome, Outcome::Stray | Outcome::Malformed);
        self.build(STRAY, can_happen, stray_reasons(), &[], true)
    }

    fn build(
        &self,
        route: &str,
        can_happen: impl Fn(Method, Outcome) -> bool,
        reasons: impl Iterator<Item = Reason>,
        results: &[UpstreamResult],
        timed: bool,
    ) -> RouteMeters {
        let request = |method, outcome| {
            let labels = [route, method_label(method), outcome_label(outcome)];
            can_happen(method, outcome).then(|| self.requests.with_label_values(&labels))
        };
        let seconds = |outcome| {
            let happens = || Method::ALL.into_iter().any(|method| can_happen(method, outcome));
            if !timed || !happens() {
                return OnceLock::new();
            }
            self.request_seconds.with_label_values(&[route, outcome_label(outcome)]).into()
        };
        let refusal = |reason| {
            let labels = [route, reason_label(reason)];
            (reason, self.refusals.with_label_values(&labels))
        };
        let result = |result: &UpstreamResult| {
            self.upstream_results.with_label_values(&[route, result_label(*result)])
        };
        RouteMeters {
            requests: Method::ALL.map(|method| Outcome::ALL.map(|outcome| request(method, outcome))),
            refusals: reasons.map(refusal).collect(),
            seconds: Outcome::ALL.map(seconds),
            upstream_seconds: self.upstream_seconds.with_label_values(&[route]),
            upstream_results: results.iter().map(result).collect(),
            body_bytes: self.body_bytes.with_label_values(&[route]),
            replays: Vec::new(),
            mismatches: HashMap::default(),
            mismatch: None,
        }
    }

    /// Forgets the series of a route that is gone, which had this form.
    pub(super) fn forget(&self, route: &str, form: Option<&CompiledForm>) {
        // Whatever is not there was never created: nothing to tell.
        for outcome in Outcome::ALL {
            for method in Method::ALL {
                let labels = [route, method_label(method), outcome_label(outcome)];
                let _ = self.requests.remove_label_values(&labels);
            }
            let _ = self.request_seconds.remove_label_values(&[route, outcome_label(outcome)]);
        }
        for reason in route_reasons() {
            let _ = self.refusals.remove_label_values(&[route, reason_label(reason)]);
        }
        for result in UpstreamResult::ALL {
            let _ = self.upstream_results.remove_label_values(&[route, result_label(result)]);
        }
        for state in ReplayState::ALL {
            let _ = self.replays.remove_label_values(&[route, replay_label(state)]);
        }
        let _ = self.upstream_seconds.remove_label_values(&[route]);
        let _ = self.body_bytes.remove_label_values(&[route]);
        let _ = self.limiter_keys.remove_label_values(&[route]);
        if let Some(form) = form {
            self.forget_places(route, form, None);
            let _ = self.mismatches.remove_label_values(&[route, OTHER, OTHER]);
        }
    }

    /// Forgets the places of an older form that the newer one, if there is one, does not have.
    pub(super) fn forget_places(&self, route: &str, older: &CompiledForm, newer: Option<&CompiledForm>) {
        let kept: HashSet<_> = newer.into_iter().flat_map(CompiledForm::places).collect();
        for (pointer, keyword) in older.places().iter().filter(|place| !kept.contains(place)) {
            let _ = self.mismatches.remove_label_values(&[route, pointer, keyword]);
        }
    }
}

pub(super) fn register<C: prometheus::core::Collector + Clone + 'static>(
    registry: &Registry,
    collector: Result<C, prometheus::Error>,
) -> Result<C, prometheus::Error> {
    let collector = collector?;
    registry.register(Box::new(collector.clone()))?;
    Ok(collector)
}
