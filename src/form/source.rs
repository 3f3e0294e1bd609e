//! A form's text as a tree that owns itself: members in source order, numbers as written, every
//! value with its place in the text. The validator's own `serde_json::Value` keeps none of these.

use super::FormFault;
pub(crate) use crate::json::pointer::below;
use crate::json::{Decimal, Document, Kind, SyntaxKind, Value, pointer, push_quoted, slip};

/// One JSON value of a form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Byte offset into the form's text.
    pub(crate) at: usize,
    pub(crate) tree: Tree,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Null,
    Boolean(bool),
    /// As written.
    Number(String),
    /// Unescaped.
    Text(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Reads JSON text as strictly as a body is read.
    pub(crate) fn parse(text: &str) -> Result<Self, FormFault> {
        let mut document = Document::new();
        match document.parse(text.as_bytes()) {
            Ok(value) => Ok(Self::of(value)),
            Err(fault) => Err(FormFault {
                pointer: String::new(),
                // The end is where something stands, not the line behind it.
                at: fault.at.min(text.trim_end().len()),
                reason: syntax_reason(fault.kind).to_owned(),
                suggestion: match fault.kind {
                    SyntaxKind::Grammar => slip(text, fault.at).map(ToOwned::to_owned),
                    SyntaxKind::Empty
                    | SyntaxKind::Encoding
                    | SyntaxKind::Surrogate
                    | SyntaxKind::Trailing
                    | SyntaxKind::Duplicate
                    | SyntaxKind::Depth
                    | SyntaxKind::NumberInexact => None,
                },
                lint: None,
            }),
        }
    }

    /// A value that has been parsed, with all that is in it.
    pub(crate) fn of(value: Value<'_>) -> Self {
        let tree = match value.kind() {
            Kind::Null => Tree::Null,
            Kind::Boolean => Tree::Boolean(value.as_bool().unwrap_or_default()),
            Kind::Number => {
                Tree::Number(value.as_number().map(|number| number.text().to_owned()).unwrap_or_default())
            }
            Kind::String => Tree::Text(value.as_str().unwrap_or_default().to_owned()),
            Kind::Array => Tree::Array(
                value
                    .as_array()
                    .into_iter()
                    .flat_map(|array| array.elements().collect::<Vec<_>>())
                    .map(Self::of)
                    .collect(),
            ),
            Kind::Object => Tree::Object(
                value
                    .as_object()
                    .into_iter()
                    .flat_map(|object| object.members().collect::<Vec<_>>())
                    .map(|(name, member)| (name.to_owned(), Self::of(member)))
                    .collect(),
            ),
        };
        Self { at: value.span().start, tree }
    }

    /// A value that stands nowhere in the text: made while unrolling.
    pub(crate) fn made(tree: Tree) -> Self {
        Self { at: 0, tree }
    }

    pub(crate) fn members(&self) -> &[(String, Self)] {
        match &self.tree {
            Tree::Object(members) => members,
            Tree::Null | Tree::Boolean(_) | Tree::Number(_) | Tree::Text(_) | Tree::Array(_) => &[],
        }
    }

    pub(crate) fn elements(&self) -> &[Self] {
        match &self.tree {
            Tree::Array(elements) => elements,
            Tree::Null | Tree::Boolean(_) | Tree::Number(_) | Tree::Text(_) | Tree::Object(_) => &[],
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(member, _)| member == name).map(|(_, value)| value)
    }

    /// The member of this name, or the element of this number: one token of a JSON Pointer.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        match &self.tree {
            Tree::Array(elements) => elements.get(pointer::index(name)?),
            Tree::Object(_) => self.get(name),
            Tree::Null | Tree::Boolean(_) | Tree::Number(_) | Tree::Text(_) => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Tree::Text(text) = &self.tree { Some(text) } else { None }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Tree::Boolean(value) = self.tree { Some(value) } else { None }
    }

    pub(crate) fn as_number(&self) -> Option<&str> {
        if let Tree::Number(text) = &self.tree { Some(text) } else { None }
    }

    /// A count: a non-negative integer, however it is written.
    pub(crate) fn as_count(&self) -> Option<u64> {
        Decimal::read(self.as_number()?)?.as_u64()
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.tree, Tree::Object(_))
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self.tree, Tree::Array(_))
    }

    /// An object or a boolean: what may stand where a schema is asked.
    pub(crate) fn is_schema(&self) -> bool {
        matches!(self.tree, Tree::Object(_) | Tree::Boolean(_))
    }

    pub(crate) fn has_number(&self) -> bool {
        match &self.tree {
            Tree::Number(_) => true,
            Tree::Array(elements) => elements.iter().any(Self::has_number),
            Tree::Object(members) => members.iter().any(|(_, value)| value.has_number()),
            Tree::Null | Tree::Boolean(_) | Tree::Text(_) => false,
        }
    }

    /// Whether [`Self::to_serde`] changes the value of a number.
    pub(crate) fn is_rounded(&self) -> bool {
        match &self.tree {
            Tree::Number(text) => Decimal::read(text) != Decimal::read(&near(text).to_string()),
            Tree::Array(elements) => elements.iter().any(Self::is_rounded),
            Tree::Object(members) => members.iter().any(|(_, value)| value.is_rounded()),
            Tree::Null | Tree::Boolean(_) | Tree::Text(_) => false,
        }
    }

    /// The value for machinery that wants one. Numbers come as near as `f64`, `i64` and `u64` can:
    /// what must be exact is taken from the text instead.
    pub(crate) fn to_serde(&self) -> serde_json::Value {
        use serde_json::Value as Serde;
        match &self.tree {
            Tree::Null => Serde::Null,
            Tree::Boolean(value) => Serde::Bool(*value),
            Tree::Number(text) => Serde::Number(near(text)),
            Tree::Text(text) => Serde::String(text.clone()),
            Tree::Array(elements) => Serde::Array(elements.iter().map(Self::to_serde).collect()),
            Tree::Object(members) => {
                Serde::Object(members.iter().map(|(name, value)| (name.clone(), value.to_serde())).collect())
            }
        }
    }

    /// Compact JSON text.
    pub(crate) fn print(&self, out: &mut String) {
        match &self.tree {
            Tree::Null => out.push_str("null"),
            Tree::Boolean(true) => out.push_str("true"),
            Tree::Boolean(false) => out.push_str("false"),
            Tree::Number(text) => out.push_str(text),
            Tree::Text(text) => push_quoted(text, out),
            Tree::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.print(out);
                }
                out.push(']');
            }
            Tree::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    push_quoted(name, out);
                    out.push(':');
                    value.print(out);
                }
                out.push('}');
            }
        }
    }

    pub(crate) fn printed(&self) -> String {
        let mut out = String::new();
        self.print(&mut out);
        out
    }
}

