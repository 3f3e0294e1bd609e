//! Unrolling: a recursive form written out to a depth, so that what is published bounds itself.
//!
//! `N` counts the references followed from one recursive schema to the next. The schema where the
//! recursion is entered stays where it is and is the first level; the levels behind it are kept
//! among the definitions as `name2`, `name3` and so on. Behind the last stands what a value can be
//! that goes no deeper: alternatives that recur are left out, optional members that recur are
//! closed, arrays of what recurs are empty.

use super::FormFault;
use super::dialect::{Chart, Step};
use super::draft::Draft;
use super::references::Graph;
use super::source::{Node, Tree};
use std::collections::{HashMap, HashSet};

/// Levels beyond this are refused: nobody reads them.
const MAX_LEVELS: u32 = 64;
/// Bytes of text that unrolling may produce.
const MAX_TEXT: usize = 4 << 20;

/// The text of the form, unrolled. `None` where nothing recurs.
pub(crate) fn unroll(
    chart: &Chart<'_>,
    graph: &Graph,
    levels: u32,
) -> Result<Option<String>, Vec<FormFault>> {
    let turning: Vec<(usize, usize, &'static str)> = graph
        .turning_references()
        .map(|(from, way)| (from, way.to, way.reference.unwrap_or("$ref")))
        .collect();
    if turning.is_empty() {
        return Ok(None);
    }
    let mut faults = Vec::new();
    for (from, _, keyword) in &turning {
        if *keyword != "$ref" {
            faults.push(refusal(chart, *from, "`unroll` follows `$ref` only"));
        }
        if is_asked(chart, *from) {
            faults.push(refusal(
                chart,
                *from,
                "recursion below `not`, `if` or `contains` cannot be unrolled: cutting it would change what fits",
            ));
        }
    }
    let named = chart.places.iter().skip(1).position(|place| {
        place.node.get("$id").is_some()
            || place.node.get("id").is_some_and(|id| chart.draft == Draft::Four && id.as_text().is_some())
    });
    if let Some(index) = named {
        faults.push(refusal(chart, index + 1, "`unroll` takes no identifiers below the root"));
    }
    if levels == 0 || levels > MAX_LEVELS {
        faults.push(refusal(chart, 0, "`unroll` takes 1 to 64 levels"));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Unrolling::new(chart, &turning, levels).whole().map(Some)
}

fn refusal(chart: &Chart<'_>, place: usize, reason: &str) -> FormFault {
    let place = &chart.places[place];
    FormFault {
        pointer: place.pointer.clone(),
        at: place.node.at,
        reason: reason.to_owned(),
        suggestion: None,
        lint: None,
    }
}

/// Whether a place stands below a keyword that asks rather than demands.
fn is_asked(chart: &Chart<'_>, mut place: usize) -> bool {
    while let Some((parent, step)) = chart.places[place].parent {
        if step == Step::Kept {
            return false;
        }
        let rest = &chart.places[place].pointer[chart.places[parent].pointer.len()..];
        if ["/not", "/if", "/contains"].contains(&rest) {
            return true;
        }
        place = parent;
    }
    false
}

struct Unrolling<'u> {
    chart: &'u Chart<'u>,
    /// The places directly within each.
    inner: Vec<Vec<usize>>,
    levels: u32,
    /// The recursive reference of a place: its target.
    turning: HashMap<usize, usize>,
    /// Recursive schemas, in the order of the text.
    targets: Vec<usize>,
    /// The name of each at each level from the second.
    names: HashMap<(usize, u32), String>,
    /// Those that admit nothing at their level.
    gone: HashSet<(usize, u32)>,
}

/// A schema after unrolling; `None` where it would admit nothing.
type Left = Option<Node>;

impl<'u> Unrolling<'u> {
    fn new(chart: &'u Chart<'u>, turning: &[(usize, usize, &'static str)], levels: u32) -> Self {
        let mut targets: Vec<usize> = turning.iter().map(|(_, to, _)| *to).collect();
        targets.sort_unstable();
        targets.dedup();
        let kept = chart.places[0].node.get(chart.draft.definitions());
        let mut taken: HashSet<String> =
            kept.map(Node::members).unwrap_or_default().iter().map(|(name, _)| name.clone()).collect();
        let mut names = HashMap::new();
        for target in &targets {
            let pointer = &chart.places[*target].pointer;
            let stem: String = pointer
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .chars()
                .filter(|character| character.is_ascii_alphanumeric() || *character == '_')
                .collect();
            let stem = if stem.is_empty() { "level".to_owned() } else { stem };
            for level in 2..=levels + 1 {
                let mut name = format!("{stem}{level}");
                while !taken.insert(name.clone()) {
                    name.push('_');
                }
                names.insert((*target, level), name);
            }
        }
        let mut inner = vec![Vec::new(); chart.places.len()];
        for (index, place) in chart.places.iter().enumerate() {
            if let Some((parent, _)) = place.parent {
                inner[parent].push(index);
            }
        }
        Self {
            chart,
            inner,
            levels,
            turning: turning.iter().map(|(from, to, _)| (*from, *to)).collect(),
            targets,
            names,
            gone: HashSet::new(),
        }
    }

    fn whole(mut self) -> Result<String, Vec<FormFault>> {
        let mut written: Vec<(String, Node)> = Vec::new();
        let mut size = 0;
        for level in (2..=self.levels + 1).rev() {
            for target in self.targets.clone() {
                match self.schema(target, level, true) {
                    Some(node) => {
                        size += node.printed().len();
                        written.push((self.names[&(target, level)].clone(), node));
                    }
                    None => {
                        self.gone.insert((target, level));
                    }
                }
                if size > MAX_TEXT {
                    return Err(vec![refusal(self.chart, 0, "unrolled, the form is too large")]);
                }
            }
        }
        written.reverse();
        let Some(mut root) = self.schema(0, 1, false) else {
            return Err(vec![refusal(
                self.chart,
                0,
                "unrolled, the form admits nothing: every value would have to go deeper",
            )]);
        };
        let keyword = self.chart.draft.definitions();
        if let Tree::Object(members) = &mut root.tree {
            match members.iter_mut().find(|(name, _)| name == keyword) {
                Some((_, kept)) => {
                    if let Tree::Object(kept) = &mut kept.tree {
                        kept.extend(written);
                    }
                }
                None => members.push((keyword.to_owned(), Node::made(Tree::Object(written)))),
            }
        }
        Ok(root.printed())
    }

    /// The places of the schemas directly within a place, by the pointer behind its own.
    fn within(&self, place: usize) -> HashMap<&str, usize> {
        let from = self.chart.places[place].pointer.len();
        self.inner[place].iter().map(|index| (&self.chart.places[*index].pointer[from..], *index)).collect()
    }

    /// The schema at a place, at a level. A copy is kept among the definitions, so it keeps none
    /// of its own, and no names.
    fn schema(&self, place: usize, level: u32, copy: bool) -> Left {
        let node = self.chart.places[place].node;
        if node.as_bool().is_some() {
            return Some(node.clone());
        }
        if let Some(target) = self.turning.get(&place)
            && (level > self.levels || self.gone.contains(&(*target, level + 1)))
        {
            return None;
        }
        let within = self.within(place);
        let mut out = Vec::new();
        for (name, value) in node.members() {
            let kept = ["$defs", "definitions", "$schema", "$id", "id", "$anchor", "$dynamicAnchor"];
            if copy && kept.contains(&name.as_str()) && self.chart.draft.keyword(name).is_some() {
                continue;
            }
            if name == "$ref"
                && let Some(target) = self.turning.get(&place)
            {
                let to = &self.names[&(*target, level + 1)];
                let to = format!("#/{}/{to}", self.chart.draft.definitions());
                out.push((name.clone(), Node::made(Tree::Text(to))));
                continue;
            }
            match self.keyword(name, value, &within, level, copy) {
                Kept::Same => out.push((name.clone(), value.clone())),
                Kept::As(value) => out.push((name.clone(), value)),
                Kept::Empty => {
                    out.retain(|(other, _)| other != "maxItems");
                    out.push(("maxItems".to_owned(), Node::made(Tree::Number("0".to_owned()))));
                }
                Kept::Nothing => return None,
            }
        }
        self.settle(node, out, &within)
    }

    /// One keyword of a schema, unrolled.
    fn keyword(
        &self,
        name: &str,
        value: &Node,
        within: &HashMap<&str, usize>,
        level: u32,
        copy: bool,
    ) -> Kept {
        let one = within.get(format!("/{name}").as_str());
        if let Some(place) = one {
            return match (self.schema(*place, level, copy), name) {
                (Some(schema), _) => Kept::As(schema),
                (None, "items") => Kept::Empty,
                (None, _) => Kept::As(self.never()),
            };
        }
        let prefix = super::source::below("", name);
        let inner = |token: &str| within.get(super::source::below(&prefix, token).as_str());
        match &value.tree {
            Tree::Array(elements) if inner("0").is_some() => {
                let left: Vec<Left> = (0..elements.len())
                    .map(|index| inner(&index.to_string()).and_then(|place| self.schema(*place, level, copy)))
                    .collect();
                let gone = left.iter().any(Option::is_none);
                match name {
                    "allOf" if gone => Kept::Nothing,
                    "anyOf" | "oneOf" => {
                        let left: Vec<Node> = left.into_iter().flatten().collect();
                        if left.is_empty() { Kept::Nothing } else { Kept::As(Node::made(Tree::Array(left))) }
                    }
                    _ => Kept::As(Node::made(Tree::Array(
                        left.into_iter().map(|left| left.unwrap_or_else(|| self.never())).collect(),
                    ))),
                }
            }
            Tree::Object(members) if members.iter().any(|(member, _)| inner(member).is_some()) => {
                let members = members
                    .iter()
                    .map(|(member, value)| match inner(member) {
                        Some(place) => {
                            (member.clone(), self.schema(*place, level, copy).unwrap_or_else(|| self.never()))
                        }
                        None => (member.clone(), value.clone()),
                    })
                    .collect();
                Kept::As(Node::made(Tree::Object(members)))
            }
            Tree::Null
            | Tree::Boolean(_)
            | Tree::Number(_)
            | Tree::Text(_)
            | Tree::Array(_)
            | Tree::Object(_) => Kept::Same,
        }
    }

    /// Draws the consequences of what was cut: members that can no longer be given, arrays that
    /// can no longer be filled, a choice that is none.
    fn settle(&self, node: &Node, mut out: Vec<(String, Node)>, within: &HashMap<&str, usize>) -> Left {
        let never = self.never().tree;
        let only = |kind: &str| node.get("type").and_then(Node::as_text) == Some(kind);
        let was_open = |member: &str| {
            let pointer = super::source::below("/properties", member);
            within.get(pointer.as_str()).is_some_and(|place| self.chart.places[*place].node.tree != never)
        };
        let required: Vec<&str> = node
            .get("required")
            .map(Node::elements)
            .unwrap_or_default()
            .iter()
            .filter_map(Node::as_text)
            .collect();
        let closed = node.get("additionalProperties").and_then(Node::as_bool) == Some(false)
            && node.get("patternProperties").is_none();
        let mut impossible = false;
        for (name, value) in &mut out {
            if let ("properties", Tree::Object(members)) = (name.as_str(), &mut value.tree) {
                members.retain(|(member, schema)| {
                    let cut = schema.tree == never && was_open(member);
                    impossible |= cut && only("object") && required.contains(&member.as_str());
                    // What is closed need not be named to be refused.
                    !(cut && closed && !required.contains(&member.as_str()))
                });
            }
        }
        let least = node.get("minItems").and_then(Node::as_count).unwrap_or(0);
        let emptied = out.iter().any(|(name, value)| name == "maxItems" && value.as_count() == Some(0));
        if impossible || emptied && least > 0 && only("array") {
            return None;
        }
        if let [(name, choice)] = out.as_slice()
            && name == "anyOf"
            && node.get("anyOf").is_some_and(|before| before.elements().len() > 1)
            && let [only] = choice.elements()
        {
            return Some(only.clone());
        }
        Some(Node::made(Tree::Object(out)))
    }

    /// A schema that admits nothing.
    fn never(&self) -> Node {
        if self.chart.draft == Draft::Four {
            let anything = Node::made(Tree::Object(Vec::new()));
            Node::made(Tree::Object(vec![("not".to_owned(), anything)]))
        } else {
            Node::made(Tree::Boolean(false))
        }
    }
}

/// What becomes of a keyword.
enum Kept {
    Same,
    As(Node),
    /// `items` of what recurs: the array stays empty.
    Empty,
    /// The schema around it admits nothing.
    Nothing,
}
