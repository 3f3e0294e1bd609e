//! The series of a store that several instances share. They are there only where there is one.

use super::Telemetry;
use super::label::{store_ask_label, store_error_label};
use crate::every::every;
use prometheus::core::Collector;
use prometheus::{Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, Opts};

/// What a shared store is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreAsk {
    /// The record of a key.
    Find,
    /// To begin an act.
    Begin,
    /// To record how it ended.
    Finish,
    /// The record of a receipt.
    Receipt,
    /// To take an act of its rates.
    Take,
    /// To count a refused act.
    Note,
}

/// Why a shared store did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreError {
    /// Not in time.
    Timeout,
    /// The connection failed.
    Connection,
    /// The server said no.
    Refused,
    /// It was known to be down, and was not asked.
    Down,
}

impl StoreAsk {
    every![Find, Begin, Finish, Receipt, Take, Note];
}

impl StoreError {
    every![Timeout, Connection, Refused, Down];
}

/// Counters by one label.
#[derive(Debug, Clone)]
pub struct Each<const N: usize> {
    family: IntCounterVec,
    each: [IntCounter; N],
}

/// The series of a shared store.
#[derive(Debug, Clone)]
pub struct StoreMeters {
    /// `formgate_store_up`: 1 while it can be used.
    pub up: IntGauge,
    /// `formgate_store_requests_total{ask}`
    pub requests: Each<{ StoreAsk::ALL.len() }>,
    /// `formgate_store_errors_total{kind}`
    pub errors: Each<{ StoreError::ALL.len() }>,
    /// `formgate_store_losses_total`: found without the data that it had.
    pub losses: IntCounter,
    /// `formgate_store_ends_dropped_total`: of acts, never recorded.
    pub ends_dropped: IntCounter,
    /// `formgate_store_seconds`: of what was asked, answered or not.
    pub seconds: Histogram,
}

/// From a round trip on one machine to the longest timeout.
const SECONDS: [f64; 9] = [0.0001, 0.0002, 0.0005, 0.001, 0.0025, 0.01, 0.05, 0.25, 1.0];

impl StoreMeters {
    /// Not shown yet.
    pub fn new() -> Result<Self, prometheus::Error> {
        let seconds = HistogramOpts::new(
            "formgate_store_seconds",
            "Time of questions to the shared store, answered or not.",
        );
        Ok(Self {
            up: IntGauge::new("formgate_store_up", "1 while the shared store can be used.")?,
            requests: Each::new(
                Opts::new("formgate_store_requests_total", "Questions to the shared store."),
                "ask",
                StoreAsk::ALL.map(store_ask_label),
            )?,
            errors: Each::new(
                Opts::new("formgate_store_errors_total", "Questions to the shared store without an answer."),
                "kind",
                StoreError::ALL.map(store_error_label),
            )?,
            losses: IntCounter::new(
                "formgate_store_losses_total",
                "Times that the shared store was found without the data that it had.",
            )?,
            ends_dropped: IntCounter::new(
                "formgate_store_ends_dropped_total",
                "Ends of acts that the shared store did not take: after their lease they are read as unknown.",
            )?,
            seconds: Histogram::with_opts(seconds.buckets(SECONDS.to_vec()))?,
        })
    }
}

impl<const N: usize> Each<N> {
    fn new(opts: Opts, label: &str, values: [&'static str; N]) -> Result<Self, prometheus::Error> {
        let family = IntCounterVec::new(opts, &[label])?;
        let each = values.map(|value| family.with_label_values(&[value]));
        Ok(Self { family, each })
    }
}

impl Each<{ StoreAsk::ALL.len() }> {
    /// That of one question.
    pub fn at(&self, ask: StoreAsk) -> &IntCounter {
        &self.each[ask as usize]
    }
}

impl Each<{ StoreError::ALL.len() }> {
    /// That of one kind.
    pub fn at(&self, error: StoreError) -> &IntCounter {
        &self.each[error as usize]
    }
}

impl Telemetry {
    /// From now on shown with the others.
    pub fn show_store(&self, meters: &StoreMeters) -> Result<(), prometheus::Error> {
        let StoreMeters { up, requests, errors, losses, ends_dropped, seconds } = meters.clone();
        let all: [Box<dyn Collector>; 6] = [
            Box::new(up),
            Box::new(requests.family),
            Box::new(errors.family),
            Box::new(losses),
            Box::new(ends_dropped),
            Box::new(seconds),
        ];
        all.into_iter().try_for_each(|collector| self.registry.register(collector))
    }
}
