//! What a reload may do.

use crate::config::field::Field;
use schemars::JsonSchema;
use serde::Deserialize;

/// What becomes of a reload that lets more in than before.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct Reload {
    /// After which a form admits a value that it refused, or an address is new, or that cannot be decided: `allow` (the default) takes it over, `warn` says so in the log, `refuse` keeps the old generation as for a broken file. The stricter of the running and the new file counts.
    pub(in crate::config) widening: Field<Widening>,
}

/// What becomes of a reload that lets more in.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(in crate::config) enum Widening {
    Allow,
    Warn,
    Refuse,
}
