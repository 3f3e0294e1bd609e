//! The file: YAML to a [`Gateway`], or the whole list of [`Fault`]s. No third state.
//!
//! 1. `files` reads each file once, bounded.
//! 2. `tree` makes an ordered tree of the YAML, every node with its line and column.
//! 3. `decode` fills the serde mirror (`raw`) from it and goes on after a value that does not fit.
//! 4. `compile` judges what was given and makes what runs, collecting every fault.
//!
//! The mirror is also what [`schema`] is drawn from, so what editors complete is what is read.

mod compile;
mod decode;
mod fault;
mod field;
mod files;
mod foreign;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod inline;
mod places;
mod raw;
mod scalar;
mod settings;
mod stock;
mod tree;
mod words;

pub use fault::Fault;
pub(crate) use fault::nearest;
pub(crate) use foreign::{Foreign, read_foreign};
pub use settings::{
    AccessLog, AdminAddress, Collector, Listen, OnWidening, Policy, RedisAddress, RedisStore, Secret,
    Settings, Store, StoreHome, WhenDown,
};
pub use stock::Stock;

use crate::gateway::{Gateway, PublicName};
use crate::lint::LintLevels;
use crate::surface::Desks;
use compile::Compiler;
use fault::Findings;
use files::Files;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use tree::Tree;

/// What a successful load gives.
#[derive(Debug)]
pub struct Loaded {
    /// Everything that decides about requests.
    pub gateway: Gateway,
    /// What desks say.
    pub desks: Desks,
    /// What holds for the process.
    pub settings: Settings,
    /// Every file that was read, the YAML first: what the watch looks at.
    pub files: Vec<PathBuf>,
    /// Lints at level `warn`.
    pub warnings: Vec<Fault>,
    /// What the next load may take over.
    pub stock: Stock,
}

/// What a failed load gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Everything that is wrong, by file and line; at least one.
    pub faults: Vec<Fault>,
    /// Every file that was asked for, the YAML first, also those that could not be read: what the watch looks at
    /// until one of them changes.
    pub files: Vec<PathBuf>,
    /// Digest over what was read, as [`Gateway::digest`]: the same broken files need not be judged twice.
    pub digest: String,
}

/// Reads the file and every file that it names, once each, and compiles all of it.
pub fn load(path: &Path) -> Result<Loaded, Refused> {
    load_after(path, &Stock::default())
}

/// The same after an earlier load: what that has made from the same words is not made again.
pub fn load_after(path: &Path, earlier: &Stock) -> Result<Loaded, Refused> {
    let mut files = Files::beside(path);
    let judged = judge(path, &mut files, earlier);
    let (paths, digest) = (files.paths(), files.digest());
    match judged {
        Ok(Judged { compiled, settings, warnings, mut stock }) => {
            stock.reading = Some(files.reading());
            let mut gateway = Gateway::new(compiled.routes, compiled.trusted_proxies, digest);
            gateway.limit_own(compiled.surfaces.limits);
            compiled.surfaces.sheets.into_iter().for_each(|sheet| gateway.put_sheet(sheet));
            compiled.surfaces.desks.into_iter().for_each(|desk| gateway.open_desk(desk));
            gateway.operators = compiled.operators;
            gateway.sampling = compiled.sampling;
            gateway.certificates = compiled.certificates;
            gateway.expiries = compiled.expiries;
            gateway.public = settings.public_url.as_deref().and_then(PublicName::of);
            let desks = compiled.surfaces.said;
            Ok(Loaded { gateway, desks, settings, files: paths, warnings, stock })
        }
        Err(mut faults) => {
            sort(&mut faults, &paths);
            Err(Refused { faults, files: paths, digest })
        }
    }
}

struct Judged {
    compiled: compile::Compiled,
    settings: Settings,
    warnings: Vec<Fault>,
    stock: Stock,
}

