//! `init`: routes and forms for an API that exists, or something to start from.

use super::show::{Style, count, json_text, printable, to_stderr, to_stdout};
use super::{INTERNAL, USAGE};
use crate::adopt::{Adoption, Failed, Format, Recording, Wanted, from_openapi, from_traffic, starter};
use crate::config;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The source cannot be read (`sysexits.h`: `EX_DATAERR`).
const UNREADABLE: u8 = 65;
/// Nothing in it can be carried.
const NOTHING: u8 = 1;
/// Files that are named, at most.
const TOLD: usize = 10;
/// Bytes of a source, at most.
const MAX_SOURCE: u64 = 64 << 20;

/// What `init` can be asked.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Arguments {
    /// An OpenAPI 3.0 or 3.1 document, or Swagger 2.0: YAML or JSON.
    #[arg(long, value_name = "FILE")]
    openapi: Option<PathBuf>,
    /// Carry only this operation, by its operationId or as `POST /path`; more than once for more.
    #[arg(long, value_name = "ID", requires = "openapi", conflicts_with = "from_traffic")]
    operation: Vec<String>,
    /// Make parameters of a path members of the form: the API then gets them in the body too.
    #[arg(long, requires = "openapi", conflicts_with = "from_traffic")]
    path_members: bool,
    /// Recorded requests: a HAR file, or lines of `{"method":"POST","path":"/orders","body":{…}}`.
    #[arg(long, value_name = "FILE", conflicts_with = "openapi")]
    from_traffic: Option<PathBuf>,
    /// How the requests are recorded; told from the file where it is not said.
    #[arg(long, value_enum, requires = "from_traffic", conflicts_with = "openapi")]
    format: Option<FormatKind>,
    /// Copy no recorded value: no example, and no `enum` of texts that were seen.
    #[arg(long, requires = "from_traffic", conflicts_with = "openapi")]
    no_examples: bool,
    /// The folder to write to: gateway.yaml and forms/.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Overwrite files that are there.
    #[arg(long)]
    force: bool,
    /// Print what would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// How to tell what was carried, guessed and not carried.
    #[arg(long, value_enum, default_value_t = ReportKind::Text)]
    report: ReportKind,
}

/// How the report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReportKind {
    /// For a person.
    Text,
    /// One JSON document, with every keyword that was dropped.
    Json,
}

/// How requests are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FormatKind {
    /// HTTP Archive, as browsers and proxies write it.
    Har,
    /// One JSON object a line.
    Jsonl,
}

/// Reads, writes, tells.
pub fn run(arguments: &Arguments) -> ExitCode {
    let adoption = match (&arguments.openapi, &arguments.from_traffic) {
        (Some(path), _) => openapi(arguments, path),
        (None, Some(path)) => traffic(arguments, path),
        (None, None) => return begin(arguments),
    };
    match adoption {
        Ok(adoption) => finish(arguments, &adoption),
        Err(code) => code,
    }
}

fn openapi(arguments: &Arguments, path: &Path) -> Result<Adoption, ExitCode> {
    let text = read(path)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let wanted = Wanted { operations: arguments.operation.clone(), path_members: arguments.path_members };
    let mut progress = Progress::begin();
    let outcome = from_openapi(&text, &name, &wanted, &mut |done, all| progress.tell(done, all));
    progress.end();
    outcome.map_err(|failed| told(path, &failed))
}

fn traffic(arguments: &Arguments, path: &Path) -> Result<Adoption, ExitCode> {
    let text = read(path)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let format = arguments.format.map(|format| match format {
        FormatKind::Har => Format::Har,
        FormatKind::Jsonl => Format::Jsonl,
    });
    let recording = Recording { format, values: !arguments.no_examples };
    from_traffic(&text, &name, recording).map_err(|failed| told(path, &failed))
}

