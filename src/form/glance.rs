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

/// The offset after a value that fits, or why there is none.
type Step = Result<usize, Doubt>;

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

impl Plan {
    /// Looks at a body.
    pub(crate) fn see(&self, body: &[u8]) -> Seen {
        let Some(reader) = Reader::new(body) else { return Seen::Unsure };
        match self.value(reader, self.root, reader.space_end(0), 0) {
            Ok(end) if reader.is_end(end) => Seen::Fits,
            Ok(_) | Err(Doubt::Unsure) => Seen::Unsure,
            Err(Doubt::Unfit) => Seen::Unfit,
        }
    }

    /// Reads the value at `at` within so many containers.
    fn value(&self, reader: Reader<'_>, place: usize, at: usize, depth: usize) -> Step {
        let kinds = match self.places.get(place) {
            Some(Place::Value(kinds)) => kinds,
            Some(Place::Combined(combined)) => return self.combined(reader, combined, at, depth),
            None => return Err(Doubt::Unsure),
        };
        match reader.byte(at) {
            Some(b'"') => kinds.text.as_ref().map_err(|doubt| *doubt)?.read(reader, at, &self.rules),
            Some(b'-' | b'0'..=b'9') => kinds.number.as_ref().map_err(|doubt| *doubt)?.read(reader, at),
            Some(b'{') => self.object(reader, kinds.object.as_ref().map_err(|doubt| *doubt)?, at, depth),
            Some(b'[') => self.array(reader, kinds.array.as_ref().map_err(|doubt| *doubt)?, at, depth),
            Some(b't') => kinds.yes.and(reader.literal(at, "true").ok_or(Doubt::Unsure)),
            Some(b'f') => kinds.no.and(reader.literal(at, "false").ok_or(Doubt::Unsure)),
            Some(b'n') => kinds.null.and(reader.literal(at, "null").ok_or(Doubt::Unsure)),
            Some(_) | None => Err(Doubt::Unsure),
        }
    }

    fn object(&self, reader: Reader<'_>, members: &Members, open: usize, depth: usize) -> Step {
        if depth == MAX_DEPTH {
            return Err(Doubt::Unsure);
        }
        let mut at = reader.space_end(open + 1);
        let (mut seen, mut count, mut expected) = (0_u64, 0, 0);
        if reader.byte(at) == Some(b'}') {
            return members.whole(0, 0).map(|()| at + 1);
        }
        loop {
            let (index, end) = members.find(reader, at, expected)?;
            let bit = 1 << index;
            if seen & bit != 0 {
                return Err(Doubt::Unsure);
            }
            seen |= bit;
            count += 1;
            expected = index + 1;
            at = reader.space_end(end);
            if reader.byte(at) != Some(b':') {
                return Err(Doubt::Unsure);
            }
            let place = members.known.get(index).and_then(|member| member.place).ok_or(Doubt::Unsure)?;
            at = self.value(reader, place, reader.space_end(at + 1), depth + 1)?;
            at = reader.space_end(at);
            match reader.byte(at) {
                Some(b',') => at = reader.space_end(at + 1),
                Some(b'}') => return members.whole(seen, count).map(|()| at + 1),
                Some(_) | None => return Err(Doubt::Unsure),
            }
        }
    }

    fn array(&self, reader: Reader<'_>, elements: &Elements, open: usize, depth: usize) -> Step {
        if depth == MAX_DEPTH {
            return Err(Doubt::Unsure);
        }
        let mut at = reader.space_end(open + 1);
        let mut count = 0;
        let mut texts = [(0, 0); FEW];
        if reader.byte(at) == Some(b']') {
            return elements.whole(0).map(|()| at + 1);
        }
        loop {
            let start = at;
            at = self.value(reader, elements.each, start, depth + 1)?;
            if elements.unique {
                is_new(reader, &mut texts, count, (start, at))?;
            }
            count += 1;
            at = reader.space_end(at);
            match reader.byte(at) {
                Some(b',') => at = reader.space_end(at + 1),
                Some(b']') => return elements.whole(count).map(|()| at + 1),
                Some(_) | None => return Err(Doubt::Unsure),
            }
        }
    }

    #[inline(never)]
    fn combined(&self, reader: Reader<'_>, combined: &Combined, at: usize, depth: usize) -> Step {
        let mut end = Err(Doubt::Unsure);
        for place in &combined.all {
            end = Ok(self.value(reader, *place, at, depth)?);
        }
        if let Some(alternatives) = &combined.some {
            let mut found = Err(Doubt::Unfit);
            for place in alternatives {
                let step = place.map_or(Err(Doubt::Unsure), |place| self.value(reader, place, at, depth));
                match step {
                    Ok(_) => {
                        found = step;
                        break;
                    }
                    Err(Doubt::Unfit) => {}
                    Err(Doubt::Unsure) => found = step,
                }
            }
            end = Ok(found?);
        }
        if let Some(alternatives) = &combined.one {
            let mut found = Err(Doubt::Unfit);
            for place in alternatives {
                match self.value(reader, *place, at, depth) {
                    // Both have read the same value to its end: it is JSON, and fits twice.
                    Ok(_) if found.is_ok() => return Err(Doubt::Unfit),
                    step @ Ok(_) => found = step,
                    Err(Doubt::Unfit) => {}
                    Err(Doubt::Unsure) => return Err(Doubt::Unsure),
                }
            }
            end = Ok(found?);
        }
        end
    }
}

impl Members {
    /// Which member the name at `at` is of, and where the name ends. Mostly they come in the order of the form.
    #[inline]
    fn find(&self, reader: Reader<'_>, at: usize, expected: usize) -> Result<(usize, usize), Doubt> {
        if let Some(member) = self.known.get(expected)
            && let Some(end) = reader.quoted(at, &member.name)
        {
            return Ok((expected, end));
        }
        self.find_among(reader, at)
    }

    #[inline(never)]
    fn find_among(&self, reader: Reader<'_>, at: usize) -> Result<(usize, usize), Doubt> {
        for (index, member) in self.known.iter().enumerate() {
            if let Some(end) = reader.quoted(at, &member.name) {
                return Ok((index, end));
            }
        }
        // With an escape in it, it may be a known one all the same.
        let is_plain = reader.byte(at) == Some(b'"') && reader.byte(reader.plain_end(at)) == Some(b'"');
        Err(if is_plain { self.other } else { Doubt::Unsure })
    }

    /// Whether nothing lacks, and there are neither too few nor too many.
    #[inline]
    fn whole(&self, seen: u64, count: u32) -> Result<(), Doubt> {
        let whole = seen & self.required == self.required && (self.fewest..=self.most).contains(&count);
        if whole { Ok(()) } else { Err(Doubt::Unfit) }
    }
}

impl Elements {
    #[inline]
    fn whole(&self, count: usize) -> Result<(), Doubt> {
        if (self.fewest..=self.most).contains(&count) { Ok(()) } else { Err(Doubt::Unfit) }
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
