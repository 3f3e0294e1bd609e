//! Documents written to harm who adopts them: bombs of memory and time, and words that a terminal or YAML would not take
//! as words.

use super::{Made, formgate};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What misleads: C1 and DEL, other line breaks, a byte-order mark, noncharacters, and turns of direction.
const HIDDEN: &str = "\u{7f}\u{85}\u{9b}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}\u{feff}\u{fffe}\u{ffff}";

fn is_hidden(c: char) -> bool {
    HIDDEN.contains(c) || c.is_control() && c != '\n'
}

/// `init` of a document, with 3 GB of address space and two minutes of CPU at most.
fn init(dir: &Path, text: &str, more: &[&str]) -> Output {
    let path = dir.join("document.yaml");
    std::fs::write(&path, text).unwrap();
    Command::new("sh")
        .args(["-c", "ulimit -v 3000000; ulimit -t 120; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_formgate")])
        .arg("init")
        .arg("--openapi")
        .arg(&path)
        .arg("--out")
        .arg(dir.join("out"))
        .args(more)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

const HEAD: &str = "openapi: 3.0.0\npaths: {}\n";

fn shown(done: &Output) -> String {
    let shown = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    shown.chars().take(2000).collect()
}

#[test]
fn what_copies_too_much_is_refused() {
    let many = "*a, ".repeat(100_000);
    let texts = format!("{HEAD}x-a: &a '{}'\nx-b: [{many}]\n", "t".repeat(1 << 20));
    let mut nested = format!("{HEAD}x-a: ");
    (0..150).for_each(|level| write!(nested, "&n{level} [").unwrap());
    nested.push_str(&"0, ".repeat(800_000));
    nested.push_str(&"]".repeat(150));
    let names = format!("{HEAD}x-a: &a {}\nx-b:\n{}", "k".repeat(100_000), "  ? *a\n  : 0\n".repeat(20_000));
    let members: String = (0..20_000).fold(String::new(), |all, n| all + &format!("k{n}: 0, "));
    let merged = format!("{HEAD}x-a: &a {{{members}}}\nx-b:\n{}", "  <<: *a\n".repeat(20_000));
    let within = format!("{HEAD}x-a: {}{{{}}}{}\n", "{<<: ".repeat(190), members, "}".repeat(190));
    for (what, text) in
        [("texts", texts), ("nested", nested), ("names", names), ("merged", merged), ("within", within)]
    {
        let dir = tempfile::tempdir().unwrap();
        let done = init(dir.path(), &text, &[]);
        assert_eq!(done.status.code(), Some(65), "{what}: {}", shown(&done));
        assert!(shown(&done).contains("copy more values than"), "{what}: {}", shown(&done));
        assert!(!dir.path().join("out").exists(), "{what}");
    }
}

#[test]
fn a_large_object_is_merged_in_one_pass() {
    let members: String = (0..100_000).fold(String::new(), |all, n| all + &format!("k{n}: 0, "));
    let text = format!("{HEAD}x-a: &a {{{members}}}\nx-b: {{<<: *a, k7: 1}}\n");
    let dir = tempfile::tempdir().unwrap();
    let done = init(dir.path(), &text, &[]);
    assert_eq!(done.status.code(), Some(1), "{}", shown(&done));
}

/// Followed by calls within calls, such a chain would end the process.
#[test]
fn a_chain_of_references_is_refused_at_its_depth() {
    let chain = |length: usize| {
        let link =
            |n: usize| (format!("s{n}"), json!({ "$ref": format!("#/components/schemas/s{}", n + 1) }));
        let mut schemas: serde_json::Map<_, _> = (0..length).map(link).collect();
        schemas.insert(format!("s{length}"), json!({ "type": "boolean" }));
        let schema = json!({ "$ref": "#/components/schemas/s0" });
        json!({
            "openapi": "3.1.0",
            "paths": { "/act": { "post": { "requestBody": { "content": { "application/json": { "schema": schema } } } } } },
            "components": { "schemas": schemas },
        })
        .to_string()
    };
    let dir = tempfile::tempdir().unwrap();
    let done = init(dir.path(), &chain(100_000), &[]);
    assert_eq!(done.status.code(), Some(1), "{}", shown(&done));
    assert!(shown(&done).contains("references, each to the next"), "{}", shown(&done));
    assert_eq!(Made::of_text(&chain(50)).form("post_act")["type"], "boolean");
}