/// Something to start from.
fn begin(arguments: &Arguments) -> ExitCode {
    let files = starter().files;
    if arguments.dry_run {
        return to_stdout(&shown(arguments, &files), ExitCode::SUCCESS);
    }
    match write(&arguments.out, &files, arguments.force) {
        Ok(()) => {
            to_stderr(&unused(arguments, &files));
            let file = arguments.out.join("gateway.yaml");
            let file = file.display();
            to_stdout(
                &format!(
                    "wrote {file} and a form: one route to start from\n\n  formgate check {file}\n  formgate serve {file}\n\n\
                     For an API that has an OpenAPI document: formgate init --openapi FILE\n\
                     From requests that were recorded:        formgate init --from-traffic FILE\n"
                ),
                ExitCode::SUCCESS,
            )
        }
        Err(code) => code,
    }
}

fn shown(arguments: &Arguments, files: &[(String, String)]) -> String {
    let mut out = String::new();
    for (file, text) in files {
        let _ = writeln!(out, "==> {} <==", printable(&arguments.out.join(file).display().to_string()));
        // What is written is escaped already: this holds whatever else comes to stand in a file.
        out.extend(text.lines().map(|line| printable(line) + "\n"));
        out.push('\n');
    }
    out
}

fn told(path: &Path, failed: &Failed) -> ExitCode {
    match failed {
        Failed::Unreadable(fault) => {
            let mut place = path.display().to_string();
            if fault.line > 0 {
                let _ = write!(place, ":{}:{}", fault.line, fault.column);
            }
            to_stderr(&format!("{}: error: {}\n", printable(&place), printable(&fault.reason)));
            ExitCode::from(UNREADABLE)
        }
        Failed::UnknownOperations(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{}`", printable(name))).collect();
            let file = path.display();
            let names = names.join(", ");
            to_stderr(&format!(
                "error: {file} has no operation {names}; say its operationId, or `POST /path`\n"
            ));
            ExitCode::from(USAGE)
        }
    }
}

fn read(path: &Path) -> Result<String, ExitCode> {
    let cannot = |reason: String| {
        to_stderr(&format!("error: cannot read {}: {}\n", path.display(), printable(&reason)));
        ExitCode::from(UNREADABLE)
    };
    let about = std::fs::metadata(path).map_err(|error| cannot(error.to_string()))?;
    if !about.is_file() {
        return Err(cannot("not a file".to_owned()));
    }
    if about.len() > MAX_SOURCE {
        return Err(cannot(format!("larger than {MAX_SOURCE} bytes")));
    }
    let bytes = std::fs::read(path).map_err(|error| cannot(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| {
        let (line, column) = crate::json::line_column(error.as_bytes(), error.utf8_error().valid_up_to());
        cannot(format!("not UTF-8 (line {line}, column {column})"))
    })
}

fn finish(arguments: &Arguments, adoption: &Adoption) -> ExitCode {
    let told = match arguments.report {
        ReportKind::Text => adoption.report.text().lines().map(|line| printable(line) + "\n").collect(),
        ReportKind::Json => json_text(&adoption.report.json()),
    };
    let (carried, left) = adoption.report.counts();
    if carried == 0 {
        let code = to_stdout(&told, ExitCode::from(NOTHING));
        to_stderr(&format!(
            "nothing to carry: {} listed, none with a body for a form; nothing is written\n",
            count(left, "operation")
        ));
        return code;
    }
    if arguments.dry_run {
        // One JSON document is no longer one with files before it.
        let files = match arguments.report {
            ReportKind::Text => shown(arguments, &adoption.files),
            ReportKind::Json => String::new(),
        };
        return to_stdout(&(files + &told), ExitCode::SUCCESS);
    }
    match write(&arguments.out, &adoption.files, arguments.force) {
        Ok(()) => {
            let code = to_stdout(&told, ExitCode::SUCCESS);
            let file = arguments.out.join("gateway.yaml");
            to_stderr(&format!(
                "wrote {} and {}; next: formgate check {0}\n",
                file.display(),
                count(adoption.files.len() - 1, "form")
            ));
            to_stderr(&unused(arguments, &adoption.files));
            code
        }
        Err(code) => code,
    }
}

/// Writes all of it or nothing: into a folder beside, which `check` must pass, and from there to its place.
fn write(out: &Path, files: &[(String, String)], force: bool) -> Result<(), ExitCode> {
    let there: Vec<PathBuf> =
        files.iter().map(|(file, _)| out.join(file)).filter(|path| path.symlink_metadata().is_ok()).collect();
    if !force && !there.is_empty() {
        let mut text = String::new();
        for path in there.iter().take(TOLD) {
            let _ = writeln!(text, "  {}", path.display());
        }
        let number = count(there.len(), "file");
        to_stderr(&format!(
            "error: {number} would be overwritten:\n{text}say `--force`, or another `--out`\n"
        ));
        return Err(ExitCode::from(USAGE));
    }
    let staged = out.join(format!(".formgate-init-{}", std::process::id()));
    let outcome = stage(&staged, files).and_then(|()| place(&staged, out, files));
    let _ = std::fs::remove_dir_all(&staged);
    outcome.map_err(|reason| {
        to_stderr(&format!("error: nothing is written: {reason}\n"));
        ExitCode::from(INTERNAL)
    })
}

/// Names the forms beside a file that was overwritten and that the new one does not name. They may be someone's work: they
/// stay.
fn unused(arguments: &Arguments, files: &[(String, String)]) -> String {
    let entries = std::fs::read_dir(arguments.out.join("forms")).into_iter().flatten().flatten();
    let there = entries.map(|entry| Path::new("forms").join(entry.file_name()));
    let mut unused: Vec<PathBuf> = there
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter(|path| files.iter().all(|(file, _)| Path::new(file) != path))
        .collect();
    if !arguments.force || unused.is_empty() {
        return String::new();
    }
    unused.sort();
    let mut text =
        format!("{} that gateway.yaml does not name stay as they were:\n", count(unused.len(), "form"));
    for path in unused.iter().take(TOLD) {
        let _ = writeln!(text, "  {}", printable(&path.display().to_string()));
    }
    if unused.len() > TOLD {
        let _ = writeln!(text, "  and {} more", unused.len() - TOLD);
    }
    text
}

fn stage(staged: &Path, files: &[(String, String)]) -> Result<(), String> {
    for (file, text) in files {
        let path = staged.join(file);
        let folder = path.parent().unwrap_or(staged);
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    config::load(&staged.join("gateway.yaml")).map(|_| ()).map_err(|refused| {
        let style = Style::of_stderr();
        let shown = refused.faults.iter().take(5);
        let faults: String = shown.map(|fault| style.fault(super::show::Severity::Error, fault)).collect();
        format!("what came of it does not pass `check`, which is a fault of formgate's:\n{faults}")
    })
}

/// The YAML comes last: until then nothing refers to the forms.
fn place(staged: &Path, out: &Path, files: &[(String, String)]) -> Result<(), String> {
    for (file, _) in files.iter().rev() {
        let path = out.join(file);
        let folder = path.parent().unwrap_or(out);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::rename(staged.join(file), &path))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Tells a person how far it is, once it takes more than a second.
struct Progress {
    since: Instant,
    told: Option<Instant>,
    shown: bool,
}

impl Progress {
    fn begin() -> Self {
        Self { since: Instant::now(), told: None, shown: std::io::stderr().is_terminal() }
    }

    fn tell(&mut self, done: usize, all: usize) {
        let now = Instant::now();
        let due = self.told.is_none_or(|told| now - told > Duration::from_millis(200));
        if self.shown && due && now - self.since > Duration::from_secs(1) {
            self.told = Some(now);
            to_stderr(&format!("\r{done} of {all} operations"));
        }
    }

    fn end(&self) {
        if self.told.is_some() {
            to_stderr("\r\x1b[K");
        }
    }
}
