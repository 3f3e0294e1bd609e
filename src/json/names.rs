//! Member names: no two alike in one object, and found again quickly in a large one.
//!
//! A small object compares a new name with those before it, after a look at which marks it has
//! seen. A large one sorts its names when it closes. Names that were made to collide cost the sort
//! more comparisons of text, never a quadratic number of them.

use super::parse::fault;
use super::slot::{Slot, Sorted, Tag, Tree};
use super::text::word;
use super::{SyntaxFault, SyntaxKind};

/// The most members an object has without sorting them.
pub(super) const SMALL: u32 = 16;

/// Two to the 64th over the golden ratio: an odd number whose bits look like noise.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The first eight bytes of what stands at `at`, zeros behind its end.
#[inline]
fn start(source: &[u8], at: usize, size: usize) -> u64 {
    let Some(first) = word(source, at) else { return short_start(source, at, size) };
    if size < 8 { first & ((1 << (8 * size)) - 1) } else { first }
}

/// The same at the end of the source.
#[cold]
fn short_start(source: &[u8], at: usize, size: usize) -> u64 {
    let bytes = source.get(at..at + size).unwrap_or_default();
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Up to as many bytes, the key holds all of a name.
const TOLD_APART: usize = 8;

/// What equal names share, and different ones rarely: made of the size and the bytes at both ends.
#[inline]
pub(super) fn key(source: &[u8], at: usize, size: usize) -> u64 {
    let mut ends = start(source, at, size);
    if size > TOLD_APART {
        ends ^= word(source, at + size - 8).unwrap_or(0).rotate_left(29);
    }
    // Odd, so nothing is lost.
    (ends ^ size as u64).wrapping_mul(SPREAD)
}

/// One bit of 64 by the key of a name.
#[inline]
pub(super) fn mark(key: u64) -> u64 {
    1 << (key >> 58)
}

/// Where a name already stands among the first `count` members of an object: the same mark has
/// been seen, so compare.
pub(super) fn repeated(tree: &Tree, input: &str, object: u32, count: u32, name: Slot) -> bool {
    let text = tree.text(input, name);
    let mut at = object + 1;
    for _ in 0..count {
        let slot = tree.slot(at);
        if slot.size() == text.len() && tree.text(input, slot) == text {
            return true;
        }
        at = tree.after(at + 1);
    }
    false
}

/// A name's hash: spread, not secret. Whoever makes names collide gains nothing but comparisons.
pub(super) fn hash(name: &[u8]) -> u64 {
    let (words, rest) = name.as_chunks::<8>();
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let mut state = name.len() as u64;
    for word in words.iter().chain([&last]) {
        let product = u128::from(state ^ u64::from_le_bytes(*word)) * u128::from(SPREAD);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
        let folded = (product as u64) ^ ((product >> 64) as u64);
        state = folded.wrapping_add(0x2545_F491_4F6C_DD1D);
    }
    state
}

/// Sorts the names of an object that is complete but for its index, and refuses two alike.
pub(super) fn sort(tree: &mut Tree, input: &str, object: u32, count: u32) -> Result<(), SyntaxFault> {
    let start = tree.sorted.len();
    let mut at = object + 1;
    for _ in 0..count {
        let name = tree.text(input, tree.slot(at));
        let entry = Sorted { hash: hash(name.as_bytes()), slot: at };
        at = tree.after(at + 1);
        tree.sorted.push(entry);
    }
    let Tree { slots, unescaped, sorted } = tree;
    let text = |entry: &Sorted| text_in(slots, unescaped, input, entry.slot);
    let names = sorted.get_mut(start..).unwrap_or_default();
    names.sort_unstable_by(|a, b| {
        a.hash.cmp(&b.hash).then_with(|| text(a).cmp(text(b))).then(a.slot.cmp(&b.slot))
    });
    // The earliest repetition in the input, so that the fault does not depend on the sort.
    let twice = names
        .windows(2)
        .filter_map(|pair| match pair {
            [a, b] if a.hash == b.hash && text(a) == text(b) => Some(b.slot),
            _ => None,
        })
        .min();
    if let Some(slot) = twice {
        return Err(fault(SyntaxKind::Duplicate, tree.slot(slot).start as usize));
    }
    tree.slots.push(Slot::new(Tag::Index, 0, 0, start, count as usize));
    Ok(())
}

/// The slot of a name in a large object.
pub(super) fn find(tree: &Tree, input: &str, object: Slot, name: &str, hash: u64) -> Option<u32> {
    let index = tree.slot(object.side - 1);
    let start = index.side as usize;
    let names = tree.sorted.get(start..start + index.size())?;
    let text = |entry: &Sorted| tree.text(input, tree.slot(entry.slot));
    let found =
        names.binary_search_by(|entry| entry.hash.cmp(&hash).then_with(|| text(entry).cmp(name))).ok()?;
    names.get(found).map(|entry| entry.slot)
}

/// As `Tree::text`, while the sorted names are being changed.
fn text_in<'t>(slots: &[Slot], unescaped: &'t str, input: &'t str, at: u32) -> &'t str {
    let Some(slot) = slots.get(at as usize) else { return "" };
    let source = if slot.tag() == Tag::Escaped { unescaped } else { input };
    let start = slot.side as usize;
    source.get(start..start + slot.size()).unwrap_or_default()
}
