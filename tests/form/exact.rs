//! Numbers are compared and divided as decimals, in the form and in the body.

use super::{decides, lenient, loads, refused};
use formgate::form::{CompiledForm, Numbers};
use formgate::json::Document;

#[test]
fn bounds_divisors_and_values_decide_by_their_decimals() {
    for (form, yes, no) in [
        (r#"{"maximum":0.3}"#, "0.3", "0.30000000000000001"),
        (r#"{"maximum":0.30000000000000001}"#, "0.30000000000000001", "0.300000000000000011"),
        (r#"{"minimum":0.3}"#, "0.300", "0.29999999999999999"),
        (r#"{"maximum":9007199254740992}"#, "9007199254740992.0", "9007199254740993"),
        (r#"{"exclusiveMinimum":9007199254740992}"#, "9007199254740993", "9.007199254740992e15"),
        (r#"{"exclusiveMaximum":1e300}"#, "9.99e299", "1000e297"),
        (
            r#"{"minimum":-123456789012345678901234567890}"#,
            "-123456789012345678901234567890",
            "-123456789012345678901234567891",
        ),
        (r#"{"multipleOf":0.01}"#, "0.07", "0.071"),
        (r#"{"multipleOf":0.01}"#, "99999999999999999999.99", "1e-3"),
        (
            r#"{"multipleOf":3}"#,
            "300000000000000000000000000000000000003",
            "300000000000000000000000000000000000004",
        ),
        (r#"{"multipleOf":1e-300}"#, "3e-300", "3e-301"),
        (r#"{"multipleOf":0.5}"#, "-0", "0.25"),
        (r#"{"const":0.1}"#, "1e-1", "0.1000000000000000055511151231257827"),
        (r#"{"const":9007199254740993}"#, "9007199254740993.0", "9007199254740992"),
        (r#"{"enum":[1,{"a":[2.50]}]}"#, r#"{"a":[2.5]}"#, r#"{"a":[2.5000000000000000001]}"#),
        (r#"{"enum":["a",3]}"#, r#""a""#, "3.0000000000000000000001"),
        (r#"{"type":"integer"}"#, "1e2", "2.00000000000000000001"),
        (r#"{"type":"array","uniqueItems":true}"#, "[1,2]", "[1,1.0]"),
        (
            r#"{"$schema":"http://json-schema.org/draft-04/schema#","minimum":3,"exclusiveMinimum":true}"#,
            "3.00000000000000000001",
            "3",
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-04/schema#","maximum":3,"exclusiveMaximum":false}"#,
            "3",
            "3.00000000000000000001",
        ),
        (r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer"}"#, "1", "1.0"),
        (r#"{"type":"string","maxLength":2.0}"#, r#""ab""#, r#""abc""#),
    ] {
        let compiled = loads(form);
        assert!(decides(&compiled, yes.as_bytes()), "{form} takes {yes}");
        assert!(!decides(&compiled, no.as_bytes()), "{form} refuses {no}");
    }
}

#[test]
fn counts_and_divisors_have_their_range() {
    for form in [
        r#"{"maxLength":-1}"#,
        r#"{"maxLength":1.5}"#,
        r#"{"maxItems":1e30}"#,
        r#"{"multipleOf":0}"#,
        r#"{"multipleOf":-2}"#,
    ] {
        assert_eq!(refused(form).len(), 1, "{form}");
    }
}

#[test]
fn a_mismatch_names_the_standard_keyword() {
    let form =
        loads(r##"{"type":"object","properties":{"a/b":{"$ref":"#/$defs/n"}},"$defs":{"n":{"minimum":3}}}"##);
    let mut document = Document::new();
    let mismatch = form.mismatch(document.parse(br#"{"a/b":1}"#).unwrap()).unwrap();
    assert_eq!(mismatch.keyword, "minimum");
    assert_eq!(mismatch.schema_pointer, "/$defs/n/minimum");
    assert_eq!(mismatch.instance_pointer, "/a~1b");
    let form = loads(r#"{"anyOf":[{"const":1},{"type":"string"}]}"#);
    let mismatch = form.mismatch(document.parse(b"2").unwrap()).unwrap();
    assert_eq!((mismatch.keyword.as_str(), mismatch.schema_pointer.as_str()), ("anyOf", "/anyOf"));
    // Alternatives stand behind others, within references, beside each other and below themselves.
    for (form, body, pointer, at) in [
        (r#"{"allOf":[{"type":"object"}],"oneOf":[true],"anyOf":[{"required":["a"]}]}"#, "{}", "/anyOf", ""),
        (
            r#"{"allOf":[{"type":"object"}],"oneOf":[{"required":["a"]},{"required":["b"]}],"anyOf":[true]}"#,
            "{}",
            "/oneOf",
            "",
        ),
        (r#"{"allOf":[{"not":{"type":"object"}}],"anyOf":[true]}"#, "{}", "/allOf/0/not", ""),
        (
            r##"{"type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"anyOf":[{"const":1},{"anyOf":[{"const":2}]}]}}}"##,
            "[1,2,3]",
            "/$defs/a/anyOf",
            "/2",
        ),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"const":1},{"type":"array","items":{"$ref":"#/$defs/a"}}]}}}"##,
            "[[1],[2]]",
            "/$defs/a/anyOf",
            "",
        ),
        (
            r##"{"type":"object","properties":{"a":{"$ref":"#"},"n":{"maximum":3}}}"##,
            r#"{"a":{"n":4}}"#,
            "/properties/n/maximum",
            "/a/n",
        ),
        (
            r#"{"type":"object","anyOf":[{"properties":{"a":{"const":1}}}],"unevaluatedProperties":false}"#,
            r#"{"b":1}"#,
            "/unevaluatedProperties",
            "",
        ),
    ] {
        let form = loads(form);
        let mismatch = form.mismatch(document.parse(body.as_bytes()).unwrap()).unwrap();
        assert_eq!((mismatch.schema_pointer.as_str(), mismatch.instance_pointer.as_str()), (pointer, at));
    }
}

#[test]
fn safe_integers_are_what_every_backend_reads() {
    let mut options = lenient();
    options.numbers = Numbers::SafeIntegers;
    let form = CompiledForm::compile(r#"{"type":"object","properties":{"i":{"type":"integer"},"n":{"type":"number"},"e":{"type":["integer","string"]}}}"#, &options).unwrap();
    let mut document = Document::new();
    for (body, safe) in [
        (r#"{"i":5,"n":1.0,"e":"x"}"#, true),
        (r#"{"i":-9007199254740991}"#, true),
        (r#"{"i":9007199254740992}"#, false),
        (r#"{"n":1e300}"#, false),
        (r#"{"n":2e1}"#, true),
        (r#"{"n":0.1}"#, true),
        (r#"{"other":[{"deep":-9007199254740992}]}"#, false),
        (r#"{"i":1.0}"#, false),
        (r#"{"i":1e1}"#, false),
        (r#"{"e":-0.0}"#, false),
    ] {
        let value = document.parse(body.as_bytes()).unwrap();
        assert!(form.admits(value), "{body}");
        assert_eq!(form.numbers_safe(value), safe, "{body}");
    }
    let plain = loads(r#"{"type":"integer"}"#);
    assert!(plain.numbers_safe(document.parse(b"9007199254740993.0").unwrap()));
}