/// Parsed by the standard library: `serde_json` without `float_roundtrip` may miss by one unit.
fn near(text: &str) -> serde_json::Number {
    if let Ok(integer) = text.parse::<u64>() {
        return integer.into();
    }
    if let Ok(integer) = text.parse::<i64>() {
        return integer.into();
    }
    let double: f64 = text.parse().unwrap_or_default();
    serde_json::Number::from_f64(double.clamp(f64::MIN, f64::MAX)).unwrap_or_else(|| 0.into())
}

/// JSON text without the white space between its tokens; strings and numbers stay as written.
pub(crate) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for character in text.chars() {
        if quoted {
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if matches!(character, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            quoted = character == '"';
        }
        out.push(character);
    }
    out
}

fn syntax_reason(kind: SyntaxKind) -> &'static str {
    match kind {
        SyntaxKind::Empty => "the form is empty",
        SyntaxKind::Encoding => "not UTF-8, or it starts with a byte-order mark",
        SyntaxKind::Grammar => "not JSON",
        SyntaxKind::Surrogate => "half of a surrogate pair",
        SyntaxKind::Trailing => "something follows the value",
        SyntaxKind::Duplicate => {
            "a member name twice in one object: readers would differ on which one counts"
        }
        SyntaxKind::Depth => "nested too deep",
        SyntaxKind::NumberInexact => {
            "a number with more than 64 significant digits or 1000 bytes, an exponent beyond ±400, or no double near it"
        }
    }
}
