//! What a form must say before a member may stand in a path (P10): whatever it does not prove is refused at load.

use formgate::form::{CompiledForm, FormFault, FormOptions, Numbers};
use formgate::lint::LintLevels;
use serde_json::{Value, json};

fn compile(form: &Value) -> CompiledForm {
    try_compile(form).unwrap_or_else(|faults| panic!("{form}: {faults:?}"))
}

fn try_compile(form: &Value) -> Result<CompiledForm, Vec<FormFault>> {
    let options = FormOptions {
        lints: LintLevels::default(),
        annotations: Vec::new(),
        unroll: None,
        numbers: Numbers::Exact,
        max_body: 1 << 20,
    };
    CompiledForm::compile(&form.to_string(), &options)
}

/// A form with one required member `id` that this schema holds for.
fn with(id: &Value) -> Value {
    json!({ "type": "object", "properties": { "id": id }, "required": ["id"], "additionalProperties": false })
}

#[test]
fn what_is_bounded_may() {
    let safe = json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,40}$" });
    for id in [
        safe.clone(),
        json!({ "type": "string", "pattern": "^[a-z][a-z0-9.~_-]{0,20}$" }),
        json!({ "type": "string", "pattern": "^\\w+$", "maxLength": 40 }),
        json!({ "type": "string", "pattern": "^(inv|ord)-\\d{1,9}$" }),
        json!({ "type": "string", "pattern": "^[a-z.]{3,9}$" }),
        json!({ "type": "string", "pattern": "^[a-z.]{0,9}$", "minLength": 3 }),
        json!({ "type": "string", "format": "uuid" }),
        json!({ "type": "string", "format": "date" }),
        json!({ "enum": ["red", "green", 7, true] }),
        json!({ "const": "only" }),
        json!({ "type": "integer", "minimum": 1, "maximum": 9_007_199_254_740_991_u64 }),
        json!({ "type": "integer", "exclusiveMinimum": -5, "exclusiveMaximum": 5 }),
        json!({ "type": "boolean" }),
        json!({ "type": ["string", "integer"], "pattern": "^[a-z]{1,4}$", "minimum": 0, "maximum": 9 }),
        json!({ "allOf": [{ "type": "string" }, { "pattern": "^[a-z]{1,4}$" }] }),
        json!({ "anyOf": [safe.clone(), { "type": "integer", "minimum": 0, "maximum": 9 }] }),
        json!({ "oneOf": [{ "const": "a" }, { "const": "b" }] }),
    ] {
        let form = with(&id);
        assert!(compile(&form).safe_member("/id").is_ok(), "{:?}: {form}", compile(&form).safe_member("/id"));
    }
    let referred = json!({
        "$defs": { "id": safe, "base": { "type": "object", "required": ["order"] } },
        "$ref": "#/$defs/base",
        "properties": {
            "order": { "type": "object", "properties": { "a/b": { "$ref": "#/$defs/id" } }, "required": ["a/b"] },
        },
    });
    assert!(compile(&referred).safe_member("/order/a~1b").is_ok());
    let each = json!({
        "type": "object",
        "anyOf": [
            { "properties": { "id": { "const": "a" } }, "required": ["id"] },
            { "properties": { "id": { "type": "string", "format": "uuid" } }, "required": ["id"] },
        ],
    });
    assert!(compile(&each).safe_member("/id").is_ok());
}

