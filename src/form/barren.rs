//! Where a form admits nothing, for its author: the first place of which that is sure. What it does not find the algebra
//! has found nevertheless; then the form as a whole is named.

use super::FormFault;
use super::dialect::{self, Chart, Mode, Step};
use super::draft::Draft;
use super::enforced;
use super::keywords::Role;
use super::references::Graph;
use super::source::{Node, Tree, below};
use super::suggestion::nearest;
use super::witness::within;
use super::{Numbers, examples};
use crate::json::{Decimal, Document};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// Schemas looked through within each other.
const DEEPEST: u32 = 48;
/// Members named to whoever requires another, at most.
const TOLD: usize = 8;

const KINDS: &[&str] = &["null", "boolean", "object", "array", "number", "string", "integer"];

/// What is held against the values of `const` and `enum`, one by one.
const BESIDE: &[&str] = &[
    "type",
    "const",
    "enum",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "required",
    "minProperties",
    "maxProperties",
];

/// What to do where nothing is meant to fit.
pub(crate) const AWAY: &str = "a form that admits nothing does not load: take the route away";

/// The fault of a form that admits nothing.
pub(crate) fn fault(chart: &Chart<'_>, graph: &Graph) -> FormFault {
    let found = Search { chart, graph, seen: HashMap::new() }.nothing(0, DEEPEST);
    let root = chart.places[0].node;
    match found {
        Some(Cause { pointer, reason, suggestion }) => FormFault {
            at: examples::place(root, &pointer),
            pointer,
            reason: format!("{reason}: the form admits nothing"),
            suggestion: Some(suggestion),
            lint: None,
        },
        None => FormFault {
            at: root.at,
            pointer: String::new(),
            reason: "the form admits nothing".to_owned(),
            suggestion: None,
            lint: None,
        },
    }
}

/// Why nothing fits a schema.
#[derive(Debug, Clone)]
struct Cause {
    pointer: String,
    reason: String,
    suggestion: String,
}

struct Search<'c> {
    chart: &'c Chart<'c>,
    graph: &'c Graph,
    /// What is known of places; `None` also while one is looked at, as of a cycle nothing is sure.
    seen: HashMap<usize, Option<Cause>>,
}

impl<'c> Search<'c> {
    /// Why nothing fits the schema of a place, where that is sure.
    fn nothing(&mut self, place: usize, left: u32) -> Option<Cause> {
        if let Some(known) = self.seen.get(&place) {
            return known.clone();
        }
        let left = left.checked_sub(1)?;
        self.seen.insert(place, None);
        let found = self.look(place, left);
        self.seen.insert(place, found.clone());
        found
    }

    fn look(&mut self, place: usize, left: u32) -> Option<Cause> {
        let mut all = Vec::new();
        self.gather(place, &mut all);
        for one in &all {
            if self.node(*one).as_bool() == Some(false) {
                let pointer = self.chart.places[*one].pointer.clone();
                let instead = if *one == 0 { AWAY } else { "a schema that something fits" };
                return Some(Cause {
                    pointer,
                    reason: "nothing fits `false`".to_owned(),
                    suggestion: instead.to_owned(),
                });
            }
            let not = within(self.chart, self.graph, *one, "/not");
            if not.iter().any(|not| self.is_anything(*not)) {
                return Some(self.at(
                    *one,
                    "not",
                    "everything fits what stands under `not`".to_owned(),
                    AWAY,
                ));
            }
            for keyword in ["/anyOf/", "/oneOf/"] {
                let ways = within(self.chart, self.graph, *one, keyword);
                let causes: Option<Vec<Cause>> = ways.iter().map(|way| self.nothing(*way, left)).collect();
                if let Some(cause) = causes.and_then(|causes| causes.into_iter().next()) {
                    return Some(cause);
                }
            }
        }
        if let Some(cause) = self.values(&all) {
            return Some(cause);
        }
        let mut kinds = KINDS.to_vec();
        for one in &all {
            kinds.retain(|kind| allows(self.node(*one), kind));
            if kinds.is_empty() {
                let reason = "no value has this type and the one asked for beside it".to_owned();
                return Some(self.at(*one, "type", reason, "one `type` for both"));
            }
        }
        // Of each kind that it may be.
        let causes: Option<Vec<Cause>> = kinds.iter().map(|kind| self.kind(kind, &all, left)).collect();
        causes?.into_iter().next()
    }

