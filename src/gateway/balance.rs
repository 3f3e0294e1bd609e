//! Which server an act goes to, and which get none for a while. Decisions only: `edge` connects and tells what
//! came of it.

use super::condition::{Condition, Lease};
use super::consequence::UpstreamResult;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Servers that an upstream may have: which were tried is one word.
pub const MOST_SERVERS: usize = 64;

/// How an act finds its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Balance {
    /// One after the other, each as often as it weighs.
    RoundRobin,
    /// The one with the fewest acts under way for its weight.
    LeastInFlight,
    /// The same one for the same key (rendezvous hashing: a server that comes or goes moves only its own share).
    Hash(HashBy),
}

/// What acts that belong together have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HashBy {
    /// The client: an address, an IPv6 /64, or the name of a token.
    Client,
    /// A scalar of the body, by JSON Pointer (RFC 6901); the client where there is none.
    Member(String),
}

/// When a server that fails gets no acts, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ejection {
    /// So many failures in a row …
    pub failures: u32,
    /// … no further apart than this.
    pub within: Duration,
    /// How long it gets none.
    pub time: Duration,
    /// Servers ejected at once, of a hundred; one of two or more always may be, the last that is fit never.
    pub max_percent: u32,
}

/// What is asked of a server, and how often, to know whether it is up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HealthCheck {
    /// Path and query of the GET.
    pub path: String,
    /// `Host`, when it is not the server's own.
    pub host: Option<String>,
    /// From one check to the next.
    pub interval: Duration,
    /// From the connect to the status.
    pub timeout: Duration,
    /// Good checks in a row until it is up again.
    pub healthy: u32,
    /// Bad checks in a row until it is down.
    pub unhealthy: u32,
    /// `/readyz` says no while none of the servers is up.
    pub fails_readiness: bool,
}

/// The checks of one server, in a row that say the other thing than it stands at.
#[derive(Debug, Default)]
pub struct Streak(u32);

impl Streak {
    /// One more check of a server that stands at `up`; where it stands now.
    pub fn observe(&mut self, rule: &HealthCheck, up: bool, good: bool) -> bool {
        self.0 = if up == good { 0 } else { self.0 + 1 };
        let turns = self.0 >= if up { rule.unhealthy } else { rule.healthy };
        if turns {
            self.0 = 0;
        }
        up != turns
    }
}

/// What one exchange says about the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experience {
    /// It does what servers do.
    Well,
    /// It could not be reached, said nothing, broke off, or said itself that it is in no state to answer.
    Badly,
}

impl Experience {
    /// 500 is not among the failures: one body that a backend chokes on, sent again and again, would take the servers
    /// away from everyone. Nothing is learned from a kept connection that was gone.
    pub fn of(result: UpstreamResult, status: Option<u16>) -> Option<Self> {
        match result {
            UpstreamResult::Unknown | UpstreamResult::Broken => Some(Self::Badly),
            UpstreamResult::NotSent | UpstreamResult::Full => None,
            UpstreamResult::Failed if matches!(status, Some(502..=504)) => Some(Self::Badly),
            UpstreamResult::Json
            | UpstreamResult::Empty
            | UpstreamResult::Text
            | UpstreamResult::NotJson
            | UpstreamResult::Encoded
            | UpstreamResult::TooLarge
            | UpstreamResult::Redirected
            | UpstreamResult::Refused
            | UpstreamResult::Misconfigured
            | UpstreamResult::Throttled
            | UpstreamResult::Failed => Some(Self::Well),
        }
    }
}

/// What one server brings to the fleet.
#[derive(Debug, Clone)]
pub struct Seat {
    /// 1 to 100.
    pub weight: u32,
    /// Acts under way at once.
    pub max_in_flight: Option<u32>,
    /// Shared with every generation in which the server stays.
    pub condition: Arc<Condition>,
    /// Of its name, for rendezvous hashing: the same in every process.
    identity: u64,
}

