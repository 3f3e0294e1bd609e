//! Which revision of the protocol a message speaks, and whether head and body agree on it.
//!
//! Until 2025-11-25 a client says so once, with `initialize`, and repeats it in a field of each head. From
//! 2026-07-28 on each request says it in its `_meta`, and the head mirrors parts of the body (revision
//! 2026-07-28, "Versioning", "Streamable HTTP: Request Metadata"). A gateway keeps nothing between requests, so
//! both are read alike: from the one request at hand.

use super::answer::Objection;
use super::message::Call;
use crate::gateway::Head;
use crate::json::{Object, Value};
use crate::surface::base64::base64;

/// The two ways in which the protocol has been spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// 2025-06-18 and 2025-11-25: `initialize` first.
    Handshake,
    /// 2026-07-28: each request stands for itself.
    Stateless,
}

/// Revisions of [`Era::Handshake`], the latest first. What they ask of this server is the same.
pub(super) const HANDSHAKE: [&str; 2] = ["2025-11-25", "2025-06-18"];
/// The revision of [`Era::Stateless`].
pub(super) const STATELESS: &str = "2026-07-28";

/// Member of `_meta`.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Member of `_meta`.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// How `initialize` is answered: the revision asked for if it is one that begins with `initialize`, else the
/// latest such (revision 2025-11-25, "Version Negotiation").
pub(super) fn negotiate(asked: &str) -> &'static str {
    HANDSHAKE.into_iter().find(|have| *have == asked).unwrap_or(HANDSHAKE[0])
}

/// The era of a message, or why head and body cannot be one message.
///
/// A head without the field is read as of the first era, as curl sends it: those revisions say that the server
/// should assume an older one then, and what was asked of it is a subset.
pub(super) fn era(head: &Head<'_>, call: &Call<'_>) -> Result<Era, Objection> {
    let field = version_field(head)?;
    let meta = meta(call);
    let inside = meta.and_then(|meta| meta.get(VERSION));
    let Some(inside) = inside else {
        return match field {
            None => Ok(Era::Handshake),
            Some(field) if HANDSHAKE.contains(&field) => Ok(Era::Handshake),
            // A notification has no metadata of its own in that revision.
            Some(STATELESS) if !call.is_request => Ok(Era::Stateless),
            // Its requests must say it inside as well.
            Some(STATELESS) => Err(Objection::Malformed),
            Some(field) => Err(Objection::unsupported(field)),
        };
    };
    let Some(inside) = inside.as_str() else { return Err(Objection::Malformed) };
    if field != Some(inside) {
        return Err(Objection::HeaderMismatch);
    }
    if HANDSHAKE.contains(&inside) {
        return Ok(Era::Handshake);
    }
    if inside != STATELESS {
        return Err(Objection::unsupported(inside));
    }
    if !call.is_request {
        return Ok(Era::Stateless);
    }
    mirrors(head, call)?;
    match meta.and_then(|meta| meta.get(CAPABILITIES)).and_then(|value| value.as_object()) {
        Some(_) => Ok(Era::Stateless),
        None => Err(Objection::Malformed),
    }
}

/// `MCP-Protocol-Version`, once or not at all.
fn version_field<'h>(head: &Head<'h>) -> Result<Option<&'h str>, Objection> {
    let mut fields = head.all("mcp-protocol-version");
    let Some(first) = fields.next() else { return Ok(None) };
    match std::str::from_utf8(first) {
        Ok(text) if fields.next().is_none() => Ok(Some(text)),
        Ok(_) | Err(_) => Err(Objection::HeaderMismatch),
    }
}

/// `params._meta`.
fn meta<'d>(call: &Call<'d>) -> Option<Object<'d>> {
    call.params?.get("_meta")?.as_object()
}

/// Whether the head repeats what the body says, so that nobody on the way has acted on something else.
fn mirrors(head: &Head<'_>, call: &Call<'_>) -> Result<(), Objection> {
    let says = |name: &str, value: &str| {
        head.only(name).is_some_and(|field| field == value.as_bytes() || field == sentinel(value).as_bytes())
    };
    if head.only("mcp-method") != Some(call.method.as_bytes()) {
        return Err(Objection::HeaderMismatch);
    }
    if call.method == "tools/call" {
        let name = call.params.and_then(|params| params.get("name"));
        // A name that is none is told so where names are read.
        let name = name.as_ref().and_then(Value::as_str);
        if name.is_some_and(|name| !says("mcp-name", name)) {
            return Err(Objection::HeaderMismatch);
        }
    }
    Ok(())
}

/// How a value is written that a head cannot carry as it is ("Value Encoding").
fn sentinel(value: &str) -> String {
    format!("=?base64?{}?=", base64(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification_are_encoded_as_it_says() {
        for (value, encoded) in [
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("", "=?base64??="),
        ] {
            assert_eq!(sentinel(value), encoded);
        }
    }

    #[test]
    fn what_is_not_spoken_is_answered_with_the_latest_that_has_a_handshake() {
        assert_eq!(negotiate("2025-06-18"), "2025-06-18");
        assert_eq!(negotiate("2025-11-25"), "2025-11-25");
        for other in ["2025-03-26", "2026-07-28", "2024-11-05", "", "latest"] {
            assert_eq!(negotiate(other), "2025-11-25", "{other}");
        }
    }
}
