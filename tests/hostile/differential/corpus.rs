//! Bodies that readers may differ on: the cases, the public suite when it is there, and made ones.

use crate::json::suite;
use crate::support::cases;
use std::collections::BTreeSet;

/// All of them, each once, the same ones every time.
pub(super) fn bodies() -> Vec<Vec<u8>> {
    let mut bodies = BTreeSet::new();
    for form in cases::forms() {
        for kind in ["accept", "reject", "edge"] {
            bodies.extend(cases::bodies(&form, kind).into_iter().map(|(_, body)| body));
        }
    }
    bodies.extend(suite::cases().into_iter().flatten().map(|case| case.body));
    let mut made: Vec<String> = Vec::new();
    numbers(&mut made);
    strings(&mut made);
    names(&mut made);
    shapes(&mut made);
    bodies.extend(made.into_iter().map(String::into_bytes));
    // What the outside of a text may carry.
    for (before, after) in [
        ("\u{feff}", ""),
        (" \t\r\n", "\n \t\r"),
        ("", "\0"),
        ("\u{a0}", ""),
        ("", "\u{2028}"),
        ("\u{c}", ""),
    ] {
        bodies.insert(format!("{before}{{\"a\":[1]}}{after}").into_bytes());
    }
    bodies.into_iter().collect()
}

/// Twice the number that the digits write.
fn doubled(digits: &str) -> String {
    let mut carry = 0;
    let mut out: Vec<u8> = Vec::new();
    for digit in digits.bytes().rev() {
        let twice = (digit - b'0') * 2 + carry;
        out.push(b'0' + twice % 10);
        carry = twice / 10;
    }
    if carry > 0 {
        out.push(b'0' + carry);
    }
    out.reverse();
    String::from_utf8(out).unwrap()
}

/// One more or less than an even number that does not end in 0.
fn beside(digits: &str) -> [String; 2] {
    let (rest, last) = digits.split_at(digits.len() - 1);
    let last = last.as_bytes()[0];
    [format!("{rest}{}", char::from(last - 1)), format!("{rest}{}", char::from(last + 1))]
}

