//! The backends.

use super::{Compiler, Located, given, members};
use crate::config::fault::nearest;
use crate::config::field::{Either, Field, Name};
use crate::config::raw;
use crate::config::tree::{Mark, Tree};
use crate::config::words::{BalanceWord, HashKey, HostWord, ServerUrl};
use crate::form::CompiledForm;
use crate::gateway::{
    Balance, Ejection, Fleet, HashBy, HealthCheck, MOST_SERVERS, Piece, Seat, Server, Timeouts, Upstream,
};
use crate::lint::Lint;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// GPT Actions give up after 45 s (REQUIREMENTS A-26); what takes longer is answered to nobody.
const LONGEST_EXCHANGE: Duration = Duration::from_secs(40);

/// How often a server may be asked whether it is up, and its name be looked up.
const CHECK: RangeInclusive<Duration> = Duration::from_millis(50)..=Duration::from_hours(1);
const RESOLVE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(1);

/// Members that a form has, as many as are named to whoever named another.
const TOLD: usize = 8;

/// An entry of `upstreams:`, also when it is wrong: a route that names it is not.
pub(super) struct Backend {
    pub(super) name: String,
    pub(super) upstream: Option<Arc<Upstream>>,
    pub(super) host: Option<String>,
    pub(super) used: Cell<bool>,
}

