//! `Idempotency-Key` on POST (draft-ietf-httpapi-idempotency-key-header), where a route declares it: who repeats
//! a request gets the answer of the first one, and the act is done once.
//!
//! Where the draft and the promises differ the promises hold: another body under a used key gets the one
//! refusal (P6) instead of 422, and what may have happened is never done again (P5).

use super::act::Ticket;
use super::consequence::{Consequence, UpstreamResult};
use super::head::Head;
use super::replay::{End, Fingerprint, Holder, Key, Terms};
use super::reply::{Outcome, Reply};
use super::route::Route;
use crate::reason::{Face, Reason};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use std::time::Duration;

/// What a route says about `Idempotency-Key`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idempotency {
    /// No act without a key.
    pub required: bool,
    /// How long a key is remembered.
    pub keep: Duration,
    /// How long a repeated request waits for the first one.
    pub wait: Duration,
}

/// Characters of a key, at most.
const LONGEST: usize = 255;

/// The key of an act at its address; `None` where the route keeps none, or none was given and none is required.
pub(super) fn key(route: &Route, head: &Head<'_>) -> Result<Option<Key>, Reason> {
    let Some(rule) = &route.idempotency else {
        return Ok(None);
    };
    let mut fields = head.all("idempotency-key");
    match (fields.next(), fields.next()) {
        (None, _) if rule.required => Err(Reason::IdempotencyKey),
        (None, _) => Ok(None),
        (Some(field), None) => {
            let key = read(field.trim_ascii()).ok_or(Reason::IdempotencyKey)?;
            Ok(Some(Key::of(&scope(route, head), key)))
        }
        (Some(_), Some(_)) => Err(Reason::IdempotencyKey),
    }
}

/// Whose key it is: a holder's of a token, where the route has tokens, so that nobody is answered with what is
/// another's.
fn scope(route: &Route, head: &Head<'_>) -> String {
    let holder = route.guard.as_ref().and_then(|guard| guard.admit(head));
    match holder {
        Some(token) => format!("post {} as {}", route.name, token.name),
        None => format!("post {}", route.name),
    }
}

/// A string of structured fields (RFC 9651, 3.3.3) without parameters and without what would need escaping, or
/// the same without its quotes, as many clients send it: visible ASCII either way. A comma only between quotes:
/// it is how two fields become one on the way.
pub(super) fn read(field: &[u8]) -> Option<&[u8]> {
    let quoted = field.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let visible = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    let fits = match quoted {
        Some(key) => key.iter().all(visible),
        None => field.iter().all(|byte| visible(byte) && !matches!(byte, b',' | b';')),
    };
    let key = quoted.unwrap_or(field);
    (fits && (1..=LONGEST).contains(&key.len())).then_some(key)
}

impl Ticket<'_> {
    /// Under which terms this body would be sent once; `None` where there is no key.
    pub fn terms(&self, body: &[u8]) -> Option<Terms> {
        let (key, rule) = (self.key?, self.route.idempotency?);
        let (fingerprint, holder) = (Fingerprint::of(body), Holder::of(self.client));
        Some(Terms { key, fingerprint, holder, lease: self.lease(), keep: rule.keep, wait: rule.wait })
    }

    /// How long the exchange may take, with some room: who has not come back by then has been lost.
    pub fn lease(&self) -> Duration {
        let upstream = &self.route.outbound.upstream;
        let servers = u32::try_from(upstream.servers.len()).unwrap_or(u32::MAX);
        // For each server a look-up, and three addresses to connect to and to shake hands with (`edge/dial.rs`).
        let connects = upstream.timeouts.connect.saturating_mul(servers).saturating_mul(7);
        upstream.timeouts.exchange.saturating_add(connects).saturating_add(Duration::from_secs(10))
    }

    /// What the client is told of an act that was done before, or may have been.
    pub fn recall(&self, stored: Bytes) -> Consequence {
        let Some(reply) = restore(stored) else {
            return Consequence::nobody_knows();
        };
        let (outcome, result, reason) = match reply.status {
            200 => (Outcome::Accepted, UpstreamResult::Json, None),
            204 => {
                self.route.limits.note_refused(self.client);
                (Outcome::Refused, UpstreamResult::Refused, Some(Reason::Upstream))
            }
            _ => (Outcome::Failed, UpstreamResult::Failed, None),
        };
        // A refusal is the same response, whatever it comes from (P6).
        let reply = if reply.status == 204 { reply } else { reply.with_lines(REPLAYED) };
        Consequence { reply, outcome, result, reason }
    }
}

