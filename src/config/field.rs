//! What the serde mirror is made of: values that may be missing or wrong, and that know where they stand.
//!
//! Only [`super::decode`] can read these; each asks it under a name of its own for what serde has no word for.

use super::tree::Mark;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

pub(super) const FIELD: &str = "formgate::Field";
pub(super) const EITHER: &str = "formgate::Either";
pub(super) const ONE_OR_MANY: &str = "formgate::OneOrMany";
const MARKED: &str = "formgate::Marked";

/// A value of the file that may be missing or wrong.
#[derive(Debug, Default)]
pub(super) enum Field<T> {
    #[default]
    Absent,
    /// Given, but not a `T`; this has been reported.
    Wrong(Mark),
    Given(Mark, T),
}

impl<T> Field<T> {
    /// What was given, if it was a `T`.
    pub(super) fn given(&self) -> Option<&T> {
        match self {
            Self::Given(_, value) => Some(value),
            Self::Absent | Self::Wrong(_) => None,
        }
    }

    /// Where it stands, unless it is absent.
    pub(super) fn mark(&self) -> Option<Mark> {
        match self {
            Self::Given(mark, _) | Self::Wrong(mark) => Some(*mark),
            Self::Absent => None,
        }
    }

    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// A scalar of one type, or a mapping of another.
#[derive(Debug)]
pub(super) enum Either<S, M> {
    Scalar(S),
    Mapping(M),
}

/// One, or a list of them.
#[derive(Debug)]
pub(super) struct OneOrMany<T>(pub(super) Vec<Field<T>>);

/// Any YAML, left where it is.
#[derive(Debug)]
pub(super) struct Subtree(pub(super) Mark);

/// A mapping whose keys are the user's own names, in the order of the file.
#[derive(Debug)]
pub(super) struct Members<T>(pub(super) Vec<(Name, Field<T>)>);

/// A key chosen by the user.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) mark: Mark,
    pub(super) text: String,
}

/// The first element of a [`Tagged`].
fn tag<'d, A: SeqAccess<'d>>(seq: &mut A) -> Result<usize, A::Error> {
    seq.next_element()?.ok_or_else(|| de::Error::custom("not read by formgate's decoder"))
}

impl<'d, T: de::Deserialize<'d>> de::Deserialize<'d> for Field<T> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldVisitor<T>(PhantomData<T>);
        impl<'d, T: de::Deserialize<'d>> Visitor<'d> for FieldVisitor<T> {
            type Value = Field<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field")
            }
            fn visit_seq<A: SeqAccess<'d>>(self, mut seq: A) -> Result<Field<T>, A::Error> {
                let mark = Mark::numbered(tag(&mut seq)?);
                Ok(seq.next_element()?.map_or(Field::Wrong(mark), |value| Field::Given(mark, value)))
            }
        }
        deserializer.deserialize_tuple_struct(FIELD, 2, FieldVisitor(PhantomData))
    }
}

impl<'d, S: de::Deserialize<'d>, M: de::Deserialize<'d>> de::Deserialize<'d> for Either<S, M> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct EitherVisitor<S, M>(PhantomData<(S, M)>);
        impl<'d, S: de::Deserialize<'d>, M: de::Deserialize<'d>> Visitor<'d> for EitherVisitor<S, M> {
            type Value = Either<S, M>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word or a mapping")
            }
            fn visit_seq<A: SeqAccess<'d>>(self, mut seq: A) -> Result<Either<S, M>, A::Error> {
                let value = if tag(&mut seq)? == 1 {
                    seq.next_element()?.map(Either::Mapping)
                } else {
                    seq.next_element()?.map(Either::Scalar)
                };
                value.ok_or_else(|| de::Error::custom("not read by formgate's decoder"))
            }
        }
        deserializer.deserialize_tuple_struct(EITHER, 2, EitherVisitor(PhantomData))
    }
}

impl<'d, T: de::Deserialize<'d>> de::Deserialize<'d> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrManyVisitor<T>(PhantomData<T>);
        impl<'d, T: de::Deserialize<'d>> Visitor<'d> for OneOrManyVisitor<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or a list")
            }
            fn visit_seq<A: SeqAccess<'d>>(self, mut seq: A) -> Result<OneOrMany<T>, A::Error> {
                let values = if tag(&mut seq)? == 1 {
                    seq.next_element()?
                } else {
                    seq.next_element()?.map(|value| vec![value])
                };
                values.map(OneOrMany).ok_or_else(|| de::Error::custom("not read by formgate's decoder"))
            }
        }
        deserializer.deserialize_tuple_struct(ONE_OR_MANY, 2, OneOrManyVisitor(PhantomData))
    }
}

impl<'d> de::Deserialize<'d> for Subtree {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        Marked::<de::IgnoredAny>::read(deserializer).map(|(mark, _)| Self(mark))
    }
}

impl<'d> de::Deserialize<'d> for Name {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        Marked::<KeyText>::read(deserializer).map(|(mark, text)| Self { mark, text: text.0 })
    }
}

/// The text of a key, whatever YAML would make of it: `404:` is the name 404.
struct KeyText(String);

impl<'d> de::Deserialize<'d> for KeyText {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = KeyText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<KeyText, E> {
                Ok(KeyText(text.to_owned()))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// A value and its mark, strict: a value that does not fit stops the field around it.
struct Marked<T>(PhantomData<T>);

impl<T> Marked<T> {
    fn read<'d, D: Deserializer<'d>>(deserializer: D) -> Result<(Mark, T), D::Error>
    where
        T: de::Deserialize<'d>,
    {
        deserializer.deserialize_tuple_struct(MARKED, 2, Self(PhantomData))
    }
}

impl<'d, T: de::Deserialize<'d>> Visitor<'d> for Marked<T> {
    type Value = (Mark, T);
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_seq<A: SeqAccess<'d>>(self, mut seq: A) -> Result<(Mark, T), A::Error> {
        let mark = Mark::numbered(tag(&mut seq)?);
        let value = seq.next_element()?.ok_or_else(|| de::Error::custom("not read by formgate's decoder"))?;
        Ok((mark, value))
    }
}

impl<'d, T: de::Deserialize<'d>> de::Deserialize<'d> for Members<T> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor<T>(PhantomData<T>);
        impl<'d, T: de::Deserialize<'d>> Visitor<'d> for MembersVisitor<T> {
            type Value = Members<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }
            fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Members<T>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

/// The file does not show the wrapper.
impl<T: JsonSchema> JsonSchema for Field<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<S: JsonSchema, M: JsonSchema> JsonSchema for Either<S, M> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("{}Or{}", S::schema_name(), M::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [generator.subschema_for::<S>(), generator.subschema_for::<M>()] })
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}

impl JsonSchema for Subtree {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Subtree".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

impl<T: JsonSchema> JsonSchema for Members<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("MembersOf{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
    }
}
