//! The index: which addresses there are, by name, for people and for programs that know only the host.
//!
//! No part of the protocol, which knows one address and one form (GPT draft, "Non-Goals"; B-20, G-41): it gives no form,
//! says nothing about backends, and is off unless the configuration turns it on. Routes may stay out of it.
//!
//! Programs find it at [`WELL_KNOWN`], where RFC 8615 puts what is to be known of a host beforehand; the name is the
//! protocol's, which every listed address speaks. People find it at `/`.

use super::page::{Paper, STYLE, source_of};
use crate::form::Representation;
use crate::gateway::{Own, Page, Route, Sheet};
use crate::json::push_quoted;
use std::sync::LazyLock;

/// Where programs look.
pub const WELL_KNOWN: &str = "/.well-known/gpt.json";

/// What an index is drawn from.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'c> {
    /// In the order of the file; those without a [`Route::listing`] are left out.
    pub routes: &'c [&'c Route],
    /// Other documents and doors: what each is, and its address.
    pub links: &'c [(&'static str, &'c str)],
    /// `public_url`.
    pub public_url: Option<&'c str>,
}

static PAGE_LINES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "Content-Security-Policy: default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n",
        source_of(&STYLE)
    )
});

/// What can be acted on is no business of search engines (U-18).
const NOINDEX: &str = "X-Robots-Tag: noindex, nofollow\r\n";

/// The document at `/`, with its page, and the one for programs.
pub fn draw(contents: &Contents<'_>) -> [Sheet; 2] {
    let json = || Representation::new(list(contents).into_bytes());
    let html = page(contents);
    let page = Page { lines: &PAGE_LINES, draw: Box::new(move || Representation::new(html.into_bytes())) };
    let sheet = |own, address: &str, page| Sheet {
        own,
        address: address.to_owned(),
        media_type: "application/json",
        representation: json(),
        lines: NOINDEX,
        page,
    };
    [sheet(Own::Index, "/", Some(page)), sheet(Own::WellKnown, WELL_KNOWN, None)]
}

/// The part of a text that a list has room for: its first sentence.
pub fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim_end();
    let ends = line.match_indices(['.', '!', '?', '。']).map(|(at, mark)| at + mark.len());
    // `v2.1` and `e.g.` in the middle of a word end nothing; a dot in front of a small letter seldom does.
    let is_end = |end: &usize| {
        let mut rest = line[*end..].chars();
        match rest.next() {
            None => true,
            Some(' ') => !rest.next().is_some_and(char::is_lowercase),
            Some(_) => line[..*end].ends_with('。'),
        }
    };
    ends.into_iter().find(is_end).map_or(line, |end| &line[..end])
}

impl Contents<'_> {
    /// Those that are listed, each with what is said about it.
    fn listed(&self) -> impl Iterator<Item = (&Route, &str)> {
        self.routes.iter().filter_map(|route| Some((*route, route.listing.as_ref()?.as_str())))
    }

    fn url(&self, address: &str) -> Option<String> {
        self.public_url.map(|public| format!("{public}{address}"))
    }
}

fn list(contents: &Contents<'_>) -> String {
    let member = |out: &mut String, name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            if !out.ends_with('{') {
                out.push(',');
            }
            push_quoted(name, out);
            out.push(':');
            push_quoted(value, out);
        }
    };
    let mut out = "{\"addresses\":[".to_owned();
    for (place, (route, about)) in contents.listed().enumerate() {
        out.push_str(if place == 0 { "{" } else { ",{" });
        member(&mut out, "name", Some(&route.name));
        member(&mut out, "address", Some(&route.address));
        member(&mut out, "url", contents.url(&route.address).as_deref());
        member(&mut out, "type", route.gpt_type.as_deref());
        member(&mut out, "about", Some(about));
        out.push('}');
    }
    out.push_str("],\"links\":{");
    for (name, address) in contents.links {
        let url = contents.url(address);
        member(&mut out, name, Some(url.as_deref().unwrap_or(address)));
    }
    out.push_str("}}");
    out
}

fn page(contents: &Contents<'_>) -> String {
    let mut paper = Paper::new(usize::MAX);
    paper
        .markup(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
        )
        .text(name(contents))
        .markup("</title>\n<style>")
        .markup(&STYLE)
        .markup("</style>\n</head>\n<body>\n<header class=\"top\">\n<h1>")
        .text(name(contents))
        .markup(
            "</h1>\n<p class=\"lead\">Each address does one thing: GET it for the form it takes, POST a value that fits.\
             </p>\n</header>\n<main>\n<section aria-labelledby=\"addresses\">\n<h2 id=\"addresses\">Addresses</h2>\n\
             <dl class=\"members\">\n",
        );
    for (route, about) in contents.listed() {
        // Relative: the gateway may stand below a path of another.
        paper
            .markup("<div><dt><a href=\".")
            .text(&route.address)
            .markup("\">")
            .text(&route.name)
            .markup("</a>");
        if let Some(kind) = &route.gpt_type {
            paper.markup(" <span class=\"mark\">").text(kind).markup("</span>");
        }
        paper.markup("</dt><dd>");
        if !about.is_empty() {
            paper.markup("<p class=\"text\">").text(about).markup("</p>");
        }
        paper.markup("<code>").text(&route.address).markup("</code></dd></div>\n");
    }
    paper.markup(
        "</dl>\n</section>\n<section aria-labelledby=\"programs\">\n<h2 id=\"programs\">For programs</h2>\n",
    );
    paper.markup("<dl class=\"members\">\n<div><dt>index</dt><dd><a href=\".").text(WELL_KNOWN).markup("\">");
    paper.text(WELL_KNOWN).markup("</a></dd></div>\n");
    for (name, address) in contents.links {
        paper
            .markup("<div><dt>")
            .text(name)
            .markup("</dt><dd><code>")
            .text(address)
            .markup("</code></dd></div>\n");
    }
    paper.markup("</dl>\n</section>\n</main>\n</body>\n</html>\n");
    paper.into_html()
}

/// The host, where it is known.
fn name<'c>(contents: &Contents<'c>) -> &'c str {
    contents.public_url.and_then(|url| url.split_once("://")).map_or("Addresses", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_list_has_room_for_one_sentence() {
        for (text, first) in [
            ("", ""),
            ("Starts a meeting and answers with a link.", "Starts a meeting and answers with a link."),
            ("Refunds a charge. It cannot be undone.", "Refunds a charge."),
            ("Uses v2.1 of the API. More.", "Uses v2.1 of the API."),
            ("Takes a name, e.g. of a city. More.", "Takes a name, e.g. of a city."),
            ("Why? Because.", "Why?"),
            ("  No end\nand a second line", "No end"),
            ("一句话。另一句。", "一句话。"),
        ] {
            assert_eq!(first_sentence(text), first, "{text}");
        }
    }
}
