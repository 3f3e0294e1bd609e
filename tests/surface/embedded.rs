//! A form within another document (A-02, A-10, A-11, A-32, A-33, A-34).

use super::schema::{admits, all, bare, has_member, resolved};
use crate::support::cases;
use formgate::form::{CompiledForm, Embedding, FormFault, FormOptions, Numbers, Root};
use formgate::json::Document;
use formgate::lint::{Level, Lint, LintLevels};
use serde_json::{Value, json};
use std::path::Path;

const USUAL: Embedding = Embedding { description: 300, text: 800_000 };

fn compile(text: &str, annotations: &[&str]) -> CompiledForm {
    let mut lints = LintLevels::default();
    for lint in Lint::ALL {
        lints.set(*lint, Level::Allow);
    }
    let options = FormOptions {
        lints,
        annotations: annotations.iter().map(|name| (*name).to_owned()).collect(),
        unroll: None,
        numbers: Numbers::Exact,
        max_body: 64 << 10,
    };
    CompiledForm::compile(text, &options).unwrap_or_else(|faults| panic!("{text}: {faults:#?}"))
}

fn embed(form: &Value) -> Value {
    let embedded = compile(&form.to_string(), &[]).embedded(USUAL).unwrap();
    serde_json::from_str(&embedded.text).unwrap()
}

fn refusal(form: &Value) -> FormFault {
    compile(&form.to_string(), &[]).embedded(USUAL).unwrap_err()
}

/// Every form of `tests/cases/forms` and of `config/forms`, with its name.
fn shipped() -> Vec<(String, Value)> {
    let read = |bytes: Vec<u8>| serde_json::from_slice(&bytes).unwrap();
    let mut forms: Vec<_> =
        cases::forms().into_iter().map(|name| (name.clone(), read(cases::form(&name)))).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/forms");
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        forms.push((
            format!("config/{}", entry.file_name().display()),
            read(std::fs::read(entry.path()).unwrap()),
        ));
    }
    assert!(forms.len() >= 17);
    forms
}

#[test]
fn but_for_descriptions_it_is_the_form() {
    for (name, form) in shipped() {
        let embedded = embed(&form);
        assert_eq!(bare(&embedded), bare(&resolved(&form, &form)), "{name}");
        // Not only equal: in the same order, which is the order in which members are filled in.
        assert_eq!(bare(&embedded).to_string(), bare(&resolved(&form, &form)).to_string(), "{name}");
        assert!(!has_member(&embedded, "$ref") && !has_member(&embedded, "$defs"), "{name}");
        for schema in all(&embedded) {
            assert_eq!(schema["type"] == "object", schema.get("properties").is_some(), "{name}: {schema}");
        }
    }
}

#[test]
fn a_reader_that_has_only_the_embedded_schema_decides_the_same() {
    let mut bodies = 0;
    for name in cases::forms() {
        let embedded = embed(&serde_json::from_slice(&cases::form(&name)).unwrap());
        for (kind, fits) in [("accept", true), ("reject", false)] {
            for (file, body) in cases::bodies(&name, kind) {
                // What is not one strict value no schema decides about.
                if Document::new().parse(&body).is_err() {
                    assert!(!fits, "{name}/{file}");
                    continue;
                }
                let value = serde_json::from_slice(&body).unwrap();
                assert_eq!(admits(&embedded, &value), fits, "{name}/{kind}/{file}");
                bodies += 1;
            }
        }
    }
    assert!(bodies > 100, "{bodies}");
}

/// The shipped forms say more than those of the cases, and may take less: as much as their embedded schema does.
#[test]
fn a_reader_decides_about_shipped_forms_as_the_gateway_does() {
    let mut decided = [0, 0];
    for (name, form) in shipped() {
        let Some(case) = name.strip_prefix("config/").and_then(|file| file.strip_suffix(".json")) else {
            continue;
        };
        let (compiled, embedded) = (compile(&form.to_string(), &[]), embed(&form));
        for (file, body) in ["accept", "reject"].into_iter().flat_map(|kind| cases::bodies(case, kind)) {
            let mut document = Document::new();
            let Ok(value) = document.parse(&body) else { continue };
            let fits = compiled.admits(value);
            assert_eq!(admits(&embedded, &serde_json::from_slice(&body).unwrap()), fits, "{name}: {file}");
            decided[usize::from(fits)] += 1;
        }
    }
    assert!(decided.iter().all(|count| *count > 30), "{decided:?}");
}

