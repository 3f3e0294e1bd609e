//! Equality as JSON Schema has it (numbers by value, members in any order), and `uniqueItems`.
//!
//! Uniqueness sorts. First by what a slot says of a whole subtree at no cost: kind, children, size.
//! Only elements that agree so far are hashed, with a key of this process, and only those with
//! equal hashes compared. An element is looked into at some level only beside another of its size,
//! so whatever is looked into again further out has at least doubled: n log n even where nested
//! arrays are each held to be unique.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::LazyLock;

use super::{Array, Kind, Object, Value};

/// Secret, so that nobody can prepare many unequal values of one hash.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Up to as many elements are compared each with each.
const FEW: usize = 4;

impl PartialEq for Value<'_> {
    /// Equal as JSON Schema has it: numbers by value, members in any order.
    fn eq(&self, other: &Self) -> bool {
        if shape(*self) != shape(*other) {
            return false;
        }
        match self.kind() {
            Kind::Null => true,
            Kind::Boolean => self.as_bool() == other.as_bool(),
            Kind::Number => self.as_number() == other.as_number(),
            Kind::String => self.as_str() == other.as_str(),
            Kind::Array => self.as_array() == other.as_array(),
            Kind::Object => self.as_object() == other.as_object(),
        }
    }
}

impl Eq for Value<'_> {}

impl PartialEq for Array<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.elements().eq(other.elements())
    }
}

impl Eq for Array<'_> {}

impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.members().zip(other.members()).all(|((name, value), (other_name, there))| {
                // Mostly both were written in one order.
                let there = if name == other_name { Some(there) } else { other.get(name) };
                there == Some(value)
            })
    }
}

impl Eq for Object<'_> {}

impl Array<'_> {
    /// Whether no two elements are equal.
    pub fn is_unique(&self) -> bool {
        if self.len() <= FEW {
            let mut rest = self.elements();
            while let Some(element) = rest.next() {
                if rest.clone().any(|other| other == element) {
                    return false;
                }
            }
            return true;
        }
        let mut by_shape: Vec<_> = self.elements().map(|element| (shape(element), element)).collect();
        by_shape.sort_unstable_by_key(|(shape, _)| *shape);
        by_shape.chunk_by(|a, b| a.0 == b.0).all(alike_are_unique)
    }
}

/// Whether no two of these elements of one shape are equal.
fn alike_are_unique(alike: &[(Shape, Value<'_>)]) -> bool {
    if alike.len() < 2 {
        return true;
    }
    let mut by_hash: Vec<_> = alike.iter().map(|(_, element)| (hash(*element), *element)).collect();
    by_hash.sort_unstable_by_key(|(hash, _)| *hash);
    by_hash.chunk_by(|a, b| a.0 == b.0).all(|same| {
        // Of one hash and yet not equal: happens by chance, so next to never.
        same.iter()
            .enumerate()
            .all(|(index, (_, element))| same.iter().skip(index + 1).all(|(_, other)| element != other))
    })
}

/// What equal values have in common and a slot knows.
type Shape = (u8, usize, u32);

#[inline]
fn shape(value: Value<'_>) -> Shape {
    let kind = value.kind();
    let size = match kind {
        // The same number can be written in many ways.
        Kind::Null | Kind::Boolean | Kind::Number => 0,
        // Bytes of text, or children.
        Kind::String | Kind::Array | Kind::Object => value.slot().size(),
    };
    (kind as u8, size, value.slots())
}

/// Equal for equal values.
fn hash(value: Value<'_>) -> u64 {
    match value.kind() {
        Kind::Null => 0,
        Kind::Boolean => KEY.hash_one(value.as_bool()),
        Kind::Number => KEY.hash_one(value.as_number()),
        Kind::String => KEY.hash_one(value.as_str()),
        Kind::Array => {
            let elements = value.as_array().map(|array| array.elements().map(hash));
            // One after the other: their order matters.
            elements
                .into_iter()
                .flatten()
                .fold(shape_hash(value), |state, element| KEY.hash_one((state, element)))
        }
        Kind::Object => {
            let members = value.as_object().map(|object| object.members());
            // Added up: their order does not matter.
            members.into_iter().flatten().fold(shape_hash(value), |state, (name, value)| {
                state.wrapping_add(KEY.hash_one((name, hash(value))))
            })
        }
    }
}

fn shape_hash(value: Value<'_>) -> u64 {
    let shape = shape(value);
    KEY.hash_one(shape)
}
