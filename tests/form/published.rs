//! The published text is the source without its white space, and forms compare by what they admit.

use super::{cases, loads, read, usual};
use formgate::form::{Change, CompiledForm};
use proptest::prelude::*;

#[test]
fn published_is_compact_and_otherwise_as_written() {
    let text = " {\n \"type\" : \"null\",\t\"title\":\"a \\u0041 \\\" \\\\\", \"default\": [ 1.50, 1E2 , {\"z\": 1, \"a\": 2} ] }\r\n";
    let form = loads(text);
    assert_eq!(
        form.published(),
        "{\"type\":\"null\",\"title\":\"a \\u0041 \\\" \\\\\",\"default\":[1.50,1E2,{\"z\":1,\"a\":2}]}"
    );
    assert_eq!(loads(form.published()).published(), form.published());
}

#[test]
fn every_shipped_form_is_published_as_its_value() {
    for entry in std::fs::read_dir(cases("forms")).unwrap() {
        let folder = entry.unwrap().path();
        if folder.is_dir() {
            let text = read(&folder.join("form.json"));
            let form = CompiledForm::compile(&text, &usual()).unwrap();
            let (source, published): (serde_json::Value, serde_json::Value) =
                (serde_json::from_str(&text).unwrap(), serde_json::from_str(form.published()).unwrap());
            assert_eq!(source, published);
            assert!(!form.published().contains('\n'));
        }
    }
}

#[test]
fn changes_are_told_apart() {
    let change = |older: &str, newer: &str| loads(older).proved(&loads(newer)).change();
    let short = r#"{"type":"string","maxLength":5}"#;
    let long = r#"{"type":"string","maxLength":9}"#;
    assert_eq!(change(short, short), Change::Same);
    assert_eq!(change(short, r#"{"type":"string","maxLength":5,"description":"x"}"#), Change::Same);
    assert_eq!(change(short, long), Change::Widened);
    assert_eq!(change(long, short), Change::Narrowed);
    assert_eq!(change(short, r#"{"type":"null"}"#), Change::Both);
    let object = |members: &str| {
        format!(r#"{{"type":"object","properties":{{{members}}},"additionalProperties":false}}"#)
    };
    assert_eq!(
        change(&object(r#""a":{"type":"null"}"#), &object(r#""a":{"type":"null"},"b":{"type":"null"}"#)),
        Change::Widened
    );
    // Rounding would call these the same.
    assert_eq!(change(r#"{"maximum":0.3}"#, r#"{"maximum":0.30000000000000001}"#), Change::Unknown);
}

/// JSON of some depth, written with white space here and there.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|flag| flag.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        "[0-9]{1,9}[.][0-9]{1,9}e-?[0-9]{1,2}".prop_map(|number| format!("1{number}")),
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|values| format!("[ {} ]", values.join(" ,\n"))),
            prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(|members| {
                let members: Vec<String> = members
                    .into_iter()
                    .map(|(name, value)| format!("{}\t: {value}", serde_json::Value::from(name)))
                    .collect();
                format!("{{\r\n{}}}", members.join(" , "))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn published_reads_as_the_source(default in value()) {
        let text = format!("{{ \"type\": \"null\", \"default\": {default} }}");
        let form = loads(&text);
        let (source, published): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(&text).unwrap(), serde_json::from_str(form.published()).unwrap());
        prop_assert_eq!(source, published);
        let again = loads(form.published());
        prop_assert_eq!(again.published(), form.published());
    }
}