impl Seat {
    /// A server of this name, of which nothing is known yet.
    pub fn new(name: &str, weight: u32, max_in_flight: Option<u32>) -> Self {
        Self { weight, max_in_flight, condition: Arc::default(), identity: hash(name.as_bytes()) }
    }
}

/// The servers of an upstream, 1 to [`MOST_SERVERS`], and how acts are spread over them.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// How an act finds its server.
    pub balance: Balance,
    /// When a server is left out for a while.
    pub eject: Option<Ejection>,
    seats: Vec<Seat>,
    /// Seats in the order of their turns.
    schedule: Vec<u8>,
    turn: Arc<AtomicUsize>,
    /// One ejection at a time: two at once could be the last two.
    ejecting: Arc<Mutex<()>>,
}

impl Fleet {
    /// In the order of the file.
    pub fn new(balance: Balance, eject: Option<Ejection>, seats: Vec<Seat>) -> Self {
        let schedule = schedule(&seats.iter().map(|seat| seat.weight).collect::<Vec<_>>());
        Self { balance, eject, seats, schedule, turn: Arc::default(), ejecting: Arc::default() }
    }

    /// In the order of the file.
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// Goes on with what is known of a server: seat `own` here was seat `theirs` there.
    pub(super) fn inherit(&mut self, own: usize, older: &Self, theirs: usize) {
        self.turn = Arc::clone(&older.turn);
        self.ejecting = Arc::clone(&older.ejecting);
        self.seats[own].condition = Arc::clone(&older.seats[theirs].condition);
        if self.eject.is_none() {
            self.seats[own].condition.pardon();
        }
    }

    /// The servers for one act, in the order in which they are to be tried.
    pub fn round(&self, affinity: u64, now: Instant) -> Round<'_> {
        Round { fleet: self, affinity, now, turn: None, tried: 0, any: false, full: false }
    }

    /// An exchange with a server went well.
    pub fn note_well(&self, number: usize) {
        if self.eject.is_some() {
            self.seats[number].condition.succeed();
        }
    }

    /// A connect failed, or an exchange went badly. Whether the server is ejected for it.
    pub fn note_badly(&self, number: usize, now: Instant) -> bool {
        self.eject.is_some_and(|rule| {
            self.seats[number].condition.fail(now, rule.failures, rule.within)
                && self.eject(number, rule, now)
        })
    }

    fn eject(&self, number: usize, rule: Ejection, now: Instant) -> bool {
        let _one = self.ejecting.lock().unwrap_or_else(PoisonError::into_inner);
        let others = || self.seats.iter().enumerate().filter(|(other, _)| *other != number);
        let ejected = others().filter(|(_, seat)| seat.condition.is_ejected(now)).count();
        let most = (self.seats.len() * rule.max_percent as usize / 100).max(1);
        let may = ejected < most && others().any(|(_, seat)| seat.condition.is_fit(now));
        if may {
            self.seats[number].condition.eject(now, rule.time);
        }
        may
    }
}

/// Why no server took an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// None could be reached.
    Unreachable,
    /// One or more are at `max_in_flight`.
    Full,
}

/// One act on its way to a server. Each is tried once; those that are down or ejected only where no other can be
/// reached. Where one that is fit is merely full, they are left alone.
#[derive(Debug)]
pub struct Round<'f> {
    fleet: &'f Fleet,
    affinity: u64,
    now: Instant,
    turn: Option<usize>,
    tried: u64,
    any: bool,
    full: bool,
}

impl<'f> Round<'f> {
    /// The next one with room, and that room.
    pub fn try_next(&mut self) -> Result<(usize, Lease<'f>), Exhausted> {
        loop {
            let Some(number) = self.choose() else {
                // Nothing was sent yet: one that is thought to be down is worth a try before nothing is.
                if !self.any && !self.full {
                    self.any = true;
                    continue;
                }
                return Err(if self.full { Exhausted::Full } else { Exhausted::Unreachable });
            };
            self.tried |= 1 << number;
            let seat = &self.fleet.seats[number];
            match seat.condition.enter(seat.max_in_flight) {
                Some(lease) => return Ok((number, lease)),
                None => self.full = true,
            }
        }
    }

