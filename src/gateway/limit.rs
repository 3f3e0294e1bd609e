//! Rates: GCRA per client and route, with bounded memory.
//!
//! `governor` does the arithmetic; the store is ours, because a keyed limiter that never forgets is
//! memory in the hands of whoever can send from many addresses.

use super::head::ClientKey;
use crate::bounds::Frequency;
use crate::reason::{Face, Rejection};
use governor::clock::{Clock, DefaultClock};
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;
use governor::{Quota, RateLimiter};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The rates of one route; `None` is "none", said explicitly in the file.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Arrivals.
    pub get: Option<Arc<Limiter>>,
    /// Acts, refused or not.
    pub post: Option<Arc<Limiter>>,
    /// Refused acts. A client that has used them up cannot act until some have come back.
    pub refused: Option<Arc<Limiter>>,
    /// Where what is used up of the last two is counted together with other instances. Arrivals are not: they are
    /// bytes that are there, and asking would cost more than answering.
    shared: Option<Sharing>,
}

/// A rate of one route, as every instance names it: one that changes is another account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    name: [u8; 32],
    /// Until one is given back.
    pub period: Duration,
    /// At once.
    pub burst: u32,
}

impl Account {
    pub(super) fn of(kind: &str, route: &str, rate: Frequency) -> Self {
        let Frequency { period, burst } = rate;
        let name = Sha256::new()
            .chain_update(format!("{kind} {route}\0"))
            .chain_update(period.as_nanos().to_be_bytes())
            .chain_update(burst.get().to_be_bytes());
        Self { name: name.finalize().into(), period, burst: burst.get() }
    }

    /// Its name.
    pub fn as_bytes(&self) -> &[u8] {
        &self.name
    }
}

/// What an act still has to be taken of, where several instances count together; what this process counts has been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due<'g> {
    /// Whom it is counted against.
    pub client: ClientKey,
    /// One is taken of this.
    pub take: Option<&'g Account>,
    /// Of this one must be left.
    pub look: Option<&'g Account>,
}

/// Where refused acts are counted over all instances. Not waited for.
pub trait Ledger: std::fmt::Debug + Send + Sync {
    /// Takes one, whether there is one or not.
    fn note(&self, account: &Account, client: ClientKey);
}

#[derive(Debug, Clone)]
struct Sharing {
    post: Option<Account>,
    refused: Option<Account>,
    ledger: Arc<dyn Ledger>,
}

impl Limits {
    /// `keys` bounds the clients remembered by each of the three.
    pub fn new(
        get: Option<Frequency>,
        post: Option<Frequency>,
        refused: Option<Frequency>,
        keys: usize,
    ) -> Self {
        let limiter = |rate: Option<Frequency>| rate.map(|rate| Arc::new(Limiter::new(rate, keys)));
        Self { get: limiter(get), post: limiter(post), refused: limiter(refused), shared: None }
    }

    /// No limit at all.
    pub fn none() -> Self {
        Self { get: None, post: None, refused: None, shared: None }
    }

    /// From now on counted together with other instances. `route` is what they call it, too.
    pub fn share(&mut self, route: &str, ledger: &Arc<dyn Ledger>) {
        let account = |kind, limiter: &Option<Arc<Limiter>>| {
            limiter.as_ref().map(|limiter| Account::of(kind, route, limiter.rate))
        };
        let (post, refused) = (account("post", &self.post), account("refused", &self.refused));
        if post.is_some() || refused.is_some() {
            self.shared = Some(Sharing { post, refused, ledger: Arc::clone(ledger) });
        }
    }

    /// What an act of this client has to be taken of elsewhere.
    pub(super) fn due(&self, client: ClientKey) -> Option<Due<'_>> {
        let Sharing { post, refused, ledger: _ } = self.shared.as_ref()?;
        Some(Due { client, take: post.as_ref(), look: refused.as_ref() })
    }

    /// Counts a request that is turned away against its client, if it is refused by that (DESIGN 4, limits).
    pub(super) fn note(&self, client: ClientKey, rejection: &Rejection) {
        if rejection.face() == Face::Refused {
            self.note_refused(client);
        }
    }

    /// Counts a refused act against a client.
    pub(super) fn note_refused(&self, client: ClientKey) {
        if let Some(limiter) = &self.refused {
            // Whether there was one left is asked before the next act, not of this one.
            let _ = limiter.take(client);
        }
        if let Some(Sharing { refused: Some(account), ledger, .. }) = &self.shared {
            ledger.note(account, client);
        }
    }

    /// Whether both say the same rates.
    pub(super) fn same_rates(&self, other: &Self) -> bool {
        let rates = |limits: &Self| {
            [&limits.get, &limits.post, &limits.refused]
                .map(|limiter| limiter.as_ref().map(|limiter| limiter.rate))
        };
        rates(self) == rates(other)
    }

    /// Takes over what `older` remembers of clients, wherever the rate is the same: a reload
    /// forgives nothing.
    pub fn inherit(&mut self, older: &Self) {
        inherit(&mut self.get, older.get.as_ref());
        inherit(&mut self.post, older.post.as_ref());
        inherit(&mut self.refused, older.refused.as_ref());
    }

    /// All that there are.
    pub fn each(&self) -> impl Iterator<Item = &Arc<Limiter>> {
        [&self.get, &self.post, &self.refused].into_iter().flatten()
    }
}

fn inherit(newer: &mut Option<Arc<Limiter>>, older: Option<&Arc<Limiter>>) {
    if let (Some(newer), Some(older)) = (newer, older)
        && newer.rate == older.rate
        && newer.keys == older.keys
    {
        *newer = Arc::clone(older);
    }
}

