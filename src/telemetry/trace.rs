//! Traces: a span for each recorded request and one for its exchange with the upstream, sent to a collector in batches
//! by one thread, never waited for by a worker.
//!
//! Why no OpenTelemetry crate: its exporters bring an HTTP client, tonic and a second pool of threads for what is one
//! POST of a few bounded messages. `message` writes those in protobuf's wire format, `post` sends them. TLS is the
//! collector's: one on this machine or beside this pod takes them from loopback.
//!
//! What is not recorded costs one comparison. What is recorded costs the copy of what its access line has; when the
//! collector is slow or gone the queue stops growing and spans are counted as lost.

mod message;
mod post;

use super::Record;
use super::label::{SpanResult, span_label};
use crate::config::Collector;
use crate::gateway::{Door, Hex, Method, Outcome, Recorded, ReplayState, UpstreamResult};
use crate::reason::Reason;
use post::Answer;
use prometheus::{IntCounter, IntCounterVec};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A recorded request, with what its spans say of it. Never a value.
#[derive(Debug)]
struct Trace {
    id: Hex<32>,
    recorded: Recorded,
    request: Hex<32>,
    /// When its head had been read.
    time: SystemTime,
    took: Duration,
    route: String,
    door: Door,
    method: Method,
    outcome: Outcome,
    reason: Option<Reason>,
    /// Pointer into the form, and keyword.
    mismatch: Option<(String, String)>,
    status: u16,
    bytes_in: usize,
    replay: Option<ReplayState>,
    upstream: Option<Exchange>,
}

/// The span below it.
#[derive(Debug)]
struct Exchange {
    span: Hex<16>,
    /// From the request's own time on.
    after: Duration,
    took: Duration,
    result: UpstreamResult,
    status: Option<u16>,
}

impl Trace {
    fn of(record: &Record<'_>, recorded: Recorded) -> Self {
        let began = Instant::now().checked_sub(record.took);
        Self {
            id: record.ids.trace,
            recorded,
            request: record.ids.request,
            time: record.time(),
            took: record.took,
            route: record.route.to_owned(),
            door: record.door,
            method: record.method,
            outcome: record.outcome,
            reason: record.reason,
            mismatch: record.mismatch.map(|found| (found.schema_pointer.clone(), found.keyword.clone())),
            status: record.status,
            bytes_in: record.bytes_in,
            replay: record.replay,
            upstream: record.upstream.map(|upstream| Exchange {
                span: record.ids.span,
                after: began.map_or(Duration::ZERO, |began| upstream.began.saturating_duration_since(began)),
                took: upstream.took,
                result: upstream.result,
                status: upstream.status,
            }),
        }
    }

    fn spans(&self) -> u64 {
        1 + u64::from(self.upstream.is_some())
    }
}

/// Requests that may wait.
const WAITING: usize = 4096;
/// Requests in one message.
const BATCH: usize = 256;
/// How long one may wait before it is sent.
const PACE: Duration = Duration::from_secs(1);
/// How often a message is sent to a collector that cannot take it now.
const TRIES: u32 = 4;
/// How long one POST may take, from the look-up of the name to the end of the answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same while stopping.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// The writing end.
#[derive(Debug)]
pub(super) struct Traces {
    queue: Option<Arc<Queue>>,
    lost: IntCounter,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Trace>,
    /// A message is on its way.
    sending: bool,
    /// The process is about to end: nothing is put off.
    closing: bool,
}

/// What becomes of spans, each counted from the start.
#[derive(Debug)]
struct Counts {
    sent: IntCounter,
    refused: IntCounter,
    unreachable: IntCounter,
}

