//! What the client may see of what the upstream answered (DESIGN 4, "Act"; REQUIREMENTS B-1).
//!
//! 204 means "refused, nothing happened" and only that (P7): an act that was done is told with 200,
//! whatever became of the upstream's words about it.

use super::act::Admitted;
use super::head::Field;
use super::judge::with_document;
use super::reply::{Outcome, Reply};
use crate::every::every;
use crate::media::{is_any_json, is_text};
use crate::reason::{Face, Reason, Rejection};
use bytes::Bytes;
use std::fmt::Write;

/// What holds for the answers of one route's upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsequenceRule {
    /// Bytes of an upstream's body, at most; over it the act is reported with `{}`.
    pub max_response: usize,
    /// A 3xx is how this backend says success (POST-redirect-GET). Never followed.
    pub redirect_is_success: bool,
    /// Text that is not JSON is embedded as `{"text":…}`.
    pub text: bool,
    /// Names of upstream fields that pass to the client, lower case.
    pub pass_fields: Vec<String>,
}

/// What became of an exchange.
#[derive(Debug)]
pub enum Exchange<'a> {
    /// No connection was made; no byte was sent.
    NotSent,
    /// Every server that could take it is at `max_in_flight`; nothing was sent.
    Full,
    /// Something was sent, and no answer came to tell what became of it.
    Unknown,
    /// A final answer.
    Answered {
        /// Its status: 101, or 200 to 599.
        status: u16,
        /// Its fields.
        fields: &'a [Field<'a>],
        /// Its body, as far as it could be had.
        body: Received,
    },
}

/// The body of an upstream's answer.
#[derive(Debug)]
pub enum Received {
    /// All of it.
    Whole(Bytes),
    /// Cut off, or badly framed.
    Broken,
    /// Longer than `max_response`, or than there is memory for.
    TooLarge,
}

/// What an exchange came to, as counted: `formgate_upstream_results_total{result}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpstreamResult {
    /// 2xx with JSON: passed on.
    Json,
    /// 2xx without content.
    Empty,
    /// 2xx with text, embedded.
    Text,
    /// 2xx with something else: `{}`.
    NotJson,
    /// 2xx in a content coding that was not asked for: `{}`.
    Encoded,
    /// 2xx whose body broke off: `{}`.
    Broken,
    /// 2xx over `max_response`: `{}`.
    TooLarge,
    /// 3xx where the route says that this is success.
    Redirected,
    /// The upstream refused the act.
    Refused,
    /// An answer that says that the gateway is set up wrongly: 3xx, 401, 403, 405, … Alert on it.
    Misconfigured,
    /// 408, 425, 429.
    Throttled,
    /// 5xx.
    Failed,
    /// No connection.
    NotSent,
    /// Every server at its `max_in_flight`: nothing was sent.
    Full,
    /// Sent, no answer.
    Unknown,
}

impl UpstreamResult {
    every![
        Json,
        Empty,
        Text,
        NotJson,
        Encoded,
        Broken,
        TooLarge,
        Redirected,
        Refused,
        Misconfigured,
        Throttled,
        Failed,
        NotSent,
        Full,
        Unknown
    ];
}

/// What the client gets, and what is recorded.
#[derive(Debug)]
pub struct Consequence {
    /// To the client.
    pub reply: Reply,
    /// To metrics and log.
    pub outcome: Outcome,
    /// To metrics and log.
    pub result: UpstreamResult,
    /// Set when the client sees a refusal, or when every server was full.
    pub reason: Option<Reason>,
}

impl Consequence {
    pub(super) fn failed(face: Face, outcome: Outcome, result: UpstreamResult) -> Self {
        Self { reply: Reply::of(face), outcome, result, reason: None }
    }

    fn done(body: Bytes, passed: &str, result: UpstreamResult) -> Self {
        let reply = Reply::consequence(body, passed);
        Self { reply, outcome: Outcome::Accepted, result, reason: None }
    }
}

