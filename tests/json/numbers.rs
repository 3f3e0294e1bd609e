//! Numbers, against a decimal computation done the long way.

use formgate::json::{Decimal, Number};
use proptest::prelude::*;

fn number(text: &str) -> Number<'_> {
    Number::read(text).unwrap_or_else(|| panic!("{text} is a number within limits"))
}

#[test]
fn examples_that_doubles_get_wrong() {
    assert!(!number("2.00000000000000000001").is_integer());
    assert!(number("0.30000000000000001") > number("0.3"));
    assert!(number("9007199254740993") > number("9007199254740992"));
    assert!(number("123456789012345678901234567890") > number("123456789012345678901234567889"));
    assert!(number("-123456789012345678901234567890") < number("-123456789012345678901234567889"));
    assert!(number("0.07").is_multiple_of(&number("0.01")));
    assert!(number("19.99").is_multiple_of(&number("0.01")));
    assert!(number("1e308").is_multiple_of(&number("1e-323")));
    assert!(!number("19.7").is_multiple_of(&number("0.5")));
    assert!(!number("1e-323").is_multiple_of(&number("1e308")));
    assert!(number("123456789012345678901234567890").is_multiple_of(&number("10")));
    assert!(number("0").is_multiple_of(&number("7")) && !number("7").is_multiple_of(&number("0")));
    assert!(
        number("1e308").is_multiple_of(&number("5e307")) && !number("1e308").is_multiple_of(&number("3e307"))
    );
}

#[test]
fn integers_are_recognised_however_written() {
    for text in
        ["1", "-0", "1.0", "1e1", "1.5e1", "100e-2", "0.0", "0e-5", "1e308", "12345678901234567890.000"]
    {
        assert!(number(text).is_integer(), "{text}");
    }
    for text in ["1.5", "1e-1", "10.01e1", "0.1", "1e-323"] {
        assert!(!number(text).is_integer(), "{text}");
    }
    assert!(
        number("-1").is_written_as_integer()
            && !number("1.0").is_written_as_integer()
            && !number("1e2").is_written_as_integer()
    );
}

#[test]
fn integers_of_64_bits_are_given_exactly() {
    for (text, unsigned, signed) in [
        ("0", Some(0), Some(0)),
        ("-0", Some(0), Some(0)),
        ("-0.0", Some(0), Some(0)),
        ("1e1", Some(10), Some(10)),
        ("-10.0", None, Some(-10)),
        ("18446744073709551615", Some(u64::MAX), None),
        ("18446744073709551616", None, None),
        ("-9223372036854775808", None, Some(i64::MIN)),
        ("-9223372036854775808.0", None, Some(i64::MIN)),
        ("-9223372036854775809", None, None),
        ("9007199254740993.0", Some(9_007_199_254_740_993), Some(9_007_199_254_740_993)),
        ("1.5", None, None),
        ("1e25", None, None),
    ] {
        assert_eq!((number(text).as_u64(), number(text).as_i64()), (unsigned, signed), "{text}");
    }
}

#[test]
fn only_numbers_are_read() {
    for text in ["", "-", "1 ", " 1", "1x", "0x1", "1e", "NaN", "1e401"] {
        assert!(Number::read(text).is_none(), "{text}");
    }
    assert_eq!(Decimal::read("1.50"), Decimal::read("15e-1"));
}

/// A decimal as sign, digits (most significant first) and the exponent of the last one.
#[derive(Debug, Clone)]
struct Long {
    negative: bool,
    digits: Vec<u8>,
    exponent: i32,
}

