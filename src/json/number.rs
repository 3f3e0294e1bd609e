//! Numbers: the grammar, the limits, and a number of a document.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::parse::fault;
use super::slot::{Slot, Tag, Whole};
use super::{Decimal, MAX_DIGITS, MAX_NUMBER, SyntaxFault, SyntaxKind};

/// A number as written. Compares and divides exactly, as a decimal: `1.0`, `1` and `10e-1` are equal.
#[derive(Debug, Clone, Copy)]
pub struct Number<'d> {
    text: &'d str,
    form: Form,
}

/// What the parser saw of a number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// An integer of at most fifteen digits.
    Small(i64),
    /// Written as an integer.
    Integer,
    /// With a fraction or an exponent.
    Decimal,
}

impl Form {
    /// What a slot of this tag says. `None` for what is no number.
    #[inline]
    pub(super) fn of(tag: Tag, slot: impl FnOnce() -> Slot) -> Option<Self> {
        match tag {
            Tag::Small => Some(Self::Small(slot().whole().map_or(0, Whole::signed))),
            Tag::Integer => Some(Self::Integer),
            Tag::Decimal => Some(Self::Decimal),
            Tag::Null
            | Tag::False
            | Tag::True
            | Tag::Text
            | Tag::Escaped
            | Tag::Array
            | Tag::Object
            | Tag::Large
            | Tag::Index => None,
        }
    }
}

/// The most digits that a slot keeps. A double keeps as many.
const SMALL_DIGITS: usize = 15;

impl Whole {
    #[inline]
    pub(super) fn signed(self) -> i64 {
        let magnitude = self.magnitude.cast_signed();
        if self.negative { -magnitude } else { magnitude }
    }
}

/// Reads the number at `at`: its slot, and the offset after it.
#[inline]
pub(super) fn scan(input: &str, at: usize) -> Result<(Slot, usize), SyntaxFault> {
    let bytes = input.as_bytes();
    let first = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut magnitude = 0_u64;
    let mut end = first;
    while let Some(digit @ b'0'..=b'9') = bytes.get(end) {
        // Only looked at where it cannot have wrapped.
        magnitude = magnitude.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        end += 1;
    }
    let digits = end - first;
    if digits == 0 || (digits > 1 && bytes.get(first) == Some(&b'0')) {
        return Err(fault(SyntaxKind::Grammar, first + digits.min(1)));
    }
    let whole = Whole { negative: first > at, magnitude };
    if let Some(b'.' | b'e' | b'E') = bytes.get(end) {
        let (end, has_exponent) = fraction_end(bytes, end)?;
        // Without an exponent, few bytes are few digits and a modest magnitude.
        if has_exponent || end - first > MAX_DIGITS {
            limit(input, at, end)?;
        }
        if has_exponent || digits > SMALL_DIGITS {
            return Ok((Slot::new(Tag::Decimal, at, end, 0, 0), end));
        }
        return Ok((whole.slot(Tag::Decimal, at, end), end));
    }
    if digits <= SMALL_DIGITS {
        return Ok((whole.slot(Tag::Small, at, end), end));
    }
    if digits > MAX_DIGITS {
        limit(input, at, end)?;
    }
    Ok((Slot::new(Tag::Integer, at, end, 0, 0), end))
}

/// The end of the fraction and exponent that start at `at`, and whether there is an exponent.
fn fraction_end(bytes: &[u8], mut at: usize) -> Result<(usize, bool), SyntaxFault> {
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(bytes, at + 1)?;
    }
    if !matches!(bytes.get(at), Some(b'e' | b'E')) {
        return Ok((at, false));
    }
    let signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
    Ok((digits_end(bytes, at + 1 + usize::from(signed))?, true))
}

