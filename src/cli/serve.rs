//! `serve`: check, bind, serve, follow the files, stop without losing a request.

use super::show::{Style, refuse};
use super::{CONFIG, INTERNAL};
use crate::config::{self, Listen, Loaded};
use crate::edge;
use crate::telemetry::Log;
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
    let log = start_log();
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    serve(path, loaded, log, announce)
}

/// The same with an already loaded config, and something else to say when it is ready.
pub(super) fn serve(
    path: &Path,
    loaded: Loaded,
    log: Log,
    ready: impl FnOnce(&[Listen], Option<String>),
) -> ExitCode {
    match edge::serve(path, loaded, log, ready) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::from(INTERNAL)
        }
    }
}

fn announce(addresses: &[Listen], admin: Option<String>) {
    for address in addresses {
        tracing::info!("listening on {address}");
    }
    if let Some(admin) = admin {
        tracing::info!("admin on {admin}");
    }
}

/// Events go to standard error; standard output is the access log's. `RUST_LOG` says how much.
pub(super) fn start_log() -> Log {
    let asked = std::env::var(EnvFilter::DEFAULT_ENV).ok();
    let asked = asked.filter(|asked| EnvFilter::try_new(asked).is_ok());
    let filter = asked.unwrap_or_else(|| edge::LOG_FILTER.to_owned());
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&filter))
        .with_writer(std::io::stderr)
        // An event that cannot be written is lost. The default tells so with `eprintln!`, which panics on
        // the same full disk or closed pipe, and took the process down.
        .log_internal_errors(false)
        .with_ansi(Style::of_stderr().is_coloured())
        .with_filter_reloading();
    let handle = log.reload_handle();
    // Someone else has started one: then events go there.
    drop(log.try_init());
    Log::new(edge::LOG_FILTER, filter, move |filter| handle.reload(filter).map_err(|error| error.to_string()))
}
