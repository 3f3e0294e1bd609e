//! nst/JSONTestSuite, bodies as exact bytes.

use std::path::Path;

use formgate::json::SyntaxKind::{self, Depth, NumberInexact, Surrogate};

use super::fault_of;

/// What is left to the parser, what ours does, and why.
pub(crate) const EITHER: &[(&str, Option<SyntaxKind>, &str)] = &[
    (
        "i_number_double_huge_neg_exp",
        Some(NumberInexact),
        "not zero, and yet zero as a double: backends would act on another number",
    ),
    ("i_number_real_underflow", Some(NumberInexact), "as above"),
    ("number_1e-999", Some(NumberInexact), "as above"),
    ("i_number_huge_exp", Some(NumberInexact), "no double: backends would act on an infinity, or fail"),
    ("i_number_neg_int_huge_exp", Some(NumberInexact), "as above"),
    ("i_number_pos_double_huge_exp", Some(NumberInexact), "as above"),
    ("i_number_real_neg_overflow", Some(NumberInexact), "as above"),
    ("i_number_real_pos_overflow", Some(NumberInexact), "as above"),
    (
        "i_number_too_big_neg_int",
        None,
        "an integer compares exactly, whatever its length; the form bounds it",
    ),
    ("i_number_too_big_pos_int", None, "as above"),
    ("i_number_very_big_negative_int", None, "as above"),
    (
        "i_object_key_lone_2nd_surrogate",
        Some(Surrogate),
        "no Unicode value: backends replace, drop or refuse it",
    ),
    ("i_string_1st_surrogate_but_2nd_missing", Some(Surrogate), "as above"),
    ("i_string_1st_valid_surrogate_2nd_invalid", Some(Surrogate), "as above"),
    ("i_string_incomplete_surrogate_and_escape_valid", Some(Surrogate), "as above"),
    ("i_string_incomplete_surrogate_pair", Some(Surrogate), "as above"),
    ("i_string_incomplete_surrogates_escape_valid", Some(Surrogate), "as above"),
    ("i_string_invalid_lonely_surrogate", Some(Surrogate), "as above"),
    ("i_string_invalid_surrogate", Some(Surrogate), "as above"),
    ("i_string_inverted_surrogates_U+1D11E", Some(Surrogate), "as above"),
    ("i_string_lone_second_surrogate", Some(Surrogate), "as above"),
    ("string_1_escaped_invalid_codepoint", Some(Surrogate), "as above"),
    ("string_2_escaped_invalid_codepoints", Some(Surrogate), "as above"),
    ("string_3_escaped_invalid_codepoints", Some(Surrogate), "as above"),
    ("i_structure_500_nested_arrays", Some(Depth), "more than MAX_DEPTH"),
];

/// A case of the suite.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) body: Vec<u8>,
    pub(crate) expect: Expect,
}

/// What becomes of a case.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Accept,
    Reject,
    /// Left to the parser; what we decided, in [`EITHER`].
    Decided(Option<SyntaxKind>),
}

/// All cases, when the folder is there.
pub(crate) fn cases() -> Option<Vec<Case>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/suites/json-parsing.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    let suite: serde_json::Value = serde_json::from_str(&text).unwrap();
    let read = |case: &serde_json::Value| {
        let id = case["id"].as_str().unwrap().to_owned();
        let expect = match case["expect"].as_str().unwrap() {
            "accept" => Expect::Accept,
            "reject" => Expect::Reject,
            "either" => {
                let decided = EITHER.iter().find(|(name, _, _)| id.split('/').next_back() == Some(name));
                Expect::Decided(decided.unwrap_or_else(|| panic!("{id}: not decided")).1)
            }
            other => panic!("{id}: {other}"),
        };
        Case { id, body: body(case), expect }
    };
    Some(suite["cases"].as_array().unwrap().iter().map(read).collect())
}

#[test]
fn decides_every_case() {
    let Some(cases) = cases() else { return };
    let mut wrong = Vec::new();
    for case in &cases {
        let fault = fault_of(&case.body);
        let right = match case.expect {
            Expect::Accept => fault.is_none(),
            Expect::Reject => fault.is_some(),
            Expect::Decided(ours) => ours == fault,
        };
        if !right {
            wrong.push(format!("{}: {:?} expected, {fault:?}", case.id, case.expect));
        }
    }
    println!("{} cases of nst/JSONTestSuite", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A case's bytes, whole or as a repetition.
fn body(case: &serde_json::Value) -> Vec<u8> {
    if let Some(text) = case["b64"].as_str() {
        return base64(text);
    }
    let repeat = &case["repeat"];
    let times = usize::try_from(repeat["times"].as_u64().unwrap()).unwrap();
    let mut bytes = base64(repeat["unit_b64"].as_str().unwrap()).repeat(times);
    bytes.extend(base64(repeat["tail_b64"].as_str().unwrap()));
    bytes
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for value in text.bytes().map_while(digit) {
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xFF).unwrap());
        }
    }
    bytes
}
