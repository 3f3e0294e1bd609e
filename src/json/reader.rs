//! A cursor for whoever knows what should come: the same strict JSON as [`super::Document`], step by step and
//! without keeping anything.
//!
//! It takes less than the parser, never more: where a step gives nothing, the bytes are either no strict JSON or
//! something rare, and the parser is to be asked. Its user has to see for itself that no name comes twice and that
//! containers are not too deep.

use super::Decimal;
use super::parse::{decode, space_end};
use super::text::{escape, plain_end, word};

/// A text that is read. Offsets are bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'t> {
    text: &'t str,
}

/// A number of at most fifteen digits, without exponent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Short {
    pub(crate) negative: bool,
    /// What stands before the point.
    pub(crate) whole: u64,
    /// All digits, those behind the point too.
    pub(crate) magnitude: u64,
    /// How many digits stand behind the point; zero where there is none.
    pub(crate) places: u32,
}

/// A text with its quotes, to be compared with what stands in a body.
#[derive(Debug)]
pub(crate) struct Quoted {
    text: Box<str>,
    /// The first eight of them, and which bits of eight these are.
    first: u64,
    mask: u64,
    /// The last eight, where there are more.
    last: u64,
}

/// The most digits of a [`Short`].
const DIGITS: usize = 15;

impl Quoted {
    /// A name or a string, if it can stand in a body without escapes.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let text: Box<str> = ["\"", text, "\""].concat().into();
        let bytes = text.as_bytes();
        if plain_end(bytes, 1) != bytes.len() - 1 {
            return None;
        }
        let (first, mask) = bytes
            .iter()
            .take(8)
            .rev()
            .fold((0, 0), |(first, mask), byte| (first << 8 | u64::from(*byte), mask << 8 | 0xFF));
        let last = bytes.len().checked_sub(8).and_then(|at| word(bytes, at)).unwrap_or_default();
        Some(Self { text, first, mask, last })
    }

    /// With its quotes.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl<'t> Reader<'t> {
    /// A body, if it is text and neither too long nor marked.
    pub(crate) fn new(bytes: &'t [u8]) -> Option<Self> {
        decode(bytes).ok().map(|text| Self { text })
    }

    #[inline]
    fn bytes(self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// What stands there.
    #[inline]
    pub(crate) fn byte(self, at: usize) -> Option<u8> {
        self.bytes().get(at).copied()
    }

    /// The text between two offsets.
    #[inline]
    pub(crate) fn between(self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The first byte from `at` on that is not white space.
    #[inline]
    pub(crate) fn space_end(self, at: usize) -> usize {
        space_end(self.bytes(), at)
    }

    /// Whether nothing but white space stands from `at` on.
    pub(crate) fn is_end(self, at: usize) -> bool {
        self.space_end(at) == self.bytes().len()
    }

    /// The end of a text that stands there.
    #[inline]
    pub(crate) fn quoted(self, at: usize, text: &Quoted) -> Option<usize> {
        let size = text.text.len();
        let end = at + size;
        if let Some(first) = word(self.bytes(), at) {
            if first & text.mask != text.first {
                return None;
            }
            if size <= 8 {
                return Some(end);
            }
            if size <= 16 {
                return (word(self.bytes(), end - 8) == Some(text.last)).then_some(end);
            }
        }
        (self.bytes().get(at..end) == Some(text.text.as_bytes())).then_some(end)
    }

    /// Where the string that starts behind the quote at `at` stops being plain: at its closing quote, or where
    /// [`Self::escaped`] has to go on.
    #[inline]
    pub(crate) fn plain_end(self, at: usize) -> usize {
        plain_end(self.bytes(), at + 1)
    }

    /// The end of the word that stands there.
    #[inline]
    pub(crate) fn literal(self, at: usize, word: &str) -> Option<usize> {
        let end = at + word.len();
        (self.bytes().get(at..end) == Some(word.as_bytes())).then_some(end)
    }

    /// The closing quote of a string whose quote is at `at` and whose first escape at `first`, and how many characters it
    /// stands for. Or where it is left.
    pub(crate) fn escaped(self, at: usize, first: usize) -> Result<(usize, usize), usize> {
        let mut characters = 0;
        let mut plain = at + 1;
        let mut end = first;
        loop {
            characters += self.between(plain, end).chars().count();
            match self.byte(end) {
                Some(b'"') => return Ok((end, characters)),
                Some(b'\\') => {
                    let (_, after) = escape(self.bytes(), end).map_err(|_| end)?;
                    characters += 1;
                    plain = after;
                    end = plain_end(self.bytes(), after);
                }
                Some(_) | None => return Err(end),
            }
        }
    }

    /// The number that stands there, and where it ends. Or where it is left.
    #[inline]
    pub(crate) fn number(self, at: usize) -> Result<(Short, usize), usize> {
        let negative = self.byte(at) == Some(b'-');
        let first = at + usize::from(negative);
        let (whole, mut end) = self.digits(0, first);
        let count = end - first;
        if count == 0 || count > 1 && self.byte(first) == Some(b'0') {
            return Err(end);
        }
        let (mut magnitude, mut places) = (whole, 0);
        if self.byte(end) == Some(b'.') {
            let start = end + 1;
            (magnitude, end) = self.digits(magnitude, start);
            places = end - start;
            if places == 0 {
                return Err(end);
            }
        }
        // Anything longer has wrapped.
        if count + places > DIGITS || matches!(self.byte(end), Some(b'e' | b'E')) {
            return Err(end);
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most fifteen")]
        Ok((Short { negative, whole, magnitude, places: places as u32 }, end))
    }

    /// Goes over digits: what they make of a number, and where they end.
    #[inline]
    fn digits(self, mut magnitude: u64, mut at: usize) -> (u64, usize) {
        while let Some(digit @ b'0'..=b'9') = self.byte(at) {
            magnitude = magnitude.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            at += 1;
        }
        (magnitude, at)
    }
}

impl Short {
    /// An integer.
    pub(crate) fn integer(integer: i64) -> Self {
        let whole = integer.unsigned_abs();
        Self { negative: integer < 0, whole, magnitude: whole, places: 0 }
    }

    /// What stands before the point, with its sign.
    #[inline]
    pub(crate) fn whole(self) -> i64 {
        let whole = self.whole.cast_signed();
        if self.negative { -whole } else { whole }
    }

    /// The value.
    pub(crate) fn decimal(self) -> Decimal {
        Decimal::small(self.negative, self.magnitude, -self.places.cast_signed())
    }
}
