//! Lints: what a form may do, and better would not. Each has a level, per gateway and per route.

/// How much weight a lint has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Not looked at.
    Allow,
    /// Reported; the form loads.
    Warn,
    /// Refuses the form.
    Deny,
}

/// The lints, each with a stable kebab-case name used in config and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lint {
    /// A keyword beside no `type`, or beside one, that it says something about.
    MissingType,
    /// An object that takes members nobody declared.
    OpenObject,
    /// A string without a longest length.
    UnboundedString,
    /// An array without a largest count.
    UnboundedArray,
    /// `oneOf`, where `anyOf` says the same to a reader that fills in.
    OneOf,
    /// A reference that leads back to a schema it is part of.
    UnboundedRecursion,
    /// A pattern that holds wherever a part of the text matches.
    UnanchoredPattern,
    /// The longest value that is admitted is longer than the route's `max_body`.
    LargestBody,
    /// No `description` at the root.
    MissingDescription,
    /// `uniqueItems` on arrays that may become large.
    UniqueItems,
    /// A member name that means something to frameworks.
    FrameworkMember,
    /// `readOnly` or `writeOnly`: a form is a request, say what is meant.
    ReadWriteOnly,
    /// `$id` below the root: readers that do not follow it resolve other references than we do.
    EmbeddedId,
    /// Alternatives that multiply along references: a body may cost more than it weighs.
    RepeatedWork,
}

impl Lint {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::MissingType,
        Self::OpenObject,
        Self::UnboundedString,
        Self::UnboundedArray,
        Self::OneOf,
        Self::UnboundedRecursion,
        Self::UnanchoredPattern,
        Self::LargestBody,
        Self::MissingDescription,
        Self::UniqueItems,
        Self::FrameworkMember,
        Self::ReadWriteOnly,
        Self::EmbeddedId,
        Self::RepeatedWork,
    ];

    /// Its name in config and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::MissingType => "missing-type",
            Self::OpenObject => "open-object",
            Self::UnboundedString => "unbounded-string",
            Self::UnboundedArray => "unbounded-array",
            Self::OneOf => "one-of",
            Self::UnboundedRecursion => "unbounded-recursion",
            Self::UnanchoredPattern => "unanchored-pattern",
            Self::LargestBody => "largest-body",
            Self::MissingDescription => "missing-description",
            Self::UniqueItems => "unique-items",
            Self::FrameworkMember => "framework-member",
            Self::ReadWriteOnly => "read-write-only",
            Self::EmbeddedId => "embedded-id",
            Self::RepeatedWork => "repeated-work",
        }
    }

    /// The lint of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|lint| lint.name() == name)
    }

    /// Its level where nothing else is said.
    pub fn default_level(self) -> Level {
        match self {
            Self::UnboundedRecursion => Level::Deny,
            Self::MissingType
            | Self::OpenObject
            | Self::UnboundedString
            | Self::UnboundedArray
            | Self::OneOf
            | Self::UnanchoredPattern
            | Self::LargestBody
            | Self::MissingDescription
            | Self::UniqueItems
            | Self::FrameworkMember
            | Self::ReadWriteOnly
            | Self::EmbeddedId
            | Self::RepeatedWork => Level::Warn,
        }
    }
}

/// The level of each lint: the defaults, overridden per gateway, then per route.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct LintLevels {
    set: Vec<(Lint, Level)>,
}

impl LintLevels {
    /// Overrides the level of one lint.
    pub fn set(&mut self, lint: Lint, level: Level) {
        self.set.retain(|(other, _)| *other != lint);
        self.set.push((lint, level));
    }

    /// The level of one lint.
    pub fn of(&self, lint: Lint) -> Level {
        self.set.iter().find(|(other, _)| *other == lint).map_or(lint.default_level(), |(_, level)| *level)
    }
}
