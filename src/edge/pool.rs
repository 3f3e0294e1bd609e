//! Idle connections to upstreams, kept by each worker for itself: no lock, no task, no timer.

use super::connection::read_now;
use crate::gateway::Server;
use pingora_core::protocols::Stream;
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

thread_local! {
    static IDLE: RefCell<HashMap<Server, Vec<Idle>>> = RefCell::new(HashMap::new());
}

struct Idle {
    stream: Stream,
    since: Instant,
}

/// A connection that can take an act: idle for less than `idle`, and silent. The one used last comes
/// first, so that the others can grow old.
pub(super) fn take(server: &Server, idle: Duration, now: Instant) -> Option<Stream> {
    loop {
        let mut candidate = IDLE.with_borrow_mut(|pool| pool.get_mut(server)?.pop())?;
        if now.saturating_duration_since(candidate.since) < idle && is_silent(&mut candidate.stream) {
            return Some(candidate.stream);
        }
    }
}

/// Keeps a connection after a complete and well-framed answer with nothing behind it.
pub(super) fn give_back(server: &Server, stream: Stream, idle: Duration, most: usize) {
    IDLE.with_borrow_mut(|pool| {
        // `HashMap::entry` would clone the server each time.
        if !pool.contains_key(server) {
            pool.insert(server.clone(), Vec::new());
        }
        if let Some(kept) = pool.get_mut(server) {
            let now = Instant::now();
            // The longest idle come first: those used last are taken and put back at the end.
            let is_old = |old: &&Idle| now.saturating_duration_since(old.since) >= idle;
            let old = kept.iter().take_while(is_old).count();
            kept.drain(..old);
            if kept.len() < most {
                kept.push(Idle { stream, since: now });
            }
        }
    });
}

/// Nothing to read: a byte would belong to no request of ours, an end means that it is closed.
fn is_silent(stream: &mut Stream) -> bool {
    read_now(stream, &mut [0]).is_none()
}
