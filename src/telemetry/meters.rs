//! The series, created before they are counted on, so that a request only adds; of many routes ([`Gateway::has_few`]) the first request to
//! each creates its own: some 350, of these 250 in histograms, which then come with the first of each outcome.

use super::families::{Families, register};
use super::label::{own_label, reload_label};
use super::tls::Tls;
use super::trace::Traces;
use super::{Access, Handshake, Record, ReloadResult, RouteMeters, Sink};
use crate::config::Collector;
use crate::form::CompiledForm;
use crate::gateway::{Gateway, Limits, Own, Spot};
use prometheus::{
    Encoder, Gauge, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
    /// What went with the last generation, and what has series now: by its name, and the form of each route.
    published: Mutex<[HashMap<String, Option<Arc<CompiledForm>>>; 2]>,
    access: Access,
    traces: Traces,
}

/// What one generation counts on, by route index.
#[derive(Debug)]
pub struct Meters {
    families: Families,
    routes: Vec<OnceLock<RouteMeters>>,
    own: HashMap<Own, RouteMeters>,
    limits: Vec<(String, Limits)>,
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
            access: Access::new(sink, lost),
            traces: Traces::new(collector, &spans),
            families,
            registry,
        })
    }

    /// The series of a generation, all at zero or where they stood; of more than a few routes those that alerts wait for.
    pub fn meters(&self, gateway: &Gateway) -> Meters {
        let few = gateway.has_few();
        let limited = gateway.limits().filter(|(_, limits)| limits.each().next().is_some());
        let meters = |route| {
            if few {
                return self.families.route(route, few).into();
            }
            self.families.watched(route);
            OnceLock::new()
        };
        Meters {
            families: self.families.clone(),
            routes: gateway.routes().map(meters).collect(),
            own: gateway.own().map(|own| (own, self.families.own(own))).collect(),
            limits: limited.map(|(name, limits)| (name.to_owned(), limits.clone())).collect(),
        }
    }

    /// A generation was published: says so, and forgets the series of routes that are gone.
    pub fn publish(&self, gateway: &Gateway) {
        self.snapshot_info.reset();
        self.snapshot_info.with_label_values(&[gateway.digest.as_str()]).set(1);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.snapshot_timestamp.set(now.as_secs_f64());
        self.tls.publish(gateway);
        let routes = gateway.routes().map(|route| (route.name.clone(), Some(Arc::clone(&route.form))));
        let limited = gateway.limits().map(|(name, _)| (name.to_owned(), None));
        let own = gateway.own().map(|own| (own_label(own).to_owned(), None));
        let mut current: HashMap<_, _> = limited.chain(own).collect();
        current.extend(routes);
        for (name, _) in gateway.limits().filter(|(_, limits)| limits.each().next().is_none()) {
            // What it said of rates that are no more.
            if gateway.has_few() {
                self.families.limiter_keys.with_label_values(&[name]).set(0);
            } else {
                let _ = self.families.limiter_keys.remove_label_values(&[name]);
            }
        }
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        // Forgets what of it is gone; whether anything is.
        let goes = |(name, older): &(String, Option<Arc<CompiledForm>>)| match (current.get(name), older) {
            (None, older) => {
                self.families.forget(name, older.as_deref());
                true
            }
            (Some(Some(newer)), Some(older)) if !Arc::ptr_eq(newer, older) => {
                self.families.forget_places(name, older, Some(newer));
                true
            }
            (Some(_), _) => false,
        };
        let [gone, last] = std::mem::take(&mut *published);
        // What went before goes once more: requests that were under way may have counted since.
        for again in gone {
            goes(&again);
        }
        let gone = last.into_iter().filter(goes).collect();
        *published = [gone, current];
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
        meters.count(&self.families, record);
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

impl Meters {
    /// The series of what is at this spot of that generation.
    pub fn at(&self, gateway: &Gateway, spot: Spot) -> Option<&RouteMeters> {
        match spot {
            Spot::Route(index) => {
                let route = || self.families.route(gateway.route(index), false);
                Some(self.routes.get(index)?.get_or_init(route))
            }
            Spot::Own(own) => self.own.get(&own),
        }
    }
}
