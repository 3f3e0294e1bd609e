//! The YAML of one file as an ordered tree of nodes that know where they stand.
//!
//! Read from the parser's events rather than through serde, so that *every* duplicate key, alias and tag is
//! found, and so that a scalar keeps its own text: `1_000` stays `1_000` until someone asks what it means.

use super::fault::{Finding, Findings};
use crate::json::pointer;
use serde_yaml::granit_parser::{Event, Parser, ScalarStyle, Span};
use std::collections::BTreeMap;

/// Nodes in one file, at most: a bound on memory that no hand-written file comes near.
const MAX_NODES: usize = 500_000;

/// A node, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Mark(usize);

impl Mark {
    /// The mark that [`Mark::number`] was taken of.
    pub(super) fn numbered(number: usize) -> Self {
        Self(number)
    }

    pub(super) fn number(self) -> usize {
        self.0
    }
}

/// One node: where it stands and what it holds.
#[derive(Debug)]
pub(super) struct Node {
    line: usize,
    column: usize,
    /// The container and the step from it; `None` at the root.
    place: Option<(Mark, Step)>,
    pub(super) content: Content,
}

#[derive(Debug)]
enum Step {
    Member(String),
    Element(usize),
}

#[derive(Debug)]
pub(super) enum Content {
    /// `plain` is a scalar without quotes or block marker, open to interpretation.
    Scalar {
        text: String,
        plain: bool,
    },
    Sequence(Vec<Mark>),
    /// In the order of the file, names distinct.
    Mapping(Vec<Member>),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    /// A scalar node.
    pub(super) key: Mark,
    pub(super) value: Mark,
}

/// All nodes of one file.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

/// A tab that a line is indented with, on this line, counted from 1, or the next: the reader stops at either.
fn tab(text: &str, line: usize) -> Option<(usize, usize)> {
    let mut near = text.lines().enumerate().skip(line.saturating_sub(1)).take(2);
    near.find_map(|(index, line)| {
        let indent = line.len() - line.trim_start().len();
        Some((index + 1, line[..indent].find('\t')? + 1))
    })
}

impl Tree {
    /// The root of every tree.
    pub(super) const ROOT: Mark = Mark(0);

    /// Reads one document. What is wrong goes to `findings`; a tree comes back when the rest can still be judged.
    pub(super) fn read(text: &str, findings: &Findings) -> Option<Self> {
        let mut builder =
            Builder { tree: Self { nodes: Vec::new() }, open: Vec::new(), findings, documents: 0 };
        for event in Parser::new_from_str(text) {
            match event {
                Ok((event, span)) => builder.take(event, span),
                Err(error) => {
                    let at = error.marker();
                    let (line, column, reason, help) = match tab(text, at.line()) {
                        Some((line, column)) => {
                            (line, column, "not YAML: a tab".to_owned(), "indent with spaces")
                        }
                        None => (
                            at.line(),
                            at.col() + 1,
                            format!("not YAML: {}", error.info()),
                            "look at the indentation of this line and the one above: spaces, never tabs; text with \
                             `: ` or ` #` in it stands in quotes, and each quote is closed",
                        ),
                    };
                    let (pointer, suggestion) = (String::new(), Some(help.to_owned()));
                    findings.add(Finding { line, column, pointer, reason, suggestion, lint: None });
                    return None;
                }
            }
            if builder.tree.nodes.len() > MAX_NODES {
                findings.add_at(1, 1, format!("more than {MAX_NODES} values"));
                return None;
            }
        }
        if builder.tree.nodes.is_empty() {
            findings.add_at(1, 1, "the file is empty".to_owned());
            return None;
        }
        Some(builder.tree)
    }

    pub(super) fn content(&self, at: Mark) -> &Content {
        // A `Mark` is only ever made by pushing its node.
        &self.nodes[at.0].content
    }

    /// Line and column, from 1.
    pub(super) fn position(&self, at: Mark) -> (usize, usize) {
        (self.nodes[at.0].line, self.nodes[at.0].column)
    }

    /// JSON Pointer (RFC 6901) from the root; the key of a member has the member's.
    pub(super) fn pointer(&self, mut at: Mark) -> String {
        let mut steps = Vec::new();
        while let Some((parent, step)) = &self.nodes[at.0].place {
            steps.push(step);
            at = *parent;
        }
        steps.iter().rev().fold(String::new(), |mut pointer, step| {
            match step {
                Step::Member(name) => pointer::push_token(&mut pointer, name),
                Step::Element(index) => pointer::push_token(&mut pointer, &index.to_string()),
            }
            pointer
        })
    }

