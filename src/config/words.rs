//! The words that values are made of. Each parses itself; one that exists is right.

use super::{AccessLog, AdminAddress, Listen};
use crate::bounds::{self, Frequency};
use crate::gateway::{PathPattern, Server, TokenHash};
use crate::surface::openapi::TEXT;
use ipnet::IpNet;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Declares a word: how it is read from its text, and its JSON Schema.
///
/// `any` takes any scalar by its own text (`65536`, `off`); `text` only what every reader of YAML takes for text.
macro_rules! word {
    (any $($rest:tt)*) => { word!(@ deserialize_any $($rest)*); };
    (text $($rest:tt)*) => { word!(@ deserialize_str $($rest)*); };
    (@ $method:ident $(#[$doc:meta])* $name:ident($inner:ty) by $parse:expr, $schema:tt) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub(in crate::config) struct $name(pub(in crate::config) $inner);

        impl<'d> Deserialize<'d> for $name {
            fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
                let parse: fn(&str) -> Result<$inner, String> = $parse;
                deserializer.$method(WordVisitor(parse)).map(Self)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

mod collector;
mod link;
mod server;
mod store;

pub(super) use server::{BalanceWord, HashKey};

pub(super) use collector::{OtlpUrl, Share};
pub(super) use link::{Label, Link, Parameter, Pointer, ReceiptWord, WebHost};
pub(super) use store::{Part, PolicyWord, RedisUrl, StorePrefix};

struct WordVisitor<T>(fn(&str) -> Result<T, String>);

impl<T> Visitor<'_> for WordVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one word")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

word!(any
    /// `on` or `off`; to some readers of YAML these are `true` and `false`, so those are said to be the same.
    Switch(bool) by |text| match text {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err("expected `on` or `off`".to_owned()),
    },
    { "enum": ["on", "off", true, false] });
word!(any
    /// `64KiB`, or bytes.
    Size(usize) by |text| bounds::parse_size(text).map_err(|fault| fault.to_string()),
    { "type": ["string", "integer"], "pattern": "^[0-9]+(B|KiB|MiB|GiB)?$", "minimum": 0 });
word!(any
    /// `30s`.
    Time(Duration) by parse_time,
    { "type": "string", "pattern": "^[0-9]+(ms|s|m|h)$" });
word!(any
    /// `1s`, or `off`.
    TimeOrOff(Option<Duration>) by |text| if text == "off" { Ok(None) } else { parse_time(text).map(Some) },
    { "type": "string", "pattern": "^([0-9]+(ms|s|m|h)|off)$" });
word!(any
    /// `5/s burst 10`, or `none`.
    RateWord(Option<Frequency>) by |text| bounds::parse_rate(text).map_err(|fault| fault.to_string()),
    { "type": "string", "pattern": "^([0-9]+/[smh]( burst [0-9]+)?|none)$", "examples": ["5/s burst 10", "none"] });
word!(any
    /// `none`, said explicitly.
    NoneWord(()) by |text| if text == "none" { Ok(()) } else {
        Err("expected `none`, or a mapping with `get`, `post` and `refused`".to_owned())
    },
    { "const": "none" });
word!(any
    /// `memory`.
    MemoryWord(()) by |text| if text == "memory" { Ok(()) } else {
        Err("expected `memory`, or a mapping: `{ file: /var/lib/formgate/records.db }` or `{ redis: …, when_down: … }`".to_owned())
    },
    { "const": "memory" });
word!(any
    /// `127.0.0.1:8080`, or `https://127.0.0.1:8443`.
    ListenAddress(Listen) by |text| {
        let (tls, address) = text.strip_prefix("https://").map_or((false, text), |address| (true, address));
        address.parse().map(|address| Listen { address, tls }).map_err(|_| {
            "expected an address and a port, `0.0.0.0:8080` or `[::]:8080`, behind `https://` for TLS; names are not looked up".to_owned()
        })
    },
    { "type": "string", "examples": ["0.0.0.0:8080", "[::]:8080", "https://0.0.0.0:8443"] });
word!(any
    /// A loopback address, `unix:/path`, or `off`.
    AdminWord(Option<AdminAddress>) by parse_admin,
    { "type": "string", "examples": ["127.0.0.1:9901", "unix:/run/formgate/admin.sock", "off"] });
word!(any
    /// `stdout`, `off`, or a path.
    AccessLogWord(AccessLog) by parse_access_log,
    { "type": "string", "examples": ["stdout", "off", "/var/lib/formgate/access.log"] });
word!(text
    /// `https://api.example.com`, no slash at the end.
    PublicUrl(String) by parse_public_url,
    { "type": "string", "pattern": "^https?://[^/?#@]+(/[^?#]*)?$" });
word!(any
    /// `10.0.0.0/8`, or one address.
    Network(IpNet) by |text| text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).map_err(|_| {
        "expected a network, `10.0.0.0/8` or `fd00::/8`, or one address".to_owned()
    }),
    { "type": "string", "examples": ["10.0.0.0/8", "fd00::/8"] });
word!(text
    /// The path of an address, exactly as it stands on the wire.
    RouteAddress(String) by |text| check_path(text, false).map(|()| text.to_owned()),
    { "type": "string", "pattern": "^/[^?# ]*$" });
word!(text
    /// `start_meeting`.
    RouteName(String) by parse_name,
    { "type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$" });
word!(text
    /// A `GPT-Type`: visible ASCII.
    GptType(String) by |text| if !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic()) {
        Ok(text.to_owned())
    } else {
        Err("a type is visible ASCII without spaces: it is sent as the `GPT-Type` field".to_owned())
    },
    { "type": "string", "pattern": "^[!-~]+$" });
word!(text
    /// Path and query at the upstream, fixed.
    UpstreamPath(PathPattern) by server::parse_target,
    { "type": "string", "pattern": "^/[^# ]*$" });
word!(text
    /// `http://host:port` or `unix:/path`; `https://` is true.
    ServerUrl((bool, Server)) by parse_server,
    { "type": "string", "pattern": "^(https?://[^/?#@]+/?|unix:/.+)$", "examples": ["http://10.0.0.7:8081", "https://crm.internal", "unix:/run/app.sock"] });
word!(text
    /// A name that a certificate can be for: DNS, or an address.
    TlsName(String) by |text| match split_host_port(text) {
        Some((host, None)) => Ok(host.to_owned()),
        Some((_, Some(_))) | None => Err("expected a name without a port, `crm.internal`".to_owned()),
    },
    { "type": "string", "examples": ["crm.internal"] });
word!(text
    /// A `Host` field value: a name or an address, maybe a port.
    HostWord(String) by |text| if split_host_port(text).is_some() { Ok(text.to_owned()) } else {
        Err("expected a host, `crm.internal` or `crm.internal:8081`".to_owned())
    },
    { "type": "string" });
word!(text
    /// `https://app.example`, or `*`.
    Origin(String) by parse_origin,
    { "type": "string", "pattern": "^(\\*|https?://[^/?#@]+)$" });
word!(any
    /// SHA-256 of a token.
    HashWord(TokenHash) by |text| TokenHash::parse(text).ok_or_else(|| {
        "expected a SHA-256 in 64 hex digits, never the token itself: `formgate token` prints one, `formgate token --hash` reads a token that exists".to_owned()
    }),
    { "type": "string", "pattern": "^[0-9a-fA-F]{64}$" });
word!(text
    /// Text that says something.
    Filled(String) by |text| if text.trim().is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.to_owned()) },
    { "type": "string", "minLength": 1 });

