//! Every row of REQUIREMENTS.md that applies has a test that names it: the GPT draft (G), GPT Actions (A), GET-Action (U,
//! and what was decided about it, B).

use std::ops::RangeInclusive;
use std::path::Path;

/// The sections, and their rows.
const SECTIONS: [(&str, RangeInclusive<usize>); 4] =
    [("G", 1..=44), ("A", 1..=39), ("U", 1..=26), ("B", 25..=33)];

/// Rows without a test, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("A-09", "no operation has a parameter: everything is in the body"),
    ("A-30", "OAuth: there is none"),
    ("A-31", "whose networks may call is for what stands in front"),
    ("A-38", "asks something of workspaces"),
    ("A-39", "asks nothing"),
    ("G-21", "asks something of actors"),
    ("U-23", "values without keys: not answered, the published example contradicts its own rule"),
    ("U-24", "JSON records of routes, which should be: not built"),
    ("U-26", "asks something of those who run actors"),
];

#[test]
fn every_row_has_a_test_that_names_it() {
    let mut text = String::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut text);
    let rows = |(section, rows): (&'static str, RangeInclusive<usize>)| {
        rows.map(move |number| format!("{section}-{number:02}"))
    };
    let missing: Vec<String> = SECTIONS
        .into_iter()
        .flat_map(rows)
        .filter(|row| WITHOUT.iter().all(|(without, _)| without != row))
        .filter(|row| !text.contains(row.as_str()))
        .collect();
    assert!(missing.is_empty(), "no test names {missing:?}");
}

/// The text of every test but this one.
fn collect(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, text);
        } else if path.extension().is_some_and(|ext| ext == "rs") && !path.ends_with("requirements.rs") {
            text.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// Targets are not found by themselves (`autotests = false`): a file that nobody names would never run.
#[test]
fn every_file_of_tests_is_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let main = std::fs::read_to_string(root.join("tests/main.rs")).unwrap();
    for entry in std::fs::read_dir(root.join("tests")).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let holds_tests = path.extension().is_some_and(|ext| ext == "rs") || path.join("mod.rs").exists();
        let is_named =
            manifest.contains(&format!("\"tests/{stem}.rs\"")) || main.contains(&format!("mod {stem};"));
        assert!(!holds_tests || is_named, "{} is never run", path.display());
    }
}
