//! The table of keywords: which drafts have one, where it may stand, what it is, and the shape of
//! its value. A name without a row in its draft is refused; that is what closes the dialect.

use super::draft::Draft::{self, Four, Nineteen, Seven, Six, Twenty};

/// One keyword over a span of drafts. A name may have several rows, never two for one draft.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    since: Draft,
    until: Draft,
    pub(crate) role: Role,
    pub(crate) shape: Shape,
    pub(crate) stand: Stand,
    /// The types of value it says something about; empty for all.
    pub(crate) on: &'static [&'static str],
}

/// What a keyword is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Assertion,
    /// Applies schemas to the same value.
    InPlace(Mode),
    /// Applies schemas to a part of the value: its members, elements or names.
    Inward,
    /// Applies the schema it points to, to the same value.
    Reference,
    /// Names a schema or the dialect.
    Identifier,
    /// Holds schemas for references to point to.
    Definitions,
    Annotation,
}

/// How a schema applied to the same value bears on the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// All must hold.
    All,
    /// One must hold.
    Some,
    /// It must not hold.
    Not,
    /// It holds or applies on a condition.
    Condition,
}

/// The shape a keyword's value must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Any,
    Text,
    Flag,
    /// An array of anything.
    List,
    /// The URI of a draft.
    Dialect,
    /// A URI reference that identifies.
    Identifier,
    Anchor,
    Reference,
    /// A type name, or an array of different ones.
    Types,
    /// A non-empty array of anything.
    Values,
    /// A number above zero.
    Divisor,
    Number,
    /// An integer from 0 to 2^64−1.
    Count,
    /// A regular expression that every reader reads alike.
    Pattern,
    /// A format that is checked.
    Format,
    /// An array of different strings.
    Names,
    /// The same, not empty (draft 04).
    SomeNames,
    /// An object of arrays of different strings.
    NamesByName,
    Schema,
    /// A non-empty array of schemas.
    Schemas,
    /// A schema or a non-empty array of them.
    SchemaOrSchemas,
    /// An object of schemas.
    SchemasByName,
    /// An object of schemas under patterns.
    SchemasByPattern,
    /// An object of schemas or of arrays of different strings.
    Dependencies,
    /// A content encoding that is checked.
    Encoding,
    /// A media type that is checked.
    MediaType,
}

/// Where a keyword has an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stand {
    Anywhere,
    /// In the root schema only.
    Root,
    /// Beside one of these.
    Beside(&'static [&'static str]),
    /// Beside this one, whose value is an array.
    BesideArray(&'static str),
}

const fn row(name: &'static str, since: Draft, until: Draft, role: Role, shape: Shape) -> Row {
    Row { name, since, until, role, shape, stand: Stand::Anywhere, on: &[] }
}

const fn on(types: &'static [&'static str], row: Row) -> Row {
    Row { on: types, ..row }
}

const fn stands(stand: Stand, row: Row) -> Row {
    Row { stand, ..row }
}

const NUMBERS: &[&str] = &["number", "integer"];
const STRINGS: &[&str] = &["string"];
const ARRAYS: &[&str] = &["array"];
const OBJECTS: &[&str] = &["object"];

use Mode::{All, Condition, Not, Some as Any1};
use Role::{Annotation, Assertion, Definitions, InPlace, Inward, Reference};
use Stand::{Beside, BesideArray, Root};

