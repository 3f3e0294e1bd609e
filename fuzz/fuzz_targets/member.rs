//! A form, a path with members of its bodies in it, and a body: where all three are taken, the target that is sent is
//! the one that a second reader of body and path makes, and its members have added nothing to it but their text.
#![no_main]

use arbitrary::Unstructured;
use formgate::config::fuzzing::target;
use formgate::form::{CompiledForm, FormOptions, Numbers};
use formgate::lint::{Level, Lint, LintLevels};
use formgate::gateway::fuzzing::fill;
use formgate::gateway::{PathPattern, PathTemplate, Piece};
use formgate::json::Document;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static OPTIONS: LazyLock<FormOptions> = LazyLock::new(|| {
    let mut lints = LintLevels::default();
    Lint::ALL.iter().for_each(|lint| lints.set(*lint, Level::Allow));
    FormOptions { lints, annotations: Vec::new(), unroll: None, numbers: Numbers::Exact, max_body: 1 << 16 }
});

const TARGETS: &[&str] = &[
    "/{/m}", "/a/{/m}", "/{/m}/a", "/a/{/m}.json", "/.{/m}", "/{/m}.", "/a/.{/m}.?q={/m}", "/{/o/m}/{/m}", "/{/m}-{/n}?a={/n}",
    "/a?{/m}", "/%2F{/m}", "/{/a~1b}/{/m~0}", "/x{/n}",
];
/// Members beside the one that matters, and a value of each.
const PLAIN: &[(&str, &str)] = &[
    (r#"{"type":"integer","minimum":0,"maximum":9007199254740991}"#, "7.0"), (r#"{"enum":["a","a.b","~",1,true]}"#, "\"a.b\""), (r#"{"type":"boolean"}"#, "true"),
    ("true", "null"),
];
/// What a schema of a member begins with, and what else it says; `{}` is another such schema.
const KINDS: &[&str] = &[r#""type":"string""#, r#""type":"string","maxLength":40"#, r#""type":"integer","minimum":-5,"maximum":1e3"#, r#""type":["string","boolean"]"#];
const PARTS: &[&str] = &[
    r#""type":"string""#, r#""type":"integer""#, r#""type":"boolean""#, r#""type":["string","integer"]"#, r#""type":"number""#,
    r#""maxLength":8"#, r#""maxLength":255"#, r#""minLength":1"#, r#""minLength":3"#, r#""minimum":-5,"maximum":9007199254740991"#,
    r#""minimum":0,"exclusiveMaximum":1e3"#, r#""format":"uuid""#, r#""format":"date""#, r#""format":"email""#,
    r#""enum":["a","..","b"]"#, r#""enum":["a",1,true]"#, r#""enum":["1.0",1.0,-0]"#, r#""const":"a%2Fb""#, r#""const":".""#, r#""const":10"#,
    r#""anyOf":[{},{}]"#, r#""oneOf":[{},{}]"#, r#""allOf":[{},{}]"#, r##""$ref":"#/$defs/d""##, r#""not":{}"#, r#""if":{},"then":{},"else":{}"#,
    r#""multipleOf":1"#,
];
const ATOMS: &[&str] = &[
    "a", "[a-z]", "[A-Za-z0-9_-]", ".", "\\\\.", "\\\\d", "\\\\w", "[^/]", "[.~-]", "(a|b)", "(?:ab)", "[+-.]", "[%-/]", "\\\\/", "é", "x|y", "[0-9a-f]",
    "\\\\S", "\\\\p{L}", "[.]", "()", "(\\\\.|a)",
];
const TEXTS: &[&str] = &[
    "a", "..", ".", "", "a/b", "a?b", "a#b", "%2F", "%2e%2e", "a\\u0000", "a\\n", "ab\\r\\n", "é", "\\ud83d\\ude00", "a b", "a.b", "~", "-", "a-z_9.~",
    "0190163d-8694-739b-aea5-966c26f8ad91", "2024-02-29", "a@b.org", "\\u002e.", "\\u0061", "a\\\\b", "\\u0661", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];
const NUMBERS: &[&str] = &["0", "-0", "1", "1.0", "1e2", "10E-1", "-5", "9007199254740991", "9007199254740992", "0.5", "true", "999.0", "null"];

fn pattern(from: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let mut out = String::from(if from.ratio(9, 10)? { "^" } else { "" });
    for _ in 0..from.int_in_range(1..=3)? {
        out += from.choose(ATOMS)?;
        out += from.choose(&["", "", "+", "*", "?", "{1,8}", "{2,300}", "{3}"])?;
    }
    Ok(out + if from.ratio(9, 10)? { "$" } else { "" })
}

fn schema(from: &mut Unstructured<'_>, depth: usize) -> arbitrary::Result<String> {
    let mut said: Vec<String> = Vec::new();
    if from.ratio(4, 5)? {
        said.push((*from.choose(KINDS)?).to_owned());
    }
    for _ in 0..from.int_in_range(0..=2)? {
        let (mut part, chosen) = (String::new(), *from.choose(PARTS)?);
        let keyword = chosen.split(':').next().unwrap_or_default();
        if said.iter().any(|said| said.contains(keyword)) {
            continue;
        }
        for piece in chosen.split_inclusive("{}") {
            match piece.strip_suffix("{}") {
                Some(before) if depth < 3 => part += &(before.to_owned() + &schema(from, depth + 1)?),
                _ => part += piece,
            }
        }
        said.push(part);
    }
    if from.ratio(2, 3)? {
        said.push(format!("\"pattern\":\"{}\"", pattern(from)?));
    }
    Ok(format!("{{{}}}", said.join(",")))
}

/// Form and target, and a body with `@` where one value after the other is tried.
fn made(from: &mut Unstructured<'_>) -> arbitrary::Result<(String, String, String)> {
    let (mut properties, mut required, mut members) = (Vec::new(), Vec::new(), Vec::new());
    let inner = from.ratio(1, 5)?;
    for name in ["m", "n", "a/b", "m~", "o"] {
        let (said, value) = match name {
            "m" if !inner => (schema(from, 0)?, "@"),
            "o" if inner => {
                let kind = if from.ratio(5, 6)? { r#""type":"object","required":["m"],"# } else { "" };
                (format!("{{{kind}\"properties\":{{\"m\":{}}}}}", schema(from, 0)?), "{\"m\":@}")
            }
            _ => {
                let (said, value) = from.choose(PLAIN)?;
                ((*said).to_owned(), *value)
            }
        };
        properties.push(format!("\"{name}\":{said}"));
        if from.ratio(5, 6)? {
            required.push(format!("\"{name}\""));
        }
        members.push(format!("\"{name}\":{value}"));
    }
    let mut form = format!(
        "{{\"type\":\"object\",\"properties\":{{{}}},\"required\":[{}],\"$defs\":{{\"d\":{}}}}}",
        properties.join(","), required.join(","), schema(from, 3)?
    );
    if from.ratio(1, 6)? {
        let draft = from.choose(&["7", "4"])?;
        form = form.replacen('{', &format!("{{\"$schema\":\"http://json-schema.org/draft-0{draft}/schema#\","), 1);
        form = form.replace("$defs", "definitions");
    }
    let target = if from.ratio(4, 5)? { (*from.choose(TARGETS)?).to_owned() } else { from.arbitrary::<&str>()?.to_owned() };
    Ok((form, target, format!("{{{}}}", members.join(","))))
}

/// The target by a second reader.
fn expected(pieces: &[Piece], body: &serde_json::Value) -> String {
    let text = |pointer: &str| {
        let text = match body.pointer(pointer).expect("it is there") {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Bool(value) => value.to_string(),
            serde_json::Value::Number(number) => {
                let value = number.as_i64().unwrap_or_else(|| number.as_f64().expect("a double") as i64);
                assert!(value.abs() < 1 << 53 && value as f64 == number.as_f64().expect("a double"), "{number}");
                value.to_string()
            }
            other => panic!("{other} in a path"),
        };
        assert!((1..=255).contains(&text.len()) && text != "." && text != "..", "{text:?}");
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)), "{text:?}");
        text
    };
    pieces.iter().map(|piece| match piece {
        Piece::Literal(literal) => literal.clone(),
        Piece::Member(pointer) => text(pointer),
    }).collect()
}

