//! Where a form can refuse is known before anybody asks: metrics count by these places, so they must be the ones that
//! mismatches name (P12).

use super::{lenient, loads};
use crate::support::cases;
use formgate::form::{CompiledForm, PLACES};
use formgate::json::Document;
use std::collections::BTreeSet;

/// Pointer to what refuses this body, if the form does.
fn refusal(form: &CompiledForm, body: &[u8]) -> Option<String> {
    let mut document = Document::new();
    let value = document.parse(body).ok()?;
    form.mismatch(value).map(|found| found.schema_pointer)
}

#[track_caller]
fn known(form: &CompiledForm, body: &str) {
    let place = refusal(form, body.as_bytes()).unwrap_or_else(|| panic!("{body} is admitted"));
    assert!(
        form.places().iter().any(|(pointer, _)| *pointer == place),
        "{body}: {place:?} is not among {:#?}",
        form.places()
    );
}

#[test]
fn what_refuses_the_bodies_of_the_cases_is_known() {
    let mut count = 0;
    for name in cases::forms() {
        let text = String::from_utf8(cases::form(&name)).unwrap();
        let Ok(form) = CompiledForm::compile(&text, &lenient()) else { continue };
        for (file, body) in cases::bodies(&name, "reject") {
            let Some(place) = refusal(&form, &body) else { continue };
            count += 1;
            assert!(
                form.places().iter().any(|(pointer, _)| *pointer == place),
                "{name}/{file}: {place:?} is not among {:#?}",
                form.places()
            );
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn what_refuses_is_known_wherever_it_stands() {
    let form = loads(
        r##"{
            "type": "object",
            "properties": {
                "ref": { "$ref": "#/$defs/short" },
                "any": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
                "one": { "oneOf": [{ "const": 1 }, { "const": 2 }] },
                "all": { "allOf": [{ "minimum": 3 }, { "multipleOf": 2 }] },
                "not": { "not": { "type": "null" } },
                "no": false,
                "list": { "type": "array", "prefixItems": [{ "type": "string" }], "items": { "maximum": 9 }, "contains": { "const": 7 } },
                "names": { "type": "object", "propertyNames": { "maxLength": 3 } },
                "if": { "if": { "type": "string" }, "then": { "minLength": 2 }, "else": { "minimum": 5 } },
                "a/b~c": { "enum": [1, "x"] },
                "open": { "type": "object", "properties": { "x": true }, "unevaluatedProperties": false },
                "pattern": { "type": "object", "patternProperties": { "^n": { "type": "number" } }, "additionalProperties": { "type": "string" } }
            },
            "dependentRequired": { "any": ["one"] },
            "required": [],
            "additionalProperties": false,
            "maxProperties": 4,
            "$defs": { "short": { "type": "string", "maxLength": 3 } }
        }"##,
    );
    for body in [
        "1",
        r#"{"ref":"long"}"#,
        r#"{"ref":1}"#,
        r#"{"any":null}"#,
        r#"{"any":1}"#,
        r#"{"one":3}"#,
        r#"{"all":1}"#,
        r#"{"all":5}"#,
        r#"{"not":null}"#,
        r#"{"no":1}"#,
        r#"{"list":[1,7]}"#,
        r#"{"list":["a",7,10]}"#,
        r#"{"list":["a"]}"#,
        r#"{"names":{"long":1}}"#,
        r#"{"if":"x"}"#,
        r#"{"if":4}"#,
        r#"{"a/b~c":2}"#,
        r#"{"open":{"y":1}}"#,
        r#"{"pattern":{"n":"x"}}"#,
        r#"{"pattern":{"m":1}}"#,
        r#"{"other":1}"#,
        r#"{"ref":"a","one":1,"all":4,"not":1,"if":"xx"}"#,
    ] {
        known(&form, body);
    }
    let places: BTreeSet<_> = form.places().iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(places.len(), form.places().len(), "a place twice");
}

#[test]
fn the_first_places_are_told_apart() {
    let members: Vec<String> =
        (0..200).map(|n| format!(r#""m{n}":{{"type":"string","maxLength":9}}"#)).collect();
    let form = loads(&format!(r#"{{"type":"object","properties":{{{}}}}}"#, members.join(",")));
    assert_eq!(form.places().len(), PLACES);
    assert_eq!(form.places()[0], ("/type".to_owned(), "type".to_owned()));
}
