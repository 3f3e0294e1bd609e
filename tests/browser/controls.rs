//! Every kind of schema has a control that shows a value and gives it back unchanged.

use super::driver::{Scripts, browse};
use crate::support::{Backend, Setup};
use serde_json::{Value, json};

fn form() -> Value {
    json!({
        "type": "object", "description": "d", "additionalProperties": false,
        "properties": {
            "tree": { "$ref": "#/$defs/node" },
            "pair": {
                "type": "array", "minItems": 2, "maxItems": 2, "items": false,
                "prefixItems": [{ "type": "string", "maxLength": 3 }, { "type": ["integer", "null"] }],
            },
            "free": { "type": "object", "additionalProperties": { "type": "integer" } },
            "any": {},
            "never": false,
            "big": { "const": 5 },
            "mixed": { "type": ["string", "number", "boolean", "null"], "maxLength": 5 },
            "both": { "allOf": [
                { "type": "object", "properties": { "a": { "type": "string", "maxLength": 3 } }, "required": ["a"] },
                { "properties": { "b": { "type": "integer" } } },
            ] },
            "contact": {
                "type": "object", "additionalProperties": false,
                "properties": {
                    "mail": { "type": "string", "maxLength": 40 }, "phone": { "type": "string", "maxLength": 20 },
                },
                "anyOf": [{ "required": ["mail"] }, { "required": ["phone"] }],
            },
            "when": { "type": "string", "format": "date-time", "maxLength": 40 },
            "named": { "$ref": "#anchored" },
            "some": { "type": "array", "uniqueItems": true, "maxItems": 3, "items": { "enum": ["x", 1, null] } },
        },
        "$defs": {
            "node": {
                "type": "object", "additionalProperties": false, "required": ["v"],
                "properties": {
                    "v": { "type": "string", "maxLength": 9 },
                    "kids": { "type": "array", "maxItems": 3, "items": { "$ref": "#/$defs/node" } },
                    "next": { "$ref": "#/$defs/node" },
                },
            },
            "text": { "$anchor": "anchored", "type": "string", "maxLength": 3 },
        },
    })
}

#[test]
fn values_go_through_the_fields_unchanged() {
    let backend = Backend::agreeing();
    let lints = ["largest-body", "open-object", "missing-type", "unbounded-recursion", "embedded-id"];
    let lints: serde_json::Map<_, _> = lints.iter().map(|lint| ((*lint).into(), json!("allow"))).collect();
    let gate = Setup::bare(&backend).inline_route("all", &form()).with("routes/0/lints", lints).start();
    let node = |depth: usize| {
        (0..depth).fold(
            json!({ "v": "leaf" }),
            |inner, _| json!({ "v": "n", "kids": [inner], "next": { "v": "" } }),
        )
    };
    let values = [
        json!({}),
        json!({ "tree": node(3), "pair": ["x", null], "free": { "q": 1, "__proto__": 2 }, "any": [1, { "z": null }] }),
        json!({ "big": 5, "mixed": true, "both": { "a": "x", "b": 2, "c": [3] }, "contact": { "phone": "1" } }),
        json!({ "mixed": "", "pair": ["", 7], "when": "2026-01-01T00:00:00Z", "named": "abc", "some": [null, "x"] }),
        json!({ "mixed": 1.5, "any": "text", "some": [1], "tree": { "v": "one\ntwo" } }),
        // What no field can show is shown as JSON in its place.
        json!({ "pair": { "not": "an array" }, "contact": [1], "mixed": [], "some": ["y"], "big": 6, "when": "" }),
    ];
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}/all", gate.addr));
        browser.css("#send");
        for value in values {
            // Typed as JSON; then a field changes, and the JSON is written anew from all of them.
            let script = "const editor = document.getElementById('editor');
                editor.value = arguments[0];
                editor.dispatchEvent(new Event('input'));
                editor.value = '';
                document.getElementById('fields').dispatchEvent(new Event('input'));
                return editor.value";
            let written = browser.look(script, &json!([value.to_string()]));
            assert_eq!(serde_json::from_str::<Value>(written.as_str().unwrap()).unwrap(), value);
        }
        assert_eq!(
            browser.look("return document.querySelector('[data-at=\"/never\"]')", &json!([])),
            Value::Null
        );
        assert_eq!(browser.complaints(), [""; 0]);
    });
}
