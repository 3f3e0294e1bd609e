//! Numbers and strings at a glance.

use super::{Doubt, Step};
use crate::form::exact::Limit;
use crate::json::{Decimal, NameBuffer, Quoted, Reader, Short, Strict};
use foldhash::fast::RandomState;
use jsonschema::Validator;
use jsonschema::json::Json;
use std::cell::RefCell;
use std::collections::HashSet;

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
}

/// What a string must be.
#[derive(Debug)]
pub(super) struct Texts {
    /// In characters.
    pub(super) fewest: usize,
    pub(super) most: usize,
    /// `enum` and `const`: those of them that all else admits.
    pub(super) one_of: Option<OneOf>,
    /// What the validator has to say: patterns, formats.
    pub(super) rule: Option<usize>,
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
    #[inline]
    pub(super) fn read(&self, reader: Reader<'_>, at: usize) -> Step {
        let (number, end) = reader.number(at).map_err(|end| Doubt::Unsure.at(end))?;
        self.hold(number).map(|()| end).map_err(|doubt| doubt.at(end))
    }

    #[inline]
    fn hold(&self, number: Short) -> Result<(), Doubt> {
        let whole = number.whole();
        if number.places == 0 {
            if !(self.least..=self.greatest).contains(&whole) {
                return Err(Doubt::Unfit);
            }
        } else if self.is_integer {
            return Err(Doubt::Unsure);
        } else {
            // What stands behind the point leads away from zero, by less than one.
            let (low, high) = if number.negative { (whole - 1, whole) } else { (whole, whole + 1) };
            if low < self.least || self.greatest < high {
                keep(&self.bounds, number)?;
            }
        }
        if let Some(one_of) = &self.one_of
            && one_of.binary_search(&number.decimal()).is_err()
        {
            return Err(Doubt::Unfit);
        }
        match &self.divisor {
            Some(divisor) => keep(std::slice::from_ref(divisor), number),
            None => Ok(()),
        }
    }
}

#[inline(never)]
fn keep(limits: &[Limit], number: Short) -> Result<(), Doubt> {
    let decimal = number.decimal();
    if limits.iter().all(|limit| limit.admits(decimal)) { Ok(()) } else { Err(Doubt::Unfit) }
}

impl Texts {
    #[inline]
    pub(super) fn read(&self, reader: Reader<'_>, at: usize, rules: &[Rule]) -> Step {
        if let Some(one_of) = &self.one_of {
            return one_of.read(reader, at);
        }
        let quote = reader.plain_end(at);
        if reader.byte(quote) != Some(b'"') {
            return self.escaped(reader, at, quote);
        }
        // A character takes one to four bytes.
        let size = quote - at - 1;
        if size > self.most || size.div_ceil(4) < self.fewest {
            let characters = reader.between(at + 1, quote).chars().count();
            self.measure(characters).map_err(|doubt| doubt.at(quote))?;
        }
        if let Some(rule) = self.rule {
            ask(rules.get(rule), reader.between(at + 1, quote)).map_err(|doubt| doubt.at(quote))?;
        }
        Ok(quote + 1)
    }

    /// A string with escapes: its length is known, and nothing else.
    #[inline(never)]
    fn escaped(&self, reader: Reader<'_>, at: usize, escape: usize) -> Step {
        if self.rule.is_some() {
            return Err(Doubt::Unsure.at(escape));
        }
        let (quote, characters) = reader.escaped(at, escape).map_err(|end| Doubt::Unsure.at(end))?;
        self.measure(characters).map(|()| quote + 1).map_err(|doubt| doubt.at(quote))
    }

    /// Whether a string keeps to all but `one_of`.
    pub(super) fn admits(&self, text: &str, rules: &[Rule]) -> bool {
        let rule = self.rule.map_or(Ok(()), |rule| ask(rules.get(rule), text));
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

#[inline(never)]
fn ask(rule: Option<&Rule>, text: &str) -> Result<(), Doubt> {
    let Some(Rule(validator)) = rule else { return Err(Doubt::Unsure) };
    let admits = BARE
        .with_borrow_mut(|buffer| Strict::with_string_node(buffer, text, |value| validator.is_valid(value)));
    if admits { Ok(()) } else { Err(Doubt::Unfit) }
}
