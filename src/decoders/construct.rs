//! The constructs of forms that decoders read differently, and what to write instead.

/// One way of saying something in a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Construct {
    /// An object that takes its declared members and no others.
    ClosedObject,
    /// An object that takes no member at all, without `properties`.
    NoMembers,
    /// A declared member that is not required.
    OptionalMember,
    /// An object that says nothing about members it does not declare.
    OpenObjectUnsaid,
    /// An object that takes any other member.
    OpenObject,
    /// An object whose other members must fit a schema.
    Map,
    /// `minLength`, `maxLength`.
    Length,
    /// A string of any length.
    UnboundedString,
    /// A pattern that holds for the whole text, of literals and character classes.
    Pattern,
    /// A pattern that holds wherever a part of the text matches.
    PatternUnanchored,
    /// `\d`, `\w`, `\s` in a pattern.
    PatternClasses,
    /// `.` in a pattern.
    PatternDot,
    /// A pattern beside a length.
    PatternWithLength,
    /// Bounds of an integer.
    IntegerBounds,
    /// An integer with no bound.
    UnboundedInteger,
    /// Bounds of a number.
    NumberBounds,
    /// `exclusiveMinimum`, `exclusiveMaximum`, beside what bounds are otherwise.
    ExclusiveBounds,
    /// A number with no bound.
    UnboundedNumber,
    /// `multipleOf` of an integer.
    MultipleOfInteger,
    /// `multipleOf` of a number.
    MultipleOfFraction,
    /// A list of texts and numbers.
    Enum,
    /// A list with `null`, `true` or `false` in it.
    EnumOfLiterals,
    /// A list with objects or arrays in it.
    EnumOfContainers,
    /// One value.
    Const,
    /// `boolean` or `null`.
    BooleanNull,
    /// One type, or null.
    TypeOrNull,
    /// More than one type, in other ways.
    TypeUnion,
    /// `format: date-time`.
    FormatDateTime,
    /// `format: date`.
    FormatDate,
    /// `format: time`.
    FormatTime,
    /// `format: email`.
    FormatEmail,
    /// `format: uri`.
    FormatUri,
    /// `format: uuid`.
    FormatUuid,
    /// `format: ipv4`.
    FormatIpv4,
    /// `format: ipv6`.
    FormatIpv6,
    /// `format: hostname`.
    FormatHostname,
    /// `format: duration`.
    FormatDuration,
    /// Any other format.
    FormatOther,
    /// A format beside a length or a pattern.
    FormatWithLength,
    /// `minItems` of 0 or 1, `maxItems`.
    ArrayBounds,
    /// `minItems` above 1.
    ManyItems,
    /// An array of any length.
    UnboundedArray,
    /// An array whose elements may be anything.
    UntypedItems,
    /// `uniqueItems`.
    UniqueItems,
    /// `prefixItems`.
    PrefixItems,
    /// `contains`.
    Contains,
    /// `anyOf`.
    AnyOf,
    /// `oneOf` whose alternatives are told apart by a constant member or by their types.
    OneOfApart,
    /// `oneOf` whose alternatives may share values.
    OneOfOverlapping,
    /// Alternatives beside something else that is asserted.
    AlternativesWithSiblings,
    /// Alternatives at the root.
    RootAlternatives,
    /// `allOf`.
    AllOf,
    /// `not`.
    Not,
    /// `if`.
    Condition,
    /// `dependentRequired`, `dependentSchemas`.
    Dependent,
    /// `minProperties`, `maxProperties`.
    MemberCount,
    /// `patternProperties`.
    PatternProperties,
    /// `propertyNames`.
    PropertyNames,
    /// `$ref` to another place of the form.
    Reference,
    /// `$ref` beside something else that is asserted.
    ReferenceWithSiblings,
    /// A reference that leads back.
    Recursion,
    /// References within each other, more than three deep.
    DeepReferences,
    /// Keywords without `type`.
    Untyped,
    /// Any value.
    Anything,
    /// `unevaluatedProperties`, `unevaluatedItems`.
    Unevaluated,
    /// A form whose values are not objects.
    ScalarRoot,
    /// `default`.
    Default,
    /// `contentEncoding`, `contentMediaType`.
    Content,
    /// Array `items` of older drafts.
    ItemsArray,
    /// `dependencies` of older drafts.
    Dependencies,
    /// Boolean `exclusiveMinimum`, `exclusiveMaximum` of draft 04.
    ExclusiveFlag,
}

