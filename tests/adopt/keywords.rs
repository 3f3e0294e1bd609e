//! One case a keyword: what is carried, translated and dropped, and where that is told.

use super::{Made, admits, document, formgate};
use serde_json::{Value, json};

const SCHEMA: &str = "/paths/~1act/post/requestBody/content/application~1json/schema";

/// The form of a member `m` with this schema, in a document of this version.
#[track_caller]
fn member(version: &str, schema: &Value) -> Value {
    let body = json!({ "type": "object", "properties": { "m": schema, "n": { "type": "boolean" } } });
    Made::of_schema(version, &body).form("act")["properties"]["m"].clone()
}

#[test]
fn words_of_openapi_3_0() {
    for (schema, form) in [
        (
            json!({"type": "string", "nullable": true, "maxLength": 5}),
            json!({"type": ["string", "null"], "maxLength": 5}),
        ),
        (
            json!({"type": "number", "minimum": 1, "exclusiveMinimum": true}),
            json!({"type": "number", "exclusiveMinimum": 1}),
        ),
        (
            json!({"type": "number", "maximum": 1, "exclusiveMaximum": false}),
            json!({"type": "number", "maximum": 1}),
        ),
        (
            json!({"type": "integer", "format": "int32"}),
            json!({"type": "integer", "minimum": -2_147_483_648_i64, "maximum": 2_147_483_647}),
        ),
        (json!({"type": "string", "enum": ["a", "b", "a"]}), json!({"enum": ["a", "b"]})),
        (json!({"type": "string", "format": "date"}), json!({"type": "string", "format": "date"})),
        (
            json!({"type": "string", "format": "byte", "maxLength": 8}),
            json!({"type": "string", "maxLength": 8}),
        ),
        (
            json!({"type": "string", "maxLength": 3, "default": "a", "x-y": 1}),
            json!({"type": "string", "maxLength": 3, "default": "a"}),
        ),
        (json!({"type": "string", "maxLength": 3, "default": 7}), json!({"type": "string", "maxLength": 3})),
        (
            json!({"type": "string", "pattern": "^[a-z]{3}$"}),
            json!({"type": "string", "pattern": "^[a-z]{3}$"}),
        ),
        (
            json!({"$ref": "#/components/schemas/Named"}),
            json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}, "required": ["name"], "additionalProperties": false}),
        ),
    ] {
        assert_eq!(member("3.0.3", &schema), form, "{schema}");
    }
}

#[test]
fn words_of_openapi_3_1() {
    for (schema, form) in [
        (
            json!({"type": ["integer", "null"], "minimum": 1, "maximum": 5}),
            json!({"type": ["integer", "null"], "minimum": 1, "maximum": 5}),
        ),
        (
            json!({"anyOf": [{"type": "string", "maxLength": 4}, {"type": "null"}]}),
            json!({"type": ["string", "null"], "maxLength": 4}),
        ),
        (json!({"const": 7}), json!({"const": 7})),
        (
            json!({"oneOf": [{"type": "boolean"}, {"type": "string", "maxLength": 2}]}),
            json!({"anyOf": [{"type": "boolean"}, {"type": "string", "maxLength": 2}]}),
        ),
    ] {
        assert_eq!(member("3.1.0", &schema), form, "{schema}");
    }
}

#[test]
fn what_is_not_bounded_is_bounded_and_told() {
    let schema = json!({"type": "object", "properties": {
        "text": {"type": "string"}, "list": {"type": "array", "items": {"type": "integer"}}, "map": {"type": "object", "additionalProperties": {"type": "boolean"}}
    }});
    let made = Made::of_schema("3.0.3", &schema);
    let form = made.form("act");
    assert_eq!(form["properties"]["text"]["maxLength"], 1000);
    assert_eq!(form["properties"]["list"]["maxItems"], 100);
    assert_eq!(form["properties"]["map"]["maxProperties"], 50);
    assert_eq!(form["additionalProperties"], false);
    for line in [
        "bound guessed: maxLength 1000 at /text",
        "bound guessed: maxItems 100 at /list",
        "minimum -9007199254740991 at /list/*",
    ] {
        assert!(made.yaml().contains(line), "{line}\n{}", made.yaml());
    }
    assert_eq!(made.report["carried"][0]["guessed"].as_array().unwrap().len(), 6);
}

