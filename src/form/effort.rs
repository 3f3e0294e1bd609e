//! How often a validator may look at one value, and how deep it goes.
//!
//! Alternatives that lead to the same schema by reference look at the same value once each. Over
//! levels of references that multiplies: two alternatives over thirty levels are 2^30 looks. Where
//! a form allows that, references are counted while they are followed, and a value that takes more
//! than its size warrants is refused: see [`follow`].

use super::FormFault;
use super::dialect::{Chart, Step};
use super::references::Graph;
use std::cell::Cell;

/// Looks at one value up to which nothing is counted.
const FEW: u64 = 1000;
/// Schemas applied within each other, along references, before a form is refused: each takes stack
/// when the form is compiled, and again for each body.
const DEEPEST: usize = 256;

/// An upper bound of the looks at one value and what lies within it; `u64::MAX` where the form
/// recurs.
pub(crate) fn looks(chart: &Chart<'_>, graph: &Graph) -> u64 {
    let mut known = vec![None; chart.places.len()];
    look(chart, graph, 0, &mut known)
}

/// Whether the looks are so many that references must be counted.
pub(crate) fn is_much(looks: u64) -> bool {
    looks > FEW
}

fn look(chart: &Chart<'_>, graph: &Graph, place: usize, known: &mut [Option<u64>]) -> u64 {
    if let Some(known) = known[place] {
        return known;
    }
    known[place] = Some(u64::MAX); // met again before it is known: the form recurs
    let start = chart.places[place].pointer.len();
    let (mut same, mut members, mut elements, mut one_member, mut one_element) = (1_u64, 0_u64, 0_u64, 0, 0);
    for way in &graph.ways[place] {
        if way.step == Step::Kept {
            continue;
        }
        let looks = look(chart, graph, way.to, known);
        if matches!(way.step, Step::InPlace(_)) {
            same = same.saturating_add(looks);
            continue;
        }
        let rest = chart.places[way.to].pointer.get(start + 1..).unwrap_or_default();
        match rest.split('/').next().unwrap_or_default() {
            "properties" => one_member = looks.max(one_member),
            "prefixItems" => one_element = looks.max(one_element),
            "items" if rest.contains('/') => one_element = looks.max(one_element),
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => {
                elements = elements.saturating_add(looks);
            }
            _ => members = members.saturating_add(looks),
        }
    }
    let within = members.saturating_add(one_member).max(elements.saturating_add(one_element));
    let looks = same.saturating_add(within);
    known[place] = Some(looks);
    looks
}

/// Refuses forms whose schemas lead through each other too deep.
pub(crate) fn too_deep(chart: &Chart<'_>, graph: &Graph) -> Option<FormFault> {
    let mut depths = vec![0_usize; chart.places.len()];
    // Components are numbered from the last to the first: what a place leads to comes before it.
    for place in graph.last_first() {
        let below = graph.ways[place]
            .iter()
            .filter(|way| !graph.turns(place, way))
            .map(|way| depths[way.to] + 1)
            .max()
            .unwrap_or(0);
        depths[place] = below;
    }
    let deepest = (0..depths.len()).find(|place| depths[*place] > DEEPEST)?;
    let place = &chart.places[deepest];
    Some(FormFault {
        pointer: place.pointer.clone(),
        at: place.node.at,
        reason: format!("more than {DEEPEST} schemas lead through each other from here"),
        suggestion: None,
        lint: None,
    })
}

thread_local! {
    /// References that may still be followed for the value at hand, on this thread.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Runs a question about a value with so many references to follow. `None`: they did not suffice.
pub(crate) fn within<T>(references: u64, question: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(references);
    let answer = question();
    let sufficed = LEFT.get() > 0;
    LEFT.set(u64::MAX);
    sufficed.then_some(answer)
}

/// Counts one reference; `false` when none is left.
pub(crate) fn follow() -> bool {
    let left = LEFT.get().saturating_sub(1);
    LEFT.set(left);
    left > 0
}
