//! Words about URLs that clients are given, and about what GET-Actions are made of.

use super::{WordVisitor, is_unreserved, split_host_port};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer};
use std::borrow::Cow;

word!(text
    /// An absolute URL, maybe with `{key}` in it.
    Link(String) by parse_link,
    { "type": "string", "pattern": "^https?://[^/?#@]+(/.*)?$", "examples": ["https://example.org/review/{key}"] });
word!(text
    /// A host as it stands in URLs, maybe with a port.
    WebHost(String) by |text| match split_host_port(text) {
        Some(_) if !text.contains('_') => Ok(text.to_ascii_lowercase()),
        Some(_) | None => Err("expected a host, `meet.example` or `meet.example:8443`".to_owned()),
    },
    { "type": "string", "examples": ["meet.example"] });
word!(text
    /// A JSON Pointer (RFC 6901) to a member.
    Pointer(String) by |text| if text.starts_with('/') && !has_bad_escape(text) { Ok(text.to_owned()) } else {
        Err("expected a JSON Pointer to a member, `/joinUrl`; `~` is written `~0`, `/` in a name `~1`".to_owned())
    },
    { "type": "string", "pattern": "^(/([^/~]|~[01])*)+$" });
word!(text
    /// `openThisUrlToStartAMeeting`.
    Label(String) by parse_label,
    { "type": "string", "pattern": "^[a-z][A-Za-z0-9]{2,79}$" });
word!(any
    /// The name of a parameter, or `utm_*`: every one that begins so.
    Parameter(String) by parse_parameter,
    { "type": "string", "pattern": "^[A-Za-z0-9._~-]+\\*?$", "examples": ["utm_*", "fbclid"] });
word!(any
    /// `receipt`.
    ReceiptWord(()) by |text| if text == "receipt" { Ok(()) } else {
        Err("expected `receipt`, or a mapping with `pointer` and `hosts`, or with `template`".to_owned())
    },
    { "const": "receipt" });

fn parse_link(text: &str) -> Result<String, String> {
    let expected =
        || "expected an absolute URL, `https://example.org/review/{key}`, without a password".to_owned();
    let (scheme, rest) = text.split_once("://").ok_or_else(expected)?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if !["http", "https"].contains(&scheme) || split_host_port(authority).is_none() {
        return Err(expected());
    }
    let plain = path.replace("{key}", "");
    let stands = |byte: u8| is_unreserved(byte) || b"%/?#[]@!$&'()*+,;=:".contains(&byte);
    if !plain.bytes().all(stands) {
        return Err("has a character that does not stand in a URL; only `{key}` is put in".to_owned());
    }
    Ok(text.to_owned())
}

fn has_bad_escape(pointer: &str) -> bool {
    pointer.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1']))
}

fn parse_label(text: &str) -> Result<String, String> {
    let fits = (3..=80).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if fits {
        Ok(text.to_owned())
    } else {
        Err("a label says what to do with the URL behind it, in letters and digits: `openThisUrlToStartAMeeting`".to_owned())
    }
}

fn parse_parameter(text: &str) -> Result<String, String> {
    let name = text.strip_suffix('*').unwrap_or(text);
    if !name.is_empty() && name.bytes().all(is_unreserved) {
        Ok(text.to_owned())
    } else {
        Err("expected the name of a parameter, or its beginning and `*`: `utm_*`".to_owned())
    }
}
