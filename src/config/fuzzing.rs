//! What the fuzzers in `fuzz/` call; compiled for them only.

use super::words;
use crate::gateway::PathPattern;

/// A path and query at an upstream, as the file writes it.
pub fn target(text: &str) -> Result<PathPattern, String> {
    words::parse_upstream_path(text)
}