    /// The schemas that all hold for a value of this place.
    fn gather(&self, place: usize, all: &mut Vec<usize>) {
        if all.contains(&place) {
            return;
        }
        all.push(place);
        for way in &self.graph.ways[place] {
            // Where a dynamic reference arrives depends on who comes by.
            if way.step == Step::InPlace(Mode::All) && way.reference.is_none_or(|keyword| keyword == "$ref") {
                self.gather(way.to, all);
            }
        }
    }

    fn node(&self, place: usize) -> &'c Node {
        self.chart.places[place].node
    }

    fn at(&self, place: usize, keyword: &str, reason: String, suggestion: impl Into<String>) -> Cause {
        let pointer = below(&self.chart.places[place].pointer, keyword);
        Cause { pointer, reason, suggestion: suggestion.into() }
    }

    fn is_anything(&self, place: usize) -> bool {
        let node = self.node(place);
        let asserts = |name: &str| match self.chart.draft.keyword(name).map(|row| row.role) {
            None | Some(Role::Annotation | Role::Identifier | Role::Definitions) => false,
            Some(Role::Assertion | Role::InPlace(_) | Role::Inward | Role::Reference) => true,
        };
        node.as_bool() == Some(true)
            || node.is_object() && !node.members().iter().any(|(name, _)| asserts(name))
    }

    /// `const` and `enum`, none of whose values fits what stands beside.
    fn values(&self, all: &[usize]) -> Option<Cause> {
        for (place, keyword) in all.iter().flat_map(|place| [(*place, "const"), (*place, "enum")]) {
            let Some(value) = self.node(place).get(keyword) else { continue };
            let mut left: Vec<&Node> =
                if keyword == "enum" { value.elements().iter().collect() } else { vec![value] };
            let many = left.len();
            for (other, beside) in all.iter().flat_map(|other| BESIDE.iter().map(|name| (*other, *name))) {
                if (other, beside) == (place, keyword) || self.node(other).get(beside).is_none() {
                    continue;
                }
                left = fitting(&left, self.node(other), beside, self.chart.draft);
                if left.is_empty() {
                    let what = if many == 1 {
                        format!("the value of `{keyword}` does not fit")
                    } else {
                        format!("none of the values of `{keyword}` fits")
                    };
                    let suggestion = format!("a value that fits, or another `{beside}`");
                    return Some(self.at(place, keyword, format!("{what} `{beside}`"), suggestion));
                }
            }
        }
        None
    }

    fn kind(&mut self, kind: &str, all: &[usize], left: u32) -> Option<Cause> {
        match kind {
            "string" => self.counts(all, "minLength", "maxLength"),
            "number" | "integer" => self.bounds(all),
            "array" => self.counts(all, "minItems", "maxItems").or_else(|| self.elements(all, left)),
            "object" => {
                self.counts(all, "minProperties", "maxProperties").or_else(|| self.members(all, left))
            }
            _ => None,
        }
    }

    /// The strictest of a keyword that counts, and the place that says it.
    fn strictest(&self, all: &[usize], keyword: &str, least: bool) -> Option<(u64, usize)> {
        let counts =
            all.iter().filter_map(|place| Some((self.node(*place).get(keyword)?.as_count()?, *place)));
        if least { counts.max_by_key(|(count, _)| *count) } else { counts.min_by_key(|(count, _)| *count) }
    }

    fn counts(&self, all: &[usize], least: &str, most: &str) -> Option<Cause> {
        let (low, place) = self.strictest(all, least, true)?;
        let (high, _) = self.strictest(all, most, false)?;
        (low > high).then(|| {
            let reason = format!("`{least}` {low} is more than `{most}` {high}");
            self.at(place, least, reason, format!("`{least}` up to {high}, or a larger `{most}`"))
        })
    }

    fn bounds(&self, all: &[usize]) -> Option<Cause> {
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for (place, name) in all.iter().flat_map(|place| {
            ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"].map(|name| (*place, name))
        }) {
            let node = self.node(place);
            let Some(text) = node.get(name).and_then(Node::as_number) else { continue };
            let Some(limit) = Decimal::read(text) else { continue };
            let flag = if name == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
            let open = name.starts_with("exclusive") || node.get(flag).and_then(Node::as_bool) == Some(true);
            let list = if name.ends_with("inimum") { &mut lows } else { &mut highs };
            list.push((limit, open, place, name, text));
        }
        let low = lows.into_iter().max_by_key(|(limit, open, ..)| (*limit, *open))?;
        let high = highs.into_iter().min_by_key(|(limit, open, ..)| (*limit, Reverse(*open)))?;
        (low.0 > high.0 || low.0 == high.0 && (low.1 || high.1)).then(|| {
            let reason = format!("no number fits both `{}` {} and `{}` {}", low.3, low.4, high.3, high.4);
            self.at(low.2, low.3, reason, format!("a smaller `{}`, or a larger `{}`", low.3, high.3))
        })
    }

    fn elements(&mut self, all: &[usize], left: u32) -> Option<Cause> {
        let (least, place) = self.strictest(all, "minItems", true).filter(|(least, _)| *least > 0)?;
        for one in all {
            let of = |keyword: &str| within(self.chart, self.graph, *one, keyword);
            let first: Vec<usize> =
                ["/prefixItems/", "/items/"].iter().flat_map(|keyword| of(keyword)).collect();
            let rest: Vec<usize> =
                ["/items", "/additionalItems"].iter().flat_map(|keyword| of(keyword)).collect();
            let must = usize::try_from(least).unwrap_or(usize::MAX);
            if let Some(cause) = first.iter().take(must).find_map(|place| self.nothing(*place, left)) {
                return Some(cause);
            }
            if must > first.len()
                && let Some(cause) = rest.iter().find_map(|place| self.nothing(*place, left))
            {
                if first.is_empty() {
                    return Some(cause);
                }
                let takes = first.len();
                let reason =
                    format!("`minItems` {least} is more than the {takes} elements that the array takes");
                return Some(self.at(place, "minItems", reason, format!("`minItems` up to {takes}")));
            }
        }
        None
    }

    fn members(&mut self, all: &[usize], left: u32) -> Option<Cause> {
        let mut names = BTreeSet::new();
        for place in all {
            let required = self.node(*place).get("required").map(Node::elements).unwrap_or_default();
            for (index, name) in required.iter().enumerate() {
                let Some(name) = name.as_text() else { continue };
                names.insert(name);
                for one in all {
                    match self.member(*one, name, left) {
                        Member::Open => {}
                        Member::Never(cause) => return Some(cause),
                        Member::Unknown => {
                            let pointer = below(
                                &below(&self.chart.places[*place].pointer, "required"),
                                &index.to_string(),
                            );
                            let reason =
                                format!("`{name}` is required, and the object takes no member of that name");
                            return Some(Cause {
                                pointer,
                                reason,
                                suggestion: self.instead(*one, name, all),
                            });
                        }
                    }
                }
            }
        }
        let (many, most) = (names.len() as u64, self.strictest(all, "maxProperties", false));
        if let Some((most, place)) = most.filter(|(most, _)| *most < many) {
            let reason = format!("{many} members are required, more than `maxProperties` {most}");
            return Some(self.at(place, "maxProperties", reason, format!("`maxProperties` from {many} on")));
        }
        let (least, place) = self.strictest(all, "minProperties", true)?;
        for one in all {
            let declared = self.node(*one).get("properties").map(Node::members).unwrap_or_default();
            let takes = declared.len() as u64;
            if takes < least
                && self.node(*one).get("patternProperties").is_none()
                && self.is_closed(*one, left)
            {
                let reason =
                    format!("`minProperties` {least} is more than the {takes} members that the object takes");
                return Some(self.at(
                    place,
                    "minProperties",
                    reason,
                    format!("`minProperties` up to {takes}"),
                ));
            }
        }
        None
    }

    /// What one schema makes of a member.
    fn member(&mut self, place: usize, name: &str, left: u32) -> Member {
        let node = self.node(place);
        let mut told = within(self.chart, self.graph, place, &below("/properties", name));
        for (pattern, _) in node.get("patternProperties").map(Node::members).unwrap_or_default() {
            if enforced::fits(pattern, name) {
                told.extend(within(self.chart, self.graph, place, &below("/patternProperties", pattern)));
            }
        }
        match told.iter().find_map(|place| self.nothing(*place, left)) {
            Some(cause) => Member::Never(cause),
            None if told.is_empty() && self.is_closed(place, left) => Member::Unknown,
            None => Member::Open,
        }
    }

    /// Whether it takes no members but those it names.
    fn is_closed(&mut self, place: usize, left: u32) -> bool {
        let of = |keyword: &str| within(self.chart, self.graph, place, keyword);
        let mut rest = of("/additionalProperties");
        let looks_through = self.graph.ways[place]
            .iter()
            .any(|way| matches!(way.step, Step::InPlace(_)) || way.reference.is_some());
        if rest.is_empty() && !looks_through {
            rest = of("/unevaluatedProperties");
        }
        rest.iter().any(|place| self.nothing(*place, left).is_some())
    }

    /// The member that was meant by `name`.
    fn instead(&self, place: usize, name: &str, all: &[usize]) -> String {
        let declared = self.node(place).get("properties").map(Node::members).unwrap_or_default();
        let is_required = |name: &str| {
            let mut lists = all.iter().filter_map(|place| self.node(*place).get("required"));
            lists.any(|list| list.elements().iter().any(|element| element.as_text() == Some(name)))
        };
        let free: Vec<&str> =
            declared.iter().map(|(name, _)| name.as_str()).filter(|name| !is_required(name)).collect();
        match (nearest(name, free.iter().copied()).or_else(|| sole(&free)), free.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "declare it under `properties`, or leave it out".to_owned(),
            (None, some) => {
                let some: Vec<&str> = some.iter().copied().take(TOLD).collect();
                format!("declare it under `properties`, or one of {}", some.join(", "))
            }
        }
    }
}

