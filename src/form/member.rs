//! Which members of a body may stand in the target of the request to a backend: those of which the form itself
//! proves that they are there, and that their text is one harmless piece of a path.
//!
//! The proof looks through `allOf`, `$ref` within the document, and every alternative of `anyOf` and `oneOf`. What
//! it does not look at only narrows what fits, so leaving it out cannot make it wrong, only more careful.

mod reach;

use super::pattern::{self, Alphabet};
use super::source::{Node, Tree};
use super::{CompiledForm, enforced};
use crate::json::{Decimal, Kind, Value, pointer};
use std::borrow::Cow;

/// Characters that a member in a path may have.
const LONGEST: u64 = 255;
/// Integers that every backend reads alike: 2^53 − 1.
const LARGEST: i64 = 9_007_199_254_740_991;
/// Schemas looked at for one member.
const FUEL: u32 = 2000;

/// A member that is in every value the form admits, as a scalar that can stand in a path. Only
/// [`CompiledForm::safe_member`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeMember {
    pointer: String,
    names: Vec<String>,
}

/// Why a member cannot stand in a path, and what the form would have to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unproven {
    /// One sentence, without a full stop.
    pub reason: String,
    /// What to write into the form.
    pub suggestion: String,
}

impl CompiledForm {
    /// The member at a JSON Pointer (RFC 6901), if every value that this form admits has a scalar there whose text is
    /// 1 to 255 of `A-Z a-z 0-9 - . _ ~`, and neither `.` nor `..`.
    pub fn safe_member(&self, pointer: &str) -> Result<SafeMember, Unproven> {
        let names: Vec<String> = pointer::tokens(pointer).map(Cow::into_owned).collect();
        let why = |reason: String, suggestion: &str| Unproven { reason, suggestion: suggestion.to_owned() };
        if !pointer.starts_with('/') || names.iter().any(String::is_empty) {
            let reason = format!("`{{{pointer}}}` is no JSON Pointer to a member");
            return Err(why(reason, "`{/order_id}`, or `{/order/id}` for a member of a member"));
        }
        // What is published was read before.
        let Ok(root) = Node::parse(self.published()) else {
            return Err(why("the form cannot be read again".to_owned(), "please report it"));
        };
        let mut proof = Proof { root: &root, follows: !has_inner_identifier(&root, true), fuel: FUEL };
        match proof.prove(vec![&root], &names, &mut Vec::new()) {
            Ok(()) => Ok(SafeMember { pointer: pointer.to_owned(), names }),
            Err(Gap { at, reason, suggestion }) => {
                let place = names[..at.min(names.len())].join("/");
                let place = if place.is_empty() { "the body".to_owned() } else { format!("`/{place}`") };
                Err(why(
                    format!(
                        "`{{{pointer}}}` cannot stand in a path: the form does not bound it: {place} {reason}"
                    ),
                    suggestion,
                ))
            }
        }
    }
}

impl SafeMember {
    /// As in the file.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Appends its text: a string percent-encoded, an integer in its shortest decimal form however it was written.
    /// `None`, and nothing useful appended, where the value is not what was proven.
    pub fn write(&self, value: Value<'_>, out: &mut Vec<u8>) -> Option<()> {
        let mut at = value;
        for name in &self.names {
            at = at.as_object()?.get(name)?;
        }
        let integer;
        let text = match at.kind() {
            Kind::String => at.as_str()?,
            Kind::Boolean if at.as_bool()? => "true",
            Kind::Boolean => "false",
            Kind::Number => {
                integer = at.as_number()?.decimal().as_i64()?.to_string();
                &integer
            }
            Kind::Null | Kind::Array | Kind::Object => return None,
        };
        if matches!(text, "" | "." | "..") || text.len() as u64 > LONGEST {
            return None;
        }
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                out.push(byte);
            } else {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        }
        Some(())
    }
}

/// What is not proven: how many names deep, and what would prove it.
struct Gap {
    at: usize,
    reason: String,
    suggestion: &'static str,
}

const STRING: &str = "`\"type\": \"string\", \"pattern\": \"^[A-Za-z0-9_-]{1,40}$\"`; or `\"format\": \"uuid\"`, \
                      an `enum` or `const` of such words, or `\"type\": \"integer\"` with `minimum` and `maximum`";