#[test]
fn anchors_and_merges_mean_what_they_mean() {
    let made = Made::of_text(
        "openapi: 3.0.0\nx-text: &text { type: string, maxLength: 9 }\nx-base: &base { a: *text, b: { type: boolean } }\n\
         paths:\n  /act:\n    post:\n      operationId: act\n      requestBody: { content: { application/json: { schema:\n        \
         { type: object, properties: { <<: [*base, { b: *text, c: *text }], a: { type: integer, minimum: 0, maximum: 3 } } } } } }\n",
    );
    let properties = &made.form("act")["properties"];
    assert_eq!(properties["a"]["type"], "integer");
    assert_eq!(properties["b"]["type"], "boolean");
    assert_eq!(properties["c"], json!({ "type": "string", "maxLength": 9 }));
}

/// A document that says hidden characters wherever it can say anything.
fn misleading() -> String {
    let word = format!("w{HIDDEN}w");
    let schema = json!({
        "type": "object",
        "description": format!("d {word}"),
        "properties": { word.as_str(): { "type": "string", "maxLength": 60, "title": word, "enum": [word, "b"] } },
        "example": { word.as_str(): word },
        format!("x-{word}"): 1,
        "deprecated": word
    });
    json!({
        "openapi": "3.0.0",
        "info": { "title": format!("T{word}\ncarried: 9 of 9"), "version": word },
        "servers": [{ "url": format!("http://{word}/x") }],
        "security": [{ word.as_str(): [] }],
        "paths": {
            "/act": { "post": {
                "operationId": format!("act{word}\nnote: forged"), "summary": word,
                "description": format!("D{word}"),
                "parameters": [{ "in": "query", "name": word }],
                "requestBody": { "content": { "application/json": { "schema": schema }, word.as_str(): {} } }
            } },
            format!("/{word}\nnote: forged"): { "post": {
                "operationId": format!("b{word}\nnote: forged"),
                "requestBody": { "content": { format!("{word}\nnote: forged"): {} } }
            } }
        }
    })
    .to_string()
}

#[test]
fn hidden_characters_are_written_as_escapes() {
    let made = Made::of_text(&misleading());
    let name = made.report["carried"][0]["name"].as_str().unwrap().to_owned();
    let yaml = made.yaml();
    let form = std::fs::read_to_string(made.dir.path().join(format!("forms/{name}.json"))).unwrap();
    for text in [&yaml, &form] {
        assert!(!text.contains(is_hidden), "{text:?}");
    }
    assert!(yaml.contains("\\u009b"), "{yaml}");
    // White space of the text became a space before it was written.
    let said = &made.form(&name)["description"];
    assert!(
        said.as_str().unwrap().contains("\u{202a}\u{202e}\u{2066}\u{2069}\u{feff}\u{fffe}\u{ffff}"),
        "{said}"
    );
}

#[test]
fn a_report_has_no_lines_but_its_own() {
    let dir = tempfile::tempdir().unwrap();
    for more in [&["--dry-run"][..], &["--dry-run", "--report", "json"], &[]] {
        let done = init(dir.path(), &misleading(), more);
        let told = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success(), "{told}");
        assert!(!told.contains(is_hidden), "{told:?}");
        for line in told.lines() {
            assert!(!line.starts_with("carried: 9") && !line.starts_with("note: forged"), "{told}");
        }
    }
}

#[test]
fn what_turns_text_is_not_printed_to_a_terminal() {
    let address = format!("a{HIDDEN}");
    let done = formgate(["explain", "--config", "/nowhere.yaml", &address]);
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(told.contains("\\u{202e}") && !told.contains(is_hidden), "{told:?}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gateway.yaml");
    std::fs::write(&path, "listen: [\"127.0.0.1:8080\"]\n\"k\\u202e\\u2028\": 1\n").unwrap();
    let path = path.to_str().unwrap();
    for words in [&["check", path][..], &["check", "--json", path]] {
        let done = formgate(words);
        let told = shown(&done);
        assert!(told.contains("202e") && !told.contains(is_hidden), "{told:?}");
    }
}
