//! The form as the validator takes it: the same places, so that references and pointers hold,
//! without annotations, and with the keywords that must be exact under names of our own.

use super::dialect::{Chart, Place};
use super::draft::Draft;
use super::exact::{Exact, Limit};
use super::keywords::{Role, Shape};
use super::references::Graph;
use super::source::{Node, Tree, below};
use super::{Mismatch, Numbers};
use crate::json::{Decimal, Strict, Value};
use jsonschema::{EmailOptions, PatternOptions, ValidationError, ValidationOptions, Validator};
use serde_json::{Map, Value as Serde};
use std::collections::HashSet;

/// Before the names of keywords that are ours. No form can have them: they are in no table.
const PREFIX: &str = "exact:";

/// What the validator decides by, for one reading of numbers.
pub(crate) fn document(chart: &Chart<'_>, numbers: Numbers, counted: bool) -> Serde {
    rewritten(chart, Reading { draft: chart.draft, numbers, counted, told: false })
}

/// What the validator tells reasons by. Its own errors about alternatives hold all errors of all
/// of them; those about `not` hold none. So each `anyOf` and `oneOf` stands behind two `not`.
///
/// `None` where that would change what fits: `unevaluated…` looks through alternatives but not
/// through `not`, and references into alternatives would miss them.
pub(crate) fn told(chart: &Chart<'_>, graph: &Graph, counted: bool) -> Option<Serde> {
    let looks_through = chart.places.iter().any(|place| {
        place.node.get("unevaluatedItems").is_some() || place.node.get("unevaluatedProperties").is_some()
    });
    let into = graph.ways.iter().flatten().filter(|way| way.reference.is_some()).any(|way| {
        let pointer = &chart.places[way.to].pointer;
        pointer.contains("/anyOf/") || pointer.contains("/oneOf/")
    });
    let reading = Reading { draft: chart.draft, numbers: Numbers::Exact, counted, told: true };
    (!looks_through && !into).then(|| rewritten(chart, reading))
}

/// Whether the form has alternatives.
pub(crate) fn has_alternatives(chart: &Chart<'_>) -> bool {
    chart.places.iter().any(|place| ALTERNATIVES.iter().any(|keyword| place.node.get(keyword).is_some()))
}

const ALTERNATIVES: &[&str] = &["anyOf", "oneOf"];

fn rewritten(chart: &Chart<'_>, reading: Reading) -> Serde {
    let mut document = schema(chart.places[0].node, reading);
    if let Serde::Object(members) = &mut document {
        members.insert("$schema".to_owned(), chart.draft.uri().into());
    }
    document
}

/// How a form is rewritten.
#[derive(Debug, Clone, Copy)]
struct Reading {
    draft: Draft,
    numbers: Numbers,
    /// Whether references are counted as they are followed.
    counted: bool,
    /// Whether it is for reasons: see [`told`].
    told: bool,
}

fn schema(node: &Node, reading: Reading) -> Serde {
    if let Some(flag) = node.as_bool() {
        return Serde::Bool(flag);
    }
    let mut out = Map::new();
    let mut counted = Vec::new();
    let mut told = Vec::new();
    for (name, value) in node.members() {
        let Some(row) = reading.draft.keyword(name) else {
            continue; // declared by the route to carry no constraint
        };
        match row.role {
            Role::Annotation => {}
            Role::InPlace(_) if reading.told && ALTERNATIVES.contains(&name.as_str()) => {
                let within = schemas(value, row.shape, Reading { told: false, ..reading });
                told.push((name.clone(), serde_json::json!({"not": {"not": {name: within}}})));
            }
            Role::InPlace(_) | Role::Inward | Role::Definitions => {
                out.insert(name.clone(), schemas(value, row.shape, reading));
            }
            Role::Reference if reading.counted => {
                // Before the reference in `allOf`, so that the count is asked first.
                counted.push(serde_json::json!({"exact:counted": true}));
                counted.push(serde_json::json!({name: value.to_serde()}));
            }
            Role::Reference | Role::Identifier => {
                out.insert(name.clone(), value.to_serde());
            }
            Role::Assertion => {
                let (name, value) = assertion(name, value, node, reading);
                if let Some(value) = value {
                    out.insert(name, value);
                }
            }
        }
    }
    told.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut more: Vec<Serde> = told.into_iter().map(|(_, schema)| schema).chain(counted).collect();
    if !more.is_empty() {
        // Behind what stands there, whose places must not change.
        if let Some(Serde::Array(all)) = out.get_mut("allOf") {
            all.append(&mut more);
        } else {
            out.insert("allOf".to_owned(), Serde::Array(more));
        }
    }
    Serde::Object(out)
}

