//! Strict JSON: bytes to a borrowed, flat document (RFC 8259, narrowed as the GPT draft,
//! "Verification", asks).
//!
//! CONTRACT (helper A owns this file and src/json/): the names below are what the rest uses.

#![allow(missing_docs, clippy::todo)]

use std::ops::Range;

/// Reusable buffers of the parser. One per worker thread; parsing never allocates once they have grown.
#[derive(Debug, Default)]
pub struct Document {}

/// Why bytes are not one strict JSON value, and where (byte offset into the input).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxFault {
    pub kind: SyntaxKind,
    pub at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyntaxKind {
    /// Nothing, or white space only.
    Empty,
    /// Not UTF-8, or a byte-order mark.
    Encoding,
    /// Not the grammar.
    Grammar,
    /// A lone surrogate escape.
    Surrogate,
    /// Something after the value.
    Trailing,
    /// A member name twice in one object, compared after unescaping.
    Duplicate,
    /// More than `MAX_DEPTH` nested containers.
    Depth,
    /// More than 64 significant digits, or an exponent beyond ±400.
    NumberInexact,
}

/// Containers that may be open at once.
pub const MAX_DEPTH: usize = 128;

/// One value of a parsed document. Copy, borrowed from the document and the input.
#[derive(Debug, Clone, Copy)]
pub struct Value<'d> {
    marker: std::marker::PhantomData<&'d ()>,
}

#[derive(Debug, Clone, Copy)]
pub struct Object<'d> {
    marker: std::marker::PhantomData<&'d ()>,
}

#[derive(Debug, Clone, Copy)]
pub struct Array<'d> {
    marker: std::marker::PhantomData<&'d ()>,
}

/// A number as written. Compares and divides exactly, as a decimal.
#[derive(Debug, Clone, Copy)]
pub struct Number<'d> {
    marker: std::marker::PhantomData<&'d ()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Document {
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses one strict JSON value. What an earlier call left is forgotten.
    pub fn parse<'d>(&'d mut self, bytes: &'d [u8]) -> Result<Value<'d>, SyntaxFault> {
        let _ = bytes;
        todo!()
    }

    /// Gives back what one unusually large document made the buffers grow to.
    pub fn shrink_to(&mut self, bytes: usize) {
        let _ = bytes;
        todo!()
    }
}

impl<'d> Value<'d> {
    pub fn kind(&self) -> Kind {
        todo!()
    }
    pub fn as_object(&self) -> Option<Object<'d>> {
        todo!()
    }
    pub fn as_array(&self) -> Option<Array<'d>> {
        todo!()
    }
    pub fn as_str(&self) -> Option<&'d str> {
        todo!()
    }
    pub fn as_number(&self) -> Option<Number<'d>> {
        todo!()
    }
    pub fn as_bool(&self) -> Option<bool> {
        todo!()
    }
    pub fn is_null(&self) -> bool {
        todo!()
    }
    /// Where the value stands in the input, in bytes.
    pub fn span(&self) -> Range<usize> {
        todo!()
    }
}

impl<'d> Object<'d> {
    pub fn len(&self) -> usize {
        todo!()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn get(&self, name: &str) -> Option<Value<'d>> {
        let _ = name;
        todo!()
    }
    /// Members in the order of the input: the unescaped name as a value (its span is the name's), and the value.
    pub fn members(&self) -> impl Iterator<Item = (&'d str, Value<'d>)> {
        std::iter::empty()
    }
}

impl<'d> Array<'d> {
    pub fn len(&self) -> usize {
        todo!()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn elements(&self) -> impl Iterator<Item = Value<'d>> {
        std::iter::empty()
    }
}

impl<'d> Number<'d> {
    /// As written.
    pub fn text(&self) -> &'d str {
        todo!()
    }
    /// Whether it is an integer in JSON Schema's sense: `1.0` and `1e1` are.
    pub fn is_integer(&self) -> bool {
        todo!()
    }
}

/// The representation that the `jsonschema` crate validates: our document, as it is.
#[derive(Debug, Clone, Copy)]
pub struct Strict;

/// Line and column, both from 1, of a byte offset; columns count characters.
pub fn line_column(bytes: &[u8], at: usize) -> (usize, usize) {
    let _ = (bytes, at);
    todo!()
}