fn judge(path: &Path, files: &mut Files, earlier: &Stock) -> Result<Judged, Vec<Fault>> {
    let alone = |reason: String, suggestion, (line, column)| {
        vec![Fault {
            file: path.to_owned(),
            line,
            column,
            pointer: String::new(),
            reason,
            suggestion,
            lint: None,
        }]
    };
    let bytes = files.read_yaml(path).map_err(|reason| {
        let help = "`formgate init` writes one to start from; another one is named behind the verb";
        alone(reason, (!path.exists()).then(|| help.to_owned()), (0, 0))
    })?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        alone("not UTF-8".to_owned(), None, crate::json::line_column(&bytes, error.valid_up_to()))
    })?;
    let (findings, warnings) = (Findings::default(), Findings::default());
    let Some(tree) = Tree::read(text, &findings) else { return Err(findings.into_faults(path)) };
    let Some(file) = decode::decode::<raw::File>(&tree, &findings) else {
        return Err(findings.into_faults(path));
    };
    let mut compiler = Compiler {
        tree: &tree,
        findings: &findings,
        warnings: &warnings,
        files,
        form_faults: Vec::new(),
        form_warnings: Vec::new(),
        told: HashSet::new(),
        levels: LintLevels::default(),
        expiries: Vec::new(),
        earlier,
        stock: Stock::default(),
    };
    let mut compiled = compiler.compile(&file);
    let Compiler { form_faults, form_warnings, stock, .. } = compiler;
    let mut faults = findings.into_faults(path);
    faults.extend(form_faults);
    if faults.is_empty() && compiled.routes.len() < file.routes.given().map_or(0, Vec::len) {
        return Err(alone(
            "a route came to nothing, and nothing says why: please report it".to_owned(),
            None,
            (0, 0),
        ));
    }
    match (compiled.settings.take(), faults.is_empty()) {
        (Some(settings), true) => {
            let mut warnings = warnings.into_faults(path);
            warnings.extend(form_warnings);
            sort(&mut warnings, &files.paths());
            Ok(Judged { compiled, settings, warnings, stock })
        }
        _ => Err(faults),
    }
}

/// By file in the order of reading, then by place.
fn sort(faults: &mut [Fault], files: &[PathBuf]) {
    let places: HashMap<&PathBuf, usize> = files.iter().zip(0..).collect();
    faults.sort_by_key(|fault| (places.get(&fault.file), fault.line, fault.column));
}

/// What is wrong with a name of a route or token, if anything is.
pub fn check_name(name: &str) -> Result<(), String> {
    words::parse_name(name).map(|_| ())
}

/// What is wrong with a path at an upstream, if anything is.
pub(crate) fn check_upstream_path(path: &str) -> Result<(), String> {
    words::parse_upstream_path(path).map(|_| ())
}

/// What is wrong with the URL of a server, if anything is.
pub(crate) fn check_server(url: &str) -> Result<(), String> {
    words::parse_server(url).map(|_| ())
}

/// What is wrong with the path of an address, if anything is.
pub(crate) fn check_address(path: &str) -> Result<(), String> {
    words::check_path(path, false)
}

/// The JSON Schema (2020-12) of the file itself, for editors.
pub fn schema() -> String {
    let drawn = schemars::schema_for!(raw::File).to_value();
    let members = drawn.as_object().cloned().unwrap_or_default();
    // What a reader wants to know first, first.
    let (head, rest): (Vec<_>, Vec<_>) = members
        .into_iter()
        .partition(|(name, _)| ["$schema", "title", "description"].contains(&name.as_str()));
    let mut ordered = serde_json::Value::Object(head.into_iter().chain(rest).collect());
    drop_widths(&mut ordered);
    // A schema is plain JSON; serialising it cannot fail.
    serde_json::to_string_pretty(&ordered).unwrap_or_default()
}

/// `"format": "uint32"` says how the number is held here, which is no concern of the file's.
fn drop_widths(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(members) => {
            members.retain(|name, value| {
                name != "format" || !value.as_str().is_some_and(|f| f.starts_with("uint"))
            });
            members.values_mut().for_each(drop_widths);
        }
        serde_json::Value::Array(elements) => elements.iter_mut().for_each(drop_widths),
        _ => {}
    }
}
