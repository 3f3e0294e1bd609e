//! Strict JSON: bytes to a borrowed, flat document (RFC 8259, narrowed as the GPT draft,
//! "Verification", asks).
//!
//! One pass writes one slot per value and per member name, in the order of the input; what
//! has no escapes stays where it came in. The buffers are reused, so parsing stops allocating once
//! they have grown. Nothing recurses over the input while parsing, and what recurses over a parsed
//! document is bounded by [`MAX_DEPTH`].
//!
//! # What is refused
//!
//! Bytes that are not UTF-8, a byte-order mark, anything but one value with RFC 8259 white space
//! around it, a member name twice in one object (compared after unescaping), lone surrogate
//! escapes, more than [`MAX_DEPTH`] open containers, more than [`MAX_LENGTH`] bytes, and numbers
//! that someone downstream would read differently ([`SyntaxKind::NumberInexact`]):
//!
//! - more than [`MAX_DIGITS`] significant digits, counted without leading and trailing zeros;
//! - a written exponent beyond ±[`MAX_EXPONENT`], also on a zero;
//! - a magnitude that is not zero and would be as a double, 2^−1075 and below;
//! - a magnitude beyond the largest double, 1.7976931348623157e308;
//! - more than [`MAX_NUMBER`] bytes, which only zeros and exponents can make (Jackson reads no more).
//!
//! # What is exact
//!
//! [`Number`] and [`Decimal`] compare and divide exactly. The `jsonschema` crate asks a number for
//! `u64`, `i64` and then `f64`, never for its text, so through [`Strict`] alone:
//!
//! - exact: `type` (also draft 4's `integer`), `enum`, `uniqueItems`, and `minimum`, `maximum`,
//!   `exclusive…` and `multipleOf` between integers of 64 bits however written (`1e1`, `10.0`);
//! - rounded to a double first: those keywords for any other number, and `const` beside a number.
//!
//! `form` replaces the second group with keywords that ask [`Number`]. Bounds that are integers of
//! 64 bits, but for the lowest one, need no replacement beside `type: integer`: rounding keeps an
//! integer outside 64 bits on its side of them.

mod decimal;
mod names;
mod number;
mod parse;
pub mod pointer;
mod quote;
mod reader;
pub mod schema;
mod slip;
mod slot;
mod strict;
mod text;
mod unique;
mod value;
mod visible;

use std::fmt;

pub use decimal::Decimal;
pub use number::Number;
pub use quote::{push_quoted, quoted, write_quoted};
pub(crate) use reader::{Quoted, Reader, Short};
pub(crate) use slip::slip;
pub use strict::{Name, NameBuffer, Strict};
pub use value::{Array, Elements, Members, Named, Object, Value};
pub use visible::{is_visible, visible};

use slot::Tree;

/// Containers that may be open at once.
pub const MAX_DEPTH: usize = 128;

/// Bytes a document may have. Longer input is refused as [`SyntaxKind::Grammar`] at this offset;
/// a gateway's own limit is far below.
pub const MAX_LENGTH: usize = (1 << 28) - 1;

/// Significant digits a number may have.
pub const MAX_DIGITS: usize = 64;

/// Bytes a number may have.
pub const MAX_NUMBER: usize = 1000;

/// The largest exponent that may be written, either way.
pub const MAX_EXPONENT: i32 = 400;

/// Reusable buffers of the parser. One per worker thread; parsing never allocates once they have grown.
#[derive(Debug, Default)]
pub struct Document {
    tree: Tree,
    frames: Vec<parse::Frame>,
}

/// Why bytes are not one strict JSON value, and where (byte offset into the input).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxFault {
    /// Why.
    pub kind: SyntaxKind,
    /// The first byte that could not be read so; the later name of a duplicate.
    pub at: usize,
}

/// The ways in which bytes are not one strict JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyntaxKind {
    /// Nothing, or white space only.
    Empty,
    /// Not UTF-8, or a byte-order mark. Found before anything else is.
    Encoding,
    /// Not the grammar, or longer than [`MAX_LENGTH`].
    Grammar,
    /// A lone surrogate escape.
    Surrogate,
    /// Something after the value.
    Trailing,
    /// A member name twice in one object, compared after unescaping.
    Duplicate,
    /// More than [`MAX_DEPTH`] nested containers.
    Depth,
    /// More than [`MAX_DIGITS`] significant digits or [`MAX_NUMBER`] bytes, an exponent beyond
    /// ±[`MAX_EXPONENT`], or outside the range of a double.
    NumberInexact,
}

/// The six kinds of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// Any number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Document {
    /// A document without buffers; they grow with what is parsed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses one strict JSON value. What an earlier call left is forgotten.
    pub fn parse<'d>(&'d mut self, bytes: &'d [u8]) -> Result<Value<'d>, SyntaxFault> {
        let text = parse::decode(bytes)?;
        parse::parse(text, &mut self.tree, &mut self.frames)?;
        Ok(Value::new(text, &self.tree, 0))
    }

    /// Gives back what one unusually large document made the buffers grow to: afterwards they hold
    /// about `bytes` bytes at most, and no document.
    pub fn shrink_to(&mut self, bytes: usize) {
        self.tree.shrink_to(bytes);
    }
}

impl fmt::Display for SyntaxFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.at)
    }
}

impl std::error::Error for SyntaxFault {}

impl fmt::Display for SyntaxKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "no value",
            Self::Encoding => "not UTF-8, or a byte-order mark",
            Self::Grammar => "not JSON",
            Self::Surrogate => "a lone surrogate escape",
            Self::Trailing => "something after the value",
            Self::Duplicate => "a member name twice in one object",
            Self::Depth => "nested too deeply",
            Self::NumberInexact => "a number with too many digits or out of range",
        })
    }
}

/// Line and column, both from 1, of a byte offset; columns count characters.
///
/// Bytes that are not UTF-8 count as whatever they would start as. An offset past the end is the end.
pub fn line_column(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = bytes.get(..at).unwrap_or(bytes);
    // `split` gives one piece more than there are newlines.
    let (mut line, mut current) = (0, before);
    for piece in before.split(|byte| *byte == b'\n') {
        (line, current) = (line + 1, piece);
    }
    // A continuation byte belongs to the character before it.
    let column = 1 + current.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    (line, column)
}
