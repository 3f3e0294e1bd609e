//! What a plain (unquoted) YAML scalar means, when every reader of YAML agrees on it.
//!
//! YAML 1.1 and 1.2 read `NO`, `017`, `1_000`, `1:30` or `2026-01-31` differently. Where an operator's editor, their
//! other tools and this gateway could see three values, none is picked: it must be quoted.

use super::tree::Content;

/// What a plain scalar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    /// A number that JSON writes the same way.
    Number,
    Text,
    /// Readers disagree, or JSON has no such value; says why.
    Ambiguous(&'static str),
}

/// Reads a plain scalar by the rules that YAML 1.1 and 1.2 (core schema) share.
pub(super) fn resolve(text: &str) -> Plain {
    match text {
        "" => return Plain::Ambiguous("nothing is written here"),
        "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        "=" | "<<" => return Plain::Ambiguous("a YAML 1.1 reader gives this a meaning of its own"),
        _ => {}
    }
    if ["y", "n", "yes", "no", "on", "off"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Plain::Ambiguous("a YAML 1.1 reader takes this for true or false");
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if [".inf", ".nan"].iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
        return Plain::Ambiguous("JSON has no such number");
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Plain::Text;
    }
    if is_json_number(text) {
        return if unsigned.contains(['e', 'E']) && !is_float_in_both(unsigned) {
            Plain::Ambiguous("a YAML 1.1 reader takes this for text (it wants `1.0e+3`)")
        } else {
            Plain::Number
        };
    }
    resolve_number_like(unsigned)
}

/// Starts with a digit or a dot and is not a JSON number.
fn resolve_number_like(unsigned: &str) -> Plain {
    if is_timestamp(unsigned) {
        return Plain::Ambiguous("a YAML 1.1 reader takes this for a date");
    }
    let has = |prefixes: [&str; 2]| prefixes.iter().any(|p| unsigned.starts_with(p));
    if has(["0x", "0X"]) && only(&unsigned[2..], "0123456789abcdefABCDEF_")
        || has(["0o", "0O"]) && only(&unsigned[2..], "01234567_")
        || has(["0b", "0B"]) && only(&unsigned[2..], "01_")
    {
        return Plain::Ambiguous("JSON has only decimal numbers");
    }
    if unsigned.contains(|c: char| c.is_ascii_digit()) && only(unsigned, "0123456789_:.eE+-") {
        if unsigned.contains('_') {
            return Plain::Ambiguous("a YAML 1.1 reader takes this for a number, a YAML 1.2 reader for text");
        }
        if is_base_60(unsigned) {
            return Plain::Ambiguous("a YAML 1.1 reader takes this for a number to base 60");
        }
        if unsigned.starts_with('0') && only(unsigned, "0123456789") {
            return Plain::Ambiguous("a YAML 1.1 reader takes this for an octal number");
        }
        // `1.`, `.5`, `+1`; but an address or a version, `10.0.0.1`, is text to everyone.
        if unsigned.contains(':') {
            return Plain::Text;
        }
        if unsigned.matches('.').count() <= 1 && !unsigned.trim_start_matches(['.', '+', '-']).contains('-') {
            return Plain::Ambiguous("JSON would not write this number so");
        }
    }
    Plain::Text
}

/// RFC 8259, section 6.
fn is_json_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

/// YAML 1.1 asks a float with an exponent to have a dot and a signed exponent.
fn is_float_in_both(unsigned: &str) -> bool {
    unsigned
        .split_once(['e', 'E'])
        .is_some_and(|(mantissa, exponent)| mantissa.contains('.') && exponent.starts_with(['+', '-']))
}

/// `1:30`, `190:20:30.15` (<https://yaml.org/type/int.html>); not `10.0.0.1:8080`.
fn is_base_60(text: &str) -> bool {
    let mut parts = text.split(':');
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    text.contains(':')
        && parts.next().is_some_and(digits)
        && parts.all(|part| {
            let whole = part.split('.').next().unwrap_or_default();
            whole.len() <= 2 && digits(whole)
        })
}

/// `2026-01-31`, alone or with a time behind it (<https://yaml.org/type/timestamp.html>).
fn is_timestamp(text: &str) -> bool {
    let date = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let mut parts = date.split('-');
    let mut part = |lengths: std::ops::RangeInclusive<usize>| {
        parts.next().is_some_and(|p| lengths.contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
    };
    part(4..=4) && part(1..=2) && part(1..=2) && parts.next().is_none()
}

fn only(text: &str, alphabet: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| alphabet.contains(c))
}

/// The kind of a node, in the words of a fault. Never its value.
pub(super) fn describe(content: &Content) -> &'static str {
    match content {
        Content::Mapping(_) => "a mapping",
        Content::Sequence(_) => "a list",
        Content::Scalar { plain: false, .. } => "text",
        Content::Scalar { text, plain: true } => match resolve(text) {
            Plain::Null => "null",
            Plain::Bool(_) => "true or false",
            Plain::Number => "a number",
            Plain::Text => "text",
            Plain::Ambiguous(_) if text.is_empty() => "nothing",
            Plain::Ambiguous(_) => "a word that readers of YAML disagree on",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Plain, resolve};

    #[test]
    fn what_everyone_agrees_on() {
        for text in ["0", "-0", "1", "-12", "1.5", "1.0e+3", "9007199254740993", "0.30000000000000001"] {
            assert_eq!(resolve(text), Plain::Number, "{text}");
        }
        for text in [
            "string",
            "/meetings",
            "10.0.0.1",
            "1.2.3",
            "5/s",
            "64KiB",
            "30s",
            "3d-print",
            "-",
            "a_b",
            "http://x:80",
            "..",
            "1-2",
            "2026-01",
            "10.0.0.1:8080",
        ] {
            assert_eq!(resolve(text), Plain::Text, "{text}");
        }
        assert_eq!(resolve("~"), Plain::Null);
        assert_eq!(resolve("TRUE"), Plain::Bool(true));
        assert_eq!(resolve("false"), Plain::Bool(false));
    }

    #[test]
    fn what_readers_disagree_on() {
        for text in [
            "NO",
            "yes",
            "On",
            "y",
            "N",
            "017",
            "08",
            "1_000",
            "1:30",
            "190:20:30.15",
            "0x1F",
            "0o17",
            "0b101",
            "1e3",
            "1.5e3",
            "+1",
            ".5",
            "1.",
            ".inf",
            "-.INF",
            ".NaN",
            "2026-01-31",
            "2026-1-3T10:00:00Z",
            "",
            "=",
            "<<",
            "-017",
        ] {
            assert!(matches!(resolve(text), Plain::Ambiguous(_)), "{text}: {:?}", resolve(text));
        }
    }
}
