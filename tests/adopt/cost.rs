//! What a document costs grows with its size and with nothing else: each kind is carried at 1, 2, 4 and 8 times.

use crate::support::clock::{best, in_turn};
use formgate::adopt::{Wanted, from_openapi};
use std::time::Duration;

/// A document with one operation, whose body is this schema.
fn document(schema: &str, components: &str, operation: &str) -> String {
    format!(
        r#"{{"openapi":"3.1.0","info":{{"title":"t","version":"1"}},"servers":[{{"url":"http://127.0.0.1:1"}}],
        "paths":{{"/act":{{"post":{{"operationId":"act",{operation}"requestBody":{{"content":{{"application/json":{{"schema":{schema}}}}}}}}}}}}},
        "components":{{"schemas":{{{components}}}}}}}"#
    )
}

fn joined(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect::<Vec<_>>().join(",")
}

/// Holds the cost at eight times the size to at most 32 times: linear is 8, n log n about 11, and quadratic 64.
fn assert_linear(name: &str, base: usize, make: impl Fn(usize) -> String) {
    /// Below this, what is measured is the clock.
    const FLOOR: Duration = Duration::from_millis(1);
    let _turn = in_turn();
    let wanted = Wanted { operations: Vec::new(), path_members: false };
    let texts = [1, 2, 4, 8].map(|times| make(base * times));
    let mut costs = [Duration::MAX; 4];
    for _ in 0..4 {
        for (cost, text) in costs.iter_mut().zip(&texts) {
            let once = best(1, || {
                from_openapi(text, "document.json", &wanted, &mut |_, _| {}).unwrap();
            });
            *cost = once.min(*cost);
        }
        if costs[3] <= costs[0].max(FLOOR) * 14 {
            break;
        }
    }
    println!("{name}: {costs:?} for {} to {} bytes", texts[0].len(), texts[3].len());
    assert!(costs[3] <= costs[0].max(FLOOR) * 32, "{name}: {costs:?}");
}

/// Refused as too large in the end, so that what is measured is the gathering.
const WIDE: &str = "a value so long that no form has room for so many";

#[test]
fn values() {
    let list = |count| joined(count, |n| format!("\"{n} {WIDE}\""));
    assert_linear("an enum", 5_000, |count| document(&format!(r#"{{"enum":[{}]}}"#, list(count)), "", ""));
    assert_linear("the values of two", 5_000, |count| {
        let list = list(count);
        document(&format!(r#"{{"allOf":[{{"enum":[{list}]}},{{"enum":[{list}]}}]}}"#), "", "")
    });
}

#[test]
fn members() {
    assert_linear("members, each required", 2_000, |count| {
        let names = joined(count, |n| format!("\"{n} {WIDE}\""));
        let members = joined(count, |n| format!("\"{n} {WIDE}\":{{\"type\":\"boolean\"}}"));
        let schema = format!(r#"{{"type":"object","properties":{{{members}}},"required":[{names}]}}"#);
        document(&schema, "", "")
    });
    assert_linear("members that are required and not declared", 2_000, |count| {
        let names = joined(count, |n| format!("\"{n} {WIDE}\""));
        let rest = r#""additionalProperties":{"type":"boolean"}"#;
        document(&format!(r#"{{"type":"object","required":[{names}],{rest}}}"#), "", "")
    });
}

#[test]
fn references() {
    let schemas = |count| joined(count, |n| format!("\"{n} {WIDE}\":{{\"type\":\"boolean\"}}"));
    assert_linear("each to its own schema", 2_000, |count| {
        let members = joined(count, |n| format!("\"m{n}\":{{\"$ref\":\"#/components/schemas/{n} {WIDE}\"}}"));
        let schema = format!(r#"{{"type":"object","properties":{{{members}}}}}"#);
        document(&schema, &schemas(count), "")
    });
}

#[test]
fn parts() {
    assert_linear("parts of an allOf", 2_000, |count| {
        let parts = joined(count, |n| format!("{{\"multipleOf\":{}}}", n + 1));
        // No value fits, so that no form is made of them.
        document(&format!(r#"{{"type":"integer","enum":["a"],"allOf":[{parts}]}}"#), "", "")
    });
    assert_linear("alternatives", 1_000, |count| {
        let parts =
            joined(count, |n| format!("{{\"type\":\"integer\",\"title\":\"{n} {}\"}}", WIDE.repeat(6)));
        document(&format!(r#"{{"anyOf":[{parts}]}}"#), "", "")
    });
}

#[test]
fn parameters_and_security() {
    let body = r#"{"type":"boolean"}"#;
    assert_linear("parameters", 5_000, |count| {
        let all = joined(count, |n| format!("{{\"in\":\"query\",\"name\":\"{n} {WIDE}\"}}"));
        document(body, "", &format!("\"parameters\":[{all}],"))
    });
    assert_linear("security schemes", 5_000, |count| {
        document(
            body,
            "",
            &format!("\"security\":[{}],", joined(count, |n| format!("{{\"{n} {WIDE}\":[]}}"))),
        )
    });
}
