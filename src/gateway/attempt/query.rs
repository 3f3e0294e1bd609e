//! From a query to a key and a JSON body (REQUIREMENTS B-26, B-27, B-29).
//!
//! Decoded once, as forms of pages are (`+` is a space), strict UTF-8; nothing is guessed: what could be read in
//! two ways is refused (U-20). Building the body is no re-serialising: here the gateway is the actor, and what it
//! built goes the same way as a body that was posted.

use super::plan::{KEY_NAMES, Plan, Scalar};
use super::secret;
use crate::hex;
use crate::json::{Kind, Object, push_quoted};
use crate::reason::Reason;
use bytes::Bytes;
use std::borrow::Cow;
use std::fmt::Write;

/// Bytes of a query, at most. A form of scalars that needs more is for POST.
pub const MAX_QUERY: usize = 8 << 10;

/// Characters of a key (B-29).
const KEY_LENGTH: std::ops::RangeInclusive<usize> = 8..=128;

/// A parameter that is taken away before anything is looked at: one name, or all that begin so (`utm_*`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dropped {
    /// Exactly this name.
    Name(String),
    /// Every name that begins so.
    Prefix(String),
}

impl Dropped {
    /// `utm_*` or `name`.
    pub fn read(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some(prefix) => Self::Prefix(prefix.to_owned()),
            None => Self::Name(text.to_owned()),
        }
    }

    /// Whether a parameter of this name is taken away.
    pub fn takes(&self, name: &str) -> bool {
        match self {
            Self::Name(own) => own == name,
            Self::Prefix(prefix) => name.starts_with(prefix.as_str()),
        }
    }
}

/// What a query asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The client's key, as it stands between the checks of B-29: letters, digits and `-._~`.
    pub key: String,
    /// The JSON body.
    pub body: Bytes,
    /// Which members it names, in the order of the form.
    pub members: Vec<usize>,
}

/// Why a query is not an attempt that could be looked at further. For metrics, log and tests; never sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// Over [`MAX_QUERY`].
    TooLong,
    /// Nothing between two `&`, or no name before `=`.
    Nameless,
    /// A name without `=`.
    Valueless,
    /// A `%` without two hexadecimal digits, or bytes that are not UTF-8.
    Encoding,
    /// A name twice, after decoding.
    Repeated,
    /// No member of the form.
    Unknown,
    /// Not how a value of the member's type is written.
    Spelling,
    /// Something that looks like a secret (U-14).
    Secret,
    /// No key, or an empty one.
    NoKey,
    /// `idempotency_key` and `nonce`, or one of them twice.
    TwoKeys,
    /// Not `[A-Za-z0-9._~-]{8,128}`.
    KeyShape,
    /// A body beside the query.
    Body,
}

impl Flaw {
    /// The kind of it, for metrics and log.
    pub(super) fn reason(self) -> Reason {
        match self {
            Self::Secret => Reason::Secret,
            Self::NoKey | Self::TwoKeys | Self::KeyShape => Reason::IdempotencyKey,
            Self::TooLong
            | Self::Nameless
            | Self::Valueless
            | Self::Encoding
            | Self::Repeated
            | Self::Unknown
            | Self::Spelling
            | Self::Body => Reason::Parameters,
        }
    }
}

impl Plan {
    /// Whether a query names the key, the nonce or a member, once dropped parameters are away (B-25).
    pub fn is_named_in(&self, query: &str) -> bool {
        query.split('&').any(|pair| {
            let name = decode(pair.split_once('=').map_or(pair, |(name, _)| name));
            name.is_ok_and(|name| {
                !self.drops(&name) && (KEY_NAMES.contains(&&*name) || self.position(&name).is_some())
            })
        })
    }

