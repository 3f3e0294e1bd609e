//! `check` and `explain`, as the shell sees them.

use super::root;
use std::io::Write;
use std::process::{Command, Stdio};

struct Run {
    code: i32,
    out: String,
    err: String,
}

fn run(words: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_formgate"))
        .args(words)
        .current_dir(root(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A verb that does not read its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn check_of_the_example() {
    for words in [&["check"][..], &["check", "config/gateway.yaml"], &["check", "--deny-warnings"]] {
        let Run { code, out, err } = run(words, "");
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.starts_with("config/gateway.yaml: 9 routes, 0 warnings, digest "), "{out}");
        assert_eq!(out.lines().count(), 1);
    }
}

/// What `token` prints can be put into a config as it is, and lets that token in; nothing but its hash is in it.
#[test]
fn a_token_and_its_line() {
    let Run { code, out, err } = run(&["token"], "");
    assert_eq!((code, err.as_str()), (0, ""));
    let (token, line) = out.trim_end().split_once('\n').unwrap();
    assert!(token.starts_with("fg_act_") && token.len() == 59, "{token}");
    let hash = formgate::gateway::TokenHash::of(token.as_bytes()).hex();
    assert_eq!(line, format!("agents: {{ class: act, sha256: \"{hash}\" }}"));
    assert_ne!(run(&["token"], "").out, out, "the same token twice");
    // The same line for the same token, with or without a line break behind it.
    for input in [token.to_owned(), format!("{token}\n"), format!("{token}\r\n")] {
        let Run { code, out, .. } = run(&["token", "--hash"], &input);
        assert_eq!((code, out.trim_end()), (0, line));
    }
    for name in ["My Agents", "_x", "9", ""] {
        let Run { code, out, err } = run(&["token", name], "");
        assert_eq!((code, out.as_str()), (64, ""), "{name}: {err}");
    }
    let Run { out, .. } = run(&["token", "night_shift", "--class", "operator"], "");
    assert!(out.starts_with("fg_op_") && out.contains("\nnight_shift: { class: operator, sha256: "), "{out}");
    for weak in [
        "",
        "\n",
        "short",
        "with spaces in it and long enough to pass",
        &"x".repeat(513),
        "\u{fc}".repeat(40).as_str(),
    ] {
        let Run { code, out, err } = run(&["token", "--hash"], weak);
        assert_eq!((code, out.as_str()), (64, ""), "{weak:?}");
        assert!(weak.trim().is_empty() || !err.contains(weak), "{err}");
    }
}

#[test]
fn check_prints_like_a_compiler() {
    let file = "tests/cases/config/refused/dozen.yaml";
    let Run { code, out, err } = run(&["check", file], "");
    assert_eq!((code, out.as_str()), (78, ""));
    let typo = format!(
        "{file}:10:5: error: unknown key `adress`\n    at /routes/0/adress\n    help: did you mean `address`?\n"
    );
    assert!(err.contains(&typo), "{err}");
    assert!(err.ends_with("refused: 12 faults\n"), "{err}");
    assert!(!err.contains('\x1b'), "colours without a terminal");
}

#[test]
fn check_with_warnings() {
    let file = "tests/cases/config/warned/warnings.yaml";
    let Run { code, out, err } = run(&["check", file], "");
    assert_eq!(code, 0);
    assert!(out.contains(": 1 route, 2 warnings, digest "), "{out}");
    assert!(
        err.contains(&format!("{file}:5:3: warning: no route goes to upstream `erp` [unused-upstream]\n")),
        "{err}"
    );
    let Run { code, out, err } = run(&["check", "--deny-warnings", file], "");
    assert_eq!((code, out.as_str()), (78, ""));
    assert!(err.contains(": error: "), "{err}");
    assert!(err.ends_with("refused: 2 warnings, and warnings are denied\n"), "{err}");
}

#[test]
fn check_in_json() {
    let Run { code, out, .. } = run(&["check", "--json"], "");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &document["ok"], document["routes"].as_array().unwrap().len()), (0, &true.into(), 9));
    assert_eq!(document["routes"][0]["name"], "start_meeting");
    let Run { code, out, err } = run(&["check", "--json", "tests/cases/config/refused/dozen.yaml"], "");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, err.as_str(), &document["ok"]), (78, "", &false.into()));
    assert_eq!(document["faults"][0]["line"], 2);
    assert_eq!(document["faults"][0]["pointer"], "/listen/1");
}

#[test]
fn check_prints_the_schema() {
    let Run { code, out, .. } = run(&["check", "--schema"], "");
    assert_eq!((code, out.trim_end()), (0, formgate::config::schema().as_str()));
}

