//! A cursor for whoever knows what should come: the same strict JSON as [`super::Document`], step by step and
//! without keeping anything.
//!
//! It takes less than the parser, never more: where a step gives nothing, the bytes are either no strict JSON or
//! something rare, and the parser is to be asked. Its user has to see for itself that no name comes twice and that
//! containers are not too deep.

use super::parse::{decode, space_end};
use super::text::{escape, leading_digits, plain_end, word};

/// A text that is read. Offsets are bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'t> {
    text: &'t str,
}

/// A number of at most fifteen digits, without exponent: what stands before its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Short {
    pub(crate) negative: bool,
    pub(crate) magnitude: u64,
    /// Whether digits stand behind a point.
    pub(crate) has_places: bool,
}

/// A string or a name as it is written without escapes, to be compared with what stands in a body.
#[derive(Debug)]
pub(crate) struct Quoted {
    text: Box<str>,
    /// The first sixteen bytes of it as two words, and which bits of sixteen these are.
    first: [u64; 2],
    mask: [u64; 2],
}

/// The most digits of a [`Short`].
const DIGITS: usize = 15;

impl Quoted {
    /// A string, if it can stand in a body without escapes.
    pub(crate) fn string(text: &str) -> Option<Self> {
        Self::new(text, "\"")
    }

    /// The name of a member and its colon, likewise.
    pub(crate) fn name(text: &str) -> Option<Self> {
        Self::new(text, "\":")
    }

    fn new(text: &str, end: &str) -> Option<Self> {
        if plain_end(text.as_bytes(), 0) != text.len() {
            return None;
        }
        let text: Box<str> = ["\"", text, end].concat().into();
        let words = |byte_of: fn(u8) -> u8| {
            let mut bytes = [0; 16];
            bytes.iter_mut().zip(text.bytes()).for_each(|(at, byte)| *at = byte_of(byte));
            two_words(&bytes)
        };
        let (first, mask) = (words(|byte| byte), words(|_| 0xFF));
        Some(Self { text, first, mask })
    }

