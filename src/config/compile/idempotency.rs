//! Acts that are known by a key.

use super::{Compiler, given};
use crate::config::field::{Either, Field};
use crate::config::raw::{self, KeyRule};
use crate::config::words::Time;
use crate::gateway::Idempotency;
use crate::lint::Lint;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A key that is forgotten sooner protects nobody; one that is kept longer fills the store.
const KEEP: RangeInclusive<Duration> = Duration::from_mins(1)..=Duration::from_hours(366 * 24);
/// Who waits holds a connection and a body.
const WAIT: Duration = Duration::from_mins(1);

impl Compiler<'_> {
    /// A store that nothing is written into: no record, and, where it is shared, no rate.
    pub(super) fn warn_of_unused_store(&self, file: &raw::File) {
        let Field::Given(at, Either::Mapping(store)) = &file.store else { return };
        let shares = match store.limits.given() {
            None | Some(raw::Rates::Shared) => !store.redis.is_absent(),
            Some(raw::Rates::Local) => false,
        };
        let counts = shares && Self::limits_rates(file);
        let mut routes = given(&file.routes).map(|(_, route)| route);
        if !counts && !routes.any(|route| !route.idempotency.is_absent() || !route.get_action.is_absent()) {
            let reason = "no route keeps records";
            self.warn(*at, Lint::UnusedStore, reason, "remove it, or say `idempotency: optional` on a route");
        }
    }

    pub(super) fn idempotency(
        &self,
        field: &Field<Either<KeyRule, raw::Idempotency>>,
    ) -> Option<Idempotency> {
        let nothing = raw::Idempotency::default();
        let (rule, entry) = match field.given()? {
            Either::Scalar(rule) => (*rule, &nothing),
            Either::Mapping(entry) => (entry.key.given().copied().unwrap_or(KeyRule::Optional), entry),
        };
        let keep = self.time(&entry.keep, Duration::from_hours(24));
        if let Field::Given(at, Time(given)) = &entry.keep
            && !given.is_zero()
            && !KEEP.contains(given)
        {
            self.fault(*at, "must be from 1m to 8784h (366 days)");
        }
        let wait = match &entry.wait {
            Field::Given(at, Time(given)) => {
                if *given > WAIT {
                    self.fault(*at, "must be at most 60s: who waits holds a connection");
                }
                *given
            }
            Field::Absent | Field::Wrong(_) => Duration::from_secs(5),
        };
        Some(Idempotency { required: rule == KeyRule::Required, keep, wait })
    }
}
