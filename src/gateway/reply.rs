//! What goes back to a client: a status, fields already serialised, a body.

use crate::every::every;
use crate::reason::Face;
use bytes::Bytes;

/// A response, but for what the edge adds: `Date`, `X-Request-Id` on acts, `Connection`.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Status code.
    pub status: u16,
    /// Fields as they stand on the HTTP/1 wire, each line ended by CRLF, `Content-Length` included.
    pub lines: Bytes,
    /// The body; empty for HEAD, 204 and 304.
    pub body: Bytes,
    /// The seconds that its `Retry-After` says, where it has one: for what is answered another way in its place.
    pub retry_after: Option<u32>,
}

const NO_STORE: &str = "Cache-Control: no-store\r\n";
const NOTHING: &str = "Cache-Control: no-store\r\nContent-Length: 0\r\n";

impl Reply {
    /// The only function that writes a refusal. It takes a face, so it cannot tell a reason.
    pub fn of(face: Face) -> Self {
        match face {
            // 204 has no Content-Length (RFC 9110, 8.6) and nothing that could differ between two refusals
            Face::Refused => Self::fixed(204, NO_STORE),
            Face::BadRequest => Self::fixed(400, NOTHING),
            // One challenge for every reason; RFC 6750, 3 wants a parameter behind the scheme.
            Face::Unauthorized => Self::fixed(
                401,
                "WWW-Authenticate: Bearer realm=\"acts\"\r\nCache-Control: no-store\r\nContent-Length: 0\r\n",
            ),
            Face::NotFound => Self::fixed(404, NOTHING),
            Face::MethodNotAllowed(allow) => {
                Self::built(405, format!("Allow: {}\r\n{NOTHING}", allow.methods()))
            }
            Face::RequestTimeout => Self::fixed(408, NOTHING),
            Face::Conflict(seconds) => Self::retry(409, seconds),
            Face::PreconditionFailed => Self::fixed(412, NOTHING),
            Face::ExpectationFailed => Self::fixed(417, NOTHING),
            Face::TooManyRequests(seconds) => Self::retry(429, seconds),
            Face::HeadTooLarge => Self::fixed(431, NOTHING),
            Face::Internal => Self::fixed(500, NOTHING),
            Face::BadGateway => Self::fixed(502, NOTHING),
            Face::Unavailable(seconds) => Self::retry(503, seconds),
            Face::GatewayTimeout => Self::fixed(504, NOTHING),
        }
    }

    /// 200 with JSON: the consequence of an act (GPT draft, "The Act", "Response").
    pub fn consequence(body: Bytes, passed: &str) -> Self {
        let mut length = itoa::Buffer::new();
        let length = length.format(body.len());
        let parts = ["Content-Type: application/json\r\nContent-Length: ", length, "\r\n", NO_STORE, passed];
        Self::whole(200, parts.concat(), body)
    }

    /// With a body; the field lines say its length and what it is.
    pub fn whole(status: u16, lines: impl Into<Bytes>, body: Bytes) -> Self {
        Self { status, lines: lines.into(), body, retry_after: None }
    }

    fn fixed(status: u16, lines: &'static str) -> Self {
        Self::whole(status, lines, Bytes::new())
    }

    fn built(status: u16, lines: String) -> Self {
        Self::whole(status, lines, Bytes::new())
    }

    fn retry(status: u16, seconds: u32) -> Self {
        Self::built(status, NOTHING.to_owned()).after(seconds)
    }

    /// The same, to be asked again after so many seconds (RFC 9110, 10.2.3).
    #[must_use]
    pub fn after(self, seconds: u32) -> Self {
        let lines = [format!("Retry-After: {seconds}\r\n").as_bytes(), &self.lines].concat();
        Self { lines: Bytes::from(lines), retry_after: Some(seconds), ..self }
    }

    /// The same with more field lines, each ended by CRLF.
    #[must_use]
    pub fn with_lines(mut self, more: &str) -> Self {
        if !more.is_empty() {
            self.lines = Bytes::from([self.lines.as_ref(), more.as_bytes()].concat());
        }
        self
    }
}

/// What became of a request, as counted: `formgate_requests_total{outcome}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The form was given, or one of the gateway's own documents.
    Arrived,
    /// 304: the client has it.
    NotModified,
    /// OPTIONS was answered.
    Options,
    /// The act was done, and the client knows.
    Accepted,
    /// A person goes on from here: a GET-Action that was not sent, or not yet.
    Review,
    /// 204: nothing was done.
    Refused,
    /// 429, ours or the upstream's.
    Throttled,
    /// 409: the same act is still under way.
    Pending,
    /// 412.
    Stale,
    /// 401.
    Unauthorized,
    /// 404 or 405.
    Stray,
    /// 400, 408, 417 or 431: not a request that could be judged.
    Malformed,
    /// 503: nothing was sent.
    Unavailable,
    /// 502, 503 or 504 as the upstream said: it answered, and did not do it.
    Failed,
    /// 504: sent, and no answer to tell what became of it. It may have happened.
    Unknown,
    /// The client left before it had an answer, and nothing had been sent upstream.
    Abandoned,
    /// 500.
    Internal,
}

impl Outcome {
    every![
        Arrived,
        NotModified,
        Options,
        Accepted,
        Review,
        Refused,
        Throttled,
        Pending,
        Stale,
        Unauthorized,
        Stray,
        Malformed,
        Unavailable,
        Failed,
        Unknown,
        Abandoned,
        Internal
    ];

    /// The outcome of a request that ended with this face before anything was sent.
    pub fn of(face: Face) -> Self {
        match face {
            Face::Refused => Self::Refused,
            Face::BadRequest | Face::RequestTimeout | Face::ExpectationFailed | Face::HeadTooLarge => {
                Self::Malformed
            }
            Face::Unauthorized => Self::Unauthorized,
            Face::NotFound | Face::MethodNotAllowed(_) => Self::Stray,
            Face::Conflict(_) => Self::Pending,
            Face::PreconditionFailed => Self::Stale,
            Face::TooManyRequests(_) => Self::Throttled,
            Face::Internal => Self::Internal,
            Face::BadGateway => Self::Failed,
            Face::Unavailable(_) => Self::Unavailable,
            Face::GatewayTimeout => Self::Unknown,
        }
    }
}
