//! The document: which dialect it is, where its lines are, and what its references lead to.

use crate::config::{Foreign, read_foreign};
use crate::form::{Node, below};
use crate::hex;
use crate::json::pointer;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The dialects whose schemas are translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Swagger 2.0.
    Two,
    /// OpenAPI 3.0.
    Zero,
    /// OpenAPI 3.1 and 3.2: JSON Schema 2020-12.
    One,
}

/// A document that says which dialect it is.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) root: Node,
    pub(super) dialect: Dialect,
    /// As it says itself: `OpenAPI 3.0.3`.
    pub(super) version: String,
    /// Offsets at which lines begin.
    lines: Vec<usize>,
    /// Offset and name.
    pub(super) duplicates: Vec<(usize, String)>,
}

/// Why a document cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// From 1; 0 where no line is to blame.
    pub line: usize,
    /// From 1; 0 where no line is to blame.
    pub column: usize,
    /// One sentence, without a full stop.
    pub reason: String,
}

/// A node of the document and its JSON Pointer.
#[derive(Debug, Clone)]
pub(super) struct Place<'d> {
    pub(super) node: &'d Node,
    pub(super) at: Rc<str>,
}

impl<'d> Place<'d> {
    pub(super) fn member(&self, name: &str) -> Option<Self> {
        self.node.get(name).map(|node| Self { node, at: below(&self.at, name).into() })
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&'d str, Self)> {
        let at = Rc::clone(&self.at);
        self.node
            .members()
            .iter()
            .map(move |(name, node)| (name.as_str(), Self { node, at: below(&at, name).into() }))
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = Self> {
        let at = Rc::clone(&self.at);
        let numbered = self.node.elements().iter().enumerate();
        numbered.map(move |(index, node)| Self { node, at: below(&at, &index.to_string()).into() })
    }

    /// What tells one node from another while the document stands still.
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self.node).addr()
    }
}

impl Source {
    pub(super) fn read(text: &str, name: &str) -> Result<Self, Unreadable> {
        let Foreign { root, duplicates } = read_foreign(text).map_err(|fault| Unreadable {
            line: fault.line,
            column: fault.column,
            reason: fault.reason,
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let said = |key: &str| {
            let node = root.get(key)?;
            node.as_text().or_else(|| node.as_number()).map(str::to_owned)
        };
        let fault = |reason: String| Unreadable { line: 0, column: 0, reason };
        let (dialect, version) = match (said("openapi"), said("swagger")) {
            (Some(version), _) if version.starts_with("3.0") => (Dialect::Zero, format!("OpenAPI {version}")),
            (Some(version), _) if version.starts_with("3.1") || version.starts_with("3.2") => {
                (Dialect::One, format!("OpenAPI {version}"))
            }
            (None, Some(version)) if version.starts_with('2') => (Dialect::Two, format!("Swagger {version}")),
            (Some(version), _) => {
                return Err(fault(format!("OpenAPI {version} is not read: 3.0 and 3.1 are")));
            }
            (None, Some(version)) => return Err(fault(format!("Swagger {version} is not read: 2.0 is"))),
            (None, None) => {
                return Err(fault(
                    "no `openapi` and no `swagger` at its root: it is not an OpenAPI document".to_owned(),
                ));
            }
        };
        Ok(Self { name: name.to_owned(), root, dialect, version, lines, duplicates })
    }

    pub(super) fn root(&self) -> Place<'_> {
        Place { node: &self.root, at: "".into() }
    }

    /// The line of an offset, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    pub(super) fn title(&self) -> String {
        let info = self.root.get("info");
        let said = |key: &str| {
            info.and_then(|info| info.get(key))
                .and_then(|node| node.as_text().or_else(|| node.as_number()))
                .map(str::to_owned)
        };
        match (said("title"), said("version")) {
            (Some(title), Some(version)) => format!("{title}, version {version}"),
            (Some(title), None) => title,
            (None, _) => "without a title".to_owned(),
        }
    }
}

/// Members from which on an object is not searched from its beginning for each reference.
const LARGE: usize = 32;

/// Follows references; each is looked up once.
pub(super) struct Links<'d> {
    source: &'d Source,
    known: RefCell<HashMap<String, Option<Place<'d>>>>,
    /// Members of large objects that were looked into, by the object's address: references point into few of them.
    members: RefCell<HashMap<usize, HashMap<&'d str, &'d Node>>>,
}

impl<'d> Links<'d> {
    pub(super) fn of(source: &'d Source) -> Self {
        Self { source, known: RefCell::default(), members: RefCell::default() }
    }

    /// What a reference leads to, or why it does not.
    pub(super) fn target(&self, reference: &str) -> Result<Place<'d>, String> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(format!("`{reference}` is another document; references are followed within one"));
        };
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return Err(format!("`{reference}` is an anchor; references are followed by JSON Pointer"));
        }
        let mut known = self.known.borrow_mut();
        let found = known.entry(fragment.to_owned()).or_insert_with(|| self.look(fragment));
        found.clone().ok_or_else(|| format!("`{reference}` points at nothing"))
    }

    fn look(&self, fragment: &str) -> Option<Place<'d>> {
        let mut node = &self.source.root;
        let mut at = String::new();
        // Some documents write a `%` that stands for itself.
        let pointer = hex::percent_decoded(fragment).unwrap_or_else(|| fragment.to_owned());
        for name in pointer::tokens(&pointer) {
            node = self.child(node, &name)?;
            pointer::push_token(&mut at, &name);
        }
        Some(Place { node, at: at.into() })
    }

    fn child(&self, node: &'d Node, name: &str) -> Option<&'d Node> {
        if node.members().len() < LARGE {
            return node.child(name);
        }
        let mut known = self.members.borrow_mut();
        let members = known
            .entry(std::ptr::from_ref(node).addr())
            .or_insert_with(|| node.members().iter().map(|(name, value)| (name.as_str(), value)).collect());
        members.get(name).copied()
    }

    /// A place, or what its `$ref` leads to: for parameters, bodies, path items.
    pub(super) fn through(&self, place: Place<'d>) -> Result<Place<'d>, String> {
        let mut place = place;
        for _ in 0..16 {
            let Some(reference) = place.node.get("$ref").and_then(Node::as_text) else { return Ok(place) };
            place = self.target(reference)?;
        }
        Err("references that lead in a circle".to_owned())
    }
}