#[test]
fn usage() {
    for words in [
        &[][..],
        &["serv"],
        &["check", "--colour"],
        &["check", "a", "b"],
        &["explain"],
        &["explain", "a"],
        &["explain", "/a", "b", "c", "d"],
        &["explain", "/nowhere"],
        &["explain", "nobody"],
        &["explain", "config/gateway.yaml", "no-name"],
        &["explain", "/api/v2/cache/purge", "no/such/file"],
        &["check", "--schema", "--json"],
    ] {
        let Run { code, out, err } = run(words, "");
        assert_eq!((code, out.as_str()), (64, ""), "{words:?}");
        assert!(!err.is_empty());
    }
    for words in [
        &["--help"][..],
        &["check", "--help"],
        &["explain", "--help"],
        &["serve", "--help"],
        &["demo", "--help"],
    ] {
        let Run { code, out, .. } = run(words, "");
        assert_eq!(code, 0);
        assert!(words == ["--help"] || out.contains("Examples:"), "{out}");
    }
    let Run { code, out, .. } = run(&["--version"], "");
    assert_eq!((code, out.as_str()), (0, concat!("formgate ", env!("CARGO_PKG_VERSION"), "\n")));
}

#[test]
fn a_missing_config_is_refused() {
    for words in [&["check", "nowhere.yaml"][..], &["explain", "nowhere.yaml", "/a"]] {
        let Run { code, err, .. } = run(words, "");
        assert_eq!(code, 78);
        assert!(err.starts_with("nowhere.yaml: error: cannot read nowhere.yaml"), "{err}");
    }
}

#[test]
fn openapi_prints_the_document() {
    let Run { code, out, err } = run(&["openapi"], "");
    assert_eq!((code, err.as_str()), (0, ""));
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(out, serde_json::to_string_pretty(&document).unwrap() + "\n");
    let Run { out: compact, .. } = run(&["openapi", "config/gateway.yaml", "--compact"], "");
    assert_eq!(compact, document.to_string() + "\n");

    let Run { code, out, err } = run(&["openapi", "tests/cases/config/warned/warnings.yaml"], "");
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(err.contains("openapi: on"), "{err}");
    let Run { code, .. } = run(&["openapi", "tests/cases/config/refused/dozen.yaml"], "");
    assert_eq!(code, 78);
}

#[test]
fn explain_accepts() {
    let Run { code, out, .. } =
        run(&["explain", "/api/v2/meetings/start"], r#"{"title":"Q3","displayName":"Ada"}"#);
    assert_eq!(code, 0);
    assert_eq!(out, "accepted: start_meeting would send these 34 bytes as POST /meetings to `legacy`\n");
    // The same through every order of words.
    let body = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(body.path(), "{}").unwrap();
    let body = body.path().to_str().unwrap();
    let config = root("config/gateway.yaml");
    let config = config.to_str().unwrap();
    let purge = "/api/v2/cache/purge";
    for words in [
        &[purge, body][..],
        &[config, purge, body],
        &["purge_cache", body],
        &[config, "purge_cache"],
        &["--config", config, purge, body],
        &[config, purge, "-"],
    ] {
        let Run { code, out, .. } = run(&[&["explain"], words].concat(), "{}");
        assert_eq!(code, 0, "{words:?}");
        assert!(out.starts_with("accepted: purge_cache would send these 2 bytes"), "{out}");
    }
}

#[test]
fn explain_refuses_and_prints_no_value() {
    let meeting = "/api/v2/meetings/start";
    let Run { code, out, .. } =
        run(&["explain", meeting], "{\n  \"title\": \"secret-value\",\n  \"title\": \"b\"}");
    assert_eq!(
        (code, out.as_str()),
        (
            1,
            "refused: a member name twice in one object\n    reason    duplicate\n    body      line 3, column 3\n"
        )
    );
    let Run { code, out, .. } =
        run(&["explain", meeting], "{\"title\":\"\",\n \"displayName\":\"secret-value\"}");
    assert_eq!(code, 1);
    assert_eq!(
        out,
        "refused: /title must have at least 1 character\n    reason    form\n    \
         keyword   minLength\n    schema    /properties/title/minLength\n    instance  /title\n    \
         body      line 1, column 10\n"
    );
    let Run { code, out, .. } = run(&["explain", meeting], r#"["secret-value"]"#);
    assert_eq!(code, 1);
    assert!(
        out.contains("keyword   type\n")
            && out.contains("instance  (root)\n    body      line 1, column 1\n"),
        "{out}"
    );
    let Run { code, out, .. } = run(&["explain", meeting], &" ".repeat((64 << 10) + 1));
    assert_eq!(
        (code, out.as_str()),
        (1, "refused: it has more than the 65536 bytes of `max_body`\n    reason    too_large\n")
    );
    let Run { code, out, .. } = run(&["explain", meeting], "");
    assert_eq!(
        (code, out.as_str()),
        (1, "refused: no value\n    reason    empty\n    body      line 1, column 1\n")
    );
}
