//! Schemas of draft 2020-12 as a reader of their own sees them: which parts of one are schemas, and what is left of
//! one when what may differ is taken away. Shares nothing with `src/form`.

use serde_json::{Map, Value};

const ONE: &[&str] = &[
    "not",
    "if",
    "then",
    "else",
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const MANY: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED: &[&str] = &["properties", "patternProperties", "dependentSchemas", "$defs"];

/// Rebuilds a schema, each schema in it first.
fn rebuilt(schema: &Value, change: &dyn Fn(Map<String, Value>) -> Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let members = members.iter().map(|(name, value)| {
        let word = name.as_str();
        let new = match value {
            Value::Array(all) if MANY.contains(&word) => all.iter().map(|s| rebuilt(s, change)).collect(),
            Value::Object(all) if NAMED.contains(&word) => {
                Value::Object(all.iter().map(|(name, s)| (name.clone(), rebuilt(s, change))).collect())
            }
            _ if ONE.contains(&word) => rebuilt(value, change),
            _ => value.clone(),
        };
        (name.clone(), new)
    });
    change(members.collect())
}

/// Every schema in a schema, itself included.
pub(crate) fn all(schema: &Value) -> Vec<Value> {
    let found = std::cell::RefCell::new(Vec::new());
    rebuilt(schema, &|members| {
        let schema = Value::Object(members);
        found.borrow_mut().push(schema.clone());
        schema
    });
    found.into_inner()
}

/// A schema without what may differ between a form and the same form embedded: descriptions, identifiers, what is
/// kept for references, and `properties` that name none.
pub(crate) fn bare(schema: &Value) -> Value {
    rebuilt(schema, &|mut members| {
        for name in ["description", "$schema", "$id", "$anchor", "$dynamicAnchor", "$defs"] {
            members.remove(name);
        }
        if members.get("properties").is_some_and(|all| all.as_object().unwrap().is_empty()) {
            members.remove("properties");
        }
        Value::Object(members)
    })
}

/// A form with what each `$ref` points to in its place. Pointers only, and only where `$ref` stands alone.
pub(crate) fn resolved(schema: &Value, root: &Value) -> Value {
    rebuilt(schema, &|members| match members.get("$ref") {
        None => Value::Object(members),
        Some(reference) => {
            assert_eq!(members.len(), 1, "beside `$ref`: {members:?}");
            let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
            resolved(root.pointer(pointer).unwrap(), root)
        }
    })
}

/// Whether a member of this name is anywhere in a value, data included.
pub(crate) fn has_member(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(members) => members.contains_key(name) || members.values().any(|v| has_member(v, name)),
        Value::Array(elements) => elements.iter().any(|v| has_member(v, name)),
        _ => false,
    }
}

/// The validator crate itself, as strict about formats and as linear about patterns as the gateway: the verdict of a
/// reader that has nothing but the schema.
pub(crate) fn admits(schema: &Value, body: &Value) -> bool {
    let validator = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(schema)
        .unwrap();
    validator.is_valid(body)
}
