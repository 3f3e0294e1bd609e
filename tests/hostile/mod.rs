//! What attackers, broken upstreams and full machines do (issue 3). The long forms are in `README.md`.

mod catalogue;
mod framing;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tests that load the machine or measure it go one at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