fn sole<'n>(names: &[&'n str]) -> Option<&'n str> {
    if let [one] = names { Some(*one) } else { None }
}

/// What a schema makes of a member that is required.
enum Member {
    /// Nothing that is known of.
    Open,
    /// It is named, and no value fits it.
    Never(Cause),
    /// The object is closed, and does not name it.
    Unknown,
}

/// Whether a schema's `type` has room for a kind.
fn allows(node: &Node, kind: &str) -> bool {
    let is = |name: &str| name == kind || name == "number" && kind == "integer";
    match node.get("type") {
        None => true,
        Some(Node { tree: Tree::Text(name), .. }) => is(name),
        Some(names) => names.elements().iter().filter_map(Node::as_text).any(is),
    }
}

/// Those values that fit one keyword of a schema; all of them where that cannot be found out.
fn fitting<'n>(values: &[&'n Node], schema: &Node, keyword: &str, draft: Draft) -> Vec<&'n Node> {
    let is_part = |name: &str| {
        let flag = match keyword {
            "minimum" => "exclusiveMinimum",
            "maximum" => "exclusiveMaximum",
            _ => "",
        };
        name == keyword || draft == Draft::Four && name == flag
    };
    let members = schema.members().iter().filter(|(name, _)| is_part(name)).cloned().collect();
    let alone = Node::made(Tree::Object(members));
    let chart = dialect::walk(&alone, draft, &[]);
    let Ok(validator) = enforced::build(&enforced::document(&chart, Numbers::Exact, false)) else {
        return values.to_vec();
    };
    let fits = |value: &&&Node| {
        let text = value.printed();
        Document::new().parse(text.as_bytes()).is_ok_and(|value| validator.is_valid(value))
    };
    values.iter().filter(fits).copied().collect()
}
