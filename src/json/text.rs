//! Strings: finding their end, and writing out what their escapes stand for.

use super::parse::fault;
use super::{SyntaxFault, SyntaxKind};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The first byte from `at` on that does not simply stand for itself in a string: a quote, a
/// backslash or a control character. The end of the input if there is none.
///
/// Eight bytes at a time: a borrow runs from a byte that matches into the ones above it only, so
/// the lowest mark is always true. With its bit for two flipped, a quote comes to lie beside the control
/// characters, which stay among themselves: below 0x21 then are just these.
#[inline]
pub(super) fn plain_end(bytes: &[u8], at: usize) -> usize {
    let mut rest = bytes.get(at..).unwrap_or_default();
    while let Some((word, more)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        let flipped = word ^ (ONES * 2);
        let backslash = word ^ (ONES * 0x5C);
        let marks = ((flipped.wrapping_sub(ONES * 0x21) & !flipped)
            | (backslash.wrapping_sub(ONES) & !backslash))
            & HIGHS;
        if marks != 0 {
            return bytes.len() - rest.len() + (marks.trailing_zeros() / 8) as usize;
        }
        rest = more;
    }
    let marked = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
    bytes.len() - rest.len() + marked.unwrap_or(rest.len())
}

/// Eight bytes as one number, the first one lowest.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let chunk = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*chunk))
}

/// How many of eight bytes, from the lowest on, are digits, and the number that these make.
///
/// Digits come to be 0 to 9, and only what is more reaches the highest bit when 0x76 is added; what is carried goes
/// upwards, so the lowest mark is true. Moved to the top they have zeroes before them, and are put together in pairs,
/// fours and eight.
#[inline]
pub(super) fn leading_digits(word: u64) -> (u64, usize) {
    let digits = word ^ (ONES * 0x30);
    let marks = (digits.wrapping_add(ONES * 0x76) | digits) & HIGHS;
    let count = (marks.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    let ones = digits << (64 - 8 * count);
    let pairs = (ones * 10 + (ones >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    (((fours * 10_000) + (fours >> 32)) & 0xFFFF_FFFF, count)
}

/// Appends what the string from `start` on (after its quote) stands for, given that the first
/// escape is at `at`. Gives the offset of the closing quote.
#[cold]
pub(super) fn unescape(
    input: &str,
    start: usize,
    mut at: usize,
    into: &mut String,
) -> Result<usize, SyntaxFault> {
    let bytes = input.as_bytes();
    let mut plain = start;
    loop {
        into.push_str(input.get(plain..at).unwrap_or_default());
        match bytes.get(at) {
            Some(b'"') => return Ok(at),
            Some(b'\\') => {
                let (character, end) = escape(bytes, at)?;
                into.push(character);
                plain = end;
                at = plain_end(bytes, end);
            }
            Some(_) | None => return Err(fault(SyntaxKind::Grammar, at)),
        }
    }
}

/// The character that the escape at `at` stands for, and where it ends.
pub(super) fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), SyntaxFault> {
    let character = match bytes.get(at + 1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(bytes, at),
        Some(_) | None => return Err(fault(SyntaxKind::Grammar, at)),
    };
    Ok((character, at + 2))
}

/// The character of `\uXXXX` or of a pair of them.
fn unicode(bytes: &[u8], at: usize) -> Result<(char, usize), SyntaxFault> {
    let unit = hex(bytes, at + 2).ok_or(fault(SyntaxKind::Grammar, at))?;
    // Fails exactly for surrogates.
    if let Some(character) = char::from_u32(unit) {
        return Ok((character, at + 6));
    }
    let lone = fault(SyntaxKind::Surrogate, at);
    if unit >= 0xDC00 || bytes.get(at + 6) != Some(&b'\\') || bytes.get(at + 7) != Some(&b'u') {
        return Err(lone);
    }
    let low = hex(bytes, at + 8).ok_or(fault(SyntaxKind::Grammar, at + 6))?;
    if !(0xDC00..0xE000).contains(&low) {
        return Err(lone);
    }
    let scalar = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    char::from_u32(scalar).map(|character| (character, at + 12)).ok_or(lone)
}

fn hex(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..)?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| char::from(*digit).to_digit(16).map(|value| unit << 4 | value))
}
