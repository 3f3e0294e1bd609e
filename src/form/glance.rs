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

/// How far a value was read that was not read to its end.
#[derive(Debug, Clone, Copy)]
struct Stop {
    doubt: Doubt,
    at: usize,
}

/// The offset after a value that fits, or where it was left.
type Step = Result<usize, Stop>;

/// One look at a body.
struct Look<'t> {
    reader: Reader<'t>,
    /// Bytes that may be read once more.
    left: Cell<usize>,
}

/// What of a form can be seen at a glance. Places do not lead back to themselves: forms that recur have no plan.
#[derive(Debug)]
pub(crate) struct Plan {
    places: Vec<Place>,
    root: usize,
    rules: Vec<scalar::Rule>,
}

/// One place of a form.
#[derive(Debug)]
enum Place {
    Value(Box<Kinds>),
    Combined(Combined),
}

/// What stands together at one place: all of it must hold.
#[derive(Debug)]
struct Combined {
    /// Each must hold: what the place says itself, references, `allOf`.
    all: Vec<usize>,
    /// `anyOf`; an alternative that is blind is nothing here.
    some: Option<Vec<Option<usize>>>,
    /// `oneOf`.
    one: Option<Vec<usize>>,
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
    each: usize,
}

/// Objects whose members all have names of the form.
#[derive(Debug)]
struct Members {
    known: Vec<Member>,
    /// A bit for each of `known` that must be there.
    required: u64,
    fewest: u32,
    most: u32,
    /// What a name that is not known means.
    other: Doubt,
}

#[derive(Debug)]
struct Member {
    name: Quoted,
    /// Nothing where it is blind.
    place: Option<usize>,
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
    fn at(self, at: usize) -> Stop {
        Stop { doubt: self, at }
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
}

impl Plan {
    /// Looks at a body.
    pub(crate) fn see(&self, body: &[u8]) -> Seen {
        let Some(reader) = Reader::new(body) else { return Seen::Unsure };
        let look = Look { reader, left: Cell::new(FREE + AGAIN * body.len()) };
        match self.value(&look, self.root, reader.space_end(0), 0) {
            Ok(end) if reader.is_end(end) => Seen::Fits,
            Ok(_) | Err(Stop { doubt: Doubt::Unsure, .. }) => Seen::Unsure,
            Err(Stop { doubt: Doubt::Unfit, .. }) => Seen::Unfit,
        }
    }

    /// Reads the value at `at` within so many containers.
    fn value(&self, look: &Look<'_>, place: usize, at: usize, depth: usize) -> Step {
        let kinds = match self.places.get(place) {
            Some(Place::Value(kinds)) => kinds,
            Some(Place::Combined(combined)) => return self.combined(look, combined, at, depth),
            None => return Err(Doubt::Unsure.at(at)),
        };
        let reader = look.reader;
        let word = |is: Result<(), Doubt>, word: &str| {
            is.and(reader.literal(at, word).ok_or(Doubt::Unsure)).map_err(|doubt| doubt.at(at))
        };
        match reader.byte(at) {
            Some(b'"') => admitted(&kinds.text, at)?.read(reader, at, &self.rules),
            Some(b'-' | b'0'..=b'9') => admitted(&kinds.number, at)?.read(reader, at),
            Some(b'{') => self.object(look, admitted(&kinds.object, at)?, at, depth),
            Some(b'[') => self.array(look, admitted(&kinds.array, at)?, at, depth),
            Some(b't') => word(kinds.yes, "true"),
            Some(b'f') => word(kinds.no, "false"),
            Some(b'n') => word(kinds.null, "null"),
            Some(_) | None => Err(Doubt::Unsure.at(at)),
        }
    }

