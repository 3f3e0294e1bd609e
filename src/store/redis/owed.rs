//! What is still to be written: the ends of acts that could not be recorded when they came, and what was begun for
//! nobody.

use crate::gateway::{End, Key, ReceiptId};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Ends that wait, at most, and their bytes. What is over it is left to its lease, and read as unknown after it.
const ENDS: usize = 4096;
const BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Owed {
    waiting: Mutex<Waiting>,
    due: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    debts: VecDeque<Debt>,
    bytes: usize,
}

/// How an act ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Debt {
    pub(super) key: Key,
    pub(super) end: End,
    /// Under which it was begun, where only that is meant.
    pub(super) receipt: Option<ReceiptId>,
}

impl Debt {
    fn bytes(&self) -> usize {
        match &self.end {
            End::Done(answer) => answer.len(),
            End::Unknown | End::Forget => 0,
        }
    }
}

impl Owed {
    pub(super) fn add(&self, debt: Debt) {
        let mut waiting = self.waiting();
        let bytes = waiting.bytes + debt.bytes();
        if waiting.debts.len() >= ENDS || bytes > BYTES {
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

    /// Only the keeper of the link pays: what is first stays first meanwhile.
    pub(super) fn paid(&self, debt: &Debt) {
        let mut waiting = self.waiting();
        if waiting.debts.front() == Some(debt) {
            waiting.debts.pop_front();
            waiting.bytes -= debt.bytes();
        }
    }

    /// Has the keeper of the link look at the server, too.
    pub(super) fn look(&self) {
        self.due.notify_one();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting().debts.is_empty()
    }

    /// Resolves when something may have been added.
    pub(super) async fn due(&self) {
        self.due.notified().await;
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
