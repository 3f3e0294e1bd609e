//! JSON Pointer (RFC 6901): a place in a document, by the names and numbers that lead to it.

use super::Value;
use crate::hex;
use std::borrow::Cow;

/// The tokens of a pointer, in order and as the names they stand for; the empty pointer has none. What stands before
/// its first `/` is no token.
pub fn tokens(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescaped)
}

/// The name that a token stands for: `~1` is `/`, `~0` is `~`, in this order (RFC 6901, 4).
pub fn unescaped(token: &str) -> Cow<'_, str> {
    if token.contains('~') { token.replace("~1", "/").replace("~0", "~").into() } else { token.into() }
}

/// The element that a token stands for: digits without a sign or a leading zero (RFC 6901, 4).
pub fn index(token: &str) -> Option<usize> {
    let counts = token == "0" || token.bytes().next().is_some_and(|first| matches!(first, b'1'..=b'9'));
    counts.then(|| token.parse().ok()).flatten()
}

/// Appends a name to a pointer (RFC 6901, 3).
pub fn push_token(pointer: &mut String, name: &str) {
    pointer.push('/');
    for character in name.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The pointer to what has this name, or this number, at `pointer`.
pub fn below(pointer: &str, name: &str) -> String {
    let mut longer = String::with_capacity(pointer.len() + name.len() + 1);
    longer.push_str(pointer);
    push_token(&mut longer, name);
    longer
}

/// The pointer in a reference within a document, `#/$defs/a%20b` (RFC 6901, 6). `None` for a reference to another
/// document, for one by name (`#anchor`), and where `%` is not followed by two digits of a byte of UTF-8.
pub fn of_reference(reference: &str) -> Option<Cow<'_, str>> {
    let fragment = reference.strip_prefix('#')?;
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return None;
    }
    if fragment.contains('%') {
        hex::percent_decoded(fragment).map(Cow::Owned)
    } else {
        Some(fragment.into())
    }
}

impl Value<'_> {
    /// The member of this name, or the element of this number.
    pub fn child(&self, name: &str) -> Option<Self> {
        match self.as_array() {
            Some(array) => array.elements().nth(index(name)?),
            None => self.as_object()?.get(name),
        }
    }

    /// What a pointer leads to from here.
    pub fn find(&self, pointer: &str) -> Option<Self> {
        tokens(pointer).try_fold(*self, |value, name| value.child(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    /// The document and the pointers of RFC 6901, 5 and 6.
    #[test]
    fn the_examples_of_the_rfc() {
        let text =
            r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
        let mut document = Document::new();
        let root = document.parse(text.as_bytes()).unwrap();
        let found = |pointer: &str| root.find(pointer).map(|value| text[value.span()].to_owned());
        for (pointer, reference, expected) in [
            ("", "#", text),
            ("/foo", "#/foo", r#"["bar","baz"]"#),
            ("/foo/0", "#/foo/0", "\"bar\""),
            ("/", "#/", "0"),
            ("/a~1b", "#/a~1b", "1"),
            ("/c%d", "#/c%25d", "2"),
            ("/e^f", "#/e%5Ef", "3"),
            ("/g|h", "#/g%7Ch", "4"),
            ("/i\\j", "#/i%5Cj", "5"),
            ("/k\"l", "#/k%22l", "6"),
            ("/ ", "#/%20", "7"),
            ("/m~0n", "#/m~0n", "8"),
        ] {
            assert_eq!(found(pointer).as_deref(), Some(expected), "{pointer}");
            assert_eq!(of_reference(reference).as_deref(), Some(pointer), "{reference}");
        }
        for pointer in
            ["/foo/2", "/foo/-", "/foo/00", "/foo/+0", "/foo/01", "/foo/", "/foo/0/0", "/a", "/m~n~1"]
        {
            assert_eq!(found(pointer), None, "{pointer}");
        }
        for reference in ["", "foo", "/foo", "#foo", "other.json#/foo", "#/%", "#/%2", "#/%zz", "#/%ff"] {
            assert_eq!(of_reference(reference), None, "{reference}");
        }
    }

    #[test]
    fn there_and_back() {
        for name in ["", "a", "~", "/", "~1", "~01", "/~0/", "%2F", "é~\u{1f600}/"] {
            let pointer = below("/x", name);
            assert_eq!(tokens(&pointer).collect::<Vec<_>>(), ["x", name]);
        }
        assert_eq!(below(&below("", "a/b"), "m~n"), "/a~1b/m~0n");
    }
}
