//! Keywords decided from the texts of the form and of the body, in place of the validator's own,
//! which decide through `f64`.

use super::dialect::{Chart, Mode, Step};
use super::source::{Node, Tree};
use crate::json::{Decimal, Kind, Number, Strict, Value};
use jsonschema::{Keyword, ValidationError};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Whether a body's value equals one of the form, numbers by value.
pub(crate) fn equal(expected: &Node, value: Value<'_>) -> bool {
    match &expected.tree {
        Tree::Null => value.is_null(),
        Tree::Boolean(flag) => value.as_bool() == Some(*flag),
        Tree::Number(text) => value
            .as_number()
            .is_some_and(|number| Decimal::read(text).is_some_and(|expected| number.decimal() == expected)),
        Tree::Text(text) => value.as_str() == Some(text.as_str()),
        Tree::Array(elements) => value.as_array().is_some_and(|array| {
            array.len() == elements.len()
                && elements.iter().zip(array.elements()).all(|(expected, element)| equal(expected, element))
        }),
        Tree::Object(members) => value.as_object().is_some_and(|object| {
            object.len() == members.len()
                && members
                    .iter()
                    .all(|(name, expected)| object.get(name).is_some_and(|member| equal(expected, member)))
        }),
    }
}

/// A keyword about numbers.
#[derive(Debug, Clone)]
pub(crate) enum Limit {
    /// `minimum`, or `exclusiveMinimum` where `open`.
    Minimum {
        limit: Decimal,
        open: bool,
    },
    /// `maximum`, or `exclusiveMaximum` where `open`.
    Maximum {
        limit: Decimal,
        open: bool,
    },
    MultipleOf(Decimal),
}

impl Limit {
    pub(crate) fn admits(&self, number: Decimal) -> bool {
        match self {
            Self::Minimum { limit, open } => match number.cmp(limit) {
                Ordering::Less => false,
                Ordering::Equal => !open,
                Ordering::Greater => true,
            },
            Self::Maximum { limit, open } => match number.cmp(limit) {
                Ordering::Less => true,
                Ordering::Equal => !open,
                Ordering::Greater => false,
            },
            Self::MultipleOf(divisor) => number.is_multiple_of(divisor),
        }
    }
}

/// A keyword decided from the texts of the form and of the body.
#[derive(Debug)]
pub(crate) enum Exact {
    Limit(Limit),
    /// `const` (one value) and `enum`: numbers, read once, and the others.
    OneOf {
        numbers: HashSet<Decimal>,
        others: Vec<Node>,
    },
    /// `type` as a backend reads it that cannot hold every integer: see [`super::Numbers`].
    SafeType(Vec<String>),
    /// Stands before a reference where references are counted: see [`super::effort`].
    Counted,
}

/// 2^53 − 1, the largest integer that every `f64` reader keeps apart from its neighbours.
const SAFE: u64 = (1 << 53) - 1;

impl Exact {
    /// One of these values.
    pub(crate) fn one_of(values: &[Node]) -> Self {
        let numbers = values.iter().filter_map(Node::as_number).filter_map(Decimal::read).collect();
        let others = values.iter().filter(|value| value.as_number().is_none()).cloned().collect();
        Self::OneOf { numbers, others }
    }

    fn admits(&self, value: Value<'_>) -> bool {
        match self {
            Self::Limit(limit) => value.as_number().is_none_or(|number| limit.admits(number.decimal())),
            Self::Counted => super::effort::follow(),
            Self::OneOf { numbers, others } => match value.as_number() {
                Some(number) => numbers.contains(&number.decimal()),
                None => others.iter().any(|expected| equal(expected, value)),
            },
            Self::SafeType(types) => types.iter().any(|name| match value.kind() {
                Kind::Null => name == "null",
                Kind::Boolean => name == "boolean",
                Kind::String => name == "string",
                Kind::Array => name == "array",
                Kind::Object => name == "object",
                Kind::Number => {
                    name == "number"
                        || name == "integer"
                            && value.as_number().is_some_and(|number| number.is_written_as_integer())
                }
            }),
        }
    }
}

/// Whether an integer lies within ±(2^53−1); other numbers pass.
fn safe(number: Number<'_>) -> bool {
    !number.is_integer() || number.as_i64().is_some_and(|integer| integer.unsigned_abs() <= SAFE)
}

/// Whether no integer anywhere in the value lies beyond ±(2^53−1). As deep as the parser lets it.
pub(crate) fn all_safe(value: Value<'_>) -> bool {
    if let Some(number) = value.as_number() {
        return safe(number);
    }
    if let Some(array) = value.as_array() {
        return array.elements().all(all_safe);
    }
    if let Some(object) = value.as_object() {
        return object.members().all(|(_, member)| all_safe(member));
    }
    true
}

/// Whether a form may admit a number where no `type` says `integer`, or asks by one what is not: then how a number is
/// written may decide otherwise than its value, and what holds of values does not hold of texts.
pub(crate) fn is_loose(chart: &Chart<'_>) -> bool {
    chart.places.iter().any(|place| {
        let node = place.node;
        if node.as_bool() == Some(false) {
            return false;
        }
        if matches!(place.parent, Some((_, Step::InPlace(Mode::Not | Mode::Condition)))) {
            return true;
        }
        let said = node.get("type").map(|given| match &given.tree {
            Tree::Array(names) => names.iter().filter_map(Node::as_text).collect(),
            Tree::Text(name) => vec![name.as_str()],
            Tree::Null | Tree::Boolean(_) | Tree::Number(_) | Tree::Object(_) => Vec::new(),
        });
        let elsewhere = ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|keyword| node.get(keyword).is_some());
        let listed: Vec<&Node> = node
            .get("enum")
            .map(Node::elements)
            .unwrap_or_default()
            .iter()
            .chain(node.get("const"))
            .collect();
        match said {
            Some(names) => names.contains(&"number"),
            None if listed.is_empty() => !elsewhere,
            None => !listed
                .iter()
                .all(|value| matches!(value.tree, Tree::Text(_) | Tree::Boolean(_) | Tree::Null)),
        }
    })
}

impl<'i> Keyword<'i, Strict> for Exact {
    fn validate(&self, instance: Value<'i>) -> Result<(), ValidationError<'i>> {
        if self.admits(instance) {
            Ok(())
        } else {
            // The text goes nowhere: `mismatch` reads the pointers only.
            Err(ValidationError::custom("not admitted"))
        }
    }

    fn is_valid(&self, instance: Value<'i>) -> bool {
        self.admits(instance)
    }
}