/// The end of the digits at `at`, of which there must be one.
fn digits_end(bytes: &[u8], at: usize) -> Result<usize, SyntaxFault> {
    let mut end = at;
    while let Some(b'0'..=b'9') = bytes.get(end) {
        end += 1;
    }
    if end == at { Err(fault(SyntaxKind::Grammar, at)) } else { Ok(end) }
}

/// Refuses a number of the grammar that is beyond our limits.
#[cold]
fn limit(input: &str, at: usize, end: usize) -> Result<(), SyntaxFault> {
    let text = input.get(at..end).unwrap_or_default();
    match Decimal::read(text) {
        Some(_) if text.len() <= MAX_NUMBER => Ok(()),
        Some(_) | None => Err(fault(SyntaxKind::NumberInexact, at)),
    }
}

impl<'d> Number<'d> {
    pub(super) fn new(text: &'d str, form: Form) -> Self {
        Self { text, form }
    }

    /// The number that a text is, if it is one within the limits of a document.
    pub fn read(text: &'d str) -> Option<Self> {
        let (slot, end) = scan(text, 0).ok()?;
        let form = Form::of(slot.tag(), || slot)?;
        (end == text.len()).then_some(Self { text, form })
    }

    /// As written.
    pub fn text(&self) -> &'d str {
        self.text
    }

    /// The value, apart from how it was written.
    pub fn decimal(&self) -> Decimal {
        match self.form {
            Form::Small(integer) => Decimal::integer(integer),
            // Whatever was parsed can be read.
            Form::Integer | Form::Decimal => Decimal::read(self.text).unwrap_or(Decimal::ZERO),
        }
    }

    /// Whether it is an integer in JSON Schema's sense: `1.0` and `1e1` are.
    #[inline]
    pub fn is_integer(&self) -> bool {
        match self.form {
            Form::Small(_) | Form::Integer => true,
            Form::Decimal => self.decimal().is_integer(),
        }
    }

    /// Whether it is written without a fraction and an exponent, which is what draft 4 calls an integer.
    #[inline]
    pub fn is_written_as_integer(&self) -> bool {
        match self.form {
            Form::Small(_) | Form::Integer => true,
            Form::Decimal => false,
        }
    }

    /// Whether dividing by `divisor` leaves an integer. Nothing but zero is a multiple of zero.
    pub fn is_multiple_of(&self, divisor: &Number<'_>) -> bool {
        self.decimal().is_multiple_of(&divisor.decimal())
    }

    /// The value as an unsigned integer, if it is one of 64 bits, however written.
    #[inline]
    pub fn as_u64(&self) -> Option<u64> {
        match self.form {
            Form::Small(integer) => u64::try_from(integer).ok(),
            Form::Integer => self.text.parse().ok(),
            Form::Decimal => self.decimal().as_u64(),
        }
    }

    /// The value as a signed integer, if it is one of 64 bits, however written.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        match self.form {
            Form::Small(integer) => Some(integer),
            Form::Integer => self.text.parse().ok(),
            Form::Decimal => self.decimal().as_i64(),
        }
    }

    /// The nearest double, which is finite.
    #[inline]
    pub fn as_f64(&self) -> f64 {
        match self.form {
            #[expect(clippy::cast_precision_loss, reason = "fifteen digits")]
            Form::Small(integer) if integer > 0 => integer as f64,
            Form::Small(_) | Form::Integer | Form::Decimal => self.text.parse().unwrap_or_default(),
        }
    }
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number<'_> {}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.form, other.form) {
            (Form::Small(one), Form::Small(other)) => one.cmp(&other),
            (Form::Small(_) | Form::Integer | Form::Decimal, _) => self.decimal().cmp(&other.decimal()),
        }
    }
}

impl PartialEq<Decimal> for Number<'_> {
    fn eq(&self, other: &Decimal) -> bool {
        self.decimal() == *other
    }
}

impl PartialOrd<Decimal> for Number<'_> {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.decimal().cmp(other))
    }
}

impl Hash for Number<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.decimal().hash(state);
    }
}
