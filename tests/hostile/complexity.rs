//! What a body costs grows with its size and with nothing else: each kind is judged at 1, 2, 4 and 8
//! times, reasons included. Parsing alone is in `json::cost`, multiplying references in `form::cost`.

use crate::support::clock::{best, in_turn};
use formgate::form::{CompiledForm, FormOptions, Numbers};
use formgate::gateway::judge;
use formgate::json::Document;
use formgate::lint::{Level, Lint, LintLevels};
use std::time::Duration;

fn form(text: &str) -> CompiledForm {
    let mut lints = LintLevels::default();
    for lint in Lint::ALL {
        lints.set(*lint, Level::Allow);
    }
    let options = FormOptions {
        lints,
        annotations: Vec::new(),
        unroll: None,
        numbers: Numbers::Exact,
        max_body: usize::MAX,
    };
    CompiledForm::compile(text, &options).unwrap_or_else(|faults| panic!("{text}\n{faults:#?}"))
}

/// Holds the cost at eight times the size to at most 32 times: linear is 8, n log n about 11, and
/// quadratic 64.
fn assert_linear(name: &str, schema: &str, fits: bool, base: usize, make: impl Fn(usize) -> String) {
    /// Below this, what is measured is the clock.
    const FLOOR: Duration = Duration::from_micros(100);
    let _turn = in_turn();
    let form = form(schema);
    let bodies = [1, 2, 4, 8].map(|times| make(base * times));
    let mut document = Document::new();
    let mut costs = [Duration::MAX; 4];
    for _ in 0..12 {
        for (cost, body) in costs.iter_mut().zip(&bodies) {
            let once = best(1, || {
                let verdict = judge(&form, usize::MAX, &mut document, body.as_bytes());
                assert_eq!(verdict.is_ok(), fits, "{name}: {verdict:?}");
            });
            *cost = once.min(*cost);
        }
        if costs[3] <= costs[0].max(FLOOR) * 12 {
            break;
        }
    }
    println!("{name}: {costs:?} for {} to {} bytes", bodies[0].len(), bodies[3].len());
    assert!(costs[3] <= costs[0].max(FLOOR) * 32, "{name}: {costs:?}");
}

fn list(count: usize, element: impl Fn(usize) -> String) -> String {
    let elements: Vec<_> = (0..count).map(element).collect();
    format!("[{}]", elements.join(","))
}

