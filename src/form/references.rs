//! References: each is resolved as the validator will resolve it, from used and unused schemas
//! alike, and must arrive at a schema of this form. With them the form becomes a graph, in which
//! cycles are looked for.
//!
//! `$id` is allowed where it can be: the resolution follows it, as the validator's does. Whoever
//! reads the published text without following it is warned by the lint `embedded-id`.

use super::FormFault;
use super::dialect::{Chart, Mode, Place, Step};
use super::source::{Node, below};
use jsonschema::{Registry, Retrieve, Uri};
use serde_json::Value as Serde;
use std::borrow::Cow;
use std::collections::HashMap;

/// The schemas of a form and the ways between them.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// From each place, where it leads and how. References are among them.
    pub(crate) ways: Vec<Vec<Way>>,
    /// The strongly connected component of each place, and whether there is a cycle in it.
    component: Vec<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) to: usize,
    pub(crate) step: Step,
    /// The keyword, where the way is a reference.
    pub(crate) reference: Option<&'static str>,
}

impl Graph {
    /// Whether a way is part of a cycle.
    pub(crate) fn turns(&self, from: usize, way: &Way) -> bool {
        way.step != Step::Kept && self.component[from] == self.component[way.to]
    }

    /// The places, each after all that it leads to, but for cycles.
    pub(crate) fn last_first(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.ways.len()).collect();
        places.sort_by_key(|place| self.component[*place]);
        places
    }

    /// The references that close cycles: the place of each, and its way.
    pub(crate) fn turning_references(&self) -> impl Iterator<Item = (usize, &Way)> {
        self.ways.iter().enumerate().flat_map(move |(from, ways)| {
            ways.iter()
                .filter(move |way| way.reference.is_some() && self.turns(from, way))
                .map(move |way| (from, way))
        })
    }
}

/// Refuses whatever lies outside the form.
#[derive(Debug)]
struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(&self, _uri: &Uri<String>) -> Result<Serde, Box<dyn std::error::Error + Send + Sync>> {
        Err("outside the form".into())
    }
}

const REFERENCES: &[&str] = &["$ref", "$recursiveRef", "$dynamicRef"];

/// What gives a schema a name that a reference may say.
const NAMES: &[&str] = &["$id", "id", "$anchor", "$recursiveAnchor", "$dynamicAnchor"];

