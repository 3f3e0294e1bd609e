//! What the layers of `src/lib.rs` promise, read from the sources: imports point down, a crate has one home, no file
//! is long, and no feature changes how JSON is read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The modules, lowest first; a module may name only those above its own line.
const ORDER: &[&[&str]] = &[
    &["every", "hex", "lint"],
    &["json", "media", "bounds", "tls"],
    &["reason"],
    &["form"],
    &["gateway", "decoders"],
    &["surface"],
    &["config"],
    &["telemetry", "adopt"],
    &["store"],
    &["live"],
    &["edge"],
    &["cli"],
];

/// Crates that are named in one place only.
const HOMES: &[(&str, &[&str])] = &[
    ("pingora", &["edge"]),
    ("serde_yaml", &["config"]),
    ("jsonschema", &["form", "json"]),
    ("rusqlite", &["store"]),
    ("redis", &["store"]),
    ("rustls", &["tls", "edge"]),
    ("webpki", &["tls"]),
];

const LINES: usize = 450;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(under: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(under)];
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                open.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                found.push(entry);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no sources under {under}");
    found
}

/// The module a source belongs to: `src/form.rs` and `src/form/…` are `form`.
fn module(path: &Path) -> String {
    let inside = path.strip_prefix(root().join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// Lines that are not comments, without what stands behind a comment sign.
fn code(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .zip(1..)
        .map(|(line, number)| (number, line.split("//").next().unwrap_or("").to_owned()));
    lines.filter(|(_, line)| !line.trim().is_empty()).collect()
}

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|line| line.contains(&module))
}

/// Modules named behind `prefix` in a line.
fn named<'l>(line: &'l str, prefix: &str) -> Vec<&'l str> {
    line.match_indices(prefix)
        .map(|(at, _)| &line[at + prefix.len()..])
        .map(|rest| &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())])
        .filter(|name| rank(name).is_some())
        .collect()
}

#[test]
fn imports_point_down() {
    let mut wrong = Vec::new();
    let mut known = BTreeMap::new();
    for path in sources("src") {
        let own = module(&path);
        if own == "main" || own == "lib" {
            continue;
        }
        let own_rank = rank(&own).unwrap_or_else(|| panic!("{own} has no place in the layers"));
        known.insert(own.clone(), own_rank);
        let depth = path.strip_prefix(root().join("src")).unwrap().components().count();
        let up = "super::".repeat(depth);
        for (number, line) in code(&path) {
            for name in named(&line, "crate::").into_iter().chain(named(&line, &up)) {
                if name != own && rank(name).unwrap() >= own_rank {
                    wrong.push(format!("{}:{number}: {own} names {name}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(known.len(), ORDER.concat().len(), "{known:?}");
}

#[test]
fn each_of_these_crates_has_one_home() {
    let mut wrong = Vec::new();
    for path in sources("src") {
        let own = module(&path);
        for (name, homes) in HOMES {
            if homes.contains(&own.as_str()) {
                continue;
            }
            for (number, line) in code(&path).into_iter().filter(|(_, line)| line.contains(name)) {
                let path_like = line.contains(&format!("{name}::"))
                    || line.contains(&format!("{name}_"))
                    || line.contains(&format!("use {name}"));
                if path_like {
                    wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_file_is_long() {
    let files = ["src", "tests", "benches"].into_iter().flat_map(|under| {
        if root().join(under).is_dir() && under != "benches" { sources(under) } else { Vec::new() }
    });
    let lengths = files.map(|path| (std::fs::read_to_string(&path).unwrap().lines().count(), path));
    let long: Vec<_> = lengths.filter(|(lines, _)| *lines > LINES).collect();
    assert!(long.is_empty(), "{long:#?}");
}

/// `unsafe` stands nowhere in `src`, and matches on our own enums in the core have no wildcard by habit of review.
#[test]
fn nothing_is_unsafe() {
    for path in sources("src") {
        for (number, line) in code(&path) {
            assert!(!line.contains("unsafe "), "{}:{number}: {line}", path.display());
        }
    }
}

/// With either feature an object with a magic member name changes type while it is parsed (DESIGN 10).
#[test]
fn no_feature_changes_how_json_is_read() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let tree = Command::new(cargo)
        .args([
            "tree",
            "--offline",
            "--locked",
            "-e",
            "normal,build,features",
            "-i",
            "serde_json",
            "--prefix",
            "none",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let text = String::from_utf8(tree.stdout).unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    assert!(text.contains("serde_json"), "{text}");
    for feature in ["arbitrary_precision", "raw_value", "unbounded_depth"] {
        assert!(!text.contains(&format!("feature \"{feature}\"")), "{feature} is on:\n{text}");
    }
}
