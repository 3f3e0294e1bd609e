//! A value that the form admits, to show: one of the route's own, or one made from the form.

use super::terms;
use crate::form::CompiledForm;
use crate::gateway::judge;
use crate::json::{Document, Kind, Value, push_quoted, schema};

/// Bytes of an example that is shown; what is longer reads like noise in a shell.
const LONGEST: usize = 2048;
/// Steps into the form; references may lead round and round.
const DEEPEST: u32 = 24;
/// Characters that are made up to reach a `minLength`.
const MADE: usize = 64;

/// The first example of the route that is short enough, else a value made from the form, if the form admits
/// what was made.
pub(super) fn of(
    accepted: &[String],
    form: &CompiledForm,
    root: Value<'_>,
    max_body: usize,
) -> Option<String> {
    let given = accepted.iter().find(|example| example.len() <= LONGEST);
    if let Some(given) = given {
        return Some(given.clone());
    }
    let mut made = String::new();
    Maker { root }.value(root, DEEPEST, &mut made)?;
    let fits = judge(form, max_body, &mut Document::new(), made.as_bytes()).is_ok();
    (fits && made.len() <= LONGEST).then_some(made)
}

/// Makes the plainest value that might fit. Whether it does is asked afterwards: a guess may be wrong.
struct Maker<'d> {
    root: Value<'d>,
}

impl<'d> Maker<'d> {
    fn value(&self, schema: Value<'d>, depth: u32, out: &mut String) -> Option<()> {
        let depth = depth.checked_sub(1).filter(|_| out.len() <= LONGEST)?;
        let given = ["const", "default"].into_iter().find_map(|keyword| schema::get(schema, keyword));
        let listed = || {
            ["examples", "enum"].into_iter().find_map(|list| schema::elements(schema, list).first().copied())
        };
        if let Some(value) = given.or_else(listed) {
            out.push_str(&terms::printed(value));
            return Some(());
        }
        if let Some(reference) = schema::text(schema, "$ref") {
            return self.value(terms::find(self.root, reference)?, depth, out);
        }
        let named = schema::text(schema, "type").or_else(|| schema::names(schema, "type").next());
        let implied =
            || ["properties", "required"].iter().any(|keyword| schema::get(schema, keyword).is_some());
        match named.or_else(|| implied().then_some("object")) {
            Some("null") => out.push_str("null"),
            Some("boolean") => out.push_str("true"),
            Some("integer" | "number") => {
                let bound = ["minimum", "maximum"].iter().find_map(|keyword| schema::get(schema, keyword));
                out.push_str(&bound.map_or("1".to_owned(), terms::printed));
            }
            Some("string") => push_quoted(&text(schema), out),
            Some("array") => self.array(schema, depth, out)?,
            Some("object") => self.object(schema, depth, out)?,
            Some(_) | None => {
                let alternatives =
                    ["anyOf", "oneOf", "allOf"].map(|keyword| schema::elements(schema, keyword));
                // The first that comes to an end: others may recur.
                let start = out.len();
                return alternatives.concat().into_iter().find_map(|alternative| {
                    out.truncate(start);
                    self.value(alternative, depth, out)
                });
            }
        }
        Some(())
    }

    fn object(&self, schema: Value<'d>, depth: u32, out: &mut String) -> Option<()> {
        out.push('{');
        for (index, name) in schema::names(schema, "required").enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            push_quoted(name, out);
            out.push(':');
            match schema::members(schema, "properties").into_iter().find(|(known, _)| *known == name) {
                Some((_, member)) => self.value(member, depth, out)?,
                None => out.push_str("null"),
            }
        }
        out.push('}');
        Some(())
    }

    fn array(&self, schema: Value<'d>, depth: u32, out: &mut String) -> Option<()> {
        let least = schema::get(schema, "minItems").and_then(|least| least.as_number()?.text().parse().ok());
        let items = schema::get(schema, "items");
        let positions = match items {
            Some(items) if items.kind() == Kind::Array => schema::elements(schema, "items"),
            Some(_) | None => schema::elements(schema, "prefixItems"),
        };
        out.push('[');
        for index in 0..least.unwrap_or(0) {
            if out.len() > LONGEST {
                return None;
            }
            out.push_str(if index > 0 { "," } else { "" });
            match positions.get(index).copied().or(items) {
                Some(element) => self.value(element, depth, out)?,
                None => out.push_str("null"),
            }
        }
        out.push(']');
        Some(())
    }
}

fn text(schema: Value<'_>) -> String {
    let plain = match schema::text(schema, "format") {
        Some("date") => "2026-01-31",
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("time") => "12:00:00Z",
        Some("duration") => "PT1H",
        Some("email" | "idn-email") => "ada@example.com",
        Some("hostname" | "idn-hostname") => "example.com",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("uri" | "iri" | "uri-reference" | "iri-reference" | "uri-template") => "https://example.com/",
        Some("uuid") => "123e4567-e89b-42d3-a456-426614174000",
        Some("json-pointer") => "/a",
        Some("regex") => "^a$",
        Some(_) | None => "text",
    };
    let count =
        |keyword: &str| -> Option<usize> { schema::get(schema, keyword)?.as_number()?.text().parse().ok() };
    let mut text = plain.to_owned();
    while text.chars().count() < count("minLength").unwrap_or(0).min(MADE) {
        text.push('x');
    }
    match count("maxLength").and_then(|most| text.char_indices().nth(most)) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_short_or_none() {
        let mut document = Document::new();
        let form = document.parse(br#"{"type":"array","minItems":1000000000}"#).unwrap();
        assert_eq!(Maker { root: form }.value(form, DEEPEST, &mut String::new()), None);
    }
}
