//! The query of a GET-Action against a second, plain reading of it.
#![no_main]

use formgate::form::{CompiledForm, FormOptions, Numbers};
use formgate::lint::LintLevels;
use formgate::gateway::{Dropped, MAX_QUERY, Plan};
use formgate::json::Document;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

const FORM: &str = r#"{ "type": "object", "additionalProperties": false, "properties": {
    "text": { "type": "string", "maxLength": 200 }, "whole": { "type": "integer" },
    "real": { "type": "number" }, "flag": { "type": "boolean" }, "é &=+%/": { "enum": ["x", "y"] } } }"#;

static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let options = FormOptions {
        lints: LintLevels::default(),
        annotations: Vec::new(),
        unroll: None,
        numbers: Numbers::Exact,
        max_body: 65536,
    };
    let form = CompiledForm::compile(FORM, &options).expect("it compiles");
    Plan::of(&form, vec![Dropped::read("utm_*"), Dropped::read("fbclid")]).expect("a query can spell it")
});

/// `application/x-www-form-urlencoded`, a byte at a time.
fn plain(text: &str) -> Option<String> {
    let (mut out, bytes, mut at) = (Vec::new(), text.as_bytes(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = text.get(at + 1..at + 3).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
                out.push(u8::from_str_radix(digits, 16).ok()?);
                at += 2;
            }
            other => out.push(other),
        }
        at += 1;
    }
    String::from_utf8(out).ok()
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(query) = std::str::from_utf8(bytes) else { return };
    let named = PLAN.is_named_in(query);
    let Ok(asked) = PLAN.read(query) else { return };
    assert!(named && query.len() <= MAX_QUERY);
    assert!((8..=128).contains(&asked.key.len()));
    assert!(asked.key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)));
    let mut document = Document::new();
    let value = document.parse(&asked.body).expect("one strict JSON value").as_object().expect("an object");
    assert_eq!(value.len(), asked.members.len());
    let mut members = 0;
    for pair in query.split('&') {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        let name = plain(name).expect("every name is decoded");
        if name.starts_with("utm_") || name == "fbclid" {
            continue;
        }
        assert!(pair.contains('='), "a name without a value");
        let text = plain(text).expect("every value is decoded");
        if name == "nonce" || name == "idempotency_key" {
            assert_eq!(asked.key, text);
            continue;
        }
        members += 1;
        let member = value.get(&name).expect("no member is lost");
        match name.as_str() {
            "whole" | "real" => {
                assert_eq!(member.as_number().expect("a number").text(), text);
                assert!(text.parse::<f64>().is_ok() && !text.contains(['e', 'E', '+', ' ']));
            }
            "flag" => assert_eq!(member.as_bool().map(|flag| flag.to_string()), Some(text)),
            _ => assert_eq!(member.as_str(), Some(text.as_str())),
        }
    }
    assert_eq!(members, value.len(), "nothing is made up");
    // And back: what is spelled from the body means the same body.
    let spelled = PLAN.spell(value).expect("it came from a query");
    let again = PLAN.read(&format!("{spelled}{}nonce={}", if spelled.is_empty() { "" } else { "&" }, asked.key));
    assert_eq!(again.expect("what is spelled is read").body, asked.body);
});