#[test]
fn one_of_is_carried_only_where_its_alternatives_are_told_apart() {
    let told = json!({"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "boolean"}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let form = Made::of_schema("3.0.3", &told).form("act");
    assert!(admits(&form, &json!({"a": true})) && admits(&form, &json!({"b": true})), "{form:#}");
    assert!(!admits(&form, &json!({"a": true, "b": true})) && !admits(&form, &json!({})), "{form:#}");
    // Both are open, and nothing tells whether `{}` is one or the other.
    let open = json!({"oneOf": [{"type": "object", "properties": {"a": {"type": "boolean"}}}, {"type": "object", "properties": {"b": {"type": "boolean"}}}]});
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("open.json");
    std::fs::write(&path, document("3.0.3", &open).to_string()).unwrap();
    let done = formgate([
        "init".as_ref(),
        "--openapi".as_ref(),
        path.as_os_str(),
        "--out".as_ref(),
        dir.path().as_os_str(),
    ]);
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stdout).contains("overlap"), "{done:?}");
}

#[test]
fn all_of_becomes_one_closed_object() {
    let schema = json!({"allOf": [
        {"$ref": "#/components/schemas/Named"},
        {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 0}, "name": {"type": "string", "minLength": 2}}},
        {"properties": {"n": {"maximum": 9}}}
    ]});
    let form = Made::of_schema("3.0.3", &schema).form("act");
    assert_eq!(form["properties"]["name"], json!({"type": "string", "minLength": 2, "maxLength": 9}));
    assert_eq!(form["properties"]["n"], json!({"type": "integer", "minimum": 0, "maximum": 9}));
    assert_eq!(form["required"], json!(["name", "n"]));
    assert_eq!(form["additionalProperties"], false);
    // Members keep their order: models fill them in as they read them.
    let names: Vec<&String> = form["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 2);
}

#[test]
fn circles_are_cut() {
    let form = Made::of_schema("3.0.3", &json!({"$ref": "#/components/schemas/Round"})).form("act");
    assert!(admits(&form, &json!({"n": 1, "next": {"n": 2}})), "{form:#}");
    assert!(!admits(&form, &json!({"next": {"next": {"next": {}}}})), "{form:#}");
    let made = Made::of_schema("3.0.3", &json!({"$ref": "#/components/schemas/Round"}));
    assert!(made.dropped("/components/schemas/Round/properties/next")[0].contains("refers to itself"));
}

#[test]
fn what_is_dropped_is_told() {
    let schema = json!({"type": "object", "properties": {
        "m": {"type": "string", "format": "password", "xml": {}, "example": "a", "x-z": 1, "externalDocs": {}, "writeOnly": true, "maxlenght": 3},
        "file": {"type": "string", "format": "binary"},
        "any": {},
        "own": {"type": "string", "readOnly": true}
    }});
    let made = Made::of_schema("3.0.3", &schema);
    for (pointer, why) in [
        ("/properties/m/format", "is not checked"),
        ("/properties/m/xml", "says nothing"),
        ("/properties/m/example", "example of a part"),
        ("/properties/m/x-z", "an extension"),
        ("/properties/m/externalDocs", "says nothing"),
        ("/properties/m/writeOnly", "a form is a request"),
        ("/properties/m/maxlenght", "no keyword of OpenAPI 3.0"),
        ("/properties/file", "bytes cannot be"),
        ("/properties/any", "any value would fit"),
        ("/properties/own", "`readOnly`"),
    ] {
        let told = made.dropped(&format!("{SCHEMA}{pointer}"));
        assert!(told.iter().any(|told| told.contains(why)), "{pointer}: {told:?}");
    }
    let names: Vec<String> = made.form("act")["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["m"]);
}

/// As documents write inheritance: two parents that have one themselves.
#[test]
fn what_two_parts_share_is_carried_once() {
    let made = Made::of_text(
        &json!({
            "openapi": "3.1.0",
            "paths": { "/act": { "post": { "operationId": "act", "requestBody": { "content": { "application/json": {
                "schema": { "allOf": [{ "$ref": "#/components/schemas/A" }, { "$ref": "#/components/schemas/B" }] }
            } } } } } },
            "components": { "schemas": {
                "A": { "allOf": [{ "$ref": "#/components/schemas/Base" }], "properties": { "a": { "type": "boolean" } } },
                "B": { "allOf": [{ "$ref": "#/components/schemas/Base" }], "properties": { "b": { "type": "boolean" } } },
                "Base": { "type": "object", "properties": { "id": { "type": "boolean" } } },
            } },
        })
        .to_string(),
    );
    let form = made.form("act");
    let names: Vec<_> = form["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["a", "id", "b"]);
}
