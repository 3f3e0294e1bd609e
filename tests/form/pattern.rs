//! Patterns: accepted is what every reader reads alike.

use super::{decides, loads, refused};

fn form(pattern: &str) -> String {
    format!(r#"{{"type":"string","pattern":{}}}"#, serde_json::Value::from(pattern))
}

#[test]
fn what_readers_differ_on_is_refused_with_its_place() {
    for (pattern, character) in [
        ("^(?!x)a", 2),
        ("a(?<=b)", 2),
        (r"(a)\1", 4),
        (r"(?<n>a)\k<n>", 8),
        ("(?i)a", 1),
        ("(?P<n>a)", 1),
        ("a{,3}", 2),
        ("a{x", 2),
        ("a++", 3),
        ("*a", 1),
        ("^*", 2),
        ("[[:alpha:]]", 2),
        ("[a&&b]", 3),
        ("[a--b]", 3),
        ("[]a]", 2),
        (r"[\d-z]", 4),
        ("[z-a]", 5),
        (r"\bword", 1),
        (r"a\Z", 2),
        (r"\Aa", 1),
        (r"\<a", 1),
        (r"\ud83d\ude00", 1),
        (r"\x{41}", 1),
        (r"\p{Greek}", 1),
        (r"\pL", 1),
        (r"\0", 1),
        (r"\a", 1),
        (r"\é", 1),
        ("a}", 2),
        ("a]", 2),
        ("a)", 2),
        ("(a", 3),
        ("[a", 3),
        ("\\", 2),
    ] {
        let faults = refused(&form(pattern));
        assert_eq!(faults.len(), 1, "{pattern}: {faults:#?}");
        assert_eq!(faults[0].pointer, "/pattern");
        let place = format!("character {character}:");
        assert!(faults[0].reason.contains(&place), "{pattern}: {}", faults[0].reason);
        let names = form(pattern)
            .replace("\"pattern\":", "\"patternProperties\":{")
            .replace("\"string\"", "\"object\"");
        let names = format!("{}:true}}}}", names.trim_end_matches('}'));
        if pattern.ends_with('}') {
            continue;
        }
        let faults = refused(&names);
        assert!(faults[0].pointer.starts_with("/patternProperties/"), "{faults:#?}");
    }
}

#[test]
fn what_is_accepted_is_read_as_ecma_262_does() {
    for (pattern, yes, no) in [
        (r"^\d$", "7", "\u{0667}"),
        (r"^\w$", "a", "é"),
        (r"^\W$", "é", "a"),
        (r"^\s$", "\u{feff}", "\u{85}"),
        (r"^\S$", "\u{85}", "\u{a0}"),
        ("^.$", "é", "\u{2028}"),
        ("^.$", "\u{1f600}", "\r"),
        ("^a$", "a", "a\n"),
        ("^a$", "a", "A"),
        (r"^\cJ$", "\n", "J"),
        (r"^\u0041$", "A", "B"),
        (r"^\u{1f600}$", "\u{1f600}", "u"),
        (r"^\x41$", "A", "x41"),
        (r"^[^\x00-\x1F\x7F<>]+$", "é", "\u{7f}"),
        (r"^\p{Lu}$", "É", "é"),
        (r"^\p{Script=Greek}$", "α", "a"),
        (r"^a\-b\/c$", "a-b/c", "a"),
        (r"^(?<year>\d{4})-(?:0\d|1[0-2])$", "2026-11", "2026-13"),
        ("^a{2,3}?$", "aaa", "a"),
        ("^[a^-]$", "-", "b"),
        (r"^[\d\-x]$", "-", "y"),
        ("^[a-z-_]$", "-", "`"),
        ("b", "abc", "ac"),
    ] {
        let form = loads(&form(pattern));
        let body = |text: &str| serde_json::Value::from(text).to_string();
        assert!(decides(&form, body(yes).as_bytes()), "{pattern} takes {yes:?}");
        assert!(!decides(&form, body(no).as_bytes()), "{pattern} refuses {no:?}");
    }
}

#[test]
fn a_pattern_too_large_for_the_engine_is_refused_where_it_stands() {
    let faults = refused(&form(r"^((\w{1000}){1000}){1000}a$"));
    assert!(faults[0].reason.contains("too large"), "{faults:#?}");
    let deep = format!("{}{}", "(".repeat(500), ")".repeat(500));
    assert!(refused(&form(&deep))[0].reason.contains("too deep"));
}
