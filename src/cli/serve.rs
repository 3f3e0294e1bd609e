//! `serve`: check, bind, serve, follow the files, stop without losing a request.

use super::show::{Style, refuse};
use super::{CONFIG, INTERNAL};
use crate::config::{self, Loaded};
use crate::edge;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// Serves until a signal says stop. What `check` would refuse is refused here, before anything is bound.
pub fn run(path: &Path) -> ExitCode {
    let loaded = match config::load(path) {
        Ok(loaded) => loaded,
        Err(refused) => {
            refuse(&refused.faults);
            return ExitCode::from(CONFIG);
        }
    };
    start_log();
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    serve(path, loaded, announce)
}

/// The same with an already loaded config, and something else to say when it is ready.
pub(super) fn serve(
    path: &Path,
    loaded: Loaded,
    ready: impl FnOnce(&[SocketAddr], Option<String>),
) -> ExitCode {
    match edge::serve(path, loaded, ready) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::from(INTERNAL)
        }
    }
}

fn announce(addresses: &[SocketAddr], admin: Option<String>) {
    for address in addresses {
        tracing::info!("listening on http://{address}");
    }
    if let Some(admin) = admin {
        tracing::info!("admin on {admin}");
    }
}

/// Events go to standard error; standard output is the access log's. `RUST_LOG` says how much.
pub(super) fn start_log() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(edge::LOG_FILTER));
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // An event that cannot be written is lost. The default tells so with `eprintln!`, which panics on
        // the same full disk or closed pipe, and took the process down.
        .log_internal_errors(false)
        .with_ansi(Style::of_stderr().is_coloured())
        .try_init();
    // Someone else has started one: then events go there.
    drop(started);
}
