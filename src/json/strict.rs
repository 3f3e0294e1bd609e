//! Our document as a representation that the `jsonschema` crate validates.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use jsonschema::JsonType;
use jsonschema::json::{self, Json, JsonNumber, Node, NodeIdentity};
use jsonschema_value::LazyInstance;

use super::slot::{Slot, Tag, Tree};
use super::value::{Array, Elements, Members, Object, Value};
use super::{Decimal, Document, Kind, MAX_LENGTH, Number, names};

/// The representation that the `jsonschema` crate validates: our document, as it is.
#[derive(Debug, Clone, Copy)]
pub struct Strict;

/// A member name that is looked up often.
#[derive(Debug, Clone)]
pub struct Name {
    text: Box<str>,
    hash: u64,
}

/// Room for a name that stands in no document.
#[derive(Debug, Default)]
pub struct NameBuffer(Tree);

impl Json for Strict {
    type Node<'a> = Value<'a>;
    type PreparedKey = Name;
    type StringBuffer = NameBuffer;

    // Measured: a lookup in a small object takes as long as passing over four to six members.
    const KEYS_PER_LOOKUP: usize = 4;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> Name {
        Name { text: key.into(), hash: names::hash(key.as_bytes()) }
    }

    fn with_string_node<T>(buffer: &mut NameBuffer, string: &str, f: impl FnOnce(Value<'_>) -> T) -> T {
        // Names come from documents and are no longer than those.
        let size = string.len().min(MAX_LENGTH);
        buffer.0.clear();
        buffer.0.slots.push(Slot::new(Tag::Text, 0, size, 0, size));
        f(Value::new(string, &buffer.0, 0))
    }
}

impl<'a> Node<'a, Strict> for Value<'a> {
    type Object = Object<'a>;
    type Array = Array<'a>;
    type Number = Number<'a>;

    #[inline]
    fn as_object(&self) -> Option<Object<'a>> {
        Value::as_object(self)
    }

    #[inline]
    fn as_array(&self) -> Option<Array<'a>> {
        Value::as_array(self)
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.as_str().map(Cow::Borrowed)
    }

    #[inline]
    fn as_number(&self) -> Option<Number<'a>> {
        Value::as_number(self)
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        self.as_bool()
    }

    #[inline]
    fn is_null(&self) -> bool {
        Value::is_null(self)
    }

    #[inline]
    fn is_number(&self) -> bool {
        self.kind() == Kind::Number
    }

    #[inline]
    fn is_string(&self) -> bool {
        self.kind() == Kind::String
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        match self.kind() {
            Kind::Null => JsonType::Null,
            Kind::Boolean => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    #[inline]
    fn string_length(&self) -> Option<u64> {
        self.as_str().map(|text| text.chars().count() as u64)
    }

    #[inline]
    fn string_length_within(&self, min: u64, max: u64) -> Option<bool> {
        let text = self.as_str()?;
        // A character takes one to four bytes.
        let most = text.len() as u64;
        let fewest = most.div_ceil(4);
        if min <= fewest && most <= max {
            return Some(true);
        }
        if most < min || fewest > max {
            return Some(false);
        }
        Some((min..=max).contains(&(text.chars().count() as u64)))
    }

    fn equals_value(&self, expected: &serde_json::Value) -> bool {
        match expected {
            serde_json::Value::Null => self.is_null(),
            serde_json::Value::Bool(truth) => self.as_bool() == Some(*truth),
            serde_json::Value::Number(number) => {
                Value::as_number(self).is_some_and(|own| equal_numbers(own, number))
            }
            serde_json::Value::String(text) => self.as_str() == Some(text),
            serde_json::Value::Array(elements) => Value::as_array(self).is_some_and(|own| {
                own.len() == elements.len()
                    && own.elements().zip(elements).all(|(own, element)| own.equals_value(element))
            }),
            serde_json::Value::Object(members) => Value::as_object(self).is_some_and(|own| {
                own.len() == members.len()
                    && own.members().all(|(name, value)| {
                        members.get(name).is_some_and(|member| value.equals_value(member))
                    })
            }),
        }
    }

    fn to_value(&self) -> Cow<'a, serde_json::Value> {
        Cow::Owned(owned(*self))
    }

    fn lazy_value(&self) -> LazyInstance<'a> {
        // Hardly any instance of an error is ever looked at, so what is kept is where it was read.
        let bytes = self.source().as_bytes();
        let (tag, make) = if self.is_bare() { (1, bare as _) } else { (0, reread as _) };
        LazyInstance::Deferred { bytes, tag, make, cell: OnceLock::new() }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        let address = std::ptr::from_ref(self.tree()) as usize;
        Some(NodeIdentity::tagged(address, self.at()))
    }
}

