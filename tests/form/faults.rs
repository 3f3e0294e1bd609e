//! What is refused, where the fault is said to be, and what is suggested.

use super::{lenient, loads, refused, usual};
use crate::support::clock::used;
use formgate::form::CompiledForm;

/// The one fault of a form: its pointer, reason and suggestion.
fn only(text: &str) -> (String, String, String) {
    let faults = refused(text);
    assert_eq!(faults.len(), 1, "{text}\n{faults:#?}");
    let fault = faults.into_iter().next().unwrap();
    assert_eq!(fault.lint, None);
    (fault.pointer, fault.reason, fault.suggestion.unwrap_or_default())
}

#[test]
fn every_fault_is_listed_in_the_order_of_the_text() {
    let text = r##"{
      "type": "strnig",
      "maxlength": 3,
      "properties": {
        "a/b": {"nullable": true, "type": "string"},
        "c": {"$ref": "#/$defs/nope"},
        "d": {"pattern": "(?!x)"},
        "e": {"format": "emial"},
        "f": {"then": {}},
        "g": {"minimum": "3"}
      },
      "$defs": {"unused": {"$ref": "other.json"}},
      "examples": 1
    }"##;
    let faults = refused(text);
    let pointers: Vec<&str> = faults.iter().map(|fault| fault.pointer.as_str()).collect();
    assert_eq!(
        pointers,
        [
            "/type",
            "/maxlength",
            "/properties/a~1b/nullable",
            "/properties/c/$ref",
            "/properties/d/pattern",
            "/properties/e/format",
            "/properties/f/then",
            "/properties/g/minimum",
            "/$defs/unused/$ref",
            "/examples",
        ],
        "{faults:#?}"
    );
    for fault in &faults {
        assert!(fault.at > 0 && fault.at < text.len());
    }
    assert!(text[faults[1].at..].starts_with('3'));
    assert!(text[faults[4].at..].starts_with("\"(?!x)\""));
    assert_eq!(faults[0].suggestion.as_deref(), Some("`string`"));
    assert_eq!(faults[1].suggestion.as_deref(), Some("`maxLength`"));
    assert_eq!(faults[2].suggestion.as_deref(), Some("`\"type\": [\"string\", \"null\"]`"));
    assert_eq!(faults[5].suggestion.as_deref(), Some("`email`"));
}

