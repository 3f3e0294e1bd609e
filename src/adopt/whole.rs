//! One schema with its `$ref` and `allOf` written out: what all of its parts say, gathered.

use super::ordered::Ordered;
use super::source::Place;
use super::written::Written;
use crate::json::Decimal;
use std::collections::HashSet;

/// Sets of JSON types. An integer is a number; `NUMBER` stands for those that are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const OBJECT: Self = Self(4);
    pub(super) const ARRAY: Self = Self(8);
    pub(super) const INTEGER: Self = Self(32);
    pub(super) const NUMERIC: Self = Self(48);
    pub(super) const STRING: Self = Self(64);
    pub(super) const ALL: Self = Self(127);

    /// The set that a name in `type` stands for.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "object" => Self::OBJECT,
            "array" => Self::ARRAY,
            "number" => Self::NUMERIC,
            "integer" => Self::INTEGER,
            "string" => Self::STRING,
            _ => return None,
        })
    }

    pub(super) fn of(value: &Written) -> Self {
        match value {
            Written::Null => Self::NULL,
            Written::Boolean(_) => Self::BOOLEAN,
            Written::Number { text, .. } => {
                if Decimal::read(text).is_some_and(|number| number.is_integer()) {
                    Self::INTEGER
                } else {
                    Self(16)
                }
            }
            Written::Text(_) => Self::STRING,
            Written::Array(_) => Self::ARRAY,
            Written::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The names for `type`, `null` last.
    pub(super) fn names(self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for (kind, name) in [
            (Self::STRING, "string"),
            (Self(16), "number"),
            (Self::INTEGER, "integer"),
            (Self::BOOLEAN, "boolean"),
            (Self::OBJECT, "object"),
            (Self::ARRAY, "array"),
            (Self::NULL, "null"),
        ] {
            if self.has(kind) && !(name == "integer" && names.contains(&"number")) {
                names.push(name);
            }
        }
        names
    }
}

/// A limit of numbers, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Limit {
    pub(super) text: String,
    pub(super) open: bool,
}

impl Limit {
    /// Whether it leaves less room than another, on one side.
    fn is_tighter(&self, other: &Self, low: bool) -> bool {
        match (Decimal::read(&self.text), Decimal::read(&other.text)) {
            (Some(own), Some(others)) if own == others => self.open && !other.open,
            (Some(own), Some(others)) => (own > others) == low,
            _ => false,
        }
    }
}

/// What one schema says about members that it does not name.
#[derive(Debug, Clone)]
pub(super) struct Closing<'d> {
    pub(super) rule: Rule<'d>,
    /// Names that it declares itself.
    pub(super) own: HashSet<&'d str>,
    /// Whether it declares patterns besides.
    pub(super) patterned: bool,
    /// Where the rule stands.
    pub(super) at: String,
}

#[derive(Debug, Clone)]
pub(super) enum Rule<'d> {
    None,
    Any,
    Each(Place<'d>),
}

/// `anyOf` or `oneOf`.
#[derive(Debug, Clone)]
pub(super) struct Alternatives<'d> {
    pub(super) one: bool,
    pub(super) of: Vec<Place<'d>>,
    /// The member that tells them apart, and for each alternative the values that it has there.
    pub(super) told_by: Option<(String, Vec<Vec<String>>)>,
    pub(super) at: String,
}

/// A declared member: all of the schemas that it has, and the values that it is held to by a discriminator.
#[derive(Debug, Clone, Default)]
pub(super) struct Property<'d> {
    pub(super) places: Vec<Place<'d>>,
    pub(super) only: Option<Vec<String>>,
}

#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is a keyword")]
pub(super) struct Whole<'d> {
    /// Where it begins.
    pub(super) at: String,
    pub(super) kinds: Kinds,
    pub(super) typed: bool,
    pub(super) values: Option<Vec<Written>>,
    pub(super) low: Option<Limit>,
    pub(super) high: Option<Limit>,
    pub(super) multiples: Ordered<()>,
    pub(super) min_length: u64,
    pub(super) max_length: Option<u64>,
    /// Each with the place where it stands.
    pub(super) patterns: Ordered<String>,
    pub(super) formats: Ordered<()>,
    pub(super) items: Vec<Place<'d>>,
    pub(super) prefix: Vec<Place<'d>>,
    pub(super) contains: Vec<(Place<'d>, Option<u64>)>,
    pub(super) min_items: u64,
    pub(super) max_items: Option<u64>,
    pub(super) unique: bool,
    pub(super) properties: Ordered<Property<'d>>,
    pub(super) required: Ordered<()>,
    pub(super) closings: Vec<Closing<'d>>,
    pub(super) patterned: Vec<(String, Place<'d>)>,
    pub(super) names: Vec<Place<'d>>,
    pub(super) min_properties: u64,
    pub(super) max_properties: Option<u64>,
    pub(super) dependent: Vec<(String, Vec<String>)>,
    pub(super) alternatives: Vec<Alternatives<'d>>,
    /// Keywords taken over as they stand: `not`, `if` with its branches.
    pub(super) verbatim: Vec<Vec<(String, Written)>>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) default: Option<(String, Written)>,
    pub(super) deprecated: bool,
    pub(super) read_only: bool,
    /// The references that were followed: their targets.
    pub(super) through: HashSet<usize>,
    /// Those that are being followed.
    pub(super) open: Vec<usize>,
}

