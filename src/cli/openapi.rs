//! `openapi`: the document that importers of GPT Actions fetch, without serving it.

use super::show::{refuse, to_stderr, to_stdout};
use super::{CONFIG, USAGE, default_config};
use crate::config;
use crate::gateway::Own;
use crate::surface::openapi::pretty;
use std::path::PathBuf;
use std::process::ExitCode;

/// What `openapi` can be asked.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The YAML file. Left out: config/gateway.yaml, or gateway.yaml where only that is there.
    #[arg(default_value = default_config())]
    config: PathBuf,
    /// Print the very bytes that are served, on one line.
    #[arg(long)]
    compact: bool,
}

/// Prints the document, or says why there is none.
pub fn run(arguments: &Arguments) -> ExitCode {
    let loaded = match config::load(&arguments.config) {
        Ok(loaded) => loaded,
        Err(refused) => {
            refuse(&refused.faults);
            return ExitCode::from(CONFIG);
        }
    };
    let served = loaded.gateway.sheet(Own::OpenApi).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(served) = served else {
        let file = arguments.config.display();
        to_stderr(&format!("error: {file} has no OpenAPI document; say `surfaces: {{ openapi: on }}`\n"));
        return ExitCode::from(USAGE);
    };
    let text = if arguments.compact { served.to_owned() } else { pretty(served) };
    to_stdout(&(text + "\n"), ExitCode::SUCCESS)
}
