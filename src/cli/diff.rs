//! `diff`: what each form of a newer configuration newly admits and newly refuses, and what else changed.

use super::show::{self, Severity, Style, count, json_text, printable, refuse, to_stderr, to_stdout};
use super::{CONFIG, USAGE};
use crate::config::{self, Fault, Loaded};
use crate::form::{Change, CompiledForm, Difference, Excess, FormOptions, Numbers};
use crate::gateway::{RouteChange, RouteDifference, Scrutiny, Widening, differences};
use crate::json::line_column;
use crate::lint::{Level, Lint, LintLevels};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Characters of an example that are shown.
const SHOWN: usize = 200;

/// What `diff` can be asked.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// What there was: a YAML file, or a JSON Schema.
    old: PathBuf,
    /// What there is to be: the same kind of file.
    new: PathBuf,
    /// Exit with 1 when something is let in that was not, or that cannot be decided.
    #[arg(long)]
    refuse_widening: bool,
    /// Print one JSON document instead of text.
    #[arg(long)]
    json: bool,
}

/// Compares, prints, and says with the exit code how it went: 1 where widening is refused and there is one.
pub fn run(arguments: &Arguments) -> ExitCode {
    let found = match (is_form(&arguments.old), is_form(&arguments.new)) {
        (true, true) => forms(&arguments.old, &arguments.new),
        (false, false) => configs(&arguments.old, &arguments.new),
        (true, false) | (false, true) => {
            to_stderr("error: one is a form (.json) and the other a configuration\n");
            return ExitCode::from(USAGE);
        }
    };
    let found = match found {
        Ok(found) => found,
        Err(faults) if arguments.json => {
            let faults: Vec<Value> = faults.iter().map(show::to_json).collect();
            return to_stdout(&json_text(&json!({ "faults": faults })), ExitCode::from(CONFIG));
        }
        Err(faults) => {
            refuse(&faults);
            return ExitCode::from(CONFIG);
        }
    };
    let widenings: Vec<_> = found.routes.iter().filter_map(RouteDifference::widening).collect();
    let refused = arguments.refuse_widening && !widenings.is_empty();
    let code = ExitCode::from(u8::from(refused));
    if arguments.json {
        return to_stdout(&json_text(&to_json(&found, !widenings.is_empty())), code);
    }
    if refused {
        let undecided = widenings.iter().filter(|widening| **widening == Widening::Undecided).count();
        let reason = match (widenings.len() - undecided, undecided) {
            (more, 0) => format!("{} more than before", admit(more)),
            (0, undecided) => format!("whether {} more could not be decided", admit(undecided)),
            (more, undecided) => {
                format!(
                    "{} more than before, and whether {} more could not be decided",
                    admit(more),
                    admit(undecided)
                )
            }
        };
        to_stderr(&format!("{}: {reason}\n", Style::of_stderr().word(Severity::Error, "refused")));
    }
    to_stdout(&text(&found), code)
}

fn admit(addresses: usize) -> String {
    if addresses == 1 { "1 address admits".to_owned() } else { format!("{addresses} addresses admit") }
}

