//! What a head says about representations: media types, codings, entity tags (RFC 9110).
//!
//! All parsing here is of bytes from the network: total, linear, allocation-free.

mod accept;

pub use accept::Accept;

/// Whether a `Content-Type` says JSON in UTF-8: `application/json`, charset absent or utf-8.
///
/// Anything else in the field (a second type, a bad parameter, a second charset) makes it something
/// that two readers may read differently, and so not JSON.
pub fn is_json_utf8(field: &[u8]) -> bool {
    let parts = Parameters::new(field);
    if !parts.head().eq_ignore_ascii_case(b"application/json") {
        return false;
    }
    let mut charsets = 0;
    for parameter in parts {
        let Some((name, value)) = parameter else {
            return false;
        };
        if name.eq_ignore_ascii_case(b"charset") {
            charsets += 1;
            if charsets > 1 || !value.eq_ignore_ascii_case(b"utf-8") {
                return false;
            }
        }
    }
    true
}

/// Whether an upstream's `Content-Type` says JSON: `application/json` or any `+json`, whatever the
/// charset it claims (the bytes are parsed as UTF-8 all the same).
pub fn is_any_json(field: &[u8]) -> bool {
    let essence = Parameters::new(field).head();
    essence.eq_ignore_ascii_case(b"application/json")
        || essence.eq_ignore_ascii_case(b"text/json")
        || (essence.len() > 5 && essence[essence.len() - 5..].eq_ignore_ascii_case(b"+json"))
}

/// Whether an upstream's `Content-Type` says text of some kind.
pub fn is_text(field: &[u8]) -> bool {
    let essence = Parameters::new(field).head();
    essence.len() > 5 && essence[..5].eq_ignore_ascii_case(b"text/")
}

/// Whether a list of tokens (RFC 9110, 5.6.1), as in `Connection`, has this one.
pub fn lists(field: &[u8], token: &str) -> bool {
    field.split(|byte| *byte == b',').any(|item| item.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

/// A content coding (RFC 9110, 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// As it is.
    Identity,
    /// gzip.
    Gzip,
    /// br.
    Brotli,
    /// zstd.
    Zstd,
}

impl Coding {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// Which codings a client takes, in thousandths; from `Accept-Encoding` (RFC 9110, 12.5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codings {
    identity: Option<u16>,
    gzip: Option<u16>,
    brotli: Option<u16>,
    zstd: Option<u16>,
    any: Option<u16>,
}

impl Codings {
    /// Only identity: the field is absent.
    pub const NONE: Self = Self { identity: None, gzip: None, brotli: None, zstd: None, any: None };

    /// Reads one field value on top of what others said.
    #[must_use]
    pub fn read(mut self, field: &[u8]) -> Self {
        for item in field.split(|byte| *byte == b',') {
            let mut parts = Parameters::new(item);
            let name = parts.head();
            let quality = parts.quality();
            let slot = if name.eq_ignore_ascii_case(b"gzip") || name.eq_ignore_ascii_case(b"x-gzip") {
                &mut self.gzip
            } else if name.eq_ignore_ascii_case(b"br") {
                &mut self.brotli
            } else if name.eq_ignore_ascii_case(b"zstd") {
                &mut self.zstd
            } else if name.eq_ignore_ascii_case(b"identity") {
                &mut self.identity
            } else if name == b"*" {
                &mut self.any
            } else {
                continue;
            };
            *slot = Some(quality);
        }
        self
    }

    /// Quality of a coding, 0 for "not acceptable". Identity is acceptable unless it is excluded.
    pub fn quality(&self, coding: Coding) -> u16 {
        match coding {
            Coding::Identity => self.identity.or(self.any).unwrap_or(1),
            Coding::Gzip => self.gzip.or(self.any).unwrap_or(0),
            Coding::Brotli => self.brotli.or(self.any).unwrap_or(0),
            Coding::Zstd => self.zstd.or(self.any).unwrap_or(0),
        }
    }
}

/// Whether a list of entity tags (`If-None-Match`, `If-Match`) names one for which `current` says yes.
///
/// `current` is given each opaque tag, quotes included and a weak prefix removed. `*` matches always.
/// With `strong`, weak tags never match (RFC 9110, 8.8.3.2).
pub fn names_entity_tag(field: &[u8], strong: bool, current: impl Fn(&[u8]) -> bool) -> bool {
    let mut rest = trim(field);
    if rest == b"*" {
        return true;
    }
    while !rest.is_empty() {
        let weak = rest.starts_with(b"W/");
        if weak {
            rest = &rest[2..];
        }
        if !rest.starts_with(b"\"") {
            return false;
        }
        let Some(end) = rest[1..].iter().position(|byte| *byte == b'"') else {
            return false;
        };
        let tag = &rest[..end + 2];
        if !(weak && strong) && current(tag) {
            return true;
        }
        rest = trim(&rest[end + 2..]);
        match rest.strip_prefix(b",") {
            Some(more) => rest = trim(more),
            None => return false,
        }
    }
    false
}

/// `head; name=value; name="value"`. Yields `None` once for a parameter that is none.
struct Parameters<'a> {
    head: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Parameters<'a> {
    fn new(field: &'a [u8]) -> Self {
        let (head, rest) = match field.iter().position(|byte| *byte == b';') {
            Some(at) => (&field[..at], &field[at..]),
            None => (field, &field[field.len()..]),
        };
        Self { head: trim(head), rest }
    }

    fn head(&self) -> &'a [u8] {
        self.head
    }

    /// `q`, in thousandths: 1000 when absent, 0 when it cannot be read.
    fn quality(&mut self) -> u16 {
        for parameter in self {
            match parameter {
                Some((name, value)) if name.eq_ignore_ascii_case(b"q") => {
                    return thousandths(value);
                }
                Some(_) => {}
                None => return 0,
            }
        }
        1000
    }
}

