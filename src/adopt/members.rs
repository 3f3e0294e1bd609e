//! Parameters of a path as members of the form: the gateway puts them into the path, if the form proves them safe.

use super::choose::Operation;
use super::gather::Refusal;
use super::source::Place;
use super::translate::Translation;
use super::written::Written;
use crate::form::CompiledForm;

/// What a text in a path is held to where the source does not say.
const WORD: &str = "^[A-Za-z0-9_-]{1,64}$";

impl<'d> Translation<'d, '_> {
    /// The members that stand for the parameters of a path: each name, its schema, and whether its pattern is a guess.
    pub(super) fn members(
        &mut self,
        places: &[(String, Place<'d>)],
    ) -> Result<Vec<(String, Written, bool)>, Refusal> {
        let mut members = Vec::new();
        for (name, place) in places {
            let (schema, guessed) = held(self.parameter(place)?);
            members.push((name.clone(), schema, guessed));
        }
        Ok(members)
    }
}

/// A text that could be anything is held to a word.
fn held(schema: Written) -> (Written, bool) {
    let is_text = schema.get("type").and_then(Written::as_text) == Some("string");
    if !is_text || schema.get("pattern").is_some() || schema.get("format").is_some() {
        return (schema, false);
    }
    let Written::Object(members) = schema else { return (schema, false) };
    let bound = |value: &Written| matches!(value, Written::Number { guessed: true, .. });
    let mut members: Vec<_> = members.into_iter().filter(|(_, value)| !bound(value)).collect();
    members.push(("pattern".to_owned(), Written::text(WORD)));
    (Written::Object(members), true)
}

/// The form with these members before its own, in each of its alternatives.
pub(super) fn with_members(form: Written, members: &[(String, Written, bool)]) -> Result<Written, String> {
    let Written::Object(parts) = form else { return Err("its body is no object".to_owned()) };
    if let Some(place) = parts.iter().position(|(name, _)| name == "anyOf") {
        let mut parts = parts;
        if let Written::Array(alternatives) = &mut parts[place].1 {
            for alternative in alternatives.iter_mut() {
                *alternative = with_members(alternative.clone(), members)?;
            }
        }
        return Ok(Written::Object(parts));
    }
    let mut out = Vec::new();
    let mut required: Vec<Written> = members.iter().map(|(name, ..)| Written::text(name)).collect();
    if let Some((_, Written::Array(own))) = parts.iter().find(|(name, _)| name == "required") {
        required.extend(own.iter().cloned());
    }
    let mut found = false;
    for (name, value) in parts {
        match (name.as_str(), value) {
            ("properties", Written::Object(own)) => {
                if let Some((name, _)) =
                    own.iter().find(|(name, _)| members.iter().any(|(other, ..)| other == name))
                {
                    return Err(format!("its body has a member `{name}`, as its path has"));
                }
                let first = members.iter().map(|(name, schema, _)| (name.clone(), schema.clone()));
                out.push((name, Written::Object(first.chain(own).collect())));
                out.push(("required".to_owned(), Written::Array(required.clone())));
                found = true;
            }
            ("required", _) => {}
            ("maxProperties", Written::Number { text, guessed }) => {
                let most = text.parse::<u64>().unwrap_or(0).saturating_add(members.len() as u64);
                out.push((name, Written::Number { text: most.to_string(), guessed }));
            }
            (_, value) => out.push((name, value)),
        }
    }
    if found { Ok(Written::Object(out)) } else { Err("its body is no object with members".to_owned()) }
}

/// The form of a body that has nothing else.
pub(super) fn nothing_else() -> Written {
    Written::Object(vec![
        ("type".to_owned(), Written::text("object")),
        ("properties".to_owned(), Written::Object(Vec::new())),
        ("additionalProperties".to_owned(), Written::Boolean(false)),
    ])
}

/// The path at the upstream: `/orders/{/id}` for `/orders/{id}`.
pub(super) fn target(operation: &Operation<'_>) -> String {
    operation.members.iter().fold(operation.named.path.clone(), |path, (name, _)| {
        path.replace(&format!("{{{name}}}"), &format!("{{{}}}", pointer(name)))
    })
}

/// What the form does not prove about the members of the path, if anything.
pub(super) fn unproven(operation: &Operation<'_>, form: &CompiledForm) -> Option<String> {
    operation
        .members
        .iter()
        .find_map(|(name, _)| form.safe_member(&pointer(name)).err())
        .map(|gap| gap.reason)
}

fn pointer(name: &str) -> String {
    crate::form::below("", name)
}
