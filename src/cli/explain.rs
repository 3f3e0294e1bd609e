//! `explain`: why a body is accepted or refused, to the operator, offline. Says where and by which rule; never
//! prints a value of the body.

use super::show::{printable, refuse, to_stderr, to_stdout};
use super::{CONFIG, DEFAULT_CONFIG, USAGE};
use crate::bounds::print_size;
use crate::config;
use crate::gateway::Route;
use crate::json::{Document, Value, line_column};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What `explain` can be asked.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The YAML file, for when the order of the words is not enough.
    #[arg(short, long, value_name = "CONFIG")]
    config: Option<PathBuf>,
    /// `[CONFIG] ADDRESS [BODY]`, see below.
    #[arg(required = true, num_args = 1..=3, value_name = "WORD")]
    words: Vec<String>,
}

/// The words, told apart.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    config: PathBuf,
    address: String,
    /// `None` is standard input.
    body: Option<PathBuf>,
}

/// Explains, and says with the exit code what a client would have met: 0 accepted, 1 refused.
pub fn run(arguments: &Arguments) -> ExitCode {
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
    let Some(route) = loaded.gateway.at(&question.address) else {
        let known: Vec<_> = loaded.gateway.routes().map(|route| route.address.as_str()).collect();
        return usage(&format!(
            "no route at {}; there is {}",
            printable(&question.address),
            known.join(", ")
        ));
    };
    let body = match read(question.body.as_ref(), route.max_body) {
        Ok(body) => body,
        Err(reason) => return usage(&reason),
    };
    let (accepted, text) = explain(route, &body);
    to_stdout(&text);
    ExitCode::from(u8::from(!accepted))
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
    let (in_place, rest) = match words {
        [first, rest @ ..] if config.is_none() && !rest.is_empty() && is_config(first) => (Some(first), rest),
        [first, rest @ ..] if config.is_none() && rest.len() == 2 => (Some(first), rest),
        all => (None, all),
    };
    let (address, body) = match rest {
        [address] => (address, None),
        [address, body] => (address, Some(body)),
        _ => return Err("with --config there is ADDRESS and BODY, nothing else".to_owned()),
    };
    if !address.starts_with('/') {
        return Err(format!("an ADDRESS starts with `/`; `{}` does not", printable(address)));
    }
    Ok(Question {
        config: config.or(in_place.map(PathBuf::from)).unwrap_or_else(|| PathBuf::from(DEFAULT_CONFIG)),
        address: address.clone(),
        body: body.filter(|body| *body != "-").map(PathBuf::from),
    })
}

/// One byte more than allowed is enough to see that it is too long.
fn read(body: Option<&PathBuf>, limit: usize) -> Result<Vec<u8>, String> {
    let limit = limit as u64 + 1;
    let mut bytes = Vec::new();
    match body {
        None => std::io::stdin()
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(|e| format!("cannot read standard input: {e}"))?,
        Some(path) => std::fs::File::open(path)
            .and_then(|file| file.take(limit).read_to_end(&mut bytes))
            .map_err(|e| format!("cannot read {}: {e}", path.display()))?,
    };
    Ok(bytes)
}

/// Whether the body is accepted, and the text that says so.
fn explain(route: &Route, body: &[u8]) -> (bool, String) {
    if body.len() > route.max_body {
        return (false, format!("refused: larger than max_body, {}\n", print_size(route.max_body)));
    }
    let mut document = Document::new();
    let value = match document.parse(body) {
        Ok(value) => value,
        Err(fault) => {
            let (line, column) = line_column(body, fault.at);
            return (false, format!("refused: {}\n    body      line {line}, column {column}\n", fault.kind));
        }
    };
    if let Some(mismatch) = route.form.mismatch(value) {
        let mut text = format!("refused: the form of {} does not admit this value\n", route.name);
        let (line, column) = line_column(body, follow(value, &mismatch.instance_pointer).span().start);
        let instance = shown(&mismatch.instance_pointer);
        let _ = writeln!(text, "    keyword   {}", printable(&mismatch.keyword));
        let _ = writeln!(text, "    schema    {}", shown(&mismatch.schema_pointer));
        let _ = writeln!(text, "    instance  {instance}, line {line}, column {column}");
        return (false, text);
    }
    if !route.form.numbers_safe(value) {
        return (
            false,
            "refused: a number that the backend would not read as written (numbers: safe_integers)\n"
                .to_owned(),
        );
    }
    let outbound = &route.outbound;
    let text = format!(
        "accepted: {} would send these {} bytes as {} {} to `{}`\n",
        route.name,
        body.len(),
        outbound.method,
        outbound.target,
        outbound.upstream.name,
    );
    (true, text)
}

/// The root has the empty pointer, which is hard to see.
fn shown(pointer: &str) -> String {
    if pointer.is_empty() { "(root)".to_owned() } else { printable(pointer) }
}

/// The value that a JSON Pointer (RFC 6901) leads to, or the deepest one on the way.
fn follow<'d>(mut value: Value<'d>, pointer: &str) -> Value<'d> {
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        let member = value.as_object().and_then(|object| object.get(&name));
        let element = || {
            let index: usize = name.parse().ok()?;
            value.as_array().and_then(|array| array.elements().nth(index))
        };
        match member.or_else(element) {
            Some(next) => value = next,
            None => break,
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::{Question, tell_apart};
    use std::path::PathBuf;

    fn told(config: Option<&str>, words: &[&str]) -> Option<(String, String, Option<String>)> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let Question { config, address, body } = tell_apart(config.map(PathBuf::from), &words).ok()?;
        Some((config.display().to_string(), address, body.map(|body| body.display().to_string())))
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
        assert_eq!(told(None, &["a"]), None);
        assert_eq!(told(None, &["c.yaml", "a"]), None);
        assert_eq!(told(Some("c"), &["d", "/a", "b"]), None);
    }
}
