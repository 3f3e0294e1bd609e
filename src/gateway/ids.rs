//! What names a request, to the client, to the upstream and in the log: unique, not secret.

use super::Gateway;
use super::head::{Head, Origin};
use std::fmt;

/// `N` lower-case hexadecimal digits, made once and written three times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hex<const N: usize>([u8; N]);

impl<const N: usize> Hex<N> {
    /// The low `4 * N` bits.
    fn of(number: u128) -> Self {
        // Two digits a byte, all bytes alike: done many at a time.
        let digit = |half: u8| half + if half < 10 { b'0' } else { b'a' - 10 };
        let mut all = [0; 32];
        for (pair, byte) in all.chunks_exact_mut(2).zip(number.to_be_bytes()) {
            pair[0] = digit(byte >> 4);
            pair[1] = digit(byte & 15);
        }
        let mut digits = [b'0'; N];
        let low = all.len().saturating_sub(N);
        digits.copy_from_slice(&all[low..]);
        Self(digits)
    }

    /// Digits as they stand in a field; `None` for anything else, and for all zeros.
    fn read(text: &[u8]) -> Option<Self> {
        let digits: [u8; N] = text.try_into().ok()?;
        (digits.iter().all(|digit| is_lower_hex(*digit)) && digits != [b'0'; N]).then_some(Self(digits))
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

fn is_lower_hex(digit: u8) -> bool {
    matches!(digit, b'0'..=b'9' | b'a'..=b'f')
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
    /// Whether the trace is recorded: what the upstream is told.
    pub sampled: bool,
    /// Only where this gateway records it.
    pub recorded: Option<Recorded>,
}

/// The names that a trace recorded here has besides.
#[derive(Debug, Clone, Copy)]
pub struct Recorded {
    /// The span of the request; [`Ids::span`] is that of the exchange with the upstream, below it.
    pub server: Hex<16>,
    /// The client's span, where it named one.
    pub parent: Option<Hex<16>>,
}

/// Which requests are traced (`traces.sample`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sampling {
    /// None; what the client said of its trace goes on to the upstream.
    #[default]
    Off,
    /// Those that a trusted proxy has decided to record; of all others this many in 2^64 (P12: a stranger's
    /// `traceparent` names a trace, and costs nothing).
    Share(u64),
}

/// What a `traceparent` says.
#[derive(Debug, Clone, Copy)]
struct Theirs {
    trace: Hex<32>,
    parent: Hex<16>,
    sampled: bool,
}

impl Gateway {
    /// Names a request. Takes over the trace of the client; everything else is new.
    pub fn ids(&self, head: &Head<'_>, origin: &Origin, random: impl FnMut() -> u64) -> Ids {
        Ids::of(head, self.sampling, origin.peer_trusted, random)
    }
}

impl Ids {
    /// For what is no request: no trace is taken over, and none recorded.
    pub fn fresh(random: impl FnMut() -> u64) -> Self {
        let peer = std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
        Self::of(&Head::nothing(peer), Sampling::Off, false, random)
    }

    fn of(head: &Head<'_>, sampling: Sampling, trusted: bool, mut random: impl FnMut() -> u64) -> Self {
        let mut wide = || u128::from(random()) << 64 | u128::from(random()) | 1;
        let (request, fresh) = (Hex::of(wide()), wide());
        let theirs = head.only("traceparent").and_then(read_traceparent);
        let recorded = match (sampling, theirs) {
            (Sampling::Share(_), Some(theirs)) if trusted => theirs.sampled,
            (Sampling::Off | Sampling::Share(0), _) => false,
            (Sampling::Share(share), _) => random() < share,
        };
        let recorded = recorded.then(|| Recorded {
            server: Hex::of(u128::from(random() | 1)),
            parent: theirs.map(|theirs| theirs.parent),
        });
        Self {
            request,
            trace: theirs.map_or_else(|| Hex::of(fresh), |theirs| theirs.trace),
            span: Hex::of(u128::from(random() | 1)),
            sampled: match sampling {
                Sampling::Off => theirs.is_some_and(|theirs| theirs.sampled),
                Sampling::Share(_) => recorded.is_some(),
            },
            recorded,
        }
    }
}

/// `00-TRACE-PARENT-FLAGS`, version 00 only: of later ones we could not say what we pass on.
fn read_traceparent(field: &[u8]) -> Option<Theirs> {
    let [b'0', b'0', b'-', rest @ ..] = field else {
        return None;
    };
    let (trace, rest) = rest.split_at_checked(32)?;
    let (parent, flags) = rest.strip_prefix(b"-")?.split_at_checked(16)?;
    let parent = Hex::read(parent)?;
    let flags = match flags {
        [b'-', flags @ ..] if flags.len() == 2 && flags.iter().all(|digit| is_lower_hex(*digit)) => {
            char::from(flags[1]).to_digit(16)?
        }
        _ => return None,
    };
    Some(Theirs { trace: Hex::read(trace)?, parent, sampled: flags & 1 == 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_clients_are_taken_over_only_when_well_formed() {
        let good = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let theirs = read_traceparent(good).unwrap();
        assert_eq!(theirs.trace.as_bytes(), b"0af7651916cd43dd8448eb211c80319c");
        assert_eq!(theirs.parent.as_bytes(), b"b7ad6b7169203331");
        assert!(theirs.sampled);
        for bad in [
            "",
            "00",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0B",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
            "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
        ] {
            assert!(read_traceparent(bad.as_bytes()).is_none(), "{bad}");
        }
    }

    #[test]
    fn only_a_trusted_peer_decides_what_is_recorded() {
        let name = "traceparent";
        let recorded = |value: &str, sampling, trusted| {
            let value = value.as_bytes();
            let fields = [super::super::Field { name, value }];
            let head = Head { fields: &fields, ..Head::nothing([127, 0, 0, 1].into()) };
            let ids = Ids::of(&head, sampling, trusted, || 7);
            // What the upstream hears is what is done here.
            assert!(sampling == Sampling::Off || ids.sampled == ids.recorded.is_some());
            ids.recorded.is_some()
        };
        let yes = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let no = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
        for (theirs, sampling, trusted, expected) in [
            (yes, Sampling::Off, true, false),
            (yes, Sampling::Share(0), true, true),
            (yes, Sampling::Share(0), false, false),
            (no, Sampling::Share(u64::MAX), true, false),
            (no, Sampling::Share(u64::MAX), false, true),
            ("", Sampling::Share(u64::MAX), true, true),
            ("", Sampling::Share(7), true, false),
            ("", Sampling::Share(8), true, true),
            ("", Sampling::Share(0), true, false),
        ] {
            assert_eq!(recorded(theirs, sampling, trusted), expected, "{theirs} {sampling:?} {trusted}");
        }
    }

    #[test]
    fn digits_are_the_numbers() {
        assert_eq!(Hex::<4>::of(0x0_1a2f).as_bytes(), b"1a2f");
        assert_eq!(Hex::<16>::of(1).as_bytes(), b"0000000000000001");
    }
}
