//! Whether a body fits, seen while it is read: no document, no allocation, each byte looked at about once.
//!
//! The parser and the validator stay the judges. A glance knows the common keywords only and says one of three things:
//!
//! - it fits: then it is one strict JSON value that the form admits, and its numbers are safe to any reader;
//! - it is unfit: then the judges refuse it too, and are asked why;
//! - it is unsure, of what is rare or not JSON: then the judges decide from the start.
//!
//! So nothing but time depends on it. That it never contradicts them is held by an assertion in every debug build
//! (`gateway::judge`), by the suites and cases that run under it, and by a fuzz target (`form_validate`).
//!
//! What it knows is in [`making`]: that is where a keyword becomes part of a plan, or the place where it stands blind.

mod making;
mod scalar;

pub(crate) use making::plan;

use crate::json::{MAX_DEPTH, Quoted, Reader};
use scalar::{Numbers, Texts};
use std::cell::Cell;
use std::sync::Arc;

/// What a glance sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The body is one strict JSON value that the form admits, and each of its numbers is safe.
    Fits,
    /// It is not.
    Unfit,
    /// The parser and the validator have to say.
    Unsure,
}

/// Why a value was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// It does not fit, if it is JSON at all.
    Unfit,
    /// The judges are to be asked.
    Unsure,
}

/// How far a value was read that was not read to its end, and why no farther. In one word, as steps are passed in
/// registers then: twice the offset, and one more where it is unsure.
#[derive(Debug, Clone, Copy)]
struct Stop(usize);

/// The offset after a value that fits, or where it was left.
type Step = Result<usize, Stop>;

/// One look at a body.
struct Look<'l> {
    reader: Reader<'l>,
    /// Bytes that may be read once more.
    left: Cell<usize>,
}

/// What of a form can be seen at a glance: its first place. Places do not lead back to themselves: forms that recur have no
/// plan.
#[derive(Debug)]
pub(crate) struct Plan(Arc<Place>);

/// One place of a form.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all are large, and are read more often than kept")]
enum Place {
    Value(Kinds),
    Combined(Combined),
}

/// What stands together at one place: all of it must hold.
#[derive(Debug)]
struct Combined {
    /// Each must hold: what the place says itself, references, `allOf`.
    all: Vec<Arc<Place>>,
    /// `anyOf`; an alternative that is blind is nothing here.
    some: Option<Vec<Option<Arc<Place>>>>,
    /// `oneOf`.
    one: Option<Vec<Arc<Place>>>,
}

/// What is admitted of each kind of value.
#[derive(Debug)]
struct Kinds {
    null: Result<(), Doubt>,
    no: Result<(), Doubt>,
    yes: Result<(), Doubt>,
    number: Result<Numbers, Doubt>,
    text: Result<Texts, Doubt>,
    array: Result<Elements, Doubt>,
    object: Result<Members, Doubt>,
}

/// Arrays.
#[derive(Debug)]
struct Elements {
    fewest: usize,
    most: usize,
    unique: bool,
    each: Arc<Place>,
}

/// Objects whose members all have names of the form.
#[derive(Debug)]
struct Members {
    known: Vec<Member>,
    /// A bit for each of `known` that must be there.
    required: u64,
    fewest: u32,
    most: u32,
    /// Whether there can be too few or too many.
    is_counted: bool,
    /// What a name that is not known means.
    other: Doubt,
}

#[derive(Debug)]
struct Member {
    name: Quoted,
    /// Nothing where it is blind.
    place: Option<Arc<Place>>,
}

/// As many members of an object are told apart by bits.
const MEMBERS: usize = 64;

/// Up to as many elements are compared each with each.
const FEW: usize = 16;

/// Alternatives read a value again. Of a body, so many times its length may be: then parser and validator are cheaper,
/// who look at what was read once.
const AGAIN: usize = 2;

/// Bytes that any body may be read again.
const FREE: usize = 256;

impl Doubt {
    #[inline]
    fn at(self, at: usize) -> Stop {
        Stop(at << 1 | usize::from(self == Self::Unsure))
    }
}

impl Stop {
    #[inline]
    fn doubt(self) -> Doubt {
        if self.0 & 1 == 1 { Doubt::Unsure } else { Doubt::Unfit }
    }

    #[inline]
    fn at(self) -> usize {
        self.0 >> 1
    }
}

impl Plan {
    /// Looks at a body.
    pub(crate) fn see(&self, body: &[u8]) -> Seen {
        let Some(reader) = Reader::new(body) else { return Seen::Unsure };
        let look = Look { reader, left: Cell::new(FREE + AGAIN * body.len()) };
        match look.value(&self.0, 0, 0).map_err(Stop::doubt) {
            Ok(end) if reader.is_end(end) => Seen::Fits,
            Ok(_) | Err(Doubt::Unsure) => Seen::Unsure,
            Err(Doubt::Unfit) => Seen::Unfit,
        }
    }
}