    fn object(&self, look: &Look<'_>, members: &Members, open: usize, depth: usize) -> Step {
        if depth == MAX_DEPTH {
            return Err(Doubt::Unsure.at(open));
        }
        let reader = look.reader;
        let mut at = reader.space_end(open + 1);
        let (mut seen, mut count, mut expected) = (0_u64, 0, 0);
        if reader.byte(at) == Some(b'}') {
            return members.whole(0, 0, at);
        }
        loop {
            let (index, end) = members.find(reader, at, expected)?;
            let bit = 1 << index;
            if seen & bit != 0 {
                return Err(Doubt::Unsure.at(end));
            }
            seen |= bit;
            count += 1;
            expected = index + 1;
            at = reader.space_end(end);
            if reader.byte(at) != Some(b':') {
                return Err(Doubt::Unsure.at(at));
            }
            let place = members.known.get(index).and_then(|member| member.place);
            let place = place.ok_or(Doubt::Unsure.at(at))?;
            at = self.value(look, place, reader.space_end(at + 1), depth + 1)?;
            at = reader.space_end(at);
            match reader.byte(at) {
                Some(b',') => at = reader.space_end(at + 1),
                Some(b'}') => return members.whole(seen, count, at),
                Some(_) | None => return Err(Doubt::Unsure.at(at)),
            }
        }
    }

    fn array(&self, look: &Look<'_>, elements: &Elements, open: usize, depth: usize) -> Step {
        if depth == MAX_DEPTH {
            return Err(Doubt::Unsure.at(open));
        }
        let reader = look.reader;
        let mut at = reader.space_end(open + 1);
        let mut count = 0;
        let mut texts = [(0, 0); FEW];
        if reader.byte(at) == Some(b']') {
            return elements.whole(0, at);
        }
        loop {
            let start = at;
            at = self.value(look, elements.each, start, depth + 1)?;
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
    fn combined(&self, look: &Look<'_>, combined: &Combined, at: usize, depth: usize) -> Step {
        // Each reading but the last is one more than it takes.
        let mut before: Option<usize> = None;
        let reached = Cell::new(at);
        let mut read = |place: usize| {
            if let Some(end) = before {
                look.charge(at, end).map_err(|doubt| doubt.at(at))?;
            }
            let step = self.value(look, place, at, depth);
            let end = step.unwrap_or_else(|stop| stop.at);
            before = Some(end);
            reached.set(reached.get().max(end));
            Ok::<Step, Stop>(step)
        };
        let refused = |doubt: Doubt| doubt.at(reached.get());
        let mut end = Err(Doubt::Unsure.at(at));
        for place in &combined.all {
            end = Ok(read(*place)??);
        }
        if let Some(alternatives) = &combined.some {
            let mut found = Err(Doubt::Unfit);
            for place in alternatives {
                let step = match place {
                    Some(place) => read(*place)?.map_err(|stop| stop.doubt),
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
                match read(*place)? {
                    // Both have read the same value to its end: it is JSON, and fits twice.
                    Ok(_) if found.is_ok() => return Err(refused(Doubt::Unfit)),
                    Ok(end) => found = Ok(end),
                    Err(Stop { doubt: Doubt::Unfit, .. }) => {}
                    Err(Stop { doubt: Doubt::Unsure, .. }) => return Err(refused(Doubt::Unsure)),
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

impl Members {
    /// Which member the name at `at` is of, and where the name ends. Mostly they come in the order of the form.
    #[inline]
    fn find(&self, reader: Reader<'_>, at: usize, expected: usize) -> Result<(usize, usize), Stop> {
        if let Some(member) = self.known.get(expected)
            && let Some(end) = reader.quoted(at, &member.name)
        {
            return Ok((expected, end));
        }
        self.find_among(reader, at)
    }

    #[inline(never)]
    fn find_among(&self, reader: Reader<'_>, at: usize) -> Result<(usize, usize), Stop> {
        for (index, member) in self.known.iter().enumerate() {
            if let Some(end) = reader.quoted(at, &member.name) {
                return Ok((index, end));
            }
        }
        if reader.byte(at) != Some(b'"') {
            return Err(Doubt::Unsure.at(at));
        }
        // With an escape in it, it may be a known one all the same.
        let end = reader.plain_end(at);
        Err(if reader.byte(end) == Some(b'"') { self.other } else { Doubt::Unsure }.at(end))
    }

    /// The end of an object that is closed at `at`, if nothing lacks, and there are neither too few nor too many.
    #[inline]
    fn whole(&self, seen: u64, count: u32, at: usize) -> Step {
        let whole = seen & self.required == self.required && (self.fewest..=self.most).contains(&count);
        if whole { Ok(at + 1) } else { Err(Doubt::Unfit.at(at)) }
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
