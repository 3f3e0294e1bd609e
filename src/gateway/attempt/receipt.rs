//! What anyone who has the name of a record may know of it: what was told, and when (REQUIREMENTS B-31).

use super::answer::{Answer, Code};
use crate::gateway::head::{Head, Method};
use crate::gateway::replay::{Found, ReceiptId, State};
use crate::gateway::reply::Reply;
use bytes::Bytes;

/// Where receipts are, before the 32 digits of their names.
const PREFIX: &str = "/r/";

/// The receipt at this path, if that is what it is.
pub(crate) fn receipt_id(path: &str) -> Option<ReceiptId> {
    ReceiptId::read(path.strip_prefix(PREFIX)?)
}

/// The page of one record; `None` for that of another surface, whose answer is nobody's but its client's.
pub fn receipt(found: &Found, head: &Head<'_>) -> Option<Reply> {
    let code = match &found.state {
        State::Done(kept) => Answer::of_kept(kept)?.code,
        State::Pending | State::Unknown => Code::Review,
    };
    let time = httpdate::fmt_http_date(found.since);
    let body = format!("{{\"code\":\"{}\",\"time\":\"{time}\"}}", code.name());
    let lines = format!(
        "Content-Type: application/json\r\nContent-Length: {}\r\nCache-Control: no-store\r\nVary: Accept\r\n\
         X-Robots-Tag: noindex, nofollow\r\nReferrer-Policy: no-referrer\r\n",
        body.len()
    );
    let body = if head.verb() == Method::Head { Bytes::new() } else { Bytes::from(body) };
    Some(Reply { status: 200, lines: Bytes::from(lines), body })
}
