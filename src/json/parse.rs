//! The one pass over the input: a loop over values with the open containers on a stack of its own.

use super::slot::{Slot, Tag, Tree, narrow};
use super::text::{plain_end, unescape};
use super::{MAX_DEPTH, MAX_LENGTH, SyntaxFault, SyntaxKind, names, number};

/// A container that is open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    slot: u32,
    /// Children so far.
    count: u32,
    /// The marks of the names so far.
    seen: u64,
    is_object: bool,
}

#[cold]
pub(super) fn fault(kind: SyntaxKind, at: usize) -> SyntaxFault {
    SyntaxFault { kind, at }
}

/// The input as text, if it is one and not too long.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, SyntaxFault> {
    if bytes.len() > MAX_LENGTH {
        return Err(fault(SyntaxKind::Grammar, MAX_LENGTH));
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        return Err(fault(SyntaxKind::Encoding, 0));
    }
    std::str::from_utf8(bytes).map_err(|e| fault(SyntaxKind::Encoding, e.valid_up_to()))
}

/// Fills the tree with the one value of the input. After a fault the tree holds nothing of use.
pub(super) fn parse(input: &str, tree: &mut Tree, frames: &mut Vec<Frame>) -> Result<(), SyntaxFault> {
    tree.clear();
    frames.clear();
    let mut parser = Parser { input, bytes: input.as_bytes(), tree, fault: fault(SyntaxKind::Grammar, 0) };
    let Some(end) = parser.value(frames) else { return Err(parser.fault) };
    let end = space_end(input.as_bytes(), end);
    if end < input.len() {
        return Err(fault(SyntaxKind::Trailing, end));
    }
    Ok(())
}

struct Parser<'p> {
    input: &'p str,
    bytes: &'p [u8],
    tree: &'p mut Tree,
    /// Why a step gave nothing. Apart from what steps give, which so fits into registers.
    fault: SyntaxFault,
}

/// The first byte from `at` on that is not white space.
#[inline(always)]
#[expect(clippy::inline_always, reason = "measured: the one loop over the input, benches/NOTES.md")]
pub(super) fn space_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        // Nearly always: none is above the space.
        Some(byte) if *byte > b' ' => at,
        // One space, as many writers put behind colons and commas.
        Some(b' ') if bytes.get(at + 1).is_some_and(|byte| *byte > b' ') => at + 1,
        Some(_) | None => long_space_end(bytes, at),
    }
}

fn long_space_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