word!(text
    /// Text that says something, and not much.
    Summary(String) by |text| match text.chars().count() {
        0 => Err("must not be empty".to_owned()),
        length if length > TEXT => Err(format!("has {length} characters; {TEXT} fit")),
        _ => Ok(text.to_owned()),
    },
    { "type": "string", "minLength": 1, "maxLength": TEXT });

fn parse_time(text: &str) -> Result<Duration, String> {
    bounds::parse_time(text).map_err(|fault| fault.to_string())
}

fn parse_admin(text: &str) -> Result<Option<AdminAddress>, String> {
    if text == "off" {
        return Ok(None);
    }
    if let Some(path) = text.strip_prefix("unix:") {
        return if path.starts_with('/') {
            Ok(Some(AdminAddress::Unix(PathBuf::from(path))))
        } else {
            Err("a unix socket needs an absolute path, `unix:/run/formgate/admin.sock`".to_owned())
        };
    }
    let address: SocketAddr = text.parse().map_err(|_| {
        "expected a loopback address with a port, `127.0.0.1:9901`, `unix:/path`, or `off`".to_owned()
    })?;
    if address.ip().to_canonical().is_loopback() {
        Ok(Some(AdminAddress::Tcp(address)))
    } else {
        Err("the admin listener must not be reachable from outside; bind it to 127.0.0.1, [::1] or a unix socket".to_owned())
    }
}

fn parse_access_log(text: &str) -> Result<AccessLog, String> {
    match text {
        "stdout" => Ok(AccessLog::Stdout),
        "off" => Ok(AccessLog::Off),
        path if path.contains('/') && !path.ends_with('/') => Ok(AccessLog::File(PathBuf::from(path))),
        _ => Err("expected `stdout`, `off`, or the path of a file (with a `/` in it)".to_owned()),
    }
}