#[test]
fn what_is_not_bounded_may_not_and_is_told_why() {
    let pattern = |pattern: &str| with(&json!({ "type": "string", "pattern": pattern, "maxLength": 40 }));
    for (form, reason) in [
        (with(&json!({ "type": "string" })), "has no `pattern`"),
        (with(&json!({ "type": "string", "maxLength": 40 })), "has no `pattern`"),
        (with(&json!(true)), "can be of any type"),
        (with(&json!({ "pattern": "^[a-z]{1,4}$" })), "can be of any type"),
        (with(&json!({ "type": ["string", "null"], "pattern": "^[a-z]{1,4}$" })), "can be something else"),
        (with(&json!({ "type": "number", "minimum": 0, "maximum": 9 })), "can be something else"),
        (with(&json!({ "type": "object" })), "can be something else"),
        (with(&json!({ "type": "integer" })), "is an integer without `minimum` and `maximum`"),
        (with(&json!({ "type": "integer", "minimum": 0 })), "is an integer without"),
        (with(&json!({ "type": "integer", "minimum": 0, "maximum": 1e300 })), "is an integer without"),
        (with(&json!({ "enum": ["a", "b/c"] })), "can be of any type"),
        (with(&json!({ "enum": ["a", ".."] })), "can be of any type"),
        (with(&json!({ "enum": ["a", ""] })), "can be of any type"),
        (with(&json!({ "enum": ["a", null] })), "can be of any type"),
        (with(&json!({ "enum": [1.5] })), "can be of any type"),
        (with(&json!({ "type": "string", "format": "uri" })), "has no `pattern`"),
        (pattern("[a-z]{1,4}"), "has a pattern that is not anchored"),
        (pattern("^[a-z]{1,4}"), "has a pattern that is not anchored"),
        (pattern("^a$|b"), "has a pattern that is not anchored"),
        (pattern("^[a-z/]{1,4}$"), "may have other characters"),
        (pattern("^[^/]{1,4}$"), "may have other characters"),
        (pattern("^.{1,4}$"), "may have other characters"),
        (pattern("^[ -~]{1,4}$"), "may have other characters"),
        (pattern("^[+-9]{1,4}$"), "may have other characters"),
        (pattern("^[a-z%]{1,4}$"), "may have other characters"),
        (pattern("^[a-z?#]{1,4}$"), "may have other characters"),
        (pattern("^\\S{1,4}$"), "may have other characters"),
        (pattern("^\\p{L}{1,4}$"), "may have other characters"),
        (pattern("^[a-zé]{1,4}$"), "may have other characters"),
        (pattern("^[a-z]*$"), "can be empty"),
        (pattern("^[a-z.]+$"), "can be `.`"),
        (pattern("^(\\.\\.|[a-z]+)$"), "can be `..`"),
        (with(&json!({ "type": "string", "pattern": "^[a-z]+$" })), "has no bound on its length"),
        (with(&json!({ "type": "string", "pattern": "^[a-z]{1,300}$" })), "has no bound on its length"),
        (json!({ "type": "object", "properties": { "id": { "const": "a" } } }), "need not have `id`"),
        (json!({ "properties": { "id": { "const": "a" } }, "required": ["id"] }), "need not be an object"),
        (json!({ "type": "object", "required": ["id"] }), "can be of any type"),
        (
            json!({ "type": "object", "required": ["id"], "patternProperties": { "^id$": { "const": "a" } } }),
            "can be of any type",
        ),
        (with(&json!({ "not": { "const": "a" } })), "can be of any type"),
        (with(&json!({ "anyOf": [{ "const": "a" }, { "type": "string" }] })), "can be of any type"),
        (
            with(&json!({ "if": { "const": "a" }, "then": { "const": "a" }, "else": { "type": "string" } })),
            "can be",
        ),
    ] {
        let fault = compile(&form).safe_member("/id").unwrap_err();
        assert!(fault.reason.contains(reason), "{form}: {}", fault.reason);
        assert!(fault.reason.contains("`{/id}` cannot stand in a path"), "{}", fault.reason);
        assert!(!fault.suggestion.is_empty());
    }
    let list = json!({
        "type": "object",
        "properties": { "ids": { "type": "array", "minItems": 1, "items": { "const": "a" } } },
        "required": ["ids"],
    });
    for pointer in ["/ids/0", "/ids", "/other", "/ids/-"] {
        assert!(compile(&list).safe_member(pointer).is_err(), "{pointer}");
    }
    for pointer in ["", "id", "/", "//", "/id/"] {
        let fault = compile(&with(&json!({ "const": "a" }))).safe_member(pointer).unwrap_err();
        assert!(fault.reason.contains("no JSON Pointer"), "{pointer}: {}", fault.reason);
    }
}

