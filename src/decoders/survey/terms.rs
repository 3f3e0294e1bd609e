//! Small readers of schemas: values of keywords, patterns, formats.

use super::super::Construct;
use crate::json::{Kind, Value};

pub(super) fn get<'d>(schema: Value<'d>, keyword: &str) -> Option<Value<'d>> {
    schema.as_object()?.get(keyword)
}

pub(super) fn has(schema: Value<'_>, keywords: &[&str]) -> bool {
    keywords.iter().any(|keyword| get(schema, keyword).is_some())
}

pub(super) fn elements<'d>(schema: Value<'d>, keyword: &str) -> Vec<Value<'d>> {
    let array = get(schema, keyword).and_then(|value| value.as_array());
    array.map(|array| array.elements().collect()).unwrap_or_default()
}

pub(super) fn members<'d>(schema: Value<'d>, keyword: &str) -> Vec<(&'d str, Value<'d>)> {
    let object = get(schema, keyword).and_then(|value| value.as_object());
    object.map(|object| object.members().collect()).unwrap_or_default()
}

pub(super) fn count(schema: Value<'_>, keyword: &str) -> Option<u64> {
    get(schema, keyword)?.as_number()?.text().parse().ok()
}

pub(super) fn types(schema: Value<'_>) -> Vec<&str> {
    match get(schema, "type") {
        Some(name) if name.kind() == Kind::String => name.as_str().into_iter().collect(),
        Some(_) => elements(schema, "type").into_iter().filter_map(|name| name.as_str()).collect(),
        None => Vec::new(),
    }
}

pub(super) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
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
