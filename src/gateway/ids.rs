//! What names a request, to the client, to the upstream and in the log: unique, not secret.

use super::head::Head;
use std::fmt;

/// `N` lower-case hexadecimal digits, made once and written three times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hex<const N: usize>([u8; N]);

impl<const N: usize> Hex<N> {
    /// The low `4 * N` bits.
    fn of(mut number: u128) -> Self {
        let mut digits = [b'0'; N];
        for digit in digits.iter_mut().rev() {
            *digit = b"0123456789abcdef"[(number & 15) as usize];
            number >>= 4;
        }
        Self(digits)
    }

    /// Digits as they stand in a field; `None` for anything else, and for all zeros.
    fn read(text: &[u8]) -> Option<Self> {
        let digits: [u8; N] = text.try_into().ok()?;
        let lower_hex = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        (lower_hex && digits != [b'0'; N]).then_some(Self(digits))
    }

    /// As written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Digits are ASCII.
        f.write_str(std::str::from_utf8(&self.0).unwrap_or_default())
    }
}

impl<const N: usize> fmt::Debug for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The names of one request.
#[derive(Debug, Clone, Copy)]
pub struct Ids {
    /// `X-Request-Id`, to the client and to the upstream.
    pub request: Hex<32>,
    /// Trace id: the client's, if its `traceparent` is well formed (W3C Trace Context, 3.2).
    pub trace: Hex<32>,
    /// Our span: the parent of whatever the upstream does.
    pub span: Hex<16>,
    /// Whether the trace is recorded.
    pub sampled: bool,
}

impl Ids {
    /// Takes over the trace of the client; everything else is new.
    pub fn of(head: &Head<'_>, mut random: impl FnMut() -> u64) -> Self {
        let mut wide = || u128::from(random()) << 64 | u128::from(random()) | 1;
        let (request, fresh) = (Hex::of(wide()), wide());
        let theirs = head.only("traceparent").and_then(read_traceparent);
        let (trace, sampled) = theirs.unwrap_or_else(|| (Hex::of(fresh), false));
        Self { request, trace, span: Hex::of(u128::from(random() | 1)), sampled }
    }
}

/// `00-TRACE-PARENT-FLAGS`, version 00 only: of later ones we could not say what we pass on.
fn read_traceparent(field: &[u8]) -> Option<(Hex<32>, bool)> {
    let [b'0', b'0', b'-', rest @ ..] = field else {
        return None;
    };
    let (trace, rest) = rest.split_at_checked(32)?;
    let (parent, flags) = rest.strip_prefix(b"-")?.split_at_checked(16)?;
    Hex::<16>::read(parent)?;
    let flags = match flags {
        [b'-', high, low] if high.is_ascii_hexdigit() => char::from(*low).to_digit(16)?,
        _ => return None,
    };
    Some((Hex::read(trace)?, flags & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_clients_are_taken_over_only_when_well_formed() {
        let good = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let (trace, sampled) = read_traceparent(good).unwrap();
        assert_eq!(trace.as_bytes(), b"0af7651916cd43dd8448eb211c80319c");
        assert!(sampled);
        for bad in [
            "",
            "00",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
            "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
        ] {
            assert!(read_traceparent(bad.as_bytes()).is_none(), "{bad}");
        }
    }

    #[test]
    fn digits_are_the_numbers() {
        assert_eq!(Hex::<4>::of(0x0_1a2f).as_bytes(), b"1a2f");
        assert_eq!(Hex::<16>::of(1).as_bytes(), b"0000000000000001");
    }
}
