//! Path and query of the request to a backend: fixed, but for members of the body that the form proves safe (P10).

use crate::form::{CompiledForm, SafeMember, Unproven};
use crate::json::Value;
use std::fmt;

/// A target as it is written: literal pieces, already checked, and pointers between `{` and `}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern(pub Vec<Piece>);

/// A piece of a target as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it is sent.
    Literal(String),
    /// A JSON Pointer (RFC 6901) into the body.
    Member(String),
}

/// A target that is sent: with a body that its form admits, it is one, and never one with another segment in it.
#[derive(Debug, Clone)]
pub struct PathTemplate(Vec<Part>);

#[derive(Debug, Clone)]
enum Part {
    Literal(String),
    Member(SafeMember),
}

impl PathPattern {
    /// The template, or everything that the form does not prove of its members.
    pub fn prove(&self, form: &CompiledForm) -> Result<PathTemplate, Vec<Unproven>> {
        let mut faults = Vec::new();
        let mut parts = Vec::new();
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => parts.push(Part::Literal(text.clone())),
                Piece::Member(pointer) => match form.safe_member(pointer) {
                    Ok(member) => parts.push(Part::Member(member)),
                    Err(fault) => faults.push(fault),
                },
            }
        }
        if faults.is_empty() { Ok(PathTemplate(parts)) } else { Err(faults) }
    }
}

impl PathTemplate {
    /// The target, where it is the same for every act.
    pub fn fixed(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The target for a value that the form admits. `None` where the value is not what was proven: a fault of ours,
    /// and nothing is sent.
    pub(super) fn fill(&self, value: Value<'_>) -> Option<Vec<u8>> {
        let mut target = Vec::with_capacity(128);
        for part in &self.0 {
            match part {
                Part::Literal(text) => target.extend_from_slice(text.as_bytes()),
                Part::Member(member) => member.write(value, &mut target)?,
            }
        }
        Some(target)
    }
}

/// As it is written in the file.
impl fmt::Display for PathTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            match part {
                Part::Literal(text) => f.write_str(text)?,
                Part::Member(member) => write!(f, "{{{}}}", member.pointer())?,
            }
        }
        Ok(())
    }
}
