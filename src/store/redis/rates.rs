//! Rates that hold over all instances.

use super::Shared;
use super::script::Rate;
use crate::config::Policy;
use crate::gateway::{Account, ClientKey, Due, Ledger};
use crate::reason::{Reason, Rejection};
use crate::telemetry::StoreAsk;
use redis::{FromRedisValue, ParsingError, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Notes on their way at once. One that is lost is counted here all the same, by the limiter of this process.
const NOTES: usize = 1024;

/// Microseconds until there is one again; none where there was one. Only a number that the script can have said: the
/// crate would take a text for it, and -1 for 2^64 - 1.
#[derive(Debug, PartialEq, Eq)]
struct Wait(u64);

impl FromRedisValue for Wait {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        let wait = match value {
            Value::Int(wait) => u64::try_from(wait).ok(),
            _ => None,
        };
        wait.map(Self).ok_or_else(|| "not a wait".into())
    }
}

/// What clients have used up, as all instances count it.
#[derive(Debug)]
pub struct Rates {
    shared: Shared,
    when_down: Policy,
    notes: Arc<AtomicUsize>,
}

impl Rates {
    pub(in crate::store) fn new(shared: Shared, when_down: Policy) -> Self {
        Self { shared, when_down, notes: Arc::default() }
    }

    /// Takes what is due for an act. This process has counted it already: while the server is down, that is all there
    /// is to go by, or nothing is done.
    pub async fn pay(&self, due: &Due<'_>) -> Result<(), Rejection> {
        let rate = |account: &Account, takes| self.rate(account, due.client, takes);
        let take = due.take.map(|account| rate(account, true));
        let look = due.look.map(|account| rate(account, false));
        let rates: Vec<Rate> = take.into_iter().chain(look).collect();
        let call = self.shared.link.scripts.take(&rates);
        match (self.shared.link.ask::<Wait>(StoreAsk::Take, &call).await, self.when_down) {
            (Ok(Wait(0)), _) | (Err(_), Policy::Local) => Ok(()),
            (Ok(Wait(wait)), _) => Err(Rejection::throttled(Duration::from_micros(wait))),
            (Err(_), Policy::Refuse) => Err(Reason::LimitsDown.into()),
        }
    }

    /// What happens to acts while the server is down.
    pub fn when_down(&self) -> Policy {
        self.when_down
    }

    /// The server cannot be used.
    pub fn trouble(&self) -> Option<super::Trouble> {
        self.shared.trouble()
    }

    fn rate(&self, account: &Account, client: ClientKey, takes: bool) -> Rate {
        let name = self.shared.name("rate", &[account.as_bytes(), &client.as_bytes()]);
        Rate { name, takes, period: account.period.as_secs_f64() * 1e6, burst: account.burst }
    }
}

impl Ledger for Rates {
    /// Not waited for.
    fn note(&self, account: &Account, client: ClientKey) {
        let notes = Arc::clone(&self.notes);
        if notes.fetch_add(1, Ordering::Relaxed) >= NOTES {
            notes.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let rate = self.rate(account, client, true);
        let link = Arc::clone(&self.shared.link);
        self.shared.thread.spawn(async move {
            // Whether there was one left is asked before the next act.
            let _ = link.ask::<Wait>(StoreAsk::Note, &link.scripts.take(&[rate])).await;
            notes.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_is_an_allowance() {
        let read = |value| Wait::from_redis_value(value).ok();
        assert_eq!(read(Value::Int(0)), Some(Wait(0)));
        assert_eq!(read(Value::Int(7)), Some(Wait(7)));
        let text = |text: &str| [Value::SimpleString(text.to_owned()), Value::BulkString(text.into())];
        let others = [Value::Int(-1), Value::Nil, Value::Okay, Value::Array(vec![Value::Int(0)])];
        for value in others.into_iter().chain(text("0")).chain(text("")) {
            assert_eq!(read(value.clone()), None, "{value:?}");
        }
    }
}
