//! Writing what was inferred: the closed form that admits all that was seen, its bounds rounded up.

use super::infer::{Numbers, Objects, Shape, Texts};
use super::written::{Written, nice};
use crate::json::Decimal;

/// Texts are listed when there are at most so many, each seen as often as [`OFTEN`] on average, at least twice, ...
const LISTED: usize = 8;
const OFTEN: usize = 4;
/// ... and so short that they are words.
const WORD: u64 = 40;

/// The schema of a shape. `list`: whether texts that repeat may be listed.
pub(super) fn schema(shape: &Shape, list: bool) -> Written {
    let mut kinds = Vec::new();
    for (seen, kind) in [
        (shape.texts.seen, "string"),
        (shape.numbers.seen, if shape.numbers.fractions { "number" } else { "integer" }),
        (shape.booleans, "boolean"),
        (shape.objects.seen, "object"),
        (shape.arrays.seen, "array"),
        (shape.nulls, "null"),
    ] {
        if seen > 0 {
            kinds.push(kind);
        }
    }
    let mut out = Written::Object(Vec::new());
    if let Some(values) =
        listed(&shape.texts).filter(|_| list && matches!(kinds[..], ["string"] | ["string", "null"]))
    {
        let mut values: Vec<Written> = values.into_iter().map(Written::text).collect();
        if shape.nulls > 0 {
            values.push(Written::Null);
        }
        out.put("enum", Written::Array(values));
        return out;
    }
    out.put("type", if let [one] = kinds[..] { Written::text(one) } else { Written::texts(kinds) });
    if shape.texts.seen > 0 {
        texts(&shape.texts, &mut out);
    }
    if shape.numbers.seen > 0 {
        numbers(&shape.numbers, &mut out);
    }
    if shape.objects.seen > 0 {
        objects(&shape.objects, list, &mut out);
    }
    if shape.arrays.seen > 0 {
        match shape.arrays.element.as_deref().filter(|element| element.seen > 0) {
            Some(element) => {
                out.put("items", schema(element, list));
                out.put("maxItems", Written::guess(&nice(shape.arrays.longest.max(10))));
            }
            None => out.put("maxItems", Written::guess(&0)),
        }
    }
    out
}

/// The texts, where they are few and repeat: then they are words of the API, not data.
fn listed(texts: &Texts) -> Option<Vec<String>> {
    let values = texts.values.as_ref().filter(|_| !texts.many)?;
    let few = values.len() <= LISTED
        && texts.seen >= values.len() * OFTEN
        && values.values().all(|times| *times >= 2);
    let words = texts.longest <= WORD && values.keys().all(|text| is_word(text));
    (few && words).then(|| values.keys().cloned().collect())
}

/// Letters, now and then a digit: not a token, a number or a mailbox.
fn is_word(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let sound = text.chars().all(|c| c.is_alphanumeric() || " _-./:".contains(c));
    let cases =
        text.chars().zip(text.chars().skip(1)).filter(|(a, b)| a.is_lowercase() && b.is_uppercase()).count();
    sound
        && cases <= 3
        && (digits == 0 || cases == 0 && text.chars().count() <= 20)
        && digits * 3 <= text.chars().count()
}

fn texts(texts: &Texts, out: &mut Written) {
    let format = texts.formats.as_ref().filter(|_| texts.seen >= 2).and_then(|formats| formats.first());
    if let Some(format) = format {
        out.put("format", Written::text(*format));
    }
    if !matches!(format, Some(&("uuid" | "date" | "ipv4" | "ipv6"))) {
        out.put("maxLength", Written::guess(&nice(texts.longest.max(10))));
    }
}

fn numbers(numbers: &Numbers, out: &mut Written) {
    let ends =
        [numbers.values.first(), numbers.values.get(1)].map(|end| end.and_then(|text| Decimal::read(text)));
    let [Some(low), Some(high)] = ends else { return };
    let minimum = if low >= Decimal::ZERO {
        Some("0".to_owned())
    } else {
        beyond(&numbers.values[0]).map(|n| format!("-{n}"))
    };
    for (name, bound, holds) in [
        ("minimum", minimum, &(|bound: &Decimal| *bound <= low) as &dyn Fn(&Decimal) -> bool),
        ("maximum", beyond(&numbers.values[1]), &|bound: &Decimal| *bound >= high),
    ] {
        // Kept only where it surely admits what was seen.
        if let Some(text) = bound.filter(|text| Decimal::read(text).is_some_and(|bound| holds(&bound))) {
            out.put(name, Written::guess(&text));
        }
    }
}

/// A nice number that is as far from zero, or farther.
fn beyond(text: &str) -> Option<String> {
    let size = text.parse::<f64>().ok()?.abs();
    (size < 1e15).then(|| {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, positive and below 2^53"
        )]
        let whole = size.ceil() as u64;
        nice(whole.max(10)).to_string()
    })
}

fn objects(objects: &Objects, list: bool, out: &mut Written) {
    if objects.is_map() {
        let any = objects.any.as_deref().map_or(Written::Object(Vec::new()), |shape| schema(shape, false));
        out.put("additionalProperties", any);
        let mut names = Written::Object(Vec::new());
        names.put("type", Written::text("string"));
        names.put("maxLength", Written::guess(&nice(objects.longest_name.max(10))));
        out.put("propertyNames", names);
        out.put("maxProperties", Written::guess(&nice(objects.largest.max(10))));
        return;
    }
    let members = objects.members.iter().map(|(name, shape)| (name.clone(), schema(shape, list))).collect();
    out.put("properties", Written::Object(members));
    let required: Vec<&str> = objects
        .members
        .iter()
        .filter(|(_, shape)| shape.seen == objects.seen)
        .map(|(name, _)| name.as_str())
        .collect();
    if !required.is_empty() {
        out.put("required", Written::texts(required));
    }
    out.put("additionalProperties", Written::Boolean(false));
}
