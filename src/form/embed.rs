//! A form as a part of another document: its references written out where they stand, because
//! `#/$defs/x` would point into that document, and its descriptions short.
//!
//! Nothing else of its shape changes, but for one addition: every schema of `type: object` says its
//! `properties`, if only that there are none. Readers of OpenAPI refuse it otherwise, and to a
//! validator it says nothing.

use super::dialect::{self, Chart};
use super::draft::Draft;
use super::keywords::{Role, Row, Shape};
use super::references::{self, Graph};
use super::source::{Node, Tree, below};
use super::{CompiledForm, FormFault};
use crate::json::push_quoted;
use std::collections::HashMap;

/// Schemas within schemas, with references written out; beyond it, nobody reads them.
const MAX_DEPTH: usize = 96;

/// Names that mean something to OpenAPI in a schema, and nothing to JSON Schema.
const TAKEN: &[&str] = &["discriminator", "example", "externalDocs", "xml"];

/// How a form is embedded.
#[derive(Debug, Clone, Copy)]
pub struct Embedding {
    /// Unicode scalars of a description, at most; longer ones are cut, and end in `...`.
    pub description: usize,
    /// Bytes of the embedded text, at most.
    pub text: usize,
}

/// A form that can stand anywhere in a document whose dialect is 2020-12.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedded {
    /// JSON text, compact, members in the order of the form. It has no reference and no identifier.
    pub text: String,
    /// What a value that fits can be.
    pub root: Root,
}

/// What the values are that a form admits, as far as its root says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// Objects, described in one place.
    Object,
    /// Objects, described as alternatives.
    Alternatives,
    /// Something else, or it is not said.
    Other,
}

impl CompiledForm {
    /// The description of the root; empty where there is none.
    pub fn description(&self) -> String {
        let root = Node::parse(&self.published).ok();
        let text = root.as_ref().and_then(|root| root.get("description")).and_then(Node::as_text);
        text.unwrap_or_default().to_owned()
    }

    /// The form as a part of another document, or why it cannot be one. Pointers are into the form
    /// as it is published.
    pub fn embedded(&self, embedding: Embedding) -> Result<Embedded, FormFault> {
        let root = Node::parse(&self.published)?;
        let draft = dialect::draft_of(&root)?;
        // Its faults are annotations that the route declares: the form has been compiled.
        let chart = dialect::walk(&root, draft, &[]);
        if let Some(fault) = changes_meaning(&chart) {
            return Err(fault);
        }
        let graph = references::resolve(&chart, &root.to_serde()).map_err(first)?;
        let mut writing = Writing::new(&chart, &graph, embedding);
        writing.schema(0, &[])?;
        let root = root_of(&writing, 0);
        Ok(Embedded { text: writing.out, root })
    }
}

fn first(faults: Vec<FormFault>) -> FormFault {
    faults.into_iter().next().unwrap_or_else(|| fault(String::new(), "it cannot be resolved", None))
}

fn fault(pointer: String, reason: impl Into<String>, suggestion: Option<&str>) -> FormFault {
    let suggestion = suggestion.map(ToOwned::to_owned);
    FormFault { pointer, at: 0, reason: reason.into(), suggestion, lint: None }
}

/// What a form of an older draft says that 2020-12 does not read the same way. Nothing is
/// translated: a form is carried as it stands, or not at all.
fn changes_meaning(chart: &Chart<'_>) -> Option<FormFault> {
    const REWRITE: Option<&str> = Some("write the form in draft 2020-12");
    for place in &chart.places {
        for (name, value) in place.node.members() {
            let Some(row) = chart.draft.keyword(name) else {
                if TAKEN.contains(&name.as_str()) {
                    let reason =
                        format!("`{name}` means something to OpenAPI: it is no mere annotation there");
                    return Some(fault(below(&place.pointer, name), reason, Some("another name")));
                }
                continue;
            };
            if chart.draft != Draft::Twenty && !reads_the_same(chart.draft, row, value) {
                let reason = format!(
                    "`{name}` of {} means something else, or nothing, in 2020-12, which OpenAPI 3.1 is written in",
                    chart.draft.name()
                );
                return Some(fault(below(&place.pointer, name), reason, REWRITE));
            }
            if matches!(row.role, Role::Assertion | Role::Annotation) && refers(value) {
                let reason = "a member named `$ref` in a value: readers of OpenAPI take it for a reference";
                return Some(fault(below(&place.pointer, name), reason, None));
            }
        }
    }
    None
}