    fn choose(&mut self) -> Option<usize> {
        // One server is all there are, fit or not.
        if self.fleet.seats.len() == 1 {
            return (self.tried == 0).then_some(0);
        }
        match self.fleet.balance {
            Balance::RoundRobin => self.in_turn(),
            Balance::LeastInFlight => self.least(),
            Balance::Hash(_) => self.ranked(),
        }
    }

    fn is_open(&self, number: usize) -> bool {
        self.tried & (1 << number) == 0 && (self.any || self.fleet.seats[number].condition.is_fit(self.now))
    }

    fn open(&self) -> impl Iterator<Item = (usize, &'f Seat)> {
        let seats = self.fleet.seats.iter().enumerate();
        seats.filter(|(number, _)| self.is_open(*number))
    }

    fn turn(&mut self) -> usize {
        let fleet = self.fleet;
        *self.turn.get_or_insert_with(|| fleet.turn.fetch_add(1, Ordering::Relaxed))
    }

    fn in_turn(&mut self) -> Option<usize> {
        let turn = self.turn();
        let schedule = &self.fleet.schedule;
        let first = usize::from(schedule[turn % schedule.len()]);
        if self.is_open(first) {
            return Some(first);
        }
        // Spread over all that are open: the next in turn would get the share of this one whole.
        let total: u64 = self.open().map(|(_, seat)| u64::from(seat.weight)).sum();
        let mut left = mix(turn as u64).checked_rem(total)?;
        self.open()
            .find(|(_, seat)| match left.checked_sub(u64::from(seat.weight)) {
                None => true,
                Some(rest) => {
                    left = rest;
                    false
                }
            })
            .map(|(number, _)| number)
    }

    fn least(&mut self) -> Option<usize> {
        let (turn, count) = (self.turn(), self.fleet.seats.len());
        let load = |number: &usize| {
            let seat = &self.fleet.seats[*number];
            // One more act, for its weight; in whole numbers.
            (u64::from(seat.condition.in_flight()) + 1) * 1_000_000 / u64::from(seat.weight)
        };
        // Among equals another one each time, and none because its neighbour is out.
        let shuffled = |number: &usize| mix((turn.wrapping_mul(MOST_SERVERS).wrapping_add(*number)) as u64);
        (0..count)
            .filter(|number| self.is_open(*number))
            .min_by_key(|number| (load(number), shuffled(number)))
    }

    fn ranked(&self) -> Option<usize> {
        let score = |seat: &Seat| {
            #[expect(clippy::cast_precision_loss, reason = "53 bits are what a double holds")]
            let drawn = (mix(self.affinity ^ seat.identity) >> 11) as f64 + 0.5;
            f64::from(seat.weight) / -(drawn / 9_007_199_254_740_992.0).ln()
        };
        self.open().max_by(|(_, a), (_, b)| score(a).total_cmp(&score(b))).map(|(number, _)| number)
    }
}

/// Every seat as often as it weighs, and those of one seat far apart (each step, the one that is furthest behind).
fn schedule(weights: &[u32]) -> Vec<u8> {
    let divisor = weights.iter().fold(0, |a, b| gcd(a, *b)).max(1);
    let weights: Vec<i64> = weights.iter().map(|weight| i64::from(weight / divisor)).collect();
    let total: i64 = weights.iter().sum();
    let mut behind = vec![0; weights.len()];
    (0..total)
        .map(|_| {
            for (behind, weight) in behind.iter_mut().zip(&weights) {
                *behind += weight;
            }
            // The first of equals.
            let next = (0..weights.len()).rev().max_by_key(|seat| behind[*seat]).unwrap_or(0);
            behind[next] -= total;
            u8::try_from(next).unwrap_or(0)
        })
        .collect()
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// FNV-1a, then mixed: the same in every process and version.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    mix(bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold))
}

/// The last steps of `SplitMix64`: every bit of the result depends on every bit given.
pub(super) fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests;