/// The schemas in a keyword's value: alone, in an array, or by name.
fn schemas(value: &Node, shape: Shape, reading: Reading) -> Serde {
    let by_name = matches!(shape, Shape::SchemasByName | Shape::SchemasByPattern | Shape::Dependencies);
    let one = |value: &Node| {
        if value.is_schema() { schema(value, reading) } else { value.to_serde() }
    };
    match &value.tree {
        Tree::Object(members) if by_name => {
            Serde::Object(members.iter().map(|(name, value)| (name.clone(), one(value))).collect())
        }
        Tree::Array(elements) => elements.iter().map(one).collect(),
        Tree::Object(_) | Tree::Boolean(_) | Tree::Null | Tree::Number(_) | Tree::Text(_) => one(value),
    }
}

/// The form in standard keywords, for machinery that knows no others.
pub(crate) fn standard(draft: Draft, mut document: Serde) -> Serde {
    if let Serde::Object(members) = &mut document {
        members.insert("$schema".to_owned(), draft.uri().into());
    }
    document
}

/// An assertion under its own name, or under ours where `f64` would decide it.
fn assertion(name: &str, value: &Node, beside: &Node, reading: Reading) -> (String, Option<Serde>) {
    let ours = |value: Serde| (format!("{PREFIX}{name}"), Some(value));
    match name {
        "minimum" | "maximum" | "multipleOf" => {
            let text = value.printed();
            let exclusive = match name {
                "minimum" => "exclusiveMinimum",
                "maximum" => "exclusiveMaximum",
                _ => "",
            };
            let open =
                reading.draft == Draft::Four && beside.get(exclusive).and_then(Node::as_bool) == Some(true);
            ours(Serde::Array(vec![text.into(), open.into()]))
        }
        // In draft 04 a flag, which went into its bound.
        "exclusiveMinimum" | "exclusiveMaximum" if reading.draft == Draft::Four => (String::new(), None),
        "exclusiveMinimum" | "exclusiveMaximum" => {
            ours(Serde::Array(vec![value.printed().into(), true.into()]))
        }
        "const" if value.has_number() => ours(format!("[{}]", value.printed()).into()),
        "enum" if value.has_number() => ours(value.printed().into()),
        "type" if reading.numbers == Numbers::SafeIntegers => ours(value.to_serde()),
        _ => match value.as_count() {
            // Counts as integers, however they were written.
            Some(count) => (name.to_owned(), Some(count.into())),
            None => (name.to_owned(), Some(value.to_serde())),
        },
    }
}

/// The options every validator is built with.
fn options<'i>() -> ValidationOptions<'i, std::sync::Arc<dyn jsonschema::Retrieve>, Strict> {
    ValidationOptions::<'i, _, Strict>::default()
        .offline()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(false)
        .with_pattern_options(PatternOptions::regex())
        // A mailbox as RFC 5321 writes it, and not `Ada <ada@example.com>`.
        .with_email_options(EmailOptions::default().without_display_text())
        .with_keyword("exact:minimum", |_, value, _| {
            bound(value, |limit, open| Limit::Minimum { limit, open })
        })
        .with_keyword("exact:exclusiveMinimum", |_, value, _| {
            bound(value, |limit, open| Limit::Minimum { limit, open })
        })
        .with_keyword("exact:maximum", |_, value, _| {
            bound(value, |limit, open| Limit::Maximum { limit, open })
        })
        .with_keyword("exact:exclusiveMaximum", |_, value, _| {
            bound(value, |limit, open| Limit::Maximum { limit, open })
        })
        .with_keyword("exact:multipleOf", |_, value, _| bound(value, |divisor, _| Limit::MultipleOf(divisor)))
        .with_keyword("exact:const", |_, value, _| values(value))
        .with_keyword("exact:enum", |_, value, _| values(value))
        .with_keyword("exact:counted", |_, _, _| Ok(Box::new(Exact::Counted)))
        .with_keyword("exact:type", |_, value, _| Ok(Box::new(types(value))))
}

