//! Which characters a pattern can match, as far as it matters.

/// Characters, from few to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alphabet {
    /// Those that stand for themselves in a URL (RFC 3986, 2.3).
    Unreserved,
    Ascii,
    Any,
}

impl Alphabet {
    pub(super) fn of(character: char) -> Self {
        match character {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '-' | '.' | '_' | '~' => Self::Unreserved,
            other if other.is_ascii() => Self::Ascii,
            _ => Self::Any,
        }
    }

    pub(super) fn range(low: char, high: char) -> Self {
        if high.is_ascii() { (low..=high).map(Self::of).max().unwrap_or(Self::Any) } else { Self::Any }
    }
}
