//! From a form to its plan. Whatever is not named here makes the place where it stands blind, for the kinds of value
//! that it is about.

use super::scalar::{Numbers, OneOf, Rule, Texts};
use super::{Combined, Doubt, Elements, Kinds, MEMBERS, Member, Members, Place, Plan};
use crate::form::dialect::Chart;
use crate::form::draft::Draft;
use crate::form::enforced;
use crate::form::exact::Limit;
use crate::form::keywords::Role;
use crate::form::references::Graph;
use crate::form::source::{Node, Tree, below};
use crate::json::{Decimal, Quoted};
use foldhash::fast::RandomState;
use std::collections::HashMap as Map;
use std::sync::Arc;

/// Keys are of a form: nobody makes them collide.
type HashMap<K, V> = Map<K, V, RandomState>;

/// The plan of a form without fault that does not recur; nothing where no body, or hardly one, would be seen to fit.
pub(crate) fn plan(chart: &Chart<'_>, graph: &Graph) -> Option<Plan> {
    let by_pointer =
        chart.places.iter().enumerate().map(|(at, place)| (place.pointer.as_str(), at)).collect();
    let mut making =
        Making { chart, graph, by_pointer, known: HashMap::default(), rules: HashMap::default() };
    making.place(0).map(Plan)
}

struct Making<'c> {
    chart: &'c Chart<'c>,
    graph: &'c Graph,
    by_pointer: HashMap<&'c str, usize>,
    /// Places of the form that were looked at; nothing where blind.
    known: HashMap<usize, Option<Arc<Place>>>,
    /// By what they say.
    rules: HashMap<String, Option<Arc<Rule>>>,
}

/// What is said at one place.
#[derive(Default)]
struct Said<'c> {
    keywords: Vec<(&'c str, &'c Node)>,
    reference: bool,
}

/// Keywords that a plan knows.
const KNOWN: &[&str] = &[
    "type",
    "enum",
    "const",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "contentEncoding",
    "contentMediaType",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
];

/// What is left to the validator of a string alone.
const RULES: &[&str] = &["pattern", "format", "contentEncoding", "contentMediaType"];

impl<'c> Making<'c> {
    /// The place of the plan for one of the form; nothing where it is blind.
    fn place(&mut self, index: usize) -> Option<Arc<Place>> {
        if let Some(known) = self.known.get(&index) {
            return known.clone();
        }
        // Were it to lead back here after all, it would be blind.
        self.known.insert(index, None);
        let made = self.make(index);
        self.known.insert(index, made.clone());
        made
    }

    fn make(&mut self, index: usize) -> Option<Arc<Place>> {
        let (chart, graph) = (self.chart, self.graph);
        let node = chart.places[index].node;
        match node.as_bool() {
            // Anything at all, duplicates and depth included, is the parser's to read.
            Some(true) => return None,
            Some(false) => return Some(Arc::new(Place::Value(Kinds::none()))),
            None => {}
        }
        let mut said = Said::default();
        let mut in_place = Vec::new();
        for (name, value) in node.members() {
            let Some(row) = chart.draft.keyword(name) else { continue };
            match row.role {
                Role::Annotation | Role::Identifier | Role::Definitions => continue,
                Role::Reference => said.reference = true,
                Role::InPlace(_) => in_place.push(name.as_str()),
                Role::Assertion | Role::Inward => {}
            }
            said.keywords.push((name, value));
        }
        let by_itself = said.keywords.len() - usize::from(said.reference) - in_place.len();
        let mut all = Vec::new();
        if by_itself > 0 {
            let kinds = self.kinds(index, &said)?;
            all.push(Arc::new(Place::Value(kinds)));
        }
        if said.reference {
            said.get("$ref")?;
            let mut ways = graph.ways[index].iter().filter(|way| way.reference.is_some());
            all.push(self.place(ways.next()?.to)?);
            if ways.next().is_some() {
                return None;
            }
        }
        let (mut some, mut one) = (None, None);
        for keyword in in_place {
            let count = said.get(keyword).map_or(0, |value| value.elements().len());
            let children: Vec<_> =
                (0..count).map(|child| self.child(index, &format!("/{keyword}/{child}"))).collect();
            match keyword {
                "allOf" => all.extend(children.into_iter().collect::<Option<Vec<_>>>()?),
                "anyOf" => some = children.iter().any(Option::is_some).then_some(Some(children))?,
                "oneOf" => one = Some(children.into_iter().collect::<Option<Vec<_>>>()?),
                _ => return None,
            }
        }
        if some.is_none() && one.is_none() && all.len() < 2 {
            return all.pop();
        }
        Some(Arc::new(Place::Combined(Combined { all, some, one })))
    }

