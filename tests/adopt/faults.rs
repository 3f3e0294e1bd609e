//! Documents that are broken, large, or somebody else's: told with their place, and nothing is written.

use super::{Made, formgate};
use std::fmt::Write as _;

/// What `init` says of a text, and its exit code.
#[track_caller]
fn said(name: &str, bytes: &[u8]) -> (i32, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let out = dir.path().join("out");
    let done = formgate([
        "init".as_ref(),
        "--openapi".as_ref(),
        path.as_os_str(),
        "--out".as_ref(),
        out.as_os_str(),
    ]);
    assert!(!out.exists(), "something was written");
    (done.status.code().unwrap(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (name, text, told) in [
        ("a.json", "{\"openapi\": \"3.0.0\",\n  \"paths\": {,}}", "a.json:2:"),
        ("b.yaml", "openapi: 3.0.0\npaths: [\n", "b.yaml:"),
        ("c.yaml", "", "the file is empty"),
        ("d.yaml", "a: 1\n", "it is not an OpenAPI document"),
        ("e.yaml", "openapi: 4.0.0\n", "OpenAPI 4.0.0 is not read"),
        ("f.yaml", "swagger: '1.2'\n", "Swagger 1.2 is not read"),
        ("g.yaml", "openapi: 3.0.0\n---\nopenapi: 3.0.0\n", "a second document"),
        ("h.yaml", "a: *nothing\n", "h.yaml:1:"),
    ] {
        let (code, shown) = said(name, text.as_bytes());
        assert_eq!(code, 65, "{name}: {shown}");
        assert!(shown.contains(told), "{name}: {shown}");
    }
    let (code, shown) = said("i.yaml", b"openapi: \xff\n");
    assert!(code == 65 && shown.contains("not UTF-8 (line 1, column 10)"), "{shown}");
    let deep = "[".repeat(100_000);
    assert_eq!(said("j.json", deep.as_bytes()).0, 65);
    assert_eq!(formgate(["init", "--openapi", "/nowhere.yaml"]).status.code(), Some(65));
    assert_eq!(formgate(["init", "--openapi", "/dev/zero"]).status.code(), Some(65));
}

#[test]
fn aliases_that_multiply_are_bounded() {
    let mut text = String::from("openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let all = vec![format!("*a{}", level - 1); 10].join(", ");
        let _ = writeln!(text, "a{level}: &a{level} [{all}]");
    }
    let (code, shown) = said("bomb.yaml", text.as_bytes());
    assert!(code == 65 && shown.contains("copy more values"), "{code}: {shown}");
}

#[test]
fn schemas_that_lead_nowhere_are_listed() {
    let schema = |schema: &str| {
        format!(
            "openapi: 3.0.0\npaths:\n  /a:\n    post:\n      operationId: a\n      requestBody: {{ content: {{ application/json: {{ schema: {schema} }} }} }}\n\
             components: {{ schemas: {{ A: {{ $ref: '#/components/schemas/B' }}, B: {{ $ref: '#/components/schemas/A' }} }} }}\n"
        )
    };
    for (text, told) in [
        ("{ $ref: '#/components/schemas/A' }", "without end"),
        ("{ $ref: '#/components/schemas/Missing' }", "points at nothing"),
        ("{ $ref: 'https://example.com/x.json' }", "another document"),
        ("{ type: nonsense }", "is not a type"),
        ("{ type: string, enum: [1, 2] }", "no value of its `enum` fits it"),
        ("17", "not a schema"),
        ("{ allOf: [{ type: string }, { type: integer }] }", "no value fits it"),
        ("{}", "any value would fit"),
        ("{ type: object }", "any object would fit"),
        ("{ type: object, required: [x], additionalProperties: false }", "no value fits it"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.yaml");
        std::fs::write(&path, schema(text)).unwrap();
        let done = formgate([
            "init".as_ref(),
            "--openapi".as_ref(),
            path.as_os_str(),
            "--out".as_ref(),
            dir.path().as_os_str(),
        ]);
        let shown = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(done.status.code(), Some(1), "{text}: {shown}");
        assert!(shown.contains(told), "{text}: {shown}");
    }
}

#[test]
fn names_twice_are_taken_and_told() {
    let text = r#"{"openapi":"3.0.0","paths":{"/a":{"post":{"operationId":"a","requestBody":{"content":{"application/json":{"schema":
        {"type":"object","properties":{"m":{"type":"boolean","type":"integer"}}}}}}}}}}"#;
    let made = Made::of_text(text);
    assert_eq!(made.form("a")["properties"]["m"]["type"], "integer");
    assert!(
        made.report["remarks"][0].as_str().unwrap().contains("`type` stands twice"),
        "{}",
        made.report["remarks"]
    );
}

#[test]
fn text_of_the_document_stays_text() {
    let text = "openapi: 3.0.0\ninfo: { title: \"T\\nlisten: [0.0.0.0:1]\", version: '1' }\npaths:\n  /a:\n    post:\n      operationId: \"a\\n- address: /evil\"\n      \
                description: \"d\\n\\u2028 \\\" ${file:/etc/passwd} # x\"\n      requestBody: { content: { application/json: { schema: { type: object, properties: { \"m\\n\": { type: boolean } } } } } }\n";
    let made = Made::of_text(text);
    assert_eq!(made.report["carried"].as_array().unwrap().len(), 1);
    assert_eq!(made.yaml().lines().filter(|line| line.starts_with("listen:")).count(), 1);
}

#[test]
fn five_megabytes_are_read() {
    let mut text = String::from("openapi: 3.0.0\npaths:\n");
    for number in 0..60 {
        let _ = write!(
            text,
            "  /p{number}:\n    post:\n      requestBody: {{ content: {{ application/json: {{ schema: {{ $ref: '#/components/schemas/S{number}' }} }} }} }}\n"
        );
    }
    text.push_str("components:\n  schemas:\n");
    for number in 0..2000 {
        let _ = writeln!(text, "    S{number}:\n      type: object\n      properties:");
        for member in 0..20 {
            let description = "words ".repeat(18);
            let _ = writeln!(
                text,
                "        m{member}: {{ type: string, maxLength: 20, description: '{description}' }}"
            );
        }
        let next = (number + 1) % 2000;
        let _ = writeln!(text, "        next: {{ $ref: '#/components/schemas/S{next}' }}");
    }
    assert!(text.len() > 5 << 20);
    let made = Made::of_text(&text);
    assert_eq!(made.report["carried"].as_array().unwrap().len(), 60);
    assert!(made.yaml().contains("not carried:"));
}
