//! An act that is done once for each key, whichever door it came in by (REQUIREMENTS B-30).

use crate::gateway::{Begun, End, Found, Key, ReceiptId, ReplayState, State, Terms};
use crate::store::{Down, Records};
use bytes::Bytes;
use std::time::{Duration, Instant};

/// What an act with a key came to. In all but the first, nothing was done now.
#[derive(Debug)]
pub(super) enum Keyed<T> {
    /// The key was free: the act was performed, and this is what that gave.
    Performed(T),
    /// The act was performed before, and this is what was stored.
    Done(Bytes),
    /// It is still under way, and was waited for.
    Pending,
    /// It may have been performed; nobody knows. Never again (P5).
    Unknown,
    /// The key was used for another act.
    Conflict,
    /// No room for a new key.
    Full,
    /// No room for a new key of this client.
    Crowded,
    /// The records cannot be reached.
    Down,
}

impl<T> Keyed<T> {
    /// For metrics and log.
    pub(super) fn state(&self) -> ReplayState {
        match self {
            Self::Performed(_) => ReplayState::Fresh,
            Self::Done(_) => ReplayState::Done,
            Self::Pending => ReplayState::Pending,
            Self::Unknown => ReplayState::Unknown,
            Self::Conflict => ReplayState::Conflict,
            Self::Full => ReplayState::Full,
            Self::Crowded => ReplayState::Crowded,
            Self::Down => ReplayState::Down,
        }
    }
}

impl Keyed<()> {
    /// What a record says of the act that it is about.
    pub(super) fn of(found: Found) -> Self {
        match found.state {
            State::Done(answer) => Self::Done(answer),
            State::Pending => Self::Pending,
            State::Unknown => Self::Unknown,
        }
    }
}

/// The record of a key, before anything else is asked. One of the same act that is pending is waited for.
pub(super) async fn look_up(records: &Records, terms: &Terms) -> Result<Option<Found>, Down> {
    let until = Instant::now() + terms.wait;
    let mut pace = Pace::default();
    loop {
        let found = records.find(terms.key).await?;
        let waits = found.as_ref().is_some_and(|found| {
            found.state == State::Pending && found.fingerprint == terms.fingerprint && Instant::now() < until
        });
        if !waits {
            return Ok(found);
        }
        settled(records, terms.key, until, &mut pace).await;
    }
}

/// Performs the act if the key is free, else says what became of the act that took it.
///
/// `perform` runs at most once, and only when the record that says so is durable. It gives what it came to,
/// and how that is recorded: [`End::Forget`] only where surely nothing happened. When it does not come to an
/// end (a panic, a client that left), the record says unknown.
pub(super) async fn keyed<T>(
    records: &Records,
    terms: &Terms,
    perform: impl AsyncFnOnce(ReceiptId) -> (T, End),
) -> Keyed<T> {
    let until = Instant::now() + terms.wait;
    let mut pace = Pace::default();
    loop {
        let begun = records.begin(terms).await;
        let Found { fingerprint, state, receipt: _, since: _ } = match begun {
            // A full disk can be read: what was done before is told, and nothing new is begun.
            Err(Down) => match records.find(terms.key).await {
                Ok(Some(found)) => found,
                Ok(None) | Err(Down) => return Keyed::Down,
            },
            Ok(Begun::Full) => return Keyed::Full,
            Ok(Begun::Crowded) => return Keyed::Crowded,
            Ok(Begun::Fresh(receipt)) => {
                return Keyed::Performed(once(records, terms.key, receipt, perform).await);
            }
            Ok(Begun::Exists(found)) => found,
        };
        if fingerprint != terms.fingerprint {
            return Keyed::Conflict;
        }
        match state {
            State::Done(answer) => return Keyed::Done(answer),
            State::Unknown => return Keyed::Unknown,
            State::Pending if Instant::now() >= until => return Keyed::Pending,
            // Asked by `begin` again: were it forgotten meanwhile, this act takes its place.
            State::Pending => settled(records, terms.key, until, &mut pace).await,
        }
    }
}

/// Performs what was begun, and records its end before anyone is told of it.
async fn once<T>(
    records: &Records,
    key: Key,
    receipt: ReceiptId,
    perform: impl AsyncFnOnce(ReceiptId) -> (T, End),
) -> T {
    let mut left = Left { records, key, receipt, ended: false };
    let (outcome, end) = perform(receipt).await;
    if records.finish(key, receipt, end).await.is_err() {
        // The client is told the truth all the same; who asks again is told that nobody knows.
        tracing::error!(%key, "an act has ended and its record could not be written");
    }
    left.ended = true;
    outcome
}

