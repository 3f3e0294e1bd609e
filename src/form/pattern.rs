//! Regular expressions that every reader of the published form reads alike.
//!
//! JSON Schema means ECMA-262 with the `u` flag; the validator runs a translation of it on a
//! linear engine; clients run whatever they have. Accepted is what all of them agree on. What
//! they read differently (`\b`, `\Z`, `(?i)`, `{,3}`, `[[:alpha:]]`, set operations in classes)
//! or cannot do in linear time (look-around, back-references) is refused with its place.

mod alphabet;
mod property;

pub(crate) use alphabet::Alphabet;

use std::iter::Peekable;
use std::str::CharIndices;

/// What can be said about a pattern that was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Every alternative begins with `^` and ends with `$`.
    pub(crate) anchored: bool,
    /// Characters in the longest match; `None` without a bound.
    pub(crate) longest: Option<u64>,
    /// Which characters it can match.
    pub(crate) alphabet: Alphabet,
}

/// Why a pattern is refused, and where in it, in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternFault {
    pub(crate) at: usize,
    pub(crate) reason: &'static str,
    pub(crate) instead: Option<&'static str>,
}

/// A part of a pattern: what it matches, and whether it pins the ends.
#[derive(Debug, Clone, Copy)]
struct Part {
    longest: Option<u64>,
    alphabet: Alphabet,
    starts: bool,
    ends: bool,
}

impl Part {
    const EMPTY: Self = Self { longest: Some(0), alphabet: Alphabet::Unreserved, starts: false, ends: false };

    fn one(alphabet: Alphabet) -> Self {
        Self { longest: Some(1), alphabet, ..Self::EMPTY }
    }
}

/// Nested groups beyond this are refused before they reach any stack.
const MAX_GROUPS: usize = 64;

pub(crate) fn read(pattern: &str) -> Result<Reading, PatternFault> {
    let mut reader = Reader { pattern, rest: pattern.char_indices().peekable() };
    let part = reader.disjunction(0)?;
    if reader.rest.peek().is_some() {
        return Err(reader.fault("`)` without its `(`", Some("`\\)`")));
    }
    Ok(Reading { anchored: part.starts && part.ends, longest: part.longest, alphabet: part.alphabet })
}

