//! The fail-closed walk: every schema of a form, every keyword held against the table.

use super::FormFault;
use super::draft::Draft;
use super::keywords::{Role, Row, Shape, Stand};
use super::shape;
use super::source::{Node, Tree, below};
use super::suggestion::{self, unknown_keyword};

pub(crate) use super::keywords::Mode;

/// One place of a form where a schema stands.
#[derive(Debug)]
pub(crate) struct Place<'s> {
    /// JSON Pointer into the form.
    pub(crate) pointer: String,
    pub(crate) node: &'s Node,
    /// The place it belongs to, and how it is applied there.
    pub(crate) parent: Option<(usize, Step)>,
}

/// How one schema leads to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the same value.
    InPlace(Mode),
    /// To a part of the value.
    Inward,
    /// Not at all: it is kept for references.
    Kept,
}

/// A form as the walk leaves it.
#[derive(Debug)]
pub(crate) struct Chart<'s> {
    pub(crate) draft: Draft,
    /// In the order of the text; the root is the first.
    pub(crate) places: Vec<Place<'s>>,
    pub(crate) faults: Vec<FormFault>,
}

/// The draft of a form; 2020-12 where it says nothing.
pub(crate) fn draft_of(root: &Node) -> Result<Draft, FormFault> {
    let Some(schema) = root.get("$schema") else {
        return Ok(Draft::Twenty);
    };
    // A value that is no string is the shape check's to refuse.
    let Some(uri) = schema.as_text() else {
        return Ok(Draft::Twenty);
    };
    Draft::named(uri).ok_or_else(|| FormFault {
        pointer: "/$schema".to_owned(),
        at: schema.at,
        reason: format!("`{uri}` is no draft that is enforced: 2020-12, 2019-09, 07, 06 and 04 are"),
        suggestion: Some(format!("`{}`", Draft::Twenty.uri())),
        lint: None,
    })
}

/// Walks the form. `annotations` are names that the route declares to carry no constraint.
pub(crate) fn walk<'s>(root: &'s Node, draft: Draft, annotations: &[String]) -> Chart<'s> {
    let mut walk = Walk { annotations, chart: Chart { draft, places: Vec::new(), faults: Vec::new() } };
    walk.schema(root, "", None);
    walk.chart
}

struct Walk<'s, 'a> {
    annotations: &'a [String],
    chart: Chart<'s>,
}