impl Construct {
    /// All of them, with the name in profiles and output, and what to write instead where a decoder does not hold it.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::ClosedObject, "closed-object", ""),
        (Self::NoMembers, "no-members", "`\"properties\": {}` beside it"),
        (
            Self::OptionalMember,
            "optional-member",
            "list every member in `required`, and let optional ones be null: `anyOf` with a branch `\"type\": \"null\"`",
        ),
        (Self::OpenObjectUnsaid, "open-object-unsaid", "`\"additionalProperties\": false`"),
        (Self::OpenObject, "open-object", "`\"additionalProperties\": false`, and name the members"),
        (Self::Map, "map", "an array of closed objects with `key` and `value`"),
        (
            Self::Length,
            "length",
            "say the length in `description` too; a `pattern` such as `^[ -~]{1,80}$` where a class of characters will do",
        ),
        (Self::UnboundedString, "unbounded-string", "`maxLength`, or an `enum`"),
        (Self::Pattern, "pattern", "say the pattern in `description` too, or an `enum`"),
        (Self::PatternUnanchored, "pattern-unanchored", "`^(?:…)$`"),
        (Self::PatternClasses, "pattern-classes", "`[0-9]` for `\\d`, `[A-Za-z0-9_]` for `\\w`"),
        (Self::PatternDot, "pattern-dot", "a class of characters, `[ -~]`"),
        (
            Self::PatternWithLength,
            "pattern-with-length",
            "write the length into the pattern: `^[a-z]{1,20}$`",
        ),
        (
            Self::IntegerBounds,
            "integer-bounds",
            "an `enum` where there are few values; say the bounds in `description` too",
        ),
        (Self::UnboundedInteger, "unbounded-integer", "`minimum` and `maximum`"),
        (
            Self::NumberBounds,
            "number-bounds",
            "an integer in a smaller unit (cents), or say the bounds in `description` too",
        ),
        (Self::ExclusiveBounds, "exclusive-bounds", "`minimum` and `maximum`"),
        (Self::UnboundedNumber, "unbounded-number", "`minimum` and `maximum`"),
        (Self::MultipleOfInteger, "multiple-of-integer", "an `enum`, or say it in `description` too"),
        (Self::MultipleOfFraction, "multiple-of-fraction", "an integer in a smaller unit (cents)"),
        (Self::Enum, "enum", ""),
        (
            Self::EnumOfLiterals,
            "enum-of-literals",
            "`anyOf` with an `enum` of texts and `null`, or `\"type\": \"boolean\"`",
        ),
        (Self::EnumOfContainers, "enum-of-containers", "names for the values, and an `enum` of these"),
        (Self::Const, "const", "an `enum` of one text or number"),
        (Self::BooleanNull, "boolean-null", ""),
        (Self::TypeOrNull, "type-or-null", "`anyOf` with one type each"),
        (Self::TypeUnion, "type-union", "`anyOf` with one type each"),
        (Self::FormatDateTime, "format-date-time", "say in `description` which spellings there are"),
        (Self::FormatDate, "format-date", "three bounded integers, or live with 30 February"),
        (Self::FormatTime, "format-time", "a `pattern`"),
        (Self::FormatEmail, "format-email", "a `pattern`"),
        (Self::FormatUri, "format-uri", "a `pattern` that starts with the scheme"),
        (Self::FormatUuid, "format-uuid", "a `pattern`"),
        (Self::FormatIpv4, "format-ipv4", "a `pattern`"),
        (Self::FormatIpv6, "format-ipv6", "a `pattern`"),
        (Self::FormatHostname, "format-hostname", "a `pattern`"),
        (Self::FormatDuration, "format-duration", "an integer of minutes or seconds"),
        (Self::FormatOther, "format-other", "a `pattern`"),
        (Self::FormatWithLength, "format-with-length", "a `pattern` that bounds the length"),
        (Self::ArrayBounds, "array-bounds", "say the count in `description` too"),
        (Self::ManyItems, "many-items", "members of their own: `first`, `second`"),
        (Self::UnboundedArray, "unbounded-array", "`maxItems`"),
        (Self::UntypedItems, "untyped-items", "`items` with a `type`"),
        (Self::UniqueItems, "unique-items", "an object with a boolean member for each value"),
        (Self::PrefixItems, "prefix-items", "an object with a name for each place"),
        (Self::Contains, "contains", "a member of its own for what must be there"),
        (Self::AnyOf, "any-of", "one flat object"),
        (Self::OneOfApart, "one-of-apart", "`anyOf`: the constant member tells them apart already"),
        (
            Self::OneOfOverlapping,
            "one-of-overlapping",
            "`anyOf`, with a `const` member that tells the alternatives apart",
        ),
        (Self::AlternativesWithSiblings, "alternatives-with-siblings", "write each alternative out in full"),
        (
            Self::RootAlternatives,
            "root-alternatives",
            "one object at the root, the alternatives below a member of it",
        ),
        (Self::AllOf, "all-of", "one schema with everything in it"),
        (Self::Not, "not", "say what is admitted: an `enum`, a `pattern`"),
        (Self::Condition, "condition", "`anyOf`, each alternative written out with its `const`"),
        (Self::Dependent, "dependent", "`anyOf`, with and without the member"),
        (Self::MemberCount, "member-count", "`required`, or an alternative for each choice"),
        (Self::PatternProperties, "pattern-properties", "an array of closed objects with `key` and `value`"),
        (Self::PropertyNames, "property-names", "an array of closed objects with `key` and `value`"),
        (Self::Reference, "reference", "write the schema in place"),
        (Self::ReferenceWithSiblings, "reference-with-siblings", "write the schema in place"),
        (Self::Recursion, "recursion", "`unroll: 4` on the route"),
        (Self::DeepReferences, "deep-references", "write the innermost schemas in place, or fewer levels"),
        (Self::Untyped, "untyped", "`type`"),
        (Self::Anything, "anything", "`type`, and what bounds it"),
        (Self::Unevaluated, "unevaluated", "`\"additionalProperties\": false`"),
        (Self::ScalarRoot, "scalar-root", "an object with one member"),
        (Self::Default, "default", "say the default in `description`"),
        (Self::Content, "content", "a `pattern`"),
        (Self::ItemsArray, "items-array", "draft 2020-12 and `prefixItems`, or an object"),
        (Self::Dependencies, "dependencies", "`anyOf`, with and without the member"),
        (Self::ExclusiveFlag, "exclusive-flag", "draft 2020-12, or inclusive bounds"),
    ];

    fn row(self) -> (&'static str, &'static str) {
        let found = Self::ALL.iter().find(|(construct, ..)| *construct == self);
        found.map_or(("", ""), |(_, name, advice)| (name, advice))
    }

    /// Its name in profiles and output.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What to write instead; empty where nothing is simpler.
    pub fn advice(self) -> &'static str {
        self.row().1
    }

    /// The construct of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(construct, ..)| *construct)
    }
}