#[test]
fn only_text_that_describes_is_cut() {
    let long = "Words of many letters, and more. ".repeat(200);
    let data = json!({ "description": long });
    let form = json!({
        "type": "object",
        "description": long,
        "properties": {
            "description": { "type": "string", "description": long },
            "title": { "title": long, "$comment": long },
            "const": { "const": data },
            "enum": { "enum": [data] },
            "default": { "default": data },
            "examples": { "examples": [data] },
        },
        "additionalProperties": { "description": long },
    });
    let embedded = embed(&form);
    let properties = &embedded["properties"];
    for pointer in ["/const/const", "/enum/enum/0", "/default/default", "/examples/examples/0"] {
        assert_eq!(properties.pointer(pointer).unwrap(), &data, "{pointer}");
    }
    assert_eq!(properties["title"], form["properties"]["title"]);
    for cut in ["/description", "/properties/description/description", "/additionalProperties/description"] {
        let cut = embedded.pointer(cut).unwrap();
        let cut = cut.as_str().unwrap();
        assert!(cut.chars().count() <= 300 && cut.ends_with(". ..."), "{cut}");
        assert!(long.starts_with(cut.trim_end_matches(" ...")), "{cut}");
    }
}

/// 300 is counted in Unicode scalars.
#[test]
fn what_fits_is_left_as_it_is() {
    for (letters, is_cut) in [(299, false), (300, false), (301, true)] {
        let text = "ö𝄞".repeat(200).chars().take(letters).collect::<String>();
        let embedded = embed(&json!({ "type": "object", "properties": { "a": { "description": text } } }));
        let left = embedded["properties"]["a"]["description"].as_str().unwrap();
        assert_eq!(left != text, is_cut, "{letters}");
        assert!(left.chars().count() <= 300);
    }
}

#[test]
fn every_object_says_its_properties() {
    let embedded = embed(&json!({
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": { "type": ["null", "object"], "additionalProperties": { "type": "object" } },
            "b": { "const": { "type": "object" } },
            "type": { "enum": [{ "type": "object" }] },
        },
        "additionalProperties": false,
    }));
    let expected = json!({
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {
                "type": ["null", "object"],
                "properties": {},
                "additionalProperties": { "type": "object", "properties": {} }
            },
            "b": { "const": { "type": "object" } },
            "type": { "enum": [{ "type": "object" }] },
        },
        "additionalProperties": false,
    });
    assert_eq!(embedded.to_string(), expected.to_string());
}

