//! Idle connections to upstreams, kept by each worker for itself: no lock, and a look once a second.

use super::connection::read_now;
use crate::gateway::{Server, Upstream};
use pingora_core::protocols::Stream;
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

thread_local! {
    static IDLE: RefCell<HashMap<Server, Vec<Idle>>> = RefCell::new(HashMap::new());
}

/// How often a worker looks for connections that have grown old or were closed.
const SWEEP: Duration = Duration::from_secs(1);

struct Idle {
    stream: Stream,
    until: Instant,
}

impl Idle {
    /// Young enough, and silent: a byte would belong to no request of ours, an end means that it is closed.
    fn is_usable(&mut self, now: Instant) -> bool {
        now < self.until && read_now(&mut self.stream, &mut [0]).is_none()
    }
}

/// A connection that can take an act. The one used last comes first, so that the others can grow old.
pub(super) fn take(server: &Server, now: Instant) -> Option<Stream> {
    loop {
        let mut candidate = IDLE.with_borrow_mut(|pool| pool.get_mut(server)?.pop())?;
        if candidate.is_usable(now) {
            return Some(candidate.stream);
        }
    }
}

/// Keeps a connection after a complete and well-framed answer with nothing behind it. The upstream's
/// `keepalive` is for all workers together.
pub(super) fn give_back(upstream: &Upstream, server: &Server, stream: Stream, workers: usize) {
    IDLE.with_borrow_mut(|pool| {
        // `HashMap::entry` would clone the server each time.
        if !pool.contains_key(server) {
            pool.insert(server.clone(), Vec::new());
        }
        if let Some(kept) = pool.get_mut(server)
            && kept.len() < upstream.keepalive.div_ceil(workers)
        {
            kept.push(Idle { stream, until: Instant::now() + upstream.timeouts.idle });
        }
    });
}

/// Runs on each worker: connections go when their time is over, also those of an upstream that a reload
/// has removed.
pub(super) async fn sweep() {
    loop {
        tokio::time::sleep(SWEEP).await;
        IDLE.with_borrow_mut(|pool| {
            let now = Instant::now();
            pool.retain(|_, kept| {
                kept.retain_mut(|idle| idle.is_usable(now));
                !kept.is_empty()
            });
        });
    }
}
