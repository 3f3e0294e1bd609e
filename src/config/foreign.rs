//! Documents of others, JSON or YAML: read to be looked through, not obeyed. What our own files may not have (anchors,
//! aliases, tags, a name twice) is taken as its author meant it, and told where it could have been meant otherwise.

use super::scalar::{self, Plain};
use crate::form::{Node, Tree};
use crate::json::{Document, SyntaxKind, line_column};
use serde_yaml::granit_parser::{Event, Parser, ScalarStyle, Span};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// Values that one document may write itself: a bound on memory.
const MAX_NODES: usize = 6_000_000;
/// Bytes in memory that anchors, aliases and `<<` may copy, and how many more for each byte of the source.
const COPIES: (usize, usize) = (64 << 20, 8);
/// Containers within each other.
const MAX_OPEN: usize = 200;

/// A document as it was read.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// Offsets are bytes of the text.
    pub(crate) root: Node,
    /// Names that stand twice in one object, with the offset of the later one, which counts.
    pub(crate) duplicates: Vec<(usize, String)>,
}

/// Why a document cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) reason: String,
}

/// Reads one document. What begins with a brace or a bracket is JSON; anything else is YAML.
pub(crate) fn read_foreign(text: &str) -> Result<Foreign, Unreadable> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with(['{', '[']) {
        let mut document = Document::new();
        match document.parse(text.as_bytes()) {
            Ok(value) => return Ok(Foreign { root: Node::of(value), duplicates: Vec::new() }),
            // YAML is JSON too, and says which name it is.
            Err(fault) if fault.kind == SyntaxKind::Duplicate => {}
            // `{` may begin YAML in flow style as well.
            Err(fault) => {
                let (line, column) = line_column(text.as_bytes(), fault.at);
                let told = Unreadable { line, column, reason: fault.kind.to_string() };
                return if fault.kind == SyntaxKind::Grammar {
                    yaml(text).map_err(|_| told)
                } else {
                    Err(told)
                };
            }
        }
    }
    yaml(text)
}

fn yaml(text: &str) -> Result<Foreign, Unreadable> {
    let copies = COPIES.0.saturating_add(text.len().saturating_mul(COPIES.1));
    let mut builder = Builder { copies, ..Builder::default() };
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => builder.take(event, span)?,
            Err(error) => {
                let at = error.marker();
                let reason = format!("not YAML: {}", error.info());
                return Err(Unreadable { line: at.line(), column: at.col() + 1, reason });
            }
        }
    }
    match builder.root {
        Some(root) => Ok(Foreign { root, duplicates: builder.duplicates }),
        None => Err(Unreadable { line: 1, column: 1, reason: "the file is empty".to_owned() }),
    }
}

/// A container whose end has not come.
struct Open {
    at: usize,
    anchor: usize,
    inside: Inside,
}

enum Inside {
    Sequence(Vec<Node>),
    Mapping {
        members: Vec<(String, Node)>,
        /// Where each name is among the members.
        places: HashMap<String, usize>,
        key: Option<(String, usize)>,
        merged: Vec<Node>,
    },
}

#[derive(Default)]
struct Builder {
    root: Option<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    duplicates: Vec<(usize, String)>,
    nodes: usize,
    /// Bytes that may still be copied.
    copies: usize,
}

fn offset(span: Span) -> usize {
    span.start.byte_offset().unwrap_or_else(|| span.start.index())
}

