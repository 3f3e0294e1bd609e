//! JSON that is being written: members in the order in which they are put, and each number knows whether it is a guess.

use crate::form::{Node, Tree, below};
use crate::json::{self, visible};

/// Columns of a line in a form file.
const WIDTH: usize = 110;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Written {
    Null,
    Boolean(bool),
    Number { text: String, guessed: bool },
    Text(String),
    Array(Vec<Written>),
    Object(Vec<(String, Written)>),
}

/// A bound that stands in a form because a form must have one, not because anyone said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    /// JSON Pointer (RFC 6901) into the form, ending in the keyword.
    pub pointer: String,
    /// The part of the body that it bounds: `/address/street`, `/tags/*`; empty for the body itself.
    pub part: String,
    /// `maxLength`, `maxItems`, …
    pub keyword: String,
    /// Its value, as written.
    pub value: String,
}

impl Written {
    pub(super) fn of(node: &Node) -> Self {
        match &node.tree {
            Tree::Null => Self::Null,
            Tree::Boolean(value) => Self::Boolean(*value),
            Tree::Number(text) => Self::Number { text: text.clone(), guessed: false },
            Tree::Text(text) => Self::Text(text.clone()),
            Tree::Array(elements) => Self::Array(elements.iter().map(Self::of).collect()),
            Tree::Object(members) => {
                Self::Object(members.iter().map(|(name, value)| (name.clone(), Self::of(value))).collect())
            }
        }
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn number<T: ToString + ?Sized>(text: &T) -> Self {
        Self::Number { text: text.to_string(), guessed: false }
    }

    pub(super) fn guess<T: ToString + ?Sized>(text: &T) -> Self {
        Self::Number { text: text.to_string(), guessed: true }
    }

    pub(super) fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::Array(texts.into_iter().map(Self::text).collect())
    }

    pub(super) fn members(&self) -> &[(String, Self)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(member, _)| member == name).map(|(_, value)| value)
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Appends a member.
    pub(super) fn put(&mut self, name: &str, value: Self) {
        if let Self::Object(members) = self {
            members.push((name.to_owned(), value));
        }
    }

    /// On one line, without white space.
    pub(super) fn compact(&self) -> String {
        let mut out = String::new();
        self.print(&mut out, ("", ""));
        out
    }

    fn print(&self, out: &mut String, (space, pad): (&str, &str)) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number { text, .. } => out.push_str(text),
            Self::Text(text) => out.push_str(&quoted(text)),
            Self::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                        out.push_str(space);
                    }
                    element.print(out, (space, pad));
                }
                out.push(']');
            }
            Self::Object(members) if members.is_empty() => out.push_str("{}"),
            Self::Object(members) => {
                out.push('{');
                out.push_str(pad);
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                        out.push_str(space);
                    }
                    out.push_str(&quoted(name));
                    out.push(':');
                    out.push_str(space);
                    value.print(out, (space, pad));
                }
                out.push_str(pad);
                out.push('}');
            }
        }
    }

    /// As a person would lay it out: on one line what fits on one.
    pub(super) fn pretty(&self) -> String {
        let mut out = String::new();
        self.lay_out(&mut out, 0, 0);
        out.push('\n');
        out
    }

    fn lay_out(&self, out: &mut String, indent: usize, before: usize) {
        // A schema of many members is read line by line, however short they are.
        let room = WIDTH.saturating_sub(indent + before);
        if self.width(room).is_some() && !(indent == 0 && matches!(self, Self::Object(_))) {
            return self.print(out, (" ", " "));
        }
        let line = |out: &mut String, index: usize| {
            out.push_str(if index > 0 { ",\n" } else { "\n" });
            out.push_str(&" ".repeat(indent + 2));
        };
        match self {
            Self::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    line(out, index);
                    element.lay_out(out, indent + 2, 0);
                }
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    line(out, index);
                    let name = quoted(name);
                    out.push_str(&name);
                    out.push_str(": ");
                    value.lay_out(out, indent + 2, name.chars().count() + 2);
                }
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                out.push('}');
            }
            Self::Null | Self::Boolean(_) | Self::Number { .. } | Self::Text(_) => {
                self.print(out, (" ", " "));
            }
        }
    }

    /// Characters on one line; `None` where that is more than `room`.
    fn width(&self, room: usize) -> Option<usize> {
        let mut width = match self {
            Self::Null | Self::Boolean(_) => 5,
            Self::Number { text, .. } => text.len(),
            Self::Text(text) => text.chars().count() + 2,
            Self::Array(_) => 2,
            Self::Object(_) => 4,
        };
        if let Self::Array(elements) = self {
            for element in elements {
                width += 2 + element.width(room.checked_sub(width)?)?;
            }
        }
        for (name, value) in self.members() {
            width += name.chars().count() + 6;
            width += value.width(room.checked_sub(width)?)?;
        }
        (width <= room).then_some(width)
    }

    /// The bounds in a form that are guesses, in the order of the text.
    pub(super) fn guesses(&self) -> Vec<Guess> {
        let mut found = Vec::new();
        self.look("", "", &mut found);
        found
    }

    fn look(&self, pointer: &str, part: &str, found: &mut Vec<Guess>) {
        for (name, value) in self.members() {
            let here = below(pointer, name);
            match (name.as_str(), value) {
                (_, Self::Number { text, guessed: true }) => {
                    let (part, value) = (part.to_owned(), text.clone());
                    found.push(Guess { pointer: here, part, keyword: name.clone(), value });
                }
                ("properties", Self::Object(members)) => {
                    for (member, schema) in members {
                        schema.look(&below(&here, member), &below(part, member), found);
                    }
                }
                ("patternProperties", Self::Object(members)) => {
                    for (pattern, schema) in members {
                        schema.look(&below(&here, pattern), &format!("{part}/*"), found);
                    }
                }
                ("items" | "additionalProperties" | "propertyNames", schema) => {
                    schema.look(&here, &format!("{part}/*"), found);
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Self::Array(schemas)) => {
                    let inner = if name == "prefixItems" { format!("{part}/*") } else { part.to_owned() };
                    for (index, schema) in schemas.iter().enumerate() {
                        schema.look(&below(&here, &index.to_string()), &inner, found);
                    }
                }
                _ => {}
            }
        }
    }
}

/// JSON text of a string, which is a scalar of YAML too.
pub(super) fn quoted(text: &str) -> String {
    visible(&json::quoted(text))
}

/// On one line: what white space and control characters part is parted by one space.
pub(super) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// At most so many characters, ending between words and in `...` where something is left out; white space made one line.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let whole = words.join(" ");
    if whole.chars().count() <= most {
        return whole;
    }
    let mut out = String::new();
    for word in words {
        if out.chars().count() + word.chars().count() + 4 > most {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    if out.is_empty() {
        out = whole.chars().take(most.saturating_sub(3)).collect();
    }
    out + "..."
}

/// The next of 1, 2, 5, 10, 20, 50, … that is not smaller.
pub(super) fn nice(number: u64) -> u64 {
    let mut scale: u64 = 1;
    loop {
        for step in [1, 2, 5] {
            match scale.checked_mul(step) {
                Some(candidate) if candidate >= number => return candidate,
                Some(_) => {}
                None => return u64::MAX,
            }
        }
        scale = scale.saturating_mul(10);
    }
}
