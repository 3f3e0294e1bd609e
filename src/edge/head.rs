//! HTTP/1 request heads, read strictly (RFC 9112): what two readers could read differently is
//! refused here, before anything is decided.

use super::Stray;
use crate::gateway::{Field, Head, Length};
use crate::media::{is_token_byte, lists};
use memchr::memchr_iter;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv6Addr};

/// Fields of a head, at most.
pub(super) const FIELDS: usize = 96;

/// Room for the fields of one head; what httparse fills.
pub(super) type FieldRoom<'a> = [MaybeUninit<Field<'a>>; FIELDS];

/// A head and how the connection goes on after it.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) head: Head<'a>,
    pub(super) framing: Framing,
    /// The client asked for, or can only take, one answer on this connection.
    pub(super) close: bool,
    /// The client waits for 100 before it sends the body.
    pub(super) expects_continue: bool,
}

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Exactly this many bytes.
    Length(u64),
    /// Chunked.
    Chunked,
}

/// Looks for the end of a head. `seen` is how far earlier looks came.
///
/// A CR without LF, or LF without CR, is refused as soon as it is seen: some readers take either for
/// the end of a line.
pub(super) fn find_end(bytes: &[u8], seen: usize) -> Result<Option<usize>, Stray> {
    let looked_at = seen.saturating_sub(3);
    for step in memchr_iter(b'\n', &bytes[looked_at..]) {
        let at = looked_at + step;
        if at == 0 || bytes[at - 1] != b'\r' {
            return Err(Stray::Framing);
        }
        if at >= 3 && bytes[at - 2] == b'\n' {
            return Ok(Some(at + 1));
        }
    }
    Ok(None)
}

/// Reads a complete head.
pub(super) fn read<'a>(
    bytes: &'a [u8],
    room: &'a mut FieldRoom<'a>,
    peer: IpAddr,
    scheme: &'static str,
) -> Result<Request<'a>, Stray> {
    // httparse would skip empty lines.
    if bytes.is_empty() || !starts_like_a_method(bytes) {
        return Err(Stray::Framing);
    }
    let mut request = httparse::Request::new(&mut []);
    match request.parse_with_uninit_headers(bytes, room) {
        Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
        Err(httparse::Error::TooManyHeaders) => return Err(Stray::HeadTooLarge),
        Ok(_) | Err(_) => return Err(Stray::Framing),
    }
    // A lone CR has no meaning anywhere in a head (RFC 9112, 2.2).
    if memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n')) {
        return Err(Stray::Framing);
    }
    let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version) else {
        return Err(Stray::Framing);
    };
    let fields: &'a [Field<'a>] = request.headers;
    let host = read_host(fields, version)?;
    let (authority, path, query) = split_target(target, host)?;
    let framing = read_framing(fields, version)?;
    let length = match framing {
        Framing::Length(length) => Length::Known(length),
        Framing::Chunked => Length::Unknown,
    };
    let head = Head { method, path, query, fields, length, peer, scheme, authority };
    let expects_continue = version == 1 && read_expect(head.fields)?;
    let close = version == 0 || says_close(&head);
    Ok(Request { head, framing, close, expects_continue })
}

/// HTTP/1.1: exactly one (RFC 9112, 3.2). HTTP/1.0: at most one.
fn read_host<'a>(fields: &[Field<'a>], version: u8) -> Result<&'a str, Stray> {
    let mut hosts = fields.iter().filter(|field| field.name.eq_ignore_ascii_case("host"));
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.value,
        (None, None) if version == 0 => b"",
        (Some(_) | None, Some(_) | None) => return Err(Stray::Framing),
    };
    std::str::from_utf8(host).ok().filter(|host| is_authority(host)).ok_or(Stray::Framing)
}

/// A name, an IPv4 address or a bracketed IPv6 address, and a port (RFC 3986, 3.2): without user information,
/// and without the marks that a name may have and none has.
fn is_authority(text: &str) -> bool {
    let is_port = |rest: &str| match rest.strip_prefix(':') {
        None => rest.is_empty(),
        Some(port) => port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit()),
    };
    if let Some(rest) = text.strip_prefix('[') {
        return rest
            .split_once(']')
            .is_some_and(|(address, rest)| address.parse::<Ipv6Addr>().is_ok() && is_port(rest));
    }
    let end = text.find(':').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)) && is_port(rest)
}

/// Origin form, `*`, or absolute form naming the same authority as `Host`. Never normalised.
fn split_target<'a>(target: &'a str, host: &'a str) -> Result<(&'a str, &'a str, Option<&'a str>), Stray> {
    if !is_target(target) {
        return Err(Stray::Framing);
    }
    let absolute = target.strip_prefix("http://").or_else(|| target.strip_prefix("https://"));
    let origin = match absolute {
        None => target,
        Some(rest) => {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let (authority, origin) = rest.split_at(end);
            if authority.is_empty() || !authority.eq_ignore_ascii_case(host) {
                return Err(Stray::Framing);
            }
            if origin.starts_with('/') { origin } else { "/" }
        }
    };
    if !origin.starts_with('/') && origin != "*" {
        return Err(Stray::Framing);
    }
    match origin.split_once('?') {
        Some((path, query)) => Ok((host, path, Some(query))),
        None => Ok((host, origin, None)),
    }
}