/// Resolves every reference of a form whose walk found no fault.
pub(crate) fn resolve(chart: &Chart<'_>, document: &Serde) -> Result<Graph, Vec<FormFault>> {
    let mut faults = Vec::new();
    let mut graph = Graph { ways: vec![Vec::new(); chart.places.len()], component: Vec::new() };
    for (index, place) in chart.places.iter().enumerate() {
        if let Some((parent, step)) = place.parent {
            graph.ways[parent].push(Way { to: index, step, reference: None });
        }
    }
    // Most forms have nothing to resolve.
    if refers_or_names(chart) {
        let mut document = Cow::Borrowed(document);
        part_with_strays(chart, &mut document, &mut faults);
        if let Err(fault) = point(chart, &document, &mut graph, &mut faults) {
            faults.push(fault);
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    // Cycles that stay on one value first: they would also count as recursion.
    graph.component = components(&graph.ways, |step| matches!(step, Step::InPlace(_)));
    for (from, way) in graph.turning_references() {
        if matches!(way.step, Step::InPlace(_)) {
            let place = &chart.places[from];
            faults.push(fault_at(
                place,
                way.reference.unwrap_or("$ref"),
                "a cycle of references that consumes nothing: it asserts nothing either".to_owned(),
                None,
            ));
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    graph.component = components(&graph.ways, |step| step != Step::Kept);
    Ok(graph)
}

/// Whether any schema refers to another or has a name that one may refer to.
fn refers_or_names(chart: &Chart<'_>) -> bool {
    let mut keywords =
        chart.places.iter().flat_map(|place| place.node.members()).map(|(name, _)| name.as_str());
    keywords.any(|keyword| REFERENCES.contains(&keyword) || NAMES.contains(&keyword))
}

/// The base of a form: its own identifier, or one of ours that nobody else has.
fn base_of(id: Option<&str>) -> Result<Uri<String>, jsonschema::ReferencingError> {
    jsonschema::uri::from_str(id.unwrap_or("formgate:///form"))
}

/// Takes references to other documents out of the copy that is resolved, each with its fault: the
/// registry would go looking for them, and stop at the first that it does not find.
fn part_with_strays(chart: &Chart<'_>, document: &mut Cow<'_, Serde>, faults: &mut Vec<FormFault>) {
    let mut bases: Vec<Option<Uri<String>>> = Vec::with_capacity(chart.places.len());
    for place in &chart.places {
        let id = ["$id", "id"]
            .into_iter()
            .filter(|keyword| chart.draft.keyword(keyword).is_some())
            .find_map(|keyword| place.node.get(keyword).and_then(Node::as_text));
        let base = match (place.parent, id) {
            (None, id) => base_of(id).ok(),
            (Some((parent, _)), None) => bases[parent].clone(),
            (Some((parent, _)), Some(id)) => bases[parent]
                .as_ref()
                .and_then(|base| jsonschema::uri::resolve_against(&base.borrow(), id).ok()),
        };
        bases.push(base);
    }
    let document_of = |uri: &str| uri.split('#').next().unwrap_or_default().to_owned();
    let known: Vec<String> = bases.iter().flatten().map(|base| document_of(base.as_str())).collect();
    for (index, place) in chart.places.iter().enumerate() {
        for &keyword in REFERENCES {
            let Some(reference) = place.node.get(keyword).and_then(Node::as_text) else {
                continue;
            };
            let target = bases[index]
                .as_ref()
                .and_then(|base| jsonschema::uri::resolve_against(&base.borrow(), reference).ok());
            let stays = reference.starts_with('#')
                || target.is_some_and(|target| known.contains(&document_of(target.as_str())));
            if stays {
                continue;
            }
            let (reason, suggestion) = astray(reference, false, chart);
            faults.push(fault_at(place, keyword, reason, suggestion));
            if let Some(Serde::Object(members)) = document.to_mut().pointer_mut(&place.pointer) {
                members.remove(keyword);
            }
        }
    }
}

/// Adds the ways of all references to the graph.
fn point(
    chart: &Chart<'_>,
    document: &Serde,
    graph: &mut Graph,
    faults: &mut Vec<FormFault>,
) -> Result<(), FormFault> {
    let draft = chart.draft.crate_draft();
    let root = &chart.places[0];
    let whole = |reason: String| fault_at(root, "$id", reason, None);
    let resource = draft.create_resource_ref(document);
    let base = base_of(resource.id()).map_err(|error| whole(format!("not an identifier: {error}")))?;
    let registry = Registry::new()
        .retriever(Nowhere)
        .draft(draft)
        .add(base.as_str(), resource)
        .and_then(jsonschema::RegistryBuilder::prepare)
        .map_err(|error| whole(format!("the references cannot be resolved: {error}")))?;

    let values: Vec<Option<&Serde>> =
        chart.places.iter().map(|place| document.pointer(&place.pointer)).collect();
    let places: HashMap<usize, usize> = values
        .iter()
        .enumerate()
        .filter_map(|(index, value)| value.map(|value| (address(value), index)))
        .collect();

    let mut names: HashMap<(String, String), usize> = HashMap::new();
    let mut resolvers = Vec::with_capacity(chart.places.len());
    for (index, place) in chart.places.iter().enumerate() {
        let outer = match place.parent {
            Some((parent, _)) => &resolvers[parent],
            None => &registry.resolver(base.clone()),
        };
        let resolver = match values[index] {
            Some(value) => outer
                .in_subresource(draft.create_resource_ref(value))
                .map_err(|error| fault_at(place, "$id", format!("not an identifier: {error}"), None))?,
            None => outer.clone(),
        };
        let at = resolver.base_uri().as_str().to_owned();
        for (keyword, name) in identifiers(place) {
            if names.insert((at.clone(), name.clone()), index).is_some() {
                let reason = format!("`{name}` names two schemas");
                faults.push(fault_at(place, keyword, reason, None));
            }
        }
        resolvers.push(resolver);
    }

    for (index, place) in chart.places.iter().enumerate() {
        for &keyword in REFERENCES {
            let reference = values[index].and_then(|value| value.get(keyword)).and_then(Serde::as_str);
            let Some(reference) = reference else {
                continue;
            };
            if keyword == "$recursiveRef" && reference != "#" {
                let reason = "`$recursiveRef` takes `#` only".to_owned();
                faults.push(fault_at(place, keyword, reason, Some("`#`".to_owned())));
                continue;
            }
            let found = resolvers[index].lookup(reference);
            let target = match &found {
                Ok(found) => places.get(&address(found.contents())).copied(),
                Err(_) => None,
            };
            let Some(target) = target else {
                let (reason, suggestion) = astray(reference, found.is_ok(), chart);
                faults.push(fault_at(place, keyword, reason, suggestion));
                continue;
            };
            let mut targets = vec![target];
            targets.extend(dynamic_targets(chart, keyword, reference));
            targets.sort_unstable();
            targets.dedup();
            graph.ways[index].extend(targets.into_iter().map(|to| Way {
                to,
                step: Step::InPlace(Mode::All),
                reference: Some(keyword),
            }));
        }
    }
    Ok(())
}

/// Where a dynamic reference may arrive besides its static target, whoever comes by.
fn dynamic_targets(chart: &Chart<'_>, keyword: &str, reference: &str) -> Vec<usize> {
    let name = reference.rsplit_once('#').map_or("", |(_, name)| name);
    let is_target = |place: &Place<'_>| match keyword {
        "$recursiveRef" => place.node.get("$recursiveAnchor").and_then(Node::as_bool) == Some(true),
        "$dynamicRef" => place.node.get("$dynamicAnchor").and_then(Node::as_text) == Some(name),
        _ => false,
    };
    (0..chart.places.len()).filter(|index| is_target(&chart.places[*index])).collect()
}

/// The names a place takes for itself within its base.
fn identifiers(place: &Place<'_>) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for keyword in ["$anchor", "$dynamicAnchor"] {
        if let Some(name) = place.node.get(keyword).and_then(Node::as_text) {
            found.push((keyword, format!("#{name}")));
        }
    }
    for keyword in ["id", "$id"] {
        if let Some(id) = place.node.get(keyword).and_then(Node::as_text) {
            // A fragment alone is an anchor (drafts 04 to 07); the base says the rest.
            let name = if id.starts_with('#') { id.to_owned() } else { String::new() };
            found.push((keyword, name));
        }
    }
    found
}

/// Why a reference arrives nowhere.
fn astray(reference: &str, resolved: bool, chart: &Chart<'_>) -> (String, Option<String>) {
    if !reference.starts_with('#') {
        return (
            format!("`{reference}` leaves the form: what is published must stand alone"),
            Some(format!("copy it to `{0}` and refer to `#/{0}/…`", chart.draft.definitions())),
        );
    }
    if resolved {
        return (format!("`{reference}` is not a place where a schema stands"), None);
    }
    let last = reference.rsplit('/').next().unwrap_or_default();
    let near = chart
        .places
        .iter()
        .map(|place| format!("#{}", place.pointer))
        .find(|pointer| pointer.rsplit('/').next() == Some(last) && pointer != reference);
    (format!("`{reference}` points at nothing"), near.map(|near| format!("`{near}`")))
}

fn fault_at(place: &Place<'_>, keyword: &str, reason: String, suggestion: Option<String>) -> FormFault {
    FormFault {
        pointer: below(&place.pointer, keyword),
        at: place.node.get(keyword).unwrap_or(place.node).at,
        reason,
        suggestion,
        lint: None,
    }
}

/// What tells one value of a document from another while the document stands still.
fn address(value: &Serde) -> usize {
    std::ptr::from_ref(value).addr()
}

/// The strongly connected component of each place (Tarjan), over the ways that count.
/// A place alone in its component is part of no cycle unless it leads to itself.
fn components(ways: &[Vec<Way>], counts: impl Fn(Step) -> bool) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let size = ways.len();
    let (mut order, mut low) = (vec![NEW; size], vec![0; size]);
    let mut component = vec![NEW; size];
    let (mut stack, mut next, mut found) = (Vec::new(), 0, 0);
    for start in 0..size {
        if order[start] != NEW {
            continue;
        }
        // Each frame: the place, and the next of its ways to follow.
        let mut frames = vec![(start, 0)];
        while let Some((place, way)) = frames.pop() {
            if way == 0 {
                order[place] = next;
                low[place] = next;
                next += 1;
                stack.push(place);
            } else {
                let to = ways[place][way - 1].to;
                if counts(ways[place][way - 1].step) && component[to] == NEW {
                    low[place] = low[place].min(low[to]);
                }
            }
            let following = (way..ways[place].len()).find(|index| counts(ways[place][*index].step));
            if let Some(index) = following {
                frames.push((place, index + 1));
                let to = ways[place][index].to;
                if order[to] == NEW {
                    frames.push((to, 0));
                }
                continue;
            }
            if low[place] == order[place] {
                while let Some(member) = stack.pop() {
                    component[member] = found;
                    if member == place {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}