/// An act that is left in the middle is recorded as unknown.
struct Left<'r> {
    records: &'r Records,
    key: Key,
    receipt: ReceiptId,
    ended: bool,
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.records.abandon(self.key, self.receipt);
        }
    }
}

/// Waits until the act is no longer pending, or until then.
async fn settled(records: &Records, key: Key, until: Instant, pace: &mut Pace) {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        tokio::time::sleep(pace.next().min(left)).await;
        let found = records.find(key).await;
        let pending = matches!(found, Ok(Some(Found { state: State::Pending, .. })));
        if !pending || Instant::now() >= until {
            return;
        }
    }
}

/// Longer and longer, up to a tenth of a second: the other act may run in another process, and only its record
/// tells.
#[derive(Debug, Default)]
struct Pace(Duration);

impl Pace {
    fn next(&mut self) -> Duration {
        self.0 = (self.0 * 2).clamp(Duration::from_millis(5), Duration::from_millis(100));
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::{Fingerprint, Holder};
    use crate::store::Bounds;

    fn terms(body: &[u8], wait: Duration) -> Terms {
        let time = Duration::from_mins(1);
        let (key, fingerprint) = (Key::of("test", b"k"), Fingerprint::of(body));
        Terms { key, fingerprint, holder: Holder::from([0; 16]), lease: time, keep: time, wait }
    }

    fn records() -> Records {
        Records::in_memory(Bounds::undivided(2, 1 << 20))
    }

    async fn state(records: &Records) -> Option<State> {
        let found = records.find(Key::of("test", b"k")).await.unwrap_or_default();
        found.map(|found| found.state)
    }

    #[tokio::test]
    async fn an_act_that_panics_or_is_dropped_is_unknown_and_not_performed_again() {
        let terms = terms(b"{}", Duration::ZERO);
        for dropped in [false, true] {
            let records = records();
            let task = {
                let records = records.clone();
                tokio::spawn(async move {
                    let act = async |_| -> ((), End) {
                        if dropped {
                            std::future::pending::<()>().await;
                        }
                        panic!("on purpose");
                    };
                    keyed(&records, &terms, act).await
                })
            };
            if dropped {
                while state(&records).await.is_none() {
                    tokio::task::yield_now().await;
                }
                assert_eq!(state(&records).await, Some(State::Pending));
                task.abort();
            }
            assert!(task.await.is_err());
            assert_eq!(state(&records).await, Some(State::Unknown), "dropped: {dropped}");
            let again = keyed(&records, &terms, async |_| unreachable!("performed again")).await;
            assert!(matches!(again, Keyed::<()>::Unknown), "{again:?}");
        }
    }

    #[tokio::test]
    async fn every_state_is_what_the_records_say() {
        let records = records();
        let wait = Duration::from_millis(20);
        let never = async |_| -> ((), End) { unreachable!("performed again") };
        let done = async |_| ((), End::Done(Bytes::from_static(b"told")));
        assert!(matches!(keyed(&records, &terms(b"{}", wait), done).await, Keyed::Performed(())));
        let again = keyed(&records, &terms(b"{}", wait), never).await;
        assert!(matches!(again, Keyed::Done(told) if told == "told"));
        assert!(matches!(keyed(&records, &terms(b"[]", wait), never).await, Keyed::Conflict));

        let other = Terms { key: Key::of("test", b"other"), ..terms(b"{}", wait) };
        let slow = async |_| {
            tokio::time::sleep(3 * wait).await;
            ((), End::Forget)
        };
        let (first, second) = tokio::join!(keyed(&records, &other, slow), keyed(&records, &other, never));
        assert!(matches!(first, Keyed::Performed(())));
        assert!(matches!(second, Keyed::Pending), "{second:?}");
        // Forgotten: the key is free for one who waits long enough.
        let patient = Terms { wait: Duration::from_secs(5), ..other };
        let (first, second) = tokio::join!(keyed(&records, &other, slow), keyed(&records, &patient, done));
        assert!(matches!((first, second), (Keyed::Performed(()), Keyed::Performed(()))));

        let third = Terms { key: Key::of("test", b"third"), ..other };
        assert!(matches!(keyed(&records, &third, never).await, Keyed::Full));
    }
}