    /// Reads a query. Linear in its length.
    pub fn read(&self, query: &str) -> Result<Asked, Flaw> {
        if query.len() > MAX_QUERY {
            return Err(Flaw::TooLong);
        }
        let mut values: Vec<Option<Cow<'_, str>>> = vec![None; self.parameters().len()];
        let mut key = None;
        for pair in query.split('&') {
            let (raw_name, raw_value) = match pair.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (pair, None),
            };
            let name = decode(raw_name)?;
            if self.drops(&name) {
                continue;
            }
            if name.is_empty() {
                return Err(Flaw::Nameless);
            }
            let position = self.position(&name);
            let is_key = KEY_NAMES.contains(&&*name);
            if position.is_none() && !is_key {
                return Err(if secret::names(&name) { Flaw::Secret } else { Flaw::Unknown });
            }
            let value = decode(raw_value.ok_or(Flaw::Valueless)?)?;
            let slot = match position {
                Some(position) => &mut values[position],
                None if key.is_some() => return Err(Flaw::TwoKeys),
                None => &mut key,
            };
            if slot.replace(value).is_some() {
                return Err(Flaw::Repeated);
            }
        }
        let key = key.filter(|key| !key.is_empty()).ok_or(Flaw::NoKey)?;
        if !is_key_shaped(&key) {
            return Err(Flaw::KeyShape);
        }
        let (body, members) = write(self, &values)?;
        Ok(Asked { key: key.into_owned(), body, members })
    }

    /// The query that stands for a value, without a key: members in the order of the form, spaces as `+`. `None` for one
    /// that has a value a query cannot spell.
    pub fn spell(&self, value: Object<'_>) -> Option<String> {
        let mut query = String::new();
        let mut spelled = 0;
        for parameter in self.parameters() {
            let Some(member) = value.get(&parameter.name) else { continue };
            let text = match member.kind() {
                Kind::String => member.as_str()?,
                Kind::Number => member.as_number()?.text(),
                Kind::Boolean => {
                    if member.as_bool()? {
                        "true"
                    } else {
                        "false"
                    }
                }
                Kind::Null | Kind::Array | Kind::Object => return None,
            };
            if spelled > 0 {
                query.push('&');
            }
            encode(&parameter.name, &mut query);
            query.push('=');
            encode(text, &mut query);
            spelled += 1;
        }
        (spelled == value.len()).then_some(query)
    }
}

/// The body: members in the order of the form, compact.
fn write(plan: &Plan, values: &[Option<Cow<'_, str>>]) -> Result<(Bytes, Vec<usize>), Flaw> {
    let (mut body, mut members) = (String::from("{"), Vec::new());
    for (position, parameter) in plan.parameters().iter().enumerate() {
        let Some(text) = &values[position] else { continue };
        if !members.is_empty() {
            body.push(',');
        }
        body.push_str(&parameter.opening);
        match parameter.scalar {
            Scalar::Text if secret::is_in(text) => return Err(Flaw::Secret),
            Scalar::Text => push_quoted(text, &mut body),
            Scalar::Integer if is_integer(text) => body.push_str(text),
            Scalar::Number if is_plain(text) => body.push_str(text),
            Scalar::Boolean if matches!(&**text, "true" | "false") => body.push_str(text),
            Scalar::Integer | Scalar::Number | Scalar::Boolean => return Err(Flaw::Spelling),
        }
        members.push(position);
    }
    body.push('}');
    Ok((Bytes::from(body), members))
}

fn encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            _ if is_unreserved(byte) => out.push(char::from(byte)),
            // Writing to a `String` cannot fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
}

/// RFC 3986, 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// `[A-Za-z0-9._~-]{8,128}`: what no reader of URLs changes.
pub(super) fn is_key_shaped(key: &str) -> bool {
    KEY_LENGTH.contains(&key.len()) && key.bytes().all(is_unreserved)
}

/// `-?(0|[1-9][0-9]*)`
pub(super) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    match digits.as_bytes() {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// `-?(0|[1-9][0-9]*)(\.[0-9]+)?`
fn is_plain(text: &str) -> bool {
    match text.split_once('.') {
        None => is_integer(text),
        Some((whole, fraction)) => {
            is_integer(whole) && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit())
        }
    }
}

/// Percent-decoded once, `+` as a space (`application/x-www-form-urlencoded`), strict UTF-8.
fn decode(raw: &str) -> Result<Cow<'_, str>, Flaw> {
    if !raw.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Ok(Cow::Borrowed(raw));
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let [byte, after @ ..] = rest {
        let (decoded, left) = match (byte, after) {
            (b'+', _) => (b' ', after),
            (b'%', [high, low, left @ ..]) => (hex::pair(*high, *low).ok_or(Flaw::Encoding)?, left),
            (b'%', _) => return Err(Flaw::Encoding),
            (byte, _) => (*byte, after),
        };
        out.push(decoded);
        rest = left;
    }
    String::from_utf8(out).map(Cow::Owned).map_err(|_| Flaw::Encoding)
}
