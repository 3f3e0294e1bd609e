//! From a form to what a query can spell: a closed object of scalars, one parameter a member
//! (REQUIREMENTS B-26). There is no second, narrower form: what a query cannot spell whole, has no GET-Action.

use super::query::Dropped;
use super::secret;
use crate::form::CompiledForm;
use crate::json::{Document, Kind, Object, Value, pointer, quoted};
use std::collections::HashMap;

/// The names that carry the client's key, and so cannot be members.
pub(super) const KEY_NAMES: [&str; 2] = ["idempotency_key", "nonce"];

/// References that are followed from one member to its type.
const REFERENCES: usize = 16;

/// The members of a form in its order, each with how its text is read.
#[derive(Debug)]
pub struct Plan {
    parameters: Vec<Parameter>,
    by_name: HashMap<String, usize>,
    dropped: Vec<Dropped>,
}

/// One member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// As in the form.
    pub name: String,
    /// What its text stands for.
    pub scalar: Scalar,
    /// `"name":`, escaped.
    pub(super) opening: String,
}

/// What the text of a parameter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// Itself, whatever it looks like.
    Text,
    /// `-?(0|[1-9][0-9]*)`
    Integer,
    /// The same, and maybe a point and digits.
    Number,
    /// `true` or `false`.
    Boolean,
}

/// One reason why a query cannot spell the values of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ineligible {
    /// JSON Pointer (RFC 6901) into the published form.
    pub pointer: String,
    /// One sentence, without a full stop.
    pub reason: String,
}

/// Keywords at the root with which the members are no longer said in one place.
const APPLICATORS: [&str; 17] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "enum",
    "const",
];

impl Plan {
    /// Reads the published form, or says everything for which a query has no spelling.
    ///
    /// `dropped` are parameters that chat hosts add to links (B-27): they are taken away before anything is read.
    pub fn of(form: &CompiledForm, dropped: Vec<Dropped>) -> Result<Self, Vec<Ineligible>> {
        let mut document = Document::new();
        // What is published has been parsed before; were it not JSON, it would have no members.
        let root = document.parse(form.published().as_bytes()).ok();
        let Some((root, object)) = root.and_then(|root| Some((root, root.as_object()?))) else {
            return Err(vec![at("", "the form is not an object of members")]);
        };
        let mut faults = closed(object);
        let mut plan = Self { parameters: Vec::new(), by_name: HashMap::new(), dropped };
        let properties = object.get("properties").and_then(|properties| properties.as_object());
        for (name, schema) in properties.into_iter().flat_map(|properties| properties.members()) {
            let pointer = pointer::below("/properties", name);
            faults.extend(plan.misnamed(name).map(|reason| at(&pointer, reason)));
            match scalar(root, schema, REFERENCES) {
                Ok(scalar) => plan.add(name, scalar),
                Err(reason) => faults.push(at(&pointer, reason)),
            }
        }
        if faults.is_empty() { Ok(plan) } else { Err(faults) }
    }

    fn add(&mut self, name: &str, scalar: Scalar) {
        self.by_name.insert(name.to_owned(), self.parameters.len());
        let opening = quoted(name) + ":";
        self.parameters.push(Parameter { name: name.to_owned(), scalar, opening });
    }

    /// Why a member of this name cannot be a parameter.
    fn misnamed(&self, name: &str) -> Option<String> {
        if KEY_NAMES.contains(&name) {
            return Some(format!("a member named `{name}`: that parameter carries the key"));
        }
        if name.is_empty() || name.contains(['[', ']', '.']) {
            return Some(
                "a member whose name is empty or has `[`, `]` or `.`: readers of queries nest it".into(),
            );
        }
        if self.drops(name) {
            return Some("a member that `drop_parameters` takes away".into());
        }
        let why = "a member that looks like a secret, or like data of a person or account; a URL is no place for it";
        secret::names(name).then(|| why.into())
    }