impl Parser<'_> {
    /// Notes why there is nothing to give.
    #[cold]
    fn refuse<T>(&mut self, kind: SyntaxKind, at: usize) -> Option<T> {
        self.fault = fault(kind, at);
        None
    }

    /// What a step outside gives, or its fault noted.
    #[inline]
    fn noted<T>(&mut self, step: Result<T, SyntaxFault>) -> Option<T> {
        match step {
            Ok(given) => Some(given),
            Err(SyntaxFault { kind, at }) => self.refuse(kind, at),
        }
    }

    /// Reads the value of the document, and gives the offset after it.
    fn value(&mut self, frames: &mut Vec<Frame>) -> Option<usize> {
        let bytes = self.bytes;
        let mut at = space_end(bytes, 0);
        if at == bytes.len() {
            return self.refuse(SyntaxKind::Empty, at);
        }
        // The innermost open container; meaningless while none is.
        let mut open = Frame { slot: 0, count: 0, seen: 0, is_object: false };
        let mut depth = 0;
        loop {
            // A value starts at `at`.
            at = match bytes.get(at) {
                Some(b'"') => self.string(at)?,
                Some(b'-' | b'0'..=b'9') => self.number(at)?,
                Some(bracket @ (b'{' | b'[')) => {
                    if depth == MAX_DEPTH {
                        return self.refuse(SyntaxKind::Depth, at);
                    }
                    let is_object = *bracket == b'{';
                    let tag = if is_object { Tag::Object } else { Tag::Array };
                    let slot = narrow(self.tree.slots.len());
                    let first = space_end(bytes, at + 1);
                    // Empty unless the first child says otherwise; what is known later is put in at the close.
                    self.tree.slots.push(Slot::new(tag, at, first + 1, slot as usize + 1, 0));
                    if bytes.get(first) == Some(if is_object { &b'}' } else { &b']' }) {
                        first + 1
                    } else {
                        if depth > 0 {
                            frames.push(open);
                        }
                        depth += 1;
                        open = Frame { slot, count: 0, seen: 0, is_object };
                        at = if is_object { self.name(&mut open, first)? } else { first };
                        continue;
                    }
                }
                Some(b't') => self.literal(at, "true", Tag::True)?,
                Some(b'f') => self.literal(at, "false", Tag::False)?,
                Some(b'n') => self.literal(at, "null", Tag::Null)?,
                Some(_) | None => return self.refuse(SyntaxKind::Grammar, at),
            };
            // A value has ended before `at`; so may the containers it is the last of.
            loop {
                if depth == 0 {
                    return Some(at);
                }
                open.count += 1;
                at = space_end(bytes, at);
                match (bytes.get(at), open.is_object) {
                    (Some(b','), true) => {
                        at = self.name(&mut open, space_end(bytes, at + 1))?;
                        break;
                    }
                    (Some(b','), false) => {
                        at = space_end(bytes, at + 1);
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        at += 1;
                        self.close(&open, at)?;
                        depth -= 1;
                        if let Some(outer) = frames.pop() {
                            open = outer;
                        }
                    }
                    (Some(_) | None, _) => return self.refuse(SyntaxKind::Grammar, at),
                }
            }
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "measured: the one loop over the input, benches/NOTES.md")]
    fn string(&mut self, at: usize) -> Option<usize> {
        let start = at + 1;
        let end = plain_end(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"') {
            self.tree.slots.push(Slot::new(Tag::Text, at, end + 1, start, end - start));
            return Some(end + 1);
        }
        self.escaped(at, end)
    }

    /// A string whose first escape is at `escape`, if there is one.
    #[cold]
    fn escaped(&mut self, at: usize, escape: usize) -> Option<usize> {
        let side = self.tree.unescaped.len();
        let step = unescape(self.input, at + 1, escape, &mut self.tree.unescaped);
        let end = self.noted(step)?;
        let size = self.tree.unescaped.len() - side;
        self.tree.slots.push(Slot::new(Tag::Escaped, at, end + 1, side, size));
        Some(end + 1)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "measured: the one loop over the input, benches/NOTES.md")]
    fn number(&mut self, at: usize) -> Option<usize> {
        let step = number::scan(self.input, at);
        let (slot, end) = self.noted(step)?;
        self.tree.slots.push(slot);
        Some(end)
    }

    /// Reads a name and its colon, and gives where its value starts.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "measured: the one loop over the input, benches/NOTES.md")]
    fn name(&mut self, open: &mut Frame, at: usize) -> Option<usize> {
        if self.bytes.get(at) != Some(&b'"') {
            return self.refuse(SyntaxKind::Grammar, at);
        }
        let end = self.string(at)?;
        // A larger object compares its names when it closes.
        if open.count < names::SMALL {
            let slot = self.tree.last();
            let source = self.tree.source(self.input, slot).as_bytes();
            let mark = names::mark(names::key(source, slot.side as usize, slot.size()));
            if open.seen & mark != 0 && names::repeated(self.tree, self.input, open.slot, open.count, slot) {
                return self.refuse(SyntaxKind::Duplicate, at);
            }
            open.seen |= mark;
        }
        let colon = space_end(self.bytes, end);
        if self.bytes.get(colon) != Some(&b':') {
            return self.refuse(SyntaxKind::Grammar, colon);
        }
        Some(space_end(self.bytes, colon + 1))
    }

    #[inline]
    fn literal(&mut self, at: usize, word: &str, tag: Tag) -> Option<usize> {
        let end = at + word.len();
        if self.bytes.get(at..end) != Some(word.as_bytes()) {
            return self.refuse(SyntaxKind::Grammar, at);
        }
        self.tree.slots.push(Slot::new(tag, at, end, 0, 0));
        Some(end)
    }

    /// Writes into a container's slot what is known now that it ends.
    #[inline]
    fn close(&mut self, open: &Frame, end: usize) -> Option<()> {
        let mut tag = if open.is_object { Tag::Object } else { Tag::Array };
        if open.is_object && open.count > names::SMALL {
            let step = names::sort(self.tree, self.input, open.slot, open.count);
            self.noted(step)?;
            tag = Tag::Large;
        }
        let next = self.tree.slots.len();
        if let Some(slot) = self.tree.slots.get_mut(open.slot as usize) {
            *slot = Slot::new(tag, slot.start as usize, end, next, open.count as usize);
        }
        Some(())
    }
}
