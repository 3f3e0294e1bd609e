//! Which constructs a form has, and where: one walk over its published text.

mod terms;

use super::Construct;
use crate::json::pointer::{self, below};
use crate::json::schema::{count, elements, get, members, types};
use crate::json::{Document, Kind, Value};
use std::collections::BTreeSet;
use terms::{has, of_format, of_pattern, texts};

/// A construct at a place: a JSON Pointer into the form.
pub(super) type Sighting = (String, Construct);

/// Every construct of a form, in the order of the text. `text` is a form that loads.
pub(super) fn survey(text: &str) -> Vec<Sighting> {
    let mut document = Document::new();
    let Ok(root) = document.parse(text.as_bytes()) else { return Vec::new() };
    let mut walk = Walk { root, seen: Vec::new(), open: Vec::new(), done: BTreeSet::new() };
    walk.root();
    walk.seen
}

struct Walk<'d> {
    root: Value<'d>,
    seen: Vec<Sighting>,
    /// References being followed.
    open: Vec<String>,
    /// References that have been.
    done: BTreeSet<String>,
}

/// Keywords that assert nothing.
const SILENT: &[&str] = &[
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$defs",
    "definitions",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

impl<'d> Walk<'d> {
    fn see(&mut self, pointer: &str, construct: Construct) {
        let sighting = (pointer.to_owned(), construct);
        if !self.seen.contains(&sighting) {
            self.seen.push(sighting);
        }
    }

    fn root(&mut self) {
        let root = self.root;
        if has(root, &["anyOf", "oneOf"]) {
            self.see("", Construct::RootAlternatives);
        }
        let kinds = types(self.resolved(root));
        let objects = kinds == ["object"]
            || kinds.is_empty() && has(self.resolved(root), &["properties", "anyOf", "oneOf", "allOf"]);
        if !objects {
            self.see("", Construct::ScalarRoot);
        }
        self.schema(root, "");
    }

    /// What a reference leads to, or the schema itself.
    fn resolved(&self, schema: Value<'d>) -> Value<'d> {
        let reference = get(schema, "$ref").and_then(|reference| reference.as_str());
        reference.and_then(|reference| self.find(reference)).unwrap_or(schema)
    }

    fn find(&self, reference: &str) -> Option<Value<'d>> {
        self.root.find(&pointer::of_reference(reference)?)
    }

    fn schema(&mut self, schema: Value<'d>, pointer: &str) {
        if let Some(flag) = schema.as_bool() {
            if flag {
                self.see(pointer, Construct::Anything);
            }
            return;
        }
        let said: Vec<&str> = schema
            .as_object()
            .into_iter()
            .flat_map(|object| object.members().map(|(name, _)| name).collect::<Vec<_>>())
            .filter(|name| !SILENT.contains(name))
            .collect();
        if has(schema, &["default"]) {
            self.see(pointer, Construct::Default);
        }
        if said.is_empty() {
            self.see(pointer, Construct::Anything);
            return;
        }
        self.reference(schema, pointer, said.len());
        self.in_place(schema, pointer, &said);
        let listed = has(schema, &["enum", "const"]);
        self.literals(schema, pointer);
        let kinds = types(schema);
        let placed = ["$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf", "not", "if"];
        if kinds.is_empty() && !listed && said.iter().any(|name| !placed.contains(name)) {
            self.see(pointer, Construct::Untyped);
        }
        if kinds.len() > 1 {
            let or_null = kinds.len() == 2 && kinds.contains(&"null");
            self.see(pointer, if or_null { Construct::TypeOrNull } else { Construct::TypeUnion });
        }
        let of = |kind: &str, keywords: &[&str]| {
            kinds.contains(&kind) || kinds.is_empty() && has(schema, keywords)
        };
        if of("object", &["properties", "required", "additionalProperties", "patternProperties"]) && !listed {
            self.object(schema, pointer);
        }
        if of("array", &["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"])
            && !listed
        {
            self.array(schema, pointer);
        }
        if of("string", &["pattern", "format", "minLength", "maxLength"]) && !listed {
            self.text(schema, pointer);
        }
        if has(schema, &["contentEncoding", "contentMediaType"]) {
            self.see(pointer, Construct::Content);
        }
        let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
        if (kinds.contains(&"integer") || of("number", &bounds)) && !listed {
            self.number(schema, pointer, kinds.contains(&"integer"));
        }
        if (kinds.contains(&"boolean") || kinds.contains(&"null")) && !listed {
            self.see(pointer, Construct::BooleanNull);
        }
    }

    fn reference(&mut self, schema: Value<'d>, pointer: &str, said: usize) {
        if has(schema, &["$dynamicRef", "$recursiveRef"]) {
            self.see(pointer, Construct::Recursion);
        }
        let Some(reference) = get(schema, "$ref").and_then(|reference| reference.as_str()) else { return };
        self.see(pointer, Construct::Reference);
        if said > 1 {
            self.see(pointer, Construct::ReferenceWithSiblings);
        }
        if self.open.iter().any(|open| open == reference) || reference == "#" {
            self.see(pointer, Construct::Recursion);
            return;
        }
        if self.open.len() >= 3 {
            self.see(pointer, Construct::DeepReferences);
        }
        if !self.done.insert(reference.to_owned()) {
            return;
        }
        let Some(target) = self.find(reference) else {
            // By anchor or identifier: what decoders make of these was not looked at.
            self.see(pointer, Construct::ReferenceWithSiblings);
            return;
        };
        self.open.push(reference.to_owned());
        self.schema(target, reference.trim_start_matches('#'));
        self.open.pop();
    }

    fn in_place(&mut self, schema: Value<'d>, pointer: &str, said: &[&str]) {
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let branches = elements(schema, keyword);
            if branches.is_empty() {
                continue;
            }
            let construct = match keyword {
                "anyOf" => Construct::AnyOf,
                "allOf" => Construct::AllOf,
                _ if self.are_apart(&branches) => Construct::OneOfApart,
                _ => Construct::OneOfOverlapping,
            };
            self.see(pointer, construct);
            if said.len() > 1 {
                self.see(pointer, Construct::AlternativesWithSiblings);
            }
            for (index, branch) in branches.into_iter().enumerate() {
                self.schema(branch, &format!("{pointer}/{keyword}/{index}"));
            }
        }
        let alone = [
            ("not", Construct::Not),
            ("if", Construct::Condition),
            ("dependentRequired", Construct::Dependent),
            ("dependentSchemas", Construct::Dependent),
            ("dependencies", Construct::Dependencies),
            ("unevaluatedProperties", Construct::Unevaluated),
            ("unevaluatedItems", Construct::Unevaluated),
        ];
        // What stands within these adds nothing: they are held whole, or not at all.
        for (keyword, construct) in alone {
            if has(schema, &[keyword]) {
                self.see(pointer, construct);
            }
        }
    }

    /// Whether no value fits two of them, seen by a constant member or by types.
    fn are_apart(&self, branches: &[Value<'d>]) -> bool {
        let apart = |one: Value<'d>, other: Value<'d>| {
            let (one, other) = (self.resolved(one), self.resolved(other));
            let (kinds, others) = (types(one), types(other));
            let number = |kinds: &[&str]| kinds.contains(&"number") || kinds.contains(&"integer");
            let share = kinds.iter().any(|kind| others.contains(kind)) || number(&kinds) && number(&others);
            if !kinds.is_empty() && !others.is_empty() && !share {
                return true;
            }
            let required = |schema: Value<'d>, name: &str| {
                elements(schema, "required").into_iter().any(|required| required.as_str() == Some(name))
            };
            members(one, "properties").into_iter().any(|(name, schema)| {
                let other_schema = members(other, "properties").into_iter().find(|(other, _)| *other == name);
                other_schema.is_some_and(|(_, other_schema)| {
                    let (values, others) = (texts(schema), texts(other_schema));
                    required(one, name)
                        && required(other, name)
                        && !values.is_empty()
                        && !others.is_empty()
                        && !values.iter().any(|value| others.contains(value))
                })
            })
        };
        branches
            .iter()
            .enumerate()
            .all(|(at, one)| branches[at + 1..].iter().all(|other| apart(*one, *other)))
    }

    fn literals(&mut self, schema: Value<'d>, pointer: &str) {
        let container = |value: &Value<'_>| matches!(value.kind(), Kind::Object | Kind::Array);
        let values = elements(schema, "enum");
        if values.iter().any(container) || get(schema, "const").is_some_and(|value| container(&value)) {
            self.see(pointer, Construct::EnumOfContainers);
        } else if values.iter().any(|value| matches!(value.kind(), Kind::Null | Kind::Boolean)) {
            self.see(pointer, Construct::EnumOfLiterals);
        } else if !values.is_empty() {
            self.see(pointer, Construct::Enum);
        } else if has(schema, &["const"]) {
            self.see(pointer, Construct::Const);
        }
    }

    fn object(&mut self, schema: Value<'d>, pointer: &str) {
        let known = members(schema, "properties");
        let required: Vec<&str> =
            elements(schema, "required").into_iter().filter_map(|name| name.as_str()).collect();
        let patterns = members(schema, "patternProperties");
        let others = get(schema, "additionalProperties");
        match others {
            Some(others) if others.as_bool() == Some(false) => {
                // An empty `properties` says that it is an object, to a decoder that needs to be told.
                let bare = !has(schema, &["properties"]);
                let construct = if bare { Construct::NoMembers } else { Construct::ClosedObject };
                if patterns.is_empty() {
                    self.see(pointer, construct);
                }
            }
            Some(others)
                if others.as_bool() == Some(true)
                    || others.as_object().is_some_and(|schema| schema.members().next().is_none()) =>
            {
                self.see(pointer, Construct::OpenObject);
            }
            Some(others) => {
                self.see(pointer, Construct::Map);
                self.schema(others, &below(pointer, "additionalProperties"));
            }
            None if has(schema, &["unevaluatedProperties"]) => {}
            None => self.see(pointer, Construct::OpenObjectUnsaid),
        }
        if known.iter().any(|(name, _)| !required.contains(name)) {
            self.see(pointer, Construct::OptionalMember);
        }
        for (keyword, construct) in [
            ("patternProperties", Construct::PatternProperties),
            ("propertyNames", Construct::PropertyNames),
            ("minProperties", Construct::MemberCount),
            ("maxProperties", Construct::MemberCount),
        ] {
            if has(schema, &[keyword]) {
                self.see(pointer, construct);
            }
        }
        for (keyword, schemas) in [("properties", known), ("patternProperties", patterns)] {
            for (name, member) in schemas {
                self.schema(member, &below(&below(pointer, keyword), name));
            }
        }
    }

    fn array(&mut self, schema: Value<'d>, pointer: &str) {
        let least = count(schema, "minItems").unwrap_or(0);
        if least > 1 {
            self.see(pointer, Construct::ManyItems);
        } else if has(schema, &["minItems", "maxItems"]) {
            self.see(pointer, Construct::ArrayBounds);
        }
        let first = elements(schema, "prefixItems");
        match get(schema, "items") {
            Some(items) if items.kind() == Kind::Array => {
                self.see(pointer, Construct::ItemsArray);
                for (index, item) in elements(schema, "items").into_iter().enumerate() {
                    self.schema(item, &format!("{pointer}/items/{index}"));
                }
            }
            Some(items) => {
                if !has(schema, &["maxItems"]) && items.as_bool() != Some(false) {
                    self.see(pointer, Construct::UnboundedArray);
                }
                self.schema(items, &below(pointer, "items"));
            }
            None => {
                if !has(schema, &["maxItems"]) {
                    self.see(pointer, Construct::UnboundedArray);
                }
                self.see(pointer, Construct::UntypedItems);
            }
        }
        if !first.is_empty() {
            self.see(pointer, Construct::PrefixItems);
            for (index, item) in first.into_iter().enumerate() {
                self.schema(item, &format!("{pointer}/prefixItems/{index}"));
            }
        }
        if get(schema, "uniqueItems").and_then(|flag| flag.as_bool()) == Some(true) {
            self.see(pointer, Construct::UniqueItems);
        }
        if has(schema, &["contains"]) {
            self.see(pointer, Construct::Contains);
        }
    }

    fn text(&mut self, schema: Value<'d>, pointer: &str) {
        let length = has(schema, &["minLength", "maxLength"]);
        let pattern = get(schema, "pattern").and_then(|pattern| pattern.as_str());
        let format = get(schema, "format").and_then(|format| format.as_str());
        if let Some(pattern) = pattern {
            self.see(pointer, of_pattern(pattern));
            if length {
                self.see(pointer, Construct::PatternWithLength);
            }
        }
        if let Some(format) = format {
            self.see(pointer, of_format(format));
            if length || pattern.is_some() {
                self.see(pointer, Construct::FormatWithLength);
            }
        }
        if pattern.is_none() && format.is_none() {
            let bounded = has(schema, &["maxLength"]);
            if length {
                self.see(pointer, Construct::Length);
            }
            if !bounded {
                self.see(pointer, Construct::UnboundedString);
            }
        }
    }

    fn number(&mut self, schema: Value<'d>, pointer: &str, integer: bool) {
        let limits = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
        let flag = |keyword: &&str| get(schema, keyword).is_some_and(|value| value.as_bool().is_some());
        if limits.iter().any(flag) {
            self.see(pointer, Construct::ExclusiveFlag);
        } else if has(schema, &limits[2..]) {
            self.see(pointer, Construct::ExclusiveBounds);
        }
        self.see(
            pointer,
            match (has(schema, &limits), integer) {
                (true, true) => Construct::IntegerBounds,
                (true, false) => Construct::NumberBounds,
                (false, true) => Construct::UnboundedInteger,
                (false, false) => Construct::UnboundedNumber,
            },
        );
        if let Some(divisor) = get(schema, "multipleOf").and_then(|divisor| divisor.as_number()) {
            let whole = integer && !divisor.text().contains(['.', 'e', 'E']);
            self.see(
                pointer,
                if whole { Construct::MultipleOfInteger } else { Construct::MultipleOfFraction },
            );
        }
    }
}
