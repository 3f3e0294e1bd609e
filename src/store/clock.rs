//! The time that records live by.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, as one store counts them.
pub(super) type Millis = u64;

/// Starts at the wall clock and then goes by elapsed time alone: a step of the wall clock, either way, neither
/// forgets keys early nor keeps them for ever. A file carries its time on, so that it never goes back over a
/// restart either; at worst the time that nobody ran is not counted. What cannot be told apart: a wall clock that
/// is years ahead when a process starts, from years in which none ran.
#[derive(Debug)]
pub(super) struct Clock {
    at_start: Millis,
    started: Instant,
    ahead: AtomicU64,
}

impl Clock {
    pub(super) fn new() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { at_start: millis(wall), started: Instant::now(), ahead: AtomicU64::new(0) }
    }

    pub(super) fn now(&self) -> Millis {
        self.at_start + millis(self.started.elapsed()) + self.ahead.load(Ordering::SeqCst)
    }

    /// Another process has written at `then`: it is at least that late.
    pub(super) fn catch_up(&self, then: Millis) {
        self.ahead.fetch_add(then.saturating_sub(self.now()), Ordering::SeqCst);
    }
}

/// Rounded up: nothing ends a part of a millisecond early.
pub(super) fn millis(time: Duration) -> Millis {
    Millis::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(Millis::MAX / 4).min(Millis::MAX / 4)
}

pub(super) fn system_time(at: Millis) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_goes_back_and_catches_up_with_what_is_later() {
        let clock = Clock::new();
        let first = clock.now();
        clock.catch_up(first - 1000);
        assert!(clock.now() >= first && clock.now() < first + 500);
        clock.catch_up(first + 60_000);
        assert!(clock.now() >= first + 60_000 && clock.now() < first + 61_000);
    }

    #[test]
    fn parts_of_a_millisecond_count_whole() {
        assert_eq!((millis(Duration::from_nanos(1)), millis(Duration::from_millis(2))), (1, 2));
        assert_eq!(millis(Duration::MAX), Millis::MAX / 4);
    }
}