fn reads_the_same(draft: Draft, row: &Row, value: &Node) -> bool {
    match row.role {
        // What is left out.
        Role::Identifier | Role::Definitions => return true,
        Role::Assertion | Role::InPlace(_) | Role::Inward | Role::Reference | Role::Annotation => {}
    }
    let Some(today) = Draft::Twenty.keyword(row.name) else { return false };
    let shape = match row.shape {
        Shape::SomeNames => Shape::Names,
        Shape::SchemaOrSchemas if !value.is_array() => Shape::Schema,
        other => other,
    };
    // In draft 04, `1.0` is no integer; in 2019-09, what `contains` finds stays unevaluated.
    let narrower = draft == Draft::Four && row.name == "type" && value.printed().contains("\"integer\"");
    let wider = draft == Draft::Nineteen && row.name == "unevaluatedItems";
    shape == today.shape && row.role == today.role && !narrower && !wider
}

/// Whether a value has a text member named `$ref` somewhere.
fn refers(value: &Node) -> bool {
    value
        .members()
        .iter()
        .any(|(name, member)| (name == "$ref" && member.as_text().is_some()) || refers(member))
        || value.elements().iter().any(refers)
}

/// What the root says, through what it consists of.
fn root_of(writing: &Writing<'_>, place: usize) -> Root {
    let node = writing.chart.places[place].node;
    let alternatives = ["anyOf", "oneOf"].iter().any(|keyword| node.get(keyword).is_some());
    if objects_only(writing, place) {
        let behind = writing.targets(place).map(|(_, target)| root_of(writing, target));
        if alternatives || behind.into_iter().any(|root| root == Root::Alternatives) {
            Root::Alternatives
        } else {
            Root::Object
        }
    } else {
        Root::Other
    }
}

/// Whether the schema at a place admits objects and nothing else, as far as it says so itself.
/// References are not in a circle: they have been written out.
fn objects_only(writing: &Writing<'_>, place: usize) -> bool {
    let place_of = &writing.chart.places[place];
    let node = place_of.node;
    let names = |kinds: &Node| kinds.as_text() == Some("object") || kinds.printed() == "[\"object\"]";
    let within = |keyword: &str| {
        let at = below(&place_of.pointer, keyword);
        let count = node.get(keyword).map_or(0, |schemas| schemas.elements().len());
        (0..count)
            .filter_map(move |index| writing.by_pointer.get(below(&at, &index.to_string()).as_str()).copied())
    };
    let mut alternatives = ["anyOf", "oneOf"].into_iter().filter(|keyword| node.get(keyword).is_some());
    node.get("type").is_some_and(names)
        || node.get("const").is_some_and(Node::is_object)
        || node.get("enum").is_some_and(|values| values.elements().iter().all(Node::is_object))
        || alternatives.any(|keyword| within(keyword).all(|inner| objects_only(writing, inner)))
        || within("allOf").any(|inner| objects_only(writing, inner))
        || writing.targets(place).any(|(_, target)| objects_only(writing, target))
}

/// Annotations that stand beside a reference, for what it refers to: they say more about this use.
type Beside<'s> = [(&'s str, &'s Node)];

struct Writing<'w> {
    chart: &'w Chart<'w>,
    graph: &'w Graph,
    by_pointer: HashMap<&'w str, usize>,
    embedding: Embedding,
    /// The places that are being written, each within the one before.
    open: Vec<usize>,
    out: String,
}

impl<'w> Writing<'w> {
    fn new(chart: &'w Chart<'w>, graph: &'w Graph, embedding: Embedding) -> Self {
        let by_pointer =
            chart.places.iter().enumerate().map(|(index, place)| (place.pointer.as_str(), index)).collect();
        Self { chart, graph, by_pointer, embedding, open: Vec::new(), out: String::new() }
    }

    /// The references of a place, and where they lead.
    fn targets(&self, place: usize) -> impl Iterator<Item = (&'static str, usize)> {
        self.graph.ways[place].iter().filter_map(|way| way.reference.map(|keyword| (keyword, way.to)))
    }