/// A name of its own below the root moves what `#/…` means: it is not followed.
#[test]
fn references_are_followed_only_where_they_mean_one_thing() {
    let form = json!({
        "$defs": {
            "id": { "const": "a" },
            "inner": {
                "$id": "https://example.org/inner",
                "$defs": { "id": { "type": "string" } },
                "type": "object",
                "properties": { "id": { "$ref": "#/$defs/id" } },
                "required": ["id"],
            },
        },
        "$ref": "#/$defs/inner",
    });
    assert!(compile(&form).safe_member("/id").is_err());
}

/// The proof held against the validator: of every short string over an alphabet that attackers would choose, whatever a
/// proven form admits is a harmless piece of a path.
#[test]
fn nothing_that_a_proven_form_admits_is_harmful() {
    use formgate::json::Document;
    const PIECES: [&str; 12] = ["a", "Z", "0", ".", "-", "/", "?", "#", "%", "\\\\", "\\n", "\u{e9}"];
    const PATTERNS: [&str; 30] = [
        "^[a-z]{1,4}$",
        "^[a-z.]{1,4}$",
        "^[a-z.]{0,4}$",
        "^[^/]{1,4}$",
        "^[^.]{1,4}$",
        "^.{1,4}$",
        "^\\w{1,4}$",
        "^\\W{1,4}$",
        "^\\d{1,4}$",
        "^\\D{1,4}$",
        "^\\S{1,4}$",
        "^\\s{1,4}$",
        "^[\\w.-]{1,4}$",
        "^[\\w.-]{3,4}$",
        "^[a-zA-Z0-9._~-]{1,4}$",
        "^[!-~]{1,4}$",
        "^[+-9]{1,4}$",
        "^[ -.]{1,4}$",
        "^a|b$",
        "^(a|b)$",
        "^(?:a|\\.\\.)$",
        "^a?$",
        "^a$|^\\.$",
        "^(^a$)$",
        "^(a.|b)$",
        "^\\x2e\\x2e$",
        "^\\u002e{1,2}$",
        "^a\\.{0,2}$",
        "^\\.?a$",
        "^(a*)*$",
    ];
    let mut texts: Vec<String> = vec![String::new()];
    for from in [0, 1, 13] {
        let longer = texts[from..].iter().flat_map(|text| PIECES.map(|piece| format!("{text}{piece}")));
        let longer: Vec<String> = longer.collect();
        texts.extend(longer);
    }
    let (mut proven, mut admitted) = (0, 0);
    for pattern in PATTERNS {
        for least in [0, 1, 3] {
            let id = json!({ "type": "string", "pattern": pattern, "minLength": least, "maxLength": 9 });
            // Some admit nothing, and are no forms.
            let Ok(form) = try_compile(&with(&id)) else { continue };
            if form.safe_member("/id").is_err() {
                continue;
            }
            proven += 1;
            for text in &texts {
                let body = format!(r#"{{"id":"{text}"}}"#);
                let mut document = Document::new();
                let value = document.parse(body.as_bytes()).unwrap();
                if !form.admits(value) {
                    continue;
                }
                admitted += 1;
                let plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
                let harmless = text.chars().all(plain) && !matches!(text.as_str(), "" | "." | "..");
                assert!(harmless, "{pattern} with {least} proves {text:?}");
            }
        }
    }
    println!("proof: {proven} of {} forms proven, {admitted} strings admitted", PATTERNS.len() * 3);
    assert!(proven >= 15 && admitted > 100, "{proven} {admitted}");
}
