//! Hostile bodies and hostile forms cost what they weigh.

use super::{lenient, loads, refused, usual};
use crate::support::clock::{best, in_turn, used};
use formgate::form::CompiledForm;
use formgate::json::Document;
use formgate::lint::Lint;
use std::fmt::Write;
use std::time::Duration;

/// Far above what any of these takes, far below what any of them takes when it multiplies.
const SOON: Duration = Duration::from_secs(5);

/// The verdict, and whether a reason is given when it is a refusal; neither may take long.
fn timed(form: &CompiledForm, body: &str) -> bool {
    let mut document = Document::new();
    let value = document.parse(body.as_bytes()).unwrap();
    let start = used();
    let verdict = form.admits(value);
    assert_eq!(form.mismatch(value).is_none(), verdict);
    let took = used().saturating_sub(start);
    assert!(took < SOON, "{took:?}");
    verdict
}

/// `$defs` where each of `levels` is `wrap` with two references to the next, and the last is `end`.
fn doubled(levels: usize, wrap: &str, end: &str) -> String {
    let mut defs = String::new();
    for level in 0..levels {
        let next = format!("{{\"$ref\":\"#/$defs/n{}\"}}", level + 1);
        write!(defs, "\"n{level}\":{},", wrap.replace('@', &next)).unwrap();
    }
    format!("{{\"$ref\":\"#/$defs/n0\",\"$defs\":{{{defs}\"n{levels}\":{end}}}}}")
}

const TWO: &str =
    r#"{"anyOf":[{"properties":{"a":@},"required":["x"]},{"properties":{"a":@},"required":["y"]}]}"#;

fn nested(depth: usize, inner: &str) -> String {
    format!("{}{inner}{}", "{\"x\":1,\"y\":1,\"a\":".repeat(depth), "}".repeat(depth))
}

#[test]
fn alternatives_that_multiply_do_not() {
    for (wrap, end) in [
        (r#"{"anyOf":[@,@]}"#, r#"{"type":"null"}"#),
        (r#"{"allOf":[@,@]}"#, r#"{"type":"string"}"#),
        (TWO, r#"{"type":"null"}"#),
    ] {
        let form = loads(&doubled(40, wrap, end));
        assert!(!timed(&form, "1") || wrap == TWO);
        assert!(!timed(&form, &nested(60, "1")));
    }
    // Values that fit still do.
    let form = loads(&doubled(40, TWO, r#"{"type":"null"}"#));
    assert!(timed(&form, &nested(40, "null")));
    assert!(timed(&form, &nested(7, "null").replace("\"a\"", "\"b\"")));
}

#[test]
fn recursion_over_two_alternatives_does_not_multiply() {
    let form = loads(
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"null"},{"type":"object","required":["a","x"],"properties":{"a":{"$ref":"#/$defs/n"}}},{"type":"object","required":["a","y"],"properties":{"a":{"$ref":"#/$defs/n"}}}]}}}"##,
    );
    assert!(!timed(&form, &nested(120, "1")));
    assert!(timed(&form, &nested(120, "null")));
    let wide = r#"[1,2,{"a":3}],"#.repeat(4000);
    assert!(!timed(&form, &format!("[{wide}0]")));
}

#[test]
fn forms_whose_alternatives_multiply_are_warned_of() {
    let found = |text: &str| {
        let form = CompiledForm::compile(text, &usual()).unwrap();
        form.warnings().iter().any(|fault| fault.lint == Some(Lint::RepeatedWork))
    };
    assert!(found(&doubled(12, TWO, r#"{"type":"null"}"#)));
    assert!(!found(&doubled(4, TWO, r#"{"type":"null"}"#)));
    assert!(!found(&std::fs::read_to_string(super::cases("forms/home-command/form.json")).unwrap()));
    assert!(!found(&std::fs::read_to_string(super::cases("forms/text-tree/form.json")).unwrap()));
}

#[test]
fn long_chains_of_references_stay_on_the_stack() {
    let chain =
        |length: usize| doubled(length, r#"{"type":"object","properties":{"a":@}}"#, r#"{"type":"null"}"#);
    assert!(refused(&chain(2000))[0].reason.contains("lead through each other"));
    let form = loads(&chain(120));
    assert!(timed(&form, &nested(120, "null")));
    assert!(!timed(&form, &nested(120, "1")));
    let in_place = |length: usize| doubled(length, r#"{"allOf":[@]}"#, r#"{"type":"null"}"#);
    let form = loads(&in_place(120));
    assert!(timed(&form, "null") && !timed(&form, "1"));
    // As deep as text can nest.
    let deep = format!("{}{{\"type\":\"null\"}}{}", "{\"not\":{\"not\":".repeat(60), "}}".repeat(60));
    assert!(timed(&loads(&deep), "null"));
    let deeper = format!("{}{{}}{}", "{\"not\":".repeat(200), "}".repeat(200));
    assert!(CompiledForm::compile(&deeper, &lenient()).is_err());
}

#[test]
fn a_form_is_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    shared(&loads(r#"{"type":"null"}"#));
}

#[test]
fn a_reason_costs_no_more_than_a_verdict() {
    /// A reason is a verdict, and one look for where.
    fn costs(form: &CompiledForm, body: &str, pointer: &str) {
        let mut document = Document::new();
        let value = document.parse(body.as_bytes()).unwrap();
        let verdict = best(5, || assert!(!form.admits(value)));
        let reason = best(5, || assert_eq!(form.mismatch(value).unwrap().schema_pointer, pointer));
        println!("reason {reason:?}, verdict {verdict:?}");
        assert!(reason < verdict * 10 + Duration::from_millis(1), "{reason:?}, the verdict {verdict:?}");
    }
    let _turn = in_turn();
    // The validator by itself gathers 40 000 errors here.
    let form = loads(
        r#"{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"array","items":{"type":"integer"},"minItems":1}]}"#,
    );
    costs(&form, &format!("[{}[]]", "0,".repeat(20_000)), "/anyOf");
    // Where it recurs, too.
    let form = loads(
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#/$defs/n"}}]}}}"##,
    );
    costs(&form, &format!("{}\"x\"{}", "[".repeat(100), "]".repeat(100)), "/$defs/n/anyOf");
}
