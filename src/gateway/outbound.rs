//! Where admitted bodies go: named backends, and what a route says about reaching one.

use super::balance::{Fleet, HealthCheck};
use super::condition::Condition;
use super::path::PathTemplate;
use crate::tls;
use std::sync::Arc;
use std::time::Duration;

/// A named backend, shared by the routes that use it.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// As in `upstreams:`.
    pub name: String,
    /// At least one; where a connect fails, the next one is tried.
    pub servers: Vec<Server>,
    /// How acts are spread over them, and what is known of each; in the same order.
    pub fleet: Fleet,
    /// How each is asked whether it is up.
    pub health: Option<HealthCheck>,
    /// How often their names are looked up.
    pub resolve: Duration,
    /// How long each step may take.
    pub timeouts: Timeouts,
    /// Idle connections kept to each server.
    pub keepalive: usize,
}

impl Upstream {
    /// What is known of server number `number`.
    pub fn condition(&self, number: usize) -> &Arc<Condition> {
        &self.fleet.seats()[number].condition
    }

    /// Whether none of its servers is up, by their checks.
    pub fn is_down(&self) -> bool {
        !self.fleet.seats().iter().any(|seat| seat.condition.is_up())
    }

    /// Goes on with what the older one of this name knows of each server that stays.
    pub(super) fn inherit(&mut self, older: &Self) {
        for (number, server) in self.servers.iter().enumerate() {
            if let Some(theirs) = older.servers.iter().position(|older| older == server) {
                self.fleet.inherit(number, &older.fleet, theirs);
            }
        }
    }
}

/// `http://host:port`, `https://host:port`, or `unix:/path`. Two are equal when a connection to one is as good as a
/// connection to the other: also in what is verified, and by which certificate.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Server {
    /// A name or an address; IPv6 without brackets. Of a unix socket, what `Host` says: `localhost`.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// How TLS is spoken to it; in the clear where there is none.
    pub tls: Option<tls::Client>,
    /// The unix socket that it is reached by, instead of the network.
    pub socket: Option<String>,
}

impl Server {
    /// As in the file: for labels and log.
    pub fn url(&self) -> String {
        match &self.socket {
            Some(path) => format!("unix:{path}"),
            None if self.tls.is_some() => format!("https://{}", self.authority()),
            None => format!("http://{}", self.authority()),
        }
    }

    /// The name to look up, where it has one and no address.
    pub fn name(&self) -> Option<&str> {
        let is_name = self.socket.is_none() && self.host.parse::<std::net::IpAddr>().is_err();
        is_name.then_some(&self.host)
    }

    /// As it stands in `Host` (RFC 9110, 7.2): the port is left out when it is the scheme's own.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let own = if self.tls.is_some() { 443 } else { 80 };
        if self.port == own { host } else { format!("{host}:{}", self.port) }
    }
}

/// How long each step of an exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// DNS and connect, each attempt.
    pub connect: Duration,
    /// From the first byte sent to the last byte of the answer.
    pub exchange: Duration,
    /// How long an idle connection is kept; below what the backend keeps it.
    pub idle: Duration,
}

/// Where an admitted body goes.
#[derive(Debug)]
pub struct Outbound {
    /// The backend.
    pub upstream: Arc<Upstream>,
    /// `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: &'static str,
    /// Path and query: fixed, but for members that the form proves safe.
    pub target: PathTemplate,
    /// Fields that the route sets; values may have come from a secret file and are never logged.
    pub set_fields: Vec<ForwardedField>,
    /// Names of client fields that pass (`pass_headers`), lower case.
    pub pass_fields: Vec<String>,
    /// `Host` when it is not the server's own.
    pub host: Option<String>,
}

/// A field with a fixed value.
#[derive(Clone, PartialEq, Eq)]
pub struct ForwardedField {
    /// Field name.
    pub name: String,
    /// Field value; not shown by `Debug`.
    pub value: String,
}

impl std::fmt::Debug for ForwardedField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ***", self.name)
    }
}
