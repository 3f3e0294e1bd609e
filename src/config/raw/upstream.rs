//! The serde mirror of `upstreams:`.

use super::tls::UpstreamTls;
use crate::config::field::{Either, Field};
use crate::config::words::{BalanceWord, HashKey, HostWord, ServerUrl, Time, UpstreamPath};
use schemars::JsonSchema;
use serde::Deserialize;

/// One backend.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["servers"]))]
pub(in crate::config) struct Upstream {
    /// `http://host:port`, `https://host:port` or `unix:/path`, or a mapping where there is more to say of one. Where a connect fails, the next one is tried.
    #[schemars(length(min = 1, max = 64))]
    pub(in crate::config) servers: Field<Vec<Field<Either<ServerUrl, Server>>>>,
    /// Which server an act goes to: `round_robin` (the default), `least_in_flight`, or `{ hash: client }`.
    pub(in crate::config) balance: Field<Either<BalanceWord, Balance>>,
    /// Acts under way at each server, at most; where all are at theirs, 503. Default no limit.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(in crate::config) max_in_flight: Field<u32>,
    /// Asks each server whether it is up. Default: nobody asks.
    pub(in crate::config) health: Field<Health>,
    /// Leaves out a server that fails, for a while. Default never.
    pub(in crate::config) eject: Field<Ejection>,
    /// How often names of servers are looked up: 1s to 1h. Default 30s.
    pub(in crate::config) resolve: Field<Time>,
    /// How long each step of an exchange may take.
    pub(in crate::config) timeouts: Field<Timeouts>,
    /// Idle connections kept to each server. Default 64.
    #[schemars(range(min = 0, max = 65536))]
    pub(in crate::config) keepalive: Field<u32>,
    /// `Host` sent, when it is not the server's own.
    pub(in crate::config) host: Field<HostWord>,
    /// For servers that begin with `https://`. Default the machine's roots, and no certificate shown.
    pub(in crate::config) tls: Field<UpstreamTls>,
}

/// How long each step of an exchange may take.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct Timeouts {
    /// Connect and TLS handshake, each of them, to each address. Default 1s.
    pub(in crate::config) connect: Field<Time>,
    /// From the first byte sent to the last byte of the answer. Default 30s; above 40s, callers with a round trip of 45s give up first.
    pub(in crate::config) exchange: Field<Time>,
    /// How long an idle connection is kept; stay below what the backend keeps it. Default 50s.
    pub(in crate::config) idle: Field<Time>,
}

/// One server of which there is more to say than where it is.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "UpstreamServer", extend("required" = ["url"]))]
pub(in crate::config) struct Server {
    /// `http://host:port`, `https://host:port` or `unix:/path`.
    pub(in crate::config) url: Field<ServerUrl>,
    /// Its share of acts, compared with the others. Default 1.
    #[schemars(range(min = 1, max = 100))]
    pub(in crate::config) weight: Field<u32>,
    /// Acts under way at it, at most, whatever the upstream says.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(in crate::config) max_in_flight: Field<u32>,
}

/// The same server for acts that have something in common.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["hash"]))]
pub(in crate::config) struct Balance {
    /// What they have in common: `client` (address, IPv6 /64, or token), or a JSON Pointer to a string, an integer or a boolean of the body; the client where there is none.
    pub(in crate::config) hash: Field<HashKey>,
}

/// A GET to each server, made by the gateway; 2xx is good. A server that is down gets acts only where all are.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["path"]))]
pub(in crate::config) struct Health {
    /// Path and query.
    #[schemars(extend("examples" = ["/healthz"]))]
    pub(in crate::config) path: Field<UpstreamPath>,
    /// From one check to the next. Default 5s.
    pub(in crate::config) interval: Field<Time>,
    /// From the connect to the status. Default 1s.
    pub(in crate::config) timeout: Field<Time>,
    /// Good checks in a row until it is up again. Default 2.
    #[schemars(range(min = 1, max = 100))]
    pub(in crate::config) healthy: Field<u32>,
    /// Bad checks in a row until it is down. Default 3.
    #[schemars(range(min = 1, max = 100))]
    pub(in crate::config) unhealthy: Field<u32>,
    /// Whether `/readyz` says 503 while no server is up. Default false: GETs are still answered.
    pub(in crate::config) fails_readiness: Field<bool>,
}

/// When a server that fails is left out: it cannot be reached, gives no whole answer, or says 502, 503 or 504.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct Ejection {
    /// Failures in a row. Default 5.
    #[schemars(range(min = 1, max = 1000))]
    pub(in crate::config) failures: Field<u32>,
    /// The time within which they come. Default 10s.
    pub(in crate::config) within: Field<Time>,
    /// For how long. Default 30s.
    #[serde(rename = "for")]
    pub(in crate::config) time: Field<Time>,
    /// Servers left out at once, of a hundred; one of two or more always may be, the last never. Default 50.
    #[schemars(range(min = 1, max = 100))]
    pub(in crate::config) max_percent: Field<u32>,
}