struct Proof<'n> {
    root: &'n Node,
    /// Whether `#/…` means the same everywhere in the document.
    follows: bool,
    fuel: u32,
}

/// Schemas that all hold for one value.
type All<'n> = Vec<&'n Node>;

impl<'n> Proof<'n> {
    /// Whether a value that all of these admit has, at this path, a scalar that is safe.
    fn prove(&mut self, schemas: All<'n>, names: &[String], split: &mut Vec<&'n Node>) -> Result<(), Gap> {
        let all = self.spread(schemas);
        let direct = match names.split_first() {
            None => scalar(&all),
            Some((name, rest)) => self.member(&all, name, rest, split),
        };
        let Err(gap) = direct else { return Ok(()) };
        // Not as it stands: perhaps in each of several alternatives.
        for keyword in ["anyOf", "oneOf"] {
            for schema in &all {
                let Some(choice) = schema.get(keyword) else { continue };
                if split.iter().any(|known| std::ptr::eq(*known, choice)) {
                    continue;
                }
                split.push(choice);
                let each = choice.elements().iter().all(|alternative| {
                    let mut within = all.clone();
                    within.push(alternative);
                    self.prove(within, names, split).is_ok()
                });
                split.pop();
                if each && !choice.elements().is_empty() {
                    return Ok(());
                }
            }
        }
        Err(gap)
    }

    fn member(
        &mut self,
        all: &All<'n>,
        name: &str,
        rest: &[String],
        split: &mut Vec<&'n Node>,
    ) -> Result<(), Gap> {
        let here = |reason: String, suggestion| Err(Gap { at: 0, reason, suggestion });
        if !all.iter().any(|schema| types(schema) == ["object"]) {
            return here("need not be an object".to_owned(), "`\"type\": \"object\"`");
        }
        let required = |schema: &&Node| {
            let names = schema.get("required").map(Node::elements).unwrap_or_default();
            names.iter().any(|required| required.as_text() == Some(name))
        };
        let declared =
            |schema: &&Node| schema.get("properties").is_some_and(|named| named.get(name).is_some());
        if !all.iter().any(required) && !all.iter().any(declared) {
            return here(
                format!("has no member `{}`", name.escape_debug()),
                "look at how it is spelled; or declare it in `properties` and name it in `required` there",
            );
        }
        if !all.iter().any(required) {
            return here(format!("need not have `{name}`"), "name it in `required` there");
        }
        let said: All<'n> = all.iter().filter_map(|schema| schema.get("properties")?.get(name)).collect();
        // Alternatives of this object may hold for the member too, but say nothing of it by themselves.
        self.prove(said, rest, split).map_err(|gap| Gap { at: gap.at + 1, ..gap })
    }

    /// Those, and what they say holds besides: `allOf`, and what is referred to.
    fn spread(&mut self, schemas: All<'n>) -> All<'n> {
        let mut all: All<'n> = Vec::new();
        let mut open = schemas;
        while let Some(schema) = open.pop() {
            if self.fuel == 0 || all.iter().any(|known| std::ptr::eq(*known, schema)) {
                continue;
            }
            self.fuel -= 1;
            all.push(schema);
            open.extend(schema.get("allOf").map(Node::elements).unwrap_or_default());
            open.extend(
                schema
                    .get("$ref")
                    .and_then(Node::as_text)
                    .filter(|_| self.follows)
                    .and_then(|to| target(self.root, to)),
            );
        }
        all
    }
}

/// The place that a reference within the form leads to, where `#/…` means the same everywhere in it.
fn target<'n>(root: &'n Node, reference: &str) -> Option<&'n Node> {
    let pointer = pointer::of_reference(reference)?;
    pointer::tokens(&pointer).try_fold(root, |node, token| node.child(&token))
}

/// Whether some schema within has a name of its own, from which `#/…` would be read.
fn has_inner_identifier(node: &Node, root: bool) -> bool {
    let named = !root && ["$id", "id"].iter().any(|name| node.get(name).and_then(Node::as_text).is_some());
    named
        || node.members().iter().any(|(_, value)| has_inner_identifier(value, false))
        || node.elements().iter().any(|value| has_inner_identifier(value, false))
}

