//! From an OpenAPI document to routes: every operation is either carried or listed.

use super::carry::carry;
use super::choose::{NotCarried, Operation, choose, unknown};
use super::gateway::{Entry, gateway};
use super::members::target;
use super::naming::Naming;
use super::report::{CarriedRoute, Left, Report};
use super::server::Servers;
use super::source::{Links, Source};
use super::{Adoption, Failed, Wanted};
use crate::config::{check_address, check_upstream_path};
use crate::form::Node;

/// What a document becomes.
///
/// `progress` is called before each operation with how many are done, and how many there are.
pub fn from_openapi(
    text: &str,
    file: &str,
    wanted: &Wanted,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Adoption, Failed> {
    let source = Source::read(text, file).map_err(Failed::Unreadable)?;
    let links = Links::of(&source);
    let chosen = choose(&source, &links, &wanted.operations, wanted.path_members);
    let unknown = unknown(&chosen, &wanted.operations);
    if !unknown.is_empty() {
        return Err(Failed::UnknownOperations(unknown.into_iter().map(str::to_owned).collect()));
    }
    let mut report =
        Report { source: [file.to_owned(), source.version.clone(), source.title()], ..Report::default() };
    let (mut naming, mut servers) = (Naming::default(), Servers::default());
    let (mut entries, mut files) = (Vec::new(), Vec::new());
    let all = chosen.len();
    for (done, outcome) in chosen.into_iter().enumerate() {
        progress(done, all);
        let operation = match outcome {
            Ok(operation) => operation,
            Err((named, kind, reason)) => {
                report.not_carried.push(Left { named, kind, reason });
                continue;
            }
        };
        match carried(&source, &links, &operation, &mut naming, &mut servers, &mut report) {
            Ok((entry, form)) => {
                files.push((entry.form_file(), form));
                entries.push(entry);
            }
            Err((kind, reason)) => report.not_carried.push(Left { named: operation.named, kind, reason }),
        }
    }
    report.remarks.extend(remarks(&source));
    let lines: Vec<String> = report.not_carried.iter().map(Left::line).collect();
    let yaml = gateway(&head(&source, entries.len(), lines.len()), &servers.0, &entries, &lines);
    files.insert(0, ("gateway.yaml".to_owned(), yaml));
    Ok(Adoption { files, report })
}

fn carried<'d>(
    source: &'d Source,
    links: &Links<'d>,
    operation: &Operation<'d>,
    naming: &mut Naming,
    servers: &mut Servers,
    report: &mut Report,
) -> Result<(Entry, String), (NotCarried, String)> {
    let carried = carry(source, links, operation)?;
    let (to, base) = servers.of(source, operation);
    let path = base + &target(operation);
    check_upstream_path(&path).map_err(|reason| {
        (NotCarried::PathParameters, format!("`{path}` is no path at an upstream: it {reason}"))
    })?;
    let called = naming.call(&operation.named);
    check_address(&called.address).map_err(|reason| (NotCarried::Unreadable, reason))?;
    let left_out: Vec<(String, String)> = operation
        .left_out
        .iter()
        .cloned()
        .chain(carried.ledger.drops().filter(|(_, why)| matters(why)).map(owned))
        .chain(carried.other_examples.iter().map(|(at, why)| (format!("example at {at}"), why.clone())))
        .collect();
    let entry = Entry {
        called,
        named: operation.named.clone(),
        origin: format!("{}:{}", source.name, operation.named.line),
        context: either(&operation.description, &operation.summary),
        summary: operation.summary.clone(),
        to,
        path,
        max_body: carried.max_body,
        security: security(source, operation),
        guesses: carried.guesses.clone(),
        remarks: remarks_of(operation, &carried.words),
        left_out: left_out.clone(),
        examples: carried.examples.clone(),
    };
    report.carried.push(CarriedRoute {
        named: operation.named.clone(),
        name: entry.called.name.clone(),
        address: entry.called.address.clone(),
        form: entry.form_file(),
        schema: operation.body.as_ref().map_or_else(String::new, |body| body.at.to_string()),
        guesses: carried.guesses,
        left_out,
        examples: carried.examples.len(),
        other_examples: carried.other_examples,
    });
    report.ledger.absorb(carried.ledger);
    Ok((entry, carried.form.pretty()))
}

