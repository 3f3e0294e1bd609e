//! `explain`: why a body is accepted or refused, to the operator, offline. Says where and by which rule; never
//! prints a value of the body.

mod words;

use super::show::{printable, refuse, to_stderr, to_stdout};
use super::{CONFIG, USAGE, default_config};
use crate::config;
use crate::gateway::{Outbound, Route, judge, sentence};
use crate::json::Document;
use crate::lint::{Lint, Subject};
use crate::telemetry::{reason_label, reasons};
use std::fmt::Write as _;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What `explain` can be asked.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The YAML file, for when the order of the words is not enough.
    #[arg(short, long, value_name = "CONFIG")]
    config: Option<PathBuf>,
    /// Say what a reason in metrics and log means and who mends it; `all` for all of them.
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    reason: Option<String>,
    /// Say what a lint of `check` means, what to do, and how to say that it is meant; `all` for all of them.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["config", "reason"])]
    lint: Option<String>,
    /// `[CONFIG] ROUTE [BODY]`, see below. ROUTE is an address or a name.
    #[arg(required_unless_present_any = ["reason", "lint"], conflicts_with_all = ["reason", "lint"], num_args = 1..=3, value_name = "WORD")]
    words: Vec<String>,
}

/// The words, told apart.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    config: PathBuf,
    /// Its address, or its name.
    route: String,
    /// `None` is standard input.
    body: Option<PathBuf>,
}

/// Explains, and says with the exit code what a client would have met: 0 accepted, 1 refused.
pub fn run(arguments: &Arguments) -> ExitCode {
    if let Some(name) = &arguments.reason {
        return mean(name);
    }
    if let Some(name) = &arguments.lint {
        return mean_lint(name);
    }
    let question = match tell_apart(arguments.config.clone(), &arguments.words) {
        Ok(question) => question,
        Err(reason) => return usage(&reason),
    };
    let loaded = match config::load(&question.config) {
        Ok(loaded) => loaded,
        Err(refused) => {
            refuse(&refused.faults);
            return ExitCode::from(CONFIG);
        }
    };
    let Some(route) = loaded.gateway.called(&question.route) else {
        let known = loaded.gateway.routes().map(|route| format!("{} at {}", route.name, route.address));
        let (at, word) = (question.route.starts_with('/'), printable(&question.route));
        let missing = if at { format!("at {word}") } else { format!("named `{word}`") };
        let known = known.collect::<Vec<_>>().join(", ");
        return usage(&format!("no route {missing}; there is {}", printable(&known)));
    };
    let body = match read(question.body.as_ref(), route.max_body) {
        Ok(body) => body,
        Err(reason) => return usage(&reason),
    };
    let (accepted, text) = explain(route, &body);
    to_stdout(&text, ExitCode::from(u8::from(!accepted)))
}

/// What a reason means.
fn mean(name: &str) -> ExitCode {
    let mut meant = String::new();
    for reason in reasons().filter(|reason| name == "all" || reason_label(*reason) == name) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(meant, "{:16} {}", reason_label(reason), words::of_reason(reason));
    }
    if meant.is_empty() {
        let known: Vec<_> = reasons().map(reason_label).collect();
        return usage(&format!("no reason `{}`; there is {}", printable(name), known.join(", ")));
    }
    to_stdout(&meant, ExitCode::SUCCESS)
}

/// What a lint means.
fn mean_lint(name: &str) -> ExitCode {
    let mut meant = String::new();
    for lint in Lint::ALL.iter().copied().filter(|lint| name == "all" || lint.name() == name) {
        let word = lint.name();
        // Writing to a `String` cannot fail.
        let _ = writeln!(meant, "{word}: {}\n    help: {}", lint.meaning(), lint.remedy());
        let place = match lint.subject() {
            Subject::Form(_) => "on the route, or at the top of the file for all",
            Subject::File => "at the top of the file",
        };
        let _ = writeln!(meant, "    meant: `lints: {{ {word}: allow }}` {place}");
    }
    if meant.is_empty() {
        let known = || Lint::ALL.iter().map(|lint| lint.name());
        let suggestion = match config::nearest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there is {}", known().collect::<Vec<_>>().join(", ")),
        };
        return usage(&format!("no lint `{}`; {suggestion}", printable(name)));
    }
    to_stdout(&meant, ExitCode::SUCCESS)
}

fn usage(reason: &str) -> ExitCode {
    to_stderr(&format!("error: {reason}\n"));
    ExitCode::from(USAGE)
}

