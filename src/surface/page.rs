//! The page for people: what an address is, the form to read and to fill in, and what came of it.
//!
//! One document without any other: its style and its script are in it, and its policy names both by their
//! digests and allows nothing else. What the script knows comes as data in the document, so the same script
//! serves every form. Reading needs no script.
//!
//! A page is bounded whatever the form (128 KiB): documentation is cut at 24 KiB, saying so; a form over 12 KiB is
//! not in the page, and the script reads it from the same address, where programs do.

mod documentation;
mod example;
mod paper;
mod terms;

use super::base64::base64;
use crate::form::{CompiledForm, Representation};
use crate::gateway::Route;
use crate::json::{Document, push_quoted};
pub(super) use paper::Paper;
use sha2::{Digest, Sha256};
use std::sync::{Arc, LazyLock};

/// What a page is drawn from: what it shows of a route, and what the configuration says about it beyond what is enforced.
#[derive(Debug)]
pub struct Subject {
    name: String,
    kind: Option<String>,
    context: String,
    address: String,
    form: Arc<CompiledForm>,
    /// Of the arrival.
    digest: String,
    max_body: usize,
    /// Whether it wants a token.
    guarded: bool,
    /// Whether acts may be known by a key, or must be.
    keyed: Option<&'static str>,
    /// `m`: role and content.
    messages: Vec<(String, String)>,
    /// Bodies that the route says are accepted.
    accepted: Vec<String>,
    public_url: Option<String>,
}

impl Subject {
    /// What there is to show of a route, with the role and content of its messages and the bodies that it says are accepted.
    pub fn of(
        route: &Route,
        messages: Vec<(String, String)>,
        accepted: Vec<String>,
        public_url: Option<&str>,
    ) -> Self {
        Self {
            name: route.name.clone(),
            kind: route.gpt_type.clone(),
            context: route.actions.context.clone(),
            address: route.address.clone(),
            form: Arc::clone(&route.form),
            digest: route.arrival.digest().to_owned(),
            max_body: route.max_body,
            guarded: route.guard.is_some(),
            keyed: route.idempotency.map(|rule| if rule.required { "required" } else { "optional" }),
            messages,
            accepted,
            public_url: public_url.map(ToOwned::to_owned),
        }
    }
}

/// Bytes of a form that comes with its page.
const EMBEDDED: usize = 12 << 10;
/// Characters of `p`, and bytes of the messages, that a page shows.
const CONTEXT: usize = 2000;

/// The style of all pages.
pub(super) static STYLE: LazyLock<String> = LazyLock::new(|| lean(include_str!("page/page.css")));
static SCRIPT: LazyLock<String> = LazyLock::new(|| lean(include_str!("page/page.js")));
/// Field lines of a page.
pub static LINES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "Content-Security-Policy: default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n",
        source_of(&SCRIPT),
        source_of(&STYLE)
    )
});

/// Draws the page of a route.
pub fn draw(subject: &Subject) -> Representation {
    let mut document = Document::new();
    let html = match document.parse(subject.form.published().as_bytes()) {
        Ok(form) => {
            let example = example::of(&subject.accepted, &subject.form, form, subject.max_body);
            write(subject, &documentation::of(form), example.as_deref())
        }
        // It was read when the form was compiled; the rest of the page stands without it.
        Err(_) => write(subject, &Paper::new(0), None),
    };
    Representation::new(html.into_bytes())
}

fn write(subject: &Subject, documentation: &Paper, example: Option<&str>) -> String {
    let mut paper = Paper::new(usize::MAX);
    paper
        .markup(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
        )
        .text(&subject.name)
        .markup("</title>\n<style>")
        .markup(&STYLE)
        .markup("</style>\n</head>\n<body>\n<header class=\"top\">\n");
    if let Some(kind) = &subject.kind {
        paper.markup("<p class=\"kind\">").text(kind).markup("</p>\n");
    }
    paper.markup("<h1>").text(&subject.name).markup("</h1>\n");
    if !subject.context.is_empty() {
        paper.markup("<p class=\"lead\">").short(&subject.context, CONTEXT).markup("</p>\n");
    }
    paper
        .markup("<p class=\"address\"><b>POST</b> <code>")
        .text(&subject.address)
        .markup("</code>")
        .markup(if subject.guarded { " with a bearer token" } else { "" })
        .markup(
            "</p>\n</header>\n<main>\n<section id=\"act\" aria-labelledby=\"act-title\">\n\
             <h2 id=\"act-title\">Send a value</h2>\n<noscript><p class=\"note\">Filling in the form here needs \
             JavaScript. What it takes is described below, and the curl line sends it without.</p></noscript>\n\
             </section>\n<div class=\"side\">\n<section id=\"doc\" aria-labelledby=\"doc-title\">\n\
             <h2 id=\"doc-title\">What it takes</h2>\n",
        )
        .drawn(documentation)
        .markup("\n</section>\n");
    shell(&mut paper, subject, example);
    paper.markup(ANSWERS_BEFORE);
    if subject.guarded {
        paper.markup(
            "<dt><code>401</code></dt><dd>No token, or none that this address knows; nothing happened.</dd>",
        );
    }
    paper.markup(ANSWERS_BEHIND);
    messages(&mut paper, &subject.messages);
    paper
        .markup("</div>\n</main>\n<footer>The same address gives programs this form as JSON. Form <code>")
        .text(&subject.digest)
        .markup("</code></footer>\n<script type=\"application/json\" id=\"island\">")
        .data(&island(subject, example))
        .markup("</script>\n<script>")
        .markup(&SCRIPT)
        .markup("</script>\n</body>\n</html>\n");
    paper.into_html()
}

