//! What is refused, why and where.

use formgate::json::SyntaxKind::{
    self, Depth, Duplicate, Empty, Encoding, Grammar, NumberInexact, Surrogate, Trailing,
};
use formgate::json::{Document, MAX_DEPTH, line_column};

use super::fault_of;

#[test]
fn says_why_and_where() {
    let cases: &[(&[u8], SyntaxKind, usize)] = &[
        (b"", Empty, 0),
        (b" \r\n\t", Empty, 4),
        (b"\xEF\xBB\xBF{}", Encoding, 0),
        (b"\"a\xC3\"", Encoding, 2),
        (b"\"\xED\xA0\x80\"", Encoding, 1),
        (b"\"\xC0\x80\"", Encoding, 1),
        (b"{}x", Trailing, 2),
        (b"1 2", Trailing, 2),
        (b"{}\n\0", Trailing, 3),
        (b"nul", Grammar, 0),
        (b"[1,]", Grammar, 3),
        (b"[1 2]", Grammar, 3),
        (b"[1}", Grammar, 2),
        (b"{\"a\":1,}", Grammar, 7),
        (b"{\"a\" 1}", Grammar, 5),
        (b"{a:1}", Grammar, 1),
        (b"{\"a\":}", Grammar, 5),
        (b"[", Grammar, 1),
        (b"\"a", Grammar, 2),
        (b"\"a\nb\"", Grammar, 2),
        (b"\"0123456789\tb\"", Grammar, 11),
        (b"\"\\x\"", Grammar, 1),
        (b"\"\\u12g4\"", Grammar, 1),
        (b"\"\\u+123\"", Grammar, 1),
        (b"\"\\ud800\"", Surrogate, 1),
        (b"\"\\udc00\\ud800\"", Surrogate, 1),
        (b"\"\\ud800\\ud800\"", Surrogate, 1),
        (b"\"\\ud800\\u00\"", Grammar, 7),
        (b"-", Grammar, 1),
        (b"01", Grammar, 1),
        (b"-01", Grammar, 2),
        (b"1.", Grammar, 2),
        (b"1.e1", Grammar, 2),
        (b"1e+", Grammar, 3),
        (b".5", Grammar, 0),
        (b"+1", Grammar, 0),
        (b"{\"a\":1,\"a\":1}", Duplicate, 7),
        (b"{\"a\":1,\"\\u0061\":1}", Duplicate, 7),
        (b"[{\"x\":{\"\":1,\"\":2}}]", Duplicate, 12),
        (b"1e400", NumberInexact, 0),
        (b"[1e-401]", NumberInexact, 1),
        (b"0e401", NumberInexact, 0),
    ];
    for (bytes, kind, at) in cases {
        let fault = Document::new().parse(bytes).unwrap_err();
        assert_eq!((fault.kind, fault.at), (*kind, *at), "{}", bytes.escape_ascii());
    }
}

