//! Why a request was not acted on ([`Reason`], ours) and what the client sees ([`Face`], theirs),
//! with the one table between them.

use crate::json::SyntaxKind;
use std::time::Duration;

/// Why a request was refused. Counted and logged, never sent: no `Display`, no `Serialize`; only
/// `telemetry::label` gives it a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The address has a query on an act.
    Query,
    /// Content-Type missing, repeated or not JSON in UTF-8.
    MediaType,
    /// A content coding other than identity.
    ContentCoding,
    /// Longer than the route's limit, as declared or as read.
    TooLarge,
    /// Not one strict JSON value.
    Syntax(SyntaxKind),
    /// A number that the route's backend would not read as written (`numbers: safe_integers`).
    NumberUnsafe,
    /// The form does not admit the value.
    Form,
    /// The query of a GET-Action cannot be read, or not in one way.
    Parameters,
    /// What looks like a secret in the query of a GET-Action.
    Secret,
    /// A GET-Action opened by who does not mean to act: prefetchers, crawlers, unfurlers.
    Bystander,
    /// The upstream said that it refuses (400, 404, 409, 410, 412, 422).
    Upstream,
    /// More arrivals, acts or refused acts than the client has.
    Throttled,
    /// `If-Match` names a form that is no longer current.
    Stale,
    /// The address is not for everyone, and the act brings no token that opens it.
    Unauthorized,
    /// `Idempotency-Key`, or the key of a GET-Action, is missing where one is required, or is not one key.
    IdempotencyKey,
    /// The key was used for another act.
    KeyConflict,
    /// The act that the key was first used for is still under way.
    InProgress,
    /// No room for the record of a new key.
    RecordsFull,
    /// No room for the record of a new key of this client: it has its share of the records.
    RecordsShare,
    /// The records cannot be reached: what must be done once is not begun.
    RecordsDown,
    /// Every server of the upstream is at its `max_in_flight`.
    UpstreamFull,
    /// The shared rates cannot be reached, and the config says that then nothing is done.
    LimitsDown,
    /// No memory left for bodies in flight.
    Budget,
    /// The gateway is stopping.
    Draining,
    /// The head or the body did not arrive in time.
    Deadline,
    /// The client went away, or broke the framing, inside the body.
    BodyBroken,
    /// The head is malformed, or how long the body is can be read in two ways.
    Framing,
    /// The head is larger than allowed.
    HeadTooLarge,
    /// `Expect` other than `100-continue`.
    Expectation,
    /// No such address.
    NotFound,
    /// No such method here.
    Method,
}

/// What the client sees instead of an answer. Says nothing about why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Face {
    /// 204, the one refusal.
    Refused,
    /// 400, close.
    BadRequest,
    /// 401 with `WWW-Authenticate`.
    Unauthorized,
    /// 404.
    NotFound,
    /// 405 with `Allow`.
    MethodNotAllowed(Allow),
    /// 408, close.
    RequestTimeout,
    /// 409 with `Retry-After` in whole seconds.
    Conflict(u32),
    /// 412.
    PreconditionFailed,
    /// 417.
    ExpectationFailed,
    /// 429 with `Retry-After` in whole seconds.
    TooManyRequests(u32),
    /// 431, close.
    HeadTooLarge,
    /// 500, close: something unforeseen inside.
    Internal,
    /// 502.
    BadGateway,
    /// 503 with `Retry-After` in whole seconds.
    Unavailable(u32),
    /// 504.
    GatewayTimeout,
}

/// Which methods there are at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Allow {
    /// A route's: arrivals and acts.
    #[default]
    Route,
    /// A document's: it is only read.
    Sheet,
    /// A desk's: it is only posted to.
    Desk,
}

impl Allow {
    /// As in the field `Allow` (RFC 9110, 10.2.1).
    pub fn methods(self) -> &'static str {
        match self {
            Self::Route => "GET, HEAD, POST, OPTIONS",
            Self::Sheet => "GET, HEAD, OPTIONS",
            Self::Desk => "POST, OPTIONS",
        }
    }
}

/// A reason on its way inward, with what the face that goes outward needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejection {
    /// Why; ours.
    pub reason: Reason,
    /// How long until trying again can help, where that is known.
    pub retry_after: Option<Duration>,
    /// Which methods there would have been.
    pub allow: Allow,
}

impl From<Reason> for Rejection {
    fn from(reason: Reason) -> Self {
        Self { reason, retry_after: None, allow: Allow::Route }
    }
}

impl Rejection {
    /// Nothing left of a rate, for this long.
    pub fn throttled(wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..Reason::Throttled.into() }
    }

    /// No such method here, but these.
    pub fn method(allow: Allow) -> Self {
        Self { allow, ..Reason::Method.into() }
    }

    /// The table between why and what is seen.
    pub fn face(&self) -> Face {
        match self.reason {
            Reason::Query
            | Reason::MediaType
            | Reason::ContentCoding
            | Reason::TooLarge
            | Reason::Syntax(_)
            | Reason::NumberUnsafe
            | Reason::Form
            | Reason::KeyConflict
            | Reason::Parameters
            | Reason::Secret
            | Reason::Bystander
            | Reason::Upstream => Face::Refused,
            Reason::Throttled => Face::TooManyRequests(self.retry_seconds()),
            Reason::Stale => Face::PreconditionFailed,
            Reason::Unauthorized => Face::Unauthorized,
            Reason::InProgress => Face::Conflict(self.retry_seconds()),
            Reason::UpstreamFull
            | Reason::Budget
            | Reason::Draining
            | Reason::RecordsFull
            | Reason::RecordsShare
            | Reason::RecordsDown
            | Reason::LimitsDown => Face::Unavailable(self.retry_seconds()),
            Reason::Deadline => Face::RequestTimeout,
            Reason::BodyBroken | Reason::Framing | Reason::IdempotencyKey => Face::BadRequest,
            Reason::HeadTooLarge => Face::HeadTooLarge,
            Reason::Expectation => Face::ExpectationFailed,
            Reason::NotFound => Face::NotFound,
            Reason::Method => Face::MethodNotAllowed(self.allow),
        }
    }

    /// Rounded up, at least one: a client that waits this long is served.
    pub fn retry_seconds(&self) -> u32 {
        let wait = self.retry_after.unwrap_or(Duration::from_secs(1));
        let whole = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        u32::try_from(whole).unwrap_or(u32::MAX).max(1)
    }
}