    /// The schema that stands there below a place of the form.
    fn child(&mut self, index: usize, rest: &str) -> Option<Arc<Place>> {
        let pointer = format!("{}{rest}", self.chart.places[index].pointer);
        let child = *self.by_pointer.get(pointer.as_str())?;
        self.place(child)
    }

    /// What a place says itself. Nothing where hardly a value would be seen to fit.
    fn kinds(&mut self, index: usize, said: &Said<'c>) -> Option<Kinds> {
        let types: Option<Vec<&str>> = said.get("type").map(|given| match &given.tree {
            Tree::Text(name) => vec![name.as_str()],
            Tree::Array(names) => names.iter().filter_map(Node::as_text).collect(),
            Tree::Null | Tree::Boolean(_) | Tree::Number(_) | Tree::Object(_) => Vec::new(),
        });
        let listed: Option<Vec<&Node>> = match (said.get("enum"), said.get("const")) {
            (None, None) => None,
            (Some(values), None) => Some(values.elements().iter().collect()),
            (None, Some(value)) => Some(vec![value]),
            (Some(_), Some(_)) => return None,
        };
        let is_typed = |kind: &str| types.as_ref().is_none_or(|types| types.contains(&kind));
        let literal = |kind: &str, value: &Tree| {
            let listed =
                listed.as_ref().is_none_or(|values| values.iter().any(|listed| listed.tree == *value));
            if is_typed(kind) && listed { Ok(()) } else { Err(Doubt::Unfit) }
        };
        let is_listed = |is: fn(&Tree) -> bool| {
            listed.as_ref().is_none_or(|values| values.iter().any(|value| is(&value.tree)))
        };
        let mut kinds = Kinds {
            null: literal("null", &Tree::Null),
            no: literal("boolean", &Tree::Boolean(false)),
            yes: literal("boolean", &Tree::Boolean(true)),
            ..Kinds::none()
        };
        if (is_typed("number") || is_typed("integer")) && is_listed(|tree| matches!(tree, Tree::Number(_))) {
            let numbers = numbers(said, self.chart.draft, listed.as_deref());
            let is_integer = !is_typed("number");
            kinds.number = numbers.map(|numbers| Numbers { is_integer, ..numbers }).ok_or(Doubt::Unsure);
        }
        if is_typed("string") && is_listed(|tree| matches!(tree, Tree::Text(_))) {
            kinds.text = self.texts(said, listed.as_deref()).ok_or(Doubt::Unsure);
        }
        if is_typed("array") && is_listed(|tree| matches!(tree, Tree::Array(_))) {
            kinds.array = match listed {
                None => self.elements(index, said).ok_or(Doubt::Unsure),
                Some(_) => Err(Doubt::Unsure),
            };
        }
        if is_typed("object") && is_listed(|tree| matches!(tree, Tree::Object(_))) {
            kinds.object = match listed {
                None => self.members(index, said).ok_or(Doubt::Unsure),
                Some(_) => Err(Doubt::Unsure),
            };
        }
        let unknown = |on: &str| {
            let mut names = said.keywords.iter().map(|(name, _)| *name).filter(|name| !KNOWN.contains(name));
            names.any(|name| {
                self.chart.draft.keyword(name).is_some_and(|row| row.on.is_empty() || row.on.contains(&on))
            })
        };
        kinds.blind(unknown);
        kinds.is_seen().then_some(kinds)
    }