type Made<'a> = Result<Box<dyn for<'i> jsonschema::Keyword<'i, Strict>>, ValidationError<'a>>;

/// A number as text and a flag, as [`assertion`] wrote them.
fn bound(value: &Serde, make: impl Fn(Decimal, bool) -> Limit) -> Made<'_> {
    let limit = value.get(0).and_then(Serde::as_str).and_then(Decimal::read);
    let open = value.get(1).and_then(Serde::as_bool).unwrap_or_default();
    match limit {
        Some(limit) => Ok(Box::new(Exact::Limit(make(limit, open)))),
        None => Err(ValidationError::custom("not a number that is kept exactly")),
    }
}

fn values(value: &Serde) -> Made<'_> {
    match value.as_str().map(Node::parse) {
        Some(Ok(node)) => Ok(Box::new(Exact::one_of(node.elements()))),
        _ => Err(ValidationError::custom("not an array of values")),
    }
}

fn types(value: &Serde) -> Exact {
    let names = match value {
        Serde::String(name) => vec![name.clone()],
        Serde::Array(names) => names.iter().filter_map(Serde::as_str).map(ToOwned::to_owned).collect(),
        _ => Vec::new(),
    };
    Exact::SafeType(names)
}

/// Pointer and keyword of whatever can refuse a value, at most [`super::PLACES`]. Of an annotation or a reference
/// nothing is ever told, and of `properties` only what stands in it.
pub(crate) fn places(chart: &Chart<'_>) -> Vec<(String, String)> {
    let of = |place: &Place<'_>| {
        if place.node.as_bool() == Some(false) {
            return vec![(place.pointer.clone(), "falseSchema".to_owned())];
        }
        let tells = |name: &&String| {
            chart.draft.keyword(name).is_some_and(|row| match row.role {
                Role::Assertion | Role::InPlace(_) => true,
                Role::Inward => !["properties", "patternProperties", "prefixItems"].contains(&row.name),
                Role::Reference | Role::Identifier | Role::Definitions | Role::Annotation => false,
            })
        };
        let names = place.node.members().iter().map(|(name, _)| name).filter(tells);
        names.map(|name| (below(&place.pointer, name), name.clone())).collect()
    };
    // `additionalProperties: false` is a keyword, and a schema that is `false`: told as the keyword.
    let mut seen = HashSet::new();
    let once = |place: &(String, String)| seen.insert(place.0.clone());
    chart.places.iter().flat_map(of).filter(once).take(super::PLACES).collect()
}

/// Builds the validator, or says where and why it cannot be.
pub(crate) fn build(document: &Serde) -> Result<Validator<Strict>, (String, String)> {
    options().build(document).map_err(|error| {
        let pointer = error.instance_path().as_str().replace(PREFIX, "");
        (pointer, error.masked().to_string())
    })
}

/// Validators of every schema of the form, by pointer, for its examples.
pub(crate) fn build_all(document: &Serde) -> Option<jsonschema::ValidatorMap<Strict>> {
    options().build_map(document).ok()
}

/// Whether the engine takes a pattern.
pub(crate) fn compiles(pattern: &str) -> bool {
    if is_small(pattern) {
        return true;
    }
    let mut schema = Map::new();
    schema.insert("pattern".to_owned(), pattern.into());
    options().build(&Serde::Object(schema)).is_ok()
}

