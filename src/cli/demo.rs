//! In progress.

/// In progress.
pub fn run() -> std::process::ExitCode { std::process::ExitCode::from(super::INTERNAL) }
