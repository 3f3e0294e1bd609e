//! From the tree to the serde mirror, without stopping at the first fault.
//!
//! serde stops where a value does not fit. Here every value that may be wrong sits in a [`Field`], and a `Field`
//! swallows the fault: it goes to the findings with its place, and decoding goes on. What reads the mirror
//! afterwards sees [`Field::Wrong`], says nothing about it again, and judges everything else.

use super::fault::{Finding, Findings, nearest};
use super::field::{EITHER, FIELD, Field, ONE_OR_MANY};
use super::places;
use super::scalar::{self, Plain};
use super::tree::{Content, Mark, Member, Tree};
use serde::de::value::{StrDeserializer, UsizeDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use std::fmt;

/// Reads the whole tree as a `T`. `None` when the root itself does not fit, and this has been reported.
pub(super) fn decode<'t, T: Deserialize<'t>>(tree: &'t Tree, findings: &'t Findings) -> Option<T> {
    let decoder = Decoder { tree, at: Tree::ROOT, findings };
    match Field::deserialize(decoder) {
        Ok(Field::Given(_, value)) => Some(value),
        Ok(Field::Absent | Field::Wrong(_)) => None,
        Err(refusal) => {
            decoder.report(decoder.at, refusal.0, None);
            None
        }
    }
}

/// Why a value does not fit.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(String);

impl de::Error for Refusal {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self(reason.to_string())
    }
}

#[derive(Clone, Copy)]
struct Decoder<'t> {
    tree: &'t Tree,
    at: Mark,
    findings: &'t Findings,
}

impl<'t> Decoder<'t> {
    fn report(self, at: Mark, reason: String, suggestion: Option<String>) {
        let (line, column) = self.tree.position(at);
        let pointer = self.tree.pointer(at);
        self.findings.add(Finding { line, column, pointer, reason, suggestion, lint: None });
    }

    /// What may stand here, for a scalar where a list or a mapping should.
    fn example(self) -> Option<String> {
        match self.content() {
            Content::Scalar { .. } => places::example_at(&self.tree.pointer(self.at)),
            Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }

    fn content(self) -> &'t Content {
        self.tree.content(self.at)
    }

    fn expected(self, what: &str) -> Refusal {
        Refusal(format!("expected {what}, found {}", scalar::describe(self.content())))
    }

    /// The text of a scalar, unless nothing is written.
    fn word(self) -> Option<&'t str> {
        match self.content() {
            Content::Scalar { text, plain } if !(*plain && text.is_empty()) => Some(text),
            Content::Scalar { .. } | Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }

    fn mapping(self) -> Result<&'t [Member], Refusal> {
        match self.content() {
            Content::Mapping(members) => Ok(members),
            Content::Scalar { .. } | Content::Sequence(_) => Err(self.expected("a mapping (`key: value`)")),
        }
    }

    fn whole_number(self) -> Result<u64, Refusal> {
        match self.content() {
            Content::Scalar { text, plain: true } if text.bytes().all(|b| b.is_ascii_digit()) => {
                match scalar::resolve(text) {
                    Plain::Number => text.parse().map_err(|_| Refusal("the number is too large".to_owned())),
                    _ => Err(self.expected("a whole number")),
                }
            }
            _ => Err(self.expected("a whole number")),
        }
    }
}

