//! A glance never contradicts the parser and the validator, and it sees most of what fits.

use super::{cases, decides, lenient, loads, read, usual};
use crate::support::clock::{best, in_turn};
use formgate::form::{CompiledForm, FormOptions, Seen};
use formgate::json::Document;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

/// What of the bodies that fit a shipped form is rare enough to be left to the validator.
fn is_rare(form: &str, body: &[u8]) -> bool {
    // Forms that recur have no plan; exponents, `2.0` and escaped words of an `enum` or a pattern are the parser's.
    let has = |wanted: &[u8]| body.windows(wanted.len()).any(|found| found == wanted);
    form == "text-tree"
        || has(b".0")
        || body.contains(&b'\\')
        || body.windows(2).any(|two| matches!(two, [b'0'..=b'9', b'e' | b'E']))
}

#[test]
fn what_fits_a_shipped_form_is_seen_to_fit() {
    let mut seen = 0;
    for entry in std::fs::read_dir(cases("forms")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(files) = std::fs::read_dir(folder.join("accept")) else { continue };
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let form = CompiledForm::compile(&read(&folder.join("form.json")), &usual()).unwrap();
        for file in files.map(|file| file.unwrap().path()) {
            let body = std::fs::read(&file).unwrap();
            assert!(decides(&form, &body));
            if !is_rare(&name, &body) {
                assert_eq!(form.glance(&body), Seen::Fits, "{}", file.display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 30, "{seen} bodies");
}

const FORM: &str = r##"{
    "type": "object",
    "properties": {
        "a": {"type": "integer", "minimum": 1, "maximum": 9},
        "long name": {"type": "string", "minLength": 2, "maxLength": 4},
        "a name that is longer than two words": {"enum": ["x", "\"y", null, true]},
        "n": {"type": "number", "exclusiveMinimum": 0, "maximum": 2.5, "multipleOf": 0.25},
        "q\"": {"type": "null"},
        "list": {"type": "array", "items": {"$ref": "#/$defs/word"}, "minItems": 1, "maxItems": 3, "uniqueItems": true},
        "one": {"oneOf": [{"type": "string", "maxLength": 3}, {"type": "string", "minLength": 3}, {"type": "integer"}]},
        "some": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/word", "maxLength": 2}]},
        "any": true,
        "never": false
    },
    "required": ["a"],
    "additionalProperties": false,
    "maxProperties": 3,
    "$defs": {"word": {"type": "string", "pattern": "^[a-z]+$"}}
}"##;

#[test]
fn what_is_seen_and_what_is_left_open() {
    let form = loads(FORM);
    for (body, expected) in [
        (r#"{"a":1}"#, Seen::Fits),
        (" {\t\"a\" :\r\n9 } \n", Seen::Fits),
        (r#"{"a":0}"#, Seen::Unfit),
        (r#"{"a":10}"#, Seen::Unfit),
        (r#"{"a":-0}"#, Seen::Unfit),
        (r#"{"a":1.0}"#, Seen::Unsure),
        (r#"{"a":1e0}"#, Seen::Unsure),
        (r#"{"a":01}"#, Seen::Unsure),
        (r#"{"a":1.}"#, Seen::Unsure),
        (r#"{"a":-}"#, Seen::Unsure),
        (r#"{"a":1111111111111111}"#, Seen::Unsure),
        (r#"{"a":1,}"#, Seen::Unsure),
        (r#"{"a":1"#, Seen::Unsure),
        (r#"{"a":1}}"#, Seen::Unsure),
        (r#"{"a":1,"a":1}"#, Seen::Unsure),
        (r#"{"\u0061":1}"#, Seen::Unsure),
        ("{}", Seen::Unfit),
        ("[]", Seen::Unfit),
        ("nul", Seen::Unfit),
        ("\u{feff}{\"a\":1}", Seen::Unsure),
        (r#"{"a":1,"b":2}"#, Seen::Unfit),
        (r#"{"a":1,b:2}"#, Seen::Unsure),
        (r#"{"long name":"öß","a":1}"#, Seen::Fits),
        (r#"{"long name":"ö","a":1}"#, Seen::Unfit),
        (r#"{"long name":"öööö","a":1}"#, Seen::Fits),
        (r#"{"long name":"ööööö","a":1}"#, Seen::Unfit),
        (r#"{"long name":"\ud83d\ude00\n","a":1}"#, Seen::Fits),
        (r#"{"long name":"\ud83d\ude00","a":1}"#, Seen::Unfit),
        (r#"{"long name":"\ud83d..","a":1}"#, Seen::Unsure),
        (r#"{"long name":"\x..","a":1}"#, Seen::Unsure),
        ("{\"long name\":\"a\tb\",\"a\":1}", Seen::Unsure),
        (r#"{"a":1,"a name that is longer than two words":"x"}"#, Seen::Fits),
        (r#"{"a":1,"a name that is longer than two words":"\"y"}"#, Seen::Unsure),
        (r#"{"a":1,"a name that is longer than two words":"y"}"#, Seen::Unfit),
        (r#"{"a":1,"a name that is longer than two words":true}"#, Seen::Fits),
        (r#"{"a":1,"a name that is longer than two words":false}"#, Seen::Unfit),
        (r#"{"a":1,"a name that is longer than two wordS":null}"#, Seen::Unfit),
        (r#"{"a":1,"n":0.25}"#, Seen::Fits),
        (r#"{"a":1,"n":2.50}"#, Seen::Fits),
        (r#"{"a":1,"n":2.75}"#, Seen::Unfit),
        (r#"{"a":1,"n":0.3}"#, Seen::Unfit),
        (r#"{"a":1,"n":0.00}"#, Seen::Unfit),
        (r#"{"a":1,"n":-0.25}"#, Seen::Unfit),
        (r#"{"a":1,"q\"":null}"#, Seen::Unsure),
        (r#"{"a":1,"q"":null}"#, Seen::Unfit),
        (r#"{"a":1,"list":["a","b","c"]}"#, Seen::Fits),
        (r#"{"a":1,"list":["a","b","a"]}"#, Seen::Unfit),
        (r#"{"a":1,"list":["a","B"]}"#, Seen::Unfit),
        (r#"{"a":1,"list":["a","b","c","d"]}"#, Seen::Unfit),
        (r#"{"a":1,"list":[ ]}"#, Seen::Unfit),
        (r#"{"a":1,"list":["a",]}"#, Seen::Unsure),
        (r#"{"a":1,"list":["\u0061"]}"#, Seen::Unsure),
        (r#"{"a":1,"one":"ab"}"#, Seen::Fits),
        (r#"{"a":1,"one":"abc"}"#, Seen::Unfit),
        (r#"{"a":1,"one":7}"#, Seen::Fits),
        (r#"{"a":1,"one":7.0}"#, Seen::Unsure),
        (r#"{"a":1,"one":null}"#, Seen::Unfit),
        (r#"{"a":1,"some":null}"#, Seen::Fits),
        (r#"{"a":1,"some":"ab"}"#, Seen::Fits),
        (r#"{"a":1,"some":"abc"}"#, Seen::Unfit),
        (r#"{"a":1,"any":1}"#, Seen::Unsure),
        (r#"{"a":1,"never":1}"#, Seen::Unfit),
        (r#"{"a":1,"some":null,"n":1,"one":1}"#, Seen::Unfit),
    ] {
        assert_eq!(form.glance(body.as_bytes()), expected, "{body}");
        decides(&form, body.as_bytes());
    }
    assert_eq!(form.glance(b"{\"a\":1,\"long name\":\"a\xFFb\"}"), Seen::Unsure);
}

/// Forms that hardly a body would be seen to fit are not looked at; the depth of a body is bounded as the parser's.
#[test]
fn there_is_a_plan_where_it_is_worth_one_and_it_is_no_deeper_than_the_parser() {
    for form in [
        "{}",
        r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"patternProperties":{"^x":true}}"#,
        r#"{"type":"object","properties":{"a":{"type":"integer"}},"not":{"required":["a"]}}"#,
        r##"{"type":"array","items":{"$ref":"#"}}"##,
    ] {
        for body in [r#"{"a":"b"}"#, "[]", "[[]]"] {
            assert_eq!(loads(form).glance(body.as_bytes()), Seen::Unsure, "{form} {body}");
        }
    }
    let form = |depth: usize| {
        let mut form = json!({"type": "integer"});
        for _ in 0..depth {
            form = json!({"type": "array", "items": form});
        }
        CompiledForm::compile(&form.to_string(), &lenient())
    };
    let body = |depth: usize| "[".repeat(depth) + "1" + &"]".repeat(depth);
    let form_of_60 = form(60).unwrap();
    assert_eq!(form_of_60.glance(body(60).as_bytes()), Seen::Fits);
    assert_eq!(form_of_60.glance(body(61).as_bytes()), Seen::Unfit);
}

/// Alternatives read a value again, so many that the judges would be cheaper are left to them: what a look costs is bounded
/// by the length of the body, whatever the form.
#[test]
fn alternatives_do_not_multiply_what_a_look_costs() {
    let lengths: Vec<_> =
        (0..900).map(|more| json!({"type": "string", "minLength": 1_000_000 + more})).collect();
    let actions = |count: usize| {
        let one = |number| {
            json!({"type": "object", "required": ["text", "kind"], "additionalProperties": false, "properties": {
                "text": {"type": "string", "maxLength": 100_000}, "kind": {"enum": [format!("k{number}")]}}})
        };
        json!({"oneOf": (0..count).map(one).collect::<Vec<_>>()}).to_string()
    };
    let text = "\\n".repeat(29_000);
    let late = format!(r#"{{"text":"{text}","kind":"k0"}}"#);
    let early = format!(r#"{{"kind":"k0","text":"{text}"}}"#);
    let levels = (0..7).fold(json!({"type": "string", "maxLength": 10}), |within, _| {
        json!({"oneOf": [{"type": "array", "items": within}, {"type": "array", "items": within, "minItems": 2}]})
    });
    // What an alternative within an alternative has read counts as well.
    let within = |more: usize| {
        let long = json!({"anyOf": [{"type": "string", "minLength": 1_000_000 + more}]});
        json!({"type": "object", "properties": {"text": long}, "required": ["text"], "additionalProperties": false})
    };
    let within = json!({ "anyOf": (0..200).map(within).collect::<Vec<_>>() }).to_string();
    let _turn = in_turn();
    let mut document = Document::new();
    let parse = best(5, || assert!(document.parse(late.as_bytes()).is_ok()));
    for (form, body, seen) in [
        (json!({ "anyOf": lengths }).to_string(), format!("\"{text}\""), Seen::Unsure),
        (json!({ "anyOf": lengths }).to_string(), format!("\"{text}\\q\""), Seen::Unsure),
        (json!({ "anyOf": lengths }).to_string(), "1".repeat(60_000), Seen::Unfit),
        (within, format!("{{\"text\":\"{text}\"}}"), Seen::Unsure),
        (actions(300), late.clone(), Seen::Unsure),
        (actions(300), early, Seen::Fits),
        (actions(2), late, Seen::Fits),
        (levels.to_string(), format!("{}\"{text}\"{}", "[".repeat(7), "]".repeat(7)), Seen::Unsure),
    ] {
        let form = CompiledForm::compile(&form, &FormOptions { max_body: 1 << 20, ..lenient() }).unwrap();
        assert_eq!(form.glance(body.as_bytes()), seen, "{}", &form.published()[..80]);
        decides(&form, body.as_bytes());
        let look = best(5, || assert_eq!(form.glance(body.as_bytes()), seen));
        assert!(
            look < 12 * parse + Duration::from_millis(1),
            "{look:?}, parsing {parse:?}: {}",
            &form.published()[..80]
        );
    }
}

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "ab", "é", "", "a\"", "a much longer name", "kind"])
}

fn number() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "0",
        "1",
        "-1",
        "2",
        "0.5",
        "-0.5",
        "1.0",
        "1.5",
        "3",
        "10",
        "1e1",
        "-0",
        "0.25",
        "100000000000000000",
    ])
}

/// A form as text, of what a plan knows and of some that it does not.
fn form() -> impl Strategy<Value = String> {
    let text = |word: &str| json!(word).to_string();
    let bound = prop::sample::select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);
    let numbers =
        (prop::sample::select(vec!["integer", "number"]), prop::collection::btree_map(bound, number(), 0..3))
            .prop_map(|(kind, bounds)| {
                let bounds: Vec<_> =
                    bounds.iter().map(|(name, number)| format!(r#","{name}":{number}"#)).collect();
                let bounds = bounds.concat();
                format!(r#"{{"type":"{kind}"{bounds}}}"#)
            });
    let values = prop::collection::btree_set(
        prop_oneof![
            word().prop_map(text),
            number().prop_map(String::from),
            Just("null".into()),
            Just("true".into())
        ],
        1..4,
    );
    let leaf = prop_oneof![
        numbers,
        (0..3_u8, 0..4_u8).prop_map(|(least, more)| format!(
            r#"{{"type":"string","minLength":{least},"maxLength":{}}}"#,
            least + more
        )),
        values.clone().prop_map(|values| format!(r#"{{"enum":[{}]}}"#, Vec::from_iter(values).join(","))),
        values.prop_map(|values| format!(
            r#"{{"type":["string","null"],"enum":[{}]}}"#,
            Vec::from_iter(values).join(",")
        )),
        word().prop_map(move |word| format!(r#"{{"const":{}}}"#, text(word))),
        prop::sample::select(vec![
            r#"{"type":"boolean"}"#,
            r#"{"type":["null","integer"]}"#,
            r#"{"type":"string","pattern":"^a"}"#,
            "true",
            "false",
            r#"{"maxLength":1}"#,
            r#"{"type":"number","multipleOf":0.5}"#,
            r#"{"type":"string","format":"date"}"#,
            r#"{"not":{"type":"null"}}"#,
        ])
        .prop_map(String::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let several = prop::collection::vec(inner.clone(), 1..4);
        let members = prop::collection::btree_map(word(), (inner.clone(), any::<bool>()), 0..4);
        let rest = prop::sample::select(vec!["", r#","additionalProperties":false"#, r#","additionalProperties":{"type":"null"}"#, r#","maxProperties":2"#]);
        prop_oneof![
            3 => (members, rest).prop_map(move |(members, rest)| {
                let required: Vec<_> = members.iter().filter(|(_, (_, must))| *must).map(|(name, _)| text(name)).collect();
                let members: Vec<_> = members.iter().map(|(name, (form, _))| format!("{}:{form}", text(name))).collect();
                format!(r#"{{"type":"object","properties":{{{}}},"required":[{}]{rest}}}"#, members.join(","), required.join(","))
            }),
            2 => (inner.clone(), 0..3_u8, any::<bool>()).prop_map(|(form, most, unique)| {
                format!(r#"{{"type":"array","items":{form},"maxItems":{most},"uniqueItems":{unique}}}"#)
            }),
            2 => (prop::sample::select(vec!["anyOf", "oneOf", "allOf"]), several).prop_map(|(keyword, forms)| {
                format!(r#"{{"{keyword}":[{}]}}"#, forms.join(","))
            }),
            // Meant from the root: what stands deeper is refused at load, and drawn again.
            1 => inner.prop_map(|form| format!(r##"{{"$ref":"#/$defs/x","$defs":{{"x":{form}}}}}"##)),
        ]
    })
}

fn body() -> impl Strategy<Value = String> {
    let quoted = |word: &str, escaped: bool| {
        if escaped {
            format!("\"{}\"", word.escape_unicode().to_string().replace("\\u{", "\\u00").replace('}', ""))
        } else {
            json!(word).to_string()
        }
    };
    let leaf = prop_oneof![
        3 => (word(), prop::bool::weighted(0.1)).prop_map(move |(word, escaped)| quoted(word, escaped)),
        2 => number().prop_map(String::from),
        1 => prop::sample::select(vec!["null", "true", "false", "[]", "{}", "\"2024-02-29\""]).prop_map(String::from),
    ];
    leaf.prop_recursive(4, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|elements| format!("[{}]", elements.join(", "))),
            prop::collection::vec((word(), prop::bool::weighted(0.1), inner), 0..4).prop_map(
                move |members| {
                    let members: Vec<_> = members
                        .iter()
                        .map(|(name, escaped, value)| format!("{}: {value}", quoted(name, *escaped)))
                        .collect();
                    format!("{{{}}}", members.join(","))
                }
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, max_global_rejects: 60_000, ..ProptestConfig::default() })]

    #[test]
    fn no_form_is_seen_otherwise_than_it_decides(
        form in form(),
        bodies in prop::collection::vec(body(), 24),
        wounds in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 24),
    ) {
        let Ok(form) = CompiledForm::compile(&form, &lenient()) else { return Err(TestCaseError::reject("does not load")) };
        for (body, (at, byte)) in bodies.into_iter().zip(wounds) {
            // `decides` holds the glance against its verdict.
            decides(&form, body.as_bytes());
            let mut wounded = body.into_bytes();
            let at = at.index(wounded.len());
            wounded[at] = byte;
            decides(&form, &wounded);
            wounded.truncate(at);
            decides(&form, &wounded);
        }
    }
}
