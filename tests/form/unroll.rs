//! Recursion written out: what is published bounds itself, and is what is enforced.

use super::{cases, decides, lenient, read, usual};
use formgate::form::{CompiledForm, FormFault};
use formgate::lint::Lint;

fn unrolled(text: &str, levels: u32) -> Result<CompiledForm, Vec<FormFault>> {
    let mut options = usual();
    options.unroll = Some(levels);
    CompiledForm::compile(text, &options)
}

/// The text tree as its author would write it before unrolling.
const TREE: &str = r##"{
  "type": "object",
  "description": "A line of rich text.",
  "properties": {"children": {"type": "array", "minItems": 1, "maxItems": 16, "items": {"$ref": "#/$defs/node"}}},
  "required": ["children"],
  "additionalProperties": false,
  "$defs": {
    "text": {"type": "object", "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 500}}, "required": ["text"], "additionalProperties": false},
    "node": {"anyOf": [
      {"$ref": "#/$defs/text"},
      {"type": "object", "properties": {"style": {"type": "string", "enum": ["bold", "italic", "code", "quote"]}, "children": {"type": "array", "minItems": 1, "maxItems": 8, "items": {"$ref": "#/$defs/node"}}}, "required": ["style", "children"], "additionalProperties": false}
    ]}
  }
}"##;

#[test]
fn the_text_tree_unrolls_to_what_is_shipped() {
    let form = unrolled(TREE, 3).unwrap();
    let shipped: serde_json::Value =
        serde_json::from_str(&read(&cases("forms/text-tree/form.json"))).unwrap();
    let published: serde_json::Value =
        serde_json::from_str(&form.published().replace("node\"", "node1\"").replace("At most three", ""))
            .unwrap();
    assert_eq!(published["$defs"], shipped["$defs"]);
    assert_eq!(published["properties"], shipped["properties"]);
    for (verdict, kind) in [(true, "accept"), (false, "reject")] {
        for file in std::fs::read_dir(cases("forms/text-tree").join(kind)).unwrap() {
            let file = file.unwrap().path();
            assert_eq!(decides(&form, &std::fs::read(&file).unwrap()), verdict, "{}", file.display());
        }
    }
    assert!(form.warnings().iter().all(|fault| fault.lint != Some(Lint::UnboundedRecursion)));
}

#[test]
fn optional_members_close_and_arrays_stay_empty() {
    let text = r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"t":{"type":"string","maxLength":1},"left":{"$ref":"#/$defs/n"},"kids":{"type":"array","maxItems":4,"items":{"$ref":"#/$defs/n"}}},"required":["t"],"additionalProperties":false}}}"##;
    let form = unrolled(text, 1).unwrap();
    for (body, verdict) in [
        (r#"{"t":"a"}"#, true),
        (r#"{"t":"a","left":{"t":"b"}}"#, true),
        (r#"{"t":"a","kids":[{"t":"b","kids":[]}]}"#, true),
        (r#"{"t":"a","kids":[{"t":"b","kids":[{"t":"c"}]}]}"#, false),
        (r#"{"t":"a","left":{"t":"b","left":{"t":"c"}}}"#, false),
    ] {
        assert_eq!(decides(&form, body.as_bytes()), verdict, "{body}\n{}", form.published());
    }
    assert_eq!(unrolled(form.published(), 1).unwrap().published(), form.published());
}

#[test]
fn open_objects_refuse_the_member_that_recurs() {
    let text = r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}"##;
    let form = unrolled(text, 2).unwrap();
    assert!(decides(&form, br#"{"next":{"next":{"other":1}}}"#));
    assert!(!decides(&form, br#"{"next":{"next":{"next":{}}}}"#));
}

#[test]
fn roots_and_groups_recur_too() {
    let root = r##"{"type":"object","properties":{"a":{"$ref":"#"}},"additionalProperties":false}"##;
    let form = unrolled(root, 2).unwrap();
    assert!(decides(&form, br#"{"a":{"a":{}}}"#));
    assert!(!decides(&form, br#"{"a":{"a":{"a":{}}}}"#), "{}", form.published());
    let mutual = read(&cases("load/r20_mutual_recursive.json"));
    let form = unrolled(&mutual, 3).unwrap();
    assert!(decides(&form, br#"{"b":{"a":{"b":{}}}}"#), "{}", form.published());
    assert!(!decides(&form, br#"{"b":{"a":{"b":{"a":{}}}}}"#));
    let four = r##"{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"object","additionalProperties":{"$ref":"#/definitions/n"}}}}"##;
    let form = unrolled(four, 1).unwrap();
    assert!(decides(&form, br#"{"a":{"x":{}}}"#));
    assert!(!decides(&form, br#"{"a":{"x":{"y":{}}}}"#));
}

#[test]
fn what_cannot_end_or_cannot_be_cut_is_refused() {
    for (text, words) in [
        (
            r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","required":["n"],"properties":{"n":{"$ref":"#/$defs/n"}}}}}"##,
            "admits nothing",
        ),
        (r##"{"type":"object","properties":{"n":{"not":{"$ref":"#"}}}}"##, "cannot be unrolled"),
        (
            r##"{"type":"object","properties":{"n":{"$dynamicRef":"#n"}},"$dynamicAnchor":"n"}"##,
            "`$ref` only",
        ),
    ] {
        let faults = unrolled(text, 3).unwrap_err();
        assert!(faults[0].reason.contains(words), "{text}\n{faults:#?}");
    }
    assert!(unrolled(TREE, 0).is_err() && unrolled(TREE, 65).is_err());
}

#[test]
fn a_form_without_recursion_is_published_as_written() {
    let text = r#"{"type":"null","description":"\u0041"}"#;
    assert_eq!(unrolled(text, 3).unwrap().published(), text);
    let mut options = lenient();
    options.unroll = None;
    let recursive = CompiledForm::compile(TREE, &options).unwrap();
    assert!(recursive.published().contains("#/$defs/node"));
}
