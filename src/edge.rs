//! The wire. The only folder that says `pingora`: its streams, worker threads, transport connector and
//! HTTP/2. HTTP/1 is read here, on `httparse`, because a gate must know exactly which bytes it took.
//!
//! Why not pingora's own HTTP/1 session: it repairs what it reads (it escapes bad targets, takes bare
//! LF, folds equal Content-Lengths, drops a Content-Length beside Transfer-Encoding) before we could
//! look, and bounds reads one by one and not in all.
//!
//! One request goes: `connection` (bytes) ▶ `head` (strict) ▶ `request` (decide) ▶ `act` ▶ `exchange` (the
//! upstream, once) ▶ `connection` (the answer).

mod act;
mod activation;
mod admin;
mod alarm;
mod answer;
mod app;
mod attempt;
mod budget;
mod chunked;
mod clock;
mod connection;
mod dial;
mod exchange;
mod fleet;
mod frames;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod hand_over;
mod head;
mod health;
mod http2;
mod listen;
mod log;
mod pool;
mod replay;
mod request;
mod resolve;
mod run;
mod socket;
mod supervisor;
mod tls;
mod upkeep;
mod watch;

pub use run::{ServeError, serve};

use crate::gateway::Due;
use crate::live::{Live, Snapshot};
use crate::reason::{Reason, Rejection};
use crate::store::{Rates, Records};
use crate::telemetry::{Log, Telemetry};
use budget::Budget;
use connection::HeadBounds;
use pingora_core::connectors::TransportConnector;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::task::AbortHandle;

/// Which events are shown unless `RUST_LOG` says otherwise. Pingora writes what it read from a client
/// into its lines: of those only errors are shown, and none about a hand-over, where waiting is no error.
pub const LOG_FILTER: &str =
    "info,pingora_core=error,pingora_core::apps=off,pingora_core::server::transfer_fd=off,h2=error";

/// What every connection shares.
struct App {
    live: Arc<Live>,
    telemetry: Arc<Telemetry>,
    log: Log,
    /// What ends a change of the log, where one is for a time.
    log_timer: Mutex<Option<AbortHandle>>,
    budget: Arc<Budget>,
    records: Records,
    /// Where acts are counted together with other instances.
    rates: Option<Arc<Rates>>,
    connector: TransportConnector,
    bounds: HeadBounds,
    workers: usize,
    /// What bodies to explain may hold; an operator's do not take from clients'.
    admin_budget: Arc<Budget>,
    max_connections: usize,
    connections: AtomicUsize,
    admin_connections: AtomicUsize,
    in_flight: AtomicUsize,
    phase: AtomicU8,
}

/// How far the process is from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Serving,
    /// No new connections; those that are open may ask once more.
    Leaving,
    /// What is in flight is finished, and nothing else.
    Draining,
}

/// What is not a request that could be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stray {
    /// Malformed, or ambiguous.
    Framing,
    /// Over the limit of bytes or of fields.
    HeadTooLarge,
    /// Not complete in time.
    Deadline,
    /// The client left in the middle.
    Cut,
    /// `Expect` for something else than 100.
    Expectation,
}

impl Stray {
    fn reason(self) -> Reason {
        match self {
            Self::Framing | Self::Cut => Reason::Framing,
            Self::HeadTooLarge => Reason::HeadTooLarge,
            Self::Deadline => Reason::Deadline,
            Self::Expectation => Reason::Expectation,
        }
    }
}

impl App {
    fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::SeqCst);
    }

    /// Every answer is the last of its connection.
    fn is_leaving(&self) -> bool {
        self.phase.load(Ordering::Relaxed) >= Phase::Leaving as u8
    }

    /// No act is begun any more.
    fn is_draining(&self) -> bool {
        self.phase.load(Ordering::Relaxed) >= Phase::Draining as u8
    }

    /// Takes what an act is still due of elsewhere, before anything else of it is read or done.
    async fn pay(&self, due: Option<Due<'_>>) -> Result<(), Rejection> {
        match (due, &self.rates) {
            (Some(due), Some(rates)) => Box::pin(rates.pay(&due)).await,
            (Some(_) | None, None) | (None, Some(_)) => Ok(()),
        }
    }

    /// One snapshot for one request (P11).
    fn snapshot(&self) -> Arc<Snapshot> {
        self.live.snapshot()
    }
}

/// Counts something while it lives.
struct Counted<'c>(&'c AtomicUsize);

impl<'c> Counted<'c> {
    fn one(counter: &'c AtomicUsize) -> (Self, usize) {
        let before = counter.fetch_add(1, Ordering::SeqCst);
        (Self(counter), before + 1)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
