//! `not`, and `if` with its branches: taken over as they stand, because what is narrowed within them is widened around them.

use super::gather::{Gathering, Refusal};
use super::source::Place;
use super::whole::Whole;
use super::written::Written;
use crate::form::Node;

/// Keywords that a `not` or `if` may have within it to be taken over as it stands: nothing there is translated.
const VERBATIM: &[&str] = &[
    "type",
    "enum",
    "const",
    "required",
    "properties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "if",
    "then",
    "else",
];

impl<'d> Gathering<'d, '_> {
    /// Takes over what would not mean the same if anything in it were changed.
    pub(super) fn verbatim(
        &mut self,
        place: &Place<'d>,
        name: &str,
        value: &Place<'d>,
        whole: &mut Whole<'d>,
    ) -> Result<(), Refusal> {
        let keywords: &[&str] = if name == "not" { &["not"] } else { &["if", "then", "else"] };
        let mut group = Vec::new();
        for keyword in keywords {
            let Some(part) = place.member(keyword) else { continue };
            if !is_verbatim(part.node) {
                let reason = format!("`{name}` with keywords in it that would have to be translated");
                return Err(Refusal::other(&value.at, reason));
            }
            self.enter_all(&part);
            group.push(((*keyword).to_owned(), without_words(part.node)));
        }
        whole.verbatim.push(group);
        Ok(())
    }

    /// Enters every keyword of what is taken over as it stands.
    fn enter_all(&mut self, place: &Place<'d>) {
        self.ledger.carried(place.at.to_string());
        for (name, value) in place.members() {
            self.ledger.carried(value.at.to_string());
            match name {
                "properties" => value.members().for_each(|(_, schema)| self.enter_all(&schema)),
                "not" | "if" | "then" | "else" => self.enter_all(&value),
                "anyOf" | "oneOf" | "allOf" => value.elements().for_each(|schema| self.enter_all(&schema)),
                _ => {}
            }
        }
    }
}

fn is_verbatim(node: &Node) -> bool {
    node.as_bool().is_some()
        || node.is_object()
            && node.members().iter().all(|(name, value)| match name.as_str() {
                "description" | "title" => true,
                "properties" => value.members().iter().all(|(_, schema)| is_verbatim(schema)),
                "anyOf" | "oneOf" | "allOf" => value.elements().iter().all(is_verbatim),
                "not" | "if" | "then" | "else" => is_verbatim(value),
                name => VERBATIM.contains(&name),
            })
}

fn without_words(node: &Node) -> Written {
    // Only the outermost: what is deeper says nothing that a reader would miss.
    match Written::of(node) {
        Written::Object(members) => Written::Object(
            members
                .into_iter()
                .filter(|(name, _)| !matches!(name.as_str(), "description" | "title"))
                .collect(),
        ),
        other => other,
    }
}