/// What is to know of members that go into the path.
fn remarks_of(operation: &Operation<'_>, words: &[String]) -> Vec<String> {
    if operation.members.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = operation.members.iter().map(|(name, _)| format!("`{name}`")).collect();
    let mut remarks = vec![format!(
        "decide: {} of the body goes into the path, and the API gets the body as it is, with it: does it mind?",
        names.join(", ")
    )];
    if operation.body.is_none() {
        remarks.push("decide: the source declares no body here; the API gets one all the same".to_owned());
    }
    for word in words {
        remarks.push(format!("pattern guessed: letters, digits, `-` and `_`, 1 to 64 of them, at /{word}"));
    }
    remarks
}

fn owned((what, why): (&str, &str)) -> (String, String) {
    (what.to_owned(), why.to_owned())
}

fn either(first: &str, second: &str) -> String {
    if first.trim().is_empty() { second.to_owned() } else { first.to_owned() }
}

/// What an operator wants to see beside a route; what only the report lists says nothing about bodies.
fn matters(why: &str) -> bool {
    !why.starts_with("an example of a part")
        && !why.starts_with("an extension")
        && !why.ends_with("says nothing about a JSON body")
        && !why.starts_with("a form is a request")
}

/// What the document asks of who acts, as lines that become a setting when they are no longer comments.
fn security(source: &Source, operation: &Operation<'_>) -> Vec<String> {
    let schemes = match source.root.get("components").and_then(|components| components.get("securitySchemes"))
    {
        Some(schemes) => Some(schemes),
        None => source.root.get("securityDefinitions"),
    };
    let mut lines = Vec::new();
    for name in &operation.security {
        let scheme = schemes.and_then(|schemes| schemes.get(name));
        let text =
            |key: &str| scheme.and_then(|scheme| scheme.get(key)).and_then(Node::as_text).unwrap_or_default();
        let file: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' })
            .collect();
        let is_field = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        let (kind, field, value) = match (text("type"), text("in")) {
            ("apiKey", "header") if is_field(text("name")) => {
                ("an API key", text("name").to_owned(), format!("${{file:secrets/{file}}}"))
            }
            ("apiKey", place) => {
                lines.push(format!("decide: the source asks for `{name}`, an API key in the {place}, which the gateway does not set"));
                continue;
            }
            ("basic", _) => ("basic", "Authorization".to_owned(), format!("Basic ${{file:secrets/{file}}}")),
            ("http", _) if text("scheme").eq_ignore_ascii_case("basic") => {
                ("basic", "Authorization".to_owned(), format!("Basic ${{file:secrets/{file}}}"))
            }
            (kind, _) => (kind, "Authorization".to_owned(), format!("Bearer ${{file:secrets/{file}}}")),
        };
        lines.push(format!(
            "decide: the source asks for `{name}` ({kind}). Put the secret in a file and take off the `#`:"
        ));
        lines.push(format!("set_headers: {{ {field}: \"{value}\" }}"));
    }
    lines
}

fn head(source: &Source, carried: usize, left: usize) -> Vec<String> {
    vec![
        format!("Written by `formgate init --openapi {}`: {}, {}.", source.name, source.version, source.title()),
        format!(
            "{carried} {}; {left} {} listed at the end with the reason.",
            if carried == 1 { "operation is a route" } else { "operations are routes" },
            if left == 1 { "is not, and is" } else { "are not, and are" },
        ),
        String::new(),
        "What the source does not say has been guessed, because a form is closed and bounded: members that are not".to_owned(),
        "declared are refused, and every string, list and number has a limit. `bound guessed:` lines say which and where.".to_owned(),
        "Look at them, and at each `decide:`, before anyone is let in. `formgate check` says whether the file still holds.".to_owned(),
        String::new(),
    ]
}

fn remarks(source: &Source) -> Vec<String> {
    let mut remarks = Vec::new();
    for (at, name) in source.duplicates.iter().take(20) {
        let name = name.escape_debug();
        remarks.push(format!(
            "{}:{}: `{name}` stands twice in one object; the later one counts",
            source.name,
            source.line(*at)
        ));
    }
    for (key, what) in [
        ("webhooks", "webhooks are requests that the API sends"),
        ("callbacks", "callbacks are requests that the API sends"),
    ] {
        if source.root.get(key).is_some() {
            remarks.push(format!("{what}: they are not carried"));
        }
    }
    remarks
}