impl Look<'_> {
    /// What was read from `start` to `end` is read again.
    fn charge(&self, start: usize, end: usize) -> Result<(), Doubt> {
        // And what it takes to begin.
        let left = self.left.get().checked_sub(end.saturating_sub(start) + 1);
        self.left.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(Doubt::Unsure)
    }

    /// Reads the value at `at`, or behind white space there, within so many containers.
    #[inline]
    fn value(&self, place: &Place, at: usize, depth: usize) -> Step {
        let kinds = match place {
            Place::Value(kinds) => kinds,
            Place::Combined(combined) => return self.combined(combined, at, depth),
        };
        let reader = self.reader;
        match reader.byte(at) {
            Some(b'"') => admitted(&kinds.text, at)?.read(reader, at),
            Some(b'-' | b'0'..=b'9') => admitted(&kinds.number, at)?.read(reader, at),
            Some(b'{') => self.object(admitted(&kinds.object, at)?, at, depth),
            Some(b'[') => self.array(admitted(&kinds.array, at)?, at, depth),
            Some(b't') => word(kinds.yes, reader, at, "true"),
            Some(b'f') => word(kinds.no, reader, at, "false"),
            Some(b'n') => word(kinds.null, reader, at, "null"),
            Some(b' ' | b'\n' | b'\r' | b'\t') => self.spaced(place, at, depth),
            Some(_) | None => Err(Doubt::Unsure.at(at)),
        }
    }

    #[inline(never)]
    fn spaced(&self, place: &Place, at: usize, depth: usize) -> Step {
        self.value(place, self.reader.space_end(at), depth)
    }

    #[inline(never)]
    fn object(&self, members: &Members, open: usize, depth: usize) -> Step {
        if depth == MAX_DEPTH {
            return Err(Doubt::Unsure.at(open));
        }
        let reader = self.reader;
        let mut at = reader.space_end(open + 1);
        if reader.byte(at) == Some(b'}') {
            return members.whole(0, at);
        }
        let (mut seen, mut expected) = (0_u64, 0);
        loop {
            // Mostly they come in the order of the form, with no white space but what a writer puts behind commas.
            let next = members.known.get(expected);
            let next = next.and_then(|member| Some((member, reader.quoted(at, &member.name)?)));
            let (index, member, end) = match next {
                Some((member, end)) => (expected, member, end),
                None => members.find(reader, reader.space_end(at), expected)?,
            };
            let bit = 1 << index;
            let Some(place) = member.place.as_deref().filter(|_| seen & bit == 0) else {
                return Err(Doubt::Unsure.at(end));
            };
            seen |= bit;
            expected = index + 1;
            at = self.value(place, end, depth + 1)?;
            if !matches!(reader.byte(at), Some(b',' | b'}')) {
                at = reader.space_end(at);
            }
            match reader.byte(at) {
                Some(b',') => at += 1,
                Some(b'}') => return members.whole(seen, at),
                Some(_) | None => return Err(Doubt::Unsure.at(at)),
            }
        }
    }

    #[inline(never)]
    fn array(&self, elements: &Elements, open: usize, depth: usize) -> Step {
        if depth == MAX_DEPTH {
            return Err(Doubt::Unsure.at(open));
        }
        let reader = self.reader;
        let mut at = reader.space_end(open + 1);
        let mut count = 0;
        let mut texts = [(0, 0); FEW];
        if reader.byte(at) == Some(b']') {
            return elements.whole(0, at);
        }
        loop {
            let start = at;
            at = self.value(&elements.each, start, depth + 1)?;
            if elements.unique {
                is_new(reader, &mut texts, count, (start, at)).map_err(|doubt| doubt.at(at))?;
            }
            count += 1;
            at = reader.space_end(at);
            match reader.byte(at) {
                Some(b',') => at = reader.space_end(at + 1),
                Some(b']') => return elements.whole(count, at),
                Some(_) | None => return Err(Doubt::Unsure.at(at)),
            }
        }
    }

    #[inline(never)]
    fn combined(&self, combined: &Combined, at: usize, depth: usize) -> Step {
        // Each reading but the last is one more than it takes.
        let mut before: Option<usize> = None;
        let reached = Cell::new(at);
        let mut read = |place: &Place| {
            if let Some(end) = before {
                self.charge(at, end).map_err(|doubt| doubt.at(at))?;
            }
            let step = self.value(place, at, depth);
            let end = step.unwrap_or_else(Stop::at);
            before = Some(end);
            reached.set(reached.get().max(end));
            Ok::<Step, Stop>(step)
        };
        let refused = |doubt: Doubt| doubt.at(reached.get());
        let mut end = Err(Doubt::Unsure.at(at));
        for place in &combined.all {
            end = Ok(read(place)??);
        }
        if let Some(alternatives) = &combined.some {
            let mut found = Err(Doubt::Unfit);
            for place in alternatives {
                let step = match place {
                    Some(place) => read(place)?.map_err(Stop::doubt),
                    None => Err(Doubt::Unsure),
                };
                match step {
                    Ok(_) => {
                        found = step;
                        break;
                    }
                    Err(Doubt::Unfit) => {}
                    Err(Doubt::Unsure) => found = step,
                }
            }
            end = Ok(found.map_err(refused)?);
        }
        if let Some(alternatives) = &combined.one {
            let mut found = Err(Doubt::Unfit);
            for place in alternatives {
                match read(place)?.map_err(Stop::doubt) {
                    // Both have read the same value to its end: it is JSON, and fits twice.
                    Ok(_) if found.is_ok() => return Err(refused(Doubt::Unfit)),
                    Ok(end) => found = Ok(end),
                    Err(Doubt::Unfit) => {}
                    Err(Doubt::Unsure) => return Err(refused(Doubt::Unsure)),
                }
            }
            end = Ok(found.map_err(refused)?);
        }
        end
    }
}