fuzz_target!(|bytes: &[u8]| {
    let Some((mode, rest)) = bytes.split_first() else { return };
    let (form, path, body) = if mode % 4 == 0 {
        let Ok(text) = std::str::from_utf8(rest) else { return };
        let mut parts = text.splitn(3, '\n').map(str::to_owned);
        let (Some(path), Some(body), Some(form)) = (parts.next(), parts.next(), parts.next()) else { return };
        (form, path, body)
    } else {
        let Ok(made) = made(&mut Unstructured::new(rest)) else { return };
        made
    };
    let Ok(pattern) = target(&path) else { return };
    let Ok(form) = CompiledForm::compile(&form, &OPTIONS) else { return };
    let Ok(template) = pattern.prove(&form) else { return };
    let texts = TEXTS.iter().map(|text| format!("\"{text}\"")).chain(NUMBERS.iter().map(|number| (*number).to_owned()));
    let values: Vec<String> = if body.contains('@') { texts.collect() } else { vec![String::new()] };
    values.iter().for_each(|value| sent(&pattern, &form, &template, &body.replace('@', value)));
});

fn sent(pattern: &PathPattern, form: &CompiledForm, template: &PathTemplate, body: &str) {
    let mut document = Document::new();
    let Ok(value) = document.parse(body.as_bytes()) else { return };
    if !form.admits(value) {
        return;
    }
    let sent = fill(template, value).expect("what is admitted is what was proven");
    let sent = String::from_utf8(sent).expect("ASCII");
    let Ok(other) = serde_json::from_str(body) else { return };
    assert_eq!(sent, expected(&pattern.0, &other), "{body}");
    // As it is sent it could stand in the file, and has the parts that are written there.
    assert_eq!(target(&sent), Ok(PathPattern(vec![Piece::Literal(sent.clone())])));
    let written: String = pattern.0.iter().map(|piece| if let Piece::Literal(text) = piece { text } else { "m" }).collect();
    let parts = |text: &str| text.split(['/', '?', '&', '=', ';', '%', '#']).count();
    assert_eq!(parts(&sent), parts(&written));
}
