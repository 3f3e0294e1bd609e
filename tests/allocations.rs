//! What the parser asks of the allocator: nothing, once its buffers have grown. A binary of its
//! own, because a process has one allocator.

use std::alloc::System;

use formgate::form::{CompiledForm, FormOptions, Numbers, Seen};
use formgate::json::{Document, Strict};
use formgate::lint::LintLevels;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn options() -> FormOptions {
    let (lints, numbers) = (LintLevels::default(), Numbers::SafeIntegers);
    FormOptions { lints, annotations: Vec::new(), unroll: None, numbers, max_body: 1 << 20 }
}

// One test: another thread's allocations would be counted too.
#[test]
fn parsing_again_allocates_nothing() {
    let members: Vec<_> =
        (0..100).map(|number| format!("\"n\\u0061me {number}\":[{number}.5e1,{{}},\"\\n\"]")).collect();
    let large = format!("{{{}}}", members.join(",\n  "));
    let nested = format!("{}{}", "[{\"a\":".repeat(60) + "1", "}]".repeat(60));
    let small = r#"{"id":"x","n":[1,2.5,1e3,-7,123456789012345678901234567890],"ok":true}"#;
    let broken = r#"{"a":1,"a":2}"#;
    let bodies = [large.as_str(), &nested, small, broken, "[\"\\ud800\"]", "", "[1e999]"];

    let mut document = Document::new();
    for body in bodies {
        let _ = document.parse(body.as_bytes());
    }
    let region = Region::new(ALLOCATOR);
    for body in bodies {
        let _ = document.parse(body.as_bytes());
    }
    let change = region.change();
    assert_eq!((change.allocations, change.reallocations, change.deallocations), (0, 0, 0), "{change:?}");

    // Nor does what judges most bodies: reading and validating in one.
    let form = include_str!("../benches/wire/form.json");
    let form = CompiledForm::compile(form, &options()).unwrap();
    let body = br#"{"customer":"cus_0123456789abcdef","currency":"SEK","note":"caf\u00e9 \"Zum\" Gr\u00fcn","express":true,"lines":[{"sku":"SKU-001","quantity":2,"price":9.95,"gift":false},{"sku":"SKU-002","quantity":1,"price":0}]}"#;
    assert_eq!(form.glance(body), Seen::Fits);
    let region = Region::new(ALLOCATOR);
    assert_eq!(form.glance(body), Seen::Fits);
    let change = region.change();
    assert_eq!((change.allocations, change.reallocations, change.deallocations), (0, 0, 0), "{change:?}");

    // What the validator adds is its own, and does not grow with the body.
    let form = serde_json::json!({"type": "object", "additionalProperties": {"type": "array", "items": {"type": ["number", "object", "string"]}}});
    let validator = jsonschema::options_for::<Strict>().build(&form).unwrap();
    let value = document.parse(large.as_bytes()).unwrap();
    assert!(validator.is_valid(value));
    let region = Region::new(ALLOCATOR);
    assert!(validator.is_valid(value));
    assert!(region.change().allocations <= 2, "{:?}", region.change());
}
