//! What a schema asks, in words.

use super::paper::Paper;
use crate::json::schema::{elements, get, is_set, number, types};
use crate::json::{Kind, Value, pointer, push_quoted};

/// Values of an `enum` that are listed.
const LISTED: usize = 60;

/// Compact JSON text; numbers as they are written.
pub(super) fn printed(value: Value<'_>) -> String {
    let mut out = String::new();
    print(value, &mut out);
    out
}

fn print(value: Value<'_>, out: &mut String) {
    match value.kind() {
        Kind::Null => out.push_str("null"),
        Kind::Boolean => out.push_str(if value.as_bool() == Some(true) { "true" } else { "false" }),
        Kind::Number => out.push_str(value.as_number().as_ref().map_or("", |number| number.text())),
        Kind::String => push_quoted(value.as_str().unwrap_or_default(), out),
        Kind::Array => {
            out.push('[');
            let elements = value.as_array().into_iter().flat_map(|array| array.elements());
            for (index, element) in elements.enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                print(element, out);
            }
            out.push(']');
        }
        Kind::Object => {
            out.push('{');
            let members = value.as_object().into_iter().flat_map(|object| object.members());
            for (index, (name, member)) in members.enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                push_quoted(name, out);
                out.push(':');
                print(member, out);
            }
            out.push('}');
        }
    }
}

/// Gives each part of the line that says what a schema asks of a value by itself.
pub(super) fn write(schema: Value<'_>, mut part: impl FnMut(&dyn Fn(&mut Paper))) {
    if let Some(fixed) = get(schema, "const") {
        part(&|paper| {
            paper.markup("always ").code(&printed(fixed));
        });
    }
    let listed = elements(schema, "enum");
    if !listed.is_empty() {
        part(&|paper| choices(paper, &listed));
    }
    let types = types(schema);
    if !types.is_empty() && get(schema, "const").is_none() && listed.is_empty() {
        part(&|paper| {
            paper.text(&types.join(" or "));
        });
    }
    for phrase in bounds(schema) {
        part(&|paper| {
            paper.text(&phrase);
        });
    }
    for (keyword, before) in [
        ("multipleOf", "a multiple of "),
        ("format", "a well-formed "),
        ("pattern", "matches "),
        ("contentEncoding", "encoded in "),
        ("contentMediaType", "holds "),
        ("default", "default "),
    ] {
        if let Some(value) = get(schema, keyword) {
            let said =
                value.as_str().filter(|_| keyword != "default").map_or_else(|| printed(value), str::to_owned);
            part(&|paper| {
                paper.markup(before).code(&said);
            });
        }
    }
    if let Some(example) = elements(schema, "examples").first() {
        part(&|paper| {
            paper.markup("such as ").code(&printed(*example));
        });
    }
    for (keyword, words) in
        [("uniqueItems", "no two alike"), ("deprecated", "deprecated"), ("readOnly", "set by the backend")]
    {
        if is_set(schema, keyword) {
            part(&|paper| {
                paper.markup(words);
            });
        }
    }
}

fn choices(paper: &mut Paper, listed: &[Value<'_>]) {
    paper.markup(if listed.len() == 1 { "always " } else { "one of " });
    for (index, value) in listed.iter().take(LISTED).enumerate() {
        if index > 0 {
            paper.markup(", ");
        }
        if paper.is_full() {
            return;
        }
        paper.code(&printed(*value));
    }
    if listed.len() > LISTED {
        paper.markup(" and ").number(listed.len() - LISTED).markup(" more");
    }
}

/// Lengths, counts and ranges, as they are written.
fn bounds(schema: Value<'_>) -> Vec<String> {
    let mut phrases = Vec::new();
    for (least, most, unit) in [
        ("minLength", "maxLength", "character"),
        ("minItems", "maxItems", "element"),
        ("minProperties", "maxProperties", "member"),
        ("minContains", "maxContains", "such element"),
    ] {
        let of = |count: &str| format!("{count} {unit}{}", if count == "1" { "" } else { "s" });
        phrases.extend(match (number(schema, least), number(schema, most)) {
            (None, None) => None,
            (Some(least), None) => Some(format!("at least {}", of(least))),
            (None, Some(most)) => Some(format!("at most {}", of(most))),
            (Some(least), Some(most)) if least == most => Some(format!("exactly {}", of(least))),
            (Some(least), Some(most)) => Some(format!("{least} to {}", of(most))),
        });
    }
    // Draft 4 says with a flag what later drafts say with a number.
    let (above, below) = (is_set(schema, "exclusiveMinimum"), is_set(schema, "exclusiveMaximum"));
    phrases.extend(match (number(schema, "minimum"), number(schema, "maximum")) {
        (Some(least), Some(most)) if !above && !below => Some(format!("{least} to {most}")),
        (least, most) => {
            let least = least.map(|least| format!("{} {least}", if above { "above" } else { "at least" }));
            let most = most.map(|most| format!("{} {most}", if below { "below" } else { "at most" }));
            let both: Vec<String> = least.into_iter().chain(most).collect();
            (!both.is_empty()).then(|| both.join(" and "))
        }
    });
    phrases.extend(number(schema, "exclusiveMinimum").map(|bound| format!("above {bound}")));
    phrases.extend(number(schema, "exclusiveMaximum").map(|bound| format!("below {bound}")));
    phrases
}

/// What a reference within the form points at; references by name, and to the whole form, are left to the JSON.
pub(super) fn find<'d>(form: Value<'d>, reference: &str) -> Option<Value<'d>> {
    form.find(&pointer::of_reference(reference).filter(|pointer| !pointer.is_empty())?)
}
