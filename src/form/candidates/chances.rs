//! What decides where a value may be one thing or another.

use fastrand::Rng;

/// Where something may be one or another: drawn by lot, or the first each time.
pub(super) struct Chances(Option<Rng>);

impl Chances {
    /// The first each time.
    pub(super) fn first() -> Self {
        Self(None)
    }

    /// By lot, the same each time.
    pub(super) fn by_lot() -> Self {
        Self(Some(Rng::with_seed(7)))
    }

    /// One of so many; 0 of none.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0.as_mut().filter(|_| count > 0).map_or(0, |random| random.usize(..count))
    }

    pub(super) fn bool(&mut self) -> bool {
        self.below(2) == 1
    }

    pub(super) fn char(&mut self, first: char, last: char) -> char {
        self.0.as_mut().map_or(first, |random| random.char(first..=last))
    }
}