fn tell_apart(config: Option<PathBuf>, words: &[String]) -> Result<Question, String> {
    let is_config = |word: &str| {
        let extension = Path::new(word).extension();
        !word.starts_with('/') || extension.is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    let is_name = |word: &str| config::check_name(word).is_ok();
    let (in_place, rest) = match words {
        // A name and a body. A file may be called like a name; before what may be an address it is the file.
        [first, second]
            if config.is_none()
                && is_name(first)
                && !(second.starts_with('/') && Path::new(first).exists()) =>
        {
            (None, words)
        }
        [first, rest @ ..] if config.is_none() && !rest.is_empty() && is_config(first) => (Some(first), rest),
        [first, rest @ ..] if config.is_none() && rest.len() == 2 => (Some(first), rest),
        all => (None, all),
    };
    let (route, body) = match rest {
        [route] => (route, None),
        [route, body] => (route, Some(body)),
        _ => return Err("with --config there is ROUTE and BODY, nothing else".to_owned()),
    };
    if !route.starts_with('/') && !is_name(route) {
        return Err(format!("a ROUTE is an address, `/…`, or a name; `{}` is neither", printable(route)));
    }
    Ok(Question {
        config: config.or(in_place.map(PathBuf::from)).unwrap_or_else(|| PathBuf::from(default_config())),
        route: route.clone(),
        body: body.filter(|body| *body != "-").map(PathBuf::from),
    })
}

/// One byte more than allowed is enough to see that it is too long.
fn read(body: Option<&PathBuf>, limit: usize) -> Result<Vec<u8>, String> {
    let limit = limit as u64 + 1;
    let mut bytes = Vec::new();
    match body {
        None if std::io::stdin().is_terminal() => {
            to_stderr("reading the body from the terminal; Ctrl-D ends it\n");
            std::io::stdin()
                .take(limit)
                .read_to_end(&mut bytes)
                .map_err(|e| format!("cannot read it: {e}"))?
        }
        None => std::io::stdin()
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(|e| format!("cannot read standard input: {e}"))?,
        Some(path) => std::fs::File::open(path)
            .and_then(|file| file.take(limit).read_to_end(&mut bytes))
            // It may be the value itself, and values are not printed.
            .map_err(|e| match path.as_os_str().as_encoded_bytes() {
                [b'{' | b'[' | b'"', ..] => {
                    "BODY is a file; pipe the value in: `… | formgate explain ROUTE`".to_owned()
                }
                _ => format!("cannot read {}: {e}", path.display()),
            })?,
    };
    Ok(bytes)
}

/// Whether the body is accepted, and the text that says so.
fn explain(route: &Route, body: &[u8]) -> (bool, String) {
    let Err(unfit) = judge(&route.form, route.max_body, &mut Document::new(), body) else {
        let Outbound { method, target, upstream, .. } = &route.outbound;
        let (name, length, upstream) = (&route.name, body.len(), &upstream.name);
        let sent = format!("{name} would send these {length} bytes as {method} {target} to `{upstream}`");
        return (true, format!("accepted: {sent}\n"));
    };
    let mut text = format!("refused: {}\n", printable(&sentence(&unfit, &route.form, route.max_body, body)));
    let _ = writeln!(text, "    reason    {}", reason_label(unfit.reason()));
    if let Some(mismatch) = unfit.mismatch() {
        let _ = writeln!(text, "    keyword   {}", printable(&mismatch.keyword));
        let _ = writeln!(text, "    schema    {}", shown(&mismatch.schema_pointer));
        let _ = writeln!(text, "    instance  {}", shown(&mismatch.instance_pointer));
    }
    if let Some((line, column)) = unfit.place(body) {
        let _ = writeln!(text, "    body      line {line}, column {column}");
    }
    (false, text)
}

/// The root has the empty pointer, which is hard to see.
fn shown(pointer: &str) -> String {
    if pointer.is_empty() { "(root)".to_owned() } else { printable(pointer) }
}

#[cfg(test)]
mod tests {
    use super::{Question, tell_apart};
    use std::path::PathBuf;

    fn told(config: Option<&str>, words: &[&str]) -> Option<(String, String, Option<String>)> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let Question { config, route, body } = tell_apart(config.map(PathBuf::from), &words).ok()?;
        Some((config.display().to_string(), route, body.map(|body| body.display().to_string())))
    }

    #[test]
    fn words_are_told_apart() {
        let some = |config: &str, address: &str, body: Option<&str>| {
            Some((config.to_owned(), address.to_owned(), body.map(str::to_owned)))
        };
        let default = "config/gateway.yaml";
        assert_eq!(told(None, &["/a"]), some(default, "/a", None));
        assert_eq!(told(None, &["/a", "b.json"]), some(default, "/a", Some("b.json")));
        assert_eq!(told(None, &["/a", "/tmp/b.json"]), some(default, "/a", Some("/tmp/b.json")));
        assert_eq!(told(None, &["/a", "-"]), some(default, "/a", None));
        assert_eq!(told(None, &["c.yaml", "/a"]), some("c.yaml", "/a", None));
        assert_eq!(told(None, &["/etc/c.yaml", "/a"]), some("/etc/c.yaml", "/a", None));
        assert_eq!(told(None, &["/etc/c", "/a", "/b"]), some("/etc/c", "/a", Some("/b")));
        assert_eq!(told(Some("/etc/c"), &["/a", "/b"]), some("/etc/c", "/a", Some("/b")));
        assert_eq!(told(Some("/etc/c"), &["/a.yaml", "/b"]), some("/etc/c", "/a.yaml", Some("/b")));
        assert_eq!(told(None, &["a"]), some(default, "a", None));
        assert_eq!(told(None, &["a", "b.json"]), some(default, "a", Some("b.json")));
        assert_eq!(told(None, &["a", "-"]), some(default, "a", None));
        assert_eq!(told(None, &["c.yaml", "a"]), some("c.yaml", "a", None));
        assert_eq!(told(None, &["a", "/tmp/b.json"]), some(default, "a", Some("/tmp/b.json")));
        assert_eq!(told(None, &["src", "/a"]), some("src", "/a", None));
        assert_eq!(told(None, &["c", "a", "b"]), some("c", "a", Some("b")));
        assert_eq!(told(Some("c"), &["a", "b"]), some("c", "a", Some("b")));
        assert_eq!(told(None, &["A"]), None);
        assert_eq!(told(None, &["c.yaml", "a.b"]), None);
        assert_eq!(told(Some("c"), &["d", "/a", "b"]), None);
    }
}