/// Visible ASCII, no fragment: whatever else stands in a target, readers disagree about.
pub(super) fn is_target(target: &str) -> bool {
    target.bytes().all(|byte| matches!(byte, b'!'..=b'~') && byte != b'#')
}

/// One `Content-Length` of digits, or one `Transfer-Encoding: chunked`, never both (RFC 9112, 6.1–6.3).
fn read_framing(fields: &[Field<'_>], version: u8) -> Result<Framing, Stray> {
    let mut lengths = fields.iter().filter(|f| f.name.eq_ignore_ascii_case("content-length"));
    let mut codings = fields.iter().filter(|f| f.name.eq_ignore_ascii_case("transfer-encoding"));
    match (lengths.next(), lengths.next(), codings.next(), codings.next()) {
        (None, None, None, None) => Ok(Framing::Length(0)),
        (Some(length), None, None, None) => {
            read_length(length.value).map(Framing::Length).ok_or(Stray::Framing)
        }
        (None, None, Some(coding), None) if version == 1 && coding.value.eq_ignore_ascii_case(b"chunked") => {
            Ok(Framing::Chunked)
        }
        (Some(_) | None, Some(_) | None, Some(_) | None, Some(_) | None) => Err(Stray::Framing),
    }
}

/// Digits only, and few enough that nobody's integer wraps around.
pub(super) fn read_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 18 || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Whether the client waits for `100 Continue`; it may expect nothing else (RFC 9110, 10.1.1).
pub(super) fn read_expect(fields: &[Field<'_>]) -> Result<bool, Stray> {
    let mut expects = fields.iter().filter(|field| field.name.eq_ignore_ascii_case("expect")).peekable();
    let is_any = expects.peek().is_some();
    if expects.all(|field| field.value.eq_ignore_ascii_case(b"100-continue")) {
        Ok(is_any)
    } else {
        Err(Stray::Expectation)
    }
}

fn says_close(head: &Head<'_>) -> bool {
    head.all("connection").any(|value| lists(value, "close"))
}

/// Whether the first bytes of a connection can only be a head's: cheap, before a whole one is there.
pub(super) fn starts_like_a_method(bytes: &[u8]) -> bool {
    bytes.first().is_none_or(|byte| is_token_byte(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn parse(text: &str) -> Result<(Framing, String), Stray> {
        let bytes = text.as_bytes();
        match find_end(bytes, 0)? {
            Some(end) if end == bytes.len() => {}
            _ => return Err(Stray::Framing),
        }
        let mut room = [const { MaybeUninit::uninit() }; FIELDS];
        let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
        read(bytes, &mut room, peer, "http").map(|r| (r.framing, r.head.path.to_owned()))
    }

    #[test]
    fn plain_heads() {
        let (framing, path) = parse("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert_eq!((framing, path.as_str()), (Framing::Length(0), "/a"));
        assert!(parse("GET http://x/a HTTP/1.1\r\nHost: X\r\n\r\n").is_ok());
        for host in ["x:80", "[::1]:80", "127.0.0.1", "a_b.example."] {
            assert!(parse(&format!("GET /a HTTP/1.1\r\nHost: {host}\r\n\r\n")).is_ok(), "{host}");
        }
        assert!(parse("GET /a HTTP/1.0\r\n\r\n").is_ok());
        let chunked = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n";
        assert_eq!(parse(chunked).unwrap().0, Framing::Chunked);
    }

    #[test]
    fn whatever_could_be_read_twice_is_refused() {
        let with = |line: &str| format!("POST /a HTTP/1.1\r\nHost: x\r\n{line}\r\n\r\n");
        for line in [
            "Content-Length: 1\r\nTransfer-Encoding: chunked",
            "Content-Length: 1\r\nContent-Length: 1",
            "Content-Length: 1, 1",
            "Content-Length: +1",
            "Content-Length: -1",
            "Content-Length: 0x1",
            "Content-Length: 1 1",
            "Content-Length:",
            "Content-Length: 9999999999999999999",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunked, identity",
            "Transfer-Encoding: xchunked",
            "Transfer-Encoding: \"chunked\"",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding : chunked",
            "Transfer-Encoding:\u{b}chunked",
            "X: a\r\n folded",
            "X: a\rb",
            "X: a\nContent-Length: 3",
            "X: a\0b",
            "Host: y",
            ": x",
            "no colon",
        ] {
            assert!(parse(&with(line)).is_err(), "{line:?}");
        }
        for whole in [
            "GET /a HTTP/1.1\r\n\r\n",
            "\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: a b\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: u@x\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: a,b\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: [::1\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: [::1]x\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: x:80:80\r\n\r\n",
            "GET /a HTTP/1.1\nHost: x\n\n",
            "GET /a HTTP/2.0\r\nHost: x\r\n\r\n",
            "GET  /a HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /\u{e9} HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET a HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET http://y/a HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET ftp://x/a HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert!(parse(whole).is_err(), "{whole:?}");
        }
    }

    #[test]
    fn the_end_is_found_however_the_head_is_cut() {
        let bytes = b"GET / HTTP/1.1\r\nHost: x\r\n\r\nrest";
        for seen in 0..24 {
            assert_eq!(find_end(bytes, seen), Ok(Some(27)));
        }
        assert_eq!(find_end(&bytes[..26], 0), Ok(None));
    }
}
