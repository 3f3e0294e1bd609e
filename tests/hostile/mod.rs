//! What attackers, broken upstreams and full machines do (issue 3). The long forms are in `README.md`.

mod acts;
mod canary;
mod catalogue;
mod clock;
mod complexity;
mod differential;
mod faulty;
mod frames;
mod framing;
mod http2;
mod json_suite;
mod life;
mod load;
mod process;
mod soak;
mod streams;
mod timing;
mod upstream;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tests that load the machine or measure it go one at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number from the environment, for long forms and for seeds.
fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")),
        Err(_) => default,
    }
}

/// Numbers that a seed repeats (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn index(&mut self, bound: usize) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "bounds are lengths of small tables")]
        let index = self.next() as usize % bound;
        index
    }

    fn coin(&mut self) -> bool {
        self.next().is_multiple_of(2)
    }
}
