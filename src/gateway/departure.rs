//! The head that an admitted body leaves under, built here and nowhere else: fixed method, a target that is
//! fixed but for members that the form proves safe, allow-listed fields (DESIGN 4). Nothing of the client's head is in it by default.

use super::act::Admitted;
use super::head::{Head, Origin, PublicName};
use super::ids::Ids;
use super::outbound::{Outbound, Server, Upstream};
use super::route::Route;
use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

/// The parts of the head that are the same for every act of a route.
#[derive(Debug)]
pub(super) struct Departure {
    /// Method and target, as far as they come before the first thing that is not.
    opening: Vec<u8>,
    /// What follows the target, for each server.
    prefixes: Vec<Vec<u8>>,
}

impl Departure {
    pub(super) fn new(route: &Route) -> Self {
        let outbound = &route.outbound;
        let servers = outbound.upstream.servers.iter();
        let opening = format!("{} {}", outbound.method, outbound.target.fixed().unwrap_or_default());
        Self {
            opening: opening.into_bytes(),
            prefixes: servers.map(|server| prefix(outbound, server)).collect(),
        }
    }
}

fn prefix(outbound: &Outbound, server: &Server) -> Vec<u8> {
    let Outbound { host, set_fields, .. } = outbound;
    let host = host.clone().unwrap_or_else(|| server.authority());
    let mut text = format!(
        " HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
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

impl Admitted<'_> {
    /// The backend.
    pub fn upstream(&self) -> &Arc<Upstream> {
        &self.ticket.route.outbound.upstream
    }

    /// The head as it goes to server number `server`, with room for so many bytes more; [`Admitted::body`] follows it.
    pub fn head(&self, server: usize, head: &Head<'_>, ids: &Ids, room: usize) -> Vec<u8> {
        let Departure { opening, prefixes } = self.ticket.departure;
        let (target, prefix) = (self.target.as_deref().unwrap_or_default(), &prefixes[server]);
        let mut out = Vec::with_capacity(opening.len() + target.len() + prefix.len() + 512 + room);
        for part in [opening, target, prefix] {
            out.extend_from_slice(part);
        }
        forwarded(&mut out, head, self.ticket.origin, self.ticket.public);
        for name in &self.ticket.route.outbound.pass_fields {
            for value in head.all(name) {
                line(&mut out, name, value);
            }
        }
        line(&mut out, "X-Request-Id", ids.request.as_bytes());
        for part in [b"traceparent: 00-", ids.trace.as_bytes(), b"-", ids.span.as_bytes()] {
            out.extend_from_slice(part);
        }
        out.extend_from_slice(if ids.sampled { b"-01\r\n" } else { b"-00\r\n" });
        line(&mut out, "Content-Length", itoa::Buffer::new().format(self.body().len()).as_bytes());
        out.extend_from_slice(b"\r\n");
        out
    }
}

/// `X-Forwarded-*`: overwritten, unless the peer is a proxy that we trust. Host and scheme are those of
/// `public_url` where there is one: a backend that builds links from them builds no client's.
fn forwarded(out: &mut Vec<u8>, head: &Head<'_>, origin: Origin, public: Option<&PublicName>) {
    let peer = head.peer.to_canonical();
    let own = public.map_or((head.scheme, head.authority), |public| (&*public.scheme, &*public.authority));
    let said = |name| head.only(name).filter(|_| origin.peer_trusted);
    out.extend_from_slice(b"X-Forwarded-For: ");
    if origin.peer_trusted {
        for list in head.all("x-forwarded-for") {
            out.extend_from_slice(list);
            out.extend_from_slice(b", ");
        }
    }
    write_address(out, peer);
    let scheme = said("x-forwarded-proto").filter(|said| matches!(*said, b"http" | b"https"));
    line(out, "X-Forwarded-Proto", scheme.unwrap_or(own.0.as_bytes()));
    let host = said("x-forwarded-host").unwrap_or(own.1.as_bytes());
    if !host.is_empty() {
        line(out, "X-Forwarded-Host", host);
    }
}

/// The address, and CRLF.
fn write_address(out: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(v4) => {
            for (number, octet) in v4.octets().into_iter().enumerate() {
                out.extend_from_slice(if number == 0 { b"" } else { b"." });
                out.extend_from_slice(itoa::Buffer::new().format(octet).as_bytes());
            }
            out.extend_from_slice(b"\r\n");
        }
        IpAddr::V6(v6) => {
            // Writing to a `Vec` cannot fail.
            let _ = write!(out, "{v6}\r\n");
        }
    }
}

fn line(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}
