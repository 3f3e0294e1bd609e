//! Gathering: a schema of the source, its references and its `allOf`, into one [`Whole`]; each keyword that is met is
//! entered in the ledger.

use super::ledger::Ledger;
use super::source::{Dialect, Links, Place};
use super::whole::{Alternatives, Closing, Kinds, Rule, Whole};
use super::written::Written;
use crate::form::{Node, checks_format};
use crate::json::{Decimal, Document};
use std::collections::HashSet;

/// References that are followed, each to the next; documents that are written have few.
const DEEPEST: usize = 64;

/// Why a schema is not carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// JSON Pointer into the source.
    pub(super) at: String,
    pub(super) reason: String,
    pub(super) cause: Cause,
}

/// What a refusal comes from: it decides what may be done instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Any value would fit.
    Anything,
    /// Any object would fit.
    AnyObject,
    /// Any array would fit.
    AnyArray,
    /// It leads back to itself, or goes deeper than is carried.
    Deep,
    /// The form would become too large.
    Large,
    /// Something else.
    Other,
}

impl Refusal {
    pub(super) fn new(at: &str, reason: impl Into<String>, cause: Cause) -> Self {
        Self { at: at.to_owned(), reason: reason.into(), cause }
    }

    pub(super) fn other(at: &str, reason: impl Into<String>) -> Self {
        Self::new(at, reason, Cause::Other)
    }
}

pub(super) struct Gathering<'d, 'g> {
    pub(super) links: &'g Links<'d>,
    pub(super) dialect: Dialect,
    pub(super) ledger: Ledger,
}

