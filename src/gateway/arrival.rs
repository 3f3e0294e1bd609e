//! What GET answers: chosen among bytes that are computed once, never formatted for a request (GPT draft, "Arrival").
//!
//! Of more than a few routes ([`super::FEW`]), what follows from these bytes alone (a page, and both in other codings) is
//! computed when it is first asked for, and kept: of ten thousand addresses few are read by people, and all of it would take
//! a minute and a gigabyte. It is the same whenever it is computed, and whoever asks.

use super::head::Head;
use super::reply::{Outcome, Reply};
use super::route::{Cors, Page, Route};
use crate::form::{Representation, Variant};
use crate::media::{Accept, Coding, Codings, names_entity_tag};
use crate::reason::Allow;
use bytes::Bytes;
use std::sync::{Arc, LazyLock};

/// Everything that can be answered to an arrival at one address: one view of it, or two.
#[derive(Debug)]
pub(super) struct Arrival {
    /// What is answered to everyone who does not ask for the page: of a route, the JSON.
    usual: View,
    /// The page for people, where there is one.
    page: Option<Later<View>>,
    options: Reply,
}

/// One media type of an address.
#[derive(Debug)]
struct View {
    identity: Prepared,
    /// In the other codings, those that are smaller.
    coded: Later<Vec<Prepared>>,
}

/// What is made when it is first asked for.
type Later<T> = LazyLock<T, Box<dyn FnOnce() -> T + Send>>;

#[derive(Debug)]
struct Prepared {
    coding: Coding,
    etag: String,
    found: Reply,
    found_head: Reply,
    not_modified: Reply,
}

impl Arrival {
    /// Takes the page out of the route.
    pub(super) fn new(route: &mut Route) -> Self {
        let kind = kind_line(route);
        let any_origin = if route.cors.is_some() { "Access-Control-Allow-Origin: *\r\n" } else { "" };
        let usual = View::new("application/json", Arc::clone(&route.arrival), format!("{kind}{any_origin}"));
        let page = route.page.take().map(|page| View::of_page(page, kind));
        let options = match route.cors {
            // Which origin may is said by `Cors::lines`, which knows who asks.
            Some(_) => options(Allow::Route, &Cors::preflight_lines(route)),
            None => options(Allow::Route, ""),
        };
        Self { usual, page, options }
    }

    /// A document of the gateway's own, of this media type and with these lines.
    pub(super) fn of_sheet(
        representation: Representation,
        media_type: &'static str,
        lines: &str,
        page: Option<Page>,
    ) -> Self {
        let usual = View::new(media_type, Arc::new(representation), lines.to_owned());
        let page = page.map(|page| View::of_page(page, lines.to_owned()));
        let arrival = Self { usual, page, options: options(Allow::Sheet, "") };
        arrival.complete();
        arrival
    }

    /// Computes what is not yet computed.
    pub(super) fn complete(&self) {
        for view in std::iter::once(&self.usual).chain(self.page.as_deref()) {
            LazyLock::force(&view.coded);
        }
    }

    /// Never depends on anything but the head's `Accept`, `Accept-Encoding` and `If-None-Match` (P8).
    pub(super) fn answer(&self, head: &Head<'_>, with_body: bool) -> (Reply, Outcome) {
        let chosen = self.view(head).choose(head);
        let fresh = |field| names_entity_tag(field, false, |tag| tag == chosen.etag.as_bytes());
        if head.all("if-none-match").any(fresh) {
            return (chosen.not_modified.clone(), Outcome::NotModified);
        }
        let reply = if with_body { &chosen.found } else { &chosen.found_head };
        (reply.clone(), Outcome::Arrived)
    }

    /// What is answered where no page is asked for, in no coding.
    pub(super) fn bytes(&self) -> &Bytes {
        &self.usual.identity.found.body
    }

    pub(super) fn options(&self) -> Reply {
        self.options.clone()
    }

