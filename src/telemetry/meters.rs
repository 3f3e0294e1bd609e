//! The series, created once per route so that a request only adds.

use super::label::{
    method_label, outcome_label, own_label, reason_label, reload_label, replay_label, result_label,
    route_reasons, stray_reasons,
};
use super::possible::{can_be_opened, can_happen, can_happen_at_own};
use super::tls::Tls;
use super::trace::Traces;
use super::{Access, Handshake, Record, ReloadResult, STRAY, Sink};
use crate::config::Collector;
use crate::gateway::{Gateway, Limits, Method, Outcome, Own, ReplayState, Route, Spot, UpstreamResult};
use crate::reason::Reason;
use foldhash::fast::RandomState;
use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
    Opts, Registry, TextEncoder,
};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// From what an arrival costs to what an upstream may take.
const SECONDS: [f64; 12] = [0.0001, 0.0005, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 40.0];
/// Label of the places in a form beyond the first so many, and of those that have no one place.
const OTHER: &str = "_other";
const BYTES: [f64; 8] = [64.0, 256.0, 1024.0, 4096.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0];

/// All series of the process, and the access log.
#[derive(Debug)]
pub struct Telemetry {
    pub(super) registry: Registry,
    families: Families,
    reloads: IntCounterVec,
    snapshot_info: IntGaugeVec,
    snapshot_timestamp: Gauge,
    /// `formgate_inflight_body_bytes`; the budget sets it.
    pub inflight_body_bytes: IntGauge,
    /// `formgate_inflight_body_bytes_limit`: `inflight_bodies`.
    pub inflight_body_bytes_limit: IntGauge,
    /// `formgate_config_refused`: 1 while the newest files are refused.
    pub config_refused: IntGauge,
    /// `formgate_records`; set when it is asked for.
    pub records: IntGauge,
    /// `formgate_records_down`: 1 while the records cannot be reached; set when it is asked for.
    pub records_down: IntGauge,
    /// `formgate_connections`; set when it is asked for.
    pub connections: IntGauge,
    /// `formgate_connections_refused_total`: closed at once, over `max_connections`.
    pub connections_refused: IntCounter,
    tls: Tls,
    stray: RouteMeters,
    published: Mutex<HashSet<String>>,
    /// Labels of the places in forms.
    places: Mutex<HashSet<[String; 3]>>,
    access: Access,
    traces: Traces,
}

/// The families that have a series for each route.
#[derive(Debug)]
struct Families {
    requests: IntCounterVec,
    refusals: IntCounterVec,
    request_seconds: HistogramVec,
    upstream_seconds: HistogramVec,
    upstream_results: IntCounterVec,
    body_bytes: HistogramVec,
    replays: IntCounterVec,
    mismatches: IntCounterVec,
    limiter_keys: IntGaugeVec,
}

/// What one generation counts on, by route index.
#[derive(Debug)]
pub struct Meters {
    routes: Vec<RouteMeters>,
    own: HashMap<Own, RouteMeters>,
    limits: Vec<(String, Limits)>,
}

