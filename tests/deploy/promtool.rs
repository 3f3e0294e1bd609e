//! Prometheus's own judge of expressions, rules and what they come to.

use super::{content, tool};

/// `promtool test rules` on this text.
#[track_caller]
pub(super) fn test(text: &str) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("test.yaml");
    std::fs::write(&file, text).unwrap();
    if let Some(output) = tool("promtool", &["test", "rules", file.to_str().unwrap()]) {
        content(&output);
    }
}