impl<'d> Gathering<'d, '_> {
    /// All that several schemas say together.
    pub(super) fn all(&mut self, at: &str, places: &[Place<'d>]) -> Result<Whole<'d>, Refusal> {
        let mut whole = Whole::at(at);
        for place in places {
            self.gather(place, &mut whole)?;
        }
        Ok(whole)
    }

    /// Adds what one schema says.
    pub(super) fn gather(&mut self, place: &Place<'d>, whole: &mut Whole<'d>) -> Result<(), Refusal> {
        let node = place.node;
        match node.as_bool() {
            Some(true) => return Ok(()),
            Some(false) => {
                whole.hold_to(Kinds::NONE);
                return Ok(());
            }
            None if !node.is_object() => {
                return Err(Refusal::other(&place.at, "not a schema"));
            }
            None => {}
        }
        let reference = node.get("$ref").and_then(Node::as_text);
        let alone = reference.is_some() && self.dialect != Dialect::One;
        for (name, value) in place.members() {
            if name == "$ref" && reference.is_some() {
                self.ledger.translated(value.at.to_string());
            } else if alone && !matches!(name, "description" | "title") {
                self.ledger.dropped(value.at.to_string(), "beside `$ref`, this dialect ignores it");
            } else {
                self.keyword(place, name, &value, whole)?;
            }
        }
        if let Some(reference) = reference {
            let target = self.links.target(reference).map_err(|reason| Refusal::other(&place.at, reason))?;
            let address = target.address();
            if whole.open.contains(&address) {
                return Err(Refusal::new(&place.at, "it refers to itself without end", Cause::Deep));
            }
            if whole.open.len() >= DEEPEST {
                let reason = format!("more than {DEEPEST} references, each to the next");
                return Err(Refusal::new(&place.at, reason, Cause::Deep));
            }
            // What has been said once, by way of another part, says nothing more.
            if whole.through.insert(address) {
                whole.open.push(address);
                self.gather(&target, whole)?;
                whole.open.pop();
            }
        }
        for part in place.member("allOf").iter().flat_map(Place::elements) {
            self.gather(&part, whole)?;
        }
        Ok(())
    }

    #[allow(
        clippy::too_many_lines,
        clippy::match_same_arms,
        reason = "one arm a keyword, in the order of the specification"
    )]
    fn keyword(
        &mut self,
        place: &Place<'d>,
        name: &'d str,
        value: &Place<'d>,
        whole: &mut Whole<'d>,
    ) -> Result<(), Refusal> {
        let at = value.at.to_string();
        let node = value.node;
        let shape_is_wrong = "its value has not the shape of this keyword";
        match name {
            "allOf" => self.ledger.translated(at),
            "type" => self.types(place, value, whole)?,
            "nullable" => match (node.as_bool(), place.node.get("type").is_some()) {
                (Some(true), false) => {
                    self.ledger
                        .dropped(at, "`nullable` without `type` beside it has no effect (OpenAPI 3.0.3)");
                }
                (Some(_), _) => self.ledger.translated(at),
                (None, _) => self.ledger.dropped(at, shape_is_wrong),
            },
            "enum" if node.is_array() => {
                let mut met = HashSet::new();
                let values = node.elements().iter().map(Written::of);
                whole.list(values.filter(|value| met.insert(value.clone())).collect());
                self.ledger.carried(at);
            }
            "const" => {
                whole.list(vec![Written::of(node)]);
                self.ledger.carried(at);
            }
            "properties" if node.is_object() => {
                for (member, schema) in value.members() {
                    whole.properties.entry(member).places.push(schema);
                }
                self.ledger.carried(at);
            }
            "required" if node.is_array() => {
                node.elements().iter().filter_map(Node::as_text).for_each(|member| whole.require(member));
                self.ledger.carried(at);
            }
            "additionalProperties" => {
                let rule = match node.as_bool() {
                    Some(false) => Rule::None,
                    Some(true) => Rule::Any,
                    None if node.members().is_empty() => Rule::Any,
                    None => Rule::Each(value.clone()),
                };
                let names = |name| place.node.get(name).map(Node::members).unwrap_or_default();
                let own = names("properties").iter().map(|(name, _)| name.as_str()).collect();
                let patterned = !names("patternProperties").is_empty();
                whole.closings.push(Closing { rule, own, patterned, at: at.clone() });
                self.ledger.translated(at);
            }
            "unevaluatedProperties" | "unevaluatedItems" => self.ledger.translated(at),
            "patternProperties" if node.is_object() => {
                let each = value.members().map(|(pattern, schema)| (pattern.to_owned(), schema));
                whole.patterned.extend(each);
                self.ledger.carried(at);
            }
            "propertyNames" => {
                whole.names.push(value.clone());
                self.ledger.carried(at);
            }
            "dependentRequired" if node.is_object() => {
                for (member, names) in node.members() {
                    let names = names.elements().iter().filter_map(Node::as_text).map(str::to_owned);
                    whole.dependent.push((member.clone(), names.collect()));
                }
                self.ledger.carried(at);
            }
            "items" if node.is_array() => {
                whole.prefix.extend(value.elements());
                self.ledger.translated(at);
            }
            "items" => {
                whole.items.push(value.clone());
                self.ledger.carried(at);
            }
            "prefixItems" if whole.prefix.is_empty() => {
                whole.prefix.extend(value.elements());
                self.ledger.carried(at);
            }
            "contains" => {
                if place.node.get("maxContains").is_some() {
                    return Err(Refusal::other(&at, "`maxContains` is not carried"));
                }
                let least = place.node.get("minContains").and_then(Node::as_count);
                whole.contains.push((value.clone(), least));
                self.ledger.carried(at);
            }
            "minContains" => self.ledger.carried(at),
            "anyOf" | "oneOf" if node.is_array() => {
                let set = alternatives(place, name == "oneOf", value)?;
                whole.alternatives.push(set);
                self.ledger.translated(at);
            }
            "discriminator" => {
                let used = ["anyOf", "oneOf"].iter().any(|keyword| place.node.get(keyword).is_some());
                if used {
                    self.ledger.translated(at);
                } else {
                    let why = "a `discriminator` without `oneOf` or `anyOf` beside it: the schema is carried by itself";
                    self.ledger.dropped(at, why);
                }
            }
            "not" | "if" => self.verbatim(place, name, value, whole)?,
            "x-nullable" if self.dialect == Dialect::Two && place.node.get("type").is_some() => {
                self.ledger.translated(at);
            }
            // Entered with their `if`.
            "then" | "else" if place.node.get("if").is_some() => {}
            "dependentSchemas" | "dependencies" | "$dynamicRef" | "$recursiveRef" | "$ref"
            | "maxContains" | "prefixItems" => {
                return Err(Refusal::other(&at, format!("`{name}` is not carried here")));
            }
            _ => self.scalar_or_word(place, name, value, whole),
        }
        Ok(())
    }

    fn types(&mut self, place: &Place<'d>, value: &Place<'d>, whole: &mut Whole<'d>) -> Result<(), Refusal> {
        let names: Vec<&str> = match value.node.as_text() {
            Some(name) => vec![name],
            None => value.node.elements().iter().filter_map(Node::as_text).collect(),
        };
        let mut kinds = Kinds::NONE;
        for name in &names {
            match Kinds::named(name) {
                Some(kind) => kinds = kinds.or(kind),
                None if *name == "file" => {
                    return Err(Refusal::other(&value.at, "a file cannot be in a JSON body"));
                }
                None => return Err(Refusal::other(&value.at, format!("`{name}` is not a type"))),
            }
        }
        if names.is_empty() {
            return Err(Refusal::other(&value.at, "`type` without a name"));
        }
        let nullable = ["nullable", "x-nullable"]
            .iter()
            .any(|name| place.node.get(name).and_then(Node::as_bool) == Some(true));
        if nullable && (place.node.get("nullable").is_some() || self.dialect == Dialect::Two) {
            kinds = kinds.or(Kinds::NULL);
            self.ledger.translated(value.at.to_string());
        } else {
            self.ledger.carried(value.at.to_string());
        }
        whole.hold_to(kinds);
        Ok(())
    }

    /// Assertions about numbers, strings and counts, and everything that asserts nothing.
    fn scalar_or_word(&mut self, place: &Place<'d>, name: &str, value: &Place<'d>, whole: &mut Whole<'d>) {
        let at = value.at.to_string();
        let node = value.node;
        // Documents written by hand quote numbers now and then.
        let number = node.as_number().or_else(|| node.as_text().filter(|text| is_number(text)));
        let count = number.and_then(Decimal::read).and_then(|number| number.as_u64());
        let beside = |name: &str| place.node.get(name).and_then(Node::as_bool) == Some(true);
        let tighter = |known: &mut Option<u64>, count: u64| {
            *known = Some(known.map_or(count, |known| known.min(count)));
        };
        let mut carried = true;
        match (name, number, count) {
            ("minimum", Some(number), _) => whole.at_least(number.to_owned(), beside("exclusiveMinimum")),
            ("maximum", Some(number), _) => whole.at_most(number.to_owned(), beside("exclusiveMaximum")),
            ("exclusiveMinimum", Some(number), _) => whole.at_least(number.to_owned(), true),
            ("exclusiveMaximum", Some(number), _) => whole.at_most(number.to_owned(), true),
            ("exclusiveMinimum" | "exclusiveMaximum", None, _) if node.as_bool().is_some() => {
                return self.ledger.translated(at);
            }
            ("multipleOf", Some(number), _) if Decimal::read(number) > Some(Decimal::ZERO) => {
                whole.multiples.entry(number);
            }
            ("minLength", _, Some(count)) => whole.min_length = whole.min_length.max(count),
            ("maxLength", _, Some(count)) => tighter(&mut whole.max_length, count),
            ("minItems", _, Some(count)) => whole.min_items = whole.min_items.max(count),
            ("maxItems", _, Some(count)) => tighter(&mut whole.max_items, count),
            ("minProperties", _, Some(count)) => whole.min_properties = whole.min_properties.max(count),
            ("maxProperties", _, Some(count)) => tighter(&mut whole.max_properties, count),
            _ => carried = false,
        }
        if carried {
            return self.ledger.carried(at);
        }
        match (name, node.as_text(), node.as_bool()) {
            ("pattern", Some(pattern), _) => {
                if !whole.patterns.has(pattern) {
                    whole.patterns.entry(pattern).clone_from(&at);
                }
                self.ledger.carried(at);
            }
            ("format", Some(format), _) => self.format(format, at, whole),
            ("uniqueItems", _, Some(unique)) => {
                whole.unique |= unique;
                self.ledger.carried(at);
            }
            ("title", Some(text), _) => {
                whole.title.get_or_insert_with(|| text.to_owned());
                self.ledger.carried(at);
            }
            ("description", Some(text), _) => {
                whole.description.get_or_insert_with(|| text.to_owned());
                self.ledger.carried(at);
            }
            ("default", _, _) => {
                whole.default.get_or_insert_with(|| (at.clone(), Written::of(node)));
                self.ledger.carried(at);
            }
            ("deprecated", _, Some(flag)) => {
                whole.deprecated |= flag;
                self.ledger.carried(at);
            }
            ("readOnly", _, Some(flag)) => {
                whole.read_only |= flag;
                self.ledger.translated(at);
            }
            _ => self.ledger.dropped(at, why_dropped(name, self.dialect)),
        }
    }

    fn format(&mut self, format: &str, at: String, whole: &mut Whole<'d>) {
        if checks_format(format) {
            whole.formats.entry(format);
            return self.ledger.carried(at);
        }
        match format {
            "int32" => {
                whole.at_least(i32::MIN.to_string(), false);
                whole.at_most(i32::MAX.to_string(), false);
                self.ledger.translated(at);
            }
            "int64" => self.ledger.translated(at),
            "binary" => {
                whole.formats.entry("binary");
                self.ledger.dropped(at, "bytes cannot be in a JSON body");
            }
            _ => self.ledger.dropped(at, format!("the format `{format}` is not checked")),
        }
    }
}

