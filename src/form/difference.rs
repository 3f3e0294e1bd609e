//! How two forms differ: what the newer one admits and the older one does not, and the other way round.
//!
//! The schema algebra decides where it can; values are looked for besides, and one that is found is proof. So a
//! claim of "nothing" is the algebra's alone, never contradicted by a value that was tried, and whatever neither
//! decides is [`Excess::Unknown`].

use super::candidates::{self, Pool};
use super::{Change, CompiledForm, compare};
use crate::json::Document;
use serde_json::Value as Serde;

/// Values made to find one that fits one form and not the other.
const TRIES: usize = 400;
/// The same from the algebra's own difference, nearly every one of which should do.
const LIKELY_TRIES: usize = 100;
/// Checks that make an example smaller.
const SHRINKS: usize = 200;

/// What one form admits and the other does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excess {
    /// Proved: nothing.
    None,
    /// Something.
    Some {
        /// JSON text of such a value, small where it could be made small; made from the forms, never a client's.
        example: Option<String>,
    },
    /// Neither proved nor found.
    Unknown,
}

/// How a newer form differs from an older one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What the newer admits and the older refused.
    pub admits: Excess,
    /// What the newer refuses and the older admitted.
    pub refuses: Excess,
}

impl Difference {
    /// Both admit the same values.
    pub const SAME: Self = Self { admits: Excess::None, refuses: Excess::None };

    /// In one word.
    pub fn change(&self) -> Change {
        match (&self.refuses, &self.admits) {
            (Excess::None, Excess::None) => Change::Same,
            (Excess::None, Excess::Some { .. } | Excess::Unknown) => Change::Widened,
            (Excess::Some { .. } | Excess::Unknown, Excess::None) => Change::Narrowed,
            (Excess::Some { .. }, Excess::Some { .. }) => Change::Both,
            (Excess::Unknown, Excess::Some { .. } | Excess::Unknown)
            | (Excess::Some { .. }, Excess::Unknown) => Change::Unknown,
        }
    }
}

impl CompiledForm {
    /// What `newer` admits and refuses compared with `self`, with an example for each direction where one was found. Takes
    /// milliseconds for forms of usual size.
    pub fn difference(&self, newer: &Self) -> Difference {
        let proved = self.proved(newer);
        if self.reads_like(newer) {
            return proved;
        }
        let pool = Pool::of([self.standard(), newer.standard()], self.safe.is_some() || newer.safe.is_some());
        Difference {
            admits: searched(newer, self, proved.admits, &pool),
            refuses: searched(self, newer, proved.refuses, &pool),
        }
    }

    /// The same by proof alone, without examples.
    pub fn proved(&self, newer: &Self) -> Difference {
        if self.reads_like(newer) {
            return Difference::SAME;
        }
        Difference { admits: newer.beyond(self), refuses: self.beyond(newer) }
    }

    fn reads_like(&self, other: &Self) -> bool {
        self.safe.is_some() == other.safe.is_some() && self.published == other.published
    }

    /// What `self` admits and `other` does not.
    fn beyond(&self, other: &Self) -> Excess {
        // The algebra knows the forms with their numbers rounded, and not how a backend reads `1.0`.
        if self.rounded || other.rounded {
            return Excess::Unknown;
        }
        let known = match (self.safe.is_some(), other.safe.is_some()) {
            (_, false) => true,
            (false, true) => false,
            (true, true) => !self.loose && !other.loose,
        };
        match compare::is_within(self.standard(), other.standard()) {
            Some(true) if known => Excess::None,
            // A value by which the schemas differ might not be safe.
            Some(false) if self.safe.is_none() => Excess::Some { example: None },
            Some(true | false) | None => Excess::Unknown,
        }
    }

    /// The whole judgement about a text, but for its length.
    fn takes(&self, document: &mut Document, text: &str) -> bool {
        document.parse(text.as_bytes()).is_ok_and(|value| self.admits(value) && self.numbers_safe(value))
    }
}

/// Looks for a value that `one` admits and `other` does not.
fn searched(one: &CompiledForm, other: &CompiledForm, proved: Excess, pool: &Pool) -> Excess {
    let mut document = Document::new();
    let mut differs = |value: &Serde| {
        let text = value.to_string();
        one.takes(&mut document, &text) && !other.takes(&mut document, &text)
    };
    let mut best: Option<Serde> = None;
    let mut keep = |value: Serde| {
        if best.as_ref().is_none_or(|best| candidates::weight(&value) < candidates::weight(best))
            && differs(&value)
        {
            best = Some(value);
        }
    };
    if proved != Excess::None
        && let Some(schema) = compare::beyond(one.standard(), other.standard())
    {
        candidates::values(&schema, pool, LIKELY_TRIES).for_each(&mut keep);
    }
    candidates::values(one.standard(), pool, TRIES).for_each(&mut keep);
    match best {
        Some(value) => {
            let small = candidates::shrunk(value, SHRINKS, &mut differs);
            Excess::Some { example: Some(small.to_string()) }
        }
        None => proved,
    }
}
