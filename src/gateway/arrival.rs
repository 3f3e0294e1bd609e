//! What GET answers: chosen among bytes computed at load, never formatted (GPT draft, "Arrival").

use super::head::Head;
use super::reply::{Outcome, Reply};
use super::route::{Cors, Route};
use crate::form::{Representation, Variant};
use crate::media::{Coding, Codings, names_entity_tag};
use crate::reason::Allow;
use bytes::Bytes;

const JSON: &str = "application/json";

/// Everything that can be answered to an arrival at one address.
#[derive(Debug)]
pub(super) struct Arrival {
    /// Identity first.
    variants: Vec<Prepared>,
    options: Reply,
}

#[derive(Debug)]
struct Prepared {
    coding: Coding,
    etag: String,
    found: Reply,
    found_head: Reply,
    not_modified: Reply,
}

impl Arrival {
    pub(super) fn new(route: &Route) -> Self {
        let advisory = advisory_lines(route);
        Self {
            variants: route
                .arrival
                .variants()
                .iter()
                .map(|variant| Prepared::new(variant, JSON, &advisory))
                .collect(),
            options: match route.cors {
                // Which origin may is said by `Cors::lines`, which knows who asks.
                Some(_) => options(Allow::Route, &Cors::preflight_lines(route)),
                None => options(Allow::Route, ""),
            },
        }
    }

    /// A document of the gateway's own, of this media type and with these lines.
    pub(super) fn of_sheet(representation: &Representation, media_type: &str, lines: &str) -> Self {
        let variants = representation.variants().iter();
        Self {
            variants: variants.map(|variant| Prepared::new(variant, media_type, lines)).collect(),
            options: options(Allow::Sheet, ""),
        }
    }

    /// Never depends on anything but the head's `Accept-Encoding` and `If-None-Match` (P8).
    pub(super) fn answer(&self, head: &Head<'_>, with_body: bool) -> (Reply, Outcome) {
        let chosen = self.choose(head);
        let fresh = |field| names_entity_tag(field, false, |tag| tag == chosen.etag.as_bytes());
        if head.all("if-none-match").any(fresh) {
            return (chosen.not_modified.clone(), Outcome::NotModified);
        }
        let reply = if with_body { &chosen.found } else { &chosen.found_head };
        (reply.clone(), Outcome::Arrived)
    }

    pub(super) fn options(&self) -> Reply {
        self.options.clone()
    }

    /// Whether `If-Match` lets an act pass: absent, `*`, or naming a tag of the current form.
    pub(super) fn is_current(&self, head: &Head<'_>) -> bool {
        let mut fields = head.all("if-match").peekable();
        let current = |tag: &[u8]| self.variants.iter().any(|variant| variant.etag.as_bytes() == tag);
        fields.peek().is_none() || fields.any(|field| names_entity_tag(field, true, current))
    }

    fn choose(&self, head: &Head<'_>) -> &Prepared {
        let mut fields = head.all("accept-encoding").peekable();
        let identity = &self.variants[0];
        if fields.peek().is_none() {
            return identity;
        }
        let codings = fields.fold(Codings::NONE, Codings::read);
        // Highest quality, then fewest bytes. Nothing acceptable still gets the form: never 406.
        self.variants
            .iter()
            .filter(|variant| codings.quality(variant.coding) > 0)
            .max_by_key(|variant| {
                let bytes = variant.found.body.len();
                (codings.quality(variant.coding), std::cmp::Reverse(bytes))
            })
            .unwrap_or(identity)
    }
}

impl Prepared {
    fn new(variant: &Variant, media_type: &str, advisory: &str) -> Self {
        let Variant { coding, bytes, etag } = variant;
        let shared =
            format!("ETag: {etag}\r\nCache-Control: no-cache\r\nVary: Accept, Accept-Encoding\r\n{advisory}");
        let encoding = match coding {
            Coding::Identity => String::new(),
            Coding::Gzip | Coding::Brotli | Coding::Zstd => {
                format!("Content-Encoding: {}\r\n", coding.name())
            }
        };
        let length = bytes.len();
        let lines = Bytes::from(format!(
            "Content-Type: {media_type}\r\nContent-Length: {length}\r\n{encoding}{shared}"
        ));
        let found = Reply { status: 200, lines, body: bytes.clone() };
        Self {
            coding: *coding,
            etag: etag.clone(),
            found_head: Reply { body: Bytes::new(), ..found.clone() },
            not_modified: Reply { status: 304, lines: Bytes::from(shared), body: Bytes::new() },
            found,
        }
    }
}

/// `GPT-Type`, and leave for any page to read a form that anyone can read.
fn advisory_lines(route: &Route) -> String {
    let mut lines = String::new();
    if let Some(kind) = &route.gpt_type {
        lines.push_str("GPT-Type: ");
        lines.push_str(kind);
        lines.push_str("\r\n");
    }
    if route.cors.is_some() {
        lines.push_str("Access-Control-Allow-Origin: *\r\n");
    }
    lines
}

pub(super) fn options(allow: Allow, more: &str) -> Reply {
    let lines = format!("Allow: {}\r\nCache-Control: no-store\r\n{more}", allow.methods());
    Reply { status: 204, lines: Bytes::from(lines), body: Bytes::new() }
}
