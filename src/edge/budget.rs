//! Memory for bodies in flight: one number for the whole process (P9).

use prometheus::IntGauge;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What bodies may hold, all together.
#[derive(Debug)]
pub(super) struct Budget {
    held: AtomicUsize,
    cap: usize,
    /// Where what is held is shown.
    shown: Option<IntGauge>,
}

/// What one body holds; given back when dropped.
#[derive(Debug)]
pub(super) struct Hold {
    budget: Arc<Budget>,
    bytes: usize,
}

/// There is not enough left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

impl Budget {
    pub(super) fn new(cap: usize, shown: Option<IntGauge>) -> Arc<Self> {
        Arc::new(Self { held: AtomicUsize::new(0), cap, shown })
    }

    pub(super) fn hold(self: &Arc<Self>) -> Hold {
        Hold { budget: Arc::clone(self), bytes: 0 }
    }
}

impl Hold {
    /// Holds at least `bytes`, in all.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let before = self.budget.held.fetch_add(more, Ordering::Relaxed);
        if before.saturating_add(more) > self.budget.cap {
            self.budget.held.fetch_sub(more, Ordering::Relaxed);
            return Err(Exhausted);
        }
        self.bytes = bytes;
        if let Some(shown) = &self.budget.shown {
            shown.add(i64::try_from(more).unwrap_or(i64::MAX));
        }
        Ok(())
    }

    /// Holds so many more than it does.
    pub(super) fn grow_by(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.grow_to(self.bytes.saturating_add(bytes))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.held.fetch_sub(self.bytes, Ordering::Relaxed);
            if let Some(shown) = &self.budget.shown {
                shown.sub(i64::try_from(self.bytes).unwrap_or(i64::MAX));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_comes_back() {
        let gauge = IntGauge::new("held", "held").unwrap();
        let budget = Budget::new(100, Some(gauge.clone()));
        let mut first = budget.hold();
        assert_eq!(first.grow_to(60), Ok(()));
        assert_eq!(first.grow_to(40), Ok(()));
        let mut second = budget.hold();
        assert_eq!(second.grow_to(41), Err(Exhausted));
        assert_eq!(second.grow_to(40), Ok(()));
        assert_eq!(gauge.get(), 100);
        drop(first);
        assert_eq!(second.grow_to(100), Ok(()));
        drop(second);
        assert_eq!(gauge.get(), 0);
    }
}
