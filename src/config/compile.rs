//! From the mirror to what runs, collecting every fault on the way.
//!
//! A value that is wrong has been reported where it was found; here it is only missing. So each step gives an
//! `Option`, goes on when it is `None`, and what has been collected decides in the end.

mod actions;
mod addresses;
mod ahead;
mod examples;
mod form;
mod get_action;
mod idempotency;
mod index;
mod mcp;
mod outbound;
mod page;
mod route;
mod settings;
mod store;
mod surfaces;
mod tls;
mod token;
mod traces;
mod upstream;

use super::fault::{Fault, Finding, Findings};
use super::field::{Field, Name};
use super::files::Files;
use super::raw;
use super::stock::Stock;
use super::tree::{Mark, Tree};
use super::words::Size;
use super::{Settings, words};
use crate::gateway::{Guard, Route, Sampling};
use crate::lint::{Level, Lint, LintLevels};
use crate::tls::Certificates;
use ipnet::IpNet;
use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::time::Duration;
use surfaces::Surfaces;

/// What a file says, compiled; only worth anything when no fault was found.
pub(super) struct Compiled {
    pub(super) settings: Option<Settings>,
    pub(super) routes: Vec<Route>,
    pub(super) surfaces: Surfaces,
    pub(super) trusted_proxies: Vec<IpNet>,
    pub(super) operators: Option<Guard>,
    pub(super) sampling: Sampling,
    pub(super) certificates: Option<Certificates>,
    /// Each certificate that was read, and its last second since 1970.
    pub(super) expiries: Vec<(String, u64)>,
}

/// A route, and where it stands in the file.
pub(super) struct Located {
    pub(super) mark: Mark,
    pub(super) route: Route,
}

/// One file being judged.
pub(super) struct Compiler<'t> {
    pub(super) tree: &'t Tree,
    pub(super) findings: &'t Findings,
    pub(super) warnings: &'t Findings,
    pub(super) files: &'t mut Files,
    /// Faults in form files.
    pub(super) form_faults: Vec<Fault>,
    pub(super) form_warnings: Vec<Fault>,
    /// All of these, and whether each is a warning: two routes may share a form, and its faults with it, which are told
    /// once. To one of them it may be a warning, to the other none.
    pub(super) told: HashSet<(bool, Fault)>,
    /// What the file says of lints, for all routes.
    pub(super) levels: LintLevels,
    /// As in [`Compiled`].
    pub(super) expiries: Vec<(String, u64)>,
    /// What the load before this one has made.
    pub(super) earlier: &'t Stock,
    /// What this one has, for the next.
    pub(super) stock: Stock,
}

