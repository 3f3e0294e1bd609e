//! Requests that were recorded: a HAR file, or one JSON object a line.

use super::server::split;
use super::source::Unreadable;
use crate::form::Node;
use crate::json::{Document, SyntaxFault, line_column};

/// How requests are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// HTTP Archive 1.2, as browsers and proxies write it: `log.entries[].request`.
    Har,
    /// One object a line: `{"method":"POST","path":"/orders","body":{…}}`; or `text` with the bytes of the body as they
    /// were, in place of `body`. `host` and `query` may stand there, others are not read.
    Jsonl,
}

impl Format {
    /// What a text looks like.
    pub fn of(text: &str) -> Self {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let alone = Document::new()
            .parse(first.as_bytes())
            .is_ok_and(|value| value.as_object().is_some_and(|object| object.get("method").is_some()));
        if alone { Self::Jsonl } else { Self::Har }
    }
}

/// One request whose body was read.
#[derive(Debug, Clone)]
pub(super) struct Act {
    /// In upper case.
    pub(super) method: String,
    /// `https://api.example.com`; empty where it is not recorded.
    pub(super) origin: String,
    /// Without its query.
    pub(super) path: String,
    /// Whether it had a query.
    pub(super) queried: bool,
    pub(super) body: Node,
    /// The body as it was sent.
    pub(super) text: String,
    /// The line or the entry, from 1.
    pub(super) at: usize,
}

/// What was recorded: what can be used, and what cannot, with where it stands and why.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) acts: Vec<Act>,
    pub(super) others: Vec<Other>,
}

/// A request that is not used.
#[derive(Debug)]
pub(super) struct Other {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) at: usize,
    /// Whether it is one that only reads.
    pub(super) reads: bool,
    pub(super) reason: String,
}

/// A request before its body is looked at.
struct Raw<'r> {
    method: &'r str,
    url: &'r str,
    host: &'r str,
    queried: bool,
    /// The media type, where it is recorded.
    kind: Option<&'r str>,
    /// Text of the body.
    text: Option<&'r str>,
    at: usize,
}

pub(super) fn read(text: &str, format: Format) -> Result<Recorded, Unreadable> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Har => har(text),
        Format::Jsonl => lines(text),
    }
}

fn unreadable(text: &str, fault: SyntaxFault) -> Unreadable {
    let (line, column) = line_column(text.as_bytes(), fault.at);
    Unreadable { line, column, reason: fault.kind.to_string() }
}

fn har(text: &str) -> Result<Recorded, Unreadable> {
    let mut document = Document::new();
    let root = document.parse(text.as_bytes()).map_err(|fault| unreadable(text, fault))?;
    let entries = root
        .as_object()
        .and_then(|root| root.get("log"))
        .and_then(|log| log.as_object()?.get("entries"))
        .and_then(|entries| entries.as_array());
    let Some(entries) = entries else {
        let reason = "no `log.entries`: it is not a HAR file; lines of JSON are `--format jsonl`".to_owned();
        return Err(Unreadable { line: 0, column: 0, reason });
    };
    let mut recorded = Recorded::default();
    for (entry, at) in entries.elements().zip(1..) {
        let Some(request) = entry.as_object().and_then(|entry| entry.get("request")?.as_object()) else {
            continue;
        };
        let text = |name: &str| request.get(name).and_then(|value| value.as_str());
        let post = request.get("postData").and_then(|post| post.as_object());
        let url = text("url").unwrap_or_default();
        recorded.take(&Raw {
            method: text("method").unwrap_or_default(),
            url,
            host: "",
            queried: url.contains('?'),
            kind: post.and_then(|post| post.get("mimeType")?.as_str()).filter(|kind| !kind.is_empty()),
            text: post.and_then(|post| post.get("text")?.as_str()).filter(|text| !text.is_empty()),
            at,
        });
    }
    Ok(recorded)
}

fn lines(text: &str) -> Result<Recorded, Unreadable> {
    let mut recorded = Recorded::default();
    for (line, at) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            continue;
        }
        let mut document = Document::new();
        let value = match document.parse(line.as_bytes()) {
            Ok(value) => value,
            Err(fault) => {
                // The line as it stands cannot be trusted to say which request it is.
                recorded.other("?", "?", at, false, format!("the line cannot be read: {fault}"));
                continue;
            }
        };
        let Some(object) = value.as_object() else {
            recorded.other("?", "?", at, false, "the line is not an object".to_owned());
            continue;
        };
        let said = |name: &str| object.get(name).and_then(|value| value.as_str());
        let body = object.get("body").map(|body| &line[body.span()]);
        let url = said("path").or_else(|| said("url")).unwrap_or_default();
        recorded.take(&Raw {
            method: said("method").unwrap_or_default(),
            url,
            host: said("host").unwrap_or_default(),
            queried: url.contains('?') || said("query").is_some_and(|query| !query.is_empty()),
            kind: None,
            text: said("text").or(body),
            at,
        });
    }
    if recorded.acts.is_empty() && recorded.others.is_empty() {
        return Err(Unreadable { line: 0, column: 0, reason: "the file is empty".to_owned() });
    }
    Ok(recorded)
}

impl Recorded {
    fn other(&mut self, method: &str, path: &str, at: usize, reads: bool, reason: String) {
        let (method, path) = (method.to_owned(), path.to_owned());
        self.others.push(Other { method, path, at, reads, reason });
    }

    fn take(&mut self, raw: &Raw<'_>) {
        let method = raw.method.to_ascii_uppercase();
        let (mut origin, path) = split(raw.url);
        if origin.is_empty() && !raw.host.is_empty() {
            origin = format!("http://{}", raw.host.to_ascii_lowercase());
        }
        let path = if path.is_empty() { "/".to_owned() } else { path };
        if !["POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str()) {
            let reason = "it reads: a GPT address takes an act".to_owned();
            return self.other(&method, &path, raw.at, true, reason);
        }
        let essence =
            raw.kind.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
        if let Some(kind) = essence.filter(|kind| kind != "application/json") {
            let reason = format!("its body is `{kind}`; the gateway sends `application/json`");
            return self.other(&method, &path, raw.at, false, reason);
        }
        let Some(text) = raw.text else {
            return self.other(&method, &path, raw.at, false, "it has no body".to_owned());
        };
        let mut document = Document::new();
        match document.parse(text.as_bytes()) {
            Ok(value) => {
                let body = Node::of(value);
                let (text, at) = (text.to_owned(), raw.at);
                self.acts.push(Act { method, origin, path, queried: raw.queried, body, text, at });
            }
            Err(fault) => {
                // What the gateway would refuse, it cannot admit.
                self.other(&method, &path, raw.at, false, format!("its body is refused: {fault}"));
            }
        }
    }
}