impl Whole<'_> {
    /// What says nothing yet.
    pub(super) fn at(at: &str) -> Self {
        Self {
            at: at.to_owned(),
            kinds: Kinds::ALL,
            typed: false,
            values: None,
            low: None,
            high: None,
            multiples: Ordered::default(),
            min_length: 0,
            max_length: None,
            patterns: Ordered::default(),
            formats: Ordered::default(),
            items: Vec::new(),
            prefix: Vec::new(),
            contains: Vec::new(),
            min_items: 0,
            max_items: None,
            unique: false,
            properties: Ordered::default(),
            required: Ordered::default(),
            closings: Vec::new(),
            patterned: Vec::new(),
            names: Vec::new(),
            min_properties: 0,
            max_properties: None,
            dependent: Vec::new(),
            alternatives: Vec::new(),
            verbatim: Vec::new(),
            title: None,
            description: None,
            default: None,
            deprecated: false,
            read_only: false,
            through: HashSet::new(),
            open: Vec::new(),
        }
    }

    /// Only these types.
    pub(super) fn hold_to(&mut self, kinds: Kinds) {
        self.kinds = self.kinds.and(kinds);
        self.typed = true;
    }

    /// Only these values.
    pub(super) fn list(&mut self, values: Vec<Written>) {
        let kept = match self.values.take() {
            None => values,
            Some(known) => {
                let values: HashSet<Written> = values.into_iter().collect();
                known.into_iter().filter(|value| values.contains(value)).collect()
            }
        };
        self.values = Some(kept);
    }

    pub(super) fn at_least(&mut self, text: String, open: bool) {
        let limit = Limit { text, open };
        if self.low.as_ref().is_none_or(|known| limit.is_tighter(known, true)) {
            self.low = Some(limit);
        }
    }

    pub(super) fn at_most(&mut self, text: String, open: bool) {
        let limit = Limit { text, open };
        if self.high.as_ref().is_none_or(|known| limit.is_tighter(known, false)) {
            self.high = Some(limit);
        }
    }

    pub(super) fn require(&mut self, name: &str) {
        self.required.entry(name);
    }

    pub(super) fn requires(&self, name: &str) -> bool {
        self.required.has(name)
    }

    /// What it says for readers only; alternatives say their own.
    pub(super) fn take_words(&mut self) -> Words {
        Words {
            title: self.title.take(),
            description: self.description.take(),
            default: self.default.take(),
            deprecated: std::mem::take(&mut self.deprecated),
        }
    }

    /// The types that are left: what `type` and the values say, or else what the other keywords speak of.
    pub(super) fn meant(&self) -> Kinds {
        if let Some(values) = &self.values {
            let listed = values.iter().map(Kinds::of).fold(Kinds::NONE, Kinds::or);
            return self.kinds.and(listed);
        }
        if self.typed {
            return self.kinds;
        }
        let speaks = |speaks: bool, kind| if speaks { kind } else { Kinds::NONE };
        let object = !self.properties.is_empty()
            || !self.required.is_empty()
            || !self.closings.is_empty()
            || !self.patterned.is_empty()
            || !self.names.is_empty()
            || !self.dependent.is_empty()
            || self.max_properties.is_some()
            || self.min_properties > 0;
        let array = !self.items.is_empty()
            || !self.prefix.is_empty()
            || !self.contains.is_empty()
            || self.max_items.is_some()
            || self.min_items > 0
            || self.unique;
        let string = !self.patterns.is_empty()
            || !self.formats.is_empty()
            || self.max_length.is_some()
            || self.min_length > 0;
        let number = self.low.is_some() || self.high.is_some() || !self.multiples.is_empty();
        speaks(object, Kinds::OBJECT)
            .or(speaks(array, Kinds::ARRAY))
            .or(speaks(string, Kinds::STRING))
            .or(speaks(number, Kinds::NUMERIC))
    }
}

/// What a schema says for readers only.
#[derive(Debug, Clone)]
pub(super) struct Words {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) default: Option<(String, Written)>,
    pub(super) deprecated: bool,
}
