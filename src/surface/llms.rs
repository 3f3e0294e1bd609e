//! `/llms.txt`: for agents that have found this gateway and know nothing of it. Plain text that needs no script and
//! no other document (REQUIREMENTS U-13): rules first, then each GET-Action under a key that says what to do, then
//! every address.

use crate::form::Representation;
use crate::gateway::{GetAction, Own, ResultUrl, Route, Sheet};
use std::fmt::Write;

/// What stands where an agent's own key goes. It is no key: a link copied as it stands, or followed by what
/// collects links, is rejected (U-15).
const KEY: &str = "{your_key}";

/// Draws the document. `public` is `public_url`; without any GET-Action it is a list of addresses.
pub fn llms<'r>(public: &str, routes: impl Iterator<Item = &'r Route> + Clone) -> Sheet {
    let text = draw(public, routes);
    Sheet {
        own: Own::Llms,
        address: "/llms.txt".to_owned(),
        media_type: "text/plain; charset=utf-8",
        representation: Representation::new(text.into_bytes()),
        lines: "",
        page: None,
    }
}

fn draw<'r>(public: &str, routes: impl Iterator<Item = &'r Route> + Clone) -> String {
    let authority = public.split_once("://").map_or(public, |(_, rest)| rest);
    let mut text = format!(
        "# {authority}\n\n\
         > Each address below accepts one action. GET it to read its form: a JSON object whose member `s` is a JSON\n\
         > Schema. POST a JSON value that fits. 200: done, with the consequence. 204: refused, nothing was done.\n"
    );
    let actions = routes.clone().filter_map(|route| Some((route, route.get_action.as_ref()?)));
    if actions.clone().next().is_some() {
        text.push_str(RULES);
    }
    for (route, action) in actions {
        write_action(&mut text, public, route, action);
    }
    text.push_str("\n## Every address\n\n");
    for route in routes {
        let how = if route.get_action.is_some() { "GET-Action above, or POST" } else { "POST only" };
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "- {} ({how}): {public}{}", route.name, route.address);
        let says = folded(&route.says());
        if !says.is_empty() {
            let _ = writeln!(text, "  {says}");
        }
    }
    text.push_str(
        "\nIf you cannot POST and an address has no GET-Action, there is nothing to try: give the address to a person.\n",
    );
    text
}

const RULES: &str = "
## For agents that can only open URLs

Boundaries first:
- Open a URL only if the person you act for wants exactly what it says. Each has its own boundaries below.
- No passwords, tokens, payment data, personal or medical data, private messages: URLs are kept by everyone on the way.
- Replace the example values by your own, percent-encoded. Members that are not required may be left out.
- Replace {your_key} by a key of your own: 8 to 128 of A-Z a-z 0-9 - . _ ~, new for each act. Opening the same URL
  again with the same key is safe: it is done once, and you get the same answer.

The answer is always one JSON object of two members, `code` and `url`:
- ok: it is done; `url` is the result.
- human_review_required: a person has to look at it. Stop, and give `url` to one. Do not try again.
- rejected: nothing was done; `url` says how it is done right. Do not try variations.
";

fn write_action(text: &mut String, public: &str, route: &Route, action: &GetAction) {
    let guide = &action.guide;
    let url = format!("{public}{}", route.address);
    let members = if guide.example.is_empty() { String::new() } else { format!("{}&", guide.example) };
    let code = if action.execute { "ok" } else { "human_review_required" };
    let leads = match (&action.result, action.execute) {
        (_, false) => action.review.text().replace("{key}", KEY),
        (ResultUrl::Template(template), true) => template.text().replace("{key}", KEY),
        (ResultUrl::Pointer { hosts, .. }, true) => {
            format!("https://{}/…", hosts.first().map_or("", String::as_str))
        }
        (ResultUrl::Receipt, true) => format!("{}…", action.receipts),
    };
    let does = if action.execute { "Opening it does it." } else { "Opening it asks; a person decides." };
    let _ = write!(
        text,
        "\n### {}\n\nBoundaries: {} {does}\n\n{}:\nGET {url}?{members}idempotency_key={KEY}\nPOST {url}\n\
         {{ \"code\": \"{code}\", \"url\": \"{leads}\" }}\n",
        route.name,
        folded(&guide.boundaries),
        guide.label,
    );
}

/// On one line: what an operator wrote cannot look like another entry.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
