//! What anyone who has the name of a record may know of it: what was told, and when (REQUIREMENTS B-31).

use super::answer::{Answer, Code};
use crate::gateway::head::{Head, Method};
use crate::gateway::replay::{Found, ReceiptId, State};
use crate::gateway::reply::Reply;
use crate::media::Accept;
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
    let time = humantime::format_rfc3339_seconds(found.since);
    // People are sent here, and they have nothing to fill in: no script, no style, nothing to escape.
    let is_page = head.all("accept").fold(Accept::NONE, Accept::read).prefers_page();
    let (media_type, body) = if is_page {
        let (name, sentence) = (code.name(), sentence(code));
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
             <title>{name}</title><main><h1>{name}</h1><p>{sentence}</p>\
             <p>Asked for: <time datetime=\"{time}\">{time}</time></p></main></html>\n"
        );
        ("text/html; charset=utf-8", page)
    } else {
        ("application/json", format!("{{\"code\":\"{}\",\"time\":\"{time}\"}}", code.name()))
    };
    let lines = format!(
        "Content-Type: {media_type}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nVary: Accept\r\n\
         X-Robots-Tag: noindex, nofollow\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n",
        body.len()
    );
    let body = if head.verb() == Method::Head { Bytes::new() } else { Bytes::from(body) };
    Some(Reply::whole(200, lines, body))
}

fn sentence(code: Code) -> &'static str {
    match code {
        Code::Ok => "It was done.",
        Code::Review => "It is not known to be done. A person goes on from here.",
        Code::Rejected => "Nothing was done.",
    }
}
