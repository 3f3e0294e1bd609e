//! Texts that may fit a pattern or a format.

use super::chances::Chances;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Characters of a text that is made.
pub(super) const LONGEST: usize = 1 << 16;

/// Texts of a format, the usual and the odd.
pub(super) fn of_format(format: &str) -> Option<&'static [&'static str]> {
    Some(match format {
        "date" => &["2026-01-31", "0001-01-01"],
        "date-time" => &["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+02:00"],
        "time" => &["12:00:00Z", "12:00:00+02:00"],
        "duration" => &["PT1H", "P1D"],
        "email" | "idn-email" => &["ada@example.com", "a@b.c"],
        "hostname" | "idn-hostname" => &["example.com", "a"],
        "ipv4" => &["192.0.2.1"],
        "ipv6" => &["2001:db8::1", "::"],
        "uri" | "iri" => &["https://example.com/", "urn:a:b"],
        "uri-reference" | "iri-reference" => &["/a", "https://example.com/"],
        "uri-template" => &["/a/{b}"],
        "uuid" => &["123e4567-e89b-42d3-a456-426614174000"],
        "json-pointer" => &["", "/a"],
        "relative-json-pointer" => &["0", "1/a"],
        "regex" => &["^a$"],
        _ => return None,
    })
}

/// A text that a pattern matches as a whole; `None` where the pattern cannot be read.
pub(super) fn of_pattern(pattern: &str, chances: &mut Chances, lengths: &[usize]) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let mut out = String::new();
    write(&hir, chances, lengths, &mut out)?;
    Some(out)
}

fn write(hir: &Hir, chances: &mut Chances, lengths: &[usize], out: &mut String) -> Option<()> {
    if out.len() > LONGEST {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => out.push(of_class(class, chances)?),
        HirKind::Repetition(repetition) => {
            let least = repetition.min as usize;
            let most = repetition.max.map_or(LONGEST, |most| most as usize);
            let mut counts = vec![least, least + 1, least + 2, most.min(least + 8), most];
            counts.extend(lengths.iter().copied());
            counts.retain(|count| *count >= least && *count <= most && *count < LONGEST);
            let count = counts.get(chances.below(counts.len())).copied().unwrap_or(least);
            for _ in 0..count {
                write(&repetition.sub, chances, lengths, out)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, chances, lengths, out)?,
        HirKind::Concat(parts) => {
            for part in parts {
                write(part, chances, lengths, out)?;
            }
        }
        HirKind::Alternation(ways) => write(ways.get(chances.below(ways.len()))?, chances, lengths, out)?,
    }
    Some(())
}

/// A character of a class, one that can be seen where there is one.
fn of_class(class: &Class, chances: &mut Chances) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => {
            class.iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect()
        }
    };
    let visible = |range: &(char, char)| Some((range.0.max(' '), range.1.min('~'))).filter(|(a, b)| a <= b);
    let plain: Vec<(char, char)> = ranges.iter().filter_map(visible).collect();
    let from = if plain.is_empty() { &ranges } else { &plain };
    if from.is_empty() {
        return None;
    }
    let (first, last) = from[chances.below(from.len())];
    Some(chances.char(first, last))
}
