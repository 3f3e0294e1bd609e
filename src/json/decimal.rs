//! Exact decimals: at most 64 significant digits and a bounded exponent.

use std::cmp::Ordering;

use super::{MAX_DIGITS, MAX_EXPONENT};

/// As many bytes as always are a magnitude of 64 bits.
const SHORT: usize = 19;

/// An exact decimal, within the limits of a document: ±coefficient × 10^exponent.
///
/// It has one form for each value (no trailing zeros in the coefficient, one zero), so equality and
/// hashes go by its fields. It is independent of what it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    exponent: i32,
    /// How many digits the coefficient has; none for zero.
    digits: i32,
    coefficient: Wide,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { negative: false, exponent: 0, digits: 0, coefficient: Wide::ZERO };

    /// The value of a JSON number, if it is within the limits of a document. What is not a JSON
    /// number gives nothing or any value.
    pub fn read(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        Self::read_short(negative, text).or_else(|| Self::read_long(negative, text))
    }

    /// Reads what nearly all numbers are: a few digits and no exponent.
    #[inline]
    fn read_short(negative: bool, text: &str) -> Option<Self> {
        if text.len() > SHORT {
            return None;
        }
        let (mut magnitude, mut places, mut in_fraction) = (0, 0, false);
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => {
                    magnitude = magnitude * 10 + u64::from(byte - b'0');
                    places += i32::from(in_fraction);
                }
                b'.' => in_fraction = true,
                _ => return None,
            }
        }
        Some(Self::small(negative, magnitude, -places))
    }

    #[cold]
    fn read_long(negative: bool, text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, written_exponent(exponent)?),
            None => (text, 0),
        };
        let mut reading = Reading::default();
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        whole.bytes().try_for_each(|digit| reading.take(digit))?;
        fraction.bytes().try_for_each(|digit| reading.take(digit))?;
        if reading.digits == 0 {
            return Some(Self::ZERO);
        }
        let exponent = i64::from(exponent) - i64::try_from(fraction.len()).ok()? + reading.zeros;
        let value = Self {
            negative,
            exponent: i32::try_from(exponent).ok()?,
            digits: i32::try_from(reading.digits).ok()?,
            coefficient: reading.coefficient(),
        };
        value.is_within_double().then_some(value)
    }

    /// An integer.
    pub(crate) fn integer(integer: i64) -> Self {
        Self::small(integer < 0, integer.unsigned_abs(), 0)
    }

    /// ±`magnitude` × 10^`exponent`, known to be within the limits.
    fn small(negative: bool, mut magnitude: u64, mut exponent: i32) -> Self {
        if magnitude == 0 {
            return Self::ZERO;
        }
        while magnitude.is_multiple_of(10) {
            magnitude /= 10;
            exponent += 1;
        }
        let digits = 1 + magnitude.ilog10().cast_signed();
        Self { negative, exponent, digits, coefficient: Wide::of(magnitude) }
    }

    /// Whether it is an integer.
    pub fn is_integer(&self) -> bool {
        // The coefficient does not end in zero.
        self.exponent >= 0
    }

    /// Whether dividing by `divisor` leaves an integer. Nothing but zero is a multiple of zero.
    pub fn is_multiple_of(&self, divisor: &Self) -> bool {
        if self.digits == 0 || divisor.digits == 0 {
            return self.digits == 0;
        }
        // A coefficient is never a multiple of ten, so it cannot hold a divisor times a power of ten.
        let Ok(zeros) = u32::try_from(self.exponent - divisor.exponent) else { return false };
        match (self.coefficient.narrow(), divisor.coefficient.narrow()) {
            (Some(value), Some(divisor)) => divides(value, zeros, divisor),
            (Some(_) | None, _) => self.coefficient.divides(zeros, divisor.coefficient),
        }
    }

    /// The value, if it is an unsigned integer of 64 bits.
    pub fn as_u64(&self) -> Option<u64> {
        if self.negative { None } else { self.magnitude() }
    }

    /// The value, if it is a signed integer of 64 bits.
    pub fn as_i64(&self) -> Option<i64> {
        let magnitude = i128::from(self.magnitude()?);
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }

    fn magnitude(&self) -> Option<u64> {
        let exponent = u32::try_from(self.exponent).ok()?;
        self.coefficient.narrow()?.checked_mul(10_u64.checked_pow(exponent)?)
    }

    /// The exponent of the first digit.
    fn order(&self) -> i32 {
        self.exponent + self.digits - 1
    }

    /// Neither zero as a double nor beyond the largest one.
    fn is_within_double(&self) -> bool {
        // 2^−1075 rounds to zero, as halfway to the smallest double; this is the next of 17 digits.
        const SMALLEST: (i32, u64) = (-324, 24_703_282_292_062_328);
        const LARGEST: (i32, u64) = (308, 17_976_931_348_623_157);
        const DIGITS: i32 = 17;
        let bound = |(order, digits)| Self {
            negative: false,
            exponent: order + 1 - DIGITS,
            digits: DIGITS,
            coefficient: Wide::of(digits),
        };
        let order = self.order();
        if SMALLEST.0 < order && order < LARGEST.0 {
            return true;
        }
        self.compare_magnitude(&bound(SMALLEST)).is_ge() && self.compare_magnitude(&bound(LARGEST)).is_le()
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        if self.digits == 0 || other.digits == 0 {
            return self.digits.cmp(&other.digits);
        }
        self.order().cmp(&other.order()).then_with(|| {
            // Both as wide as the wider, which is at most the digits a coefficient may have.
            let digits = self.digits.max(other.digits);
            let widened = |value: &Self| value.coefficient.shifted(digits - value.digits);
            widened(self).cmp(&widened(other))
        })
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A written exponent, if it is within the limit.
fn written_exponent(text: &str) -> Option<i32> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let exponent = digits.bytes().try_fold(0, |exponent, digit| {
        let exponent = exponent * 10 + i32::from(digit.wrapping_sub(b'0'));
        (exponent <= MAX_EXPONENT).then_some(exponent)
    })?;
    Some(if negative { -exponent } else { exponent })
}