fn refuse<T>(span: Span, reason: &str) -> Result<T, Unreadable> {
    Err(Unreadable { line: span.start.line(), column: span.start.col() + 1, reason: reason.to_owned() })
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Unreadable> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                return refuse(span, "a second document; one is read");
            }
            Event::Scalar(text, style, anchor, _) => {
                let plain = matches!(style, ScalarStyle::Plain);
                let text = if plain && span.is_empty() { String::new() } else { text.into_owned() };
                if self.names() {
                    self.key(text, offset(span));
                    return Ok(());
                }
                let tree = if plain { resolve(text) } else { Tree::Text(text) };
                self.put(Node { at: offset(span), tree }, anchor, span)?;
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(Inside::Sequence(Vec::new()), anchor, span)?;
            }
            Event::MappingStart(_, anchor, _) => {
                let inside = Inside::Mapping {
                    members: Vec::new(),
                    places: HashMap::new(),
                    key: None,
                    merged: Vec::new(),
                };
                self.begin(inside, anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.pop() {
                    let tree = match open.inside {
                        Inside::Sequence(elements) => Tree::Array(elements),
                        Inside::Mapping { members, places, merged, .. } => {
                            Tree::Object(with_merged(members, places, merged))
                        }
                    };
                    self.put(Node { at: open.at, tree }, open.anchor, span)?;
                }
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor) else {
                    return refuse(span, "an alias of what has not been closed, or of nothing");
                };
                let node = Rc::clone(node);
                self.charge(&node, span)?;
                if self.names() {
                    self.key(node.as_text().unwrap_or_default().to_owned(), offset(span));
                    return Ok(());
                }
                self.put(Rc::unwrap_or_clone(node), 0, span)?;
            }
            // The parser's enum, not ours: stream marks and presentation.
            _ => {}
        }
        Ok(())
    }

    /// Whether what comes next is the name of a member.
    fn names(&self) -> bool {
        matches!(self.open.last(), Some(Open { inside: Inside::Mapping { key: None, .. }, .. }))
    }

    /// Whether what comes next is brought in by `<<`.
    fn merges(&self) -> bool {
        matches!(self.open.last(), Some(Open { inside: Inside::Mapping { key: Some((name, _)), .. }, .. }) if name == "<<")
    }

    /// Takes what a copy of a value costs from what may be copied.
    fn charge(&mut self, node: &Node, span: Span) -> Result<(), Unreadable> {
        let Some(left) = without(self.copies, node) else {
            return refuse(
                span,
                "its anchors, aliases and `<<` copy more values than a document of its size may",
            );
        };
        self.copies = left;
        Ok(())
    }

    fn key(&mut self, name: String, at: usize) {
        if let Some(Open { inside: Inside::Mapping { key, .. }, .. }) = self.open.last_mut() {
            *key = Some((name, at));
        }
    }

    fn begin(&mut self, inside: Inside, anchor: usize, span: Span) -> Result<(), Unreadable> {
        if self.names() {
            return refuse(span, "a name of a member must be text");
        }
        if self.open.len() >= MAX_OPEN {
            return refuse(span, "nested too deep");
        }
        self.open.push(Open { at: offset(span), anchor, inside });
        Ok(())
    }

    fn put(&mut self, node: Node, anchor: usize, span: Span) -> Result<(), Unreadable> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return refuse(span, &format!("more than {MAX_NODES} values"));
        }
        if anchor != 0 {
            self.charge(&node, span)?;
            self.anchors.insert(anchor, Rc::new(node.clone()));
        }
        if self.merges() {
            // It costs as much to look through as to copy.
            self.charge(&node, span)?;
        }
        match self.open.last_mut().map(|open| &mut open.inside) {
            None => self.root = Some(node),
            Some(Inside::Sequence(elements)) => elements.push(node),
            Some(Inside::Mapping { members, places, key, merged }) => {
                let Some((name, at)) = key.take() else { return Ok(()) };
                if name == "<<" {
                    merged.push(node);
                } else if let Some(place) = places.get(&name) {
                    self.duplicates.push((at, name));
                    members[*place].1 = node;
                } else {
                    places.insert(name.clone(), members.len());
                    members.push((name, node));
                }
            }
        }
        Ok(())
    }
}

/// What `<<` brings in stands behind what is written, and does not replace it.
fn with_merged(
    mut members: Vec<(String, Node)>,
    mut places: HashMap<String, usize>,
    merged: Vec<Node>,
) -> Vec<(String, Node)> {
    let sources = merged.into_iter().flat_map(|node| match node {
        Node { tree: Tree::Array(elements), .. } => elements,
        single => vec![single],
    });
    for source in sources {
        let Tree::Object(brought) = source.tree else { continue };
        for (name, value) in brought {
            if let Entry::Vacant(place) = places.entry(name) {
                members.push((place.key().clone(), value));
                place.insert(members.len());
            }
        }
    }
    members
}

/// What is left of so many bytes once a value has been copied; `None` where they do not suffice.
fn without(bytes: usize, node: &Node) -> Option<usize> {
    let own = size_of::<Node>();
    match &node.tree {
        Tree::Null | Tree::Boolean(_) => bytes.checked_sub(own),
        Tree::Number(text) | Tree::Text(text) => bytes.checked_sub(own)?.checked_sub(text.len()),
        Tree::Array(elements) => elements.iter().try_fold(bytes.checked_sub(own)?, without),
        Tree::Object(members) => members.iter().try_fold(bytes.checked_sub(own)?, |left, (name, value)| {
            without(left.checked_sub(size_of::<String>() + name.len())?, value)
        }),
    }
}

/// A plain scalar as YAML 1.2 reads it; what its readers differ on is text, unless it is a number in JSON as well.
fn resolve(text: String) -> Tree {
    match scalar::resolve(&text) {
        Plain::Null => Tree::Null,
        Plain::Bool(value) => Tree::Boolean(value),
        Plain::Number => Tree::Number(text),
        Plain::Ambiguous(_) if text.is_empty() => Tree::Null,
        Plain::Ambiguous(_) if is_number(&text) => Tree::Number(text),
        Plain::Text | Plain::Ambiguous(_) => Tree::Text(text),
    }
}

fn is_number(text: &str) -> bool {
    let mut document = Document::new();
    document.parse(text.as_bytes()).is_ok_and(|value| value.as_number().is_some())
}
