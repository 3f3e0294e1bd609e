//! Whether something surely fits a form: what most forms show at a glance, many others by a value made of their own words,
//! and the algebra takes most of a compilation to find. Where this says no, the algebra is asked.

use super::candidates::{self, Pool};
use super::dialect::Chart;
use super::draft::Draft;
use super::keywords::Role;
use super::references::Graph;
use super::source::{Node, Tree};
use crate::json::{Decimal, Document, Strict};
use jsonschema::Validator;

/// Schemas looked through within each other.
const DEEPEST: u32 = 48;

/// Values that are made and tried.
const TRIES: usize = 16;

/// Whether one of some values that are made of the form's own words fits.
pub(crate) fn is_made(standard: &serde_json::Value, validator: &Validator<Strict>) -> bool {
    let mut document = Document::new();
    candidates::values(standard, &Pool::default(), TRIES).any(|value| {
        document.parse(value.to_string().as_bytes()).is_ok_and(|value| validator.is_valid(value))
    })
}

/// Whether a value that fits is in sight.
pub(crate) fn is_in_sight(chart: &Chart<'_>, graph: &Graph) -> bool {
    Looking { chart, graph }.schema(0, DEEPEST)
}

struct Looking<'c> {
    chart: &'c Chart<'c>,
    graph: &'c Graph,
}

impl Looking<'_> {
    fn schema(&self, place: usize, left: u32) -> bool {
        let node = self.chart.places[place].node;
        let Some(left) = left.checked_sub(1) else { return false };
        if let Some(flag) = node.as_bool() {
            return flag;
        }
        // Names of what asserts something.
        let mut said: Vec<&str> = Vec::new();
        for (name, _) in node.members() {
            match self.chart.draft.keyword(name).map(|row| row.role) {
                None | Some(Role::Annotation | Role::Identifier | Role::Definitions) => {}
                Some(Role::Assertion | Role::InPlace(_) | Role::Inward | Role::Reference) => said.push(name),
            }
        }
        match said.as_slice() {
            [] | ["enum" | "const"] => true,
            ["$ref"] => {
                let mut ways = self.graph.ways[place].iter().filter(|way| way.reference.is_some());
                ways.next().is_some_and(|way| self.schema(way.to, left)) && ways.next().is_none()
            }
            ["anyOf"] => self.within(place, "/anyOf/").iter().any(|place| self.schema(*place, left)),
            _ => match node.get("type") {
                Some(Node { tree: Tree::Text(kind), .. }) => self.kind(place, kind, &said, left),
                Some(Node { tree: Tree::Array(kinds), .. }) => {
                    kinds.iter().filter_map(Node::as_text).any(|kind| self.kind(place, kind, &said, left))
                }
                Some(_) | None => false,
            },
        }
    }

    /// Whether a value of this kind is, given the names of all that is said.
    fn kind(&self, place: usize, kind: &str, said: &[&str], left: u32) -> bool {
        let node = self.chart.places[place].node;
        // What is said about other kinds does not matter, what is said about all does.
        if let ["type", "enum"] | ["enum", "type"] = said {
            let values = node.get("enum").map(Node::elements).unwrap_or_default();
            return values.iter().any(|value| matches!(value.tree, Tree::Text(_))) && kind == "string";
        }
        let general =
            ["enum", "const", "$ref", "$recursiveRef", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"];
        let draft = self.chart.draft;
        let in_place =
            |name: &&str| draft.keyword(name).is_some_and(|row| matches!(row.role, Role::InPlace(_)));
        if said.iter().any(|name| general.contains(name) || in_place(name)) {
            return false;
        }
        let none_of = |names: &[&str]| !said.iter().any(|name| names.contains(name));
        let count = |name: &str, otherwise| node.get(name).map_or(Some(otherwise), Node::as_count);
        let ordered =
            |least: &str, most: &str| count(least, 0).zip(count(most, u64::MAX)).is_some_and(|(a, b)| a <= b);
        match kind {
            "null" | "boolean" => true,
            "string" => {
                none_of(&["pattern", "format", "contentEncoding", "contentMediaType"])
                    && ordered("minLength", "maxLength")
            }
            "number" | "integer" => number(node, draft, kind == "integer"),
            "array" => {
                none_of(&["contains", "unevaluatedItems"])
                    && (count("minItems", 0) == Some(0)
                        || none_of(&["uniqueItems", "prefixItems", "additionalItems"])
                            && ordered("minItems", "maxItems")
                            && node.get("items").is_none_or(|items| {
                                !items.is_array()
                                    && self
                                        .within(place, "/items")
                                        .first()
                                        .is_some_and(|place| self.schema(*place, left))
                            }))
            }
            "object" => {
                let required = node.get("required").map(Node::elements).unwrap_or_default();
                let many = required.len() as u64;
                none_of(&["patternProperties", "propertyNames", "dependentRequired", "unevaluatedProperties"])
                    && count("minProperties", 0).is_some_and(|least| least <= many)
                    && count("maxProperties", u64::MAX).is_some_and(|most| most >= many)
                    && required.iter().all(|name| {
                        let pointer = name.as_text().map(|name| super::source::below("/properties", name));
                        pointer.is_some_and(|pointer| {
                            self.within(place, &pointer)
                                .first()
                                .is_some_and(|place| self.schema(*place, left))
                        })
                    })
            }
            _ => false,
        }
    }

    fn within(&self, place: usize, rest: &str) -> Vec<usize> {
        within(self.chart, self.graph, place, rest)
    }
}

/// The schemas directly in a place whose pointers go on like this: to the end, or with a number behind a slash.
pub(crate) fn within(chart: &Chart<'_>, graph: &Graph, place: usize, rest: &str) -> Vec<usize> {
    let from = chart.places[place].pointer.len();
    let ways = graph.ways[place].iter().filter(|way| way.reference.is_none());
    ways.map(|way| way.to)
        .filter(|to| {
            let pointer = &chart.places[*to].pointer[from..];
            pointer == rest || rest.ends_with('/') && pointer.starts_with(rest)
        })
        .collect()
}

/// A bound on one side only, or an inclusive lower one that the upper one admits.
fn number(node: &Node, draft: Draft, integer: bool) -> bool {
    let limit = |name| node.get(name).and_then(Node::as_number).and_then(Decimal::read);
    if node.get("multipleOf").is_some() {
        return false;
    }
    let exclusive = |name| draft != Draft::Four && node.get(name).is_some();
    let (low, high) = (node.get("minimum").is_some(), node.get("maximum").is_some());
    let (over, under) = (exclusive("exclusiveMinimum"), exclusive("exclusiveMaximum"));
    if !(low || over) || !(high || under) {
        return true;
    }
    let flagged = draft == Draft::Four
        && ["exclusiveMinimum", "exclusiveMaximum"].iter().any(|name| node.get(name).is_some());
    if over || under || flagged {
        return false;
    }
    let (low, high) = (limit("minimum"), limit("maximum"));
    low.zip(high).is_some_and(|(low, high)| low <= high && (!integer || low.is_integer()))
}