/// A server with its place in the file; true where it speaks TLS.
type Listed = (Mark, (bool, Server));
/// Its weight, and its `max_in_flight`.
type Share = (u32, Option<u32>);

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
        if let Some(at) = entry.servers.mark()
            && !(1..=MOST_SERVERS).contains(&listed.len())
        {
            self.fault(at, format!("from 1 to {MOST_SERVERS} servers are needed"));
        }
        let most = self.limit(&entry.max_in_flight);
        let (urls, places): (Vec<_>, Vec<_>) =
            given(&entry.servers).filter_map(|(at, server)| self.server(at, server, most)).unzip();
        let servers = self.servers(entry, urls);
        let seats = servers.iter().zip(places);
        let seats = seats.map(|(server, (weight, most))| Seat::new(&server.url(), weight, most)).collect();
        let mut distinct = BTreeSet::new();
        for url in servers.iter().map(Server::url) {
            if let Some(url) = distinct.replace(url) {
                self.fault(entry.servers.mark().unwrap_or(*at), format!("the server {url} is listed twice"));
            }
        }
        let balance = match entry.balance.given() {
            None => Balance::RoundRobin,
            Some(Either::Scalar(BalanceWord(balance))) => balance.clone(),
            Some(Either::Mapping(entry_balance)) => {
                let at = entry.balance.mark().unwrap_or(*at);
                Balance::Hash(self.required(&entry_balance.hash, at, "hash", "client")?.0.clone())
            }
        };
        let eject = self.ejection(&entry.eject, servers.len());
        self.warn_of_idle(entry, servers.len());
        if let Field::Given(at, _) = &entry.resolve
            && !servers.is_empty()
            && servers.iter().all(|server| server.name().is_none())
        {
            self.fault_with(
                *at,
                "`resolve` has no effect: no server here has a name to look up",
                "leave it out",
            );
        }
        Some(Upstream {
            name: name.text.clone(),
            fleet: Fleet::new(balance, eject, seats),
            health: self.health(&entry.health, &entry.host),
            resolve: self.time_within(&entry.resolve, RESOLVE, Duration::from_secs(30)),
            timeouts: self.timeouts(entry.timeouts.given()),
            keepalive: self.number(&entry.keepalive, 0..=65_536, 64) as usize,
            servers,
        })
    }

    /// Keys that do nothing as the upstream is now.
    fn warn_of_idle(&self, entry: &raw::Upstream, servers: usize) {
        let weights = given(&entry.servers).filter_map(|(_, server)| match server {
            Either::Scalar(_) => None,
            Either::Mapping(server) => server.weight.mark(),
        });
        if servers == 1 {
            for (at, key) in entry
                .balance
                .mark()
                .map(|at| (at, "balance"))
                .into_iter()
                .chain(weights.map(|at| (at, "weight")))
            {
                self.warn(
                    at,
                    Lint::SingleServerBalance,
                    format!("`{key}` has no effect: there is one server"),
                    format!("name a second server, or remove `{key}`"),
                );
            }
        }
        let idle = entry.timeouts.given().and_then(|timeouts| timeouts.idle.mark());
        if let (Field::Given(_, 0), Some(at)) = (&entry.keepalive, idle) {
            self.warn(
                at,
                Lint::UnusedIdle,
                "`idle` has no effect beside `keepalive: 0`: no connection is kept",
                "remove one of them",
            );
        }
    }

    fn limit(&self, field: &Field<u32>) -> Option<u32> {
        (!field.is_absent()).then(|| self.number(field, 1..=1_000_000, 1))
    }

    fn server(
        &self,
        at: Mark,
        entry: &Either<ServerUrl, raw::Server>,
        most: Option<u32>,
    ) -> Option<(Listed, Share)> {
        let (url, weight, own) = match entry {
            Either::Scalar(url) => (url, 1, None),
            Either::Mapping(entry) => (
                self.required(&entry.url, at, "url", "\"http://127.0.0.1:8081\"")?,
                self.number(&entry.weight, 1..=100, 1),
                self.limit(&entry.max_in_flight),
            ),
        };
        Some(((at, url.0.clone()), (weight, own.or(most))))
    }

    fn health(&self, field: &Field<raw::Health>, host: &Field<HostWord>) -> Option<HealthCheck> {
        let Field::Given(at, entry) = field else { return None };
        let path = self.required(&entry.path, *at, "path", "/healthz")?;
        let [Piece::Literal(path)] = path.0.0.as_slice() else {
            self.fault(entry.path.mark().unwrap_or(*at), "a check has no body that a member could come from");
            return None;
        };
        Some(HealthCheck {
            path: path.clone(),
            host: host.given().map(|host| host.0.clone()),
            interval: self.time_within(&entry.interval, CHECK, Duration::from_secs(5)),
            timeout: self.time(&entry.timeout, Duration::from_secs(1)),
            healthy: self.number(&entry.healthy, 1..=100, 2),
            unhealthy: self.number(&entry.unhealthy, 1..=100, 3),
            fails_readiness: entry.fails_readiness.given().copied().unwrap_or(false),
        })
    }

    fn ejection(&self, field: &Field<raw::Ejection>, servers: usize) -> Option<Ejection> {
        let Field::Given(at, entry) = field else { return None };
        if servers == 1 {
            self.warn(
                *at,
                Lint::SingleServerEjection,
                "the only server is never ejected",
                "name a second server, or remove `eject`",
            );
        }
        Some(Ejection {
            failures: self.number(&entry.failures, 1..=1000, 5),
            within: self.time(&entry.within, Duration::from_secs(10)),
            time: self.time(&entry.time, Duration::from_secs(30)),
            max_percent: self.number(&entry.max_percent, 1..=100, 50),
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
                Lint::SlowExchange,
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

    /// A member that no body can have decides nothing: every act would go by its client, and nobody would know.
    pub(super) fn check_hashes(&self, file: &raw::File, routes: &[Located]) {
        // Routes that are wrong themselves are not among them: their forms may have the member.
        if file.routes.given().map_or(0, Vec::len) != routes.len() {
            return;
        }
        for (name, _, entry) in members(&file.upstreams) {
            let Some(Either::Mapping(balance)) = entry.balance.given() else { continue };
            let Field::Given(at, HashKey(HashBy::Member(pointer))) = &balance.hash else { continue };
            let goes_there = |located: &&Located| located.route.outbound.upstream.name == name.text;
            let forms: Vec<&CompiledForm> =
                routes.iter().filter(goes_there).map(|located| &*located.route.form).collect();
            if forms.is_empty() || forms.iter().any(|form| form.may_hold_scalar(pointer)) {
                continue;
            }
            let known: BTreeSet<String> = forms.iter().flat_map(|form| form.scalar_members()).collect();
            let suggestion = match nearest(pointer, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "`client`".to_owned(),
                None => {
                    let some: Vec<&str> = known.iter().map(String::as_str).take(TOLD).collect();
                    format!("`client`, or one of {}", some.join(", "))
                }
            };
            let reason = format!(
                "no form of a route to `{}` admits a string, number or boolean at `{}`: it has no effect",
                name.text.escape_debug(),
                pointer.escape_debug()
            );
            self.fault_with(*at, reason, suggestion);
        }
    }

    pub(super) fn warn_of_unused(&self, file: &raw::File, backends: &[Backend]) {
        let entries = file.upstreams.given().into_iter().flat_map(|entries| &entries.0);
        for ((name, _), backend) in entries.zip(backends) {
            if !backend.used.get() {
                self.warn(
                    name.mark,
                    Lint::UnusedUpstream,
                    format!("no route goes to upstream `{}`", name.text),
                    "remove it, or name it in a route's `upstream.to`",
                );
            }
        }
    }
}
