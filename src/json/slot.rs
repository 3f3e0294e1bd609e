//! Where parsed values lie: one slot a value or name, in the order of the input.

use super::Kind;

/// One value, or one member name.
///
/// | tag | `side` | size |
/// |---|---|---|
/// | `Text` | where the text starts in the input | its bytes |
/// | `Escaped` | where the text starts among the unescaped | its bytes |
/// | `Small`, `Decimal` | of what stands before the point, see [`Whole`] | the rest of it |
/// | `Array`, `Object`, `Large` | the slot after the last descendant | children |
/// | `Index` (last slot of a `Large`) | where its sorted names start | their count |
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    /// First byte in the input.
    pub(super) start: u32,
    /// The byte after the last one.
    pub(super) end: u32,
    pub(super) side: u32,
    /// The size above the four bits of the tag.
    packed: u32,
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Tag {
    Null,
    False,
    True,
    /// A number written as an integer of at most fifteen digits.
    Small,
    /// A number written as an integer.
    Integer,
    /// A number with a fraction or an exponent.
    Decimal,
    Text,
    Escaped,
    Array,
    Object,
    /// An object with sorted names.
    Large,
    /// Where the sorted names of a large object are.
    Index,
}

impl Tag {
    /// Which kind of value.
    #[inline]
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Null | Self::Index => Kind::Null,
            Self::False | Self::True => Kind::Boolean,
            Self::Small | Self::Integer | Self::Decimal => Kind::Number,
            Self::Text | Self::Escaped => Kind::String,
            Self::Array => Kind::Array,
            Self::Object | Self::Large => Kind::Object,
        }
    }
}

/// What four bits say; the ones that no tag has never occur.
const TAGS: [Tag; 16] = [
    Tag::Null,
    Tag::False,
    Tag::True,
    Tag::Small,
    Tag::Integer,
    Tag::Decimal,
    Tag::Text,
    Tag::Escaped,
    Tag::Array,
    Tag::Object,
    Tag::Large,
    Tag::Index,
    Tag::Null,
    Tag::Null,
    Tag::Null,
    Tag::Null,
];

impl Slot {
    #[inline]
    pub(super) fn new(tag: Tag, start: usize, end: usize, side: usize, size: usize) -> Self {
        Self {
            start: narrow(start),
            end: narrow(end),
            side: narrow(side),
            packed: (narrow(size) << 4) | tag as u32,
        }
    }

    #[inline]
    pub(super) fn tag(self) -> Tag {
        TAGS[(self.packed & 15) as usize]
    }

    #[inline]
    pub(super) fn size(self) -> usize {
        (self.packed >> 4) as usize
    }

    /// The slot after a value and all that is in it, given where its own is.
    #[inline]
    pub(super) fn after(self, at: u32) -> u32 {
        match self.tag() {
            Tag::Array | Tag::Object | Tag::Large => self.side,
            Tag::Null
            | Tag::False
            | Tag::True
            | Tag::Small
            | Tag::Integer
            | Tag::Decimal
            | Tag::Text
            | Tag::Escaped
            | Tag::Index => at + 1,
        }
    }

    /// What a number's slot keeps.
    #[inline]
    pub(super) fn whole(self) -> Option<Whole> {
        let size = self.size() as u64;
        (size & KNOWN != 0).then_some(Whole {
            negative: size & NEGATIVE != 0,
            magnitude: (size >> 2) << 32 | u64::from(self.side),
        })
    }
}

const NEGATIVE: u64 = 1;
const KNOWN: u64 = 2;

/// What stands before the point of a number without exponent, where it is short enough for a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    pub(super) negative: bool,
    /// Below ten to the fifteenth: below two to the fiftieth.
    pub(super) magnitude: u64,
}

impl Whole {
    /// The slot of the number it is of.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "32 bits and 18")]
    pub(super) fn slot(self, tag: Tag, start: usize, end: usize) -> Slot {
        let size = (self.magnitude >> 32) << 2 | KNOWN | if self.negative { NEGATIVE } else { 0 };
        Slot { side: self.magnitude as u32, ..Slot::new(tag, start, end, 0, size as usize) }
    }
}

/// Everything in a document is counted in at most as many as it has bytes, and those are bounded
/// by `MAX_LENGTH`, so nothing is lost here.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "bounded by MAX_LENGTH")]
pub(super) fn narrow(count: usize) -> u32 {
    count as u32
}

/// A member name of a large object: its hash and its slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sorted {
    pub(super) hash: u64,
    pub(super) slot: u32,
}

/// A parsed document without its input.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) slots: Vec<Slot>,
    /// The text of every string that has escapes, one after the other.
    pub(super) unescaped: String,
    /// The names of every large object, sorted by hash and text.
    pub(super) sorted: Vec<Sorted>,
}

/// What a slot that is not there looks like. None is asked for; indexing would be a panic to prove absent.
const NOTHING: Slot = Slot { start: 0, end: 0, side: 0, packed: Tag::Null as u32 };

impl Tree {
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.unescaped.clear();
        self.sorted.clear();
    }

    pub(super) fn shrink_to(&mut self, bytes: usize) {
        self.clear();
        self.slots.shrink_to(bytes / 2 / size_of::<Slot>());
        self.unescaped.shrink_to(bytes / 4);
        self.sorted.shrink_to(bytes / 4 / size_of::<Sorted>());
    }

    #[inline]
    pub(super) fn slot(&self, at: u32) -> Slot {
        self.slots.get(at as usize).copied().unwrap_or(NOTHING)
    }

    /// The slot after a value and all that is in it.
    #[inline]
    pub(super) fn after(&self, at: u32) -> u32 {
        self.slot(at).after(at)
    }

    /// The slot that was written last.
    #[inline]
    pub(super) fn last(&self) -> Slot {
        self.slots.last().copied().unwrap_or(NOTHING)
    }

    /// What the text of a string or name is a part of.
    #[inline]
    pub(super) fn source<'t>(&'t self, input: &'t str, slot: Slot) -> &'t str {
        if slot.tag() == Tag::Escaped { self.unescaped.as_str() } else { input }
    }

    /// The text of a string or name.
    #[inline]
    pub(super) fn text<'t>(&'t self, input: &'t str, slot: Slot) -> &'t str {
        let start = slot.side as usize;
        self.source(input, slot).get(start..start + slot.size()).unwrap_or_default()
    }
}