/// The series of one route.
#[derive(Debug)]
pub struct RouteMeters {
    /// By method and outcome; none where the pair cannot happen.
    requests: [[Option<IntCounter>; Outcome::ALL.len()]; Method::ALL.len()],
    refusals: HashMap<Reason, IntCounter, RandomState>,
    /// By outcome.
    seconds: [Option<Histogram>; Outcome::ALL.len()],
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

impl Telemetry {
    /// Registers every family. `sink` is where access lines go, `collector` where traces do.
    pub fn new(sink: Sink, collector: Option<Collector>) -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let families = Families::new(&registry)?;
        let counter = |name: &str, help: &str| register(&registry, IntCounter::new(name, help));
        let gauge = |name: &str, help: &str| register(&registry, IntGauge::new(name, help));
        let reloads = Opts::new("formgate_reloads_total", "Turns of reading the config.");
        let reloads = register(&registry, IntCounterVec::new(reloads, &["result"]))?;
        for result in ReloadResult::ALL {
            reloads.with_label_values(&[reload_label(result)]);
        }
        let info = Opts::new("formgate_snapshot_info", "The generation being served.");
        let spans =
            Opts::new("formgate_trace_spans_total", "Spans of recorded requests, by what became of them.");
        let spans = register(&registry, IntCounterVec::new(spans, &["result"]))?;
        let lost = counter("formgate_access_lines_lost_total", "Access lines that could not be written.")?;
        Ok(Self {
            reloads,
            snapshot_info: register(&registry, IntGaugeVec::new(info, &["digest"]))?,
            snapshot_timestamp: register(
                &registry,
                Gauge::new(
                    "formgate_snapshot_timestamp_seconds",
                    "When the generation being served was published.",
                ),
            )?,
            inflight_body_bytes: gauge("formgate_inflight_body_bytes", "Memory held by bodies in flight.")?,
            inflight_body_bytes_limit: gauge(
                "formgate_inflight_body_bytes_limit",
                "Memory that bodies in flight may hold.",
            )?,
            config_refused: gauge(
                "formgate_config_refused",
                "1 while the newest files are refused and an older generation is served.",
            )?,
            records: gauge("formgate_records", "Records of acts that must not be done twice.")?,
            records_down: gauge("formgate_records_down", "1 while the records cannot be reached.")?,
            connections: gauge("formgate_connections", "Client connections open.")?,
            connections_refused: counter(
                "formgate_connections_refused_total",
                "Connections closed at once because max_connections were open.",
            )?,
            tls: Tls::new(&registry)?,
            stray: families.stray(),
            published: Mutex::default(),
            places: Mutex::default(),
            access: Access::new(sink, lost),
            traces: Traces::new(collector, &spans),
            families,
            registry,
        })
    }

    /// The series of a generation, all at zero or where they stood.
    pub fn meters(&self, gateway: &Gateway) -> Meters {
        Meters {
            routes: gateway.routes().map(|route| self.families.route(route)).collect(),
            own: gateway.own().map(|own| (own, self.families.own(own))).collect(),
            limits: gateway.limits().map(|(name, limits)| (name.to_owned(), limits.clone())).collect(),
        }
    }

    /// A generation was published: says so, and forgets the series of routes that are gone.
    pub fn publish(&self, gateway: &Gateway) {
        self.snapshot_info.reset();
        self.snapshot_info.with_label_values(&[gateway.digest.as_str()]).set(1);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.snapshot_timestamp.set(now.as_secs_f64());
        self.tls.publish(gateway);
        let names = gateway.limits().map(|(name, _)| name.to_owned());
        let current: HashSet<String> =
            names.chain(gateway.own().map(|own| own_label(own).to_owned())).collect();
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        for gone in published.difference(&current) {
            self.families.forget(gone);
        }
        *published = current;
        let places = gateway.routes().flat_map(|route| {
            let other = (OTHER.to_owned(), OTHER.to_owned());
            let all = route.form.places().iter().cloned().chain([other]);
            all.map(|(pointer, keyword)| [route.name.clone(), pointer, keyword])
        });
        let places: HashSet<[String; 3]> = places.collect();
        let mut known = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        for gone in known.difference(&places) {
            // Whatever is not there was never created.
            let _ = self.families.mismatches.remove_label_values(gone);
        }
        *known = places;
    }

    /// A handshake has come to its end.
    pub fn count_handshake(&self, handshake: Handshake) {
        self.tls.count(handshake);
    }

    /// A turn of reading the config is over.
    pub fn count_reload(&self, result: ReloadResult) {
        self.reloads.with_label_values(&[reload_label(result)]).inc();
    }