#[test]
fn references_are_written_out() {
    let cases = [
        // A pointer, an anchor, an identifier, a dynamic anchor; each used twice.
        (
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "object", "properties": { "b": { "$ref": "#c" } } },
                    "c": { "$anchor": "c", "type": "null" } } }),
            json!({ "type": "object", "properties": { "b": { "type": "null" } } }),
        ),
        (
            json!({ "$id": "https://a.example/f", "type": "object", "properties": { "x": { "$ref": "g" }, "y": { "$ref": "#/properties/x" } },
                    "$defs": { "g": { "$id": "g", "type": "array", "items": { "$ref": "#/$defs/h" }, "$defs": { "h": { "type": "null" } } } } }),
            json!({ "type": "object", "properties": { "x": { "type": "array", "items": { "type": "null" } }, "y": { "type": "array", "items": { "type": "null" } } } }),
        ),
        (
            json!({ "type": "object", "properties": { "x": { "$dynamicRef": "#n" } }, "$defs": { "n": { "$dynamicAnchor": "n", "type": "null" } } }),
            json!({ "type": "object", "properties": { "x": { "type": "null" } } }),
        ),
        // What describes one use says more than what describes all.
        (
            json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/a", "description": "here", "default": 7 } },
                    "$defs": { "a": { "description": "anywhere", "type": "integer", "title": "A" } } }),
            json!({ "type": "object", "properties": { "x": { "type": "integer", "title": "A", "description": "here", "default": 7 } } }),
        ),
        // Both hold.
        (
            json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/a", "maxLength": 5 } }, "$defs": { "a": { "type": "string", "maxLength": 9 } } }),
            json!({ "type": "object", "properties": { "x": { "maxLength": 5, "allOf": [{ "type": "string", "maxLength": 9 }] } } }),
        ),
        (
            json!({ "type": "object", "properties": { "x": { "allOf": [{ "minLength": 2 }], "$ref": "#/$defs/a", "type": "string" } }, "$defs": { "a": { "maxLength": 9 } } }),
            json!({ "type": "object", "properties": { "x": { "allOf": [{ "minLength": 2 }, { "maxLength": 9 }], "type": "string" } } }),
        ),
        // Booleans are schemas, and stay what they are.
        (
            json!({ "type": "object", "properties": { "x": true, "y": false, "z": { "$ref": "#/$defs/never" }, "w": { "$ref": "#/$defs/never", "title": "W" } },
                    "$defs": { "never": false } }),
            json!({ "type": "object", "properties": { "x": true, "y": false, "z": { "allOf": [false] }, "w": { "title": "W", "allOf": [false] } } }),
        ),
        // A member may have any name.
        (
            json!({ "type": "object", "properties": { "$ref": { "type": "null" }, "properties": { "type": "string" }, "allOf": { "$ref": "#/properties/$ref" } } }),
            json!({ "type": "object", "properties": { "$ref": { "type": "null" }, "properties": { "type": "string" }, "allOf": { "type": "null" } } }),
        ),
    ];
    for (form, expected) in cases {
        assert_eq!(embed(&form).to_string(), expected.to_string(), "{form}");
    }
}

#[test]
fn older_drafts_are_carried_unchanged_or_not_at_all() {
    let schema = |draft: &str| format!("http://json-schema.org/{draft}/schema#");
    for (draft, form) in [
        (
            "draft-07",
            json!({ "type": "object", "properties": { "a": { "$ref": "#/definitions/a" } }, "definitions": { "a": { "if": true, "then": { "type": "null" } } } }),
        ),
        (
            "draft-06",
            json!({ "type": "object", "properties": { "a": { "items": { "type": "integer", "exclusiveMinimum": 3 } } } }),
        ),
        (
            "draft-04",
            json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "number", "minimum": 3 } } }),
        ),
    ] {
        let mut named = json!({ "$schema": schema(draft) });
        named.as_object_mut().unwrap().extend(form.as_object().unwrap().clone());
        let embedded = embed(&named);
        assert!(!has_member(&embedded, "$schema") && !has_member(&embedded, "definitions"), "{embedded}");
        assert_eq!(embedded["type"], "object");
    }
    for (draft, form, keyword) in [
        ("draft-04", json!({ "properties": { "a": { "type": "integer" } } }), "/properties/a/type"),
        ("draft-04", json!({ "minimum": 3, "exclusiveMinimum": true }), "/exclusiveMinimum"),
        ("draft-06", json!({ "items": [{ "type": "null" }] }), "/items"),
        ("draft-06", json!({ "items": [true], "additionalItems": false }), "/items"),
        ("draft-07", json!({ "dependencies": { "a": ["b"] } }), "/dependencies"),
        ("draft-07", json!({ "type": "string", "contentEncoding": "base64" }), "/contentEncoding"),
    ] {
        let mut named = json!({ "$schema": schema(draft) });
        named.as_object_mut().unwrap().extend(form.as_object().unwrap().clone());
        let fault = refusal(&named);
        assert_eq!(fault.pointer, keyword, "{fault:?}");
        assert!(fault.reason.contains("2020-12") && fault.suggestion.is_some(), "{fault:?}");
    }
    let named = json!({ "$schema": "https://json-schema.org/draft/2019-09/schema", "contains": true, "unevaluatedItems": false });
    assert_eq!(refusal(&named).pointer, "/unevaluatedItems");
}

