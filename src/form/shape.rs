//! The values that keywords may have.

use super::draft::Draft;
use super::keywords::Shape;
use super::pattern;
use super::source::{Node, Tree, below};
use super::suggestion::nearest;
use crate::json::Decimal;
use std::collections::HashSet;

/// What is wrong with a value: where (a pointer and an offset), why, and what instead.
pub(crate) struct Misshapen {
    pub(crate) pointer: String,
    pub(crate) at: usize,
    pub(crate) reason: String,
    pub(crate) suggestion: Option<String>,
}

const TYPES: &[&str] = &["null", "boolean", "object", "array", "number", "string", "integer"];

/// What the validator decodes (RFC 4648).
const ENCODINGS: &[&str] = &["base64", "base64url", "base32", "base32hex", "base16"];

/// Holds a keyword's value against its shape. Schemas within it are the walk's to look at.
pub(crate) fn check(name: &str, value: &Node, shape: Shape, draft: Draft, pointer: &str) -> Vec<Misshapen> {
    let mut check = Check { name, draft, pointer, found: Vec::new() };
    check.hold(value, shape);
    check.found
}

struct Check<'c> {
    name: &'c str,
    draft: Draft,
    pointer: &'c str,
    found: Vec<Misshapen>,
}

impl Check<'_> {
    fn wrong(&mut self, value: &Node, reason: impl Into<String>, suggestion: Option<String>) {
        self.found.push(Misshapen {
            pointer: self.pointer.to_owned(),
            at: value.at,
            reason: reason.into(),
            suggestion,
        });
    }

    fn must(&mut self, holds: bool, value: &Node, what: &str) {
        if !holds {
            let reason = format!("`{}` takes {what}", self.name);
            self.wrong(value, reason, None);
        }
    }

    fn hold(&mut self, value: &Node, shape: Shape) {
        let boolean =
            if self.draft >= Draft::Six { "a schema, an object or a boolean" } else { "a schema, an object" };
        match shape {
            Shape::Any => {}
            Shape::Text | Shape::Reference | Shape::Identifier | Shape::Dialect => {
                self.must(value.as_text().is_some(), value, "a string");
            }
            Shape::Flag => self.must(value.as_bool().is_some(), value, "true or false"),
            Shape::List => self.must(value.is_array(), value, "an array"),
            Shape::Anchor => self.must(
                value.as_text().is_some_and(is_anchor),
                value,
                "a name: a letter or `_`, then letters, digits, `-`, `_` and `.`",
            ),
            Shape::Types => self.types(value),
            Shape::Values => {
                self.must(value.is_array(), value, "an array");
                if value.is_array() && value.elements().is_empty() {
                    self.wrong(value, "an empty `enum` admits nothing", None);
                }
            }
            Shape::Divisor => {
                let divisor = value.as_number().and_then(Decimal::read);
                self.must(
                    divisor.is_some_and(|divisor| divisor > Decimal::ZERO),
                    value,
                    "a number above zero",
                );
            }
            Shape::Number => self.must(value.as_number().is_some(), value, "a number"),
            Shape::Count => {
                self.must(value.as_count().is_some(), value, "an integer, not negative and below 2^64");
            }
            Shape::Pattern => self.pattern(value, value.as_text()),
            Shape::Format => self.format(value),
            Shape::Names => self.names(value, false),
            Shape::SomeNames => self.names(value, true),
            Shape::NamesByName => {
                self.must(value.is_object(), value, "an object of arrays of names");
                for (_, names) in value.members() {
                    self.names(names, false);
                }
            }
            Shape::Schema => self.must(self.is_schema(value), value, boolean),
            Shape::Schemas => self.schemas(value),
            Shape::SchemaOrSchemas => {
                if value.is_array() {
                    self.schemas(value);
                } else {
                    self.must(self.is_schema(value), value, "a schema, or an array of them");
                }
            }
            Shape::SchemasByName => {
                self.must(value.is_object(), value, "an object of schemas");
                self.each_schema(value);
            }
            Shape::SchemasByPattern => {
                self.must(value.is_object(), value, "an object of schemas");
                for (pattern, schema) in value.members() {
                    self.pattern(schema, Some(pattern));
                }
                self.each_schema(value);
            }
            Shape::Dependencies => {
                self.must(value.is_object(), value, "an object of schemas or name lists");
                for (_, dependency) in value.members() {
                    if dependency.is_array() {
                        self.names(dependency, self.draft == Draft::Four);
                    } else {
                        self.must(self.is_schema(dependency), dependency, boolean);
                    }
                }
            }
            Shape::Encoding => self.must(
                value.as_text().is_some_and(|name| ENCODINGS.contains(&name)),
                value,
                "`base64`, `base64url`, `base32`, `base32hex` or `base16`: no other is checked",
            ),
            Shape::MediaType => self.must(
                value.as_text() == Some("application/json"),
                value,
                "`application/json`: no other media type is checked",
            ),
        }
    }

    /// Booleans are schemas from draft 06; in draft 04 only where `additional…` takes them.
    fn is_schema(&self, value: &Node) -> bool {
        value.is_object()
            || value.as_bool().is_some() && (self.draft >= Draft::Six || self.name.starts_with("additional"))
    }

    fn schemas(&mut self, value: &Node) {
        let holds = value.is_array() && !value.elements().is_empty();
        // Up to draft 07 `items` may be an empty array; it then constrains nothing by itself.
        let empty_items = self.name == "items" && value.is_array();
        self.must(holds || empty_items, value, "an array of schemas, not empty");
        for schema in value.elements() {
            self.must(self.is_schema(schema), schema, "schemas");
        }
    }

    fn each_schema(&mut self, value: &Node) {
        for (name, schema) in value.members() {
            if !self.is_schema(schema) {
                self.found.push(Misshapen {
                    pointer: below(self.pointer, name),
                    at: schema.at,
                    reason: "not a schema".to_owned(),
                    suggestion: None,
                });
            }
        }
    }

    fn types(&mut self, value: &Node) {
        let names: Vec<&Node> = match &value.tree {
            Tree::Array(elements) => elements.iter().collect(),
            Tree::Text(_) => vec![value],
            Tree::Null | Tree::Boolean(_) | Tree::Number(_) | Tree::Object(_) => Vec::new(),
        };
        self.must(!names.is_empty(), value, "a type name, or an array of them");
        let mut seen = HashSet::new();
        for node in names {
            let Some(name) = node.as_text() else {
                self.must(false, node, "type names");
                continue;
            };
            if !TYPES.contains(&name) {
                let near = match name {
                    "int" | "int32" | "int64" | "long" => Some("integer"),
                    "str" | "text" => Some("string"),
                    "bool" => Some("boolean"),
                    "float" | "double" | "decimal" => Some("number"),
                    "list" => Some("array"),
                    "dict" | "map" | "struct" => Some("object"),
                    "none" | "nil" => Some("null"),
                    _ => nearest(name, TYPES.iter().copied()),
                };
                self.wrong(node, format!("`{name}` is not a type"), near.map(|near| format!("`{near}`")));
            } else if !seen.insert(name) {
                self.wrong(node, format!("`{name}` stands twice"), None);
            }
        }
    }

    fn names(&mut self, value: &Node, some: bool) {
        let suggestion = (self.name == "required" && value.as_bool().is_some())
            .then(|| "list the name in `required` of the object that holds this".to_owned());
        if !value.is_array() || some && value.elements().is_empty() {
            let what = if some { "an array of names, not empty" } else { "an array of names" };
            let reason = format!("`{}` takes {what}", self.name);
            self.wrong(value, reason, suggestion);
        }
        let mut seen = HashSet::new();
        for node in value.elements() {
            match node.as_text() {
                None => self.must(false, node, "names"),
                Some(name) if !seen.insert(name) => {
                    self.wrong(node, format!("`{name}` stands twice"), None);
                }
                Some(_) => {}
            }
        }
    }

    fn format(&mut self, value: &Node) {
        let Some(name) = value.as_text() else {
            self.must(false, value, "a string");
            return;
        };
        if !self.draft.checks_format(name) {
            let near = nearest(name, self.draft.formats()).map(|near| format!("`{near}`"));
            self.wrong(
                value,
                format!("the format `{name}` is not checked in {}", self.draft.name()),
                near.or_else(|| Some("a `pattern`".to_owned())),
            );
        }
    }

    fn pattern(&mut self, value: &Node, pattern: Option<&str>) {
        let Some(pattern) = pattern else {
            self.must(false, value, "a string");
            return;
        };
        let pointer =
            if value.as_text().is_some() { self.pointer.to_owned() } else { below(self.pointer, pattern) };
        let (reason, suggestion) = match pattern::read(pattern) {
            Err(fault) => (
                format!("pattern, character {}: {}", fault.at + 1, fault.reason),
                fault.instead.map(ToOwned::to_owned),
            ),
            Ok(_) if !super::enforced::compiles(pattern) => (
                "the pattern is too large for the engine".to_owned(),
                Some("smaller repetition counts".to_owned()),
            ),
            Ok(_) => return,
        };
        self.found.push(Misshapen { pointer, at: value.at, reason, suggestion });
    }
}

/// `^[A-Za-z_][-A-Za-z0-9._]*$`, as the meta-schemas say.
fn is_anchor(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}
