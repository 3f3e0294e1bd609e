//! What the schema algebra can say: whether a form admits anything, and how two forms relate.

use super::Change;
use jsonschema::PatternOptions;
use jsonschema::canonical::{self, CanonicalSchema, Containment, Satisfiability};
use serde_json::Value as Serde;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The canonical form of a schema, where there is one.
fn canonicalized(document: &Serde) -> Option<CanonicalSchema> {
    canonical::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .canonicalize(document)
        .ok()
}

/// Runs the algebra, which its authors call experimental: what it cannot answer, a panic
/// included, is no answer. It only runs at load.
fn asked<T>(question: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(question)).ok().flatten()
}

/// Whether it is proved that no value fits.
pub(crate) fn admits_nothing(document: &Serde) -> bool {
    asked(|| Some(canonicalized(document)?.satisfiability())) == Some(Satisfiability::No)
}

/// How `newer` relates to `older`.
pub(crate) fn compare(older: &Serde, newer: &Serde) -> Change {
    let relation = asked(|| {
        let (older, newer) = (canonicalized(older)?, canonicalized(newer)?);
        Some((newer.covers(&older).ok()?, older.covers(&newer).ok()?))
    });
    // First: what fitted still fits. Second: what fits now fitted before.
    match relation {
        Some((Containment::Yes, Containment::Yes)) => Change::Same,
        Some((Containment::Yes, Containment::No | Containment::Unknown)) => Change::Widened,
        Some((Containment::No | Containment::Unknown, Containment::Yes)) => Change::Narrowed,
        Some((Containment::No, Containment::No)) => Change::Both,
        Some(
            (Containment::Unknown, Containment::No | Containment::Unknown)
            | (Containment::No, Containment::Unknown),
        )
        | None => Change::Unknown,
    }
}