    /// Whether `If-Match` lets an act pass: absent, `*`, or naming a tag of the current form.
    ///
    /// A tag of the page counts: the page holds the whole arrival or its digest, so its tag is current only
    /// while the form is, and whoever read the page has read the form.
    pub(super) fn is_current(&self, head: &Head<'_>) -> bool {
        let mut fields = head.all("if-match").peekable();
        let has = |tag: &[u8]| self.usual.has(tag) || self.page.as_ref().is_some_and(|page| page.has(tag));
        fields.peek().is_none() || fields.any(|field| names_entity_tag(field, true, has))
    }

    /// The page where it is asked for by name, the JSON for everything else: never 406 (B-13).
    fn view(&self, head: &Head<'_>) -> &View {
        match &self.page {
            Some(page) if head.all("accept").fold(Accept::NONE, Accept::read).prefers_page() => page,
            Some(_) | None => &self.usual,
        }
    }
}

impl View {
    /// `own`: lines that only this view has.
    fn new(media_type: &'static str, representation: Arc<Representation>, own: String) -> Self {
        let identity = Prepared::new(media_type, representation.identity(), &own);
        let coded: Box<dyn FnOnce() -> _ + Send> = Box::new(move || {
            representation.coded().iter().map(|variant| Prepared::new(media_type, variant, &own)).collect()
        });
        Self { identity, coded: LazyLock::new(coded) }
    }

    /// The view for people; `own` as for [`Self::new`].
    fn of_page(page: Page, own: String) -> Later<Self> {
        LazyLock::new(Box::new(move || {
            Self::new("text/html; charset=utf-8", Arc::new((page.draw)()), own + page.lines)
        }))
    }

    fn has(&self, tag: &[u8]) -> bool {
        let whole = self.identity.etag.as_bytes();
        // Those of other codings begin like it: of another form's none has to be coded.
        let is_coded = || whole.strip_suffix(b"\"").is_some_and(|digest| tag.starts_with(digest));
        tag == whole || is_coded() && self.coded.iter().any(|variant| variant.etag.as_bytes() == tag)
    }

    fn choose(&self, head: &Head<'_>) -> &Prepared {
        let mut fields = head.all("accept-encoding").peekable();
        if fields.peek().is_none() {
            return &self.identity;
        }
        let codings = fields.fold(Codings::NONE, Codings::read);
        let wanted = [Coding::Gzip, Coding::Brotli, Coding::Zstd].map(|coding| codings.quality(coding));
        if wanted.iter().all(|quality| *quality == 0 || *quality < codings.quality(Coding::Identity)) {
            return &self.identity;
        }
        // Highest quality, then fewest bytes. Nothing acceptable still gets the form: never 406.
        std::iter::once(&self.identity)
            .chain(&*self.coded)
            .filter(|variant| codings.quality(variant.coding) > 0)
            .max_by_key(|variant| {
                let bytes = variant.found.body.len();
                (codings.quality(variant.coding), std::cmp::Reverse(bytes))
            })
            .unwrap_or(&self.identity)
    }
}

impl Prepared {
    /// `own`: lines that only this view has.
    fn new(media_type: &str, variant: &Variant, own: &str) -> Self {
        let Variant { coding, bytes, etag } = variant;
        let shared =
            format!("ETag: {etag}\r\nCache-Control: no-cache\r\nVary: Accept, Accept-Encoding\r\n{own}");
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
        let found = Reply::whole(200, lines, bytes.clone());
        Self {
            coding: *coding,
            etag: etag.clone(),
            found_head: Reply { body: Bytes::new(), ..found.clone() },
            not_modified: Reply::whole(304, shared, Bytes::new()),
            found,
        }
    }
}

fn kind_line(route: &Route) -> String {
    route.gpt_type.as_ref().map(|kind| format!("GPT-Type: {kind}\r\n")).unwrap_or_default()
}

pub(super) fn options(allow: Allow, more: &str) -> Reply {
    let lines = format!("Allow: {}\r\nCache-Control: no-store\r\n{more}", allow.methods());
    Reply::whole(204, lines, Bytes::new())
}