impl Admitted<'_> {
    /// Bytes of the upstream's body that are read, at most.
    pub fn max_response(&self) -> usize {
        self.ticket.route.consequence.max_response
    }

    /// The table.
    pub fn conclude(&self, exchange: Exchange<'_>) -> Consequence {
        let (status, fields, body) = match exchange {
            Exchange::NotSent => {
                let face = Face::Unavailable(1);
                return Consequence::failed(face, Outcome::Unavailable, UpstreamResult::NotSent);
            }
            Exchange::Full => {
                let reason = Reason::UpstreamFull;
                let reply = Reply::of(Rejection::from(reason).face());
                let (outcome, result) = (Outcome::Unavailable, UpstreamResult::Full);
                return Consequence { reply, outcome, result, reason: Some(reason) };
            }
            Exchange::Unknown => {
                let face = Face::GatewayTimeout;
                return Consequence::failed(face, Outcome::Unknown, UpstreamResult::Unknown);
            }
            Exchange::Answered { status, fields, body } => (status, fields, body),
        };
        let rule = &self.ticket.route.consequence;
        match status {
            200..=299 => self.success(fields, body),
            301 | 302 | 303 | 307 | 308 if rule.redirect_is_success => {
                Consequence::done(Bytes::from_static(b"{}"), &self.passed(fields), UpstreamResult::Redirected)
            }
            400 | 404 | 409 | 410 | 412 | 422 => {
                self.ticket.route.limits.note_refused(self.ticket.client);
                let (reason, result) = (Reason::Upstream, UpstreamResult::Refused);
                let reply = Reply::of(Rejection::from(reason).face());
                Consequence { reply, outcome: Outcome::Refused, result, reason: Some(reason) }
            }
            408 | 425 | 429 => Consequence::failed(
                Face::TooManyRequests(retry_after(fields)),
                Outcome::Throttled,
                UpstreamResult::Throttled,
            ),
            503 => Consequence::failed(
                Face::Unavailable(retry_after(fields)),
                Outcome::Failed,
                UpstreamResult::Failed,
            ),
            504 => Consequence::failed(Face::GatewayTimeout, Outcome::Failed, UpstreamResult::Failed),
            500..=599 => Consequence::failed(Face::BadGateway, Outcome::Failed, UpstreamResult::Failed),
            _ => Consequence::failed(Face::BadGateway, Outcome::Failed, UpstreamResult::Misconfigured),
        }
    }

    fn success(&self, fields: &[Field<'_>], body: Received) -> Consequence {
        let rule = &self.ticket.route.consequence;
        let passed = self.passed(fields);
        let nothing = |result| Consequence::done(Bytes::from_static(b"{}"), &passed, result);
        let body = match body {
            Received::Whole(body) => body,
            Received::Broken => return nothing(UpstreamResult::Broken),
            Received::TooLarge => return nothing(UpstreamResult::TooLarge),
        };
        if body.is_empty() {
            return nothing(UpstreamResult::Empty);
        }
        let named =
            |name: &'static str| fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
        let identity = |field: &Field<'_>| field.value.trim_ascii().eq_ignore_ascii_case(b"identity");
        if !named("content-encoding").all(identity) {
            return nothing(UpstreamResult::Encoded);
        }
        let media_type = named("content-type").map(|field| field.value).next_back().unwrap_or(b"");
        // Whoever says JSON must have sent it: a client never gets broken JSON under that name.
        if is_any_json(media_type) {
            return if with_document(|document| document.parse(&body).is_ok()) {
                Consequence::done(body, &passed, UpstreamResult::Json)
            } else {
                nothing(UpstreamResult::NotJson)
            };
        }
        match std::str::from_utf8(&body) {
            Ok(text) if rule.text && is_text(media_type) => {
                let embedded = serde_json::json!({ "text": text }).to_string();
                Consequence::done(Bytes::from(embedded), &passed, UpstreamResult::Text)
            }
            Ok(_) | Err(_) => nothing(UpstreamResult::NotJson),
        }
    }

    /// Lines of the fields that the route lists, as the upstream wrote them.
    fn passed(&self, fields: &[Field<'_>]) -> String {
        let mut lines = String::new();
        for name in &self.ticket.route.consequence.pass_fields {
            for field in fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name)) {
                if let Ok(value) = std::str::from_utf8(field.value) {
                    // Writing to a `String` cannot fail.
                    let _ = write!(lines, "{}: {value}\r\n", field.name);
                }
            }
        }
        lines
    }
}

/// The upstream's `Retry-After` when it is a small whole number of seconds; else one second.
fn retry_after(fields: &[Field<'_>]) -> u32 {
    let seconds = fields
        .iter()
        .find(|field| field.name.eq_ignore_ascii_case("retry-after"))
        .and_then(|field| std::str::from_utf8(field.value).ok())
        .and_then(|text| text.trim().parse::<u32>().ok())
        .filter(|seconds| *seconds <= 3600);
    seconds.unwrap_or(1).max(1)
}
