//! What the schema algebra can say: whether a form admits anything, and how two forms relate.

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

/// Whether all that `inner` admits `outer` admits: yes, no, or `None` where that could not be decided.
pub(crate) fn is_within(inner: &Serde, outer: &Serde) -> Option<bool> {
    let containment = asked(|| canonicalized(outer)?.covers(&canonicalized(inner)?).ok());
    match containment {
        Some(Containment::Yes) => Some(true),
        Some(Containment::No) => Some(false),
        Some(Containment::Unknown) | None => None,
    }
}

/// A schema of what `one` admits and `other` does not, where the algebra can write it down. To look for values
/// by, not to decide by.
pub(crate) fn beyond(one: &Serde, other: &Serde) -> Option<Serde> {
    asked(|| Some(canonicalized(one)?.subtract(&canonicalized(other)?).ok()?.to_json_schema()))
}
