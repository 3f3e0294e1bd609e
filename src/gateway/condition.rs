//! What is known of one server from one moment to the next: shared by all workers, kept over a reload, and
//! never locked on the way of an act that goes well.

use arc_swap::ArcSwapOption;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// When times began to be counted: what is kept in an atomic is a number.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Milliseconds of this process, never zero.
fn moment(now: Instant) -> u64 {
    u64::try_from(now.saturating_duration_since(*START).as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

/// One server's state.
#[derive(Debug)]
pub struct Condition {
    /// Unlike that of any other in this process: what connections are kept under.
    pub id: u64,
    in_flight: AtomicU32,
    connections: AtomicU32,
    up: AtomicBool,
    /// In milliseconds of this process; zero where it is not ejected.
    ejected_until: AtomicU64,
    ejections: AtomicU64,
    /// Whether `row` is more than empty, so that what goes well need not look.
    failing: AtomicBool,
    row: Mutex<Row>,
    addresses: ArcSwapOption<Vec<SocketAddr>>,
    unresolved: AtomicBool,
    lookups_failed: AtomicU64,
    epoch: AtomicU32,
    turn: AtomicUsize,
    /// When it was last told that it cannot be reached.
    pub unreachable: Telling,
    /// When it was last told that its name has no answer.
    pub nameless: Telling,
}

/// When something was last told that would otherwise be told with each act: in milliseconds of this process, zero where it
/// has not been.
#[derive(Debug, Default)]
pub struct Telling(AtomicU64);

/// How often the same is told of one server, in milliseconds.
const TELL_EVERY: u64 = 10_000;

impl Telling {
    /// Whether it is told now, which it then counts as.
    pub fn again(&self, now: Instant) -> bool {
        let (now, before) = (moment(now), self.0.load(Ordering::Relaxed));
        (before == 0 || now >= before.saturating_add(TELL_EVERY))
            && self.0.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// Failures with nothing that went well between them.
#[derive(Debug, Default)]
struct Row {
    count: u32,
    since: u64,
}

impl Default for Condition {
    fn default() -> Self {
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            in_flight: AtomicU32::new(0),
            connections: AtomicU32::new(0),
            // Until something says otherwise: a start does not wait for the first check.
            up: AtomicBool::new(true),
            ejected_until: AtomicU64::new(0),
            ejections: AtomicU64::new(0),
            failing: AtomicBool::new(false),
            row: Mutex::default(),
            addresses: ArcSwapOption::empty(),
            unresolved: AtomicBool::new(false),
            lookups_failed: AtomicU64::new(0),
            epoch: AtomicU32::new(0),
            turn: AtomicUsize::new(0),
            unreachable: Telling::default(),
            nameless: Telling::default(),
        }
    }
}

impl Condition {
    /// Healthy by its checks, where there are any.
    pub fn is_up(&self) -> bool {
        self.up.load(Ordering::Relaxed)
    }

    /// What the checks have found; whether that is news.
    pub fn set_up(&self, up: bool) -> bool {
        self.up.swap(up, Ordering::Relaxed) != up
    }

    /// Ejected, for its failures.
    pub fn is_ejected(&self, now: Instant) -> bool {
        let until = self.ejected_until.load(Ordering::Relaxed);
        until != 0 && moment(now) < until
    }

    /// Up and not ejected: acts go to it first.
    pub fn is_fit(&self, now: Instant) -> bool {
        self.is_up() && !self.is_ejected(now)
    }

    pub(super) fn eject(&self, now: Instant, time: Duration) {
        self.ejected_until.store(moment(now + time), Ordering::Relaxed);
        self.ejections.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn pardon(&self) {
        self.ejected_until.store(0, Ordering::Relaxed);
    }

    /// One more failure; whether they are now so many, the first of them no longer ago than that.
    pub(super) fn fail(&self, now: Instant, failures: u32, within: Duration) -> bool {
        let now = moment(now);
        let within = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        let mut row = self.row.lock().unwrap_or_else(PoisonError::into_inner);
        if row.count == 0 || now.saturating_sub(row.since) > within {
            *row = Row { count: 0, since: now };
        }
        row.count += 1;
        let full = row.count >= failures;
        if full {
            row.count = 0;
        }
        self.failing.store(!full, Ordering::Relaxed);
        full
    }

    /// The row of failures is over.
    pub(super) fn succeed(&self) {
        if self.failing.load(Ordering::Relaxed) {
            self.row.lock().unwrap_or_else(PoisonError::into_inner).count = 0;
            self.failing.store(false, Ordering::Relaxed);
        }
    }

    /// How often it was ejected.
    pub fn ejections(&self) -> u64 {
        self.ejections.load(Ordering::Relaxed)
    }

    /// Acts under way.
    pub fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Connections open, idle or not.
    pub fn connections(&self) -> u32 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Room for one act more; never more than `most` at once.
    pub(super) fn enter(&self, most: Option<u32>) -> Option<Lease<'_>> {
        match most {
            None => {
                self.in_flight.fetch_add(1, Ordering::Relaxed);
            }
            Some(most) => {
                let more = |count| (count < most).then_some(count + 1);
                self.in_flight.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
            }
        }
        Some(Lease(self))
    }

    /// Its addresses, once its name has been looked up.
    pub fn addresses(&self) -> Option<Arc<Vec<SocketAddr>>> {
        self.addresses.load_full()
    }

    /// Its name has been looked up, and had no answer yet.
    pub fn is_unresolved(&self) -> bool {
        self.unresolved.load(Ordering::Relaxed)
    }

    /// How often its name had no answer.
    pub fn lookups_failed(&self) -> u64 {
        self.lookups_failed.load(Ordering::Relaxed)
    }

    /// Its name has these addresses; whether that is news.
    pub fn set_addresses(&self, mut found: Vec<SocketAddr>) -> bool {
        found.sort_unstable();
        found.dedup();
        self.unresolved.store(false, Ordering::Relaxed);
        if self.addresses.load().as_deref() == Some(&found) {
            return false;
        }
        self.addresses.store(Some(Arc::new(found)));
        self.epoch.fetch_add(1, Ordering::Release);
        true
    }

    /// Its name has no answer. What was known stays.
    pub fn set_unresolved(&self) {
        self.lookups_failed.fetch_add(1, Ordering::Relaxed);
        self.unresolved.store(self.addresses.load().is_none(), Ordering::Relaxed);
    }

    /// Changes with its addresses.
    pub fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Whether a connection to there is one to this server, as far as is known now.
    pub fn is_at(&self, address: SocketAddr) -> bool {
        self.addresses.load().as_ref().is_none_or(|known| known.binary_search(&address).is_ok())
    }

    /// Where the next connection begins among its addresses: all are used.
    pub fn turn(&self) -> usize {
        self.turn.fetch_add(1, Ordering::Relaxed)
    }
}

/// One act under way, while it lives.
#[derive(Debug)]
pub struct Lease<'s>(&'s Condition);

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One open connection, while it lives.
#[derive(Debug)]
pub struct Open(Arc<Condition>);

impl Open {
    /// Counts one.
    pub fn to(condition: &Arc<Condition>) -> Self {
        condition.connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(condition))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_failures_ends_with_its_time_or_with_what_goes_well() {
        let (condition, start) = (Condition::default(), Instant::now());
        let second = Duration::from_secs(1);
        let fail = |at: u32| condition.fail(start + at * second, 3, 10 * second);
        assert_eq!([fail(0), fail(1), fail(2)], [false, false, true]);
        assert_eq!([fail(3), fail(4)], [false, false]);
        condition.succeed();
        assert_eq!([fail(5), fail(6), fail(7)], [false, false, true]);
        assert_eq!([fail(8), fail(9), fail(30), fail(31), fail(32)], [false, false, false, false, true]);
        condition.eject(start, 5 * second);
        assert!(condition.is_ejected(start + 4 * second) && !condition.is_ejected(start + 6 * second));
    }

    #[test]
    fn the_same_is_told_every_ten_seconds() {
        let (told, start) = (Telling::default(), Instant::now());
        let again = |seconds: u64| told.again(start + Duration::from_secs(seconds));
        assert_eq!(
            [again(0), again(1), again(9), again(10), again(11), again(30)],
            [true, false, false, true, false, true]
        );
    }

    #[test]
    fn no_more_than_there_is_room_for() {
        let condition = Condition::default();
        let held: Vec<_> = (0..3).filter_map(|_| condition.enter(Some(2))).collect();
        assert_eq!((held.len(), condition.in_flight()), (2, 2));
        drop(held);
        assert_eq!(condition.in_flight(), 0);
        let most = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        if let Some(_lease) = condition.enter(Some(2)) {
                            most.fetch_max(condition.in_flight(), Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
        assert_eq!(condition.in_flight(), 0);
    }

    #[test]
    fn the_last_good_answer_is_kept() {
        let condition = Condition::default();
        let address = |last: u8| SocketAddr::from(([127, 0, 0, last], 80));
        condition.set_unresolved();
        assert!(condition.is_unresolved() && condition.addresses().is_none());
        assert!(condition.set_addresses(vec![address(2), address(1), address(2)]));
        assert!(!condition.is_unresolved());
        assert_eq!(*condition.addresses().unwrap(), [address(1), address(2)]);
        let epoch = condition.epoch();
        assert!(!condition.set_addresses(vec![address(1), address(2)]));
        condition.set_unresolved();
        assert!(!condition.is_unresolved());
        assert_eq!((condition.epoch(), condition.addresses().unwrap().len()), (epoch, 2));
        assert!(condition.set_addresses(vec![address(3)]));
        assert!(condition.epoch() != epoch && condition.is_at(address(3)) && !condition.is_at(address(1)));
    }
}
