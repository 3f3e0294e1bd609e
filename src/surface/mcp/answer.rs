//! What is said, byte for byte: results, errors, and the sentences that a model reads after a call.

use super::revision::{Era, HANDSHAKE, STATELESS};
use crate::gateway::{Outcome, Reply};
use crate::json::write_quoted;
use bytes::Bytes;

/// Why a message is answered with an error, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Objection {
    /// An `Origin` that may not speak here.
    Origin,
    /// Not declared as JSON, or coded.
    MediaType,
    /// Something beside the message speaks.
    Query,
    /// Not one strict JSON value.
    Syntax,
    /// Longer than any call of a tool can be.
    TooLarge,
    /// JSON, and no message.
    NoMessage,
    /// The head does not repeat what the body says.
    HeaderMismatch,
    /// A revision that is not spoken; with its name as JSON text.
    Unsupported(Vec<u8>),
    /// Metadata that the revision asks of every request is missing.
    Malformed,
    /// No such method in the era.
    Method(Era),
    /// Not what the method takes.
    Params,
    /// No tool of that name.
    NoTool,
    /// There is one page, and no cursor leads anywhere.
    Cursor,
}

impl Objection {
    pub(super) fn unsupported(revision: &str) -> Self {
        let mut text = Vec::new();
        write_quoted(revision, &mut text);
        Self::Unsupported(text)
    }

    /// Status, code and message. The message is of the kind, never of the case.
    fn parts(&self) -> (u16, i32, &'static str) {
        match self {
            Self::Origin => (403, -32600, "Origin not allowed"),
            Self::MediaType => (415, -32600, "Content-Type must be application/json"),
            Self::Query => (400, -32600, "The address takes no query"),
            Self::Syntax => (400, -32700, "Parse error"),
            Self::TooLarge => (413, -32600, "Message too large"),
            Self::NoMessage => (400, -32600, "Invalid Request"),
            Self::HeaderMismatch => (400, -32020, "Header mismatch"),
            Self::Unsupported(_) => (400, -32022, "Unsupported protocol version"),
            Self::Malformed => (400, -32602, "Invalid params: _meta lacks what every request carries"),
            Self::Method(Era::Handshake) => (200, -32601, "Method not found"),
            Self::Method(Era::Stateless) => (404, -32601, "Method not found"),
            Self::Params => (200, -32602, "Invalid params"),
            Self::NoTool => (200, -32602, "Unknown tool"),
            Self::Cursor => (200, -32602, "Unknown cursor"),
        }
    }

    /// The answer to a message with this id, as it was written. Without one there is no member `id`: MCP knows no `null`
    /// there ("Error Responses").
    pub(super) fn reply(&self, id: Option<&[u8]>) -> Reply {
        let (status, code, message) = self.parts();
        let mut body = b"{\"jsonrpc\":\"2.0\"".to_vec();
        if let Some(id) = id {
            body.extend_from_slice(b",\"id\":");
            body.extend_from_slice(id);
        }
        let error = format!(",\"error\":{{\"code\":{code},\"message\":\"{message}\"");
        body.extend_from_slice(error.as_bytes());
        match self {
            Self::Unsupported(requested) => {
                let data = format!(",\"data\":{{\"supported\":{},\"requested\":", supported());
                body.extend_from_slice(data.as_bytes());
                body.extend_from_slice(requested);
                body.push(b'}');
            }
            Self::Origin
            | Self::MediaType
            | Self::Query
            | Self::Syntax
            | Self::TooLarge
            | Self::NoMessage
            | Self::HeaderMismatch
            | Self::Malformed
            | Self::Method(_)
            | Self::Params
            | Self::NoTool
            | Self::Cursor => {}
        }
        body.extend_from_slice(b"}}");
        json(status, body, "")
    }
}

/// All revisions, the latest first, as JSON.
pub(super) fn supported() -> String {
    format!("[\"{STATELESS}\",\"{}\",\"{}\"]", HANDSHAKE[0], HANDSHAKE[1])
}

/// A notification was taken: 202, and nothing is said.
pub(super) fn taken() -> Reply {
    let lines = Bytes::from_static(b"Cache-Control: no-store\r\nContent-Length: 0\r\n");
    Reply::whole(202, lines, Bytes::new())
}

/// A result, given as JSON text, under the id as it was written.
pub(super) fn result(id: &[u8], pieces: &[&[u8]], lines: &str) -> Reply {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut body = Vec::with_capacity(length + id.len() + 40);
    body.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    body.extend_from_slice(id);
    body.extend_from_slice(b",\"result\":");
    for piece in pieces {
        body.extend_from_slice(piece);
    }
    body.push(b'}');
    json(200, body, lines)
}

fn json(status: u16, body: Vec<u8>, more: &str) -> Reply {
    let length = body.len();
    let lines = format!(
        "Content-Type: application/json\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n{more}"
    );
    Reply::whole(status, lines, Bytes::from(body))
}

/// How a call ended, as far as a model may know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The act was done.
    Done,
    /// A sentence or two say what may be concluded, and nothing about why.
    Told(&'static str),
    /// It is not the call that this is about.
    Elsewhere,
}

impl Ending {
    pub(super) fn of(outcome: Outcome) -> Self {
        Self::Told(match outcome {
            Outcome::Accepted => return Self::Done,
            Outcome::Refused => {
                "Refused: nothing was done. A call may carry exactly what inputSchema describes."
            }
            Outcome::Throttled => "Too many calls for now: nothing was done. Wait before you call again.",
            Outcome::Unavailable | Outcome::Abandoned => {
                "Not available for now: nothing was done. It can be called again later."
            }
            Outcome::Failed => "It failed. Part of it may have been done: find out before you call again.",
            Outcome::Unknown => {
                "No answer came. It may have happened: do not call again before you know that it did not."
            }
            Outcome::Arrived
            | Outcome::NotModified
            | Outcome::Options
            | Outcome::Review
            | Outcome::Pending
            | Outcome::Stale
            | Outcome::Unauthorized
            | Outcome::Stray
            | Outcome::Malformed
            | Outcome::Internal => return Self::Elsewhere,
        })
    }
}

/// The rest of a result that tells a model how a call ended, behind the opening of its era.
pub(super) fn told(sentence: &str) -> String {
    format!("\"content\":[{{\"type\":\"text\",\"text\":\"{sentence}\"}}],\"isError\":true}}")
}

/// The rest of a result that hands on what the act brought: as text for every client, and as it is where it is an object
/// (revision 2025-06-18, "Structured Content"). `body` is JSON; a space in front of an object is still an object's.
pub(super) fn done(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * body.len() + body.len() / 8 + 80);
    out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
    // A consequence is JSON, and so UTF-8.
    write_quoted(&String::from_utf8_lossy(body), &mut out);
    out.extend_from_slice(b"}]");
    let is_object = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if is_object {
        out.extend_from_slice(b",\"structuredContent\":");
        out.extend_from_slice(body);
    }
    out.extend_from_slice(b",\"isError\":false}");
    out
}
