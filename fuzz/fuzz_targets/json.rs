//! The strict parser against serde_json with duplicates refused: the same verdict, the same value.
#![no_main]

use formgate::json::{Document, Kind, SyntaxKind, Value};
use libfuzzer_sys::fuzz_target;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// What serde_json says, nothing merged and nothing dropped.
#[derive(Debug)]
enum Other {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Double(f64),
    Text(String),
    Array(Vec<Other>),
    Object(Vec<(String, Other)>),
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Other;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Other, E> {
        Ok(Other::Null)
    }
    fn visit_bool<E>(self, flag: bool) -> Result<Other, E> {
        Ok(Other::Bool(flag))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Other, E> {
        Ok(Other::Unsigned(number))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Other, E> {
        Ok(Other::Signed(number))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Other, E> {
        Ok(Other::Double(number))
    }
    fn visit_str<E>(self, text: &str) -> Result<Other, E> {
        Ok(Other::Text(text.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Other, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = from.next_element()? {
            elements.push(element);
        }
        Ok(Other::Array(elements))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Other, A::Error> {
        let (mut members, mut names) = (Vec::new(), std::collections::HashSet::new());
        while let Some((name, value)) = from.next_entry::<String, Other>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom("twice"));
            }
            members.push((name, value));
        }
        Ok(Other::Object(members))
    }
}

impl<'de> Deserialize<'de> for Other {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reading)
    }
}

fn same(ours: Value<'_>, other: &Other) {
    match other {
        Other::Null => assert!(ours.is_null()),
        Other::Bool(flag) => assert_eq!(ours.as_bool(), Some(*flag)),
        Other::Unsigned(number) => assert_eq!(ours.as_number().unwrap().as_u64(), Some(*number)),
        Other::Signed(number) => assert_eq!(ours.as_number().unwrap().as_i64(), Some(*number)),
        Other::Double(number) => {
            let ours = ours.as_number().unwrap();
            assert_eq!(ours.as_f64().to_bits(), number.to_bits(), "{}", ours.text());
        }
        Other::Text(text) => assert_eq!(ours.as_str(), Some(text.as_str())),
        Other::Array(elements) => {
            let array = ours.as_array().unwrap();
            assert_eq!(array.len(), elements.len());
            array.elements().zip(elements).for_each(|(ours, other)| same(ours, other));
        }
        Other::Object(members) => {
            let object = ours.as_object().unwrap();
            assert_eq!(object.len(), members.len());
            for ((name, value), (other_name, other)) in object.members().zip(members) {
                assert_eq!(name, other_name);
                same(value, other);
                // Found by name too, whichever way the object keeps its names.
                assert_eq!(object.get(name).unwrap().span(), value.span());
            }
        }
    }
}

/// Whether a number of the grammar is beyond the limits that `json` states, said in another way.
fn beyond(text: &str) -> bool {
    if text.len() > 1000 {
        return true;
    }
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let unsigned = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
    let Ok(written) = unsigned.parse::<u64>().or_else(|e| if unsigned.is_empty() { Ok(0) } else { Err(e) }) else {
        return true;
    };
    if written > 400 {
        return true;
    }
    let exponent = if exponent.starts_with('-') { -(written as i64) } else { written as i64 };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_matches('0');
    if significant.is_empty() {
        return false;
    }
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let order = whole.len() as i64 - leading as i64 - 1 + exponent;
    let (smallest, largest) = ("24703282292062328", "17976931348623157");
    let width = significant.len().max(largest.len());
    let wide = |digits: &str| format!("{digits:0<width$}");
    let above = wide(significant) > wide(largest);
    let below = wide(significant) < wide(smallest);
    significant.len() > 64 || order < -324 || order > 308 || (order == -324 && below) || (order == 308 && above)
}

fn depth(value: Value<'_>) -> usize {
    match value.kind() {
        Kind::Array => 1 + value.as_array().unwrap().elements().map(depth).max().unwrap_or(0),
        Kind::Object => 1 + value.as_object().unwrap().members().map(|(_, value)| depth(value)).max().unwrap_or(0),
        Kind::Null | Kind::Boolean | Kind::Number | Kind::String => 0,
    }
}

fn each_number(value: Value<'_>, see: &mut impl FnMut(&str)) {
    if let Some(number) = value.as_number() {
        see(number.text());
    }
    value.as_array().into_iter().flat_map(|array| array.elements()).for_each(|value| each_number(value, see));
    let members = value.as_object().into_iter().flat_map(|object| object.members());
    members.for_each(|(_, value)| each_number(value, see));
}

fuzz_target!(|bytes: &[u8]| {
    let mut document = Document::new();
    let other = serde_json::from_slice::<Other>(bytes);
    match document.parse(bytes) {
        Ok(value) => {
            each_number(value, &mut |text| assert!(!beyond(text), "{text}"));
            match other {
                Ok(other) => same(value, &other),
                // One level less than we take.
                Err(error) => assert!(depth(value) >= 128, "{error}"),
            }
        }
        Err(fault) => match fault.kind {
            SyntaxKind::NumberInexact => {
                let rest = &bytes[fault.at..];
                let end = rest.iter().position(|byte| !b"+-.eE0123456789".contains(byte)).unwrap_or(rest.len());
                assert!(beyond(std::str::from_utf8(&rest[..end]).unwrap()));
            }
            SyntaxKind::Depth => assert!(other.is_err()),
            SyntaxKind::Empty
            | SyntaxKind::Encoding
            | SyntaxKind::Grammar
            | SyntaxKind::Surrogate
            | SyntaxKind::Trailing
            | SyntaxKind::Duplicate => assert!(other.is_err(), "{fault:?}"),
        },
    }
    // What a document held before does not matter.
    let first = document.parse(bytes).map(|value| value.span()).ok();
    document.parse(b"{\"a\":[1,2,3]}").unwrap();
    assert_eq!(document.parse(bytes).map(|value| value.span()).ok(), first);
});