    /// One event: one line, one count.
    pub fn record(&self, meters: Option<&RouteMeters>, record: &Record<'_>) {
        let meters = meters.unwrap_or(&self.stray);
        if let Some(counter) = &meters.requests[record.method as usize][record.outcome as usize] {
            counter.inc();
        } else {
            // A pair we had not foreseen is worth more than a series that existed from the start.
            self.families
                .requests
                .with_label_values(&[
                    record.route,
                    method_label(record.method),
                    outcome_label(record.outcome),
                ])
                .inc();
        }
        if let Some(reason) = record.reason {
            match meters.refusals.get(&reason) {
                Some(counter) => counter.inc(),
                None => self.families.refusals.with_label_values(&[record.route, reason_label(reason)]).inc(),
            }
        }
        if let Some(mismatch) = record.mismatch
            && let Some(counter) =
                meters.mismatches.get(&mismatch.schema_pointer).or(meters.mismatch.as_ref())
        {
            counter.inc();
        }
        if let Some(histogram) = &meters.seconds[record.outcome as usize] {
            histogram.observe(record.took.as_secs_f64());
        }
        if let Some(upstream) = record.upstream {
            meters.upstream_seconds.observe(upstream.took.as_secs_f64());
            if let Some(counter) = meters.upstream_results.get(upstream.result as usize) {
                counter.inc();
            }
        }
        if record.method == Method::Post {
            #[expect(clippy::cast_precision_loss, reason = "bodies are far below 2^52 bytes")]
            meters.body_bytes.observe(record.bytes_in as f64);
        }
        if let Some(state) = record.replay
            && let Some(counter) = meters.replays.get(state as usize)
        {
            counter.inc();
        }
        self.access.write(record);
        if let Some(recorded) = record.ids.recorded {
            self.traces.offer(record, recorded);
        }
    }

    /// The text format, version 0.0.4.
    pub fn render(&self, meters: &Meters) -> Vec<u8> {
        for (route, limits) in &meters.limits {
            let clients: usize = limits.each().map(|limiter| limiter.clients()).sum();
            let clients = i64::try_from(clients).unwrap_or(i64::MAX);
            self.families.limiter_keys.with_label_values(&[route.as_str()]).set(clients);
        }
        let mut text = Vec::new();
        if let Err(error) = TextEncoder::new().encode(&self.registry.gather(), &mut text) {
            tracing::error!(%error, "metrics could not be written");
        }
        text
    }

    /// Opens the file of the access log anew, for whoever rotates it.
    pub fn reopen_access_log(&self) {
        self.access.reopen();
    }

    /// Writes out what is still waiting; for a stop.
    pub fn flush(&self, within: Duration) {
        self.access.flush(within);
        self.traces.flush(within);
    }
}

impl Families {
    fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
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

    fn route(&self, route: &Route) -> RouteMeters {
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
            ..self.build(name, can_happen, route_reasons(), &UpstreamResult::ALL)
        }
    }

    fn own(&self, own: Own) -> RouteMeters {
        self.build(own_label(own), can_happen_at_own, route_reasons(), &[])
    }

    fn stray(&self) -> RouteMeters {
        let can_happen = |_, outcome| matches!(outcome, Outcome::Stray | Outcome::Malformed);
        self.build(STRAY, can_happen, stray_reasons(), &[])
    }

    fn build(
        &self,
        route: &str,
        can_happen: impl Fn(Method, Outcome) -> bool,
        reasons: impl Iterator<Item = Reason>,
        results: &[UpstreamResult],
    ) -> RouteMeters {
        let request = |method, outcome| {
            let labels = [route, method_label(method), outcome_label(outcome)];
            can_happen(method, outcome).then(|| self.requests.with_label_values(&labels))
        };
        let seconds = |outcome| {
            let happens = Method::ALL.into_iter().any(|method| can_happen(method, outcome));
            let labels = [route, outcome_label(outcome)];
            happens.then(|| self.request_seconds.with_label_values(&labels))
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

    fn forget(&self, route: &str) {
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
    }
}

impl Meters {
    /// The series of what is at this spot.
    pub fn at(&self, spot: Spot) -> Option<&RouteMeters> {
        match spot {
            Spot::Route(index) => self.routes.get(index),
            Spot::Own(own) => self.own.get(&own),
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
