//! Rates: GCRA per client and route, with bounded memory.

use std::num::NonZeroU32;
use std::time::Duration;

/// `5/s burst 10`: one more every `period`, `burst` at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Time that earns one request.
    pub period: Duration,
    /// Requests at once, after a pause.
    pub burst: NonZeroU32,
}

/// The rates of one route; `None` is "none", said explicitly in the file.
#[derive(Debug)]
pub struct Limits {}

impl Limits {
    /// `keys` bounds the clients remembered by each of the three.
    pub fn new(get: Option<Rate>, post: Option<Rate>, refused: Option<Rate>, keys: usize) -> Self {
        let _ = (get, post, refused, keys);
        Self {}
    }
}
