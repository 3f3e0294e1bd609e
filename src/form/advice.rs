//! What the lints find in a form.

use super::FormFault;
use super::dialect::{Chart, Mode, Step};
use super::draft::Draft;
use super::extent::{ENDLESS, Extent, Measure};
use super::keywords::Shape;
use super::pattern;
use super::references::Graph;
use super::source::{Node, below};
use crate::lint::Lint;

/// Arrays longer than this make `uniqueItems` worth a word.
const MANY: u64 = 256;

/// Names that frameworks read as something else than data.
const FRAMEWORK: &[&str] = &[
    "__proto__",
    "constructor",
    "prototype",
    "_method",
    "_csrf",
    "__class__",
    "__type",
    "@type",
    "$type",
    "$where",
];

/// Every finding of every lint, whatever its level.
pub(crate) fn find(chart: &Chart<'_>, graph: &Graph) -> Vec<FormFault> {
    let mut reader = Advice::new(chart, graph);
    for place in 0..chart.places.len() {
        reader.place(place);
    }
    reader.recursion();
    let root = chart.places[0].node;
    let described = root.get("description").and_then(Node::as_text);
    if described.is_none_or(|text| text.trim().is_empty()) {
        reader.report(
            Lint::MissingDescription,
            String::new(),
            root.at,
            "no `description`: it is all that tells a reader what the action does".to_owned(),
            None,
        );
    }
    reader.found
}

/// The finding about the longest body, for the form as it is published.
pub(crate) fn largest_body(chart: &Chart<'_>, graph: &Graph, max_body: usize) -> Option<FormFault> {
    let longest = Measure::new(chart, graph).of(0).longest()?;
    (longest > max_body as u64).then(|| FormFault {
        pointer: String::new(),
        at: chart.places[0].node.at,
        reason: if longest == ENDLESS {
            format!("nothing bounds the form, but `max_body` refuses above {max_body} bytes")
        } else {
            format!("a value of {longest} bytes fits the form, but `max_body` refuses above {max_body}")
        },
        suggestion: Some("smaller `maxLength` and `maxItems`, or a larger `max_body`".to_owned()),
        lint: Some(Lint::LargestBody),
    })
}

/// The finding about alternatives that multiply. Recursion has its own.
pub(crate) fn repeated_work(chart: &Chart<'_>, looks: u64) -> Option<FormFault> {
    let multiplied = super::effort::is_much(looks) && looks != u64::MAX;
    multiplied.then(|| FormFault {
        pointer: String::new(),
        at: chart.places[0].node.at,
        reason: format!(
            "alternatives that refer to the same schemas may look at one value up to {looks} times"
        ),
        suggestion: Some("fewer levels, or alternatives that differ in what they refer to".to_owned()),
        lint: Some(Lint::RepeatedWork),
    })
}

struct Advice<'a> {
    chart: &'a Chart<'a>,
    graph: &'a Graph,
    measure: Measure<'a>,
    /// For each place, who leads to it and how; what is only kept does not count.
    users: Vec<Vec<(usize, Step)>>,
    contexts: Vec<Option<Extent>>,
    open: Vec<bool>,
    found: Vec<FormFault>,
}

impl<'a> Advice<'a> {
    fn new(chart: &'a Chart<'a>, graph: &'a Graph) -> Self {
        let size = chart.places.len();
        let mut users = vec![Vec::new(); size];
        for (from, ways) in graph.ways.iter().enumerate() {
            for way in ways.iter().filter(|way| way.step != Step::Kept) {
                users[way.to].push((from, way.step));
            }
        }
        Self {
            chart,
            graph,
            measure: Measure::new(chart, graph),
            users,
            contexts: vec![None; size],
            open: vec![false; size],
            found: Vec::new(),
        }
    }

    fn report(&mut self, lint: Lint, pointer: String, at: usize, reason: String, suggestion: Option<&str>) {
        self.found.push(FormFault {
            pointer,
            at,
            reason,
            suggestion: suggestion.map(ToOwned::to_owned),
            lint: Some(lint),
        });
    }

    /// What the schemas that apply a place to their own value leave of that value.
    fn context(&mut self, place: usize) -> Extent {
        if let Some(known) = self.contexts[place] {
            return known;
        }
        let in_place = |(_, step): &(usize, Step)| matches!(step, Step::InPlace(_));
        let users = self.users[place].clone();
        if users.is_empty() || !users.iter().all(in_place) || self.open[place] {
            return Extent::ANYTHING;
        }
        self.open[place] = true;
        let mut context: Option<Extent> = None;
        for (user, _) in users {
            let around = self.measure.of(user).and(self.context(user));
            context = Some(context.map_or(around, |context| context.or(around)));
        }
        self.open[place] = false;
        let context = context.unwrap_or(Extent::ANYTHING);
        self.contexts[place] = Some(context);
        context
    }

