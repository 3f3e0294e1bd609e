//! Writing `gateway.yaml`: what was found, and beside it, as comments, what was guessed, left out and is to be decided.

use super::choose::Named;
use super::naming::Called;
use super::server::Server;
use super::written::{Guess, quoted, shortened};
use crate::bounds::print_size;
use crate::json::is_visible;
use std::fmt::Write as _;

/// Columns of a comment.
const WIDTH: usize = 118;
/// Lines about what was left out of one route; the report has them all.
const LINES: usize = 12;
/// Characters of a context.
const CONTEXT: usize = 1000;
/// Characters of a summary.
const SUMMARY: usize = 300;

/// One route of the file.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) called: Called,
    pub(super) named: Named,
    /// Where the operation stands: `petstore.yaml:40`.
    pub(super) origin: String,
    pub(super) context: String,
    pub(super) summary: String,
    /// The upstream, and the path there.
    pub(super) to: String,
    pub(super) path: String,
    pub(super) max_body: usize,
    /// Lines about who may act: what the source asks for, and what to write.
    pub(super) security: Vec<String>,
    pub(super) guesses: Vec<Guess>,
    /// Other things to know about it.
    pub(super) remarks: Vec<String>,
    /// What was left out, and why.
    pub(super) left_out: Vec<(String, String)>,
    pub(super) examples: Vec<String>,
}

impl Entry {
    /// The form file, relative to `gateway.yaml`.
    pub(super) fn form_file(&self) -> String {
        format!("forms/{}.json", self.called.name)
    }
}

/// The file.
pub(super) fn gateway(
    head: &[String],
    servers: &[Server],
    entries: &[Entry],
    not_carried: &[String],
) -> String {
    let mut out = String::new();
    for line in head {
        comment(&mut out, "", line);
    }
    out.push_str("listen: [\"127.0.0.1:8080\"] # decide: where clients connect\n");
    out.push_str("admin: \"127.0.0.1:9901\"     # metrics, health, why bodies are refused; never public\n");
    out.push_str("upstreams:\n");
    for server in servers {
        if let Some(remark) = &server.remark {
            comment(&mut out, "  ", &format!("decide: {remark}"));
        }
        let _ = writeln!(out, "  {}: {{ servers: [{}] }}", server.name, quoted(&server.url));
    }
    out.push_str("defaults:\n  max_body: 64KiB\n  # decide: per client and route\n");
    out.push_str("  limits: { get: 50/s burst 100, post: 5/s burst 10, refused: 1/s burst 20 }\nroutes:\n");
    for entry in entries {
        route(&mut out, entry);
    }
    if !not_carried.is_empty() {
        out.push('\n');
        comment(&mut out, "", &format!("Not carried ({}):", not_carried.len()));
        for line in not_carried {
            comment(&mut out, "", &format!("- {line}"));
        }
    }
    out
}

fn route(out: &mut String, entry: &Entry) {
    out.push('\n');
    let id = entry.named.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
    comment(out, "  ", &format!("{} {}{id}, {}", entry.named.method, entry.named.path, entry.origin));
    for line in grouped(&entry.guesses) {
        comment(out, "  ", &line);
    }
    for remark in &entry.remarks {
        comment(out, "  ", remark);
    }
    for (what, why) in entry.left_out.iter().take(LINES) {
        comment(out, "  ", &format!("not carried: {what}: {why}"));
    }
    if let Some(more @ 1..) = entry.left_out.len().checked_sub(LINES) {
        comment(out, "  ", &format!("not carried: {more} more; `--report json` lists them"));
    }
    let _ = writeln!(out, "  - address: {}", quoted(&entry.called.address));
    let _ = writeln!(out, "    name: {}", quoted(&entry.called.name));
    let context = shortened(&entry.context, CONTEXT);
    if !context.is_empty() {
        let _ = writeln!(out, "    context: {}", quoted(&context));
    }
    let summary = if entry.summary.trim().is_empty() { &context } else { &entry.summary };
    if context.chars().count() > SUMMARY {
        let _ = writeln!(out, "    summary: {}", quoted(&shortened(summary, SUMMARY)));
    }
    let _ = writeln!(out, "    form: {}", quoted(&entry.form_file()));
    if entry.max_body != 64 << 10 {
        let _ = writeln!(out, "    max_body: {}", print_size(entry.max_body));
    }
    let _ = writeln!(out, "    upstream:\n      to: {}", entry.to);
    if entry.named.method != "POST" {
        let _ = writeln!(out, "      method: {}", entry.named.method);
    }
    let _ = writeln!(out, "      path: {}", quoted(&entry.path));
    for line in &entry.security {
        comment(out, "      ", line);
    }
    if !entry.examples.is_empty() {
        out.push_str("    examples:\n      accepted:\n");
        for example in &entry.examples {
            let _ = writeln!(out, "        - {}", quoted(example));
        }
    }
}

/// One line for each bound and value: where it was guessed.
fn grouped(guesses: &[Guess]) -> Vec<String> {
    let mut groups: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    for guess in guesses {
        let key = (guess.keyword.as_str(), guess.value.as_str());
        let part = if guess.part.is_empty() { "the body" } else { &guess.part };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, parts)) if parts.contains(&part) => {}
            Some((_, parts)) => parts.push(part),
            None => groups.push((key, vec![part])),
        }
    }
    let line = |((keyword, value), parts): ((&str, &str), Vec<&str>)| {
        let more = parts.len().saturating_sub(40);
        let mut text =
            format!("bound guessed: {keyword} {value} at {}", parts[..parts.len() - more].join(", "));
        if more > 0 {
            let _ = write!(text, " and {more} more");
        }
        text
    };
    groups.into_iter().map(line).collect()
}

/// A comment, in as many lines as it takes. Whatever the source says, it stays one.
fn comment(out: &mut String, indent: &str, text: &str) {
    let clean: String = text.chars().map(|c| if is_visible(c) { c } else { ' ' }).collect();
    if clean.trim().is_empty() {
        let _ = writeln!(out, "{indent}#");
        return;
    }
    let mut line = format!("{indent}#");
    let leading = if clean.starts_with("- ") { "  " } else { "" };
    let begins = line.chars().count();
    for word in clean.split(' ').filter(|word| !word.is_empty()) {
        if line.chars().count() + 1 + word.chars().count() > WIDTH && line.chars().count() > begins {
            let _ = writeln!(out, "{line}");
            line = format!("{indent}#{leading}");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
}