    /// With its quotes, and the colon of a name.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

#[inline]
fn two_words(bytes: &[u8; 16]) -> [u64; 2] {
    let both = u128::from_le_bytes(*bytes);
    #[expect(clippy::cast_possible_truncation, reason = "the lower half, and the upper one")]
    [both as u64, (both >> 64) as u64]
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

    /// Whether all of the text between two offsets is ASCII.
    #[inline]
    pub(crate) fn is_ascii(self, start: usize, end: usize) -> bool {
        self.bytes().get(start..end).is_some_and(<[u8]>::is_ascii)
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

    /// The end of a text that stands there. Sixteen bytes at once; near the end of a body as many as it has.
    #[inline]
    pub(crate) fn quoted(self, at: usize, text: &Quoted) -> Option<usize> {
        let end = at + text.text.len();
        let is_here = match self.bytes().get(at..).and_then(<[u8]>::first_chunk).map(two_words) {
            Some([low, high])
                if (low & text.mask[0]) ^ text.first[0] | (high & text.mask[1]) ^ text.first[1] != 0 =>
            {
                false
            }
            Some(_) if text.text.len() <= 16 => true,
            Some(_) | None => self.bytes().get(at..end) == Some(text.text.as_bytes()),
        };
        is_here.then_some(end)
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

    /// The number that stands there, and where it ends. Or where it is left. Nothing where [`Self::long_number`] is to
    /// be asked.
    #[inline]
    pub(crate) fn number(self, at: usize) -> Option<Result<(Short, usize), usize>> {
        self.number_of(at, |at| {
            let (number, count) = leading_digits(word(self.bytes(), at)?);
            (count < 8).then_some((number, at + count))
        })
    }

    /// The same, whatever its length and whatever stands behind it.
    pub(crate) fn long_number(self, at: usize) -> Result<(Short, usize), usize> {
        let digits = |mut at| {
            let mut number: u64 = 0;
            while let Some(digit @ b'0'..=b'9') = self.byte(at) {
                number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
                at += 1;
            }
            Some((number, at))
        };
        self.number_of(at, digits).unwrap_or(Err(at))
    }

    /// `digits` says what digits make and where they end.
    #[inline]
    fn number_of(
        self,
        at: usize,
        digits: impl Fn(usize) -> Option<(u64, usize)>,
    ) -> Option<Result<(Short, usize), usize>> {
        let negative = self.byte(at) == Some(b'-');
        let first = at + usize::from(negative);
        let (magnitude, mut end) = digits(first)?;
        let mut count = end - first;
        if count == 0 || count > 1 && self.byte(first) == Some(b'0') {
            return Some(Err(end));
        }
        let has_places = self.byte(end) == Some(b'.');
        if has_places {
            let start = end + 1;
            end = digits(start)?.1;
            count += end - start;
            if end == start {
                return Some(Err(end));
            }
        }
        // Anything longer may have wrapped.
        if count > DIGITS || matches!(self.byte(end), Some(b'e' | b'E')) {
            return Some(Err(end));
        }
        Some(Ok((Short { negative, magnitude, has_places }, end)))
    }
}

impl Short {
    /// What stands before the point, with its sign.
    #[inline]
    pub(crate) fn whole(self) -> i64 {
        let whole = self.magnitude.cast_signed();
        if self.negative { -whole } else { whole }
    }
}

#[cfg(test)]
mod tests {
    use super::{Quoted, Reader};

    fn digits(count: usize) -> &'static str {
        &"90817263545362718090"[..count]
    }

    #[test]
    fn digits_at_once_and_one_after_the_other_are_the_same_number() {
        let mut asked = 0;
        for (whole, places) in (0..20).flat_map(|whole| (0..20).map(move |places| (whole, places))) {
            for rest in ["", ",", "}", "e1", "E+1", ".", ".5", "/", ":", "é, and more behind it"] {
                for sign in ["", "-"] {
                    let point = if places > 0 { "." } else { "" };
                    let text = format!("[{sign}{}{point}{}{rest}", digits(whole), digits(places));
                    let reader = Reader::new(text.as_bytes()).unwrap();
                    if let Some(number) = reader.number(1) {
                        assert_eq!(number, reader.long_number(1), "{text}");
                        asked += 1;
                    }
                }
            }
        }
        assert!(asked > 500, "{asked}");
    }

    #[test]
    fn a_number_is_what_its_text_says() {
        for text in
            ["0", "-0", "7", "-12", "1234567", "12345678", "999999999999999", "-123456789012.5", "0.25"]
        {
            let body = format!("{text}}}");
            let (number, end) = Reader::new(body.as_bytes()).unwrap().long_number(0).unwrap();
            assert_eq!(end, text.len());
            #[expect(clippy::cast_possible_truncation, reason = "the whole part is asked for")]
            let whole = text.parse::<f64>().unwrap() as i64;
            assert_eq!((number.whole(), number.has_places), (whole, text.contains('.')), "{text}");
        }
        for text in ["01", "-", "-a", "1.", "1.}", "1e1", "1.5E1", "1234567890123456", "1.123456789012345"] {
            assert!(Reader::new(text.as_bytes()).unwrap().long_number(0).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_found_whatever_its_length_and_wherever_the_body_ends() {
        let name = "a name of twenty bytes, and more";
        for length in 0..name.len() {
            let text = &name[..length];
            let quoted = Quoted::name(text).unwrap();
            for behind in ["", "1", "1}, and so on, until there are more than sixteen"] {
                let body = format!("{{\"{text}\":{behind}");
                let reader = Reader::new(body.as_bytes()).unwrap();
                assert_eq!(reader.quoted(1, &quoted), Some(length + 4), "{body}");
                for (at, byte) in body.bytes().enumerate().skip(1).take(length + 3) {
                    let mut other = body.clone().into_bytes();
                    other[at] = byte ^ 1;
                    assert_eq!(Reader::new(&other).unwrap().quoted(1, &quoted), None, "{body} at {at}");
                }
            }
        }
        assert!(Quoted::string("a\"").is_none() && Quoted::name("\n").is_none());
    }
}
