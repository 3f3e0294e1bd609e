//! The head that an admitted body leaves under, built here and nowhere else: fixed method and
//! target, allow-listed fields (DESIGN 4). Nothing of the client's head is in it by default.

use super::act::Admitted;
use super::head::{Head, Origin};
use super::outbound::{Outbound, Server, Upstream};
use super::route::Route;
use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

/// The part of the head that is the same for every act of a route, one for each server.
#[derive(Debug)]
pub(super) struct Departure {
    prefixes: Vec<Vec<u8>>,
}

impl Departure {
    pub(super) fn new(route: &Route) -> Self {
        let outbound = &route.outbound;
        let servers = outbound.upstream.servers.iter();
        Self { prefixes: servers.map(|server| prefix(outbound, server)).collect() }
    }
}

fn prefix(outbound: &Outbound, server: &Server) -> Vec<u8> {
    let Outbound { method, target, host, set_fields, .. } = outbound;
    let host = host.clone().unwrap_or_else(|| server.authority());
    let mut text = format!(
        "{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Accept: application/json\r\nAccept-Encoding: identity\r\nUser-Agent: formgate/{}\r\n",
        env!("CARGO_PKG_VERSION"),
    );
    for field in set_fields {
        text.push_str(&field.name);
        text.push_str(": ");
        text.push_str(&field.value);
        text.push_str("\r\n");
    }
    text.into_bytes()
}

/// What names one request: unique, not secret.
#[derive(Debug, Clone, Copy)]
pub struct Ids {
    /// `X-Request-Id`, to the client and to the upstream.
    pub request: u128,
    /// Trace id: the client's, if its `traceparent` is well formed (W3C Trace Context, 3.2).
    pub trace: u128,
    /// Our span: the parent of whatever the upstream does.
    pub span: u64,
    /// The flags byte.
    pub flags: u8,
}

impl Ids {
    /// Takes over the trace of the client; everything else is new.
    pub fn of(head: &Head<'_>, mut random: impl FnMut() -> u64) -> Self {
        let mut wide = || u128::from(random()) << 64 | u128::from(random());
        let (request, fresh) = (wide(), wide());
        let (trace, flags) = head.only("traceparent").and_then(read_traceparent).unwrap_or((fresh | 1, 0));
        Self { request, trace, span: random() | 1, flags }
    }
}

/// Version 00 only: of later ones we could not say what we pass on.
fn read_traceparent(field: &[u8]) -> Option<(u128, u8)> {
    let text = std::str::from_utf8(field).ok()?;
    let lower_hex = |part: &str| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let mut parts = text.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let sizes = (version, trace.len(), parent.len(), flags.len(), parts.next());
    if sizes != ("00", 32, 16, 2, None) || ![trace, parent, flags].into_iter().all(lower_hex) {
        return None;
    }
    let trace = u128::from_str_radix(trace, 16).ok().filter(|id| *id != 0)?;
    u64::from_str_radix(parent, 16).ok().filter(|id| *id != 0)?;
    Some((trace, u8::from_str_radix(flags, 16).ok()? & 1))
}

impl Admitted<'_> {
    /// The backend.
    pub fn upstream(&self) -> &Arc<Upstream> {
        &self.route.outbound.upstream
    }

    /// The head as it goes to server number `server`; [`Admitted::body`] follows it.
    pub fn head(&self, server: usize, head: &Head<'_>, ids: &Ids) -> Vec<u8> {
        let prefix = &self.departure.prefixes[server];
        let mut out = Vec::with_capacity(prefix.len() + 512);
        out.extend_from_slice(prefix);
        forwarded(&mut out, head, self.origin);
        for name in &self.route.outbound.pass_fields {
            for value in head.all(name) {
                line(&mut out, name, value);
            }
        }
        // Writing to a `Vec` cannot fail.
        let _ = write!(
            out,
            "X-Request-Id: {:032x}\r\ntraceparent: 00-{:032x}-{:016x}-{:02x}\r\n\
             Content-Length: {}\r\n\r\n",
            ids.request,
            ids.trace,
            ids.span,
            ids.flags,
            self.body().len(),
        );
        out
    }
}

/// `X-Forwarded-*`: overwritten, unless the peer is a proxy that we trust.
fn forwarded(out: &mut Vec<u8>, head: &Head<'_>, origin: Origin) {
    let peer = head.peer.to_canonical();
    let said = |name| head.only(name).filter(|_| origin.peer_trusted);
    out.extend_from_slice(b"X-Forwarded-For: ");
    if origin.peer_trusted {
        for list in head.all("x-forwarded-for") {
            out.extend_from_slice(list);
            out.extend_from_slice(b", ");
        }
    }
    let _ = match peer {
        IpAddr::V4(v4) => write!(out, "{v4}\r\n"),
        IpAddr::V6(v6) => write!(out, "{v6}\r\n"),
    };
    let scheme = said("x-forwarded-proto").filter(|said| matches!(*said, b"http" | b"https"));
    line(out, "X-Forwarded-Proto", scheme.unwrap_or(head.scheme.as_bytes()));
    let host = said("x-forwarded-host").unwrap_or(head.authority.as_bytes());
    if !host.is_empty() {
        line(out, "X-Forwarded-Host", host);
    }
}

fn line(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}
