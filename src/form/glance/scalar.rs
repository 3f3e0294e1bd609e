//! Numbers and strings at a glance.

use super::{Doubt, Step};
use crate::form::exact::Limit;
use crate::json::{Decimal, NameBuffer, Quoted, Reader, Short, Strict};
use foldhash::fast::RandomState;
use jsonschema::Validator;
use jsonschema::json::Json;
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

/// What a number must be.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Whether a point is too rare to know: `1.0` is an integer to some drafts, and not to every backend.
    pub(super) is_integer: bool,
    /// The least and the greatest integer that keep to `bounds`; the wrong way round where none does.
    pub(super) least: i64,
    pub(super) greatest: i64,
    pub(super) bounds: Vec<Limit>,
    /// `enum` and `const`, sorted.
    pub(super) one_of: Option<Vec<Decimal>>,
    pub(super) divisor: Option<Limit>,
    /// Whether nothing but `least` and `greatest` has to be looked at where they are kept to.
    pub(super) is_range: bool,
}

/// What a string must be.
#[derive(Debug)]
pub(super) struct Texts {
    /// In characters.
    pub(super) fewest: usize,
    pub(super) most: usize,
    /// As many bytes are never fewer characters than `fewest`.
    pub(super) enough: usize,
    /// `enum` and `const`: those of them that all else admits.
    pub(super) one_of: Option<OneOf>,
    /// What the validator has to say: patterns, formats.
    pub(super) rule: Option<Arc<Rule>>,
    /// Whether nothing but the length has to be looked at.
    pub(super) is_range: bool,
}

/// Some texts.
#[derive(Debug)]
pub(super) enum OneOf {
    /// Few enough to be compared one after the other.
    Few(Vec<Quoted>),
    /// With their quotes.
    Many(HashSet<Box<str>, RandomState>),
}

/// The validator of what is said about strings alone.
#[derive(Debug)]
pub(super) struct Rule(pub(super) Validator<Strict>);

thread_local! {
    /// Where a string stands while a rule is asked.
    static BARE: RefCell<NameBuffer> = RefCell::default();
}

impl Numbers {
    #[inline(never)]
    pub(super) fn read(&self, reader: Reader<'_>, at: usize) -> Step {
        match reader.number(at) {
            Some(Ok((number, end))) if self.is_range && self.holds(number) => Ok(end),
            // What is rare comes last: then nothing has to be put aside for it.
            Some(_) | None => self.read_closely(reader, at),
        }
    }

    /// Whether what is looked at first is all that has to be.
    #[inline]
    fn holds(&self, number: Short) -> bool {
        let whole = number.whole();
        // What stands behind a point leads away from zero, by less than one.
        let (low, high) = match (number.has_places, number.negative) {
            (false, _) => (whole, whole),
            (true, false) => (whole, whole + 1),
            (true, true) => (whole - 1, whole),
        };
        self.least <= low && high <= self.greatest && !(number.has_places && self.is_integer)
    }

    #[inline(never)]
    fn read_closely(&self, reader: Reader<'_>, at: usize) -> Step {
        let (number, end) = reader.long_number(at).map_err(|end| Doubt::Unsure.at(end))?;
        if number.has_places && self.is_integer {
            return Err(Doubt::Unsure.at(end));
        }
        let decimal = Decimal::read(reader.between(at, end)).ok_or(Doubt::Unsure.at(end))?;
        let fits = (self.holds(number) || self.bounds.iter().all(|limit| limit.admits(decimal)))
            && self.one_of.as_ref().is_none_or(|one_of| one_of.binary_search(&decimal).is_ok())
            && self.divisor.as_ref().is_none_or(|divisor| divisor.admits(decimal));
        if fits { Ok(end) } else { Err(Doubt::Unfit.at(end)) }
    }
}

impl Texts {
    #[inline(never)]
    pub(super) fn read(&self, reader: Reader<'_>, at: usize) -> Step {
        if self.is_range {
            let quote = reader.plain_end(at);
            let size = quote - at - 1;
            // Of ASCII, each byte is a character.
            let is_enough = size >= self.enough || size >= self.fewest && reader.is_ascii(at + 1, quote);
            if is_enough && size <= self.most && reader.byte(quote) == Some(b'"') {
                return Ok(quote + 1);
            }
        }
        // What is rarer comes last: then nothing has to be put aside for it.
        self.read_closely(reader, at)
    }

    #[inline(never)]
    fn read_closely(&self, reader: Reader<'_>, at: usize) -> Step {
        if let Some(one_of) = &self.one_of {
            return one_of.read(reader, at);
        }
        let quote = reader.plain_end(at);
        if reader.byte(quote) != Some(b'"') {
            return self.escaped(reader, at, quote);
        }
        let text = reader.between(at + 1, quote);
        let fits = || {
            if !(self.enough..=self.most).contains(&text.len()) {
                self.measure(text.chars().count())?;
            }
            self.rule.as_ref().map_or(Ok(()), |rule| rule.ask(text))
        };
        fits().map(|()| quote + 1).map_err(|doubt| doubt.at(quote))
    }

    /// A string with escapes: its length is known, and nothing else.
    fn escaped(&self, reader: Reader<'_>, at: usize, escape: usize) -> Step {
        if self.rule.is_some() {
            return Err(Doubt::Unsure.at(escape));
        }
        let (quote, characters) = reader.escaped(at, escape).map_err(|end| Doubt::Unsure.at(end))?;
        self.measure(characters).map(|()| quote + 1).map_err(|doubt| doubt.at(quote))
    }

    /// Whether a string keeps to all but `one_of`.
    pub(super) fn admits(&self, text: &str) -> bool {
        let rule = self.rule.as_ref().map_or(Ok(()), |rule| rule.ask(text));
        self.measure(text.chars().count()).and(rule).is_ok()
    }

    fn measure(&self, characters: usize) -> Result<(), Doubt> {
        if (self.fewest..=self.most).contains(&characters) { Ok(()) } else { Err(Doubt::Unfit) }
    }
}

/// Up to as many texts are few.
const FEW: usize = 12;

impl OneOf {
    pub(super) fn new(texts: Vec<Quoted>) -> Self {
        if texts.len() <= FEW {
            return Self::Few(texts);
        }
        Self::Many(texts.iter().map(|text| text.as_str().into()).collect())
    }

    fn read(&self, reader: Reader<'_>, at: usize) -> Step {
        if let Self::Few(texts) = self
            && let Some(end) = texts.iter().find_map(|text| reader.quoted(at, text))
        {
            return Ok(end);
        }
        let quote = reader.plain_end(at);
        // With an escape in it, it may be one all the same.
        if reader.byte(quote) != Some(b'"') {
            return Err(Doubt::Unsure.at(quote));
        }
        let end = quote + 1;
        match self {
            Self::Many(texts) if texts.contains(reader.between(at, end)) => Ok(end),
            Self::Few(_) | Self::Many(_) => Err(Doubt::Unfit.at(end)),
        }
    }
}

impl Rule {
    #[inline(never)]
    fn ask(&self, text: &str) -> Result<(), Doubt> {
        let admits = BARE
            .with_borrow_mut(|buffer| Strict::with_string_node(buffer, text, |value| self.0.is_valid(value)));
        if admits { Ok(()) } else { Err(Doubt::Unfit) }
    }
}