struct Reader<'p> {
    pattern: &'p str,
    rest: Peekable<CharIndices<'p>>,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|(_, character)| *character)
    }

    fn take(&mut self, wanted: char) -> bool {
        self.rest.next_if(|(_, character)| *character == wanted).is_some()
    }

    fn offset(&mut self) -> usize {
        self.rest.peek().map_or(self.pattern.len(), |(at, _)| *at)
    }

    fn left(&mut self) -> &str {
        let at = self.offset();
        &self.pattern[at..]
    }

    fn fault(&mut self, reason: &'static str, instead: Option<&'static str>) -> PatternFault {
        let at = self.offset();
        PatternFault { at: self.pattern[..at].chars().count(), reason, instead }
    }

    fn disjunction(&mut self, depth: usize) -> Result<Part, PatternFault> {
        if depth > MAX_GROUPS {
            return Err(self.fault("groups nested too deep", None));
        }
        let mut whole = self.alternative(depth)?;
        while self.take('|') {
            let other = self.alternative(depth)?;
            whole = Part {
                longest: whole.longest.zip(other.longest).map(|(a, b)| a.max(b)),
                alphabet: whole.alphabet.max(other.alphabet),
                starts: whole.starts && other.starts,
                ends: whole.ends && other.ends,
            };
        }
        Ok(whole)
    }

    fn alternative(&mut self, depth: usize) -> Result<Part, PatternFault> {
        let mut whole = Part::EMPTY;
        let mut first = true;
        while let Some(character) = self.peek() {
            if matches!(character, '|' | ')') {
                break;
            }
            let part = self.term(depth)?;
            whole = Part {
                longest: whole.longest.zip(part.longest).map(|(a, b)| a.saturating_add(b)),
                alphabet: whole.alphabet.max(part.alphabet),
                starts: if first { part.starts } else { whole.starts },
                ends: part.ends,
            };
            first = false;
        }
        Ok(whole)
    }

    fn term(&mut self, depth: usize) -> Result<Part, PatternFault> {
        match self.peek() {
            Some('^') => {
                self.rest.next();
                self.unrepeated()?;
                return Ok(Part { starts: true, ..Part::EMPTY });
            }
            Some('$') => {
                self.rest.next();
                self.unrepeated()?;
                return Ok(Part { ends: true, ..Part::EMPTY });
            }
            _ => {}
        }
        let part = self.atom(depth)?;
        self.repeated(part)
    }

    /// Refuses a quantifier where there is nothing to repeat.
    fn unrepeated(&mut self) -> Result<(), PatternFault> {
        if matches!(self.peek(), Some('*' | '+' | '?' | '{')) {
            return Err(self.fault("a quantifier with nothing to repeat", None));
        }
        Ok(())
    }

    fn repeated(&mut self, part: Part) -> Result<Part, PatternFault> {
        let most = match self.peek() {
            Some('*' | '+') => {
                self.rest.next();
                None
            }
            Some('?') => {
                self.rest.next();
                Some(1)
            }
            Some('{') => self.bounds()?,
            _ => return Ok(part),
        };
        self.take('?'); // a lazy quantifier matches the same strings
        self.unrepeated()?;
        Ok(Part {
            longest: match (part.longest, most) {
                (Some(0), _) | (_, Some(0)) => Some(0),
                (Some(longest), Some(most)) => Some(longest.saturating_mul(most)),
                _ => None,
            },
            starts: false,
            ends: false,
            ..part
        })
    }

    /// `{n}`, `{n,}` or `{n,m}`; the upper bound.
    fn bounds(&mut self) -> Result<Option<u64>, PatternFault> {
        let literal = Some("`\\{` for the brace itself, `{0,n}` for at most n");
        let reason = "`{` that is no `{n}`, `{n,}` or `{n,m}`: readers differ on what it means";
        let left = self.left();
        let inside =
            left.get(1..).and_then(|after| after.split_once('}')).map(|(inside, _)| inside.to_owned());
        let Some(inside) = inside else {
            return Err(self.fault(reason, literal));
        };
        let number = |text: &str| {
            (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
                .then(|| text.parse::<u64>().ok())
                .flatten()
        };
        let bounds = match inside.split_once(',') {
            None => number(&inside).map(|count| (count, Some(count))),
            Some((least, "")) => number(least).map(|least| (least, None)),
            Some((least, most)) => number(least).zip(number(most)).map(|(least, most)| (least, Some(most))),
        };
        let Some((least, most)) = bounds else {
            return Err(self.fault(reason, literal));
        };
        if most.is_some_and(|most| most < least) {
            return Err(self.fault("bounds out of order", None));
        }
        for _ in 0..inside.chars().count() + 2 {
            self.rest.next();
        }
        Ok(most)
    }

    fn atom(&mut self, depth: usize) -> Result<Part, PatternFault> {
        match self.peek() {
            Some('(') => self.group(depth),
            Some('[') => self.class(),
            Some('\\') => self.escape(false).map(|escape| Part::one(escape.alphabet)),
            Some('*' | '+' | '?') => Err(self.fault("a quantifier with nothing to repeat", None)),
            Some('{') => Err(self.fault("`{` with nothing to repeat", Some("`\\{`"))),
            Some('}') => Err(self.fault("`}` without its `{`", Some("`\\}`"))),
            Some(']') => Err(self.fault("`]` without its `[`", Some("`\\]`"))),
            Some('.') => {
                self.rest.next();
                Ok(Part::one(Alphabet::Any))
            }
            Some(character) => {
                self.rest.next();
                Ok(Part::one(Alphabet::of(character)))
            }
            None => Ok(Part::EMPTY),
        }
    }

    fn group(&mut self, depth: usize) -> Result<Part, PatternFault> {
        let left = self.left();
        let opening = if left.starts_with("(?:") {
            3
        } else if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|opening| left.starts_with(opening)) {
            return Err(self.fault(
                "look-around: it cannot be decided in linear time",
                Some("an `anyOf`, `allOf` or `not` of plain patterns"),
            ));
        } else if let Some(named) = left.strip_prefix("(?<") {
            match named.split_once('>').map(|(name, _)| name) {
                Some(name)
                    if name.starts_with(|first: char| first.is_ascii_alphabetic())
                        && name.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
                {
                    name.len() + 4
                }
                _ => return Err(self.fault("a group name that not every reader takes", None)),
            }
        } else if left.starts_with("(?") {
            return Err(self.fault(
                "flags and groups of other dialects: readers differ on them",
                Some("classes such as `[Aa]`, groups as `(?:…)`"),
            ));
        } else {
            1
        };
        for _ in 0..opening {
            self.rest.next();
        }
        let part = self.disjunction(depth + 1)?;
        if self.take(')') { Ok(part) } else { Err(self.fault("`(` without its `)`", None)) }
    }

    fn class(&mut self) -> Result<Part, PatternFault> {
        self.rest.next();
        let negated = self.take('^');
        if self.peek() == Some(']') {
            return Err(self.fault("an empty class: readers differ on it", Some("`\\]`")));
        }
        let mut alphabet = Alphabet::Unreserved;
        loop {
            if self.take(']') {
                return Ok(Part::one(if negated { Alphabet::Any } else { alphabet }));
            }
            let low = self.class_atom()?;
            alphabet = alphabet.max(low.alphabet);
            let left = self.left();
            if left.starts_with('-') && !left.starts_with("-]") {
                if left.starts_with("--") {
                    return Err(self.fault("`--` in a class: readers differ on it", Some("`\\-`")));
                }
                let Some(low) = low.character else {
                    return Err(self.fault("a range that begins with a class", Some("`\\-`")));
                };
                self.rest.next();
                let high = self.class_atom()?;
                let Some(last) = high.character else {
                    return Err(self.fault("a range that ends with a class", Some("`\\-`")));
                };
                if last < low {
                    return Err(self.fault("a range out of order", None));
                }
                alphabet = alphabet.max(Alphabet::range(low, last));
            }
        }
    }

    fn class_atom(&mut self) -> Result<Escape, PatternFault> {
        match self.peek() {
            None => Err(self.fault("`[` without its `]`", None)),
            Some('\\') => self.escape(true),
            Some('[') => Err(self.fault("`[` in a class: readers differ on it", Some("`\\[`"))),
            Some(character) => {
                let doubled = matches!(character, '&' | '~') && self.left()[1..].starts_with(character);
                if doubled {
                    return Err(self
                        .fault("`&&` or `~~` in a class: readers differ on it", Some("the character once")));
                }
                self.rest.next();
                Ok(Escape::literal(character))
            }
        }
    }

    fn escape(&mut self, in_class: bool) -> Result<Escape, PatternFault> {
        let place = self.rest.clone();
        self.rest.next();
        let Some((_, character)) = self.rest.next() else {
            return Err(self.fault("`\\` at the end", Some("`\\\\`")));
        };
        let read = match character {
            'd' | 'w' => Ok(Escape::set(Alphabet::Unreserved)),
            's' | 'D' | 'W' | 'S' => Ok(Escape::set(Alphabet::Any)),
            't' => Ok(Escape::literal('\t')),
            'n' => Ok(Escape::literal('\n')),
            'r' => Ok(Escape::literal('\r')),
            'v' => Ok(Escape::literal('\u{b}')),
            'f' => Ok(Escape::literal('\u{c}')),
            'c' => self.control(),
            'x' => self.hexadecimal(2),
            'u' if self.peek() == Some('{') => self.braced(),
            'u' => self.hexadecimal(4),
            'p' | 'P' => self.property(),
            '0' => Err(("`\\0`: readers differ on it", Some("`\\x00`"))),
            '1'..='9' | 'k' => Err(("a back-reference: it cannot be decided in linear time", None)),
            'b' | 'B' if !in_class => Err((
                "`\\b` and `\\B`: readers differ on what a word is",
                Some("classes such as `[^A-Za-z0-9_]`"),
            )),
            'A' | 'z' | 'Z' => Err(("an anchor of other dialects", Some("`^` and `$`"))),
            '<' | '>' => Err(("`\\<` and `\\>`: readers differ on them", Some("`<` and `>`"))),
            other if other.is_ascii_punctuation() && other != '_' => Ok(Escape::literal(other)),
            _ => Err(("an escape that readers differ on", Some("the character itself"))),
        };
        read.map_err(|(reason, instead)| {
            self.rest = place;
            self.fault(reason, instead)
        })
    }

    fn control(&mut self) -> Result<Escape, (&'static str, Option<&'static str>)> {
        match self.rest.next() {
            Some((_, letter)) if letter.is_ascii_alphabetic() => {
                Ok(Escape::literal(char::from(letter as u8 % 32)))
            }
            _ => Err(("`\\c` without its letter", None)),
        }
    }

    fn hexadecimal(&mut self, digits: usize) -> Result<Escape, (&'static str, Option<&'static str>)> {
        let code = (0..digits).try_fold(0_u32, |code, _| {
            let (_, digit) = self.rest.next()?;
            Some(code * 16 + digit.to_digit(16)?)
        });
        match code.map(char::from_u32) {
            Some(Some(character)) => Ok(Escape::literal(character)),
            Some(None) => {
                Err(("half of a surrogate pair: readers differ on it", Some("the character itself")))
            }
            None => Err(("an escape without its digits", None)),
        }
    }

    fn braced(&mut self) -> Result<Escape, (&'static str, Option<&'static str>)> {
        let fault = Err(("an escape without its digits", None));
        let left = self.left();
        let Some((digits, _)) = left[1..].split_once('}') else {
            return fault;
        };
        let well_formed =
            (1..=6).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let length = digits.len() + 2;
        let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
        match character.filter(|_| well_formed) {
            Some(character) => {
                for _ in 0..length {
                    self.rest.next();
                }
                Ok(Escape::literal(character))
            }
            None => fault,
        }
    }

    fn property(&mut self) -> Result<Escape, (&'static str, Option<&'static str>)> {
        let left = self.left();
        let name = left.strip_prefix('{').and_then(|after| after.split_once('}')).map(|(name, _)| name);
        let Some(name) = name.filter(|name| property::is_known(name)) else {
            return Err((
                "a character property that not every reader knows",
                Some("a general category or a script, as `\\p{Letter}` or `\\p{Script=Greek}`"),
            ));
        };
        for _ in 0..name.len() + 2 {
            self.rest.next();
        }
        Ok(Escape::set(Alphabet::Any))
    }
}

/// One escape or one literal: a character, or a set of them.
#[derive(Debug, Clone, Copy)]
struct Escape {
    character: Option<char>,
    alphabet: Alphabet,
}

impl Escape {
    fn literal(character: char) -> Self {
        Self { character: Some(character), alphabet: Alphabet::of(character) }
    }

    fn set(alphabet: Alphabet) -> Self {
        Self { character: None, alphabet }
    }
}