fn types(schema: &Node) -> Vec<&str> {
    let Some(types) = schema.get("type") else { return Vec::new() };
    types.as_text().into_iter().chain(types.elements().iter().filter_map(Node::as_text)).collect()
}

/// Whether every value that all of these admit is a scalar that is safe.
fn scalar(all: &All<'_>) -> Result<(), Gap> {
    let gap = |reason: &str| Err(Gap { at: 0, reason: reason.to_owned(), suggestion: STRING });
    let listed = all.iter().any(|schema| {
        schema.get("const").is_some_and(is_safe)
            || schema.get("enum").is_some_and(|values| values.elements().iter().all(is_safe))
    });
    if listed {
        return Ok(());
    }
    let Some(kinds) =
        all.iter().map(|schema| types(schema)).filter(|kinds| !kinds.is_empty()).min_by_key(Vec::len)
    else {
        return gap("can be of any type");
    };
    for kind in kinds {
        match kind {
            "boolean" => {}
            "integer" => {
                let bounded = |names: [&str; 2]| {
                    all.iter().any(|schema| {
                        let bounds = names.iter().filter_map(|name| schema.get(name)?.as_number());
                        bounds
                            .filter_map(|text| Decimal::read(text)?.as_i64())
                            .any(|bound| bound.abs() <= LARGEST)
                    })
                };
                if !bounded(["minimum", "exclusiveMinimum"]) || !bounded(["maximum", "exclusiveMaximum"]) {
                    return gap("is an integer without `minimum` and `maximum` between ±(2^53−1)");
                }
            }
            "string" => string(all)?,
            _ => return gap("can be something else than a string, an integer or a boolean"),
        }
    }
    Ok(())
}

fn string(all: &All<'_>) -> Result<(), Gap> {
    let gap = |reason: String| Err(Gap { at: 0, reason, suggestion: STRING });
    let texts = |name: &'static str| all.iter().filter_map(move |schema| schema.get(name)?.as_text());
    // Both checked by the validator, and made of digits, letters and `-` only.
    if texts("format").any(|format| matches!(format, "uuid" | "date")) {
        return Ok(());
    }
    let counts = |name: &'static str| all.iter().filter_map(move |schema| schema.get(name)?.as_count());
    let mut said = "has no `pattern`".to_owned();
    let mut bounded = counts("maxLength").any(|most| most <= LONGEST);
    let mut harmless = false;
    for pattern in texts("pattern") {
        let Ok(reading) = pattern::read(pattern) else { continue };
        if !reading.anchored {
            said = format!("has a pattern that is not anchored with `^` and `$`: `{pattern}`");
        } else if reading.alphabet > Alphabet::Unreserved {
            said = format!("may have other characters than `A-Z a-z 0-9 - . _ ~`: `{pattern}`");
        } else {
            harmless = true;
            bounded |= reading.longest.is_some_and(|longest| longest <= LONGEST);
        }
    }
    if !harmless {
        return gap(said);
    }
    if !bounded {
        return gap(format!("has no bound on its length, or one above {LONGEST}"));
    }
    let least = counts("minLength").max().unwrap_or(0);
    for text in ["", ".", ".."] {
        let out = least > text.len() as u64 || texts("pattern").any(|pattern| !enforced::fits(pattern, text));
        if !out {
            return gap(if text.is_empty() { "can be empty".to_owned() } else { format!("can be `{text}`") });
        }
    }
    Ok(())
}

/// A value that the form lists.
fn is_safe(value: &Node) -> bool {
    match &value.tree {
        Tree::Boolean(_) => true,
        Tree::Number(text) => Decimal::read(text)
            .and_then(|number| number.as_i64())
            .is_some_and(|number| number.abs() <= LARGEST),
        Tree::Text(text) => {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            !matches!(text.as_str(), "" | "." | "..")
                && text.len() as u64 <= LONGEST
                && text.bytes().all(plain)
        }
        Tree::Null | Tree::Array(_) | Tree::Object(_) => false,
    }
}