impl<'s> Walk<'s, '_> {
    fn fault(&mut self, pointer: String, at: usize, reason: String, suggestion: Option<String>) {
        self.chart.faults.push(FormFault { pointer, at, reason, suggestion, lint: None });
    }

    fn schema(&mut self, node: &'s Node, pointer: &str, parent: Option<(usize, Step)>) {
        let place = self.chart.places.len();
        self.chart.places.push(Place { pointer: pointer.to_owned(), node, parent });
        let draft = self.chart.draft;
        let alone = draft.reference_stands_alone() && node.get("$ref").is_some();
        for (name, value) in node.members() {
            let here = below(pointer, name);
            let Some(row) = draft.keyword(name) else {
                self.unknown(name, value, here, node);
                continue;
            };
            let ignored = alone
                && match row.role {
                    Role::Assertion | Role::InPlace(_) | Role::Inward => true,
                    Role::Reference | Role::Annotation | Role::Definitions => false,
                    Role::Identifier => name != "$schema",
                };
            if ignored {
                self.fault(
                    here.clone(),
                    value.at,
                    format!("beside `$ref`, {} ignores `{name}`", draft.name()),
                    Some("`allOf` with the reference and the rest, or draft 2020-12".to_owned()),
                );
            }
            self.stand(row, node, value, &here, parent.is_some());
            for found in shape::check(name, value, row.shape, draft, &here) {
                self.chart.faults.push(FormFault {
                    pointer: found.pointer,
                    at: found.at,
                    reason: found.reason,
                    suggestion: found.suggestion,
                    lint: None,
                });
            }
            self.inside(row, value, &here, place);
        }
    }

    fn unknown(&mut self, name: &str, value: &Node, here: String, schema: &Node) {
        if self.annotations.iter().any(|declared| declared == name) {
            return;
        }
        let (reason, mut suggestion) = unknown_keyword(name, self.chart.draft);
        if name == "nullable"
            && let Some(kind) = schema.get("type").and_then(Node::as_text)
        {
            suggestion = Some(format!("`\"type\": [\"{kind}\", \"null\"]`"));
        }
        self.fault(here, value.at, reason, suggestion);
    }

    /// Refuses a keyword that has no effect where it stands.
    fn stand(&mut self, row: &Row, schema: &Node, value: &Node, here: &str, below_root: bool) {
        let (reason, suggestion) = match row.stand {
            Stand::Anywhere => return,
            Stand::Root if !below_root => return,
            Stand::Root => (
                format!("`{}` below the root: a form has one dialect", row.name),
                Some("leave it out".to_owned()),
            ),
            Stand::Beside(names) if names.iter().any(|name| schema.get(name).is_some()) => return,
            Stand::Beside(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let near = schema
                    .members()
                    .iter()
                    .find_map(|(name, _)| {
                        self.chart.draft.keyword(name).is_none().then_some(())?;
                        suggestion::nearest(name, names_of(row.stand))
                    })
                    .map(|near| format!("`{near}`"));
                (format!("`{}` without {} has no effect", row.name, names.join(" or ")), near)
            }
            Stand::BesideArray(name) if schema.get(name).is_some_and(Node::is_array) => return,
            Stand::BesideArray(name) => (
                format!("`{}` without an array in `{name}` has no effect", row.name),
                Some("`items` with the schema of every element".to_owned()),
            ),
        };
        self.fault(here.to_owned(), value.at, reason, suggestion);
    }

    /// Goes on to the schemas within a keyword's value.
    fn inside(&mut self, row: &Row, value: &'s Node, here: &str, place: usize) {
        let step = match row.role {
            Role::InPlace(mode) => Step::InPlace(mode),
            Role::Inward => Step::Inward,
            Role::Definitions => Step::Kept,
            Role::Assertion | Role::Reference | Role::Identifier | Role::Annotation => return,
        };
        let parent = Some((place, step));
        match row.shape {
            Shape::SchemasByName | Shape::SchemasByPattern | Shape::Dependencies => {
                for (name, schema) in value.members() {
                    if schema.is_schema() {
                        self.schema(schema, &below(here, name), parent);
                    }
                }
            }
            Shape::Schema | Shape::Schemas | Shape::SchemaOrSchemas => match &value.tree {
                Tree::Array(elements) => {
                    for (index, schema) in elements.iter().enumerate() {
                        if schema.is_schema() {
                            self.schema(schema, &below(here, &index.to_string()), parent);
                        }
                    }
                }
                Tree::Object(_) | Tree::Boolean(_) => {
                    self.schema(value, here, parent);
                }
                Tree::Null | Tree::Number(_) | Tree::Text(_) => {}
            },
            Shape::Any
            | Shape::Text
            | Shape::Flag
            | Shape::List
            | Shape::Dialect
            | Shape::Identifier
            | Shape::Anchor
            | Shape::Reference
            | Shape::Types
            | Shape::Values
            | Shape::Divisor
            | Shape::Number
            | Shape::Count
            | Shape::Pattern
            | Shape::Format
            | Shape::Names
            | Shape::SomeNames
            | Shape::NamesByName
            | Shape::Encoding
            | Shape::MediaType => {}
        }
    }
}

fn names_of(stand: Stand) -> impl Iterator<Item = &'static str> {
    let names: &'static [&'static str] = match stand {
        Stand::Beside(names) => names,
        Stand::Anywhere | Stand::Root | Stand::BesideArray(_) => &[],
    };
    names.iter().copied()
}

/// Those of the names that no schema of the form has.
pub(crate) fn unused(chart: &Chart<'_>, annotations: &[String]) -> Vec<String> {
    let is_used = |name: &str| chart.places.iter().any(|place| place.node.get(name).is_some());
    annotations.iter().filter(|name| !is_used(name)).cloned().collect()
}

/// Refuses route annotations that would hide a keyword.
pub(crate) fn check_annotations(annotations: &[String], faults: &mut Vec<FormFault>) {
    for name in annotations {
        if super::keywords::is_keyword(name) || name == "nullable" {
            faults.push(FormFault {
                pointer: String::new(),
                at: 0,
                reason: format!("`annotations` names `{name}`, which carries a constraint"),
                suggestion: None,
                lint: None,
            });
        }
    }
}