    /// Writes the schema at a place, with what a reference to it says besides.
    fn schema(&mut self, place: usize, beside: &Beside<'w>) -> Result<(), FormFault> {
        let at = || self.chart.places[place].pointer.clone();
        if self.open.contains(&place) {
            let reason = "it refers to itself: written out, it would not end";
            return Err(fault(at(), reason, Some("`unroll: 4` publishes and enforces it to that depth")));
        }
        if self.open.len() >= MAX_DEPTH {
            let reason = format!("with its references written out, it is more than {MAX_DEPTH} schemas deep");
            return Err(fault(at(), reason, Some("fewer levels")));
        }
        if self.out.len() > self.embedding.text {
            let reason = format!(
                "with its references written out, the form is larger than {} bytes",
                self.embedding.text
            );
            return Err(fault(String::new(), reason, Some("fewer references to large definitions")));
        }
        self.open.push(place);
        self.members(place, beside)?;
        self.open.pop();
        Ok(())
    }

    fn members(&mut self, place: usize, beside: &Beside<'w>) -> Result<(), FormFault> {
        let node = self.chart.places[place].node;
        let Tree::Object(members) = &node.tree else {
            node.print(&mut self.out);
            return Ok(());
        };
        let draft = self.chart.draft;
        let role = |name: &str| draft.keyword(name).map_or(Role::Annotation, |row| row.role);
        let left = |name: &str| match role(name) {
            Role::Identifier | Role::Definitions | Role::Reference => false,
            Role::Assertion | Role::InPlace(_) | Role::Inward | Role::Annotation => true,
        };
        let own: Vec<(&'w str, &'w Node)> = members
            .iter()
            .filter(|(name, _)| left(name) && beside.iter().all(|(other, _)| other != name))
            .map(|(name, value)| (name.as_str(), value))
            .collect();
        let targets: Vec<usize> = self.referred(place)?;
        if let [target] = targets.as_slice()
            && self.chart.places[*target].node.is_object()
            && own.iter().all(|(name, _)| role(name) == Role::Annotation)
        {
            // The reference stands alone, but for what describes it.
            let all: Vec<_> = own.into_iter().chain(beside.iter().copied()).collect();
            return self.schema(*target, &all);
        }
        self.out.push('{');
        for (name, value) in own.iter().copied() {
            self.name(name);
            match name {
                "allOf" => self.all_of(place, value.elements().len(), &targets)?,
                _ => self.value(place, name, value)?,
            }
            let objects = name == "type"
                && (value.as_text() == Some("object") || value.elements().iter().any(is_object));
            if objects && node.get("properties").is_none() {
                self.name("properties");
                self.out.push_str("{}");
            }
        }
        if !targets.is_empty() && node.get("allOf").is_none() {
            self.name("allOf");
            self.all_of(place, 0, &targets)?;
        }
        for (name, value) in beside.iter().copied() {
            self.name(name);
            self.value(place, name, value)?;
        }
        self.out.push('}');
        Ok(())
    }

