//! Bytes as hexadecimal digits (RFC 4648, 8), alone or behind a `%` (RFC 3986, 2.1).

use std::fmt;

/// Writes two lower-case digits a byte.
pub fn write(out: &mut impl fmt::Write, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
}

/// Two lower-case digits a byte.
pub fn of(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    // Writing to a `String` cannot fail.
    let _ = write(&mut digits, bytes);
    digits
}

/// The byte that two digits, of either case, stand for.
pub fn pair(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

/// The bytes that exactly `2 * N` digits, of either case, stand for.
pub fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = pair(*high, *low)?;
    }
    Some(bytes)
}

/// Text with `%20` and its like written out; `None` where `%` is not followed by two digits, or the bytes are not UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, more @ ..] = rest {
        rest = more;
        if *byte == b'%' {
            let [high, low, more @ ..] = rest else { return None };
            bytes.push(pair(*high, *low)?);
            rest = more;
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_there_and_back() {
        let all: [u8; 256] = std::array::from_fn(|byte| u8::try_from(byte).unwrap());
        let digits = of(&all);
        assert!(digits.starts_with("00010203") && digits.ends_with("fcfdfeff"));
        assert_eq!(bytes::<256>(&digits), Some(all));
        assert_eq!(bytes::<256>(&digits.to_uppercase()), Some(all));
        for bad in ["", "0", "000", "0000", "0g", "+1", " 1", "é"] {
            assert_eq!(bytes::<1>(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_stands_behind_a_percent_sign() {
        for (text, expected) in [
            ("", Some("")),
            ("a+b", Some("a+b")),
            ("a%20b%2fc", Some("a b/c")),
            ("%C3%A9", Some("é")),
            ("%2525", Some("%25")),
            ("%", None),
            ("%2", None),
            ("%+1", None),
            ("%C3", None),
        ] {
            assert_eq!(percent_decoded(text).as_deref(), expected, "{text}");
        }
    }
}
