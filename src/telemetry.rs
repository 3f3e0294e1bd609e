//! What the operator sees: one event is one access line and one count. Reasons go no further out.
//!
//! Label values come from config and closed enums only (P12), and every counter exists at zero from the start, so that an
//! alert on a rate works the first time something happens; of many routes ([`crate::gateway::FEW`]) those that alerts wait for.

mod access;
mod families;
mod label;
mod log;
mod meters;
mod possible;
mod servers;
mod shared;
mod tls;
mod trace;

use access::Access;
pub use access::Sink;
pub use families::RouteMeters;
pub use label::{reason_label, reasons, reload_label, spot_label};
pub use log::Log;
pub use meters::{Meters, Telemetry};
pub use servers::render as render_servers;
pub use shared::{StoreAsk, StoreError, StoreMeters};

use crate::every::every;
use crate::form::Mismatch;
use crate::gateway::{Code, Door, Ids, Method, Outcome, ReplayState, Trace, UpstreamResult};
use crate::reason::Reason;
use std::net::IpAddr;
use std::time::{Duration, Instant, SystemTime};

/// Everything there is to say about one request. Never a value from a body, a query or a secret.
#[derive(Debug)]
pub struct Record<'r> {
    /// The route's name, or that of one of the gateway's own addresses; `_stray` where there is none.
    pub route: &'r str,
    /// By which door it came in.
    pub door: Door,
    /// The method, or `Other`.
    pub method: Method,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it was refused.
    pub reason: Option<Reason>,
    /// Where in the form, for a form mismatch.
    pub mismatch: Option<&'r Mismatch>,
    /// Of a GET-Action.
    pub attempt: Option<&'r AttemptRecord>,
    /// Status sent, 0 when nothing could be sent.
    pub status: u16,
    /// Body bytes read from the client.
    pub bytes_in: usize,
    /// Body bytes sent to the client.
    pub bytes_out: usize,
    /// From the end of the head to the end of the answer.
    pub took: Duration,
    /// What the upstream came to.
    pub upstream: Option<UpstreamRecord>,
    /// What the records said of its key, where it had one.
    pub replay: Option<ReplayState>,
    /// Who asked.
    pub client: IpAddr,
    /// The name of the token that it brought, where that opens the route.
    pub token: Option<&'r str>,
    /// `GPT-Actor`, as claimed; escaped and capped when written.
    pub actor: Option<&'r [u8]>,
    /// Request and trace id.
    pub ids: &'r Ids,
}

impl Record<'_> {
    /// When its head had been read; asked once the answer has been sent.
    fn time(&self) -> SystemTime {
        let now = SystemTime::now();
        now.checked_sub(self.took).unwrap_or(now)
    }
}

/// One GET-Action. Never a value of its query (U-19).
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    /// What the client was told.
    pub code: Code,
    /// The key's hash, and the members that were named.
    pub trace: Trace,
}

/// One exchange.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamRecord {
    /// What it came to.
    pub result: UpstreamResult,
    /// Its status, where it had one.
    pub status: Option<u16>,
    /// When the connect began.
    pub began: Instant,
    /// From the connect to the end of the answer.
    pub took: Duration,
}

/// What a turn of reading the config came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReloadResult {
    /// A new generation is served.
    Published,
    /// The same one.
    Unchanged,
    /// The old one goes on: the files are wrong.
    Refused,
}

impl ReloadResult {
    every![Published, Unchanged, Refused];
}

/// What a handshake came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handshake {
    /// In full.
    Done,
    /// From a ticket of an earlier one.
    Resumed,
    /// No version, suite or protocol that both sides have.
    Incompatible,
    /// The client went away with an alert: mostly over the certificate.
    Rejected,
    /// Not TLS, or against its rules.
    Malformed,
    /// HTTP in the clear.
    Clear,
    /// Not done in time.
    Deadline,
    /// The client left in the middle.
    Cut,
}

impl Handshake {
    every![Done, Resumed, Incompatible, Rejected, Malformed, Clear, Deadline, Cut];
}

/// The route label of requests that reach no route.
pub const STRAY: &str = "_stray";