impl<'t> Deserializer<'t> for Decoder<'t> {
    type Error = Refusal;

    /// A scalar gives its own text, whatever YAML would make of it: sizes, times and words parse themselves.
    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.word() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => Err(self.expected("one word")),
        }
    }

    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.content() {
            Content::Scalar { text, plain: true } if text == "true" => visitor.visit_bool(true),
            Content::Scalar { text, plain: true } if text == "false" => visitor.visit_bool(false),
            _ => Err(self.expected("`true` or `false`")),
        }
    }

    fn deserialize_u32<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_u64(self.whole_number()?)
    }

    fn deserialize_u64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_u64(self.whole_number()?)
    }

    fn deserialize_str<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.content() {
            Content::Scalar { text, plain } => match (plain, scalar::resolve(text)) {
                (false, _) | (true, Plain::Text) => visitor.visit_borrowed_str(text),
                (true, Plain::Ambiguous(why)) => Err(Refusal(format!("{why}; write it in quotes"))),
                (true, Plain::Null | Plain::Bool(_) | Plain::Number) => Err(Refusal(format!(
                    "expected text, found {}; write it in quotes",
                    scalar::describe(self.content())
                ))),
            },
            Content::Sequence(_) | Content::Mapping(_) => {
                let found = scalar::describe(self.content());
                Err(Refusal(format!(
                    "expected text, found {found}; text that looks like YAML, as JSON does, stands in quotes: '{{…}}'"
                )))
            }
        }
    }

    fn deserialize_string<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.deserialize_str(visitor)
    }

    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.content() {
            Content::Sequence(elements) => visitor.visit_seq(Elements { of: self, rest: elements.iter() }),
            Content::Scalar { .. } | Content::Mapping(_) => {
                Err(self.expected("a list (`- item`, or `[item]`)"))
            }
        }
    }

    fn deserialize_map<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_map(Entries { of: self, rest: self.mapping()?.iter(), known: None, value: None })
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_map(Entries {
            of: self,
            rest: self.mapping()?.iter(),
            known: Some(fields),
            value: None,
        })
    }

    fn deserialize_tuple_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let tag = match (name, self.content()) {
            (EITHER, Content::Mapping(_)) | (ONE_OR_MANY, Content::Sequence(_)) => 1,
            (EITHER, Content::Scalar { .. } | Content::Sequence(_))
            | (ONE_OR_MANY, Content::Scalar { .. } | Content::Mapping(_)) => 0,
            _ => self.at.number(),
        };
        visitor.visit_seq(Tagged { of: self, tag: Some(tag), lenient: name == FIELD })
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let choices = || variants.iter().map(|v| format!("`{v}`")).collect::<Vec<_>>().join(", ");
        let Some(text) = self.word() else {
            return Err(self.expected(&format!("one of {}", choices())));
        };
        if !variants.contains(&text) {
            return Err(Refusal(format!("expected one of {}, found `{}`", choices(), text.escape_debug())));
        }
        visitor.visit_enum(StrDeserializer::<Refusal>::new(text))
    }

    fn deserialize_ignored_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'t>>
        i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char bytes byte_buf option unit unit_struct newtype_struct tuple
        identifier
    }
}

struct Elements<'t> {
    of: Decoder<'t>,
    rest: std::slice::Iter<'t, Mark>,
}

impl<'t> SeqAccess<'t> for Elements<'t> {
    type Error = Refusal;

    fn next_element_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<Option<S::Value>, Refusal> {
        let Some(&at) = self.rest.next() else { return Ok(None) };
        seed.deserialize(Decoder { at, ..self.of }).map(Some)
    }
}

/// Members; of a struct only the known ones, and the others are reported here, all of them.
struct Entries<'t> {
    of: Decoder<'t>,
    rest: std::slice::Iter<'t, Member>,
    known: Option<&'static [&'static str]>,
    value: Option<Mark>,
}

impl<'t> MapAccess<'t> for Entries<'t> {
    type Error = Refusal;

    fn next_key_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<Option<S::Value>, Refusal> {
        for member in self.rest.by_ref() {
            let text = self.of.tree.text(member.key).unwrap_or_default();
            match self.known {
                Some(known) if !known.contains(&text) => {
                    let elsewhere = places::elsewhere(text, &self.of.tree.pointer(self.of.at));
                    let suggestion = match (elsewhere, nearest(text, known.iter().copied())) {
                        (Some(place), _) => place,
                        (None, Some(name)) => format!("did you mean `{name}`?"),
                        (None, None) => format!("known here: {}", known.join(", ")),
                    };
                    self.of.report(
                        member.key,
                        format!("unknown key `{}`", text.escape_debug()),
                        Some(suggestion),
                    );
                }
                Some(_) => {
                    self.value = Some(member.value);
                    return seed.deserialize(StrDeserializer::<Refusal>::new(text)).map(Some);
                }
                None => {
                    self.value = Some(member.value);
                    return seed.deserialize(Decoder { at: member.key, ..self.of }).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<S::Value, Refusal> {
        match self.value.take() {
            Some(at) => seed.deserialize(Decoder { at, ..self.of }),
            None => Err(Refusal("a key without a value".to_owned())),
        }
    }
}

/// A number, then the node itself. `lenient`: a node that does not fit is reported and ends the sequence.
struct Tagged<'t> {
    of: Decoder<'t>,
    tag: Option<usize>,
    lenient: bool,
}

impl<'t> SeqAccess<'t> for Tagged<'t> {
    type Error = Refusal;

    fn next_element_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<Option<S::Value>, Refusal> {
        if let Some(tag) = self.tag.take() {
            let tag: UsizeDeserializer<Refusal> = tag.into_deserializer();
            return seed.deserialize(tag).map(Some);
        }
        match seed.deserialize(self.of) {
            Err(refusal) if self.lenient => {
                self.of.report(self.of.at, refusal.0, self.of.example());
                Ok(None)
            }
            outcome => outcome.map(Some),
        }
    }
}
