//! What is still to be written: the ends of acts that could not be recorded when they came, and what was begun for
//! nobody.

use crate::gateway::{End, Key, ReceiptId};
use prometheus::IntCounter;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Ends that wait, at most, and their bytes. What is over it is left to its lease, and read as unknown after it.
const ENDS: usize = 4096;
const BYTES: usize = 16 << 20;
/// How often one is offered to a server that can be written and does not take it.
const TRIES: u32 = 30;
/// How long one that was not taken waits for its next turn: longer and longer, up to a minute, for each may end the connection.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Owed {
    waiting: Mutex<Waiting>,
    due: Notify,
    /// Ends that were never recorded.
    dropped: IntCounter,
}

#[derive(Debug, Default)]
struct Waiting {
    debts: VecDeque<Debt>,
    /// Behind them, until then: each stands in nobody's way.
    refused: Vec<(Instant, Debt)>,
    bytes: usize,
}

/// How an act ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Debt {
    key: Key,
    /// Under which it was begun.
    receipt: ReceiptId,
    end: End,
    /// How often it was refused for what it is.
    refusals: u32,
}

impl Debt {
    pub(super) fn new(key: Key, receipt: ReceiptId, end: End) -> Self {
        Self { key, receipt, end, refusals: 0 }
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    pub(super) fn end(&self) -> &End {
        &self.end
    }

    pub(super) fn receipt(&self) -> ReceiptId {
        self.receipt
    }

    fn bytes(&self) -> usize {
        match &self.end {
            End::Done(answer) => answer.len(),
            End::Unknown | End::Forget => 0,
        }
    }
}

impl Owed {
    pub(super) fn new(dropped: IntCounter) -> Self {
        Self { waiting: Mutex::default(), due: Notify::new(), dropped }
    }

    pub(super) fn add(&self, debt: Debt) {
        let mut waiting = self.waiting();
        let bytes = waiting.bytes + debt.bytes();
        if waiting.debts.len() + waiting.refused.len() >= ENDS
            && debt.end != End::Forget
            && let Some(least) =
                (1..waiting.debts.len()).rev().find(|at| waiting.debts[*at].end == End::Forget)
        {
            // What happened is worth more than what did not. The first one stays: it may be being paid.
            waiting.debts.remove(least);
            self.dropped.inc();
        }
        if waiting.debts.len() + waiting.refused.len() >= ENDS || bytes > BYTES {
            drop(waiting);
            self.dropped.inc();
            tracing::error!(key = %debt.key, "too many ends of acts wait for Redis: this one is not recorded");
            return;
        }
        waiting.bytes = bytes;
        waiting.debts.push_back(debt);
        drop(waiting);
        self.due.notify_one();
    }

    pub(super) fn first(&self) -> Option<Debt> {
        self.waiting().debts.front().cloned()
    }

    /// How many wait for their turn.
    pub(super) fn waiting_now(&self) -> usize {
        self.waiting().debts.len()
    }

    /// Only the keeper of the link pays: what is first stays first meanwhile.
    pub(super) fn paid(&self, debt: &Debt) {
        let mut waiting = self.waiting();
        if waiting.debts.front() == Some(debt) {
            waiting.debts.pop_front();
            waiting.bytes -= debt.bytes();
        }
    }

    /// The first one is refused: the others go before it. `itself`: for what it is, the server can be written; then
    /// not forever.
    pub(super) fn refused(&self, itself: bool) {
        let mut waiting = self.waiting();
        let Some(mut debt) = waiting.debts.pop_front() else { return };
        debt.refusals += u32::from(itself);
        if debt.refusals < TRIES {
            let pause = PAUSE * (1 << (debt.refusals / 2).min(6));
            waiting.refused.push((Instant::now() + pause, debt));
            return;
        }
        waiting.bytes -= debt.bytes();
        drop(waiting);
        self.dropped.inc();
        tracing::error!(key = %debt.key, "Redis refuses the end of an act again and again: it is not recorded");
    }

    /// What was refused and has waited is offered once more.
    pub(super) fn again(&self, now: Instant) {
        let mut waiting = self.waiting();
        let refused = std::mem::take(&mut waiting.refused);
        let (due, later): (Vec<_>, Vec<_>) = refused.into_iter().partition(|(from, _)| *from <= now);
        waiting.debts.extend(due.into_iter().map(|(_, debt)| debt));
        waiting.refused = later;
    }

    /// Has the keeper of the link look at the server, too.
    pub(super) fn look(&self) {
        self.due.notify_one();
    }

    pub(super) fn is_empty(&self) -> bool {
        let waiting = self.waiting();
        waiting.debts.is_empty() && waiting.refused.is_empty()
    }

    /// Resolves when something may have been added.
    pub(super) async fn due(&self) {
        self.due.notified().await;
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_refused_stands_in_nobodys_way_and_not_forever() {
        let dropped = IntCounter::new("dropped", "dropped").unwrap();
        let owed = Owed::new(dropped.clone());
        let later = Instant::now() + 100 * PAUSE;
        let debt = |byte: u8| Debt::new(Key::of("owed", &[byte]), ReceiptId::from([byte; 16]), End::Forget);
        owed.add(debt(1));
        owed.add(debt(2));
        // A server that refuses everything makes nobody give up.
        for _ in 0..2 * TRIES {
            owed.refused(false);
            owed.refused(false);
            assert!(owed.first().is_none() && !owed.is_empty());
            owed.again(later);
        }
        owed.refused(true);
        assert_eq!(owed.first(), Some(debt(2)));
        owed.paid(&debt(2));
        for _ in 1..TRIES {
            assert!(dropped.get() == 0 && !owed.is_empty());
            owed.again(later);
            owed.refused(true);
        }
        assert!(dropped.get() == 1 && owed.is_empty());
    }
    #[test]
    fn what_did_not_happen_makes_room_for_what_did() {
        let dropped = IntCounter::new("dropped", "dropped").unwrap();
        let owed = Owed::new(dropped.clone());
        let debt = |number: usize, end| {
            Debt::new(Key::of("owed", &number.to_be_bytes()), ReceiptId::from([0; 16]), end)
        };
        for number in 0..ENDS {
            owed.add(debt(number, End::Forget));
        }
        owed.add(debt(ENDS, End::Forget));
        assert_eq!((owed.waiting_now(), owed.first(), dropped.get()), (ENDS, Some(debt(0, End::Forget)), 1));
        owed.add(debt(ENDS, End::Unknown));
        assert_eq!((owed.waiting_now(), owed.first(), dropped.get()), (ENDS, Some(debt(0, End::Forget)), 2));
        let last: Vec<_> = owed.waiting().debts.range(ENDS - 2..).cloned().collect();
        assert_eq!(last, [debt(ENDS - 2, End::Forget), debt(ENDS, End::Unknown)]);
    }
}
