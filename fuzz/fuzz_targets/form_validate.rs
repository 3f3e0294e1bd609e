//! A form on our document against the same form, by `jsonschema`, on serde_json's value: the same verdict.
//!
//! The first byte chooses the form, the second whether the rest is a body or what a body is made by. Numbers that
//! doubles cannot hold are left out: there we mean to differ. What shows at a glance contradicts neither, whatever the bytes.
#![no_main]

use arbitrary::Unstructured;
use formgate::form::{CompiledForm, FormOptions, Numbers, Seen};
use formgate::lint::{Level, Lint, LintLevels};
use formgate::json::{Document, Value};
use jsonschema::{EmailOptions, PatternOptions, Validator};
use libfuzzer_sys::fuzz_target;
use std::fmt::Write;
use std::sync::LazyLock;

const FORMS: &[&str] = &[
    include_str!("../../config/forms/cache-purge.json"),
    include_str!("../../config/forms/home-command.json"),
    include_str!("../../config/forms/issue-create.json"),
    include_str!("../../config/forms/meetings-start.json"),
    include_str!("../../config/forms/payment-refund.json"),
    include_str!("../../config/forms/registrations-request.json"),
    include_str!("../../config/forms/review-request.json"),
    r##"{"type":["object","array","null"],"properties":{"a":{"const":{"b":[1,"c"]}},"b":{"enum":[1,1.5,"1",null,[1],{"a":1}]},"c":{"type":"array","uniqueItems":true,"contains":{"type":"integer"},"minContains":1,"maxContains":3}},"patternProperties":{"^x":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":9,"multipleOf":2}},"propertyNames":{"maxLength":3},"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"minProperties":2}},"items":{"type":["integer","string","array"]}}"##,
    r##"{"type":"object","allOf":[{"properties":{"a":{"type":"string","minLength":1,"maxLength":3}}},{"properties":{"b":{"type":"boolean"}}}],"anyOf":[{"required":["a"]},{"required":["b"]}],"unevaluatedProperties":{"type":"integer","minimum":-3,"maximum":3}}"##,
    r##"{"type":"array","prefixItems":[{"type":"integer"},{"type":"string","pattern":"^[a-c]+$"}],"unevaluatedItems":{"oneOf":[{"type":"integer"},{"type":"number","multipleOf":3},{"type":"null"}]},"maxItems":6}"##,
    r##"{"type":"object","properties":{"kind":{"enum":["a","b"]},"value":true},"if":{"properties":{"kind":{"const":"a"}},"required":["kind"]},"then":{"properties":{"value":{"type":"string","format":"date"}}},"else":{"properties":{"value":{"not":{"type":"string"}}}},"minProperties":1,"maxProperties":4}"##,
    r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"array","items":[{"type":"integer"},{"type":"string"}],"additionalItems":{"type":"null"}},"b":{"type":"string","format":"ipv4"}},"dependencies":{"a":["b"],"b":{"required":["a"]}}}"##,
    r##"{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":9},"b":{"type":"array","items":{"type":"number"},"uniqueItems":true}},"additionalProperties":{"type":"string","format":"uri"}}"##,
];

struct Pair {
    ours: CompiledForm,
    theirs: Validator,
    words: Vec<String>,
}

static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let mut lints = LintLevels::default();
    Lint::ALL.iter().for_each(|lint| lints.set(*lint, Level::Allow));
    let options =
        FormOptions { lints, annotations: Vec::new(), unroll: None, numbers: Numbers::Exact, max_body: 1 << 16 };
    let pair = |text: &&str| {
        let form: serde_json::Value = serde_json::from_str(text).unwrap();
        let theirs = jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(false)
            .with_pattern_options(PatternOptions::regex())
            .with_email_options(EmailOptions::default().without_display_text())
            .build(&form)
            .unwrap();
        let mut words: Vec<String> = text.split('"').skip(1).step_by(2).map(String::from).collect();
        words.sort();
        words.dedup();
        Pair { ours: CompiledForm::compile(text, &options).unwrap(), theirs, words }
    };
    FORMS.iter().map(pair).collect()
});

/// A body of the words of a form; `None` when the bytes are used up.
fn body(from: &mut Unstructured<'_>, words: &[String], depth: usize, out: &mut String) -> arbitrary::Result<()> {
    const TEXTS: &[&str] = &[
        "", "a", "abc", "2024-02-30", "2024-02-29", "10:00:00Z", "2024-02-29T10:00:00Z", "a@b.org", "http://x/y", "1.2.3.4",
        "\\u0061", "\\ud83d\\ude00", "\\n", "kB", "EUR", "0190163d-8694-739b-aea5-966c26f8ad91", "P1D",
    ];
    const NUMBERS: &[&str] = &["0", "-0", "1", "1.0", "2", "-1", "3", "9", "10", "1e1", "0.5", "1.5", "100", "1000000", "6", "2.50"];
    match from.int_in_range(0..=if depth > 4 { 5 } else { 9 })? {
        0 => out.push_str(["null", "true", "false"][from.int_in_range(0..=2)?]),
        1 => out.push_str(from.choose(NUMBERS)?),
        2 => write!(out, "{}", from.arbitrary::<i16>()?).unwrap(),
        3 => write!(out, "\"{}\"", from.choose(TEXTS)?).unwrap(),
        4 | 5 => write!(out, "\"{}\"", from.choose(words)?).unwrap(),
        6 => {
            out.push('[');
            for index in 0..from.int_in_range(0..=4)? {
                out.push_str(if index > 0 { "," } else { "" });
                body(from, words, depth + 1, out)?;
            }
            out.push(']');
        }
        _ => {
            out.push('{');
            for index in 0..from.int_in_range(0..=5)? {
                out.push_str(if index > 0 { "," } else { "" });
                write!(out, "\"{}\":", from.choose(words)?).unwrap();
                body(from, words, depth + 1, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// Whether a double holds every number as it is written, to the last digit that counts.
fn is_plain(value: Value<'_>) -> bool {
    if let Some(number) = value.as_number() {
        let text = number.text().trim_start_matches('-');
        return text.len() <= 15 && number.as_f64().abs() < 1e15 && (number.as_f64() == 0.0 || number.as_f64().abs() > 1e-5);
    }
    value.as_array().is_none_or(|array| array.elements().all(is_plain))
        && value.as_object().is_none_or(|object| object.members().all(|(_, value)| is_plain(value)))
}

fuzz_target!(|bytes: &[u8]| {
    let [form, made, rest @ ..] = bytes else { return };
    let pair = &PAIRS[usize::from(*form) % PAIRS.len()];
    let mut text = String::new();
    let body = if made % 4 == 0 {
        rest
    } else {
        if body(&mut Unstructured::new(rest), &pair.words, 0, &mut text).is_err() {
            return;
        }
        text.as_bytes()
    };
    let seen = pair.ours.glance(body);
    let mut document = Document::new();
    let Ok(value) = document.parse(body) else {
        assert_ne!(seen, Seen::Fits, "{}", String::from_utf8_lossy(body));
        return;
    };
    let admitted = pair.ours.admits(value);
    let contradicted = if admitted { Seen::Unfit } else { Seen::Fits };
    assert_ne!(seen, contradicted, "{}", String::from_utf8_lossy(body));
    if !is_plain(value) {
        return;
    }
    let Ok(other) = serde_json::from_slice::<serde_json::Value>(body) else { return };
    assert_eq!(admitted, pair.theirs.is_valid(&other), "{}", String::from_utf8_lossy(body));
    assert_eq!(admitted, pair.ours.mismatch(value).is_none());
});
