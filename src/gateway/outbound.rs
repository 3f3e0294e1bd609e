//! Where admitted bodies go: named backends, and what a route says about reaching one.

use crate::tls;
use std::sync::Arc;
use std::time::Duration;

/// A named backend, shared by the routes that use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// As in `upstreams:`.
    pub name: String,
    /// At least one; used in turn, the next one when a connect fails.
    pub servers: Vec<Server>,
    /// How long each step may take.
    pub timeouts: Timeouts,
    /// Idle connections kept to each server.
    pub keepalive: usize,
}

/// `http://host:port`, or `https://host:port`. Two are equal when a connection to one is as good as a connection to the
/// other: also in what is verified, and by which certificate.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Server {
    /// A name or an address; IPv6 without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// How TLS is spoken to it; in the clear where there is none.
    pub tls: Option<tls::Client>,
}

impl Server {
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
    pub method: String,
    /// Path and query, fixed.
    pub target: String,
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