    fn texts(&mut self, said: &Said<'c>, listed: Option<&[&Node]>) -> Option<Texts> {
        let rules: Vec<_> = RULES.iter().filter_map(|name| Some((*name, said.get(name)?))).collect();
        let rule = if rules.is_empty() { None } else { Some(self.rule(&rules)?) };
        let (fewest, most) = (said.count("minLength", 0)?, said.count("maxLength", usize::MAX)?);
        // A character takes one to four bytes.
        let enough = fewest.checked_sub(1).map_or(0, |fewer| fewer.saturating_mul(4).saturating_add(1));
        let is_range = rule.is_none() && listed.is_none();
        let mut texts = Texts { fewest, most, enough, one_of: None, rule, is_range };
        if let Some(listed) = listed {
            let fits = |text: &&str| texts.admits(text);
            let values = listed.iter().filter_map(|value| value.as_text());
            texts.one_of = Some(OneOf::new(values.filter(fits).filter_map(Quoted::string).collect()));
        }
        Some(texts)
    }

    /// The validator of these keywords, one for all places that say the same.
    fn rule(&mut self, keywords: &[(&str, &Node)]) -> Option<Arc<Rule>> {
        let document: serde_json::Map<_, _> =
            std::iter::once(("$schema".to_owned(), self.chart.draft.uri().into()))
                .chain(keywords.iter().map(|(name, value)| ((*name).to_owned(), value.to_serde())))
                .collect();
        let document = serde_json::Value::Object(document);
        let rule = self.rules.entry(document.to_string());
        rule.or_insert_with(|| Some(Arc::new(Rule(enforced::build(&document).ok()?)))).clone()
    }

    fn elements(&mut self, index: usize, said: &Said<'c>) -> Option<Elements> {
        // Without a schema for each, elements are anything; with an array of them, each is another.
        said.get("items").filter(|items| items.is_schema())?;
        Some(Elements {
            fewest: said.count("minItems", 0)?,
            most: said.count("maxItems", usize::MAX)?,
            unique: said.get("uniqueItems").and_then(Node::as_bool).unwrap_or_default(),
            each: self.child(index, "/items")?,
        })
    }

    fn members(&mut self, index: usize, said: &Said<'c>) -> Option<Members> {
        let other = match said.get("additionalProperties").map(|value| &value.tree) {
            Some(Tree::Boolean(false)) => Doubt::Unfit,
            // What such a member is, and that it comes once, is not looked at.
            Some(_) | None => Doubt::Unsure,
        };
        let properties = said.get("properties").map(Node::members).unwrap_or_default();
        if properties.len() > MEMBERS {
            return None;
        }
        let fewest = said.count("minProperties", 0)?.try_into().ok()?;
        let most = u32::try_from(said.count("maxProperties", usize::MAX)?).unwrap_or(u32::MAX);
        let mut members = Members {
            known: Vec::with_capacity(properties.len()),
            required: 0,
            fewest,
            most,
            is_counted: fewest > 0 || (most as usize) < properties.len(),
            other,
        };
        let mut names = Vec::with_capacity(properties.len());
        for (property, _) in properties {
            // A name that can only be written with escapes is never seen.
            let Some(name) = Quoted::name(property) else { continue };
            let place = self.child(index, &below("/properties", property));
            members.known.push(Member { name, place });
            names.push(property.as_str());
        }
        for name in said.get("required").map(Node::elements).unwrap_or_default() {
            // Where one that must be there is not seen, nothing is.
            let at = names.iter().position(|known| Some(*known) == name.as_text())?;
            members.known.get(at)?.place.as_ref()?;
            members.required |= 1 << at;
        }
        Some(members)
    }
}

impl<'c> Said<'c> {
    fn get(&self, name: &str) -> Option<&'c Node> {
        self.keywords.iter().find(|(keyword, _)| *keyword == name).map(|(_, value)| *value)
    }

    /// A count, or what holds without it.
    fn count(&self, name: &str, otherwise: usize) -> Option<usize> {
        let Some(count) = self.get(name) else { return Some(otherwise) };
        Some(usize::try_from(count.as_count()?).unwrap_or(usize::MAX))
    }
}