    /// The node that `pointer` leads to from `at`, or the deepest one on the way.
    pub(super) fn follow(&self, mut at: Mark, pointer: &str) -> Mark {
        for step in pointer::tokens(pointer) {
            let next = match self.content(at) {
                Content::Scalar { .. } => None,
                Content::Sequence(elements) => {
                    pointer::index(&step).and_then(|index| elements.get(index)).copied()
                }
                Content::Mapping(members) => {
                    members.iter().find(|m| self.text(m.key) == Some(&*step)).map(|m| m.value)
                }
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    /// The text of a scalar.
    pub(super) fn text(&self, at: Mark) -> Option<&str> {
        match self.content(at) {
            Content::Scalar { text, .. } => Some(text),
            Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }
}

/// A container whose end has not come.
struct Open {
    mark: Mark,
    /// The key whose value comes next; mappings only.
    key: Option<Key>,
    /// Names seen so far, with the line of each; mappings only.
    names: BTreeMap<String, usize>,
}

enum Key {
    Good(Mark),
    /// Reported; its value is read and left out.
    Bad,
}

struct Builder<'f> {
    tree: Tree,
    open: Vec<Open>,
    findings: &'f Findings,
    documents: usize,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents == 2 {
                    self.refuse(span, "a second document; the file holds one", None);
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.look_at_properties(anchor, tag.is_some(), span);
                let plain = matches!(style, ScalarStyle::Plain);
                // Where nothing is written the parser says `~`, as if someone had meant null.
                let text = if plain && span.is_empty() { String::new() } else { text.into_owned() };
                self.place(Content::Scalar { text, plain }, span);
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.look_at_properties(anchor, tag.is_some(), span);
                let mark = self.place(Content::Sequence(Vec::new()), span);
                self.open.push(Open { mark, key: None, names: BTreeMap::new() });
            }
            Event::MappingStart(_, anchor, tag) => {
                self.look_at_properties(anchor, tag.is_some(), span);
                let mark = self.place(Content::Mapping(Vec::new()), span);
                self.open.push(Open { mark, key: None, names: BTreeMap::new() });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
            }
            Event::Alias(_) => {
                self.refuse(
                    span,
                    "aliases are not read",
                    Some("write the value out; `defaults:` holds for every route"),
                );
                // Something must stand in its place for the keys after it to stay keys.
                self.place(Content::Scalar { text: String::new(), plain: false }, span);
            }
            // The parser's enum, not ours: stream marks and presentation.
            _ => {}
        }
    }

    fn look_at_properties(&self, anchor: usize, tagged: bool, span: Span) {
        if anchor != 0 {
            self.refuse(span, "anchors are not read", Some("write the value out where it is meant"));
        }
        if tagged {
            self.refuse(
                span,
                "tags are not read",
                Some("leave the `!…` out, and quote the value if it is text"),
            );
        }
    }

    fn refuse(&self, span: Span, reason: &str, suggestion: Option<&str>) {
        self.findings.add(Finding {
            line: span.start.line(),
            column: span.start.col() + 1,
            pointer: self.open.last().map_or_else(String::new, |open| self.tree.pointer(open.mark)),
            reason: reason.to_owned(),
            suggestion: suggestion.map(str::to_owned),
            lint: None,
        });
    }

    /// Pushes a node and hangs it where it belongs.
    fn place(&mut self, content: Content, span: Span) -> Mark {
        let mark = Mark(self.tree.nodes.len());
        let scalar = match &content {
            Content::Scalar { text, .. } => Some(text.clone()),
            Content::Sequence(_) | Content::Mapping(_) => None,
        };
        let (line, column) = (span.start.line(), span.start.col() + 1);
        self.tree.nodes.push(Node { line, column, place: None, content });
        // A second document's nodes hang nowhere: it has been refused.
        let Some(parent) = self.open.last().map(|open| open.mark) else { return mark };
        let key = self.open.last_mut().and_then(|open| open.key.take());
        let step = match (&mut self.tree.nodes[parent.0].content, key) {
            (Content::Sequence(elements), _) => {
                elements.push(mark);
                Some(Step::Element(elements.len() - 1))
            }
            (Content::Mapping(members), Some(Key::Good(key))) => {
                members.push(Member { key, value: mark });
                self.tree.text(key).map(|name| Step::Member(name.to_owned()))
            }
            (Content::Mapping(_), Some(Key::Bad)) => Some(Step::Member("?".to_owned())),
            (Content::Mapping(_), None) => {
                let key = self.judge_key(mark, scalar.as_deref(), span);
                if let Some(open) = self.open.last_mut() {
                    open.key = Some(key);
                }
                scalar.map(Step::Member)
            }
            (Content::Scalar { .. }, _) => None,
        };
        self.tree.nodes[mark.0].place = step.map(|step| (parent, step));
        mark
    }

    fn judge_key(&mut self, mark: Mark, name: Option<&str>, span: Span) -> Key {
        let Some(name) = name else {
            self.refuse(span, "a key must be text", None);
            return Key::Bad;
        };
        let line = span.start.line();
        let Some(open) = self.open.last_mut() else { return Key::Bad };
        if let Some(first) = open.names.insert(name.to_owned(), line) {
            self.refuse(span, &format!("`{name}` is given twice; the first is on line {first}"), None);
            return Key::Bad;
        }
        Key::Good(mark)
    }
}
