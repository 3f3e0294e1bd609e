//! How long the JSON text of a value that a schema admits can become.
//!
//! An upper bound, by type of value: what all of several schemas admit is as long as the
//! shortest of them allows, what one of them admits as the longest. White space between tokens
//! is left out, and numbers count as the longest spelling of a double: both have no end.

use super::dialect::{Chart, Mode, Step};
use super::draft::Draft;
use super::pattern;
use super::references::Graph;
use super::source::{Node, Tree, below};

/// Bytes without a bound.
pub(crate) const ENDLESS: u64 = u64::MAX;
/// The longest a double is commonly written: `-2.2250738585072014e-308`.
const NUMBER: u64 = 24;
/// One character as a pair of `\uXXXX`, and one of ASCII as a single one.
const ESCAPED: u64 = 12;
const ESCAPED_ASCII: u64 = 6;

/// The longest text of each type, in bytes; `None` where no value of the type is admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) literal: Option<u64>,
    pub(crate) number: Option<u64>,
    pub(crate) string: Option<u64>,
    pub(crate) array: Option<u64>,
    pub(crate) object: Option<u64>,
}

impl Extent {
    pub(crate) const ANYTHING: Self = Self {
        literal: Some(5),
        number: Some(NUMBER),
        string: Some(ENDLESS),
        array: Some(ENDLESS),
        object: Some(ENDLESS),
    };
    const NOTHING: Self = Self { literal: None, number: None, string: None, array: None, object: None };

    fn each(self, other: Self, join: impl Fn(Option<u64>, Option<u64>) -> Option<u64>) -> Self {
        Self {
            literal: join(self.literal, other.literal),
            number: join(self.number, other.number),
            string: join(self.string, other.string),
            array: join(self.array, other.array),
            object: join(self.object, other.object),
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        self.each(other, |a, b| Some(a?.min(b?)))
    }

    pub(crate) fn or(self, other: Self) -> Self {
        self.each(other, Option::max)
    }

    /// The longest of all types.
    pub(crate) fn longest(self) -> Option<u64> {
        self.literal.max(self.number).max(self.string).max(self.array).max(self.object)
    }
}

/// Measures the schemas of a form.
pub(crate) struct Measure<'m> {
    chart: &'m Chart<'m>,
    graph: &'m Graph,
    known: Vec<Option<Extent>>,
    /// Being measured: met again, the form recurs.
    open: Vec<bool>,
}

impl<'m> Measure<'m> {
    pub(crate) fn new(chart: &'m Chart<'m>, graph: &'m Graph) -> Self {
        let places = chart.places.len();
        Self { chart, graph, known: vec![None; places], open: vec![false; places] }
    }

    /// The extent of what the schema at a place admits by itself.
    pub(crate) fn of(&mut self, place: usize) -> Extent {
        if let Some(known) = self.known[place] {
            return known;
        }
        if self.open[place] {
            return Extent::ANYTHING;
        }
        self.open[place] = true;
        let extent = self.measure(place);
        self.open[place] = false;
        self.known[place] = Some(extent);
        extent
    }