/// One rate and what it remembers of each client.
pub struct Limiter {
    rate: Frequency,
    keys: usize,
    inner: RateLimiter<Probe, Clients, DefaultClock>,
}

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limiter").field("rate", &self.rate).finish_non_exhaustive()
    }
}

impl Limiter {
    fn new(rate: Frequency, keys: usize) -> Self {
        // A zero period cannot come from the file; were it to, the strictest reading is safe.
        let quota = Quota::with_period(rate.period)
            .unwrap_or_else(|| Quota::per_hour(NonZeroU32::MIN))
            .allow_burst(rate.burst);
        let inner = RateLimiter::new(quota, Clients::new(keys), DefaultClock::default());
        Self { rate, keys, inner }
    }

    /// Takes one; `Err` is how long until there is one again.
    pub fn take(&self, client: ClientKey) -> Result<(), Duration> {
        self.ask(Probe { client, takes: true })
    }

    /// Whether there is one to take, without taking it.
    pub fn peek(&self, client: ClientKey) -> Result<(), Duration> {
        self.ask(Probe { client, takes: false })
    }

    fn ask(&self, probe: Probe) -> Result<(), Duration> {
        self.inner.check_key(&probe).map_err(|not_until| not_until.wait_time_from(self.inner.clock().now()))
    }

    /// Forgets clients whose allowance is whole again.
    pub fn sweep(&self) {
        self.inner.retain_recent();
    }

    /// Clients remembered now.
    pub fn clients(&self) -> usize {
        self.inner.len()
    }
}

/// A client, and whether asking takes: governor has no way to look without taking, so the store
/// leaves the state as it was when the key says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Probe {
    client: ClientKey,
    takes: bool,
}

const SHARDS: usize = 16;

/// A bounded keyed store. When a shard is full, clients that it does not know share one state: they
/// are limited together rather than not at all, and those known keep their own.
struct Clients {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
    per_shard: usize,
}

#[derive(Default)]
struct Shard {
    known: HashMap<ClientKey, Nanos>,
    crowd: Option<Nanos>,
}

impl Clients {
    fn new(keys: usize) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            per_shard: keys.div_ceil(SHARDS).max(1),
        }
    }
}

impl StateStore for Clients {
    type Key = Probe;

    fn measure_and_replace<T, F, E>(&self, probe: &Probe, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let hash = self.hasher.hash_one(probe.client);
        let index = usize::try_from(hash % SHARDS as u64).unwrap_or(0);
        let mut shard = self.shards[index].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = shard.known.get_mut(&probe.client) {
            let (outcome, next) = f(Some(*state))?;
            if probe.takes {
                *state = next;
            }
            return Ok(outcome);
        }
        let full = shard.known.len() >= self.per_shard;
        let (outcome, next) = f(if full { shard.crowd } else { None })?;
        if probe.takes {
            if full {
                shard.crowd = Some(next);
            } else {
                shard.known.insert(probe.client, next);
            }
        }
        Ok(outcome)
    }
}

impl ShrinkableKeyedStateStore<Probe> for Clients {
    fn retain_recent(&self, drop_below: Nanos) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.known.retain(|_, state| *state > drop_below);
            let room = shard.known.len() * 2;
            if shard.known.capacity() > room.max(64) {
                shard.known.shrink_to(room);
            }
        }
    }

    fn shrink_to_fit(&self) {}

    fn len(&self) -> usize {
        let count = |shard: &Mutex<Shard>| shard.lock().unwrap_or_else(PoisonError::into_inner).known.len();
        self.shards.iter().map(count).sum()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    fn client(n: u32) -> ClientKey {
        ClientKey::of(IpAddr::V4(Ipv4Addr::from(n)))
    }

    fn rate(burst: u32) -> Frequency {
        Frequency { period: Duration::from_mins(1), burst: NonZeroU32::new(burst).unwrap() }
    }

    #[test]
    fn a_burst_and_no_more_and_peeking_takes_nothing() {
        let limiter = Limiter::new(rate(3), 100);
        for _ in 0..10 {
            assert!(limiter.peek(client(1)).is_ok());
        }
        for _ in 0..3 {
            assert!(limiter.take(client(1)).is_ok());
        }
        let wait = limiter.take(client(1)).unwrap_err();
        assert!(wait > Duration::from_secs(50) && wait <= Duration::from_mins(1), "{wait:?}");
        assert!(limiter.peek(client(1)).is_err());
        assert!(limiter.take(client(2)).is_ok());
    }

    #[test]
    fn keys_are_bounded_and_the_crowd_is_limited_together() {
        let limiter = Limiter::new(rate(1), 160);
        let passed = (0..100_000).filter(|n| limiter.take(client(*n)).is_ok()).count();
        assert_eq!(limiter.clients(), 160);
        assert!(passed <= 160 + SHARDS, "{passed}");
        assert!(passed >= 160, "{passed}");
    }

    #[test]
    fn a_reload_forgives_nothing() {
        let older = Limits::new(None, Some(rate(1)), None, 10);
        assert!(older.post.as_ref().unwrap().take(client(1)).is_ok());
        let mut same = Limits::new(None, Some(rate(1)), None, 10);
        same.inherit(&older);
        assert!(same.post.as_ref().unwrap().take(client(1)).is_err());
        let mut other = Limits::new(None, Some(rate(2)), None, 10);
        other.inherit(&older);
        assert!(other.post.as_ref().unwrap().take(client(1)).is_ok());
    }
}
