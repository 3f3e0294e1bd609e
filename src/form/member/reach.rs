//! Whether a body may have a scalar at a place: what a key of the config that names a member must at least be able to find.

use super::{has_inner_identifier, target, types};
use crate::form::CompiledForm;
use crate::form::source::Node;
use crate::json::pointer::{self, below};
use std::borrow::Cow;

/// Schemas looked at for one question; behind that many everything may be.
const FUEL: u32 = 20_000;
/// Steps into the form on the way to what it names, and places that are named.
const DEEPEST: u32 = 4;
const MOST: usize = 64;

impl CompiledForm {
    /// Whether a value that this form admits may have a string, a number or a boolean at a JSON Pointer (RFC 6901)
    /// through members. Only a sure no is a no.
    pub fn may_hold_scalar(&self, pointer: &str) -> bool {
        let names: Vec<String> = pointer::tokens(pointer).map(Cow::into_owned).collect();
        // What is published was read before.
        Node::parse(self.published()).map_or(true, |root| Reach::within(&root).holds(&root, &names))
    }

    /// Pointers to the members that the form names and that may be scalars, the outermost first; not all of a large one.
    pub fn scalar_members(&self) -> Vec<String> {
        let Ok(root) = Node::parse(self.published()) else { return Vec::new() };
        let mut found = Vec::new();
        Reach::within(&root).list(&root, "", DEEPEST, &mut found);
        found.sort_by_key(|pointer| pointer.matches('/').count());
        found
    }
}

struct Reach<'n> {
    root: &'n Node,
    /// As in `Proof`.
    follows: bool,
    fuel: u32,
}

impl<'n> Reach<'n> {
    fn within(root: &'n Node) -> Self {
        Self { root, follows: !has_inner_identifier(root, true), fuel: FUEL }
    }

    /// All that a schema says must leave it possible.
    fn holds(&mut self, schema: &'n Node, names: &[String]) -> bool {
        let Some(left) = self.fuel.checked_sub(1) else { return true };
        self.fuel = left;
        if let Some(verdict) = schema.as_bool() {
            return verdict;
        }
        let listed = schema.get("enum").map(Node::elements).unwrap_or_default();
        let said: Vec<&Node> = schema.get("const").into_iter().chain(listed).collect();
        if !said.is_empty() && !said.iter().any(|value| has_scalar(value, names)) {
            return false;
        }
        let own = match names.split_first() {
            None => of_kind(schema, &["string", "number", "integer", "boolean"]),
            Some((name, rest)) => of_kind(schema, &["object"]) && self.member_holds(schema, name, rest),
        };
        own && self.referred(schema).is_none_or(|target| self.holds(target, names))
            && parts(schema, "allOf").iter().all(|part| self.holds(part, names))
            && ["anyOf", "oneOf"].into_iter().all(|keyword| {
                let choices = parts(schema, keyword);
                choices.is_empty() || choices.iter().any(|choice| self.holds(choice, names))
            })
    }

    fn member_holds(&mut self, schema: &'n Node, name: &str, rest: &[String]) -> bool {
        if let Some(member) = schema.get("properties").and_then(|named| named.get(name)) {
            return self.holds(member, rest);
        }
        // Which names a pattern takes is not asked.
        if schema.get("patternProperties").is_some() {
            return true;
        }
        if let Some(others) = schema.get("additionalProperties") {
            return self.holds(others, rest);
        }
        let closed = schema.get("unevaluatedProperties").and_then(Node::as_bool) == Some(false);
        !closed || self.takes(schema, name)
    }

    /// Whether something in place within a closed schema may say something of a member.
    fn takes(&mut self, schema: &'n Node, name: &str) -> bool {
        let Some(left) = self.fuel.checked_sub(1) else { return true };
        self.fuel = left;
        schema.get("properties").is_some_and(|named| named.get(name).is_some())
            || [
                "patternProperties",
                "additionalProperties",
                "dependentSchemas",
                "$dynamicRef",
                "$recursiveRef",
            ]
            .into_iter()
            .any(|keyword| schema.get(keyword).is_some())
            || self.referred(schema).is_some_and(|target| self.takes(target, name))
            || ["allOf", "anyOf", "oneOf"]
                .into_iter()
                .any(|keyword| parts(schema, keyword).iter().any(|part| self.takes(part, name)))
            || ["if", "then", "else"]
                .into_iter()
                .filter_map(|keyword| schema.get(keyword))
                .any(|part| self.takes(part, name))
    }