impl<'a> json::Object<'a, Strict> for Object<'a> {
    type Node = Value<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    #[inline]
    fn len(&self) -> usize {
        Object::len(self)
    }

    #[inline]
    fn get(&self, key: &Name) -> Option<Value<'a>> {
        self.get_hashed(&key.text, key.hash)
    }

    #[inline]
    fn members(&self) -> Members<'a> {
        Object::members(self)
    }

    fn try_for_each_name_node<B>(
        &self,
        _: &mut NameBuffer,
        mut f: impl FnMut(Value<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.named().try_for_each(|(name, _)| f(name))
    }
}

impl<'a> json::Array<'a, Strict> for Array<'a> {
    type Node = Value<'a>;
    type ElementsIter = Elements<'a>;

    #[inline]
    fn len(&self) -> usize {
        Array::len(self)
    }

    #[inline]
    fn elements(&self) -> Elements<'a> {
        Array::elements(self)
    }

    fn is_unique(&self) -> bool {
        Array::is_unique(self)
    }
}

impl JsonNumber for Number<'_> {
    #[inline]
    fn as_u64(&self) -> Option<u64> {
        Number::as_u64(self)
    }

    #[inline]
    fn as_i64(&self) -> Option<i64> {
        Number::as_i64(self)
    }

    #[inline]
    fn as_f64(&self) -> Option<f64> {
        Some(Number::as_f64(self))
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.text())
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(serde_number(*self))
    }

    #[inline]
    fn is_integer(&self) -> bool {
        Number::is_integer(self)
    }

    #[inline]
    fn is_written_as_integer(&self) -> bool {
        Number::is_written_as_integer(self)
    }
}

/// Whether a number of a document is exactly the one of a form.
fn equal_numbers(own: Number<'_>, expected: &serde_json::Number) -> bool {
    if let Some(expected) = expected.as_u64() {
        return own.as_u64() == Some(expected);
    }
    if let Some(expected) = expected.as_i64() {
        return own.as_i64() == Some(expected);
    }
    // Equal numbers have equal doubles. Few others do, so only they pay for the text.
    expected.as_f64() == Some(own.as_f64()) && Decimal::read(&expected.to_string()) == Some(own.decimal())
}

/// The value of a part of a document.
fn reread(bytes: &[u8], _: u32) -> serde_json::Value {
    // What was a value within a document is one without it.
    Document::new().parse(bytes).map(owned).unwrap_or_default()
}

/// The value of a string that stands in no document.
fn bare(bytes: &[u8], _: u32) -> serde_json::Value {
    String::from_utf8_lossy(bytes).into()
}

/// What `serde_json` has for a number: integers of 64 bits as they are, doubles otherwise.
fn serde_number(number: Number<'_>) -> serde_json::Number {
    let integer = number.is_written_as_integer();
    let unsigned = number.as_u64().filter(|_| integer).map(serde_json::Number::from);
    let signed = || number.as_i64().filter(|_| integer).map(serde_json::Number::from);
    let double = || serde_json::Number::from_f64(number.as_f64());
    // A number of a document always is a finite double.
    unsigned.or_else(signed).or_else(double).unwrap_or_else(|| 0.into())
}

/// The value apart from its document. Recurses as deep as a document can be.
fn owned(value: Value<'_>) -> serde_json::Value {
    match value.kind() {
        Kind::Null => serde_json::Value::Null,
        Kind::Boolean => value.as_bool().into(),
        Kind::Number => Value::as_number(&value).map(serde_number).into(),
        Kind::String => value.as_str().into(),
        Kind::Array => {
            let elements = Value::as_array(&value).map(|array| array.elements().map(owned));
            elements.into_iter().flatten().collect()
        }
        Kind::Object => {
            let members = Value::as_object(&value).map(|object| object.members());
            members.into_iter().flatten().map(|(name, value)| (name, owned(value))).collect()
        }
    }
}