    fn measure(&mut self, place: usize) -> Extent {
        let node = self.chart.places[place].node;
        match node.as_bool() {
            Some(true) => return Extent::ANYTHING,
            Some(false) => return Extent::NOTHING,
            None => {}
        }
        let mut extent = Extent::ANYTHING.and(typed(node)).and(listed(node));
        if extent.string.is_some() {
            extent.string = extent.string.min(Some(string(node, self.chart.draft)));
        }
        if extent.array.is_some() {
            extent.array = extent.array.min(Some(self.array(place, node)));
        }
        if extent.object.is_some() {
            extent.object = extent.object.min(Some(self.object(place, node)));
        }
        let graph = self.graph;
        for way in &graph.ways[place] {
            if way.step == Step::InPlace(Mode::All) {
                extent = extent.and(self.of(way.to));
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if node.get(keyword).is_some() {
                let mut widest = Extent::NOTHING;
                for to in self.within(place, keyword) {
                    widest = widest.or(self.of(to));
                }
                extent = extent.and(widest);
            }
        }
        extent
    }

    /// The places of the schemas within a keyword, in order.
    fn within(&self, place: usize, keyword: &str) -> Vec<usize> {
        let pointer = below(&self.chart.places[place].pointer, keyword);
        self.graph.ways[place]
            .iter()
            .filter(|way| {
                way.reference.is_none()
                    && self.chart.places[way.to]
                        .pointer
                        .strip_prefix(&pointer)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
            .map(|way| way.to)
            .collect()
    }

    fn longest_within(&mut self, place: usize, keyword: &str) -> Option<u64> {
        let to = self.within(place, keyword).first().copied()?;
        Some(self.of(to).longest().unwrap_or(0))
    }

    fn array(&mut self, place: usize, node: &Node) -> u64 {
        let prefix_keyword = if self.chart.draft == Draft::Twenty { "prefixItems" } else { "items" };
        let prefix: Vec<u64> = if node.get(prefix_keyword).is_some_and(Node::is_array) {
            self.within(place, prefix_keyword)
                .into_iter()
                .map(|to| self.of(to).longest().unwrap_or(0))
                .collect()
        } else {
            Vec::new()
        };
        let rest = if prefix_keyword == "items" && !node.get("items").is_some_and(Node::is_schema) {
            "additionalItems"
        } else {
            "items"
        };
        let closing = [rest, "unevaluatedItems"].into_iter().find(|keyword| node.get(keyword).is_some());
        let each = match closing {
            Some(keyword) if node.get(keyword).and_then(Node::as_bool) == Some(false) => None,
            Some(keyword) => Some(self.longest_within(place, keyword).unwrap_or(ENDLESS)),
            None => Some(ENDLESS),
        };
        let most = node.get("maxItems").and_then(Node::as_count).unwrap_or(ENDLESS);
        let mut length: u64 = 2;
        for element in prefix.iter().take(usize::try_from(most).unwrap_or(usize::MAX)) {
            length = length.saturating_add(element.saturating_add(1));
        }
        let left = most.saturating_sub(prefix.len() as u64);
        match each {
            Some(each) if left > 0 => length.saturating_add(each.saturating_add(1).saturating_mul(left)),
            _ => length,
        }
    }

    fn object(&mut self, place: usize, node: &Node) -> u64 {
        let most = node.get("maxProperties").and_then(Node::as_count);
        let mut members: Vec<u64> = Vec::new();
        let declared = node.get("properties").map(Node::members).unwrap_or_default();
        for ((name, _), to) in declared.iter().zip(self.within(place, "properties")) {
            if let Some(value) = self.of(to).longest() {
                members.push(quoted(name).saturating_add(value).saturating_add(2));
            }
        }
        let closed = ["additionalProperties", "unevaluatedProperties"]
            .into_iter()
            .any(|keyword| node.get(keyword).and_then(Node::as_bool) == Some(false));
        let patterned = node.get("patternProperties").is_some_and(|patterns| !patterns.members().is_empty());
        if !closed || patterned {
            let name = self
                .within(place, "propertyNames")
                .first()
                .map_or(ENDLESS, |to| self.of(*to).string.unwrap_or(0));
            let mut value = if closed {
                0
            } else {
                self.longest_within(place, "additionalProperties").unwrap_or(ENDLESS)
            };
            for to in self.within(place, "patternProperties") {
                value = value.max(self.of(to).longest().unwrap_or(0));
            }
            let each = name.saturating_add(value).saturating_add(2);
            let left = most.unwrap_or(ENDLESS);
            if each > 2 && left > 0 {
                // Any number of others: only `maxProperties` ends them.
                let longest = members.iter().copied().max().unwrap_or(0).max(each);
                return longest.saturating_mul(left).saturating_add(2);
            }
        }
        members.sort_unstable_by(|a, b| b.cmp(a));
        let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        members.into_iter().take(most).fold(2, |length: u64, member| length.saturating_add(member))
    }
}

/// A string at its longest: every UTF-16 unit escaped.
fn quoted(text: &str) -> u64 {
    (text.encode_utf16().count() as u64).saturating_mul(ESCAPED_ASCII).saturating_add(2)
}

fn string(node: &Node, draft: Draft) -> u64 {
    let reading = node
        .get("pattern")
        .and_then(Node::as_text)
        .and_then(|pattern| pattern::read(pattern).ok())
        .filter(|reading| reading.anchored);
    let (window, plain) = match node.get("format").and_then(Node::as_text) {
        Some(name) if draft.checks_format(name) => match name {
            "date" => (10, true),
            "uuid" => (36, true),
            "ipv4" => (15, true),
            "ipv6" => (45, true),
            "hostname" => (253, true),
            _ => (ENDLESS, false),
        },
        _ => (ENDLESS, false),
    };
    let characters = node
        .get("maxLength")
        .and_then(Node::as_count)
        .unwrap_or(ENDLESS)
        .min(reading.and_then(|reading| reading.longest).unwrap_or(ENDLESS))
        .min(window);
    let each = if plain || reading.is_some_and(|reading| reading.alphabet <= pattern::Alphabet::Ascii) {
        ESCAPED_ASCII
    } else {
        ESCAPED
    };
    characters.saturating_mul(each).saturating_add(2)
}

/// What `type` leaves.
fn typed(node: &Node) -> Extent {
    let Some(types) = node.get("type") else {
        return Extent::ANYTHING;
    };
    let has = |wanted: &[&str]| {
        types
            .as_text()
            .into_iter()
            .chain(types.elements().iter().filter_map(Node::as_text))
            .any(|name| wanted.contains(&name))
    };
    Extent {
        literal: has(&["null", "boolean"]).then_some(5),
        number: has(&["number", "integer"]).then_some(NUMBER),
        string: has(&["string"]).then_some(ENDLESS),
        array: has(&["array"]).then_some(ENDLESS),
        object: has(&["object"]).then_some(ENDLESS),
    }
}

/// What `const` and `enum` leave.
fn listed(node: &Node) -> Extent {
    let mut extent = Extent::ANYTHING;
    if let Some(value) = node.get("const") {
        extent = extent.and(exactly(value));
    }
    if let Some(values) = node.get("enum") {
        let all = values.elements().iter().map(exactly);
        extent = extent.and(all.fold(Extent::NOTHING, Extent::or));
    }
    extent
}

fn exactly(value: &Node) -> Extent {
    let mut extent = Extent::NOTHING;
    let length = Some(written(value));
    match &value.tree {
        Tree::Null | Tree::Boolean(_) => extent.literal = length,
        Tree::Number(_) => extent.number = length,
        Tree::Text(_) => extent.string = length,
        Tree::Array(_) => extent.array = length,
        Tree::Object(_) => extent.object = length,
    }
    extent
}

fn written(value: &Node) -> u64 {
    match &value.tree {
        Tree::Null | Tree::Boolean(_) => 5,
        Tree::Number(text) => NUMBER.max(text.len() as u64),
        Tree::Text(text) => quoted(text),
        Tree::Array(elements) => elements.iter().fold(2, |length, element| length + written(element) + 1),
        Tree::Object(members) => {
            members.iter().fold(2, |length, (name, value)| length + quoted(name) + written(value) + 2)
        }
    }
}
