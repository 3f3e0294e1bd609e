//! Records in memory: one lock, held for the length of a map operation.

use super::clock::{Clock, Millis, millis, system_time};
use super::{
    Begun, Bounds, Down, End, Fingerprint, Found, Holder, Holding, Key, OVERHEAD, ReceiptId, State, Terms,
    new_receipt,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(super) struct Memory {
    bounds: Bounds,
    pub(super) clock: Clock,
    shelf: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    records: HashMap<Key, Record>,
    receipts: HashMap<ReceiptId, Key>,
    /// By the end of their life, to forget the dead without a look at the living.
    ends: BTreeSet<(Millis, Key)>,
    all: Holding,
    /// None of them empty.
    held: HashMap<Holder, Holding>,
}

#[derive(Debug)]
struct Record {
    fingerprint: Fingerprint,
    holder: Holder,
    state: State,
    receipt: ReceiptId,
    since: Millis,
    lease: Millis,
    expires: Millis,
}

impl Record {
    fn found(&self, now: Millis) -> Found {
        let state = match &self.state {
            State::Pending if self.lease <= now => State::Unknown,
            state @ (State::Pending | State::Done(_) | State::Unknown) => state.clone(),
        };
        let Self { fingerprint, receipt, since, .. } = *self;
        Found { fingerprint, state, receipt, since: system_time(since) }
    }

    fn bytes(&self) -> u64 {
        let answer = match &self.state {
            State::Done(answer) => answer.len() as u64,
            State::Pending | State::Unknown => 0,
        };
        OVERHEAD + answer
    }
}

impl Memory {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, clock: Clock::new(), shelf: Mutex::default() }
    }

    pub(super) fn find(&self, key: Key) -> Option<Found> {
        let (shelf, now) = self.swept();
        shelf.records.get(&key).map(|record| record.found(now))
    }

    pub(super) fn receipt(&self, id: ReceiptId) -> Option<Found> {
        let (shelf, now) = self.swept();
        let key = shelf.receipts.get(&id)?;
        shelf.records.get(key).map(|record| record.found(now))
    }

    pub(super) fn begin(&self, terms: &Terms) -> Result<Begun, Down> {
        let receipt = new_receipt()?;
        let (mut shelf, now) = self.swept();
        if let Some(record) = shelf.records.get(&terms.key) {
            return Ok(Begun::Exists(record.found(now)));
        }
        if let Some(turned_away) = self.bounds.turn_away(shelf.all, || shelf.holding(terms.holder)) {
            return Ok(turned_away);
        }
        shelf.begin(terms, receipt, now);
        Ok(Begun::Fresh(receipt))
    }

    /// What was begun elsewhere under this receipt, in place of whatever is here of its key; where there is room.
    pub(super) fn copy(&self, terms: &Terms, receipt: ReceiptId) {
        let (mut shelf, now) = self.swept();
        shelf.forget(terms.key);
        if self.bounds.turn_away(shelf.all, || shelf.holding(terms.holder)).is_none() {
            shelf.begin(terms, receipt, now);
        }
    }

    /// Whether it was pending here under this receipt.
    pub(super) fn finish(&self, key: Key, receipt: ReceiptId, end: End) -> bool {
        let (mut shelf, _) = self.swept();
        let is_meant = |record: &&mut Record| record.state == State::Pending && record.receipt == receipt;
        let Some(record) = shelf.records.get_mut(&key).filter(is_meant) else {
            return false;
        };
        let before = record.bytes();
        match end {
            End::Forget => {
                shelf.forget(key);
                return true;
            }
            End::Unknown => record.state = State::Unknown,
            End::Done(answer) => record.state = State::Done(answer),
        }
        let (holder, more) = (record.holder, record.bytes() - before);
        shelf.count(holder, Holding { records: 0, bytes: more });
        true
    }

    pub(super) fn sweep(&self) {
        drop(self.swept());
    }

    pub(super) fn count(&self) -> u64 {
        self.swept().0.records.len() as u64
    }

    /// Without what has come to its end; and the time that this goes by.
    fn swept(&self) -> (MutexGuard<'_, Shelf>, Millis) {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        while let Some((_, key)) = shelf.ends.first().copied().filter(|(expires, _)| *expires <= now) {
            shelf.forget(key);
        }
        (shelf, now)
    }
}

impl Shelf {
    fn begin(&mut self, terms: &Terms, receipt: ReceiptId, now: Millis) {
        let Terms { key, fingerprint, holder, lease, keep, wait: _ } = *terms;
        let record = Record {
            fingerprint,
            holder,
            state: State::Pending,
            receipt,
            since: now,
            lease: now + millis(lease),
            expires: now + millis(keep.max(lease)),
        };
        self.count(holder, Holding { records: 1, bytes: record.bytes() });
        self.ends.insert((record.expires, key));
        self.receipts.insert(receipt, key);
        self.records.insert(key, record);
    }

    fn holding(&self, holder: Holder) -> Holding {
        self.held.get(&holder).copied().unwrap_or_default()
    }

    fn count(&mut self, holder: Holder, more: Holding) {
        self.all.gain(more);
        self.held.entry(holder).or_default().gain(more);
    }

    fn forget(&mut self, key: Key) {
        if let Some(record) = self.records.remove(&key) {
            let gone = Holding { records: 1, bytes: record.bytes() };
            self.all.lose(gone);
            if let Some(held) = self.held.get_mut(&record.holder) {
                held.lose(gone);
                if held.records == 0 {
                    self.held.remove(&record.holder);
                }
            }
            self.ends.remove(&(record.expires, key));
            self.receipts.remove(&record.receipt);
        }
        if self.records.len() < self.records.capacity() / 4 {
            // Memory that one busy day took is given back.
            let room = self.records.len() * 2;
            self.records.shrink_to(room);
            self.receipts.shrink_to(room);
            self.held.shrink_to(room);
        }
    }
}