impl Compiler<'_> {
    /// Judges the whole file.
    pub(super) fn compile(&mut self, file: &raw::File) -> Compiled {
        self.levels = self.lint_levels(&file.lints, |_| true);
        let (traces, sampling) = self.traces(file);
        let settings = self.settings(file, traces);
        let certificates = self.certificates(file);
        let defaults = self.defaults(file);
        let upstreams = self.upstreams(file);
        let holders = self.holders(file);
        let routes = self.routes(file, &defaults, &upstreams, &holders);
        let surfaces = self.surfaces(file, &defaults, &routes);
        self.check_hashes(file, &routes);
        // What a route that cannot be read would use is not known.
        if file.routes.given().map_or(0, Vec::len) == given(&file.routes).count() {
            self.warn_of_unused(file, &upstreams);
            self.warn_of_unused_tokens(file, &holders);
            self.warn_of_unused_store(file);
            self.warn_of_limiter_keys(file);
        }
        let operators = Self::operators(&holders);
        let trusted_proxies = self.networks(&file.trusted_proxies);
        let routes = routes.into_iter().map(|located| located.route).collect();
        Compiled {
            settings,
            routes,
            surfaces,
            trusted_proxies,
            operators,
            sampling,
            certificates,
            expiries: std::mem::take(&mut self.expiries),
        }
    }

    fn fault(&self, at: Mark, reason: impl Into<String>) {
        self.findings.add(self.finding(at, reason.into(), None, None));
    }

    fn fault_with(&self, at: Mark, reason: impl Into<String>, suggestion: impl Into<String>) {
        self.findings.add(self.finding(at, reason.into(), Some(suggestion.into()), None));
    }

    fn warn(&self, at: Mark, lint: Lint, reason: impl Into<String>, suggestion: impl Into<String>) {
        let finding = self.finding(at, reason.into(), Some(suggestion.into()), Some(lint));
        match self.levels.of(lint) {
            Level::Allow => {}
            Level::Warn => self.warnings.add(finding),
            Level::Deny => self.findings.add(finding),
        }
    }

    fn finding(&self, at: Mark, reason: String, suggestion: Option<String>, lint: Option<Lint>) -> Finding {
        let (line, column) = self.tree.position(at);
        Finding { line, column, pointer: self.tree.pointer(at), reason, suggestion, lint }
    }

    /// The value, or a fault at `parent` when it is absent.
    fn required<'f, T>(&self, field: &'f Field<T>, parent: Mark, key: &str, example: &str) -> Option<&'f T> {
        if field.is_absent() {
            self.fault_with(parent, format!("`{key}` is missing"), format!("add `{key}: {example}`"));
        }
        field.given()
    }

    /// A size within its range, or the default. Out of range is reported, and the default stands in.
    fn size(&self, field: &Field<Size>, range: RangeInclusive<usize>, default: usize) -> usize {
        use crate::bounds::print_size as print;
        match field {
            Field::Given(_, Size(bytes)) if range.contains(bytes) => *bytes,
            Field::Given(at, Size(_)) => {
                self.fault(*at, format!("must be from {} to {}", print(*range.start()), print(*range.end())));
                default
            }
            Field::Absent | Field::Wrong(_) => default,
        }
    }

    /// A time above zero, or the default.
    fn time(&self, field: &Field<words::Time>, default: Duration) -> Duration {
        match field {
            Field::Given(at, words::Time(time)) if time.is_zero() => {
                self.fault(*at, "zero would allow nothing; write at least 1ms");
                default
            }
            Field::Given(_, words::Time(time)) => *time,
            Field::Absent | Field::Wrong(_) => default,
        }
    }

    /// A time within its range, or the default.
    fn time_within(
        &self,
        field: &Field<words::Time>,
        range: RangeInclusive<Duration>,
        default: Duration,
    ) -> Duration {
        use crate::bounds::print_time as print;
        match field {
            Field::Given(at, words::Time(time)) if !range.contains(time) => {
                self.fault(*at, format!("must be from {} to {}", print(*range.start()), print(*range.end())));
                default
            }
            Field::Given(_, words::Time(time)) => *time,
            Field::Absent | Field::Wrong(_) => default,
        }
    }

    fn number(&self, field: &Field<u32>, range: RangeInclusive<u32>, default: u32) -> u32 {
        match field {
            Field::Given(_, number) if range.contains(number) => *number,
            Field::Given(at, _) => {
                self.fault(*at, format!("must be from {} to {}", range.start(), range.end()));
                default
            }
            Field::Absent | Field::Wrong(_) => default,
        }
    }
}

/// Names given so far, and where; a second one is a fault.
#[derive(Default)]
struct Distinct(BTreeMap<String, Mark>);

impl Distinct {
    fn claim(&mut self, compiler: &Compiler<'_>, at: Mark, what: &str, name: &str) {
        if let Some(first) = self.0.insert(name.to_owned(), at) {
            let (line, _) = compiler.tree.position(first);
            compiler.fault(at, format!("{what} `{name}` is used twice; the first is on line {line}"));
        }
    }
}

/// The elements that are right.
fn given<T>(list: &Field<Vec<Field<T>>>) -> impl Iterator<Item = (Mark, &T)> {
    list.given().into_iter().flatten().filter_map(|element| match element {
        Field::Given(at, value) => Some((*at, value)),
        Field::Absent | Field::Wrong(_) => None,
    })
}

/// The members whose values are right.
fn members<T>(map: &Field<super::field::Members<T>>) -> impl Iterator<Item = (&Name, Mark, &T)> {
    map.given().into_iter().flat_map(|members| &members.0).filter_map(|(name, value)| match value {
        Field::Given(at, value) => Some((name, *at, value)),
        Field::Absent | Field::Wrong(_) => None,
    })
}