fn parse_public_url(text: &str) -> Result<String, String> {
    let expected = || "expected `https://host`, without query, fragment or password".to_owned();
    let (scheme, rest) = text.split_once("://").ok_or_else(expected)?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if !["http", "https"].contains(&scheme) || split_host_port(authority).is_none() {
        return Err(expected());
    }
    let path = path.trim_end_matches('/');
    if !path.is_empty() {
        check_path(path, false)?;
    }
    Ok(format!("{scheme}://{authority}{path}"))
}

pub(super) fn parse_name(text: &str) -> Result<String, String> {
    let mut bytes = text.bytes();
    let fits = text.len() <= 64
        && bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if fits {
        return Ok(text.to_owned());
    }
    if text.starts_with('_') {
        return Err("names that start with `_` are the gateway's own; start with a letter".to_owned());
    }
    Err("a name is snake_case: a lower-case letter, then lower-case letters, digits and `_`, 64 at most"
        .to_owned())
}

pub(super) fn parse_server(text: &str) -> Result<(bool, Server), String> {
    if let Some(path) = text.strip_prefix("unix:") {
        return server::parse_socket(path).map(|server| (false, server));
    }
    let expected = || {
        "expected `http://host:port` or `https://host:port`, without path, query or password, or `unix:/path`"
            .to_owned()
    };
    let (secure, rest) = match text.strip_prefix("https://") {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix("http://").ok_or_else(expected)?),
    };
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    let (host, port) = split_host_port(authority).ok_or_else(|| match authority.split_once('/') {
        Some((authority, _)) if split_host_port(authority).is_some() => {
            "a server has no path: the path goes into a route's `upstream.path`".to_owned()
        }
        Some(_) | None => expected(),
    })?;
    let port = port.unwrap_or(if secure { 443 } else { 80 });
    Ok((secure, Server { host: host.to_owned(), port, tls: None, socket: None }))
}

pub(super) fn parse_upstream_path(text: &str) -> Result<PathPattern, String> {
    server::parse_target(text)
}

fn parse_origin(text: &str) -> Result<String, String> {
    if text == "*" {
        return Ok(text.to_owned());
    }
    let fits =
        text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).is_some_and(|authority| {
            split_host_port(authority).is_some() && authority.to_ascii_lowercase() == authority
        });
    if fits {
        Ok(text.to_owned())
    } else {
        Err("expected an origin as browsers send it, `https://app.example`, lower case and without a path, or `*`".to_owned())
    }
}

/// Host (IPv6 without its brackets) and port, or nothing when it is not that.
fn split_host_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, rest) = if let Some(bracketed) = authority.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']')?;
        host.parse::<std::net::Ipv6Addr>().ok()?;
        (host, rest)
    } else {
        let (host, rest) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
        let fits = !host.is_empty()
            && host.len() <= 253
            && !host.starts_with(['-', '.'])
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
        if !fits {
            return None;
        }
        (host, rest)
    };
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Some((host, None)),
        Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => {
            port.parse().ok().filter(|port| *port != 0).map(|port| (host, Some(port)))
        }
        None | Some(_) => None,
    }
}

/// RFC 3986, 3.3: segments of `pchar`. What two servers could read as two paths is refused: matching is exact.
pub(super) fn check_path(text: &str, query_allowed: bool) -> Result<(), String> {
    let path = match text.split_once('?') {
        Some((path, query)) if query_allowed => {
            check_bytes(query, b"/?")?;
            path
        }
        Some(_) => return Err("an address has no query".to_owned()),
        None => text,
    };
    if !path.starts_with('/') {
        return Err("must start with `/`".to_owned());
    }
    check_bytes(path, b"/")?;
    if path.contains("//") {
        return Err("has an empty segment (`//`)".to_owned());
    }
    if path.split('/').any(|segment| matches!(segment, "." | "..")) {
        return Err("has a segment `.` or `..`, which clients and servers take out".to_owned());
    }
    Ok(())
}

fn check_bytes(text: &str, extra: &[u8]) -> Result<(), String> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'%' {
            let digits = text.get(at + 1..at + 3).unwrap_or_default();
            let decoded = u8::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
            match decoded {
                None => return Err("has a `%` without two hexadecimal digits behind it".to_owned()),
                Some(b) if is_unreserved(b) => {
                    return Err(format!(
                        "has `%{digits}`, which some clients send as `{}`; write that",
                        char::from(b)
                    ));
                }
                Some(_) if digits.bytes().any(|b| b.is_ascii_lowercase()) => {
                    return Err(format!("has `%{digits}`; percent-encodings are written in upper case"));
                }
                Some(_) => at += 3,
            }
        } else if is_unreserved(byte) || b"!$&'()*+,;=:@".contains(&byte) || extra.contains(&byte) {
            at += 1;
        } else {
            let shown = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('?');
            return Err(format!("`{}` cannot stand in a path; percent-encode it", shown.escape_debug()));
        }
    }
    Ok(())
}

/// RFC 3986, 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}