#[test]
fn accepts_what_is_unusual_and_right() {
    for text in [
        "0",
        "-0",
        "-0.0e-0",
        "\"\"",
        "\"\\u0000\"",
        "\"\\ud83e\\udd80\"",
        "\"\u{7f}\"",
        " [ ] ",
        "{ }",
        "\t{\"a\" : [ 1 , 2 ] }\r\n",
        "{\"a\":1,\"A\":1,\"\u{e9}\":1,\"e\u{301}\":1}",
        "{\"\":{\"\":{\"\":null}}}",
        "1e308",
        "0e400",
        "1E-323",
        "2.4703282292062328e-324",
        "null",
        "\"\\/\"",
    ] {
        assert_eq!(fault_of(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn numbers_have_limits() {
    let digits = |count| "7".repeat(count);
    let zeros = |count| "0".repeat(count);
    for text in [
        digits(64),
        format!("-0.{}{}", zeros(200), digits(64)),
        format!("{}{}", digits(64), zeros(200)),
        format!("{}.{}", digits(32), digits(32)),
        format!("1{}e-400", zeros(500)),
        format!("1{}e-400", zeros(77)),
        format!("0.{}1e400", zeros(500)),
        format!("1.{}", zeros(998)),
        "1.7976931348623157e308".to_owned(),
        "4.9e-324".to_owned(),
    ] {
        assert_eq!(fault_of(text.as_bytes()), None, "{text}");
    }
    for text in [
        digits(65),
        format!("1{}1", zeros(63)),
        format!("{}.{}1", digits(32), digits(32)),
        format!("1{}", zeros(309)),
        format!("0.{}1", zeros(400)),
        // Not zero, and yet zero to whoever reads doubles.
        format!("0.{}1", zeros(323)),
        "1E-400".to_owned(),
        // More bytes than Jackson reads.
        format!("1.{}", zeros(999)),
        format!("1{}e-400", zeros(1000)),
        "1e-324".to_owned(),
        "-2.4703282292062327e-324".to_owned(),
        "1.7976931348623158e308".to_owned(),
        "1e309".to_owned(),
        format!("1e{}", digits(1000)),
    ] {
        assert_eq!(fault_of(text.as_bytes()), Some(NumberInexact), "{text}");
    }
}

#[test]
fn depth_is_bounded() {
    for (open, inner, close) in [("[", "", "]"), ("{\"a\":", "1", "}"), ("[{\"a\":", "1", "}]")] {
        let levels = MAX_DEPTH / open.matches(['[', '{']).count();
        let nested = |levels| format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
        assert_eq!(fault_of(nested(levels).as_bytes()), None);
        assert_eq!(fault_of(nested(levels + 1).as_bytes()), Some(Depth));
    }
    // Siblings are not depth.
    let wide = format!("[{}[]]", "[[]],".repeat(1000));
    assert_eq!(fault_of(wide.as_bytes()), None);
}

#[test]
fn duplicates_are_found_among_many() {
    for members in [1, 2, 7, 8, 15, 16, 17, 18, 100, 1000] {
        let body = |repeat: &str| {
            let names = (0..members).map(|number| format!("\"name{number}\":{{\"n\":[1,{{}}]}}"));
            let mut text = names.collect::<Vec<_>>().join(",");
            text.insert(0, '{');
            text + repeat + "}"
        };
        assert_eq!(fault_of(body("").as_bytes()), None, "{members}");
        for repeat in [0, members / 2, members - 1] {
            let plain = body(&format!(",\"name{repeat}\":0"));
            let escaped = body(&format!(",\"n\\u0061me{repeat}\":0"));
            let at = body("").len();
            for text in [plain, escaped] {
                let fault = Document::new().parse(text.as_bytes()).unwrap_err();
                assert_eq!((fault.kind, fault.at), (Duplicate, at), "{members} {repeat}");
            }
        }
    }
}

#[test]
fn the_earliest_of_many_repetitions_is_named() {
    let names: Vec<_> = (0..40).map(|number| format!("\"{number}\":0")).collect();
    let text = format!("{{{},\"x\":1,\"7\":1,\"x\":1,\"7\":1,\"7\":1}}", names.join(","));
    let fault = Document::new().parse(text.as_bytes()).unwrap_err();
    assert_eq!(fault.at, text.find("\"7\":1").unwrap());
}

#[test]
fn bombs_fit_a_small_stack() {
    let work = || {
        for open in ["[", "{\"a\":", "[{\"a\":", "[0,", "{\"a\":0,\"b\":"] {
            assert_eq!(fault_of(open.repeat(1 << 20).as_bytes()), Some(Depth));
        }
        let leaf = "[1,2,{\"a\":0,\"b\":1}]";
        let nested = format!("{}{leaf},{leaf}{}", "[".repeat(120), "]".repeat(120));
        let mut document = Document::new();
        let value = document.parse(nested.as_bytes()).unwrap();
        let again = value;
        assert!(value == again);
        assert!(value.as_array().unwrap().is_unique());
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn lines_and_columns_count_from_one() {
    let text = "{\n  \"é\": 1,\r\n x".as_bytes();
    for (at, expected) in
        [(0, (1, 1)), (1, (1, 2)), (2, (2, 1)), (5, (2, 4)), (7, (2, 5)), (14, (3, 1)), (99, (3, 3))]
    {
        assert_eq!(line_column(text, at), expected, "{at}");
    }
}

#[test]
fn what_once_got_through_is_refused() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/json/refused");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let kind = match name.split("--").next().unwrap() {
            "number-inexact" => NumberInexact,
            other => panic!("{name}: no kind is called {other}"),
        };
        assert_eq!(fault_of(&std::fs::read(&path).unwrap()), Some(kind), "{name}");
    }
}