    /// Whether the schema at a place, or one that applies with it, leaves no room for other members.
    fn is_closed(&self, place: usize, seen: &mut Vec<usize>) -> bool {
        if seen.contains(&place) {
            return false;
        }
        seen.push(place);
        let node = self.chart.places[place].node;
        let closing = ["additionalProperties", "unevaluatedProperties"];
        let closed = closing.iter().any(|keyword| {
            node.get(keyword)
                .is_some_and(|value| value.as_bool() == Some(false) || !value.members().is_empty())
        });
        closed
            || self.graph.ways[place]
                .iter()
                .any(|way| way.step == Step::InPlace(Mode::All) && self.is_closed(way.to, seen))
    }

    fn is_closed_around(&self, place: usize, seen: &mut Vec<usize>) -> bool {
        if seen.contains(&place) {
            return false;
        }
        seen.push(place);
        !self.users[place].is_empty()
            && self.users[place].iter().all(|(user, step)| {
                matches!(step, Step::InPlace(_))
                    && (self.is_closed(*user, &mut Vec::new()) || self.is_closed_around(*user, seen))
            })
    }

    /// Whether a place only asks: what it does not bound, nobody sends by it.
    fn is_question(&self, mut place: usize) -> bool {
        while let Some((parent, step)) = self.chart.places[place].parent {
            let asks = match step {
                Step::InPlace(Mode::Not) => true,
                Step::InPlace(Mode::Condition) => self.chart.places[place].pointer.ends_with("/if"),
                Step::InPlace(Mode::All | Mode::Some) | Step::Inward | Step::Kept => false,
            };
            if asks {
                return true;
            }
            place = parent;
        }
        false
    }

    fn place(&mut self, index: usize) {
        let node = self.chart.places[index].node;
        let pointer = self.chart.places[index].pointer.clone();
        self.members(node, &pointer);
        if index > 0 {
            for keyword in ["$id", "id"] {
                let id = node.get(keyword);
                let is_id = self.chart.draft.keyword(keyword).is_some();
                if let Some(id) = id.filter(|id| is_id && !is_fragment(id)) {
                    self.report(
                        Lint::EmbeddedId,
                        below(&pointer, keyword),
                        id.at,
                        "not every reader follows an identifier below the root".to_owned(),
                        Some("references by JSON Pointer"),
                    );
                }
            }
        }
        let effective = self.measure.of(index).and(self.context(index));
        self.types(index, node, &pointer, effective);
        if self.is_question(index) {
            return;
        }
        if speaks_of(node, "string", self.chart.draft) && effective.string == Some(ENDLESS) {
            self.report(
                Lint::UnboundedString,
                pointer.clone(),
                node.at,
                "a string of any length".to_owned(),
                Some("`maxLength`, `enum`, or an anchored `pattern` with an end"),
            );
        }
        let most = node.get("maxItems").and_then(Node::as_count);
        if speaks_of(node, "array", self.chart.draft) && effective.array == Some(ENDLESS) && most.is_none() {
            self.report(
                Lint::UnboundedArray,
                pointer.clone(),
                node.at,
                "an array of any length".to_owned(),
                Some("`maxItems`"),
            );
        }
        let unique = node.get("uniqueItems").and_then(Node::as_bool) == Some(true);
        if unique && most.is_none_or(|most| most > MANY) {
            self.report(
                Lint::UniqueItems,
                below(&pointer, "uniqueItems"),
                node.at,
                format!("`uniqueItems` on arrays of more than {MANY} elements costs every request"),
                Some("a smaller `maxItems`"),
            );
        }
        let object = has_type(node, "object") || node.get("properties").is_some();
        if object
            && effective.object.is_some()
            && !self.is_closed(index, &mut Vec::new())
            && !self.is_closed_around(index, &mut Vec::new())
        {
            self.report(
                Lint::OpenObject,
                pointer,
                node.at,
                "an object that takes any member besides those declared".to_owned(),
                Some("`\"additionalProperties\": false`"),
            );
        }
    }

