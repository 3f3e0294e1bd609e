//! Time for tests that measure: what this thread has used of a processor. What else the machine does
//! shows in it through caches only.

use rustix::time::{ClockId, clock_gettime};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Processor time of this thread so far.
pub(crate) fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

/// The least processor time of so many rounds.
pub(crate) fn best(rounds: usize, mut step: impl FnMut()) -> Duration {
    let round = |_| {
        let start = used();
        step();
        used().saturating_sub(start)
    };
    (0..rounds).map(round).min().unwrap()
}

/// Held while measuring, so that tests that measure do not push each other out of the caches.
pub(crate) fn in_turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
