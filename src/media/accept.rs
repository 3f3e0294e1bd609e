//! `Accept`: whether a client wants the page for people, or the JSON.

use super::{Parameters, thousandths, trim};

/// How much a client wants the page for people and how much the JSON, in thousandths; from `Accept`
/// (RFC 9110, 12.5.1).
///
/// The page must be asked for by name. Where a client says something twice, or unclearly, what speaks for
/// the JSON counts, so neither the order of items nor that of fields decides anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accept {
    page: Option<u16>,
    json: Option<u16>,
    application: Option<u16>,
    any: Option<u16>,
}

impl Accept {
    /// Nothing is said: the field is absent.
    pub const NONE: Self = Self { page: None, json: None, application: None, any: None };

    /// Reads one field value on top of what others said.
    #[must_use]
    pub fn read(mut self, field: &[u8]) -> Self {
        for item in Items(Some(field)) {
            let range = Parameters::new(item).head();
            if range.eq_ignore_ascii_case(b"text/html") {
                let wanted = page_quality(item);
                self.page = Some(self.page.map_or(wanted, |before| before.min(wanted)));
                continue;
            }
            let slot = if range.eq_ignore_ascii_case(b"application/json") {
                &mut self.json
            } else if range.eq_ignore_ascii_case(b"application/*") {
                &mut self.application
            } else if range == b"*/*" {
                &mut self.any
            } else {
                continue;
            };
            let wanted = Parameters::new(item).quality();
            *slot = Some(slot.map_or(wanted, |before| before.max(wanted)));
        }
        self
    }

    /// Whether the page is named, wanted, and not wanted less than the JSON.
    pub fn prefers_page(&self) -> bool {
        let json = self.json.or(self.application).or(self.any).unwrap_or(0);
        self.page.is_some_and(|page| page > 0 && page >= json)
    }
}

/// The quality of a range `text/html`; 0 where a parameter makes it another type than the page's own.
fn page_quality(item: &[u8]) -> u16 {
    for parameter in Parameters::new(item) {
        match parameter {
            Some((name, value)) if name.eq_ignore_ascii_case(b"q") => return thousandths(value),
            Some((name, value))
                if name.eq_ignore_ascii_case(b"charset") && value.eq_ignore_ascii_case(b"utf-8") => {}
            Some(_) | None => return 0,
        }
    }
    1000
}

/// The items of a comma-separated list, quoted strings kept together (RFC 9110, 5.6.1).
struct Items<'a>(Option<&'a [u8]>);

impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0?;
        let (mut quoted, mut escaped) = (false, false);
        let end = rest.iter().position(|byte| {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b',' => return !quoted,
                _ => {}
            }
            false
        });
        self.0 = end.map(|end| &rest[end + 1..]);
        Some(trim(&rest[..end.unwrap_or(rest.len())]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefers_page(field: &[u8]) -> bool {
        Accept::NONE.read(field).prefers_page()
    }

    #[test]
    fn the_page_is_asked_for_by_name() {
        for page in [
            "text/html",
            "TEXT/Html",
            "text/html;q=0.001",
            "text/html; charset=UTF-8",
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
            "text/html, application/json",
            "application/json;q=0.9, text/html;q=0.9",
            "application/*;q=0.5, text/html;q=0.6, */*;q=0.1",
            "application/json;q=0, text/html;q=0.1, */*",
            "foo/bar;x=\"a\\\",b\", text/html",
            ",, text/html ,",
            "text/html;q=1;ext",
            "text/html;q=0.5",
            "text/html;",
        ] {
            assert!(prefers_page(page.as_bytes()), "{page}");
        }
        for json in [
            "",
            "*/*",
            "text/*",
            "text/plain",
            "text/htmlx",
            "text/html;q=0",
            "text/html;q=0.000",
            "text/html;q=2",
            "text/html;q=",
            "text/html;level=1",
            "text/html;charset=latin1",
            "text/html;q=0.5, */*",
            "text/html;q=0.5, application/*",
            "text/html;q=0.8, application/json;q=0.9",
            "text/html, text/html;q=0",
            "text/html;q=0, text/html",
            "foo/bar;x=\",text/html,\"",
            "foo/bar;x=\",text/html",
            "text/ html",
            "\"text/html\"",
            "text/html text/plain",
            "application/xhtml+xml",
        ] {
            assert!(!prefers_page(json.as_bytes()), "{json}");
        }
    }

    proptest::proptest! {
        /// Total; one list, whichever way it is spread over fields; its order is nothing.
        #[test]
        fn accept_is_one_list_without_order(
            items in proptest::collection::vec("(text/html|application/json|application/[*]|[*]/[*]|text/[*])(;q=[01]([.][0-9]{1,3})?)?", 0..6),
            noise in proptest::collection::vec(proptest::num::u8::ANY, 0..64),
        ) {
            let whole = Accept::NONE.read(items.join(",").as_bytes());
            let apart = items.iter().fold(Accept::NONE, |accept, item| accept.read(item.as_bytes()));
            let back = items.iter().rev().fold(Accept::NONE, |accept, item| accept.read(item.as_bytes()));
            proptest::prop_assert_eq!(whole, apart);
            proptest::prop_assert_eq!(whole, back);
            let named = items.iter().any(|item| item.starts_with("text/html"));
            proptest::prop_assert!(named || !whole.prefers_page());
            let _ = Accept::NONE.read(&noise);
        }
    }
}