impl Kinds {
    /// Nothing at all.
    fn none() -> Self {
        let (null, no, yes) = (Err(Doubt::Unfit), Err(Doubt::Unfit), Err(Doubt::Unfit));
        let (number, text) = (Err(Doubt::Unfit), Err(Doubt::Unfit));
        Self { null, no, yes, number, text, array: Err(Doubt::Unfit), object: Err(Doubt::Unfit) }
    }

    /// Kinds that something else is said about are unsure where they are not unfit.
    fn blind(&mut self, is_blind: impl Fn(&str) -> bool) {
        fn put<T>(kind: &mut Result<T, Doubt>) {
            if kind.is_ok() {
                *kind = Err(Doubt::Unsure);
            }
        }
        if is_blind("null") {
            put(&mut self.null);
        }
        if is_blind("boolean") {
            put(&mut self.no);
            put(&mut self.yes);
        }
        if is_blind("number") {
            put(&mut self.number);
        }
        if is_blind("string") {
            put(&mut self.text);
        }
        if is_blind("array") {
            put(&mut self.array);
        }
        if is_blind("object") {
            put(&mut self.object);
        }
    }

    fn is_seen(&self) -> bool {
        let scalars = [self.null, self.no, self.yes].iter().any(Result::is_ok);
        scalars || self.number.is_ok() || self.text.is_ok() || self.array.is_ok() || self.object.is_ok()
    }
}

fn numbers(said: &Said<'_>, draft: Draft, listed: Option<&[&Node]>) -> Option<Numbers> {
    let read = |name: &str| {
        let Some(value) = said.get(name) else { return Some(None) };
        Some(Some(Decimal::read(value.as_number()?)?))
    };
    let flag = |name: &str| said.get(name).and_then(Node::as_bool).unwrap_or_default();
    let mut bounds = Vec::new();
    if let Some(limit) = read("minimum")? {
        let open = draft == Draft::Four && flag("exclusiveMinimum");
        bounds.push(Limit::Minimum { limit, open });
    }
    if let Some(limit) = read("maximum")? {
        let open = draft == Draft::Four && flag("exclusiveMaximum");
        bounds.push(Limit::Maximum { limit, open });
    }
    if draft != Draft::Four {
        bounds.extend(read("exclusiveMinimum")?.map(|limit| Limit::Minimum { limit, open: true }));
        bounds.extend(read("exclusiveMaximum")?.map(|limit| Limit::Maximum { limit, open: true }));
    }
    let (least, greatest) = (edge(&bounds, false), edge(&bounds, true));
    let read_all = |values: &[&Node]| {
        let numbers = values.iter().filter_map(|value| value.as_number());
        let mut numbers = numbers.map(Decimal::read).collect::<Option<Vec<_>>>()?;
        numbers.sort_unstable();
        Some(numbers)
    };
    let one_of = match listed {
        None => None,
        Some(values) => Some(read_all(values)?),
    };
    let divisor = read("multipleOf")?.map(Limit::MultipleOf);
    let is_range = one_of.is_none() && divisor.is_none();
    Some(Numbers { is_integer: false, least, greatest, bounds, one_of, divisor, is_range })
}

/// The greatest integer of at most fifteen digits that keeps to the upper bounds, or the least that keeps to the lower
/// ones. Where none does, one digit more.
fn edge(bounds: &[Limit], upper: bool) -> i64 {
    const FARTHEST: i64 = 1_000_000_000_000_000;
    let keeps = |integer: i64| {
        let number = Decimal::integer(integer);
        bounds.iter().all(|bound| match bound {
            Limit::Minimum { .. } => upper || bound.admits(number),
            Limit::Maximum { .. } => !upper || bound.admits(number),
            Limit::MultipleOf(_) => true,
        })
    };
    // From where none keeps to them to where all do.
    let (mut out, mut within) = if upper { (FARTHEST, -FARTHEST) } else { (-FARTHEST, FARTHEST) };
    if keeps(out) {
        return out;
    }
    while out.abs_diff(within) > 1 {
        let middle = i64::midpoint(out, within);
        if keeps(middle) { within = middle } else { out = middle }
    }
    within
}
