//! Against `serde_json`: one language but for duplicates and our limits, and one reading of it.

use std::fmt;

use formgate::json::{Document, MAX_DIGITS, Strict, SyntaxKind};
use jsonschema::json::Node;
use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value without duplicate names, as `serde_json` reads it.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value without duplicate names")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
                Ok(truth.into())
            }
            fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
                Ok(number.into())
            }
            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(number.into())
            }
            fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
                Ok(number.into())
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(text.into())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(Unique(element)) = access.next_element()? {
                    elements.push(element);
                }
                Ok(elements.into())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
                let mut members = Map::new();
                while let Some((name, Unique(value))) = access.next_entry::<String, _>()? {
                    if members.insert(name, value).is_some() {
                        return Err(A::Error::custom("duplicate"));
                    }
                }
                Ok(members.into())
            }
        }
        deserializer.deserialize_any(Reader).map(Unique)
    }
}

/// Equal, with doubles next to each other taken as equal: `serde_json` rounds long ones its own way.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| alike(a, b)))
        }
        (Value::Number(a), Value::Number(b)) => {
            a == b || {
                let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
                (a - b).abs() <= a.abs() * 4.0 * f64::EPSILON || (a - b).abs() < f64::MIN_POSITIVE
            }
        }
        _ => a == b,
    }
}

/// Whether the number that starts `text` has too many digits, or is too large or too small, by its looks.
fn is_beyond_limits(text: &str) -> bool {
    let end =
        text.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')).unwrap_or(text.len());
    let text = text[..end].to_ascii_lowercase();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let significant = digits.trim_matches('0').len();
    let exponent = exponent.parse::<i64>().map_or(i64::MAX, i64::abs);
    // Between the largest double and what still rounds to it we are stricter.
    let double = text.parse::<f64>().unwrap().abs();
    significant > MAX_DIGITS || exponent > 400 || double >= f64::MAX || (significant > 0 && double == 0.0)
}

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    let theirs = serde_json::from_slice::<Unique>(bytes);
    let mut document = Document::new();
    match (document.parse(bytes), theirs) {
        (Ok(ours), Ok(Unique(theirs))) => {
            let value = Node::<Strict>::to_value(&ours).into_owned();
            prop_assert!(alike(&value, &theirs), "{value} {theirs}");
            let lazy = Node::<Strict>::lazy_value(&ours);
            prop_assert_eq!(lazy.get().as_ref(), &value);
            let again = ours;
            prop_assert!(ours == again);
        }
        (Err(fault), Ok(_)) => {
            let text = std::str::from_utf8(bytes).unwrap();
            prop_assert_eq!(fault.kind, SyntaxKind::NumberInexact, "{}", text);
            prop_assert!(is_beyond_limits(&text[fault.at..]), "{}", text);
        }
        (Ok(_), Err(theirs)) => {
            // `serde_json` stops one level earlier.
            prop_assert!(theirs.to_string().contains("recursion"), "{theirs}: {}", bytes.escape_ascii());
        }
        (Err(fault), Err(_)) => prop_assert!(fault.at <= bytes.len()),
    }
    Ok(())
}

/// A string literal with its quotes.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[a-c]{0,9}",
        1 => "\\PC{0,5}",
        1 => prop::sample::select(vec!["\\n", "\\\"", "\\\\", "\\/", "\\u0061", "\\u0000", "\\ud83d\\ude00", "\\u00e9"]).prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| {
        let inner: String = pieces
            .into_iter()
            .map(|piece| if piece.starts_with('\\') { piece } else { piece.replace(['"', '\\'], "") })
            .collect();
        format!("\"{inner}\"")
    })
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec!["null", "true", "false", "0", "-0", "1e400", "0e401", "1e-401"])
            .prop_map(String::from),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,45})?([eE][+-]?[0-9]{1,3})?",
        "-?[1-9][0-9]{0,20}",
        string(),
    ]
}

/// JSON that is right but for duplicates and limits, with white space here and there.
fn text() -> impl Strategy<Value = String> {
    let space = || prop::sample::select(vec!["", "", "", " ", "\n  ", "\t\r\n"]);
    scalar().prop_recursive(6, 60, 24, move |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..24), space()).prop_map(|(elements, space)| {
                format!("{space}[{space}{}{space}]{space}", elements.join(&format!("{space},{space}")))
            }),
            (prop::collection::vec((string(), inner), 0..24), space()).prop_map(|(members, space)| {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| format!("{name}{space}:{space}{value}")).collect();
                format!("{space}{{{space}{}{space}}}", members.join(&format!(",{space}")))
            }),
        ]
    })
}

/// Bytes that matter to a parser.
fn token() -> impl Strategy<Value = u8> {
    prop_oneof![
        prop::sample::select(
            b"{}[],:\"\\0123456789.eE+-ntfu \n\r\t\x00\x1f\x7f\xc3\xa9\xed\xa0\x80\xef\xbb\xbf".to_vec()
        ),
        any::<u8>()
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6 * ProptestConfig::default().cases, ..ProptestConfig::default() })]

    #[test]
    fn on_json(text in text()) {
        check(text.as_bytes())?;
    }

    #[test]
    fn on_nearly_json(text in text(), edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, token()), 1..4)) {
        let mut bytes = text.into_bytes();
        for (index, edit, byte) in edits {
            let at = index.index(bytes.len() + 1);
            match edit {
                0 => bytes.insert(at, byte),
                1 if at < bytes.len() => bytes[at] = byte,
                _ if at < bytes.len() => drop(bytes.remove(at)),
                _ => bytes.push(byte),
            }
        }
        check(&bytes)?;
    }

    #[test]
    fn on_cut_json(text in text(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
        let bytes = text.as_bytes();
        let (from, to) = (from.index(bytes.len() + 1), to.index(bytes.len() + 1));
        check(&bytes[from.min(to)..from.max(to)])?;
    }

    #[test]
    fn on_tokens(bytes in prop::collection::vec(token(), 0..40)) {
        check(&bytes)?;
    }

    #[test]
    fn on_long_strings(bytes in prop::collection::vec(prop_oneof![20 => 0x20..0x7f_u8, 1 => token()], 0..80)) {
        let quoted: Vec<u8> = [b"\"", bytes.as_slice(), b"\""].concat();
        check(&quoted)?;
    }

    #[test]
    fn at_the_largest_double(digits in "[0-9]{0,50}", exponent in 306..310_i32, sign in "-?") {
        check(format!("{sign}1.797693134862315{digits}e{exponent}").as_bytes())?;
        check(format!("{sign}1.7976931348623157{digits}e{exponent}").as_bytes())?;
        check(format!("{sign}17976931348623157{digits}.5e{}", exponent - 16 - i32::try_from(digits.len()).unwrap()).as_bytes())?;
    }
}