    fn referred(&self, schema: &'n Node) -> Option<&'n Node> {
        let reference = schema.get("$ref").and_then(Node::as_text)?;
        target(self.root, reference).filter(|_| self.follows)
    }

    fn list(&mut self, schema: &'n Node, at: &str, left: u32, found: &mut Vec<String>) {
        let (Some(left), Some(fuel)) = (left.checked_sub(1), self.fuel.checked_sub(1)) else { return };
        self.fuel = fuel;
        let named = schema.get("properties").map(Node::members).unwrap_or_default();
        for (name, member) in named {
            let pointer = below(at, name);
            if found.len() >= MOST {
                return;
            }
            if self.holds(member, &[]) && !found.contains(&pointer) {
                found.push(pointer.clone());
            }
            self.list(member, &pointer, left, found);
        }
        let within = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| parts(schema, keyword));
        for part in within.chain(self.referred(schema)) {
            self.list(part, at, left, found);
        }
    }
}

fn parts<'n>(schema: &'n Node, keyword: &str) -> &'n [Node] {
    schema.get(keyword).map(Node::elements).unwrap_or_default()
}

/// Whether `type` leaves one of these.
fn of_kind(schema: &Node, kinds: &[&str]) -> bool {
    let types = types(schema);
    types.is_empty() || types.iter().any(|name| kinds.contains(name))
}

fn has_scalar(value: &Node, names: &[String]) -> bool {
    use crate::form::source::Tree;
    let found = names.iter().try_fold(value, |value, name| value.get(name));
    found.is_some_and(|found| matches!(found.tree, Tree::Boolean(_) | Tree::Number(_) | Tree::Text(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(form: &str, pointer: &str) -> bool {
        let root = Node::parse(form).unwrap();
        let names: Vec<String> = pointer::tokens(pointer).map(Cow::into_owned).collect();
        Reach::within(&root).holds(&root, &names)
    }

    #[test]
    fn only_a_sure_no_is_a_no() {
        let closed = r#"{"type":"object","properties":{"a":{"type":"string"},"o":{"type":"object","properties":
            {"b/c":{"type":["null","integer"]},"l":{"type":"array"},"n":{"const":null},"e":{"enum":[null,true]}},
            "additionalProperties":false}},"additionalProperties":false}"#;
        for (pointer, expected) in [
            ("/a", true),
            ("/b", false),
            ("/a/b", false),
            ("/o", false),
            ("/o/b~1c", true),
            ("/o/l", false),
            ("/o/n", false),
            ("/o/e", true),
            ("/o/x", false),
        ] {
            assert_eq!(holds(closed, pointer), expected, "{pointer}");
        }
        for (form, expected) in [
            (r#"{"type":"object"}"#, true),
            (r#"{"type":"string"}"#, false),
            ("{}", true),
            (r#"{"additionalProperties":{"type":"array"}}"#, false),
            (r#"{"patternProperties":{"^b":true},"additionalProperties":false}"#, true),
            (
                r##"{"$ref":"#/$defs/o","$defs":{"o":{"properties":{"a":true},"additionalProperties":false}}}"##,
                true,
            ),
            (
                r##"{"$ref":"#/$defs/o","$defs":{"o":{"properties":{"b":true},"additionalProperties":false}}}"##,
                false,
            ),
            (r#"{"allOf":[{"properties":{"b":true}}],"unevaluatedProperties":false}"#, false),
            (r#"{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}"#, true),
            (r#"{"anyOf":[{"type":"string"},{"properties":{"a":{"type":"integer"}}}]}"#, true),
            (r#"{"oneOf":[{"type":"string"},{"properties":{"a":{"type":"array"}}}]}"#, false),
            (r#"{"enum":[{"a":{"b":1}},{"c":1}]}"#, false),
            (r#"{"enum":[{"a":{"b":1}},{"a":1}]}"#, true),
            (r#"{"$id":"x","$defs":{"o":{"$id":"y"}},"$ref":"y"}"#, true),
        ] {
            assert_eq!(holds(form, "/a"), expected, "{form}");
        }
        // References that meet again and again end in a yes.
        let mut defs: Vec<String> = (0..40)
            .map(|n| {
                format!(
                    r##""d{n}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##,
                    n + 1
                )
            })
            .collect();
        defs.push(r#""d40":{"type":"object"}"#.to_owned());
        assert!(holds(&format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{}}}}}"##, defs.join(",")), "/a"));
    }

    #[test]
    fn the_members_that_are_scalars() {
        let form = r##"{"properties":{"o":{"properties":{"in":{"type":"string"}}},"t":{"type":"string"},"l":{"type":"array"}},
            "allOf":[{"$ref":"#/$defs/d"}],"$defs":{"d":{"properties":{"n":{"type":"integer"},"t":{}}}}}"##;
        let root = Node::parse(form).unwrap();
        let mut found = Vec::new();
        Reach::within(&root).list(&root, "", DEEPEST, &mut found);
        assert_eq!(found, ["/o", "/o/in", "/t", "/n"]);
    }
}
