//! The config layer: every fault with its place, the shipped example, secrets, and the verbs of the real binary.

mod decoders;
mod diff;
mod explain;
mod faults;
mod schema;
mod secrets;
mod shipped;
mod traces;
mod verbs;
mod warnings;

use std::path::{Path, PathBuf};

/// A path in the package.
fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