impl Long {
    fn of(text: &str) -> Self {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let lower = text.to_ascii_lowercase();
        let (mantissa, exponent) =
            lower.split_once('e').map_or((lower.as_str(), 0), |(m, e)| (m, e.parse().unwrap()));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|digit| digit - b'0').collect();
        let negative = negative && digits.iter().any(|digit| *digit != 0);
        Self { negative, digits, exponent: exponent - i32::try_from(fraction.len()).unwrap() }
    }

    /// The digits down to 10^`exponent`, with `width` of them.
    fn aligned(&self, exponent: i32, width: usize) -> Vec<u8> {
        let mut digits = self.digits.clone();
        digits.extend(vec![0; usize::try_from(self.exponent - exponent).unwrap()]);
        let mut all = vec![0; width.saturating_sub(digits.len())];
        all.extend(digits);
        all
    }

    fn pair(a: &Self, b: &Self) -> (Vec<u8>, Vec<u8>) {
        let exponent = a.exponent.min(b.exponent);
        let width = a.aligned(exponent, 0).len().max(b.aligned(exponent, 0).len());
        (a.aligned(exponent, width), b.aligned(exponent, width))
    }

    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let (a, b) = Self::pair(self, other);
        match (self.negative, other.negative) {
            (false, false) => a.cmp(&b),
            (true, true) => b.cmp(&a),
            (false, true) => std::cmp::Ordering::Greater,
            (true, false) => std::cmp::Ordering::Less,
        }
    }

    /// School division, digit by digit, by repeated subtraction.
    fn is_multiple_of(&self, divisor: &Self) -> bool {
        let (value, divisor) = Self::pair(self, divisor);
        if divisor.iter().all(|digit| *digit == 0) {
            return value.iter().all(|digit| *digit == 0);
        }
        let width = divisor.len() + 1;
        let divisor: Vec<u8> = [0].into_iter().chain(divisor).collect();
        let mut rest = vec![0; width];
        for digit in value {
            rest.remove(0);
            rest.push(digit);
            while rest >= divisor {
                let mut borrow = 0;
                for (left, taken) in rest.iter_mut().zip(&divisor).rev() {
                    let difference = i16::from(*left) - i16::from(*taken) - borrow;
                    borrow = i16::from(difference < 0);
                    *left = u8::try_from(difference + 10 * borrow).unwrap();
                }
            }
        }
        rest.iter().all(|digit| *digit == 0)
    }
}

/// Numbers as people and attackers write them, within our limits.
fn literal() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,3})",
        "-?(0|[1-9][0-9]{0,40})",
        "-?(0|[1-9][0-9]{0,8})(\\.[0-9]{1,8})?",
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,33})?([eE][+-]?[0-9]{1,2})?",
        "-?[1-9]0{0,30}(\\.0{0,5}[0-9]{1,3})?(e-?1?[0-9]{2})?",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8 * ProptestConfig::default().cases, ..ProptestConfig::default() })]

    #[test]
    fn compares_as_the_long_way_does(a in literal(), b in literal()) {
        let expected = Long::of(&a).compare(&Long::of(&b));
        prop_assert_eq!(number(&a).cmp(&number(&b)), expected);
        prop_assert_eq!(number(&a) == number(&b), expected.is_eq());
        prop_assert_eq!(number(&a).decimal() == number(&b).decimal(), expected.is_eq());
    }

    #[test]
    fn divides_as_the_long_way_does(a in literal(), b in literal()) {
        let expected = Long::of(&a).is_multiple_of(&Long::of(&b));
        prop_assert_eq!(number(&a).is_multiple_of(&number(&b)), expected);
    }

    #[test]
    fn a_product_is_a_multiple(a in 1_u64.., b in 1_u64.., shift in -60_i32..60, by in -60_i32..60) {
        let product = format!("{}e{}", u128::from(a) * u128::from(b), shift + by);
        let divisor = format!("{b}e{by}");
        prop_assert_eq!(number(&product).is_multiple_of(&number(&divisor)), Long::of(&product).is_multiple_of(&Long::of(&divisor)));
        prop_assert!(shift < 0 || number(&product).is_multiple_of(&number(&divisor)));
    }

    #[test]
    fn integers_and_doubles_agree_with_the_standard_library(a in literal()) {
        prop_assert_eq!(number(&a).is_integer(), Long::of(&a).is_multiple_of(&Long::of("1")));
        prop_assert_eq!(number(&a).as_f64().to_bits(), a.parse::<f64>().unwrap().to_bits());
        if let Ok(integer) = a.parse::<i64>() {
            prop_assert_eq!(number(&a).as_i64(), Some(integer));
        }
        if let Ok(integer) = a.parse::<u64>() {
            prop_assert_eq!(number(&a).as_u64(), Some(integer));
        }
    }

    #[test]
    fn a_number_equals_itself_however_written(digits in "[1-9][0-9]{0,20}", zeros in 0_usize..20, shift in 0_i32..20) {
        let plain = number(&digits);
        let written = format!("{digits}{}.{}e-{zeros}", "0".repeat(zeros), "0".repeat(1 + zeros));
        prop_assert_eq!(plain, number(&written));
        let shifted = format!("{digits}e{shift}");
        let spelled = format!("{digits}{}", "0".repeat(usize::try_from(shift).unwrap()));
        prop_assert_eq!(number(&shifted).decimal(), number(&spelled).decimal());
    }
}
