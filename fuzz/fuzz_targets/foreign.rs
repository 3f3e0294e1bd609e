//! Any text as what `init` reads: an OpenAPI document, a HAR file, lines of recorded requests. What it would write passes
//! `check` and has nothing in it that cannot be seen; YAML and JSON of the same text are the same; the forms of recorded
//! requests admit them; and of recorded values none is copied where none may be.
#![no_main]

use formgate::adopt::{Adoption, Format, Recording, Wanted, from_openapi, from_traffic};
use formgate::json::{Document, is_visible, visible};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::LazyLock;

static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
    let shared = PathBuf::from("/dev/shm");
    let above = if shared.is_dir() { shared } else { std::env::temp_dir() };
    let dir = above.join(format!("formgate-fuzz-foreign-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("forms")).unwrap();
    dir
});

/// Words of our own, which a recorded value may happen to be.
static OWN: LazyLock<String> = LazyLock::new(|| {
    [
        include_str!("../../src/adopt/traffic.rs"), include_str!("../../src/adopt/recorded.rs"), include_str!("../../src/adopt/inferred.rs"),
        include_str!("../../src/adopt/infer.rs"), include_str!("../../src/adopt/gateway.rs"), include_str!("../../src/adopt/report.rs"),
        include_str!("../../src/adopt/server.rs"), include_str!("../../src/adopt/choose.rs"), include_str!("../../src/config/words.rs"),
        include_str!("../../src/json.rs"), include_str!("../../src/form/keywords.rs"), include_str!("../../src/lint.rs"),
    ].concat().to_lowercase()
});

fn check(adoption: &Adoption, source: &str) -> String {
    let report = adoption.report.json();
    let (carried, left) = adoption.report.counts();
    let told = adoption.report.text();
    let starts = |line: &str| {
        ["carried: ", "guessed: ", "dropped from schemas: ", "not carried: ", "note: ", "  "].iter().any(|start| line.starts_with(start))
    };
    assert!(told.lines().skip(1).all(starts), "a line of the source's: {told}");
    let count = format!("carried: {carried} of {}", carried + left);
    assert!(told.lines().filter(|line| line.starts_with("carried: ")).eq([count.as_str()]), "{told}");
    let shown = visible(&format!("{report:#}\n"));
    assert!(shown.chars().all(|c| c == '\n' || is_visible(c)));
    assert_eq!(serde_json::from_str::<Value>(&shown).ok(), Some(report));
    // No more than a form's bound for each route, and the lines about what was left out.
    let bytes: usize = adoption.files.iter().map(|(_, text)| text.len()).sum();
    assert!(bytes <= (4 << 10) + 64 * source.len() + carried * (320 << 10), "{bytes} of {}", source.len());
    for (file, text) in &adoption.files {
        assert!(text.chars().all(|c| c == '\n' || is_visible(c)), "{file}");
    }
    if carried > 0 {
        for (file, text) in &adoption.files {
            let name = file.strip_prefix("forms/").and_then(|name| name.strip_suffix(".json")).unwrap_or("gateway");
            assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'), "{file}");
            std::fs::write(DIR.join(file), text).unwrap();
        }
        if let Err(refused) = formgate::config::load(&DIR.join("gateway.yaml")) {
            panic!("{:#?}", refused.faults);
        }
        adoption.files.iter().for_each(|(file, _)| std::fs::remove_file(DIR.join(file)).unwrap());
    }
    adoption.files.iter().fold(told + &shown, |all, (_, text)| all + text)
}

fn openapi(text: &str, flags: u8) {
    let wanted = Wanted { operations: Vec::new(), path_members: flags & 2 != 0 };
    let read = |text: &str| from_openapi(text, "document", &wanted, &mut |_, _| {});
    let Ok(adoption) = read(text) else { return };
    check(&adoption, text);
    // JSON is YAML, but for `<<`, for what is unescaped in pairs, and for names that are too long for one line.
    if Document::new().parse(text.as_bytes()).is_ok() && !text.contains("<<") {
        if let Ok(other) = read(&format!("# YAML\n{text}")) {
            assert_eq!(adoption.files[1..], other.files[1..], "YAML and JSON");
        }
    }
}

/// Texts of a recording: those that may be copied (names, methods, paths, hosts, types), and all others.
fn sort(value: &Value, key: &str, open: &mut String, closed: &mut Vec<String>) {
    match value {
        Value::String(text) => match key {
            "method" | "host" | "mimeType" => *open += &format!("\n{text}"),
            "url" | "path" => {
                let (place, more) = text.split_at(text.find(['?', '#']).unwrap_or(text.len()));
                let user = place.split_once("://").and_then(|(_, rest)| rest.split('/').next()?.rsplit_once('@'));
                *open += &format!("\n{}", user.map_or(place.to_owned(), |(user, _)| place.replacen(user, "", 1)));
                closed.extend([more.to_owned(), user.map_or_else(String::new, |(user, _)| user.to_owned())]);
            }
            "text" => match serde_json::from_str::<Value>(text) {
                Ok(inner @ (Value::Object(_) | Value::Array(_))) => sort(&inner, "", open, closed),
                _ => closed.push(text.clone()),
            },
            _ => closed.push(text.clone()),
        },
        Value::Array(list) => list.iter().for_each(|value| sort(value, "", open, closed)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            *open += &format!("\n{name}");
            sort(value, name, open, closed);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn traffic(text: &str, flags: u8) {
    let format = [None, Some(Format::Har), Some(Format::Jsonl), None][usize::from(flags >> 2 & 3)];
    let values = flags & 2 != 0;
    let Ok(adoption) = from_traffic(text, "recording", Recording { format, values }) else { return };
    let written = check(&adoption, text).to_lowercase();
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let whole: Vec<Value> = serde_json::from_str(text).into_iter().collect();
    let (mut open, mut closed) = (String::new(), Vec::new());
    lines.iter().chain(&whole).for_each(|value| sort(value, "", &mut open, &mut closed));
    let open = open.to_lowercase();
    for word in closed.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric())).filter(|word| word.len() >= 8) {
        let lower = word.to_lowercase();
        let round = lower.trim_end_matches('0').len() == 1;
        let ours = open.contains(&lower) || round || OWN.contains(&lower);
        assert!(values || ours || !written.contains(&lower), "{word} was recorded, and is written");
    }
    if format != Some(Format::Jsonl) {
        return;
    }
    let text_of = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let report = adoption.report.json();
    for route in report["carried"].as_array().unwrap() {
        let file = text_of(route, "form");
        let (_, form) = adoption.files.iter().find(|(name, _)| *name == file).unwrap();
        let validator = jsonschema::options().should_validate_formats(true).build(&serde_json::from_str(form).unwrap()).unwrap();
        let of_route = |line: &&Value| {
            text_of(line, "method").to_uppercase() == route["method"] && line["path"] == route["path"]
                && line.get("text").is_none() && line.get("host").is_none() && line.get("body").is_some()
        };
        for line in lines.iter().filter(of_route) {
            // A name that stands twice was not read, and what doubles do not hold is read otherwise.
            let body = line["body"].to_string();
            let plain = !body.contains(['.', 'e', 'E']) && Document::new().parse(body.as_bytes()).is_ok() && !text.contains('\\');
            let twice = text.lines().any(|line| Document::new().parse(line.as_bytes()).is_err());
            assert!(!plain || twice || validator.is_valid(&line["body"]), "{body} was seen: {form}");
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((flags, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    if flags & 1 == 0 { openapi(text, *flags) } else { traffic(text, *flags) }
});