fn object(count: usize, member: impl Fn(usize) -> String) -> String {
    let members: Vec<_> = (0..count).map(member).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn unique_items() {
    let unique = r#"{"type":"array","uniqueItems":true}"#;
    assert_linear("different numbers", unique, true, 1000, |count| list(count, |n| n.to_string()));
    assert_linear("numbers by zeros only", unique, true, 300, |count| {
        list(count, |n| format!("{n}.{}", "0".repeat(30)))
    });
    assert_linear("different objects", unique, true, 300, |count| {
        list(count, |n| format!("{{\"a\":1,\"b\":[{n}]}}"))
    });
    assert_linear("equal at the end, members in another order", unique, false, 300, |count| {
        let mut text = list(count, |n| format!("{{\"a\":1,\"b\":[{n}]}}"));
        text.truncate(text.len() - 1);
        text + ",{\"b\":[0.0],\"a\":10e-1}]"
    });
    assert_linear("twice the same at the end", unique, false, 1000, |count| {
        list(count, |n| format!("\"{:06}\"", n.min(count - 2)))
    });
    let everywhere = r##"{"type":"array","uniqueItems":true,"items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":["array","null"],"uniqueItems":true,"items":{"$ref":"#/$defs/n"}}}}"##;
    assert_linear("unique within unique", everywhere, true, 256, |count| {
        let mut text = "[]".to_owned();
        for _ in 1..count.ilog2() {
            text = format!("[{text},[{text}]]");
        }
        text
    });
}

#[test]
fn patterns() {
    for (pattern, fits) in [
        (r"^(?:a+)+$", false),
        (r"^(?:a|aa)+$", false),
        (r"^(?:a*)*b$", false),
        (r"(?:x+x+)+y", false),
        (r"^(?:[a-z]+ ?)*$", false),
        (r"(?:a?){50}a{50}z", false),
        (r"^(?:a|b|ab)*c?!$", true),
    ] {
        let schema = serde_json::json!({"type": "string", "pattern": pattern}).to_string();
        assert_linear(pattern, &schema, fits, 8000, |count| format!("\"{}!\"", "a".repeat(count)));
    }
    let names = r#"{"type":"object","patternProperties":{"^(?:a+)+$":{"type":"integer"},"b":{"minimum":0},"^[^c]*$":true},"propertyNames":{"pattern":"^(?:[a-z0-9]+)+$"},"additionalProperties":false}"#;
    assert_linear("names that patterns ask about", names, true, 300, |count| {
        object(count, |n| format!("\"aab{n}\":{n}"))
    });
    assert_linear("long names", names, false, 2000, |count| format!("{{\"{}!\":1}}", "a".repeat(count)));
    let formats = r#"{"type":"array","items":{"anyOf":[{"type":"string","format":"date-time"},{"type":"string","format":"email"},{"type":"string","format":"uri"},{"type":"string","format":"ipv6"},{"type":"string","format":"hostname"},{"type":"string","format":"json-pointer"}]}}"#;
    for text in ["a.", "a@", "::", "/~", "1-", "%", "(", "["] {
        assert_linear(&format!("formats of {text}"), formats, false, 4000, |count| {
            format!("[\"{}!~\"]", text.repeat(count))
        });
    }
}

#[test]
fn alternatives() {
    let mut nest = r#"{"type":"integer"}"#.to_owned();
    for level in 0..5 {
        nest = format!(r#"{{"anyOf":[{{"type":"string","maxLength":{level}}},{{"type":"null"}},{nest}]}}"#);
    }
    let nest = format!(r#"{{"type":"array","items":{nest}}}"#);
    assert_linear("nested anyOf, all fit", &nest, true, 300, |count| list(count, |n| n.to_string()));
    assert_linear("nested anyOf, none fits", &nest, false, 300, |count| list(count, |_| "[1]".to_owned()));
    let one_of =
        r#"{"type":"array","items":{"oneOf":[{"required":["a"]},{"required":["b"]},{"maxProperties":0}]}}"#;
    assert_linear("oneOf", one_of, true, 300, |count| list(count, |n| format!("{{\"b\":{n}}}")));
    assert_linear("oneOf, the last fits twice", one_of, false, 300, |count| {
        list(count, |n| if n + 1 == count { "{\"a\":1,\"b\":1}".to_owned() } else { "{}".to_owned() })
    });
    let whole = r#"{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"array","items":{"type":"string"}},{"type":"array","contains":{"const":true}}]}"#;
    assert_linear("anyOf over the whole, many errors", whole, false, 1000, |count| {
        list(count, |n| if n % 2 == 0 { "1".to_owned() } else { "\"1\"".to_owned() })
    });
    let condition = r#"{"type":"array","items":{"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"required":["b"]},"else":{"not":{"required":["c"]}}}}"#;
    assert_linear("conditions", condition, true, 300, |count| {
        list(count, |n| format!("{{\"a\":1,\"b\":{n}}}"))
    });
}

#[test]
fn references() {
    let tree = r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"c":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["v"],"additionalProperties":false}}}"##;
    assert_linear("a wide tree", tree, true, 200, |count| {
        format!("{{\"v\":0,\"c\":{}}}", list(count, |n| format!("{{\"v\":{n},\"c\":[]}}")))
    });
    let chain = |end: &'static str| {
        move |depth: usize| format!("{}{end}{}", "{\"v\":1,\"c\":[".repeat(depth), "]}".repeat(depth))
    };
    assert_linear("a deep tree", tree, true, 7, chain("{\"v\":1}"));
    assert_linear("a deep tree, wrong at the end", tree, false, 7, chain("{\"v\":\"1\"}"));
    let either = r##"{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"null"},{"type":"object","properties":{"l":{"$ref":"#/$defs/n"},"r":{"$ref":"#/$defs/n"}},"additionalProperties":false}]}}}"##;
    assert_linear("a tree of alternatives", either, true, 128, |count| {
        let mut text = "null".to_owned();
        for _ in 0..count.ilog2() {
            text = format!("{{\"l\":{text},\"r\":{text}}}");
        }
        text
    });
}

