//! Small readers of schemas: constants, patterns, formats.

use super::super::Construct;
use crate::json::Value;
use crate::json::schema::{elements, get};

pub(super) fn has(schema: Value<'_>, keywords: &[&str]) -> bool {
    keywords.iter().any(|keyword| get(schema, keyword).is_some())
}

/// The texts of a constant or a list of constants.
pub(super) fn texts(schema: Value<'_>) -> Vec<String> {
    let values = elements(schema, "enum").into_iter().chain(get(schema, "const"));
    values.filter_map(|value| value.as_str().map(ToOwned::to_owned)).collect()
}

pub(super) fn of_pattern(pattern: &str) -> Construct {
    let mut rest = pattern.chars();
    let (mut within, mut dot, mut classes) = (false, false, false);
    while let Some(c) = rest.next() {
        match c {
            '\\' => classes |= rest.next().is_some_and(|c| "dDwWsSbBpP".contains(c)),
            '[' => within = true,
            ']' => within = false,
            '.' if !within => dot = true,
            _ => {}
        }
    }
    // `^a|b$` is anchored at one end of each.
    let whole = pattern.starts_with('^') && pattern.ends_with('$') && !pattern.ends_with("\\$");
    let split = pattern.contains('|') && !pattern.starts_with("^(");
    if !whole || split {
        Construct::PatternUnanchored
    } else if classes {
        Construct::PatternClasses
    } else if dot {
        Construct::PatternDot
    } else {
        Construct::Pattern
    }
}

pub(super) fn of_format(format: &str) -> Construct {
    match format {
        "date-time" => Construct::FormatDateTime,
        "date" => Construct::FormatDate,
        "time" => Construct::FormatTime,
        "email" => Construct::FormatEmail,
        "uri" => Construct::FormatUri,
        "uuid" => Construct::FormatUuid,
        "ipv4" => Construct::FormatIpv4,
        "ipv6" => Construct::FormatIpv6,
        "hostname" => Construct::FormatHostname,
        "duration" => Construct::FormatDuration,
        _ => Construct::FormatOther,
    }
}