/// Digits as they are taken in.
#[derive(Debug, Default)]
struct Reading {
    /// Significant digits, and their value while it is narrow.
    digits: usize,
    narrow: u64,
    wide: Wide,
    is_wide: bool,
    /// Zeros that will turn out to be trailing unless a digit follows.
    zeros: i64,
}

impl Reading {
    /// Takes the next digit; nothing if that is one too many.
    #[inline]
    fn take(&mut self, digit: u8) -> Option<()> {
        let digit = digit.wrapping_sub(b'0');
        if digit == 0 {
            // Leading zeros are no digits at all.
            self.zeros += i64::from(self.digits > 0);
            return Some(());
        }
        while self.zeros > 0 {
            self.zeros -= 1;
            self.append(0)?;
        }
        self.append(digit)
    }

    #[inline]
    fn append(&mut self, digit: u8) -> Option<()> {
        /// As many digits as always fit.
        const NARROW: usize = 19;
        self.digits += 1;
        if self.digits <= NARROW {
            self.narrow = self.narrow * 10 + u64::from(digit);
            return Some(());
        }
        if !self.is_wide {
            self.is_wide = true;
            self.wide = Wide::of(self.narrow);
        }
        self.wide = self.wide.times_ten_plus(u64::from(digit));
        (self.digits <= MAX_DIGITS).then_some(())
    }

    fn coefficient(&self) -> Wide {
        if self.is_wide { self.wide } else { Wide::of(self.narrow) }
    }
}

/// Whether `divisor` divides `value` × 10^`zeros`.
fn divides(value: u64, zeros: u32, divisor: u64) -> bool {
    let mut rest = value % divisor;
    for _ in 0..zeros {
        if rest == 0 {
            break;
        }
        #[expect(clippy::cast_possible_truncation, reason = "below the divisor")]
        let next = (u128::from(rest) * 10 % u128::from(divisor)) as u64;
        rest = next;
    }
    rest == 0
}

/// An unsigned integer of 256 bits, the lowest word first: 64 digits take 213 of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Wide([u64; 4]);

impl Wide {
    const ZERO: Self = Self([0; 4]);

    const fn of(value: u64) -> Self {
        Self([value, 0, 0, 0])
    }

    fn narrow(self) -> Option<u64> {
        match self.0 {
            [value, 0, 0, 0] => Some(value),
            [_, _, _, _] => None,
        }
    }

    fn times_ten_plus(self, digit: u64) -> Self {
        let mut carry = digit;
        Self(self.0.map(|word| {
            let product = u128::from(word) * 10 + u128::from(carry);
            #[expect(clippy::cast_possible_truncation, reason = "the other half is carried")]
            let (low, high) = (product as u64, (product >> 64) as u64);
            carry = high;
            low
        }))
    }

    /// Times 10^`zeros`.
    fn shifted(mut self, zeros: i32) -> Self {
        for _ in 0..zeros {
            self = self.times_ten_plus(0);
        }
        self
    }

    /// What is left of it after taking `other` away, if that can be taken.
    fn minus(self, other: Self) -> Option<Self> {
        let mut borrow = false;
        let mut words = self.0;
        for (word, taken) in words.iter_mut().zip(other.0) {
            let (first, under) = word.overflowing_sub(taken);
            let (second, under_again) = first.overflowing_sub(u64::from(borrow));
            *word = second;
            borrow = under || under_again;
        }
        (!borrow).then_some(Self(words))
    }

    fn doubled(self) -> Self {
        let mut carry = 0;
        Self(self.0.map(|word| {
            let double = (word << 1) | carry;
            carry = word >> 63;
            double
        }))
    }

    /// Whether `divisor` divides it × 10^`zeros`. Both have at most 64 digits and 43 bits to spare.
    fn divides(self, zeros: u32, divisor: Self) -> bool {
        let twice = divisor.doubled();
        let steps = [twice.doubled().doubled(), twice.doubled(), twice, divisor];
        let reduced =
            |value: Self| steps.iter().fold(value, |value, step| value.minus(*step).unwrap_or(value));
        // Long division, one bit at a time from the top, then one zero at a time.
        let mut rest = Self::ZERO;
        for word in self.0.into_iter().rev() {
            for bit in (0..u64::BITS).rev() {
                let mut next = rest.doubled();
                let [low, ..] = &mut next.0;
                *low |= (word >> bit) & 1;
                rest = next.minus(divisor).unwrap_or(next);
            }
        }
        for _ in 0..zeros {
            if rest == Self::ZERO {
                break;
            }
            rest = reduced(rest.times_ten_plus(0));
        }
        rest == Self::ZERO
    }
}

impl Ord for Wide {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
