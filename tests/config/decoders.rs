//! `check --decoders`, as the shell and a pipeline see it. What profiles say is held against the engines themselves by
//! `tests/surface/independent/decoders/run`.

use serde_json::Value;
use std::process::Command;

fn check(words: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_formgate")).arg("check").args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_table_and_what_to_change() {
    let (code, out, err) = check(&["--decoders"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let head = "route                 openai-strict  anthropic  gemini    llama.cpp  xgrammar  llguidance  outlines-core\n";
    assert!(out.starts_with(head), "{out}");
    assert!(out.contains("\nstart_meeting         refused        weaker     weaker    exact      stronger  exact       weaker\n"), "{out}");
    assert!(
        out.contains(
            "refused: openai-strict (every member must be in `required`)\n    help: list every member"
        ),
        "{out}"
    );
    assert!(!out.contains('\x1b'), "colours without a terminal");
    let (table, _) = out.split_once("\n\n").unwrap();
    let page = std::fs::read_to_string("docs/decoders.md").unwrap();
    assert!(
        page.contains(&format!("```text\n{table}\n```")),
        "docs/decoders.md shows another table than:\n{table}"
    );
    let (_, out, _) = check(&["--decoders=llguidance,xgrammar"]);
    assert!(out.starts_with("route                 llguidance  xgrammar\n"), "{out}");
}

#[test]
fn for_a_pipeline() {
    let (code, _, err) = check(&["--decoders=xgrammar", "--deny-warnings"]);
    assert_eq!(
        (code, err.as_str()),
        (78, "refused: some decoder does not hold some form, and warnings are denied\n")
    );
    let (code, out, _) = check(&["--decoders=llguidance", "--json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &document["ok"]), (0, &true.into()));
    let routes = document["decoders"]["routes"].as_array().unwrap();
    assert_eq!(routes.len(), document["routes"].as_array().unwrap().len());
    let issue = routes.iter().find(|route| route["name"] == "create_issue").unwrap();
    assert_eq!(issue["verdicts"]["llguidance"], "refused");
    let unique = issue["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|found| found["construct"] == "unique-items")
        .unwrap();
    assert_eq!(unique["pointer"], "/properties/labels");
    assert!(
        unique["effects"]["llguidance"]["sources"][0]["what"]
            .as_str()
            .unwrap()
            .starts_with("PyPI llguidance"),
        "{unique}"
    );
}

/// What nothing that was read mentions is unknown, in the table, below it and for programs, and says so.
#[test]
fn what_is_not_known_of_hosted_runtimes() {
    let folder = tempfile::tempdir().unwrap();
    let form = r#"{ "type": "object", "properties": { "a": { "type": "array", "prefixItems": [{ "type": "string" }], "maxItems": 1,
        "items": { "type": "string" } } }, "required": ["a"], "additionalProperties": false }"#;
    std::fs::write(folder.path().join("form.json"), form).unwrap();
    let config = folder.path().join("gateway.yaml");
    let text = "listen: [\"127.0.0.1:0\"]\nupstreams: { b: { servers: [\"http://127.0.0.1:1\"] } }\ndefaults: { limits: none }\n\
                routes: [{ address: /a, name: a, form: form.json, upstream: { to: b, path: / } }]\n";
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let (code, out, err) = check(&["--decoders=openai-strict", config]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("\na      unknown\n"), "{out}");
    assert!(out.contains("/properties/a  prefix-items\n    unknown: openai-strict\n"), "{out}");
    assert!(out.contains(", from what was read on 20") && out.contains(", not run\n"), "{out}");
    let (_, out, _) = check(&["--decoders", "--json", config]);
    let document: Value = serde_json::from_str(&out).unwrap();
    let route = &document["decoders"]["routes"][0];
    assert_eq!(route["verdicts"]["openai-strict"], "unknown", "{route}");
    let found =
        route["findings"].as_array().unwrap().iter().find(|found| found["construct"] == "prefix-items");
    let told = &found.unwrap()["effects"]["openai-strict"];
    assert_eq!(*told, serde_json::json!({ "effect": "unknown", "note": "", "sources": [] }));
    let named = |name: &str| {
        let profiles = document["decoders"]["profiles"].as_array().unwrap();
        profiles.iter().find(|profile| profile["name"] == name).unwrap().clone()
    };
    assert_eq!(named("openai-strict")["run"], false);
    assert!(named("openai-strict")["sources"].as_array().unwrap().len() > 1);
    assert_eq!(named("llguidance")["run"], true);
}

#[test]
fn names_that_are_not_known() {
    let (code, out, err) = check(&["--decoders=lmql"]);
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(err.contains("no decoder `lmql`; there is openai-strict, "), "{err}");
    // With a space the word is the file's place: said, with the names, and not that a file cannot be read.
    for (word, meant) in [
        ("xgrammar", "--decoders=xgrammar"),
        ("llama.cpp", "--decoders=llama.cpp"),
        ("lmql", "--decoders=NAME"),
    ] {
        let (code, out, err) = check(&["--decoders", word]);
        assert_eq!((code, out.as_str()), (64, ""), "{err}");
        assert!(err.contains(meant) && err.contains("there is openai-strict, "), "{err}");
    }
    assert_eq!(check(&["--decoders", "nowhere.yaml"]).0, 78);
    assert_eq!(check(&["--decoders", "--schema"]).0, 64);
    assert_eq!(check(&["--decoders", "tests/cases/config/refused/dozen.yaml"]).0, 78);
}
