//! The reader of queries, held against the cases and against a second, naive one (B-26, B-27, B-29, U-14, U-20).

use super::file;
use crate::support::cases;
use formgate::form::{CompiledForm, FormOptions, Numbers};
use formgate::gateway::{Dropped, Flaw, MAX_QUERY, Plan};
use formgate::json::Document;
use formgate::lint::LintLevels;
use proptest::prelude::*;

pub(super) fn plan(form: &str) -> Plan {
    let options = FormOptions {
        lints: LintLevels::default(),
        annotations: Vec::new(),
        unroll: None,
        numbers: Numbers::Exact,
        max_body: 65536,
    };
    let compiled = CompiledForm::compile(form, &options).unwrap();
    Plan::of(&compiled, vec![Dropped::read("utm_*")]).unwrap()
}

fn case_plan(form: &str) -> Plan {
    plan(std::str::from_utf8(&cases::form(form)).unwrap())
}

/// A form with a member of each kind.
const KINDS: &str = r#"{ "type": "object", "additionalProperties": false, "properties": {
    "text": { "type": "string", "maxLength": 200 }, "whole": { "type": "integer" },
    "real": { "type": "number" }, "flag": { "type": "boolean" }, "é &=+%/": { "const": "x" } } }"#;

/// Also where nothing is sent, the body that is judged is the case's.
#[test]
fn every_case_becomes_its_body() {
    let mut count = 0;
    for form in ["meetings-start", "registrations-request", "review-request"] {
        let plan = case_plan(form);
        for case in file(form)["cases"].as_array().unwrap() {
            let query = case["query"].as_str().unwrap();
            assert!(plan.is_named_in(query), "{case}");
            if case["body"].is_object() {
                count += 1;
                let asked = plan.read(query).unwrap();
                // In the order of the form, whatever the case's is.
                let members = plan.parameters().iter().filter_map(|parameter| {
                    Some((parameter.name.clone(), case["body"].get(&parameter.name)?.clone()))
                });
                let body = serde_json::Value::Object(members.collect());
                assert_eq!(body, case["body"], "{case}");
                assert_eq!(asked.body, body.to_string(), "{case}");
            }
        }
    }
    assert!(count >= 13, "{count}");
}

#[test]
fn what_is_wrong_is_told_apart() {
    let plan = plan(KINDS);
    let long = "x".repeat(MAX_QUERY);
    for (query, flaw) in [
        ("text=a", Flaw::NoKey),
        ("text=a&nonce=", Flaw::NoKey),
        ("text=a&nonce=short", Flaw::KeyShape),
        ("text=a&nonce=abcdefgh%2F", Flaw::KeyShape),
        ("text=a&nonce=abcdefg%C3%A9", Flaw::KeyShape),
        ("nonce=abcdefgh&nonce=abcdefgh", Flaw::TwoKeys),
        ("nonce=abcdefgh&idempotency_key=abcdefgh", Flaw::TwoKeys),
        ("text=a&text=a&nonce=abcdefgh", Flaw::Repeated),
        ("text=a&te%78t=a&nonce=abcdefgh", Flaw::Repeated),
        ("text&nonce=abcdefgh", Flaw::Valueless),
        ("nonce", Flaw::Valueless),
        ("=a&nonce=abcdefgh", Flaw::Nameless),
        ("&nonce=abcdefgh", Flaw::Nameless),
        ("nonce=abcdefgh&", Flaw::Nameless),
        ("text[]=a&nonce=abcdefgh", Flaw::Unknown),
        ("text.a=a&nonce=abcdefgh", Flaw::Unknown),
        ("other=a&nonce=abcdefgh", Flaw::Unknown),
        ("token=a&nonce=abcdefgh", Flaw::Secret),
        ("text=Bearer+x&nonce=abcdefgh", Flaw::Secret),
        ("text=%&nonce=abcdefgh", Flaw::Encoding),
        ("text=%f&nonce=abcdefgh", Flaw::Encoding),
        ("text=%+1&nonce=abcdefgh", Flaw::Encoding),
        ("text=%C3&nonce=abcdefgh", Flaw::Encoding),
        ("%ff=a&nonce=abcdefgh", Flaw::Encoding),
        ("real=.5&nonce=abcdefgh", Flaw::Spelling),
        ("real=5.&nonce=abcdefgh", Flaw::Spelling),
        ("real=1e3&nonce=abcdefgh", Flaw::Spelling),
        ("real=NaN&nonce=abcdefgh", Flaw::Spelling),
        ("whole=-&nonce=abcdefgh", Flaw::Spelling),
        ("whole=1.0&nonce=abcdefgh", Flaw::Spelling),
        ("whole=%D9%A1&nonce=abcdefgh", Flaw::Spelling),
        ("flag=&nonce=abcdefgh", Flaw::Spelling),
        (&long, Flaw::Nameless),
        (&format!("{long}&nonce=abcdefgh"), Flaw::TooLong),
    ] {
        let read = plan.read(query);
        let told = if query.len() == MAX_QUERY { Err(Flaw::Nameless) } else { read };
        assert_eq!(told.err(), Some(flaw), "{query}");
    }
    let fine = plan.read(
        "%C3%A9+%26%3D%2B%25%2F=x&real=-0.50&whole=-0&flag=true&text=%00%0A&nonce=abc-._~H&utm_x&utm_y=%",
    );
    let asked = fine.unwrap();
    assert_eq!(asked.body, r#"{"text":"\u0000\n","whole":-0,"real":-0.50,"flag":true,"é &=+%/":"x"}"#);
    assert_eq!((asked.key.as_str(), asked.members.as_slice()), ("abc-._~H", [0, 1, 2, 3, 4].as_slice()));
    assert_eq!(plan.read("nonce=abcdefgh").unwrap().body, "{}");
}

/// As a page's form would send it, decoded in the plainest way.
fn naive(query: &str) -> Option<Vec<(String, Option<String>)>> {
    let decode = |text: &str| {
        let mut bytes = Vec::new();
        let mut chars = text.bytes();
        while let Some(byte) = chars.next() {
            bytes.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let digits = [chars.next()?, chars.next()?];
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return None;
                    }
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                other => other,
            });
        }
        String::from_utf8(bytes).ok()
    };
    query
        .split('&')
        .map(|pair| match pair.find('=') {
            Some(at) => Some((decode(&pair[..at])?, Some(decode(&pair[at + 1..])?))),
            None => Some((decode(pair)?, None)),
        })
        .collect()
}

