//! The decisions, pure and synchronous. This file is the table of contents.
//!
//! CONTRACT in progress (founder owns this file and src/gateway/).

#![allow(missing_docs, clippy::todo)]

mod consequence;
mod limit;
mod outbound;
mod route;

pub use consequence::ConsequenceRule;
pub use limit::{Limits, Rate};
pub use outbound::{ForwardedField, Outbound, Server, Timeouts, Upstream};
pub use route::{ContentTypeRule, Cors, Route};

use std::sync::Arc;

/// One immutable generation: everything that decides about requests.
#[derive(Debug)]
pub struct Gateway {
    /// In the order of the file.
    pub routes: Vec<Arc<Route>>,
    /// `trusted_proxies`: peers whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<ipnet::IpNet>,
    /// Hex digest over every file read; what `/readyz` and `formgate_snapshot_info` show.
    pub digest: String,
}

impl Gateway {
    /// `routes` must have distinct names and addresses (config has checked it).
    pub fn new(routes: Vec<Route>, trusted_proxies: Vec<ipnet::IpNet>, digest: String) -> Self {
        Self { routes: routes.into_iter().map(Arc::new).collect(), trusted_proxies, digest }
    }
}