/// Whether a pattern is so small, with its repetitions written out, that the engine need not be asked, whose bounds are
/// 10 MB and a depth. A property of Unicode is never small; of names it wants each once.
fn is_small(pattern: &str) -> bool {
    let asked = ["\\p", "\\P", "(?<"];
    if pattern.matches('(').count() > 32 || asked.iter().any(|word| pattern.contains(word)) {
        return false;
    }
    let counts =
        pattern.split(|character: char| !character.is_ascii_digit()).filter(|count| !count.is_empty());
    let most =
        |written: usize, count: &str| written.saturating_mul(count.parse().unwrap_or(usize::MAX).max(1));
    counts.fold(pattern.len(), most) <= 4096
}

/// Whether a string fits a pattern; said to fit where that cannot be found out.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut schema = Map::new();
    schema.insert("pattern".to_owned(), pattern.into());
    let quoted = Serde::from(text).to_string();
    let mut document = crate::json::Document::new();
    match (options().build(&Serde::Object(schema)), document.parse(quoted.as_bytes())) {
        (Ok(validator), Ok(value)) => validator.is_valid(value),
        (Err(_), _) | (_, Err(_)) => true,
    }
}

/// A place of the validator's form in the published one.
fn published_pointer(pointer: &str) -> String {
    // Most have no keyword of ours in them, and a byte is found sooner than a word.
    if pointer.as_bytes().contains(&b':') { pointer.replace(PREFIX, "") } else { pointer.to_owned() }
}

/// Why a value is not admitted: the first error of the validator, if it finds one, in the places
/// of the form as it is published.
pub(crate) fn mismatch<'f>(
    validator: &Validator<Strict>,
    standard: impl Fn() -> &'f Serde,
    value: Value<'_>,
) -> Option<Mismatch> {
    let error = validator.validate(value).err()?;
    let instance_pointer = error.instance_path().as_str().to_owned();
    let schema_pointer = published_pointer(error.schema_path().as_str());
    let keyword = error.kind().keyword();
    // What `schema` adds, it adds to an `allOf`.
    if !schema_pointer.contains("/allOf/") || standard().pointer(&schema_pointer).is_some() {
        let keyword = keyword.strip_prefix(PREFIX).unwrap_or(keyword).to_owned();
        return Some(Mismatch { schema_pointer, keyword, instance_pointer });
    }
    // Not a place of the form: one of those that `schema` put behind its `allOf`.
    let (within, index) = schema_pointer.strip_suffix("/not")?.rsplit_once("/allOf/")?;
    let schema = standard().pointer(within)?;
    let before = schema.get("allOf").and_then(Serde::as_array).map_or(0, Vec::len);
    let place = index.parse::<usize>().ok()?.checked_sub(before)?;
    let keyword = *ALTERNATIVES.iter().filter(|keyword| schema.get(keyword).is_some()).nth(place)?;
    Some(Mismatch {
        schema_pointer: format!("{within}/{keyword}"),
        keyword: keyword.to_owned(),
        instance_pointer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_is_taken_by_the_engine() {
        let engine = |pattern: &str| {
            let schema = serde_json::json!({ "pattern": pattern });
            options().build(&schema).is_ok()
        };
        for pattern in ["^cus_[0-9A-Za-z]{16}$", "[^a]{400}", ".{500}", "\\W{500}", "(a[^b]{30}){9}", "\\d+"]
        {
            assert!(is_small(pattern) && engine(pattern), "{pattern}");
        }
        let deep = format!("{}c{}", "(b".repeat(60), "|c)+".repeat(60));
        for pattern in ["(.{1000}){1000}", "\\p{L}", "a{99999999999999999999}", "(?<n>a)|(?<n>b)", &deep] {
            assert!(!is_small(pattern), "{pattern}");
        }
        assert!(!compiles("(?<n>a)|(?<n>b)"));
        assert!(!compiles("((.{1000}){1000}){1000}"));
    }
}
