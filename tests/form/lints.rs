//! The lints: names, levels, and what each finds.

use super::usual;
use formgate::form::CompiledForm;
use formgate::lint::{Level, Lint};

/// Where each lint warns, as `name pointer`.
fn warned(text: &str) -> Vec<String> {
    let mut options = usual();
    options.lints.set(Lint::MissingDescription, Level::Allow);
    options.lints.set(Lint::LargestBody, Level::Allow);
    let form = CompiledForm::compile(text, &options).unwrap_or_else(|faults| panic!("{text}\n{faults:#?}"));
    form.warnings().iter().map(|fault| format!("{} {}", fault.lint.unwrap().name(), fault.pointer)).collect()
}

/// G-17 (`anyOf` before `oneOf`) and G-37 (the smallest form) are lints.
#[test]
fn names_are_stable_and_levels_are_as_designed() {
    for lint in Lint::ALL.iter().copied() {
        assert_eq!(Lint::named(lint.name()), Some(lint));
        let denied = lint == Lint::UnboundedRecursion;
        assert_eq!(usual().lints.of(lint), if denied { Level::Deny } else { Level::Warn });
    }
    assert_eq!(Lint::named("nothing"), None);
    let mut levels = usual().lints;
    levels.set(Lint::OneOf, Level::Deny);
    levels.set(Lint::OneOf, Level::Allow);
    assert_eq!(levels.of(Lint::OneOf), Level::Allow);
}

#[test]
fn each_lint_finds_its_place() {
    for (text, expected) in [
        (r#"{"maxLength":3}"#, &["missing-type /maxLength"][..]),
        (r#"{"type":"string","maxLength":3,"minimum":1}"#, &["missing-type /minimum"]),
        (
            r#"{"type":"object","additionalProperties":false,"properties":{"a":{}}}"#,
            &["missing-type /properties/a"],
        ),
        (r#"{"type":"object"}"#, &["open-object "]),
        (r#"{"type":"object","additionalProperties":true}"#, &["open-object "]),
        (r#"{"type":"string"}"#, &["unbounded-string "]),
        (r#"{"type":"string","format":"email"}"#, &["unbounded-string "]),
        (r#"{"type":"array","items":{"type":"null"}}"#, &["unbounded-array "]),
        (r#"{"oneOf":[{"type":"null"},{"type":"boolean"}]}"#, &["one-of /oneOf"]),
        (r#"{"type":"string","maxLength":9,"pattern":"a$"}"#, &["unanchored-pattern /pattern"]),
        (r#"{"type":"string","maxLength":9,"pattern":"^a|b$"}"#, &["unanchored-pattern /pattern"]),
        (
            r#"{"type":"array","maxItems":9999,"uniqueItems":true,"items":{"type":"null"}}"#,
            &["unique-items /uniqueItems"],
        ),
        (
            r#"{"type":"object","additionalProperties":false,"properties":{"__proto__":{"type":"null"}}}"#,
            &["framework-member /properties/__proto__"],
        ),
        (r#"{"type":"null","readOnly":true}"#, &["read-write-only /readOnly"]),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"$id":"urn:a","type":"null"}}}"##,
            &["embedded-id /$defs/a/$id"],
        ),
    ] {
        assert_eq!(warned(text), expected, "{text}");
    }
}

#[test]
fn what_is_bounded_elsewhere_is_not_warned_of() {
    for text in [
        r#"{"type":"string","format":"uuid"}"#,
        r#"{"type":"string","pattern":"^[a-z]{1,20}$"}"#,
        r#"{"type":"string","enum":["a","b"]}"#,
        r#"{"const":{"a":[1]}}"#,
        r#"{"type":["string","null"],"maxLength":4}"#,
        r#"{"type":"string","allOf":[{"maxLength":4}]}"#,
        r#"{"type":"string","maxLength":9,"anyOf":[{"pattern":"^a*$"},{"pattern":"^b*$"}]}"#,
        r##"{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string","maxLength":3}}}"##,
        r#"{"type":"array","prefixItems":[{"type":"null"}],"items":false}"#,
        r#"{"type":"object","unevaluatedProperties":false,"properties":{"k":{"type":"null"}},"anyOf":[{"properties":{"a":{"type":"null"}}},{"required":["k"]}]}"#,
        r#"{"type":"object","additionalProperties":false,"properties":{"k":{"enum":["a","b"]},"v":{"type":"null"}},"if":{"properties":{"k":{"const":"a"}}},"then":{"required":["v"]}}"#,
    ] {
        assert_eq!(warned(text), <[&str; 0]>::default(), "{text}");
    }
}

#[test]
fn the_longest_body_is_measured() {
    let largest = |text: &str, max_body: usize| {
        let mut options = usual();
        options.max_body = max_body;
        let form = CompiledForm::compile(text, &options).unwrap();
        form.warnings()
            .iter()
            .find(|fault| fault.lint == Some(Lint::LargestBody))
            .map(|fault| fault.reason.clone())
    };
    for (text, bytes) in [
        (r#"{"type":"string","maxLength":10}"#, 122),
        (r#"{"type":"string","pattern":"^[a-z]{0,10}$"}"#, 62),
        (r#"{"type":"string","format":"date"}"#, 62),
        (r#"{"enum":["ab",null]}"#, 14),
        (r#"{"type":"boolean"}"#, 5),
        (r#"{"type":"array","maxItems":3,"items":{"type":"boolean"}}"#, 20),
        (
            r#"{"type":"object","additionalProperties":false,"properties":{"a":{"type":"boolean"},"b":{"type":"null"}}}"#,
            32,
        ),
        (r#"{"anyOf":[{"type":"string","maxLength":1},{"type":"string","maxLength":2}]}"#, 26),
    ] {
        assert_eq!(largest(text, bytes), None, "{text}");
        assert!(largest(text, bytes - 1).unwrap().contains(&bytes.to_string()), "{text}");
    }
    assert!(largest(r#"{"type":"string"}"#, 1 << 40).unwrap().contains("nothing bounds"));
}

#[test]
fn a_denied_lint_refuses_with_the_faults() {
    let mut options = usual();
    options.lints.set(Lint::OpenObject, Level::Deny);
    let faults = CompiledForm::compile(r#"{"type":"object","titel":"x"}"#, &options).unwrap_err();
    let lints: Vec<Option<Lint>> = faults.iter().map(|fault| fault.lint).collect();
    assert_eq!(lints, [Some(Lint::OpenObject), None]);
}