impl<'a> Iterator for Parameters<'a> {
    type Item = Option<(&'a [u8], &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let after = trim(self.rest.strip_prefix(b";")?);
        if after.is_empty() {
            self.rest = after;
            return None;
        }
        let name_length = after.iter().take_while(|byte| is_token_byte(**byte)).count();
        let (name, value) = after.split_at(name_length);
        let Some(value) = value.strip_prefix(b"=").filter(|_| name_length > 0) else {
            self.rest = b"";
            return Some(None);
        };
        let (value, rest) = if let Some(quoted) = value.strip_prefix(b"\"") {
            // A backslash inside is legal and nothing we compare with has one: take it as unreadable.
            match quoted.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
                Some(end) if quoted[end] == b'"' => (&quoted[..end], &quoted[end + 1..]),
                Some(_) | None => {
                    self.rest = b"";
                    return Some(None);
                }
            }
        } else {
            let length = value.iter().take_while(|byte| is_token_byte(**byte)).count();
            value.split_at(length)
        };
        self.rest = trim(rest);
        if !self.rest.is_empty() && !self.rest.starts_with(b";") {
            self.rest = b"";
            return Some(None);
        }
        Some(Some((name, value)))
    }
}

/// RFC 9110, 5.6.2.
pub fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn thousandths(text: &[u8]) -> u16 {
    let (whole, fraction) = match text {
        [whole] => (whole, &[][..]),
        [whole, b'.', fraction @ ..] if fraction.len() <= 3 => (whole, fraction),
        _ => return 0,
    };
    let mut value = match whole {
        b'0' => 0,
        b'1' => 1000,
        _ => return 0,
    };
    let mut unit = 100;
    for digit in fraction {
        if !digit.is_ascii_digit() {
            return 0;
        }
        value += u16::from(digit - b'0') * unit;
        unit /= 10;
    }
    if value > 1000 { 0 } else { value }
}

fn trim(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_content_types() {
        for good in [
            "application/json",
            "APPLICATION/JSON",
            "application/json; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
            "application/json ; charset=utf-8 ",
            "application/json;",
            "application/json; profile=x",
        ] {
            assert!(is_json_utf8(good.as_bytes()), "{good}");
        }
        for bad in [
            "",
            "text/json",
            "application/ld+json",
            "application/json, text/plain",
            "application/json; charset=utf-16",
            "application/json; charset=utf-8; charset=utf-8",
            "application/json; charset",
            "application/json; charset=\"utf-8",
            "application/json; charset=utf-8 x",
            "application/jsonx",
        ] {
            assert!(!is_json_utf8(bad.as_bytes()), "{bad}");
        }
        assert!(is_any_json(b"application/problem+json; charset=utf-8"));
        assert!(!is_any_json(b"text/html"));
    }

    #[test]
    fn accept_encoding_qualities() {
        let codings = Codings::NONE.read(b"gzip;q=0.5, br, zstd;q=0, *;q=0.1");
        assert_eq!(codings.quality(Coding::Gzip), 500);
        assert_eq!(codings.quality(Coding::Brotli), 1000);
        assert_eq!(codings.quality(Coding::Zstd), 0);
        assert_eq!(codings.quality(Coding::Identity), 100);
        assert_eq!(Codings::NONE.quality(Coding::Identity), 1);
        assert_eq!(Codings::NONE.quality(Coding::Gzip), 0);
        assert_eq!(Codings::NONE.read(b"gzip;q=2").quality(Coding::Gzip), 0);
        assert_eq!(Codings::NONE.read(b"identity;q=0").quality(Coding::Identity), 0);
    }

    #[test]
    fn entity_tags() {
        let current = |tag: &[u8]| tag == b"\"a\"";
        assert!(names_entity_tag(b"\"b\", W/\"a\"", false, current));
        assert!(!names_entity_tag(b"\"b\", W/\"a\"", true, current));
        assert!(names_entity_tag(b" * ", true, current));
        for bad in ["", "a", "\"a", "\"b\" \"a\"", "\"b\",, \"c\""] {
            assert!(!names_entity_tag(bad.as_bytes(), false, current), "{bad}");
        }
    }
}