#[test]
fn what_cannot_be_written_out_is_refused() {
    let tree = json!({ "type": "object", "properties": { "children": { "type": "array", "items": { "$ref": "#" } } } });
    assert!(refusal(&tree).reason.contains("refers to itself"));
    assert!(refusal(&tree).suggestion.unwrap().contains("unroll"));
    // Kept, and never referred to: nothing of it is written.
    let unused = json!({ "type": "object", "$defs": { "a": { "items": { "$ref": "#/$defs/a" } } } });
    assert_eq!(embed(&unused), json!({ "type": "object", "properties": {} }));

    // Two references a level: twice as much each time.
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions
            .insert(format!("d{level}"), json!({ "type": "object", "properties": { "a": next, "b": next } }));
    }
    definitions.insert("d40".into(), json!({ "type": "null" }));
    let explodes = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    assert!(refusal(&explodes).reason.contains("larger than 800000 bytes"), "{:?}", refusal(&explodes));

    // One reference a level, and sixty levels.
    let mut definitions = serde_json::Map::new();
    for level in 0..60 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions.insert(format!("d{level}"), json!({ "type": "array", "items": next }));
    }
    definitions.insert("d60".into(), json!({ "type": "null" }));
    let options = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    assert!(refusal(&options).reason.contains("schemas deep"), "{:?}", refusal(&options));

    // Two schemas may be meant: the one around decides.
    let list = |kind: &str| json!({ "$id": format!("https://a.example/{kind}"), "$dynamicAnchor": "n", "type": kind });
    let dynamic = json!({
        "$id": "https://a.example/root",
        "type": "object",
        "properties": { "x": { "$ref": "object" } },
        "$defs": {
            "a": { "$id": "https://a.example/object", "type": "object", "properties": { "y": { "$dynamicRef": "#n" } },
                   "$defs": { "n": { "$dynamicAnchor": "n" } } },
            "b": list("array"),
        },
    });
    assert!(refusal(&dynamic).reason.contains("depends on how"), "{:?}", refusal(&dynamic));

    let data = json!({ "type": "object", "properties": { "a": { "const": { "$ref": "#/nowhere" } } } });
    assert_eq!(refusal(&data).pointer, "/properties/a/const");
    let taken = compile(r#"{"type":"object","discriminator":"a"}"#, &["discriminator", "x-y"]);
    assert_eq!(taken.embedded(USUAL).unwrap_err().pointer, "/discriminator");
    let own = compile(r#"{"type":"object","x-y":{"description":"d"}}"#, &["discriminator", "x-y"]);
    assert_eq!(
        own.embedded(USUAL).unwrap().text,
        r#"{"type":"object","properties":{},"x-y":{"description":"d"}}"#
    );
}

/// What a root admits, as far as it says so itself (A-36).
#[test]
fn the_root_says_what_it_is() {
    for (form, root) in [
        (json!({ "type": "object" }), Root::Object),
        (json!({ "type": ["object"] }), Root::Object),
        (json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "object" } } }), Root::Object),
        (json!({ "allOf": [{ "minProperties": 1 }, { "type": "object" }] }), Root::Object),
        (json!({ "enum": [{}, { "a": 1 }] }), Root::Object),
        (json!({ "anyOf": [{ "type": "object" }, { "const": {} }] }), Root::Alternatives),
        (json!({ "type": "object", "oneOf": [{ "required": ["a"] }] }), Root::Alternatives),
        (
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [{ "type": "object" }] } } }),
            Root::Alternatives,
        ),
        (json!({ "anyOf": [{ "type": "object" }, { "type": "null" }] }), Root::Other),
        (json!({ "type": ["object", "null"] }), Root::Other),
        (json!({ "type": "string" }), Root::Other),
        (json!({ "properties": {} }), Root::Other),
        (json!({}), Root::Other),
    ] {
        assert_eq!(compile(&form.to_string(), &[]).embedded(USUAL).unwrap().root, root, "{form}");
    }
}
