//! What the fuzzers in `fuzz/` call; compiled for them only.

use super::{Account, PathTemplate, idempotency};
use crate::bounds::Frequency;
use crate::json::Value;
use std::num::NonZeroU32;
use std::time::Duration;

/// The target that is sent with a value that the form admits.
pub fn fill(template: &PathTemplate, value: Value<'_>) -> Option<Vec<u8>> {
    template.fill(value)
}

/// What an `Idempotency-Key` names.
pub fn idempotency_key(field: &[u8]) -> Option<&[u8]> {
    idempotency::read(field)
}

/// A rate that is counted together with other instances.
pub fn account() -> Account {
    Account::of("post", "route", Frequency { period: Duration::from_secs(1), burst: NonZeroU32::MIN })
}