    /// In the order of the form.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    pub(super) fn drops(&self, name: &str) -> bool {
        self.dropped.iter().any(|dropped| dropped.takes(name))
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

fn at(pointer: &str, reason: impl Into<String>) -> Ineligible {
    Ineligible { pointer: pointer.to_owned(), reason: reason.into() }
}

/// What keeps the root from being one closed object.
fn closed(root: Object<'_>) -> Vec<Ineligible> {
    let mut faults = Vec::new();
    if root.get("type").and_then(|kind| kind.as_str()) != Some("object") {
        faults.push(at("", "the root is not `\"type\": \"object\"`: a query names members"));
    }
    for keyword in APPLICATORS.into_iter().filter(|keyword| root.get(keyword).is_some()) {
        let pointer = format!("/{keyword}");
        faults.push(at(&pointer, format!("`{keyword}` at the root: members have no one type")));
    }
    if root.get("additionalProperties").and_then(|rest| rest.as_bool()) != Some(false) {
        faults.push(at("", "the object is not closed (`\"additionalProperties\": false`)"));
    }
    faults
}

/// The one scalar type of a member.
fn scalar(root: Value<'_>, schema: Value<'_>, references: usize) -> Result<Scalar, String> {
    let Some(schema) = schema.as_object() else {
        return Err("any value fits it: say `type`".into());
    };
    if let Some(kind) = schema.get("type") {
        return of_types(kind);
    }
    if let Some(value) = schema.get("const") {
        return of_values(std::iter::once(value));
    }
    if let Some(values) = schema.get("enum").and_then(|values| values.as_array()) {
        return of_values(values.elements());
    }
    match schema.get("$ref").and_then(|reference| reference.as_str()) {
        Some(reference) if references > 0 => match target(root, reference) {
            Some(target) => scalar(root, target, references - 1),
            None => {
                Err(format!("`{reference}` is not followed here: a pointer into this form is, `#/$defs/…`"))
            }
        },
        Some(_) => Err("more references than are followed".into()),
        None => Err("it has no `type`, `enum` or `const` of its own".into()),
    }
}

fn of_types(kind: Value<'_>) -> Result<Scalar, String> {
    let named = |name: &str| match name {
        "string" => Ok(Scalar::Text),
        "integer" => Ok(Scalar::Integer),
        "number" => Ok(Scalar::Number),
        "boolean" => Ok(Scalar::Boolean),
        "null" => Err("`null` has no spelling in a query".to_owned()),
        other => Err(format!("`{other}` has no spelling in a flat query")),
    };
    if let Some(name) = kind.as_str() {
        return named(name);
    }
    let names = kind.as_array().into_iter().flat_map(|names| names.elements());
    one(names.map(|name| named(name.as_str().unwrap_or_default())))
}

fn of_values<'v>(values: impl Iterator<Item = Value<'v>>) -> Result<Scalar, String> {
    one(values.map(|value| match value.kind() {
        Kind::String => Ok(Scalar::Text),
        Kind::Boolean => Ok(Scalar::Boolean),
        Kind::Number => {
            let text = value.as_number().map_or("", |number| number.text());
            Ok(if super::query::is_integer(text) { Scalar::Integer } else { Scalar::Number })
        }
        Kind::Null => Err("`null` has no spelling in a query".to_owned()),
        Kind::Array | Kind::Object => Err("an array or object has no spelling in a flat query".to_owned()),
    }))
}

/// The one type that all have; integers are numbers.
fn one(scalars: impl Iterator<Item = Result<Scalar, String>>) -> Result<Scalar, String> {
    let mut found = None;
    for scalar in scalars {
        found = Some(match (found, scalar?) {
            (None, scalar) => scalar,
            (Some(have), scalar) if have == scalar => have,
            (Some(Scalar::Integer), Scalar::Number) | (Some(Scalar::Number), Scalar::Integer) => {
                Scalar::Number
            }
            (Some(_), _) => return Err("more than one type: `7` could be text or a number".into()),
        });
    }
    found.ok_or_else(|| "nothing fits it".to_owned())
}

/// The place within the form that a reference points at; the form itself is none.
fn target<'d>(root: Value<'d>, reference: &str) -> Option<Value<'d>> {
    root.find(&pointer::of_reference(reference).filter(|pointer| !pointer.is_empty())?)
}
