//! From recorded requests to routes: one for each method and path, with a form that admits every body that was seen there.

use super::carry::compile;
use super::choose::{Named, NotCarried};
use super::gateway::{Entry, gateway};
use super::infer::{FORMATS, Formats, Shape};
use super::inferred::schema;
use super::naming::Naming;
use super::recorded::{Act, Format, read};
use super::report::{CarriedRoute, Left, Report};
use super::server::Servers;
use super::written::Written;
use super::{Adoption, Failed};
use crate::config::check_upstream_path;
use crate::form::CompiledForm;
use crate::json::Document;
use std::collections::HashMap;

/// Bytes of an example.
const EXAMPLE: usize = 4096;

/// How requests are read.
#[derive(Debug, Clone, Copy)]
pub struct Recording {
    /// How they are recorded; told from the text where it is not said.
    pub format: Option<Format>,
    /// Whether recorded values may be copied: as an example of each route, and as the members of an `enum`.
    pub values: bool,
}

/// What recorded requests become.
pub fn from_traffic(text: &str, file: &str, recording: Recording) -> Result<Adoption, Failed> {
    let format = recording.format.unwrap_or_else(|| Format::of(text));
    let recorded = read(text, format).map_err(Failed::Unreadable)?;
    let kind = match format {
        Format::Har => "HAR",
        Format::Jsonl => "lines of JSON",
    };
    let number = recorded.acts.len() + recorded.others.len();
    let mut report = Report {
        source: [file.to_owned(), kind.to_owned(), format!("{number} requests")],
        ..Report::default()
    };
    let mut groups: Vec<(String, String, Vec<&Act>)> = Vec::new();
    let mut known: HashMap<(String, String, String), usize> = HashMap::new();
    for act in &recorded.acts {
        let template = template(&act.path);
        let key = (act.origin.clone(), act.method.clone(), template.clone());
        let place = *known.entry(key).or_insert_with(|| {
            groups.push((act.origin.clone(), template, Vec::new()));
            groups.len() - 1
        });
        groups[place].2.push(act);
    }
    let checkers: Vec<(&str, Option<CompiledForm>)> = FORMATS
        .iter()
        .map(|format| {
            (*format, compile(&format!("{{\"type\":\"string\",\"format\":\"{format}\"}}"), 1 << 20).ok())
        })
        .collect();
    let has = |format: &'static str, text: &str| has_format(&checkers, format, text);
    let (mut naming, mut servers) = (Naming::default(), Servers::default());
    let (mut entries, mut files) = (Vec::new(), Vec::new());
    for (origin, path, acts) in &groups {
        let named = Named { method: acts[0].method.clone(), path: path.clone(), id: None, line: acts[0].at };
        if let Err(reason) = check_upstream_path(path)
            .and_then(|()| if path.contains('{') { Err(String::new()) } else { Ok(()) })
        {
            let reason = if path.contains('{') {
                format!("its path has what looks like an id in it ({} requests)", acts.len())
            } else {
                format!("its path {reason}")
            };
            report.not_carried.push(Left { named, kind: NotCarried::PathParameters, reason });
            continue;
        }
        let mut shape = Shape::default();
        for act in acts {
            shape.take(&act.body, &Formats(&has));
        }
        let form = described(schema(&shape, recording.values), &named, acts.len());
        match admits_all(&form, acts) {
            Ok(max_body) => {
                let entry =
                    entry(&mut naming, &mut servers, origin, named, &form, acts, max_body, recording.values);
                report.carried.push(told(&entry));
                files.push((entry.form_file(), form.pretty()));
                entries.push(entry);
            }
            Err(reason) => report.not_carried.push(Left { named, kind: NotCarried::Schema, reason }),
        }
    }
    for other in recorded.others {
        let path = template(&other.path);
        let named = Named { method: other.method, path, id: None, line: other.at };
        let kind = if other.reads { NotCarried::Reads } else { NotCarried::Unreadable };
        report.not_carried.push(Left {
            named,
            kind,
            reason: format!("request {}: {}", other.at, other.reason),
        });
    }
    if recording.values {
        report.remarks.push("values of recorded requests stand in `examples` and in `enum`, which is published: look before you serve it, or say `--no-examples`".to_owned());
    }
    let lines: Vec<String> =
        report.not_carried.iter().filter(|left| left.kind != NotCarried::Reads).map(Left::line).collect();
    let yaml = gateway(&head(file, number, entries.len(), recording.values), &servers.0, &entries, &lines);
    files.insert(0, ("gateway.yaml".to_owned(), yaml));
    Ok(Adoption { files, report })
}

/// The path, with `{id}` where a segment looks like one.
fn template(path: &str) -> String {
    let segments: Vec<&str> =
        path.split('/').map(|segment| if is_id(segment) { "{id}" } else { segment }).collect();
    segments.join("/")
}

