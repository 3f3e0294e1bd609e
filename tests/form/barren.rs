//! A form that admits nothing is told where, by the commonest slips.

use super::{loads, refused};

/// Place, words and suggestion of the only fault; the words without their common end.
fn cause(text: &str) -> (String, String, String) {
    let faults = refused(text);
    let [fault] = faults.as_slice() else { panic!("{text}: {faults:#?}") };
    let (pointer, reason) = (fault.pointer.clone(), &fault.reason);
    let suggestion = fault.suggestion.clone().unwrap_or_default();
    let reason =
        reason.strip_suffix(": the form admits nothing").unwrap_or_else(|| panic!("{text}: {reason}"));
    (pointer, reason.to_owned(), suggestion)
}

#[test]
fn the_place_is_named_where_it_is_sure() {
    let four = r#""$schema":"http://json-schema.org/draft-04/schema#""#;
    for (text, place, words) in [
        (
            r#"{"type":"object","required":["b"],"properties":{"a":{"type":"null"}},"additionalProperties":false}"#,
            "/required/0",
            "`b` is required, and the object takes no member of that name",
        ),
        (
            r#"{"type":"object","required":["b"],"properties":{"a":{"type":"null"}},"unevaluatedProperties":false}"#,
            "/required/0",
            "`b` is required, and the object takes no member of that name",
        ),
        // Two closed objects, each without the other's members.
        (
            r#"{"type":"object","allOf":[
                {"properties":{"a":{}},"required":["a"],"additionalProperties":false},
                {"properties":{"b":{}},"required":["b"],"additionalProperties":false}]}"#,
            "/allOf/0/required/0",
            "`a` is required, and the object takes no member of that name",
        ),
        (
            r#"{"type":"string","minLength":9,"maxLength":3}"#,
            "/minLength",
            "`minLength` 9 is more than `maxLength` 3",
        ),
        (
            r#"{"type":"array","minItems":2,"maxItems":1}"#,
            "/minItems",
            "`minItems` 2 is more than `maxItems` 1",
        ),
        (
            r#"{"type":"array","minItems":3,"prefixItems":[{"type":"null"}],"items":false}"#,
            "/minItems",
            "`minItems` 3 is more than the 1 elements that the array takes",
        ),
        (
            r#"{"type":"object","minProperties":2,"maxProperties":1}"#,
            "/minProperties",
            "`minProperties` 2 is more than `maxProperties` 1",
        ),
        (
            r#"{"type":"object","required":["a","b"],"maxProperties":1}"#,
            "/maxProperties",
            "2 members are required, more than `maxProperties` 1",
        ),
        (
            r#"{"type":"object","minProperties":2,"properties":{"a":{"type":"null"}},"additionalProperties":false}"#,
            "/minProperties",
            "`minProperties` 2 is more than the 1 members that the object takes",
        ),
        (
            r#"{"type":"integer","minimum":9,"maximum":3}"#,
            "/minimum",
            "no number fits both `minimum` 9 and `maximum` 3",
        ),
        (
            r#"{"type":"number","exclusiveMinimum":3,"maximum":3}"#,
            "/exclusiveMinimum",
            "no number fits both `exclusiveMinimum` 3 and `maximum` 3",
        ),
        (
            &format!(r#"{{{four},"type":"number","minimum":3,"maximum":3,"exclusiveMaximum":true}}"#),
            "/minimum",
            "no number fits both `minimum` 3 and `maximum` 3",
        ),
        (r#"{"type":"string","const":5}"#, "/const", "the value of `const` does not fit `type`"),
        (
            r#"{"type":"string","pattern":"^[a-z]{1,9}$","enum":["A","B"]}"#,
            "/enum",
            "none of the values of `enum` fits `pattern`",
        ),
        (
            r#"{"type":"string","maxLength":2,"enum":["long","longer"]}"#,
            "/enum",
            "none of the values of `enum` fits `maxLength`",
        ),
        (
            r#"{"allOf":[{"type":"string"},{"type":"null"}]}"#,
            "/allOf/1/type",
            "no value has this type and the one asked for beside it",
        ),
        (r#"{"not":{}}"#, "/not", "everything fits what stands under `not`"),
        // Within what is required, and behind references.
        (
            r##"{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/x"}},
                "$defs":{"x":{"type":"string","minLength":9,"maxLength":3}}}"##,
            "/$defs/x/minLength",
            "`minLength` 9 is more than `maxLength` 3",
        ),
        (
            r#"{"anyOf":[{"type":"string","const":5},{"type":"null","enum":[1,2]}]}"#,
            "/anyOf/0/const",
            "the value of `const` does not fit `type`",
        ),
    ] {
        let (pointer, reason, suggestion) = cause(text);
        assert_eq!((pointer.as_str(), reason.as_str()), (place, words), "{text}");
        assert!(!suggestion.is_empty(), "{text}");
    }
}

#[test]
fn the_member_that_was_meant_is_named() {
    let closed = |required: &str, properties: &str| {
        let text = format!(
            r#"{{"type":"object","required":[{required}],"properties":{{{properties}}},"additionalProperties":false}}"#
        );
        cause(&text).2
    };
    assert_eq!(closed(r#""b""#, r#""a":{"type":"null"}"#), "did you mean `a`?");
    assert_eq!(
        closed(r#""reson""#, r#""amount":{"type":"null"},"reason":{"type":"null"}"#),
        "did you mean `reason`?"
    );
    assert_eq!(
        closed(r#""zzz""#, r#""amount":{"type":"null"},"reason":{"type":"null"}"#),
        "declare it under `properties`, or one of amount, reason"
    );
    assert_eq!(
        closed(r#""a","b""#, r#""a":{"type":"null"}"#),
        "declare it under `properties`, or leave it out"
    );
}

#[test]
fn what_may_be_left_out_may_admit_nothing() {
    for text in [
        r#"{"type":"object","properties":{"a":{"type":"string","minLength":9,"maxLength":3}}}"#,
        r#"{"type":["string","null"],"minLength":9,"maxLength":3}"#,
        r#"{"anyOf":[{"type":"string","const":5},{"type":"null"}]}"#,
        // Without a type, other kinds fit.
        r#"{"required":["b"],"properties":{"a":{}},"additionalProperties":false}"#,
        r#"{"type":"object","required":["b1"],"patternProperties":{"^b[0-9]$":{}},"additionalProperties":false}"#,
        r#"{"type":"array","items":false}"#,
    ] {
        loads(text);
    }
}

#[test]
fn a_form_that_is_false_is_not_sent_on_to_another_that_is_refused() {
    let faults = refused("false");
    assert_eq!(
        faults[0].suggestion.as_deref(),
        Some("a form that admits nothing does not load: take the route away")
    );
    assert_eq!(refused("true")[0].suggestion.as_deref(), Some("`{}` admits anything"));
}