#[rustfmt::skip] // one row a line: it is read as a table
static ROWS: &[Row] = &[
    // Names and places
    stands(Root, row("$schema", Four, Twenty, Role::Identifier, Shape::Dialect)),
    row("id", Four, Four, Role::Identifier, Shape::Identifier),
    row("$id", Six, Twenty, Role::Identifier, Shape::Identifier),
    row("$anchor", Nineteen, Twenty, Role::Identifier, Shape::Anchor),
    row("$recursiveAnchor", Nineteen, Nineteen, Role::Identifier, Shape::Flag),
    row("$dynamicAnchor", Twenty, Twenty, Role::Identifier, Shape::Anchor),
    row("definitions", Four, Seven, Definitions, Shape::SchemasByName),
    row("$defs", Nineteen, Twenty, Definitions, Shape::SchemasByName),
    // References
    row("$ref", Four, Twenty, Reference, Shape::Reference),
    row("$recursiveRef", Nineteen, Nineteen, Reference, Shape::Reference),
    row("$dynamicRef", Twenty, Twenty, Reference, Shape::Reference),
    // Any value
    row("type", Four, Twenty, Assertion, Shape::Types),
    row("enum", Four, Twenty, Assertion, Shape::Values),
    row("const", Six, Twenty, Assertion, Shape::Any),
    row("allOf", Four, Twenty, InPlace(All), Shape::Schemas),
    row("anyOf", Four, Twenty, InPlace(Any1), Shape::Schemas),
    row("oneOf", Four, Twenty, InPlace(Any1), Shape::Schemas),
    row("not", Four, Twenty, InPlace(Not), Shape::Schema),
    stands(Beside(&["then", "else"]), row("if", Seven, Twenty, InPlace(Condition), Shape::Schema)),
    stands(Beside(&["if"]), row("then", Seven, Twenty, InPlace(Condition), Shape::Schema)),
    stands(Beside(&["if"]), row("else", Seven, Twenty, InPlace(Condition), Shape::Schema)),
    // Numbers
    on(NUMBERS, row("multipleOf", Four, Twenty, Assertion, Shape::Divisor)),
    on(NUMBERS, row("minimum", Four, Twenty, Assertion, Shape::Number)),
    on(NUMBERS, row("maximum", Four, Twenty, Assertion, Shape::Number)),
    on(NUMBERS, stands(Beside(&["minimum"]), row("exclusiveMinimum", Four, Four, Assertion, Shape::Flag))),
    on(NUMBERS, stands(Beside(&["maximum"]), row("exclusiveMaximum", Four, Four, Assertion, Shape::Flag))),
    on(NUMBERS, row("exclusiveMinimum", Six, Twenty, Assertion, Shape::Number)),
    on(NUMBERS, row("exclusiveMaximum", Six, Twenty, Assertion, Shape::Number)),
    // Strings
    on(STRINGS, row("minLength", Four, Twenty, Assertion, Shape::Count)),
    on(STRINGS, row("maxLength", Four, Twenty, Assertion, Shape::Count)),
    on(STRINGS, row("pattern", Four, Twenty, Assertion, Shape::Pattern)),
    on(STRINGS, row("format", Four, Twenty, Assertion, Shape::Format)),
    on(STRINGS, row("contentEncoding", Six, Seven, Assertion, Shape::Encoding)),
    on(STRINGS, row("contentMediaType", Six, Seven, Assertion, Shape::MediaType)),
    // Arrays
    on(ARRAYS, row("items", Four, Nineteen, Inward, Shape::SchemaOrSchemas)),
    on(ARRAYS, row("items", Twenty, Twenty, Inward, Shape::Schema)),
    on(ARRAYS, stands(BesideArray("items"), row("additionalItems", Four, Nineteen, Inward, Shape::Schema))),
    on(ARRAYS, row("prefixItems", Twenty, Twenty, Inward, Shape::Schemas)),
    on(ARRAYS, row("unevaluatedItems", Nineteen, Twenty, Inward, Shape::Schema)),
    on(ARRAYS, row("contains", Six, Twenty, Inward, Shape::Schema)),
    on(ARRAYS, stands(Beside(&["contains"]), row("minContains", Nineteen, Twenty, Assertion, Shape::Count))),
    on(ARRAYS, stands(Beside(&["contains"]), row("maxContains", Nineteen, Twenty, Assertion, Shape::Count))),
    on(ARRAYS, row("minItems", Four, Twenty, Assertion, Shape::Count)),
    on(ARRAYS, row("maxItems", Four, Twenty, Assertion, Shape::Count)),
    on(ARRAYS, row("uniqueItems", Four, Twenty, Assertion, Shape::Flag)),
    // Objects
    on(OBJECTS, row("properties", Four, Twenty, Inward, Shape::SchemasByName)),
    on(OBJECTS, row("patternProperties", Four, Twenty, Inward, Shape::SchemasByPattern)),
    on(OBJECTS, row("additionalProperties", Four, Twenty, Inward, Shape::Schema)),
    on(OBJECTS, row("unevaluatedProperties", Nineteen, Twenty, Inward, Shape::Schema)),
    on(OBJECTS, row("propertyNames", Six, Twenty, Inward, Shape::Schema)),
    on(OBJECTS, row("required", Four, Four, Assertion, Shape::SomeNames)),
    on(OBJECTS, row("required", Six, Twenty, Assertion, Shape::Names)),
    on(OBJECTS, row("minProperties", Four, Twenty, Assertion, Shape::Count)),
    on(OBJECTS, row("maxProperties", Four, Twenty, Assertion, Shape::Count)),
    on(OBJECTS, row("dependencies", Four, Seven, InPlace(Condition), Shape::Dependencies)),
    on(OBJECTS, row("dependentRequired", Nineteen, Twenty, Assertion, Shape::NamesByName)),
    on(OBJECTS, row("dependentSchemas", Nineteen, Twenty, InPlace(Condition), Shape::SchemasByName)),
    // Annotations
    row("title", Four, Twenty, Annotation, Shape::Text),
    row("description", Four, Twenty, Annotation, Shape::Text),
    row("default", Four, Twenty, Annotation, Shape::Any),
    row("$comment", Seven, Twenty, Annotation, Shape::Text),
    row("examples", Six, Twenty, Annotation, Shape::List),
    row("readOnly", Seven, Twenty, Annotation, Shape::Flag),
    row("writeOnly", Seven, Twenty, Annotation, Shape::Flag),
    row("deprecated", Nineteen, Twenty, Annotation, Shape::Flag),
];

impl Draft {
    /// The row of a keyword in this draft.
    pub(crate) fn keyword(self, name: &str) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.name == name && row.since <= self && self <= row.until)
    }

    /// The names of this draft.
    pub(crate) fn keyword_names(self) -> impl Iterator<Item = &'static str> {
        ROWS.iter().filter(move |row| row.since <= self && self <= row.until).map(|row| row.name)
    }
}

/// The drafts that have a keyword of this name, in words; `None` where none has.
pub(crate) fn drafts_with(name: &str) -> Option<String> {
    let rows: Vec<&Row> = ROWS.iter().filter(|row| row.name == name).collect();
    let since = rows.iter().map(|row| row.since).min()?;
    let until = rows.iter().map(|row| row.until).max()?;
    Some(if since == until {
        since.name().to_owned()
    } else if until == Twenty {
        format!("{} and later", since.name())
    } else {
        format!("{} to {}", since.name(), until.name())
    })
}

/// Whether any draft has a keyword of this name, in any case of letters.
pub(crate) fn is_keyword(name: &str) -> bool {
    ROWS.iter().any(|row| row.name.eq_ignore_ascii_case(name))
}
