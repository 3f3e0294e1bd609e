//! `explain` says of every refusal where and what the form wants, in one line, and of every reason what it means.

use super::root;
use std::io::Write;
use std::process::{Command, Stdio};

fn explain(words: &[&str], body: &str) -> (i32, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_formgate"))
        .arg("explain")
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(body.as_bytes());
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_keyword_has_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("gateway.yaml");
    // Schema of the member `v`, a value that is refused, what is said of it.
    let cases = [
        (r#"{"type":"string"}"#, "7", "/v must be a string"),
        (r#"{"type":["integer","null"]}"#, "\"x\"", "/v must be an integer or null"),
        (r#"{"type":"string","minLength":1}"#, "\"\"", "/v must have at least 1 character"),
        (r#"{"type":"string","maxLength":2}"#, "\"secret\"", "/v must have at most 2 characters"),
        (r#"{"type":"string","pattern":"^[a-z]$"}"#, "\"SECRET\"", "/v must match `^[a-z]$`"),
        (r#"{"type":"string","format":"date"}"#, "\"secret\"", "/v must be a date"),
        (r#"{"type":"integer","minimum":3}"#, "2", "/v must be at least 3"),
        (r#"{"type":"integer","maximum":3}"#, "4", "/v must be at most 3"),
        (r#"{"type":"number","exclusiveMinimum":3}"#, "3", "/v must be more than 3"),
        (r#"{"type":"number","exclusiveMaximum":3}"#, "3", "/v must be less than 3"),
        (r#"{"type":"number","multipleOf":0.5}"#, "0.3", "/v must be a multiple of 0.5"),
        (r#"{"enum":["a",1]}"#, "\"secret\"", "/v must be one of `a`, 1"),
        (r#"{"const":"a"}"#, "\"secret\"", "/v must be `a`"),
        (r#"{"type":"array","items":{},"minItems":2}"#, "[1]", "/v must have at least 2 elements"),
        (r#"{"type":"array","items":{},"maxItems":1}"#, "[1,2]", "/v must have at most 1 element"),
        (r#"{"type":"array","items":{},"uniqueItems":true}"#, "[1,1]", "/v must not have an element twice"),
        (r#"{"type":"object","required":["a","b"]}"#, "{\"b\":1}", "/v lacks the member `a`"),
        (
            r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#,
            "{\"c\":1}",
            "/v has a member that the form does not name; it names `a`",
        ),
        (r#"{"type":"object","minProperties":1}"#, "{}", "/v must have at least 1 member"),
        (
            r#"{"anyOf":[{"type":"null"},{"type":"boolean"}]}"#,
            "\"secret\"",
            "/v fits none of the alternatives",
        ),
        (r#"{"not":{"const":1}}"#, "1", "/v is what the form excludes by `not`"),
        (
            r#"{"oneOf":[{"type":"number"},{"type":"integer"}]}"#,
            "1",
            "/v must fit exactly one of the alternatives",
        ),
    ];
    for (schema, value, said) in cases {
        let text = format!(
            "listen: ['127.0.0.1:0']\nupstreams: {{ b: {{ servers: ['http://127.0.0.1:1'] }} }}\nroutes:\n\
             - {{ address: /a, name: a, limits: none, upstream: {{ to: b, path: / }}, form: {{ type: object, \
             properties: {{ v: {schema} }} }} }}\n"
        );
        std::fs::write(&config, text).unwrap();
        let config = config.to_str().unwrap();
        let (code, out) = explain(&[config, "/a"], &format!("{{\"v\":{value}}}"));
        assert_eq!((code, out.lines().next()), (1, Some(format!("refused: {said}").as_str())), "{schema}");
        assert!(!out.to_lowercase().contains("secret"), "{out}");
    }
}

#[test]
fn every_reason_has_a_meaning() {
    let (code, all) = explain(&["--reason", "all"], "");
    assert_eq!(code, 0);
    let reasons: Vec<_> = formgate::telemetry::reasons().map(formgate::telemetry::reason_label).collect();
    assert_eq!(all.lines().map(|line| line.split_whitespace().next().unwrap()).collect::<Vec<_>>(), reasons);
    for reason in reasons {
        let (code, out) = explain(&["--reason", reason], "");
        assert_eq!((code, out.lines().count()), (0, 1), "{reason}");
        assert!(out.starts_with(reason) && out.len() > reason.len() + 30, "{out}");
    }
    assert_eq!(explain(&["--reason", "nothing"], "").0, 64);
    assert_eq!(explain(&["--reason", "form", "/a"], "").0, 64);
}

#[test]
fn other_refusals_have_one_too() {
    let config = root("config/gateway.yaml");
    let config = config.to_str().unwrap();
    for (body, said) in [
        ("", "refused: no value"),
        ("{} {}", "refused: something after the value"),
        ("{\"a\":1,\"a\":2}", "refused: a member name twice in one object"),
        (&"x".repeat(70_000), "refused: it has more than the 65536 bytes of `max_body`"),
    ] {
        let (code, out) = explain(&[config, "/api/v2/meetings/start"], body);
        assert_eq!((code, out.lines().next()), (1, Some(said)));
    }
}
