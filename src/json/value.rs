//! What a parsed document is read through: small handles, borrowed from document and input.

use std::iter::FusedIterator;
use std::ops::Range;

use super::number::Form;
use super::slot::{Slot, Tag, Tree};
use super::{Kind, Number, names};

/// One value of a parsed document. Copy, borrowed from the document and the input.
#[derive(Debug, Clone, Copy)]
pub struct Value<'d> {
    input: &'d str,
    tree: &'d Tree,
    at: u32,
    tag: Tag,
}

/// The members of an object.
#[derive(Debug, Clone, Copy)]
pub struct Object<'d>(Value<'d>);

/// The elements of an array.
#[derive(Debug, Clone, Copy)]
pub struct Array<'d>(Value<'d>);

impl<'d> Value<'d> {
    #[inline]
    pub(super) fn new(input: &'d str, tree: &'d Tree, at: u32) -> Self {
        Self { input, tree, at, tag: tree.slot(at).tag() }
    }

    #[inline]
    pub(super) fn tree(self) -> &'d Tree {
        self.tree
    }

    #[inline]
    pub(super) fn at(self) -> u32 {
        self.at
    }

    #[inline]
    pub(super) fn slot(self) -> Slot {
        self.tree.slot(self.at)
    }

    /// How many slots it and all in it take. Equal values take equally many.
    #[inline]
    pub(super) fn slots(self) -> u32 {
        self.tree.after(self.at) - self.at
    }

    /// The bytes of the input that it was read from.
    pub(super) fn source(self) -> &'d str {
        self.input.get(self.span()).unwrap_or_default()
    }

    /// Whether it is a string that stands in no document, and so has no quotes around it.
    pub(super) fn is_bare(self) -> bool {
        let slot = self.slot();
        self.tag == Tag::Text && slot.start == slot.side
    }

    /// Another value of the same document.
    #[inline]
    fn sibling(self, at: u32) -> Self {
        Self::new(self.input, self.tree, at)
    }

    /// Which of the six kinds it is.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.tag.kind()
    }

    /// Its members, if it is an object.
    #[inline]
    pub fn as_object(&self) -> Option<Object<'d>> {
        (self.kind() == Kind::Object).then_some(Object(*self))
    }

    /// Its elements, if it is an array.
    #[inline]
    pub fn as_array(&self) -> Option<Array<'d>> {
        (self.kind() == Kind::Array).then_some(Array(*self))
    }

    /// Its text after unescaping, if it is a string.
    #[inline]
    pub fn as_str(&self) -> Option<&'d str> {
        (self.kind() == Kind::String).then(|| self.tree.text(self.input, self.slot()))
    }

    /// The number, if it is one.
    #[inline]
    pub fn as_number(&self) -> Option<Number<'d>> {
        let form = Form::of(self.tag, || self.slot())?;
        Some(Number::new(self.source(), form))
    }

    /// The truth value, if it is one.
    #[inline]
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == Kind::Boolean).then_some(self.tag == Tag::True)
    }

    /// Whether it is `null`.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// Where the value stands in the input, in bytes.
    #[inline]
    pub fn span(&self) -> Range<usize> {
        let slot = self.slot();
        slot.start as usize..slot.end as usize
    }
}

impl<'d> Object<'d> {
    /// How many members it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.slot().size()
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of the member with this name.
    pub fn get(&self, name: &str) -> Option<Value<'d>> {
        match self.0.tag {
            Tag::Large => self.get_sorted(name, names::hash(name.as_bytes())),
            Tag::Object
            | Tag::Null
            | Tag::False
            | Tag::True
            | Tag::Small
            | Tag::Integer
            | Tag::Decimal
            | Tag::Text
            | Tag::Escaped
            | Tag::Array
            | Tag::Index => self.get_small(name),
        }
    }

    /// As `get`, with the hash of the name at hand.
    #[inline]
    pub(super) fn get_hashed(&self, name: &str, hash: u64) -> Option<Value<'d>> {
        if self.0.tag == Tag::Large { self.get_sorted(name, hash) } else { self.get_small(name) }
    }

    #[inline]
    fn get_small(&self, name: &str) -> Option<Value<'d>> {
        let Value { input, tree, at, tag: _ } = self.0;
        let mut at = at + 1;
        for _ in 0..self.len() {
            let slot = tree.slot(at);
            if slot.size() == name.len() && tree.text(input, slot) == name {
                return Some(self.0.sibling(at + 1));
            }
            at = tree.after(at + 1);
        }
        None
    }

    fn get_sorted(&self, name: &str, hash: u64) -> Option<Value<'d>> {
        let Value { input, tree, at: _, tag: _ } = self.0;
        let slot = names::find(tree, input, self.0.slot(), name, hash)?;
        Some(self.0.sibling(slot + 1))
    }

    /// Members in the order of the input: the unescaped name, and the value.
    #[inline]
    pub fn members(&self) -> Members<'d> {
        Members(self.named())
    }

    /// Members in the order of the input: the name as a value (its span is the name's, with its quotes), and the value.
    #[inline]
    pub fn named(&self) -> Named<'d> {
        Named { of: self.0, at: self.0.at + 1, left: self.len() }
    }
}

impl<'d> Array<'d> {
    /// How many elements it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.slot().size()
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Elements in the order of the input.
    #[inline]
    pub fn elements(&self) -> Elements<'d> {
        Elements { of: self.0, at: self.0.at + 1, left: self.len() }
    }
}

/// The elements of an array, in the order of the input.
#[derive(Debug, Clone)]
pub struct Elements<'d> {
    of: Value<'d>,
    at: u32,
    left: usize,
}

/// The members of an object with their names as text, in the order of the input.
#[derive(Debug, Clone)]
pub struct Members<'d>(Named<'d>);

/// The members of an object with their names as values, in the order of the input.
#[derive(Debug, Clone)]
pub struct Named<'d> {
    of: Value<'d>,
    at: u32,
    left: usize,
}

impl<'d> Iterator for Elements<'d> {
    type Item = Value<'d>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let element = self.of.sibling(self.at);
        self.at = self.of.tree.after(self.at);
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'d> Iterator for Named<'d> {
    type Item = (Value<'d>, Value<'d>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let name = self.of.sibling(self.at);
        let value = self.of.sibling(self.at + 1);
        self.at = self.of.tree.after(self.at + 1);
        Some((name, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'d> Iterator for Members<'d> {
    type Item = (&'d str, Value<'d>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        Some((name.as_str().unwrap_or_default(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Elements<'_> {}
impl ExactSizeIterator for Named<'_> {}
impl ExactSizeIterator for Members<'_> {}
impl FusedIterator for Elements<'_> {}
impl FusedIterator for Named<'_> {}
impl FusedIterator for Members<'_> {}
