//! The words of bounds: sizes (`64KiB`), times (`30s`), rates (`5/s burst 10`).
//!
//! Each parses into a number that cannot be zero by accident; sizes and times print back as a person would write them.

use std::num::NonZeroU32;
use std::time::Duration;

/// One more every `period`, `burst` at once: what `5/s burst 10` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frequency {
    /// Time that earns one.
    pub period: Duration,
    /// How many at once, after a pause.
    pub burst: NonZeroU32,
}

/// Why a word is not a bound. Says what would be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoundFault {
    /// Not a size.
    #[error("expected a size: whole bytes, or a whole number with KiB, MiB or GiB, as in `64KiB`")]
    Size,
    /// Not a time.
    #[error("expected a time: a whole number with ms, s, m or h, as in `30s`")]
    Time,
    /// Not a rate.
    #[error("expected a rate, `5/s burst 10` (per s, m or h), or `none`")]
    Rate,
    /// A unit that looks right and means something else.
    #[error("`{0}` is not read here; {1}")]
    Unit(String, &'static str),
    /// Zero where something must be possible.
    #[error("zero would allow nothing; write at least 1")]
    Zero,
    /// More than the gateway counts.
    #[error("the number is too large")]
    Overflow,
}

/// Reads a size in bytes: `65536`, `64KiB`, `1MiB`, `1GiB`. Zero is read as zero; the caller knows its range.
pub fn parse_size(word: &str) -> Result<usize, BoundFault> {
    let (number, unit) = number_and_unit(word).ok_or(BoundFault::Size)?;
    let factor: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "k" | "K" | "kB" | "KB" | "kb" | "kib" => return Err(unit_fault(unit, "write `KiB` (1024 bytes)")),
        "M" | "MB" | "mb" | "mib" => return Err(unit_fault(unit, "write `MiB` (1024 KiB)")),
        "G" | "GB" | "gb" | "gib" => return Err(unit_fault(unit, "write `GiB` (1024 MiB)")),
        _ => return Err(BoundFault::Size),
    };
    let bytes = parse_number(number)?.checked_mul(factor).ok_or(BoundFault::Overflow)?;
    usize::try_from(bytes).map_err(|_| BoundFault::Overflow)
}

/// Reads a time: `500ms`, `30s`, `2m`, `1h`. A bare number has no unit and is refused.
pub fn parse_time(word: &str) -> Result<Duration, BoundFault> {
    let (number, unit) = number_and_unit(word).ok_or(BoundFault::Time)?;
    let milliseconds: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "" => return Err(unit_fault(word, "write the unit, as in `30s` or `500ms`")),
        "sec" | "secs" | "second" | "seconds" => return Err(unit_fault(unit, "write `s`")),
        "min" | "mins" | "minute" | "minutes" => return Err(unit_fault(unit, "write `m`")),
        _ => return Err(BoundFault::Time),
    };
    let total = parse_number(number)?.checked_mul(milliseconds).ok_or(BoundFault::Overflow)?;
    // A year is more than any timer here means, and far below what a deadline can be added to.
    if total > 366 * 24 * 3_600_000 {
        return Err(BoundFault::Overflow);
    }
    Ok(Duration::from_millis(total))
}

/// Reads a rate: `5/s burst 10`, `30/m burst 5`; without `burst`, the burst is 1. `none` is no limit.
pub fn parse_rate(text: &str) -> Result<Option<Frequency>, BoundFault> {
    let mut words = text.split_ascii_whitespace();
    let first = words.next().ok_or(BoundFault::Rate)?;
    if first == "none" {
        return if words.next().is_none() { Ok(None) } else { Err(BoundFault::Rate) };
    }
    let (count, unit) = first.split_once('/').ok_or(BoundFault::Rate)?;
    let window = match unit {
        "s" => Duration::from_secs(1),
        "m" => Duration::from_mins(1),
        "h" => Duration::from_hours(1),
        _ => return Err(BoundFault::Rate),
    };
    let count = positive(count)?;
    let burst = match (words.next(), words.next(), words.next()) {
        (None, _, _) => NonZeroU32::MIN,
        (Some("burst"), Some(burst), None) => positive(burst)?,
        _ => return Err(BoundFault::Rate),
    };
    let period = window / count.get();
    // Below a microsecond the limiter's arithmetic has nothing left to count.
    if period < Duration::from_micros(1) {
        return Err(BoundFault::Overflow);
    }
    Ok(Some(Frequency { period, burst }))
}