fn alternatives<'d>(place: &Place<'d>, one: bool, value: &Place<'d>) -> Result<Alternatives<'d>, Refusal> {
    let of: Vec<Place<'d>> = value.elements().collect();
    let discriminator = place.node.get("discriminator");
    let member =
        discriminator.and_then(|told| told.as_text().or_else(|| told.get("propertyName")?.as_text()));
    let told_by = member.and_then(|member| {
        let mapping =
            discriminator.and_then(|told| told.get("mapping")).map(Node::members).unwrap_or_default();
        let keys: Option<Vec<Vec<String>>> = of
            .iter()
            .map(|alternative| {
                let reference = alternative.node.get("$ref")?.as_text()?;
                let last = reference.rsplit('/').next()?;
                let leads = |to: &str| to == reference || to == last;
                let mapped: Vec<String> = mapping
                    .iter()
                    .filter(|(_, to)| to.as_text().is_some_and(leads))
                    .map(|(key, _)| key.clone())
                    .collect();
                Some(if mapped.is_empty() { vec![last.to_owned()] } else { mapped })
            })
            .collect();
        Some((member.to_owned(), keys?))
    });
    if of.is_empty() {
        return Err(Refusal::other(&value.at, "no alternative"));
    }
    Ok(Alternatives { one, of, told_by, at: value.at.to_string() })
}

