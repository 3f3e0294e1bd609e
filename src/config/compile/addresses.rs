//! Addresses that the gateway itself listens at: none twice, and no upstream leads back to one.

use super::{Compiler, given, members};
use crate::config::AdminAddress;
use crate::config::field::{Either, Field};
use crate::config::raw;
use crate::config::tree::Mark;
use crate::config::words::{AdminWord, ServerUrl};
use crate::gateway::Server;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

impl Compiler<'_> {
    /// Tells what only a start would find, or nobody: two listeners at one place, and acts that come back.
    pub(super) fn check_addresses(&self, file: &raw::File) {
        let mut own: Vec<(Mark, SocketAddr)> = Vec::new();
        let listen = given(&file.listen).map(|(at, listen)| (at, listen.0.address));
        let admin = match &file.admin {
            Field::Given(at, AdminWord(Some(AdminAddress::Tcp(address)))) => Some((*at, *address)),
            Field::Given(_, AdminWord(Some(AdminAddress::Unix(_)) | None))
            | Field::Absent
            | Field::Wrong(_) => None,
        };
        for (at, address) in listen.chain(admin).filter(|(_, address)| address.port() != 0) {
            if let Some((first, other)) = own.iter().find(|(_, other)| overlap(*other, address)) {
                let (line, _) = self.tree.position(*first);
                let reason = if *other == address {
                    format!("the address `{address}` is used twice; the first is on line {line}")
                } else {
                    format!(
                        "the address `{address}` is part of `{other}` on line {line}, or the other way round"
                    )
                };
                self.fault_with(at, reason, "another port");
            }
            own.push((at, address));
        }
        for (_, _, upstream) in members(&file.upstreams) {
            for (at, server) in given(&upstream.servers) {
                let url = match server {
                    Either::Scalar(url) => Some(url),
                    Either::Mapping(entry) => entry.url.given(),
                };
                let Some(ServerUrl((_, server))) = url else { continue };
                if let Some((listener, address)) = own.iter().find(|(_, own)| leads_to(server, *own)) {
                    let (line, _) = self.tree.position(*listener);
                    self.fault_with(
                        at,
                        format!("this is the gateway itself, `{address}` on line {line}: acts would come back to it"),
                        "the address of the backend",
                    );
                }
            }
        }
    }
}

/// Whether one process cannot listen at both.
fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    let is_all = |ip: IpAddr, of: IpAddr| ip.is_unspecified() && ip.is_ipv4() == of.is_ipv4();
    let (left, right) = (one.ip(), other.ip());
    one.port() == other.port() && (left == right || is_all(left, right) || is_all(right, left))
}

/// Whether a server is the listener at `own`, as far as its address says.
fn leads_to(server: &Server, own: SocketAddr) -> bool {
    if server.socket.is_some() || server.port != own.port() {
        return false;
    }
    let ip = match server.host.as_str() {
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        host => match host.parse::<IpAddr>() {
            Ok(ip) => ip.to_canonical(),
            Err(_) => return false,
        },
    };
    let is_here = ip.is_loopback() || ip.is_unspecified();
    own.ip().to_canonical() == ip || own.ip().is_unspecified() && is_here
}