    /// Lints about single keywords.
    fn members(&mut self, node: &Node, pointer: &str) {
        for (name, value) in node.members() {
            let here = below(pointer, name);
            match name.as_str() {
                "oneOf" => self.report(
                    Lint::OneOf,
                    here,
                    value.at,
                    "`oneOf` asks a reader to exclude; `anyOf` asks it to choose".to_owned(),
                    Some("`anyOf`, with a `const` member that tells the alternatives apart"),
                ),
                "readOnly" | "writeOnly" if value.as_bool() == Some(true) => self.report(
                    Lint::ReadWriteOnly,
                    here,
                    value.at,
                    format!("a form is a request: `{name}` constrains nothing"),
                    Some("leave the member out, or say what is meant in `description`"),
                ),
                "pattern" => {
                    let reading = value.as_text().and_then(|text| pattern::read(text).ok());
                    if reading.is_some_and(|reading| !reading.anchored) {
                        self.report(
                            Lint::UnanchoredPattern,
                            here,
                            value.at,
                            "anything that contains a match fits".to_owned(),
                            Some("`^(?:…)$`"),
                        );
                    }
                }
                "patternProperties" => {
                    for (key, schema) in value.members() {
                        if !key.starts_with('^') {
                            self.report(
                                Lint::UnanchoredPattern,
                                below(&here, key),
                                schema.at,
                                "any name that contains a match fits".to_owned(),
                                Some("`^…`"),
                            );
                        }
                    }
                }
                "properties" => {
                    for (member, schema) in value.members() {
                        if FRAMEWORK.contains(&member.as_str()) {
                            self.report(
                                Lint::FrameworkMember,
                                below(&here, member),
                                schema.at,
                                format!("frameworks read `{member}` as something else than data"),
                                Some("another name"),
                            );
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn types(&mut self, index: usize, node: &Node, pointer: &str, effective: Extent) {
        let anything = Extent { literal: effective.literal, ..Extent::ANYTHING };
        let untyped = effective.literal.is_some()
            && effective.number.is_some()
            && effective.string.is_some()
            && effective.array.is_some()
            && effective.object.is_some();
        let inward = matches!(self.chart.places[index].parent, Some((_, Step::Inward)) | None);
        let closing = ["/additionalProperties", "/unevaluatedProperties", "/unevaluatedItems"]
            .iter()
            .any(|keyword| pointer.ends_with(keyword));
        if effective == anything && inward && !closing && !self.is_question(index) {
            self.report(
                Lint::MissingType,
                pointer.to_owned(),
                node.at,
                "any value fits".to_owned(),
                Some("`type`, and what bounds it"),
            );
            return;
        }
        let mut spoken: Vec<&str> = Vec::new();
        for (name, value) in node.members() {
            let Some(row) = self.chart.draft.keyword(name) else {
                continue;
            };
            let Some(first) = row.on.first() else {
                continue;
            };
            let admitted = match *first {
                "number" => effective.number,
                "string" => effective.string,
                "array" => effective.array,
                _ => effective.object,
            };
            // One word for each type that is missing, not for each of its keywords.
            if untyped && !spoken.contains(first) {
                spoken.push(first);
                self.report(
                    Lint::MissingType,
                    below(pointer, name),
                    value.at,
                    format!("`{name}` without `type`: any value that is not a {first} passes by it"),
                    None,
                );
            } else if admitted.is_none() && row.shape != Shape::Flag && node.get("type").is_some() {
                self.report(
                    Lint::MissingType,
                    below(pointer, name),
                    value.at,
                    format!("`{name}` says something about values of type {first}, which `type` excludes"),
                    None,
                );
            }
        }
    }

    fn recursion(&mut self) {
        let turning: Vec<(usize, &'static str)> = self
            .graph
            .turning_references()
            .map(|(from, way)| (from, way.reference.unwrap_or("$ref")))
            .collect();
        for (from, keyword) in turning {
            let place = &self.chart.places[from];
            let at = place.node.get(keyword).unwrap_or(place.node).at;
            self.report(
                Lint::UnboundedRecursion,
                below(&place.pointer, keyword),
                at,
                "the form refers to itself: nothing bounds how deep a value may be".to_owned(),
                Some("`unroll: N` publishes and enforces it N levels deep"),
            );
        }
    }
}

fn is_fragment(id: &Node) -> bool {
    id.as_text().is_some_and(|id| id.starts_with('#'))
}

fn has_type(node: &Node, wanted: &str) -> bool {
    node.get("type").is_some_and(|types| {
        types.as_text() == Some(wanted) || types.elements().iter().any(|name| name.as_text() == Some(wanted))
    })
}

/// Whether a schema names a type, or has a keyword about it where it names none.
fn speaks_of(node: &Node, wanted: &str, draft: Draft) -> bool {
    has_type(node, wanted)
        || node.get("type").is_none()
            && node
                .members()
                .iter()
                .any(|(name, _)| draft.keyword(name).is_some_and(|row| row.on.contains(&wanted)))
}