fn numbers(out: &mut Vec<String>) {
    let mut texts: Vec<String> = Vec::new();
    let mut power = "2".to_owned();
    for _ in 0..212 {
        texts.extend(beside(&power));
        texts.push(power.clone());
        power = doubled(&power);
    }
    for digits in 1..=66 {
        texts.push("9".repeat(digits));
        texts.push(format!("1{}", "0".repeat(digits)));
        texts.push(format!("1{}1", "0".repeat(digits - 1)));
        texts.push(format!("0.{}1", "0".repeat(digits)));
        texts.push(format!("0.{}", "3".repeat(digits)));
        texts.push(format!("{}.5", "7".repeat(digits)));
    }
    for exponent in (0..=400).step_by(4).chain([1, 15, 16, 17, 21, 22, 23, 307, 309, 323, 325, 401, 999]) {
        for mantissa in ["1", "1.5", "9.999999999999999", "123456789012345678", "0", "0.0001"] {
            texts.extend(["", "+", "-"].map(|sign| format!("{mantissa}e{sign}{exponent}")));
        }
        texts.push(format!("2E0{exponent}"));
    }
    let known = [
        "0",
        "0.0",
        "0e0",
        "0E-0",
        "0.0e+00",
        "1.0",
        "1.00",
        "1e1",
        "1E1",
        "1e+1",
        "10e-1",
        "1.5e1",
        "100e-2",
        "0.1",
        "0.2",
        "0.3",
        "0.30000000000000001",
        "0.30000000000000004",
        "4.9e-324",
        "5e-324",
        "3e-324",
        "2.5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "2.2250738585072012e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.797693134862315e308",
        "17976931348623157e292",
        "8.5e307",
        "9007199254740993.0",
        "9007199254740992.5",
        "9007199254740993e0",
        "900719925474099.3e1",
        "0.5e1",
        "123.456e78",
        "9223372036854775807",
        "9223372036854775808",
        "9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "9223372036854775807.0",
        "2147483648",
        "4294967296",
        "1.000000000000000000000000000000000000001",
        "1.00000000000000011102230246251565",
        "1.00000000000000011102230246251566",
        "8.41e21",
        "2.0e1",
        "1e22",
        "1e23",
    ];
    texts.extend(known.map(String::from));
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..600 {
        let length = random.usize(1..=64);
        let digits: String = (0..length).map(|_| char::from(b'0' + random.u8(0..10))).collect();
        let digits = digits.trim_start_matches('0');
        let point = random.usize(0..=digits.len());
        let (whole, fraction) = digits.split_at(point);
        let whole = if whole.is_empty() { "0" } else { whole };
        texts.push(if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") });
        texts.push(format!("{}.{}e{}", random.u8(1..10), random.u64(..), random.i32(-330..310)));
        texts.push(format!(
            "{:e}",
            f64::from_bits(random.u64(..) & !(1 << 63) & !(0x7ff << 52) | random.u64(1..2046) << 52)
        ));
    }
    texts.push(format!("1.{}", "0".repeat(5000)));
    texts.push(format!("0.{}", "0".repeat(5000)));
    texts.push(format!("1{}e-400", "0".repeat(500)));
    texts.push(format!("0.{}1e400", "0".repeat(500)));
    for text in texts {
        out.push(format!("-{text}"));
        out.push(text);
    }
}

fn strings(out: &mut Vec<String>) {
    let mut inner: Vec<String> =
        ["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"].map(String::from).to_vec();
    let edges = [
        0, 1, 8, 0x1f, 0x20, 0x22, 0x2f, 0x5c, 0x7e, 0x7f, 0x80, 0x85, 0x9f, 0xa0, 0xad, 0xff, 0x300, 0x301,
        0x7ff, 0x800, 0x200b, 0x200d, 0x2028, 0x2029, 0x202e, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000,
        0xfdd0, 0xfeff, 0xfffd, 0xfffe, 0xffff,
    ];
    for point in edges {
        inner.push(format!("\\u{point:04x}"));
        inner.push(format!("\\u{point:04X}"));
        inner.extend(char::from_u32(point).filter(|c| *c >= ' ' && !"\"\\".contains(*c)).map(String::from));
    }
    for point in [
        0x1_0000_u32,
        0x1_0001,
        0x1_D11E,
        0x1_F600,
        0x2_0000,
        0xE_0001,
        0xF_FFFF,
        0x10_0000,
        0x10_FFFE,
        0x10_FFFF,
    ] {
        let low = point - 0x1_0000;
        inner.push(format!("\\u{:04x}\\u{:04X}", 0xd800 + (low >> 10), 0xdc00 + (low & 0x3ff)));
        inner.push(char::from_u32(point).unwrap().to_string());
    }
    inner.extend(
        ["e\u{301}", "\u{e9}", "\u{1f468}\u{200d}\u{1f469}", "\u{5d0}\u{5b7}", "\u{fb01}", "A\u{30a}\u{c5}"]
            .map(String::from),
    );
    // Escapes that look like other escapes.
    inner.extend(
        [
            "\\\\u0041",
            "\\\\\\u0041",
            "\\u005cu0041",
            "\\u0022",
            "\\\\n",
            "\\u000a",
            "</script>",
            "%00",
            "${x}",
            "\\x41",
            "\\u00g0",
            "\\u12",
            "\\'",
        ]
        .map(String::from),
    );
    for text in &inner {
        out.push(format!("\"{text}\""));
        out.push(format!("[\"a{text}b\",\"{text}{text}\"]"));
    }
    let mut random = fastrand::Rng::with_seed(4);
    for _ in 0..300 {
        let text: String = (0..random.usize(1..9)).map(|_| random.choice(&inner).unwrap().as_str()).collect();
        out.push(format!("{{\"{text}\":\"{text}\"}}"));
    }
    for length in [1, 7, 8, 15, 16, 17, 31, 32, 33, 255, 4096, 60_000] {
        out.push(format!("\"{}\"", "a".repeat(length)));
        out.push(format!("\"{}\\n{}\"", "\u{e9}".repeat(length / 2), "a".repeat(length)));
    }
}

fn names(out: &mut Vec<String>) {
    let words = [
        "",
        "a",
        "A",
        "\\u0061",
        "__proto__",
        "constructor",
        "prototype",
        "toString",
        "hasOwnProperty",
        "length",
        "0",
        "-1",
        "01",
        "1e1",
        "00",
        "9007199254740993",
        "null",
        "true",
        " ",
        "a ",
        "\\u0000",
        "\\u0000a",
        "a\\u0000",
        "\\u0000*\\u0000a",
        "\u{e9}",
        "e\u{301}",
        "$ref",
        "$oid",
        "@type",
        "@class",
        "$type",
        "class",
        "_method",
        "\\ud83d\\ude00",
        "\u{1f600}",
        "\u{2028}",
        "\u{feff}",
        "$serde_json::private::Number",
        "__class__",
        "__json__",
        "\\/",
        "/",
        "a.b",
        "a[b]",
        "~0",
        "\\\\",
    ];
    for (nth, word) in words.iter().enumerate() {
        out.push(format!("{{\"{word}\":1}}"));
        out.push(format!("{{\"{word}\":{{\"{word}\":[{{\"{word}\":null}}]}}}}"));
        for other in &words[nth..] {
            out.push(format!("{{\"{word}\":1,\"{other}\":2}}"));
        }
    }
    // Enough for every kind of map, in an order and against it; and one of them twice.
    for count in [15, 16, 17, 33, 300] {
        let members: Vec<_> = (0..count).map(|number| format!("\"n{number}\":{number}")).collect();
        let backwards: Vec<_> = members.iter().rev().cloned().collect();
        out.push(format!("{{{}}}", members.join(",")));
        out.push(format!("{{{}}}", backwards.join(" ,\n")));
        out.push(format!("{{{},\"n\\u0030\":0}}", members.join(",")));
        let digits: Vec<_> = (0..count).map(|number| format!("\"{}\":{number}", count - number)).collect();
        out.push(format!("{{{}}}", digits.join(",")));
    }
}

fn shapes(out: &mut Vec<String>) {
    for depth in (1..=128).step_by(3).chain([126, 127, 128, 129]) {
        out.push(format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        out.push(format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)));
    }
    out.push(format!("{}1{}", "[{\"a\":".repeat(64), "}]".repeat(64)));
    for text in [
        "null",
        "true",
        "false",
        "[]",
        "{}",
        "[[],[]]",
        "[{},{}]",
        "[null,true,false]",
        " [ 1 , 2 ] ",
        "{ \"a\" : 1 , \"b\" : [ ] }",
        "\t\n\r {\t\"a\"\n:\r1\t}\n",
        "[1,]",
        "[,1]",
        "{\"a\":1,}",
        "nul",
        "True",
        "NaN",
        "Infinity",
        "-Infinity",
        "[1 2]",
        "{a:1}",
        "{'a':1}",
        "/*c*/1",
        "1//c",
        "0x10",
        "01",
        "+1",
        ".5",
        "5.",
        "1_000",
        "\"a",
        "[",
        "{}{}",
        "1 1",
        "undefined",
        "",
    ] {
        out.push(text.to_owned());
    }
    // Any of these within any of those.
    let leaves =
        ["null", "true", "0", "-0", "1.5", "1e2", "\"\"", "\"\\u0000\"", "[]", "{}", "[[]]", "{\"\":{}}"];
    for first in leaves {
        for second in leaves {
            out.push(format!("[{first},{second}]"));
            out.push(format!("{{\"a\":{first},\"b\":{second}}}"));
        }
    }
}
