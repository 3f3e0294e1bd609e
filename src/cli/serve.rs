//! In progress.

/// In progress.
pub fn run(_config: &std::path::Path) -> std::process::ExitCode { std::process::ExitCode::from(super::INTERNAL) }