fn is_number(text: &str) -> bool {
    text.len() < 64 && Document::new().parse(text.as_bytes()).is_ok_and(|value| value.as_number().is_some())
}

fn why_dropped(name: &str, dialect: Dialect) -> String {
    match name {
        "example" | "examples" => {
            "an example of a part; those of the whole body are held against the form".to_owned()
        }
        "xml" | "externalDocs" => format!("`{name}` says nothing about a JSON body"),
        "writeOnly" => "a form is a request: `writeOnly` says nothing there".to_owned(),
        "$id" | "id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$schema" | "$vocabulary" => {
            format!("`{name}`: references are written out")
        }
        "$defs" | "definitions" => "what is referred to is written out where it is used".to_owned(),
        "$comment" => "a note to authors".to_owned(),
        "contentEncoding" | "contentMediaType" | "contentSchema" => {
            format!("`{name}` is an annotation: nothing would enforce it")
        }
        _ if name.starts_with("x-") => "an extension".to_owned(),
        _ if crate::form::is_keyword(name) => "its value has not the shape of this keyword".to_owned(),
        _ => match dialect {
            Dialect::Two => format!("`{name}` is no keyword of Swagger 2.0"),
            Dialect::Zero => format!("`{name}` is no keyword of OpenAPI 3.0"),
            Dialect::One => format!("`{name}` is no keyword of OpenAPI 3.1"),
        },
    }
}
