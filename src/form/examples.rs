//! Examples: what a form says of itself must be true.

use super::FormFault;
use super::dialect::Chart;
use super::enforced;
use super::source::{Node, below};
use crate::json::{Document, pointer};
use serde_json::Value as Serde;

/// Holds every `examples` of the form against the schema it stands in.
pub(crate) fn in_form(chart: &Chart<'_>, document: &Serde) -> Vec<FormFault> {
    let mut faults = Vec::new();
    let given = |node: &Node| node.get("examples").is_some_and(|examples| !examples.elements().is_empty());
    if !chart.places.iter().any(|place| given(place.node)) {
        return faults;
    }
    let Some(validators) = enforced::build_all(document) else {
        return faults;
    };
    for place in chart.places.iter().filter(|place| given(place.node)) {
        let Some(validator) = validators.get(&format!("#{}", place.pointer)) else {
            continue;
        };
        let examples = place.node.get("examples").map(Node::elements).unwrap_or_default();
        for (index, example) in examples.iter().enumerate() {
            let text = example.printed();
            let mut body = Document::new();
            let fits = body.parse(text.as_bytes()).is_ok_and(|value| validator.is_valid(value));
            if !fits {
                faults.push(FormFault {
                    pointer: below(&below(&place.pointer, "examples"), &index.to_string()),
                    at: example.at,
                    reason: "the example does not fit the schema it stands in".to_owned(),
                    suggestion: None,
                    lint: None,
                });
            }
        }
    }
    faults
}

/// The offset of the place a pointer names, or of the last place on the way to it.
pub(crate) fn place(root: &Node, pointer: &str) -> usize {
    let mut node = root;
    for token in pointer::tokens(pointer) {
        match node.child(&token) {
            Some(next) => node = next,
            None => break,
        }
    }
    node.at
}