fn is_form(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// What differs.
struct Found {
    routes: Vec<RouteDifference>,
    /// Settings that differ and need a restart.
    settings: Vec<&'static str>,
    /// Other things of the whole file that differ.
    others: Vec<&'static str>,
}

fn configs(old: &Path, new: &Path) -> Result<Found, Vec<Fault>> {
    let (older, newer) = match (config::load(old), config::load(new)) {
        (Ok(older), Ok(newer)) => (older, newer),
        (older, newer) => {
            let faults = [older.err(), newer.err()].into_iter().flatten().flat_map(|refused| refused.faults);
            return Err(faults.collect());
        }
    };
    let Loaded { gateway, settings, .. } = &newer;
    let others = [
        ("public_url", settings.public_url == older.settings.public_url),
        ("reload.widening", settings.on_widening == older.settings.on_widening),
        ("trusted_proxies", gateway.trusted_proxies == older.gateway.trusted_proxies),
        ("tokens of operators", gateway.operators == older.gateway.operators),
    ];
    Ok(Found {
        routes: differences(&older.gateway, gateway, Scrutiny::Examples),
        settings: settings.differences(&older.settings),
        others: others.into_iter().filter_map(|(name, same)| (!same).then_some(name)).collect(),
    })
}

fn forms(old: &Path, new: &Path) -> Result<Found, Vec<Fault>> {
    let (older, newer) = match (form(old), form(new)) {
        (Ok(older), Ok(newer)) => (older, newer),
        (older, newer) => return Err([older.err(), newer.err()].into_iter().flatten().flatten().collect()),
    };
    let form = older.difference(&newer);
    let change = RouteChange::Kept { form: form.clone(), others: Vec::new() };
    let name = new.display().to_string();
    let told = RouteDifference { name: name.clone(), address: name, change };
    let routes = if form == Difference::SAME { Vec::new() } else { vec![told] };
    Ok(Found { routes, settings: Vec::new(), others: Vec::new() })
}

/// A form by itself, judged but not linted.
fn form(path: &Path) -> Result<CompiledForm, Vec<Fault>> {
    let fault = |(line, column), pointer: String, reason: String, suggestion| {
        let lint = None;
        Fault { file: path.to_owned(), line, column, pointer, reason, suggestion, lint }
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        vec![fault((0, 0), String::new(), format!("cannot read {}: {error}", path.display()), None)]
    })?;
    let mut lints = LintLevels::default();
    for lint in Lint::ALL.iter().copied() {
        lints.set(lint, Level::Allow);
    }
    let options = FormOptions {
        lints,
        annotations: Vec::new(),
        unroll: None,
        numbers: Numbers::Exact,
        max_body: usize::MAX,
    };
    CompiledForm::compile(&text, &options).map_err(|faults| {
        let told = faults.into_iter().map(|found| {
            fault(line_column(text.as_bytes(), found.at), found.pointer, found.reason, found.suggestion)
        });
        told.collect()
    })
}

fn text(found: &Found) -> String {
    let style = Style::of_stdout();
    let mut out = String::new();
    for RouteDifference { name, address, change } in &found.routes {
        let at =
            if name == address { printable(address) } else { format!("{} at {}", name, printable(address)) };
        let _ = writeln!(out, "{}: {}", style.strong(&at), word(change));
        if let RouteChange::Kept { form, others } = change {
            if *form != Difference::SAME {
                excess(&mut out, "newly admits ", &form.admits);
                excess(&mut out, "newly refuses", &form.refuses);
            }
            if !others.is_empty() {
                let _ = writeln!(out, "    changed besides  {}", others.join(", "));
            }
        }
    }
    if !found.others.is_empty() {
        let _ = writeln!(out, "of the whole file: {}", found.others.join(", "));
    }
    if !found.settings.is_empty() {
        let _ = writeln!(out, "needs a restart: {}", found.settings.join(", "));
    }
    if out.is_empty() {
        return "nothing that decides about requests differs\n".to_owned();
    }
    let _ = writeln!(out, "{}", count(found.routes.len(), "difference"));
    out
}

fn word(change: &RouteChange) -> &'static str {
    match change {
        RouteChange::Added => "a new address",
        RouteChange::Removed => "gone",
        RouteChange::Kept { form, others: _ } => match form.change() {
            Change::Same => "the form admits the same",
            Change::Widened => "the form is wider",
            Change::Narrowed => "the form is narrower",
            Change::Both => "the form is wider and narrower",
            Change::Unknown => "the form changed",
        },
    }
}

fn excess(out: &mut String, what: &str, excess: &Excess) {
    let said = match excess {
        Excess::None => "nothing".to_owned(),
        Excess::Some { example: Some(example) } => cut(&printable(example)),
        Excess::Some { example: None } => "something; no example was found".to_owned(),
        Excess::Unknown => "not decided: take it for something".to_owned(),
    };
    let _ = writeln!(out, "    {what}    {said}");
}

/// The beginning of a long text, and how long it is.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
        None => text.to_owned(),
    }
}

fn to_json(found: &Found, widening: bool) -> Value {
    let excess = |excess: &Excess| match excess {
        Excess::None => json!({ "more": "no" }),
        Excess::Some { example } => json!({ "more": "yes", "example": example }),
        Excess::Unknown => json!({ "more": "unknown" }),
    };
    let routes = found.routes.iter().map(|route| {
        let RouteDifference { name, address, change } = route;
        let mut told = json!({
            "name": name,
            "address": address,
            "change": change.name(),
            "widening": route.widening().is_some(),
        });
        if let RouteChange::Kept { form, others } = change {
            told["admits"] = excess(&form.admits);
            told["refuses"] = excess(&form.refuses);
            told["others"] = json!(others);
        }
        told
    });
    json!({
        "faults": [],
        "widening": widening,
        "routes": routes.collect::<Vec<_>>(),
        "others": found.others,
        "needs_restart": found.settings,
    })
}