/// Tells a client that the act was not done for this request.
const REPLAYED: &str = "Idempotency-Replayed: true\r\n";

impl Consequence {
    /// How an act that came to this is recorded.
    pub fn end(&self) -> End {
        match self.result {
            // Nothing happened: the same key may try again.
            UpstreamResult::NotSent | UpstreamResult::Full | UpstreamResult::Throttled => End::Forget,
            UpstreamResult::Unknown => End::Unknown,
            UpstreamResult::Json
            | UpstreamResult::Empty
            | UpstreamResult::Text
            | UpstreamResult::NotJson
            | UpstreamResult::Encoded
            | UpstreamResult::Broken
            | UpstreamResult::TooLarge
            | UpstreamResult::Redirected
            | UpstreamResult::Refused
            | UpstreamResult::Misconfigured
            | UpstreamResult::Failed => End::Done(store(&self.reply)),
        }
    }

    /// 504: it may have happened.
    pub fn nobody_knows() -> Self {
        Self::failed(Face::GatewayTimeout, Outcome::Unknown, UpstreamResult::Unknown)
    }
}

/// The first byte of what is stored; another one is of a later formgate, and not read.
const FORMAT: u8 = 1;

/// Status and length of the lines in big-endian bytes, the lines, the body. How long to wait is not stored: with
/// this key, waiting changes nothing.
fn store(reply: &Reply) -> Bytes {
    let Reply { status, lines, body, retry_after } = reply;
    // Its line is the first, where it has one: see `Reply::after`.
    let lines = match retry_after {
        Some(_) => lines.splitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default(),
        None => &lines[..],
    };
    let mut stored = BytesMut::with_capacity(7 + lines.len() + body.len());
    stored.put_u8(FORMAT);
    stored.put_u16(*status);
    // Lines are a response head: far below 4 GiB.
    stored.put_u32(u32::try_from(lines.len()).unwrap_or(u32::MAX));
    stored.put_slice(lines);
    stored.put_slice(body);
    stored.freeze()
}

fn restore(mut stored: Bytes) -> Option<Reply> {
    if stored.try_get_u8().ok()? != FORMAT {
        return None;
    }
    let status = stored.try_get_u16().ok()?;
    let length = stored.try_get_u32().ok()? as usize;
    if stored.len() < length || !(200..=599).contains(&status) {
        return None;
    }
    let lines = stored.split_to(length);
    Some(Reply::whole(status, lines, stored))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_with_quotes_or_without_and_is_the_same() {
        let longest = "k".repeat(255);
        for (field, key) in [
            ("a", "a"),
            ("\"a\"", "a"),
            ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("\"8e03978e-40d5-43dd-bc93-6894a57f9324\"", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("\"a,b;c\"", "a,b;c"),
            ("aGVsbG8+/w==", "aGVsbG8+/w=="),
            (&longest, &longest),
        ] {
            assert_eq!(read(field.as_bytes()), Some(key.as_bytes()), "{field}");
        }
        let too_long = "k".repeat(256);
        for field in [
            "",
            "\"",
            "\"\"",
            "\"a",
            "a\"",
            "a b",
            "\"a b\"",
            "a,b",
            "a;b",
            "\"a\";b=c",
            "a\\",
            "\"a\\\"b\"",
            "é",
        ]
        .into_iter()
        .chain([&too_long[..]])
        {
            assert_eq!(read(field.as_bytes()), None, "{field}");
        }
        assert_eq!(read(b"a\x7f"), None);
    }

    #[test]
    fn what_is_stored_comes_back_and_nothing_else_does() {
        let reply = Reply::consequence(Bytes::from_static(b"{\"a\":1}"), "Location: /x\r\n");
        let stored = store(&reply);
        let back = restore(stored.clone()).unwrap();
        assert_eq!((back.status, back.lines, back.body), (reply.status, reply.lines, reply.body));
        let head = 7 + "Content-Type: application/json\r\n".len();
        for cut in 0..head {
            assert!(restore(stored.slice(..cut)).is_none(), "cut at {cut}");
        }
        let mut later = stored.to_vec();
        later[0] = 2;
        assert!(restore(Bytes::from(later)).is_none());
    }
}