fn piece() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "text",
        "whole",
        "real",
        "flag",
        "nonce",
        "idempotency_key",
        "utm_a",
        "other",
        "abcdefgh",
        "agent_req_001",
        "=",
        "&",
        "=",
        "&",
        "+",
        "%20",
        "%",
        "%C3%A9",
        "%FF",
        "%2",
        "%00",
        "true",
        "false",
        "-",
        "0",
        "007",
        "12",
        "1.5",
        ".",
        "[",
        "]",
        "\"",
        "\\",
        "Bearer",
        "token",
        "{",
        "é",
        "%26",
        "%3D",
        "text=a&nonce=abcdefgh",
        "&whole=1",
    ]);
    words.prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    /// No panic; what is read is what a plain reader sees, once each; and it is one strict object of the right types.
    #[test]
    fn any_query_is_read_right_or_not_at_all(pieces in prop::collection::vec(piece(), 0..24)) {
        let plan = plan(KINDS);
        let query = pieces.concat();
        let Ok(asked) = plan.read(&query) else { return Ok(()) };
        prop_assert!(plan.is_named_in(&query));
        let pairs: Vec<_> = query.split('&').filter(|pair| !pair.starts_with("utm_")).collect();
        let pairs = naive(&pairs.join("&")).expect("what is read can be decoded");
        let mut document = Document::new();
        let value = document.parse(&asked.body).expect("strict JSON").as_object().expect("an object");
        prop_assert_eq!(pairs.len(), value.len() + 1, "every pair is a member, or the key");
        for (name, text) in pairs {
            let text = text.expect("every name has a value");
            if name == "nonce" || name == "idempotency_key" {
                prop_assert_eq!(&asked.key, &text);
                continue;
            }
            let member = value.get(&name).expect("no name is lost");
            match name.as_str() {
                "whole" | "real" => prop_assert_eq!(member.as_number().expect("a number").text(), text),
                "flag" => prop_assert_eq!(member.as_bool().expect("a boolean"), text == "true"),
                _ => prop_assert_eq!(member.as_str().expect("a string"), text),
            }
        }
        let order: Vec<_> = value.members().map(|(name, _)| plan.parameters().iter().position(|own| own.name == name)).collect();
        prop_assert!(order.is_sorted() && order.iter().all(Option::is_some));
    }

    /// What is spelled is read back to the same value, whatever the text is.
    #[test]
    fn spelling_and_reading_are_each_others_inverse(text in "\\PC{0,40}|[\\x00-\\x7f]{0,40}", whole in any::<i64>(), flag: bool) {
        let plan = plan(KINDS);
        let body = serde_json::json!({ "text": text, "whole": whole, "flag": flag }).to_string();
        let mut document = Document::new();
        let value = document.parse(body.as_bytes()).unwrap().as_object().unwrap();
        let query = plan.spell(value).unwrap();
        prop_assert!(query.bytes().all(|byte| byte.is_ascii_graphic()));
        match plan.read(&format!("{query}&nonce=abcdefgh")) {
            Ok(asked) => prop_assert_eq!(asked.body, body),
            Err(flaw) => prop_assert_eq!(flaw, Flaw::Secret, "{}", text),
        }
    }

    #[test]
    fn any_text_is_survived(query in "\\PC{0,200}") {
        let plan = plan(KINDS);
        let _ = (plan.is_named_in(&query), plan.read(&query));
    }
}

/// Time goes with the length, whatever the query is made of.
#[test]
fn reading_is_linear() {
    let _turn = crate::support::clock::in_turn();
    let plan = plan(KINDS);
    let time = |unit: &str, length: usize| {
        let query = format!("text={}&nonce=abcdefgh", unit.repeat(length / unit.len()));
        crate::support::clock::best(5, || {
            for _ in 0..20 {
                std::hint::black_box(plan.read(std::hint::black_box(&query)).is_ok());
                std::hint::black_box(plan.is_named_in(std::hint::black_box(&query)));
            }
        })
    };
    for unit in [
        "a",
        "%41",
        "bearer+",
        "eyJ",
        "sk-",
        "eyJaaaaaaaa.",
        "4",
        "token=",
        "&x=1",
        "&text=",
        "&",
        "%",
        "basic+1",
        "ghp_",
        "=",
        "-",
    ] {
        let (short, long) = (time(unit, 1000), time(unit, 8000));
        assert!(
            long < short * 40 + std::time::Duration::from_micros(500),
            "{unit}: {short:?} at 1 KB, {long:?} at 8 KB"
        );
    }
}