const ANSWERS_BEFORE: &str = "<section aria-labelledby=\"answers-title\">\n<h2 id=\"answers-title\">What comes back</h2>\n\
    <dl class=\"answers\">\
    <dt><code>200</code></dt><dd>Done, with what the backend said.</dd>\
    <dt><code>204</code></dt><dd>Refused: nothing happened. Why is never said.</dd>";

const ANSWERS_BEHIND: &str = "<dt><code>412</code></dt><dd>The form has changed since it was read; nothing happened.</dd>\
    <dt><code>429</code></dt><dd>Too often; nothing happened.</dd>\
    <dt><code>502</code></dt><dd>The backend failed; part of it may have been done.</dd>\
    <dt><code>503</code></dt><dd>Most likely nothing was done; try again later.</dd>\
    <dt><code>504</code></dt><dd>Sent on, and no answer came: it may have happened.</dd>\
    </dl>\n</section>\n";

/// The curl line: the same request that the form makes.
fn shell(paper: &mut Paper, subject: &Subject, example: Option<&str>) {
    paper.markup(
        "<section aria-labelledby=\"shell-title\">\n<h2 id=\"shell-title\">From a shell</h2>\n\
         <pre tabindex=\"0\" aria-labelledby=\"shell-title\"><code id=\"curl\">curl -i \
         -H &#39;Content-Type: application/json&#39; \\\n  ",
    );
    if subject.guarded {
        paper.markup("-H &quot;Authorization: Bearer $TOKEN&quot; \\\n  ");
    }
    if subject.keyed == Some("required") {
        paper.markup("-H &quot;Idempotency-Key: $(date +%s)-$$&quot; \\\n  ");
    }
    paper.markup("--data-binary ");
    match example {
        Some(example) => paper.text(&quoted(example)),
        None => paper.markup("@value.json"),
    };
    paper.markup(" \\\n  ");
    match &subject.public_url {
        Some(url) => paper.text(&quoted(&format!("{url}{}", subject.address))),
        None => paper.markup("&quot;$ORIGIN&quot;").text(&quoted(&subject.address)),
    };
    paper.markup("</code></pre>\n");
    if subject.public_url.is_none() {
        paper.markup(
            "<noscript><p class=\"soft\"><code>ORIGIN</code> is this page's address up to the path, such as \
             <code>https://api.example.com</code>.</p></noscript>\n",
        );
    }
    if example.is_none() {
        paper.markup("<p class=\"soft\"><code>value.json</code> holds the value to send.</p>\n");
    }
    paper.markup("</section>\n");
}

fn messages(paper: &mut Paper, messages: &[(String, String)]) {
    if messages.is_empty() {
        return;
    }
    paper.markup(
        "<section aria-labelledby=\"messages-title\">\n<h2 id=\"messages-title\">What models are told first</h2>\n\
         <dl class=\"members\">",
    );
    for (role, content) in messages.iter().take(4) {
        paper.markup("<div><dt>").short(role, 100).markup("</dt><dd><p class=\"text\">");
        paper.short(content, CONTEXT / 4).markup("</p></dd></div>");
    }
    paper.markup("</dl>\n</section>\n");
}

/// What the script knows of this address, as JSON.
fn island(subject: &Subject, example: Option<&str>) -> String {
    let mut json = String::from("{");
    // The tag of the identity: the whole arrival, and so the page, changes with it.
    let etag = format!("\"{}\"", subject.digest);
    for (name, value) in [
        ("address", Some(subject.address.as_str())),
        ("etag", Some(etag.as_str())),
        ("origin", subject.public_url.as_deref()),
        ("example", example),
        ("keyed", subject.keyed),
    ] {
        if let Some(value) = value {
            push_quoted(name, &mut json);
            json.push(':');
            push_quoted(value, &mut json);
            json.push(',');
        }
    }
    json.push_str(if subject.guarded { "\"guarded\":true," } else { "" });
    json.push_str("\"most\":");
    json.push_str(&subject.max_body.to_string());
    let form = subject.form.published();
    if form.len() <= EMBEDDED {
        json.push_str(",\"form\":");
        json.push_str(form);
    }
    json.push('}');
    json
}

/// A word of a POSIX shell: within single quotes nothing is special but their end.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Without indentation and comment lines: what nobody reads is not sent. Nothing in either file spans lines
/// within quotes.
fn lean(source: &str) -> String {
    let lines = source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.fold(String::with_capacity(source.len()), |text, line| text + line + "\n")
}

/// A source expression of a content security policy (CSP3, 2.3.1).
pub(super) fn source_of(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}
