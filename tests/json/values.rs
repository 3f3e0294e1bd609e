//! What is read.

use formgate::json::{Document, Kind};

#[test]
fn values_are_what_was_written() {
    let text = r#" {"a":[null,true,false,-1.5e3,"x"],"\u0062\n":{"c":{}},"é":"\ud83e\udd80 \"q\""} "#;
    let mut document = Document::new();
    let root = document.parse(text.as_bytes()).unwrap();
    assert_eq!(root.kind(), Kind::Object);
    assert_eq!(root.span(), 1..text.len() - 1);
    let members = root.as_object().unwrap();
    assert_eq!(members.len(), 3);
    assert_eq!(members.members().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b\n", "é"]);

    let array = members.get("a").unwrap().as_array().unwrap();
    let elements: Vec<_> = array.elements().collect();
    assert_eq!(array.len(), 5);
    assert!(elements[0].is_null());
    assert_eq!(elements[1].as_bool(), Some(true));
    assert_eq!(elements[2].as_bool(), Some(false));
    assert_eq!(elements[3].as_number().unwrap().text(), "-1.5e3");
    assert_eq!(elements[4].as_str(), Some("x"));
    assert_eq!(&text[elements[3].span()], "-1.5e3");
    assert!(elements[4].as_number().is_none() && elements[0].as_str().is_none());

    let (name, inner) = members.named().nth(1).unwrap();
    assert_eq!(&text[name.span()], r#""\u0062\n""#);
    assert_eq!(name.as_str(), Some("b\n"));
    assert!(inner.as_object().unwrap().get("c").unwrap().as_object().unwrap().is_empty());
    assert_eq!(members.get("é").unwrap().as_str(), Some("🦀 \"q\""));
    assert!(members.get("c").is_none());
}

#[test]
fn large_objects_find_their_members() {
    let members: Vec<_> = (0..500).map(|number| format!("\"n\\u0061me {number}\":[{number},{{}}]")).collect();
    let text = format!("{{{}}}", members.join(","));
    let mut document = Document::new();
    let object = document.parse(text.as_bytes()).unwrap().as_object().unwrap();
    assert_eq!(object.members().len(), 500);
    for (number, (name, value)) in object.members().enumerate() {
        assert_eq!(name, format!("name {number}"));
        assert_eq!(object.get(name).unwrap().span(), value.span());
    }
    assert!(object.get("name 500").is_none());
}

#[test]
fn a_document_forgets() {
    let mut document = Document::new();
    assert!(document.parse(b"[\"\\n\", {\"a\": 1}, [[[").is_err());
    assert_eq!(document.parse(b"\"\\t\"").unwrap().as_str(), Some("\t"));
    document.shrink_to(1024);
    assert_eq!(document.parse(b"[1]").unwrap().as_array().unwrap().len(), 1);
}

#[test]
fn equality_is_json_schemas() {
    let equal = [
        ("1", "1.0"),
        ("-0", "0e5"),
        ("100", "1e2"),
        ("[1,2]", "[1.0,20e-1]"),
        (r#"{"a":1,"b":[]}"#, r#"{"b":[],"\u0061":1.0}"#),
        ("\"a\"", r#""\u0061""#),
    ];
    let different = [
        ("1", "2"),
        ("1", "true"),
        ("0", "false"),
        ("0", "null"),
        ("[1,2]", "[2,1]"),
        ("[]", "{}"),
        ("[]", "[[]]"),
        (r#"{"a":1}"#, r#"{"b":1}"#),
        (r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#),
        ("\"1\"", "1"),
        ("\"\u{e9}\"", "\"e\u{301}\""),
        ("9007199254740993", "9007199254740992"),
        ("0.3", "0.30000000000000001"),
    ];
    let compare = |a: &str, b: &str| {
        let (mut left, mut right) = (Document::new(), Document::new());
        left.parse(a.as_bytes()).unwrap() == right.parse(b.as_bytes()).unwrap()
    };
    for (a, b) in equal {
        assert!(compare(a, b) && compare(b, a), "{a} {b}");
    }
    for (a, b) in different {
        assert!(!compare(a, b) && !compare(b, a), "{a} {b}");
    }
}

#[test]
fn uniqueness_is_by_value() {
    let filler = "10,11,12,13,14,15,16,17,18,19";
    let cases = [
        ("", true),
        ("1", true),
        ("1,2", true),
        ("1,1.0", false),
        ("-0,0", false),
        ("1,true,\"1\",null,[1],{\"a\":1}", true),
        ("[1,[2]],[1.0,[2e0]]", false),
        ("{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}", false),
        ("{\"a\":1,\"b\":2},{\"a\":2,\"b\":1}", true),
        ("\"a\",\"\\u0061\"", false),
        ("[],{}", true),
        ("{},{}", false),
        ("[[]],[[],[]]", true),
        ("false,0", true),
        ("null,null", false),
        ("123456789012345678901,123456789012345678902", true),
        ("[\"a\",\"b\"],[\"b\",\"a\"]", true),
        ("[[],[[]]],[[[]],[]]", true),
    ];
    for (elements, unique) in cases {
        let filled = if elements.is_empty() { filler.to_owned() } else { format!("{elements},{filler}") };
        for text in [format!("[{elements}]"), format!("[{filled}]")] {
            let mut document = Document::new();
            let array = document.parse(text.as_bytes()).unwrap().as_array().unwrap();
            assert_eq!(array.is_unique(), unique, "{text}");
        }
    }
}