#[test]
fn errors_and_values() {
    let integers = r#"{"type":"array","items":{"type":"integer","minimum":0,"multipleOf":1}}"#;
    assert_linear("every element is wrong", integers, false, 1000, |count| {
        list(count, |_| "\"\"".to_owned())
    });
    assert_linear("the last element is wrong", integers, false, 1000, |count| {
        list(count, |n| if n + 1 == count { "-1".to_owned() } else { n.to_string() })
    });
    assert_linear("long numbers", integers, true, 100, |count| list(count, |_| "9".repeat(64)));
    let closed = r#"{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}"#;
    assert_linear("members nobody declared", closed, false, 500, |count| {
        object(count, |n| format!("\"n{n}\":1"))
    });
    let values: Vec<_> = (0..500).map(|n| format!("\"value {n}\"")).collect();
    let words = format!(r#"{{"type":"array","items":{{"enum":[{}]}}}}"#, values.join(","));
    assert_linear("a large enum of words", &words, true, 100, |count| {
        list(count, |n| format!("\"value {}\"", n % 500))
    });
    let values: Vec<_> = (0..300).map(|n| format!("{n}.5")).collect();
    let numbers = format!(r#"{{"type":"array","items":{{"enum":[{}]}}}}"#, values.join(","));
    assert_linear("a large enum of numbers, none fits", &numbers, false, 50, |count| {
        list(count, |n| format!("{n}.75"))
    });
    let properties: Vec<_> = (0..300).map(|n| format!("\"n{n}\":{{\"type\":\"integer\"}}")).collect();
    let wide = format!(
        r#"{{"type":"array","items":{{"type":"object","properties":{{{}}},"additionalProperties":false}}}}"#,
        properties.join(",")
    );
    assert_linear("many declared members", &wide, true, 20, |count| {
        list(count, |_| object(50, |n| format!("\"n{n}\":1")))
    });
    let contains =
        r#"{"type":"array","contains":{"type":"integer","minimum":5},"minContains":2,"maxContains":3}"#;
    assert_linear("contains", contains, false, 1000, |count| list(count, |n| (n % 5).to_string()));
}

#[test]
fn unevaluated() {
    let members = r#"{"type":"object","allOf":[{"properties":{"a":true}},{"patternProperties":{"^b":{"type":"integer"}}}],"anyOf":[{"required":["zz"]},{"patternProperties":{"^c":{"type":"integer"}}}],"unevaluatedProperties":false}"#;
    assert_linear("unevaluatedProperties", members, true, 200, |count| {
        object(count, |n| format!("\"{}{n}\":{n}", if n % 2 == 0 { "b" } else { "c" }))
    });
    assert_linear("unevaluatedProperties, the last is one", members, false, 200, |count| {
        object(count, |n| format!("\"{}{n}\":{n}", if n + 1 == count { "d" } else { "b" }))
    });
    let elements = r#"{"type":"array","anyOf":[{"prefixItems":[{"type":"integer"}]},{"minItems":1}],"contains":{"type":"integer"},"unevaluatedItems":{"type":"string"}}"#;
    assert_linear("unevaluatedItems", elements, true, 200, |count| {
        list(count, |n| if n % 2 == 0 { n.to_string() } else { format!("\"{n}\"") })
    });
    assert_linear("unevaluatedItems, the last is one", elements, false, 200, |count| {
        list(count, |n| if n + 1 == count { "null".to_owned() } else { n.to_string() })
    });
    let recursive = r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#/$defs/n"}}},{"required":["zz"]}],"unevaluatedProperties":false}}}"##;
    let form = form(recursive);
    let mut document = Document::new();
    let _turn = in_turn();
    // Looked at by the alternatives and by `unevaluatedProperties`: twice a level, unless it is counted.
    for depth in [10, 20, 40, 80, 120] {
        for end in ["{}", "1", "{\"b\":1}"] {
            let body = format!("{}{end}{}", "{\"a\":".repeat(depth), "}".repeat(depth));
            let cost = best(1, || {
                let verdict = judge(&form, usize::MAX, &mut document, body.as_bytes());
                assert_eq!(verdict.is_ok(), end == "{}", "{depth} levels to {end}: {verdict:?}");
            });
            println!("unevaluatedProperties down {depth} levels to {end}: {cost:?}");
            assert!(cost < Duration::from_secs(1), "{depth} levels to {end}: {cost:?}");
        }
    }
}