impl Traces {
    pub(super) fn new(collector: Option<Collector>, spans: &IntCounterVec) -> Self {
        let counter = |result| spans.with_label_values(&[span_label(result)]);
        let lost = counter(SpanResult::QueueFull);
        let counts = Counts {
            sent: counter(SpanResult::Sent),
            refused: counter(SpanResult::Refused),
            unreachable: counter(SpanResult::Unreachable),
        };
        let Some(collector) = collector else { return Self { queue: None, lost } };
        let queue = Arc::new(Queue::default());
        let shared = Arc::clone(&queue);
        let thread = std::thread::Builder::new().name("traces".into());
        if let Err(error) = thread.spawn(move || shared.drain(&collector, &counts)) {
            tracing::error!(%error, "no thread for traces: spans are lost");
        }
        Self { queue: Some(queue), lost }
    }

    pub(super) fn offer(&self, record: &Record<'_>, recorded: Recorded) {
        // Without a collector they were asked for by newer files, which a restart takes over whole.
        let Some(queue) = &self.queue else { return };
        let trace = Trace::of(record, recorded);
        let mut state = queue.lock();
        if state.waiting.len() >= WAITING {
            drop(state);
            self.lost.inc_by(trace.spans());
            return;
        }
        state.waiting.push(trace);
    }

    pub(super) fn flush(&self, within: Duration) {
        let Some(queue) = &self.queue else { return };
        let mut state = queue.lock();
        state.closing = true;
        queue.changed.notify_all();
        let unsent = |state: &mut State| state.sending || !state.waiting.is_empty();
        let waited = queue.changed.wait_timeout_while(state, within, unsent);
        let (_state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            tracing::warn!("stopped with spans that the collector did not take");
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, unless the process is about to end.
    fn wait(&self, time: Duration) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.lock(), time, |state| !state.closing);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn drain(&self, collector: &Collector, counts: &Counts) {
        let resource = message::Resource::of(&collector.service);
        let mut heard = true;
        loop {
            let mut state = self.wait(PACE);
            while state.waiting.is_empty() {
                state = self.changed.wait_timeout(state, PACE).unwrap_or_else(PoisonError::into_inner).0;
            }
            let rest = state.waiting.len().min(BATCH);
            let batch: Vec<Trace> = state.waiting.drain(..rest).collect();
            state.sending = true;
            drop(state);
            self.send(collector, counts, &message::request(&resource, &batch), &batch, &mut heard);
            self.lock().sending = false;
            self.changed.notify_all();
        }
    }

    /// One message, until it is taken or there is no use in trying. `heard`: whether the last one was taken.
    fn send(
        &self,
        collector: &Collector,
        counts: &Counts,
        message: &[u8],
        batch: &[Trace],
        heard: &mut bool,
    ) {
        let spans: u64 = batch.iter().map(Trace::spans).sum();
        for again in 1.. {
            let closing = self.lock().closing;
            let patience = if closing { LAST_PATIENCE } else { PATIENCE };
            match post::post(collector, message, Instant::now() + patience) {
                Ok(Answer::Taken { refused }) => {
                    let refused = refused.min(spans);
                    counts.sent.inc_by(spans - refused);
                    counts.refused.inc_by(refused);
                    if !*heard {
                        tracing::info!(host = collector.host, "traces: taken again");
                    }
                    *heard = true;
                    return;
                }
                Ok(Answer::Refused(status)) => {
                    if *heard {
                        tracing::warn!(host = collector.host, status, "traces: the collector refuses them");
                    }
                    *heard = false;
                    return counts.refused.inc_by(spans);
                }
                Ok(Answer::Later(status)) if *heard => {
                    tracing::warn!(
                        host = collector.host,
                        status,
                        "traces: the collector cannot take them now"
                    );
                }
                Err(error) if *heard => {
                    tracing::warn!(host = collector.host, %error, "traces: the collector cannot be reached");
                }
                Ok(Answer::Later(_)) | Err(_) => {}
            }
            // Said once for each time that it goes away.
            *heard = false;
            if closing || again >= TRIES {
                return counts.unreachable.inc_by(spans);
            }
            drop(self.wait(Duration::from_secs(1 << (again - 1))));
        }
    }
}
