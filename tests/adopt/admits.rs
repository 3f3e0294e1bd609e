//! A form admits nothing that its source does not: values drawn from forms are held against the source as it stands.

use super::{Made, admits, case};
use serde_json::{Value, json};

/// A value that is meant to fit a form.
fn value(form: &Value, chance: &mut fastrand::Rng) -> Value {
    if let Some(value) = form.get("const") {
        return value.clone();
    }
    for keyword in ["enum", "anyOf", "oneOf"] {
        if let Some(list) = form.get(keyword).and_then(Value::as_array) {
            let picked = &list[chance.usize(..list.len())];
            return if keyword == "enum" { picked.clone() } else { value(picked, chance) };
        }
    }
    let kinds: Vec<&str> = match &form["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let number = |name: &str, otherwise: i64| form.get(name).and_then(Value::as_i64).unwrap_or(otherwise);
    match kinds.get(chance.usize(..kinds.len().max(1))).copied().unwrap_or("null") {
        "string" => {
            let texts = ["", "a", "AB-1234", "123456789012", "ada@example.com", "2026-11-30", "hello", "ä"];
            let text = texts[chance.usize(..texts.len())];
            json!(text)
        }
        "integer" | "number" => {
            let (low, high) = (number("minimum", -3), number("maximum", 30));
            json!([low, high, 0, 1, 2, 15][chance.usize(..6)])
        }
        "boolean" => json!(chance.bool()),
        "array" => {
            let prefix = form.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
            let items = form.get("items").filter(|items| items.is_object());
            let mut all: Vec<Value> = prefix.iter().map(|schema| value(schema, chance)).collect();
            all.extend((0..chance.usize(..3)).filter_map(|_| items.map(|schema| value(schema, chance))));
            Value::Array(all)
        }
        "object" => {
            let mut out = serde_json::Map::new();
            let few = chance.u8(1..=10);
            for (name, schema) in form.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let required = form["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
                if required || chance.u8(0..10) < few {
                    out.insert(name.clone(), value(schema, chance));
                }
            }
            if let Some(schema) = form.get("additionalProperties").filter(|schema| schema.is_object()) {
                out.insert("key".to_owned(), value(schema, chance));
            }
            Value::Object(out)
        }
        _ => Value::Null,
    }
}

/// Holds what a form admits against a schema, and says how much that was.
#[track_caller]
fn hold(form: &Value, source: &Value, chance: &mut fastrand::Rng) -> usize {
    let own = jsonschema::options().should_validate_formats(true).build(form).unwrap();
    let theirs = jsonschema::options().should_validate_formats(true).build(source).unwrap();
    let mut held = 0;
    for _ in 0..400 {
        let value = value(form, chance);
        if own.is_valid(&value) {
            held += 1;
            let told = theirs.validate(&value).map_err(|fault| fault.to_string());
            assert!(told.is_ok(), "{value} fits the form and not the source: {told:?}\n{form:#}\n{source:#}");
        }
    }
    held
}

#[test]
fn what_a_form_admits_its_source_admits() {
    let mut chance = fastrand::Rng::with_seed(7);
    let text = std::fs::read_to_string(case("tickets.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut source =
        document["paths"]["/tickets"]["post"]["requestBody"]["content"]["application/json"]["schema"].clone();
    // A request does not send it.
    source["required"] = json!(["title"]);
    let form = Made::of(&case("tickets.json"), &[]).form("open_ticket");
    assert!(hold(&form, &source, &mut chance) > 100, "{form:#}");
    assert!(admits(&form, &json!({"title": "Printer", "due": null, "weight": 1})));
}

/// A schema of OpenAPI 3.1, drawn by chance: objects, alternatives, parts of `allOf`, open and closed.
fn schema(chance: &mut fastrand::Rng, depth: usize) -> Value {
    let scalar = |chance: &mut fastrand::Rng| match chance.u8(..9) {
        0 => json!({"type": "string", "maxLength": 5}),
        1 => json!({"type": "string"}),
        2 => json!({"type": "integer", "minimum": 0}),
        3 => json!({"type": "number", "exclusiveMaximum": 10}),
        4 => json!({"enum": ["a", 1, null]}),
        5 => json!({"type": ["boolean", "null"]}),
        6 => json!({"const": "hello"}),
        7 => json!({"type": "integer", "multipleOf": 5}),
        _ => json!({"type": "string", "format": "date"}),
    };
    if depth == 0 {
        return scalar(chance);
    }
    match chance.u8(..8) {
        0 | 1 => scalar(chance),
        2 => json!({"type": "array", "items": schema(chance, depth - 1)}),
        3 => json!({"oneOf": [schema(chance, depth - 1), schema(chance, depth - 1)]}),
        4 => json!({"anyOf": [schema(chance, depth - 1), schema(chance, depth - 1)]}),
        5 => json!({"allOf": [object(chance, depth), object(chance, depth)]}),
        _ => object(chance, depth),
    }
}

fn object(chance: &mut fastrand::Rng, depth: usize) -> Value {
    let names = ["a", "b", "c", "d"];
    let mut properties = serde_json::Map::new();
    for name in names {
        if chance.bool() {
            properties.insert(name.to_owned(), schema(chance, depth - 1));
        }
    }
    let required: Vec<&str> = names.into_iter().filter(|_| chance.u8(..4) == 0).collect();
    let mut out = json!({"type": "object", "properties": properties, "required": required});
    match chance.u8(..5) {
        0 => out["additionalProperties"] = json!(false),
        1 => out["additionalProperties"] = schema(chance, 0),
        2 => out["oneOf"] = json!([{"required": ["a"]}, {"required": ["b"]}]),
        _ => {}
    }
    out
}

#[test]
fn so_it_is_with_schemas_drawn_by_chance() {
    let mut chance = fastrand::Rng::with_seed(11);
    let (mut carried, mut held) = (0, 0);
    for _ in 0..400 {
        let source = object(&mut chance, 3);
        let text = super::document("3.1.0", &source).to_string();
        let wanted = formgate::adopt::Wanted::default();
        let adoption = formgate::adopt::from_openapi(&text, "drawn.json", &wanted, &mut |_, _| {}).unwrap();
        let Some((_, form)) = adoption.files.get(1) else { continue };
        carried += 1;
        held += hold(&serde_json::from_str(form).unwrap(), &source, &mut chance.fork()).min(1);
    }
    assert!(carried > 60 && held > 40, "{carried} carried, {held} held");
}
