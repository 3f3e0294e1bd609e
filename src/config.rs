//! The file: YAML to a [`Gateway`], or the whole list of [`Fault`]s. No third state.
//!
//! CONTRACT (helper C owns this file, src/config/, src/bounds.rs): the names below are what the rest uses.

#![allow(missing_docs, clippy::todo)]

use crate::gateway::Gateway;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a successful load gives.
#[derive(Debug)]
pub struct Loaded {
    pub gateway: Gateway,
    pub settings: Settings,
    /// Every file that was read, the YAML first: what the watch looks at.
    pub files: Vec<PathBuf>,
    /// Lints at level `warn`.
    pub warnings: Vec<Fault>,
}

/// What cannot change without a restart, and the few process-wide numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub listen: Vec<SocketAddr>,
    pub admin: Option<AdminAddress>,
    /// Worker threads; `None` is one per core.
    pub threads: Option<usize>,
    pub public_url: Option<String>,
    /// Connections open at once, all listeners together; one more is closed at once.
    pub max_connections: usize,
    /// Bytes of bodies held at once, all requests together.
    pub inflight_bodies: usize,
    /// Bytes of a request head.
    pub max_head: usize,
    /// From the first byte of a head to its last.
    pub head_deadline: Duration,
    /// How long a connection may wait between requests.
    pub keepalive: Duration,
    /// How long a stop waits for requests in flight.
    pub grace: Duration,
    pub access_log: AccessLog,
    /// How often files are looked at for changes; `None` is never.
    pub watch: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdminAddress {
    /// A loopback address.
    Tcp(SocketAddr),
    /// `unix:/run/formgate/admin.sock`
    Unix(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessLog {
    Stdout,
    Off,
    File(PathBuf),
}

/// One thing wrong, where it is, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub file: PathBuf,
    /// From 1; 0 when the file could not be read at all.
    pub line: usize,
    pub column: usize,
    /// JSON Pointer (RFC 6901) into the file.
    pub pointer: String,
    pub reason: String,
    pub suggestion: Option<String>,
    /// Name of the lint, for a warning or a denied lint.
    pub lint: Option<String>,
}

/// Reads the file and every file that it names, once each, and compiles all of it.
pub fn load(path: &Path) -> Result<Loaded, Vec<Fault>> {
    let _ = path;
    todo!()
}

/// The JSON Schema (2020-12) of the file itself, for editors.
pub fn schema() -> String {
    todo!()
}