/// Digits only, a UUID, or a long word of letters with many digits.
fn is_id(segment: &str) -> bool {
    let length = segment.len();
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let word = segment.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    length > 0
        && word
        && (digits == length || length >= 12 && digits >= 3 || length >= 6 && digits * 2 >= length)
}

/// Whether the form's own check of a format takes a text.
fn has_format(checkers: &[(&str, Option<CompiledForm>)], format: &str, text: &str) -> bool {
    if format == "uri" && !text.contains("://") {
        return false;
    }
    let checker = checkers.iter().find(|(name, _)| *name == format).and_then(|(_, form)| form.as_ref());
    let quoted = Written::text(text).compact();
    let mut document = Document::new();
    checker.is_some_and(|form| document.parse(quoted.as_bytes()).is_ok_and(|value| form.admits(value)))
}

fn described(form: Written, named: &Named, seen: usize) -> Written {
    let text = format!("{} {}, as inferred from {seen} recorded requests.", named.method, named.path);
    let Written::Object(members) = form else { return form };
    Written::Object(std::iter::once(("description".to_owned(), Written::text(text))).chain(members).collect())
}

/// The `max_body` that goes with the form, once it has been seen to admit every body.
fn admits_all(form: &Written, acts: &[&Act]) -> Result<usize, String> {
    let longest = acts.iter().map(|act| act.text.len()).max().unwrap_or(0);
    let max_body = (64 << 10_usize).max(longest.next_power_of_two());
    if max_body > 16 << 20 {
        return Err(format!("a body of {longest} bytes: no route takes more than 16 MiB"));
    }
    let compiled = compile(&form.compact(), max_body).map_err(|faults| {
        let words: Vec<String> = faults.iter().take(3).map(|fault| fault.reason.clone()).collect();
        format!("no form admits what was seen: {}", words.join("; "))
    })?;
    for act in acts {
        let mut document = Document::new();
        let value = document.parse(act.text.as_bytes()).map_err(|fault| fault.to_string())?;
        if let Err(mismatch) = compiled.check(value) {
            return Err(format!(
                "the form that was inferred does not admit request {}: `{}` at {}",
                act.at, mismatch.keyword, mismatch.schema_pointer
            ));
        }
    }
    Ok(max_body)
}

#[allow(clippy::too_many_arguments, reason = "one call, and each is a part of the entry")]
fn entry(
    naming: &mut Naming,
    servers: &mut Servers,
    origin: &str,
    named: Named,
    form: &Written,
    acts: &[&Act],
    max_body: usize,
    values: bool,
) -> Entry {
    let mut left_out = Vec::new();
    let queried = acts.iter().filter(|act| act.queried).count();
    if queried > 0 {
        left_out.push((format!("the query of {queried} requests"), "only the body is carried".to_owned()));
    }
    let mut examples = Vec::new();
    if values && let Some(act) = acts.iter().find(|act| act.text.len() <= EXAMPLE) {
        examples.push(act.text.clone());
    }
    Entry {
        called: naming.call(&named),
        origin: format!("seen {} times", acts.len()),
        context: String::new(),
        summary: String::new(),
        to: servers.named(origin),
        path: named.path.clone(),
        max_body,
        security: vec![
            "decide: what the API asks of who acts is not recorded here; `set_headers` sets it".to_owned(),
        ],
        guesses: form.guesses(),
        remarks: vec![
            "inferred: required is what every request had; types are those that were seen".to_owned(),
        ],
        left_out,
        examples,
        named,
    }
}

fn told(entry: &Entry) -> CarriedRoute {
    CarriedRoute {
        named: entry.named.clone(),
        name: entry.called.name.clone(),
        address: entry.called.address.clone(),
        form: entry.form_file(),
        schema: String::new(),
        guesses: entry.guesses.clone(),
        left_out: entry.left_out.clone(),
        examples: entry.examples.len(),
        other_examples: Vec::new(),
    }
}

fn many(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn head(file: &str, requests: usize, routes: usize, values: bool) -> Vec<String> {
    let mut head = vec![
        format!("Written by `formgate init --from-traffic {file}`: {}, {}.", many(requests, "request"), many(routes, "route")),
        String::new(),
        "Each form admits every body that was seen at its route, and little else: bounds are what was seen, rounded up".to_owned(),
        "to 10, 20, 50, 100, ... What was never sent is refused: look whether the recording is all that should be possible.".to_owned(),
    ];
    if values {
        head.push("`examples` and the `enum` of forms are copies of recorded values, and forms are published: look for what is".to_owned());
        head.push("nobody's business before you serve them. `--no-examples` copies none.".to_owned());
    }
    head.push(String::new());
    head
}
