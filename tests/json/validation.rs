//! The document as `jsonschema` sees it.

use formgate::json::{Document, Strict};
use jsonschema::Validator;
use jsonschema::json::{Json, Node, conformance};
use serde_json::{Value, json};

fn validator(form: &Value) -> Validator<Strict> {
    jsonschema::options_for::<Strict>().build(form).unwrap()
}

fn fits(form: &Value, text: &str) -> bool {
    let mut document = Document::new();
    validator(form).is_valid(document.parse(text.as_bytes()).unwrap())
}

#[test]
fn conforms() {
    for text in [
        conformance::document().to_string(),
        format!("{:#}", conformance::document()),
        conformance::document().to_string().replace('i', "\\u0069"),
    ] {
        let mut document = Document::new();
        let root = document.parse(text.as_bytes()).unwrap();
        conformance::assert_conformance::<Strict>(&root);
    }
}

#[test]
fn what_is_exact_without_our_keywords() {
    for (form, fitting, unfitting) in [
        (json!({"type": "integer"}), "2.000", "2.00000000000000000001"),
        (json!({"type": "integer"}), "1e1", "1e-1"),
        (
            json!({"type": "integer", "minimum": 9_007_199_254_740_993_u64}),
            "9007199254740993.0",
            "9007199254740992",
        ),
        (
            json!({"type": "integer", "maximum": 9_007_199_254_740_992_u64}),
            "9007199254740992",
            "9007199254740993",
        ),
        (json!({"type": "integer", "maximum": u64::MAX}), "18446744073709551615", "18446744073709551616"),
        (json!({"type": "integer", "minimum": i64::MIN + 1}), "-9223372036854775807", "-9223372036854775809"),
        (json!({"type": "integer", "multipleOf": 3}), "9e0", "1e1"),
        (json!({"enum": [0.3]}), "30e-2", "0.30000000000000001"),
        (json!({"enum": [[1], {"a": 2.5}]}), "{\"a\":2.50}", "{\"a\":2.500000000000000000001}"),
        (json!({"enum": [9_007_199_254_740_993_u64]}), "9007199254740993", "9007199254740992"),
        (json!({"uniqueItems": true}), "[0.3,0.30000000000000001]", "[0.3,3e-1]"),
    ] {
        assert!(fits(&form, fitting), "{form} {fitting}");
        assert!(!fits(&form, unfitting), "{form} {unfitting}");
    }
}

/// Should one of these fail, the crate has become exact and `form` may stop replacing the keyword.
#[test]
fn what_is_rounded_without_our_keywords() {
    for (form, wrongly_fitting) in [
        (json!({"maximum": 0.3}), "0.30000000000000001"),
        (json!({"type": "integer", "minimum": i64::MIN}), "-9223372036854775809"),
        (json!({"maximum": 3}), "3.00000000000000000001"),
        (json!({"const": 0.3}), "0.30000000000000001"),
        (json!({"multipleOf": 0.01}), "0.0700000000000000000001"),
    ] {
        assert!(fits(&form, wrongly_fitting), "{form} {wrongly_fitting}");
    }
}

#[test]
fn draft_four_goes_by_how_it_is_written() {
    let form = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"});
    assert!(fits(&form, "-10") && fits(&form, "123456789012345678901234567890"));
    assert!(!fits(&form, "1.0") && !fits(&form, "1e1"));
}

#[test]
fn names_are_judged() {
    let form = json!({"propertyNames": {"maxLength": 3, "pattern": "^[a-zé]*$"}});
    for text in ["{}", r#"{"":1,"abc":2}"#, r#"{"\u00e9\u00e9\u00e9":{"LONGER":0}}"#] {
        assert!(fits(&form, text), "{text}");
    }
    for text in [r#"{"abcd":1}"#, r#"{"a":1,"B":2}"#, r#"{"\u0041":1}"#] {
        assert!(!fits(&form, text), "{text}");
    }
    let mut buffer = <Strict as Json>::StringBuffer::default();
    for name in ["", "a\"b", "é\n"] {
        Strict::with_string_node(&mut buffer, name, |node| {
            assert_eq!(node.as_str(), Some(name));
            assert_eq!(node.to_value().as_ref(), &json!(name));
            assert_eq!(node.lazy_value().get().as_ref(), &json!(name));
        });
    }
}

#[test]
fn strings_are_as_long_as_their_characters() {
    let form = json!({"minLength": 2, "maxLength": 3});
    for text in ["\"ab\"", "\"🦀🦀🦀\"", "\"\\u0000\\n\"", "\"\\ud83e\\udd80é\"", "7"] {
        assert!(fits(&form, text), "{text}");
    }
    for text in ["\"\"", "\"🦀\"", "\"\\ud83e\\udd80\"", "\"abcd\"", "\"ab🦀c\""] {
        assert!(!fits(&form, text), "{text}");
    }
}

#[test]
fn recursive_forms_are_followed() {
    let form = json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {
            "type": "object", "required": ["v"], "additionalProperties": false,
            "properties": {"v": {"type": "integer"}, "c": {"type": "array", "items": {"$ref": "#/$defs/node"}}}
        }}
    });
    let deep = format!("{}{{\"v\":1}}{}", "{\"v\":0,\"c\":[".repeat(60), "]}".repeat(60));
    assert!(fits(&form, &deep));
    assert!(!fits(&form, &deep.replace("\"v\":1", "\"v\":\"1\"")));
}

#[test]
fn a_wide_form_finds_its_members_in_a_wide_object() {
    let names: Vec<_> = (0..60).map(|number| format!("m{number}")).collect();
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), json!({"type": "integer"}))).collect();
    let form = json!({"required": names, "properties": properties, "minProperties": 60});
    let body = |last: &str| {
        let members: Vec<_> = names.iter().rev().skip(1).map(|name| format!("\"{name}\":1")).collect();
        format!("{{{},{last}}}", members.join(","))
    };
    assert!(fits(&form, &body("\"m59\":2")));
    assert!(!fits(&form, &body("\"m59\":\"2\"")) && !fits(&form, &body("\"m60\":2")));
}

#[test]
fn an_error_names_its_place() {
    let form = json!({"properties": {"a": {"items": {"maximum": 3}}}});
    let mut document = Document::new();
    let value = document.parse(br#" {"a": [1, 2, 7]}"#).unwrap();
    let validator = validator(&form);
    let error = validator.validate(value).unwrap_err();
    assert_eq!(error.instance_path().as_str(), "/a/2");
    assert_eq!(error.instance().as_ref(), &json!(7));
}