    /// Where the references of a place lead, one each.
    fn referred(&self, place: usize) -> Result<Vec<usize>, FormFault> {
        let mut found: Vec<(&'static str, usize)> = Vec::new();
        for (keyword, target) in self.targets(place) {
            if found.iter().any(|(other, _)| *other == keyword) {
                let pointer = below(&self.chart.places[place].pointer, keyword);
                let reason = "where it leads depends on how one comes here: it cannot be written out";
                return Err(fault(pointer, reason, Some("`$ref`")));
            }
            found.push((keyword, target));
        }
        Ok(found.into_iter().map(|(_, target)| target).collect())
    }

    /// `,` where one is due, and the name of a member.
    fn name(&mut self, name: &str) {
        if !self.out.ends_with('{') {
            self.out.push(',');
        }
        push_quoted(name, &mut self.out);
        self.out.push(':');
    }

    /// The elements of `allOf`, and behind them what the schema refers to: both must hold.
    fn all_of(&mut self, place: usize, own: usize, targets: &[usize]) -> Result<(), FormFault> {
        let at = below(&self.chart.places[place].pointer, "allOf");
        let within =
            (0..own).filter_map(|index| self.by_pointer.get(below(&at, &index.to_string()).as_str()));
        let all: Vec<usize> = within.chain(targets).copied().collect();
        self.out.push('[');
        for (index, place) in all.into_iter().enumerate() {
            self.comma(index);
            self.schema(place, &[])?;
        }
        self.out.push(']');
        Ok(())
    }

    /// The value of one keyword: the schemas in it as schemas, a description cut, the rest as it is.
    fn value(&mut self, place: usize, name: &str, value: &Node) -> Result<(), FormFault> {
        let here = below(&self.chart.places[place].pointer, name);
        let Some(row) = self.chart.draft.keyword(name) else {
            value.print(&mut self.out);
            return Ok(());
        };
        match (row.role, &value.tree) {
            (Role::Annotation, Tree::Text(text)) if name == "description" => {
                push_quoted(&shortened(text, self.embedding.description), &mut self.out);
            }
            (Role::InPlace(_) | Role::Inward, Tree::Object(members)) if holds_by_name(row.shape) => {
                self.out.push('{');
                for (member, value) in members {
                    self.name(member);
                    self.one(&below(&here, member), value)?;
                }
                self.out.push('}');
            }
            (Role::InPlace(_) | Role::Inward, Tree::Array(elements)) => {
                self.out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    self.comma(index);
                    self.one(&below(&here, &index.to_string()), element)?;
                }
                self.out.push(']');
            }
            (Role::InPlace(_) | Role::Inward, Tree::Object(_)) => self.one(&here, value)?,
            (
                Role::Annotation
                | Role::Assertion
                | Role::Reference
                | Role::Identifier
                | Role::Definitions
                | Role::InPlace(_)
                | Role::Inward,
                Tree::Null
                | Tree::Boolean(_)
                | Tree::Number(_)
                | Tree::Text(_)
                | Tree::Array(_)
                | Tree::Object(_),
            ) => value.print(&mut self.out),
        }
        Ok(())
    }

    /// The schema at a pointer, or a value where no schema stands.
    fn one(&mut self, pointer: &str, value: &Node) -> Result<(), FormFault> {
        if let Some(place) = self.by_pointer.get(pointer) {
            return self.schema(*place, &[]);
        }
        value.print(&mut self.out);
        Ok(())
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.out.push(',');
        }
    }
}

fn is_object(kind: &Node) -> bool {
    kind.as_text() == Some("object")
}

/// Whether a keyword holds schemas under names of the form's own.
fn holds_by_name(shape: Shape) -> bool {
    matches!(shape, Shape::SchemasByName | Shape::SchemasByPattern | Shape::Dependencies)
}

/// A description of at most so many Unicode scalars: cut behind a sentence, else at a space, and
/// marked with `...`.
pub fn shortened(text: &str, most: usize) -> String {
    const CUT: &str = "...";
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    // Room for a space and the mark behind a sentence.
    let room = most.saturating_sub(CUT.len() + 1);
    let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    let kept = &text[..end];
    let sentence = kept
        .char_indices()
        .filter(|(at, c)| {
            let next = text[at + c.len_utf8()..].chars().next();
            matches!(c, '.' | '!' | '?') && next.is_none_or(char::is_whitespace)
        })
        .map(|(at, c)| at + c.len_utf8())
        .next_back()
        // A cut that would leave little says less than one in the middle of a sentence.
        .filter(|at| *at >= end / 2);
    if let Some(at) = sentence {
        return format!("{} {CUT}", &kept[..at]);
    }
    let space = kept.rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(kept.len());
    format!("{}{CUT}", kept[..space].trim_end())
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn text_is_cut_behind_a_sentence_or_at_a_space() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("One two three. Four five", 20), "One two three. ...");
        assert_eq!(shortened("One. Two three four five six", 20), "One. Two three...");
        assert_eq!(shortened("abcdefghijklmnop", 10), "abcdef...");
        // Scalars are counted, not bytes; `3.5` is no end of a sentence.
        assert_eq!(shortened("äöüäöüäöü", 9), "äöüäöüäöü");
        assert_eq!(shortened("äöüäöüäöüä", 9), "äöüäö...");
        assert_eq!(shortened("about 3.5 of all the", 14), "about 3.5...");
        for most in 4..40 {
            let cut = shortened("A sentence of some words. Another, longer one; and more", most);
            assert!(cut.chars().count() <= most && cut.ends_with("..."), "{most}: {cut}");
        }
    }
}