/// Prints a size with the largest unit that divides it.
pub fn print_size(bytes: usize) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// Prints a time with the largest unit that divides it; what is finer than a millisecond is cut.
pub fn print_time(time: Duration) -> String {
    let milliseconds = time.as_millis();
    for (length, unit) in [(3_600_000, "h"), (60_000, "m"), (1_000, "s")] {
        if milliseconds != 0 && milliseconds.is_multiple_of(length) {
            return format!("{}{unit}", milliseconds / length);
        }
    }
    format!("{milliseconds}ms")
}

fn number_and_unit(word: &str) -> Option<(&str, &str)> {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { None } else { word.split_at_checked(digits) }
}

fn parse_number(digits: &str) -> Result<u64, BoundFault> {
    digits.parse().map_err(|_| BoundFault::Overflow)
}

fn positive(digits: &str) -> Result<NonZeroU32, BoundFault> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(BoundFault::Rate);
    }
    let number: u32 = digits.parse().map_err(|_| BoundFault::Overflow)?;
    NonZeroU32::new(number).ok_or(BoundFault::Zero)
}

fn unit_fault(unit: &str, instead: &'static str) -> BoundFault {
    BoundFault::Unit(unit.to_owned(), instead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("1MiB"), Ok(1 << 20));
        assert_eq!(parse_size("65536"), Ok(65_536));
        assert_eq!(parse_size("0"), Ok(0));
        assert_eq!(parse_size(""), Err(BoundFault::Size));
        assert_eq!(parse_size("-1"), Err(BoundFault::Size));
        assert_eq!(parse_size("1.5MiB"), Err(BoundFault::Size));
        assert_eq!(parse_size("1_000"), Err(BoundFault::Size));
        assert!(matches!(parse_size("64KB"), Err(BoundFault::Unit(_, _))));
        assert_eq!(parse_size("18446744073709551615GiB"), Err(BoundFault::Overflow));
        assert_eq!(parse_size("99999999999999999999"), Err(BoundFault::Overflow));
        for word in ["0", "1", "1023", "1KiB", "64KiB", "3MiB", "2GiB"] {
            assert_eq!(parse_size(word).map(print_size).as_deref(), Ok(word));
        }
    }

    #[test]
    fn times() {
        assert_eq!(parse_time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_time("2m"), Ok(Duration::from_mins(2)));
        assert!(matches!(parse_time("30"), Err(BoundFault::Unit(_, _))));
        assert!(matches!(parse_time("30sec"), Err(BoundFault::Unit(_, _))));
        assert_eq!(parse_time("s"), Err(BoundFault::Time));
        assert_eq!(parse_time("9999999h"), Err(BoundFault::Overflow));
        for word in ["0ms", "1ms", "1500ms", "30s", "2m", "1h"] {
            assert_eq!(parse_time(word).map(print_time).as_deref(), Ok(word));
        }
    }

    #[test]
    fn rates() {
        assert_eq!(parse_rate("none"), Ok(None));
        assert_eq!(parse_rate("none burst 3"), Err(BoundFault::Rate));
        assert_eq!(parse_rate("0/s burst 1"), Err(BoundFault::Zero));
        assert_eq!(parse_rate("1/s burst 0"), Err(BoundFault::Zero));
        assert_eq!(parse_rate("5 per second"), Err(BoundFault::Rate));
        assert_eq!(parse_rate("5/s burst"), Err(BoundFault::Rate));
        assert_eq!(parse_rate("5/s burst 10 more"), Err(BoundFault::Rate));
        assert_eq!(parse_rate("4294967296/s"), Err(BoundFault::Overflow));
        assert_eq!(parse_rate("4294967295/s"), Err(BoundFault::Overflow));
        assert_eq!(parse_rate("+5/s"), Err(BoundFault::Rate));
    }
}