/// What is asked of a kind of value, where it is admitted at all.
#[inline]
fn admitted<T>(kind: &Result<T, Doubt>, at: usize) -> Result<&T, Stop> {
    kind.as_ref().map_err(|doubt| doubt.at(at))
}

/// The end of a word that stands there, if it is admitted.
#[inline(never)]
fn word(is: Result<(), Doubt>, reader: Reader<'_>, at: usize, word: &str) -> Step {
    is.and(reader.literal(at, word).ok_or(Doubt::Unsure)).map_err(|doubt| doubt.at(at))
}

impl Members {
    /// Which member begins at `at`, and where its colon ends.
    #[inline(never)]
    fn find(&self, reader: Reader<'_>, at: usize, expected: usize) -> Result<(usize, &Member, usize), Stop> {
        let (before, next) = self.known.split_at(expected.min(self.known.len()));
        let mut known = (expected..).zip(next).chain((0..).zip(before));
        if let Some(found) =
            known.clone().find_map(|(index, member)| Some((index, member, reader.quoted(at, &member.name)?)))
        {
            return Ok(found);
        }
        if reader.byte(at) != Some(b'"') {
            return Err(Doubt::Unsure.at(at));
        }
        // With an escape in it, it may be a known one all the same.
        let end = reader.plain_end(at);
        if reader.byte(end) != Some(b'"') {
            return Err(Doubt::Unsure.at(end));
        }
        // A known one, if there is white space before the colon.
        let colon = reader.space_end(end + 1);
        let name = reader.between(at, end + 1);
        match known.find(|(_, member)| member.name.as_str().strip_suffix(':') == Some(name)) {
            Some((index, member)) if reader.byte(colon) == Some(b':') => Ok((index, member, colon + 1)),
            Some(_) => Err(Doubt::Unsure.at(colon)),
            None => Err(self.other.at(end)),
        }
    }

    /// The end of an object that is closed at `at`, if nothing lacks, and there are neither too few nor too many. `seen`: a
    /// bit for each that came.
    #[inline]
    fn whole(&self, seen: u64, at: usize) -> Step {
        let is_enough = || (self.fewest..=self.most).contains(&seen.count_ones());
        let is_whole = seen & self.required == self.required && (!self.is_counted || is_enough());
        if is_whole { Ok(at + 1) } else { Err(Doubt::Unfit.at(at)) }
    }
}

impl Elements {
    /// The end of an array that is closed at `at`, if it has neither too few nor too many.
    #[inline]
    fn whole(&self, count: usize, at: usize) -> Step {
        if (self.fewest..=self.most).contains(&count) { Ok(at + 1) } else { Err(Doubt::Unfit.at(at)) }
    }
}

/// Whether an element is none of those before it: told of a few strings, by what stands there.
fn is_new(
    reader: Reader<'_>,
    texts: &mut [(usize, usize); FEW],
    count: usize,
    text: (usize, usize),
) -> Result<(), Doubt> {
    let (start, end) = text;
    let is_plain = reader.byte(start) == Some(b'"') && reader.plain_end(start) + 1 == end;
    if !is_plain {
        return Err(Doubt::Unsure);
    }
    let (before, rest) = texts.split_at_mut_checked(count).ok_or(Doubt::Unsure)?;
    let here = reader.between(start, end);
    if before.iter().any(|(start, end)| reader.between(*start, *end) == here) {
        return Err(Doubt::Unfit);
    }
    *rest.first_mut().ok_or(Doubt::Unsure)? = text;
    Ok(())
}
