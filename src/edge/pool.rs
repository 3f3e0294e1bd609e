//! Idle connections to upstreams, kept by each worker for itself: no lock, and a look once a second.

use super::connection::read_now;
use super::dial::Wire;
use crate::gateway::{Condition, Upstream};
use foldhash::fast::RandomState;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

thread_local! {
    /// By the number of the server's condition: a reload that keeps the server keeps its connections.
    static IDLE: RefCell<HashMap<u64, Shelf, RandomState>> = RefCell::default();
}

/// How often a worker looks for connections that have grown old or were closed.
const SWEEP: Duration = Duration::from_secs(1);

/// The idle connections to one server.
struct Shelf {
    condition: Arc<Condition>,
    kept: Vec<Idle>,
}

struct Idle {
    wire: Wire,
    until: Instant,
}

impl Idle {
    /// Young enough, at an address that the server still has, and silent: a byte would belong to no request of ours, an
    /// end means that it is closed.
    fn is_usable(&mut self, condition: &Condition, now: Instant) -> bool {
        now < self.until && self.is_there(condition) && read_now(&mut self.wire.stream, &mut [0]).is_none()
    }

    fn is_there(&mut self, condition: &Condition) -> bool {
        let epoch = condition.epoch();
        if epoch != self.wire.line.epoch && self.wire.line.peer.is_some_and(|peer| !condition.is_at(peer)) {
            return false;
        }
        self.wire.line.epoch = epoch;
        true
    }
}

/// A connection that can take an act. The one used last comes first, so that the others can grow old.
pub(super) fn take(condition: &Condition, now: Instant) -> Option<Wire> {
    loop {
        let mut candidate = IDLE.with_borrow_mut(|pool| pool.get_mut(&condition.id)?.kept.pop())?;
        if candidate.is_usable(condition, now) {
            return Some(candidate.wire);
        }
    }
}

/// Keeps a connection after a complete and well-framed answer with nothing behind it. The upstream's
/// `keepalive` is for all workers together.
pub(super) fn give_back(upstream: &Upstream, wire: Wire, now: Instant, workers: usize) {
    let condition = upstream.condition(wire.line.number);
    IDLE.with_borrow_mut(|pool| {
        let shelf = pool
            .entry(condition.id)
            .or_insert_with(|| Shelf { condition: Arc::clone(condition), kept: Vec::new() });
        if shelf.kept.len() < upstream.keepalive.div_ceil(workers) {
            shelf.kept.push(Idle { wire, until: now + upstream.timeouts.idle });
        }
    });
}

/// Runs on each worker: connections go when their time is over, also those of an upstream that a reload
/// has removed.
pub(super) async fn sweep() {
    let _emptied = Emptied;
    loop {
        tokio::time::sleep(SWEEP).await;
        IDLE.with_borrow_mut(|pool| {
            let now = Instant::now();
            pool.retain(|_, Shelf { condition, kept }| {
                kept.retain_mut(|idle| idle.is_usable(condition, now));
                !kept.is_empty()
            });
        });
    }
}

/// Lets go of a worker's connections when its tasks end: a connection says things when it is dropped, and what it says
/// them with may be gone by the time that the thread drops what is its own.
struct Emptied;

impl Drop for Emptied {
    fn drop(&mut self) {
        drop(IDLE.try_with(RefCell::take));
    }
}