#[test]
fn keywords_of_other_drafts_are_refused_with_their_successor() {
    let cases = [
        (r#"{"dependencies":{}}"#, "dependentRequired"),
        (r#"{"items":[{}]}"#, ""),
        (r#"{"additionalItems":false}"#, "prefixItems"),
        (r#"{"definitions":{}}"#, "$defs"),
        (r#"{"exclusiveMinimum":true}"#, ""),
        (r#"{"$schema":"http://json-schema.org/draft-07/schema#","prefixItems":[{}]}"#, "items"),
        (r#"{"$schema":"http://json-schema.org/draft-07/schema#","dependentRequired":{}}"#, "dependencies"),
        (r#"{"$schema":"http://json-schema.org/draft-04/schema#","const":1}"#, "enum"),
        (r#"{"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMinimum":1,"minimum":0}"#, ""),
        (r#"{"discriminator":{}}"#, "anyOf"),
        (r#"{"example":1}"#, "examples"),
        (r#"{"x-internal":1}"#, "annotations"),
        (r#"{"Title":"x"}"#, "title"),
        (r#"{"contentEncoding":"base64"}"#, "pattern"),
        (r#"{"contentMediaType":"application/json"}"#, "members"),
        (r#"{"contentSchema":{}}"#, "members"),
    ];
    for (text, suggestion) in cases {
        assert!(only(text).2.contains(suggestion), "{text}: {:?}", only(text));
    }
}

/// G-28 (fail closed), G-15, G-16: nothing loads that would not be enforced.
#[test]
fn keywords_without_effect_are_refused() {
    for text in [
        r#"{"if":{}}"#,
        r#"{"else":{}}"#,
        r#"{"minContains":1}"#,
        r#"{"maxContains":1}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":{},"additionalItems":false}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMaximum":true}"#,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/b","maxLength":3}},"definitions":{"b":{}}}"##,
        r#"{"properties":{"a":{"$schema":"https://json-schema.org/draft/2020-12/schema"}}}"#,
    ] {
        let _ = only(text);
    }
    // What draft 07 ignores beside `$ref`, but which asserts nothing, may stand.
    loads(
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/b","description":"x","definitions":{"b":{"type":"null"}}}"##,
    );
}

#[test]
fn references_stay_in_the_form_and_arrive_at_schemas() {
    for (text, words) in [
        (r##"{"properties":{"a":{"$ref":"#/properties"}}}"##, "not a place"),
        (r##"{"properties":{"a":{"$ref":"#/properties/a/enum/0"},"b":{"enum":[{}]}}}"##, "points at nothing"),
        (r##"{"enum":[{}],"not":{"$ref":"#/enum/0"}}"##, "not a place"),
        (r##"{"$ref":"#nowhere"}"##, "points at nothing"),
        (r#"{"$ref":"https://json-schema.org/draft/2020-12/schema"}"#, "leaves the form"),
        (r#"{"$defs":{"a":{"$ref":"file:///etc/passwd"}}}"#, "leaves the form"),
        (r#"{"$dynamicRef":"other#x"}"#, "leaves the form"),
        (r#"{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}"#, "names two"),
        (r##"{"$ref":"#"}"##, "consumes nothing"),
        (
            r##"{"anyOf":[{"type":"null"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"allOf":[{"$ref":"#"}]}}}"##,
            "consumes nothing",
        ),
        (r##"{"type":"null","$defs":{"a":{"not":{"$ref":"#/$defs/a"}}}}"##, "consumes nothing"),
    ] {
        let faults = refused(text);
        assert!(faults.iter().all(|fault| fault.reason.contains(words)), "{text}\n{faults:#?}");
    }
    loads(r##"{"$ref":"#x","$defs":{"a":{"$anchor":"x","type":"null"}}}"##);
    loads(r#"{"$id":"https://example.org/form","$ref":"/form#/$defs/a","$defs":{"a":{"type":"null"}}}"#);
}

#[test]
fn dialects_are_known_by_their_uri_only() {
    for uri in [
        "",
        "draft-07",
        "https://json-schema.org/schema",
        "http://json-schema.org/draft-03/schema#",
        "https://example.org/mine",
    ] {
        let (pointer, _, suggestion) = only(&format!(r#"{{"$schema":"{uri}"}}"#));
        assert_eq!(pointer, "/$schema");
        assert!(suggestion.contains("2020-12"));
    }
    for uri in [
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft/2020-12/schema#",
    ] {
        loads(&format!(r#"{{"$schema":"{uri}","type":"null"}}"#));
    }
    let faults = refused(r#"{"$schema":7}"#);
    assert_eq!(faults[0].pointer, "/$schema");
}

#[test]
fn a_form_that_admits_nothing_is_refused() {
    for text in [
        r#"{"not":{}}"#,
        r#"{"enum":[]}"#,
        r#"{"type":"string","minLength":3,"maxLength":2}"#,
        r#"{"type":"integer","minimum":5,"exclusiveMaximum":5}"#,
        r#"{"type":"object","required":["a"],"properties":{"a":false}}"#,
        r#"{"allOf":[{"type":"string"},{"type":"null"}]}"#,
    ] {
        assert!(only(text).1.ends_with("admits nothing"), "{text}");
    }
}

#[test]
fn examples_must_be_true() {
    let (pointer, ..) = only(r#"{"type":"object","properties":{"a":{"type":"integer","examples":[1,"x"]}}}"#);
    assert_eq!(pointer, "/properties/a/examples/1");
}

#[test]
fn annotations_of_the_route_are_published_and_constrain_nothing() {
    let mut options = usual();
    options.annotations = vec!["x-internal".into()];
    let text = r#"{"type":"null","description":"d","x-internal":{"maxlength":3}}"#;
    let form = CompiledForm::compile(text, &options).unwrap();
    assert_eq!(form.published(), text);
    options.annotations.push("MaxLength".into());
    assert!(CompiledForm::compile(text, &options).is_err());
}

#[test]
fn what_is_no_object_or_no_strict_json_is_refused() {
    for text in [
        "true",
        "[]",
        "\"x\"",
        "",
        "{",
        "{}{}",
        "{\"a\":1,\"\\u0061\":2}",
        "\u{feff}{}",
        "{\"minimum\":1e999}",
    ] {
        assert_eq!(refused(text).len(), 1, "{text}");
    }
}

#[test]
fn every_format_is_asserted_or_refused() {
    let uris = [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ];
    let formats = [
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "idn-email",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "iri",
        "iri-reference",
        "json-pointer",
        "regex",
        "relative-json-pointer",
        "time",
        "uri",
        "uri-reference",
        "uri-template",
        "uuid",
    ];
    let mut asserted = Vec::new();
    for uri in uris {
        let mut count = 0;
        for format in formats {
            let text = format!(r#"{{"$schema":"{uri}","format":"{format}"}}"#);
            // A string that is none of them.
            match CompiledForm::compile(&text, &lenient()) {
                Ok(form) => {
                    assert!(!super::decides(&form, br#""\\ ( {""#), "{text}");
                    count += 1;
                }
                Err(faults) => assert_eq!(faults[0].pointer, "/format"),
            }
        }
        asserted.push(count);
    }
    assert_eq!(asserted, [9, 12, 15, 17, 17]);
    let form = loads(r#"{"format":"email"}"#);
    assert!(super::decides(&form, br#""ada@example.com""#));
    assert!(!super::decides(&form, br#""Ada <ada@example.com>""#));
}

#[test]
fn the_algebra_does_not_take_for_ever() {
    let start = used();
    let took = || used().saturating_sub(start);
    let alternatives: Vec<String> = (0..40)
        .map(|index| format!(r#"{{"type":"object","properties":{{"kind":{{"const":"k{index}"}},"v{index}":{{"type":"string","maxLength":{index}}},"n":{{"type":"integer","minimum":{index},"maximum":99}}}},"required":["kind"],"additionalProperties":false}}"#))
        .collect();
    let one = loads(&format!(r#"{{"oneOf":[{}]}}"#, alternatives.join(",")));
    let any = loads(&format!(r#"{{"anyOf":[{}]}}"#, alternatives.join(",")));
    let fewer = loads(&format!(r#"{{"anyOf":[{}]}}"#, alternatives[1..].join(",")));
    println!("loaded in {:?}", took());
    println!("{:?} {:?} {:?}", any.proved(&fewer), fewer.proved(&any), one.proved(&any));
    println!("compared in {:?}", took());
    assert!(took() < std::time::Duration::from_secs(20));
}
