//! The backends.

use super::Compiler;
use crate::config::field::{Field, Name};
use crate::config::raw;
use crate::config::tree::Tree;
use crate::gateway::{Timeouts, Upstream};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// GPT Actions give up after 45 s (REQUIREMENTS A-26); what takes longer is answered to nobody.
const LONGEST_EXCHANGE: Duration = Duration::from_secs(40);

/// An entry of `upstreams:`, also when it is wrong: a route that names it is not.
pub(super) struct Backend {
    pub(super) name: String,
    pub(super) upstream: Option<Arc<Upstream>>,
    pub(super) host: Option<String>,
    pub(super) used: Cell<bool>,
}

impl Compiler<'_> {
    pub(super) fn upstreams(&mut self, file: &raw::File) -> Vec<Backend> {
        let Some(entries) = self.required(&file.upstreams, Tree::ROOT, "upstreams", "{ … }") else {
            return Vec::new();
        };
        if entries.0.is_empty()
            && let Some(at) = file.upstreams.mark()
        {
            self.fault(at, "at least one upstream is needed");
        }
        entries
            .0
            .iter()
            .map(|(name, entry)| Backend {
                name: name.text.clone(),
                upstream: self.upstream(name, entry).map(Arc::new),
                host: entry.given().and_then(|entry| entry.host.given()).map(|host| host.0.clone()),
                used: Cell::new(false),
            })
            .collect()
    }

    fn upstream(&mut self, name: &Name, entry: &Field<raw::Upstream>) -> Option<Upstream> {
        let Field::Given(at, entry) = entry else { return None };
        if name.text.is_empty()
            || name.text.len() > 64
            || name.text.chars().any(|c| c.is_control() || c == ' ')
        {
            self.fault(name.mark, "the name of an upstream is 1 to 64 characters without spaces");
        }
        let listed = self.required(&entry.servers, *at, "servers", "[\"http://127.0.0.1:8081\"]")?;
        if listed.is_empty()
            && let Some(at) = entry.servers.mark()
        {
            self.fault(at, "at least one server is needed");
        }
        let servers = self.servers(entry);
        let distinct: BTreeSet<_> = servers.iter().map(|server| (&server.host, server.port)).collect();
        if distinct.len() != servers.len() {
            self.fault(*at, "a server is listed twice");
        }
        Some(Upstream {
            name: name.text.clone(),
            servers,
            timeouts: self.timeouts(entry.timeouts.given()),
            keepalive: self.number(&entry.keepalive, 0..=65_536, 64) as usize,
        })
    }

    fn timeouts(&self, given: Option<&raw::Timeouts>) -> Timeouts {
        let fallback = raw::Timeouts::default();
        let given = given.unwrap_or(&fallback);
        let exchange = self.time(&given.exchange, Duration::from_secs(30));
        if exchange > LONGEST_EXCHANGE
            && let Some(at) = given.exchange.mark()
        {
            self.warn(
                at,
                "slow-exchange",
                "callers with a round trip of 45s give up before this and do not learn what happened",
                "40s or less",
            );
        }
        Timeouts {
            connect: self.time(&given.connect, Duration::from_secs(1)),
            exchange,
            idle: self.time(&given.idle, Duration::from_secs(50)),
        }
    }

    pub(super) fn warn_of_unused(&self, file: &raw::File, backends: &[Backend]) {
        let entries = file.upstreams.given().into_iter().flat_map(|entries| &entries.0);
        for ((name, _), backend) in entries.zip(backends) {
            if !backend.used.get() {
                self.warn(
                    name.mark,
                    "unused-upstream",
                    format!("no route goes to upstream `{}`", name.text),
                    "remove it, or name it in a route's `upstream.to`",
                );
            }
        }
    }
}
