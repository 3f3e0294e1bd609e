//! `check`: what `serve` does before it binds, and nothing else.

use super::decoders::{self, Report};
use super::show::{Severity, Style, count, json_text, refuse, to_json, to_stderr, to_stdout};
use super::{CONFIG, INTERNAL, USAGE, default_config};
use crate::config::{self, Fault, Loaded, Refused};
use crate::decoders::Profile;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// What `check` can be asked.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The YAML file. Left out: config/gateway.yaml, or gateway.yaml where only that is there.
    #[arg(default_value = default_config())]
    config: PathBuf,
    /// Refuse what would only be warned of.
    #[arg(long)]
    deny_warnings: bool,
    /// Try the store, too: whether the server answers, or the file can be written. What cannot be used is warned of.
    #[arg(long)]
    online: bool,
    /// Print one JSON document instead of text.
    #[arg(long)]
    json: bool,
    /// Say of each form whether a model that is held to it by its runtime writes what the form admits: for all runtimes
    /// that are known, or for these. With --deny-warnings, a runtime that would write what is refused is an error.
    #[arg(long, value_name = "NAME,…", num_args = 0..=1, require_equals = true, value_delimiter = ',', default_missing_value = "")]
    decoders: Option<Vec<String>>,
    /// Print the JSON Schema of the file itself, and check nothing.
    #[arg(long, conflicts_with_all = ["deny_warnings", "json", "online", "decoders"])]
    schema: bool,
}

/// Checks, prints, and says with the exit code how it went.
pub fn run(arguments: &Arguments) -> ExitCode {
    if arguments.schema {
        return to_stdout(&(config::schema() + "\n"), ExitCode::SUCCESS);
    }
    let known = match Profile::all() {
        Ok(known) => known,
        Err(error) => {
            to_stderr(&format!("error: a profile that is built in cannot be read: {error}\n"));
            return ExitCode::from(INTERNAL);
        }
    };
    let chosen = match &arguments.decoders {
        None => None,
        Some(names) => match decoders::choose(&known, names)
            .and_then(|chosen| decoders::misplaced(&known, names, &arguments.config).map_or(Ok(chosen), Err))
        {
            Ok(chosen) => Some(chosen.into_iter().map(|at| &known[at]).collect::<Vec<_>>()),
            Err(reason) => {
                to_stderr(&format!("error: {reason}\n"));
                return ExitCode::from(USAGE);
            }
        },
    };
    let mut outcome = config::load(&arguments.config);
    if let (true, Ok(loaded)) = (arguments.online, &mut outcome) {
        try_store(arguments, loaded);
    }
    let report = match (&outcome, chosen) {
        (Ok(loaded), Some(profiles)) => Some(Report::of(loaded, profiles)),
        (Ok(_) | Err(_), _) => None,
    };
    let warned = outcome.as_ref().is_ok_and(|loaded| !loaded.warnings.is_empty());
    let denied = arguments.deny_warnings && (warned || report.as_ref().is_some_and(Report::is_bad));
    let code = if outcome.is_err() || denied { ExitCode::from(CONFIG) } else { ExitCode::SUCCESS };
    if arguments.json {
        print_json(&outcome, report.as_ref(), denied, code)
    } else {
        print_text(arguments, &outcome, report.as_ref(), denied, code)
    }
}

/// A pipeline may not reach what a server will: never a fault.
fn try_store(arguments: &Arguments, loaded: &mut Loaded) {
    let (place, found) = crate::store::try_out(&loaded.settings.store);
    let warnings = match found {
        Ok(warnings) => {
            to_stderr(&format!("store: {place} can be used\n"));
            warnings
        }
        Err(cause) => vec![format!("the store {place} cannot be used: {cause}")],
    };
    loaded.warnings.extend(warnings.into_iter().map(|reason| Fault {
        file: arguments.config.clone(),
        line: 0,
        column: 0,
        pointer: "/store".to_owned(),
        reason,
        suggestion: None,
        lint: None,
    }));
}

fn print_text(
    arguments: &Arguments,
    outcome: &Result<Loaded, Refused>,
    report: Option<&Report<'_, '_>>,
    denied: bool,
    code: ExitCode,
) -> ExitCode {
    let loaded = match outcome {
        Ok(loaded) => loaded,
        Err(refused) => {
            refuse(&refused.faults);
            return code;
        }
    };
    let style = Style::of_stderr();
    let table = report.map(|report| report.text(Style::of_stdout()) + "\n").unwrap_or_default();
    let severity = if denied { Severity::Error } else { Severity::Warning };
    to_stderr(&loaded.warnings.iter().map(|warning| style.fault(severity, warning)).collect::<String>());
    let warnings = count(loaded.warnings.len(), "warning");
    if denied {
        let held = report.is_some_and(Report::is_bad);
        let why = if held { "some decoder does not hold some form" } else { warnings.as_str() };
        to_stderr(&format!("refused: {why}, and warnings are denied\n"));
        return to_stdout(&table, code);
    }
    let (file, digest) = (arguments.config.display(), &loaded.gateway.digest);
    let routes = count(loaded.gateway.routes().len(), "route");
    to_stdout(&format!("{table}{file}: {routes}, {warnings}, digest {digest}\n"), code)
}

fn print_json(
    outcome: &Result<Loaded, Refused>,
    report: Option<&Report<'_, '_>>,
    denied: bool,
    code: ExitCode,
) -> ExitCode {
    let mut document = match outcome {
        Ok(loaded) => json!({
            "ok": !denied,
            "digest": loaded.gateway.digest,
            "files": loaded.files,
            "routes": loaded.gateway.routes().map(|route| json!({
                "name": route.name,
                "address": route.address,
                "digest": route.arrival.digest(),
            })).collect::<Vec<_>>(),
            "faults": [],
            "warnings": loaded.warnings.iter().map(to_json).collect::<Vec<_>>(),
        }),
        Err(refused) => json!({
            "ok": false,
            "digest": refused.digest,
            "files": refused.files,
            "routes": [],
            "faults": refused.faults.iter().map(to_json).collect::<Vec<_>>(),
            "warnings": [],
        }),
    };
    if let Some(report) = report {
        document["decoders"] = report.json();
    }
    to_stdout(&json_text(&document), code)
}
