//! Numbers and strings at a glance.

use super::{Doubt, Step};
use crate::form::exact::Limit;
use crate::json::{Decimal, NameBuffer, Quoted, Reader, Short, Strict};
use jsonschema::Validator;
use jsonschema::json::Json;
use std::cell::RefCell;

/// What a number must be.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Whether a point is too rare to know: `1.0` is an integer to some drafts, and not to every backend.
    pub(super) is_integer: bool,
    /// The least and the greatest integer that keep to `bounds`; the wrong way round where none does.
    pub(super) least: i64,
    pub(super) greatest: i64,
    pub(super) bounds: Vec<Limit>,
    /// `enum` and `const`.
    pub(super) one_of: Option<Vec<Decimal>>,
    pub(super) divisor: Option<Limit>,
}

/// What a string must be.
#[derive(Debug)]
pub(super) struct Texts {
    /// In characters.
    pub(super) fewest: usize,
    pub(super) most: usize,
    /// `enum` and `const`, sorted: those of them that all else admits.
    pub(super) one_of: Option<Vec<Quoted>>,
    /// What the validator has to say: patterns, formats.
    pub(super) rule: Option<usize>,
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
        let (number, end) = reader.number(at).ok_or(Doubt::Unsure)?;
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
            && !one_of.contains(&number.decimal())
        {
            return Err(Doubt::Unfit);
        }
        if let Some(divisor) = &self.divisor {
            keep(std::slice::from_ref(divisor), number)?;
        }
        Ok(end)
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
        if let Some(texts) = &self.one_of {
            return one_of(texts, reader, at);
        }
        let quote = reader.plain_end(at);
        if reader.byte(quote) != Some(b'"') {
            return self.escaped(reader, at, quote);
        }
        // A character takes one to four bytes.
        let size = quote - at - 1;
        if size > self.most || size.div_ceil(4) < self.fewest {
            self.measure(reader.between(at + 1, quote).chars().count())?;
        }
        if let Some(rule) = self.rule {
            ask(rules.get(rule), reader.between(at + 1, quote))?;
        }
        Ok(quote + 1)
    }

    /// A string with escapes: its length is known, and nothing else.
    #[inline(never)]
    fn escaped(&self, reader: Reader<'_>, at: usize, escape: usize) -> Step {
        if self.rule.is_some() {
            return Err(Doubt::Unsure);
        }
        let (quote, characters) = reader.escaped(at, escape).ok_or(Doubt::Unsure)?;
        self.measure(characters)?;
        Ok(quote + 1)
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

/// Up to as many texts are compared one after the other.
const FEW: usize = 12;

fn one_of(texts: &[Quoted], reader: Reader<'_>, at: usize) -> Step {
    if texts.len() <= FEW
        && let Some(end) = texts.iter().find_map(|text| reader.quoted(at, text))
    {
        return Ok(end);
    }
    let quote = reader.plain_end(at);
    // With an escape in it, it may be one all the same.
    if reader.byte(quote) != Some(b'"') {
        return Err(Doubt::Unsure);
    }
    let end = quote + 1;
    let here = reader.between(at, end);
    match texts.binary_search_by(|text| text.as_str().cmp(here)) {
        Ok(_) => Ok(end),
        Err(_) => Err(Doubt::Unfit),
    }
}

#[inline(never)]
fn ask(rule: Option<&Rule>, text: &str) -> Result<(), Doubt> {
    let Some(Rule(validator)) = rule else { return Err(Doubt::Unsure) };
    let admits = BARE
        .with_borrow_mut(|buffer| Strict::with_string_node(buffer, text, |value| validator.is_valid(value)));
    if admits { Ok(()) } else { Err(Doubt::Unfit) }
}
