//! Memory, a file, a file that two have open, and a Redis that two share, against a map of twenty lines: whatever is
//! asked in whatever order, they say the same.

use super::server::{Server, Tenant};
use super::{
    Begun, Bounds, End, Fingerprint, Found, Holder, Holding, Home, Key, OVERHEAD, ReceiptId, Records, State,
    Terms,
};
use bytes::Bytes;
use proptest::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

const MINUTE: Duration = Duration::from_mins(1);

#[derive(Debug, Clone)]
enum Step {
    Begin {
        key: u8,
        holder: u8,
        fingerprint: u8,
        lease: u32,
        keep: u32,
    },
    Finish {
        key: u8,
        end: End,
    },
    /// An end that comes late: of the act before, under the receipt of that.
    FinishLate {
        key: u8,
        end: End,
    },
    Abandon {
        key: u8,
    },
    Find {
        key: u8,
    },
    /// By the name it was last begun under.
    Receipt {
        key: u8,
    },
    Skip {
        minutes: u32,
    },
    Sweep,
    /// Every process ends and they start again: nothing for memory. What was pending in a file is nobody's; in a server
    /// that goes on it has its lease.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..5u8;
    let end = prop_oneof![
        (0..300usize).prop_map(|length| End::Done(Bytes::from(vec![b'x'; length]))),
        Just(End::Unknown),
        Just(End::Forget),
    ];
    prop_oneof![
        6 => (key.clone(), 0..2u8, 0..2u8, 1..4u32, 1..6u32).prop_map(
            |(key, holder, fingerprint, lease, keep)| Step::Begin { key, holder, fingerprint, lease, keep }
        ),
        4 => (key.clone(), end.clone()).prop_map(|(key, end)| Step::Finish { key, end }),
        2 => (key.clone(), end).prop_map(|(key, end)| Step::FinishLate { key, end }),
        1 => key.clone().prop_map(|key| Step::Abandon { key }),
        3 => key.clone().prop_map(|key| Step::Find { key }),
        2 => key.prop_map(|key| Step::Receipt { key }),
        2 => (0..3u32).prop_map(|minutes| Step::Skip { minutes }),
        1 => Just(Step::Sweep),
        1 => Just(Step::Restart),
    ]
}

/// What must hold, in minutes.
#[derive(Default)]
struct Model {
    now: u32,
    records: HashMap<u8, Kept>,
}

struct Kept {
    holder: u8,
    fingerprint: u8,
    state: State,
    lease: u32,
    expires: u32,
}

#[derive(Debug, PartialEq, Eq)]
enum Said {
    Fresh,
    Full,
    Crowded,
    Nothing,
    Found(Fingerprint, State),
}

impl Model {
    fn find(&self, key: u8) -> Said {
        let Some(kept) = self.records.get(&key) else { return Said::Nothing };
        let lapsed = kept.state == State::Pending && kept.lease <= self.now;
        let state = if lapsed { State::Unknown } else { kept.state.clone() };
        Said::Found(Fingerprint::of(&[kept.fingerprint]), state)
    }

    fn used(&self, of: impl Fn(u8) -> bool) -> Holding {
        let answer = |kept: &Kept| match &kept.state {
            State::Done(answer) => answer.len() as u64,
            State::Pending | State::Unknown => 0,
        };
        let records: Vec<_> = self.records.values().filter(|kept| of(kept.holder)).collect();
        let bytes = records.iter().map(|kept| OVERHEAD + answer(kept)).sum();
        Holding { records: records.len() as u64, bytes }
    }

    fn full(&self, bounds: Bounds) -> bool {
        let used = self.used(|_| true);
        used.records >= bounds.all.records || used.bytes >= bounds.all.bytes
    }

    fn crowded(&self, bounds: Bounds, holder: u8) -> bool {
        let (used, own) = (self.used(|_| true), self.used(|other| other == holder));
        (used.records > bounds.all.records / 2 || used.bytes > bounds.all.bytes / 2)
            && (own.records >= bounds.client.records || own.bytes >= bounds.client.bytes)
    }

    fn take(&mut self, step: &Step, bounds: Bounds, restart: Restart) -> Said {
        let now = self.now;
        self.records.retain(|_, kept| kept.expires > now);
        match step {
            Step::Begin { key, holder, fingerprint, lease, keep } => match self.find(*key) {
                Said::Nothing if self.full(bounds) => Said::Full,
                Said::Nothing if self.crowded(bounds, *holder) => Said::Crowded,
                Said::Nothing => {
                    let (lease, expires) = (now + lease, now + keep.max(lease));
                    let (state, holder, fingerprint) = (State::Pending, *holder, *fingerprint);
                    self.records.insert(*key, Kept { holder, fingerprint, state, lease, expires });
                    Said::Fresh
                }
                said => said,
            },
            Step::Finish { key, end } => self.finish(*key, end),
            Step::Abandon { key } => self.finish(*key, &End::Unknown),
            Step::Find { key } | Step::Receipt { key } => self.find(*key),
            Step::Skip { minutes } => {
                self.now += minutes;
                Said::Nothing
            }
            Step::Restart if restart == Restart::EndsPending => {
                for kept in self.records.values_mut().filter(|kept| kept.state == State::Pending) {
                    kept.state = State::Unknown;
                }
                Said::Nothing
            }
            Step::FinishLate { .. } | Step::Sweep | Step::Restart => Said::Nothing,
        }
    }

    fn finish(&mut self, key: u8, end: &End) -> Said {
        if let Some(kept) = self.records.get_mut(&key).filter(|kept| kept.state == State::Pending) {
            match end {
                End::Done(answer) => kept.state = State::Done(answer.clone()),
                End::Unknown => kept.state = State::Unknown,
                End::Forget => drop(self.records.remove(&key)),
            }
        }
        Said::Nothing
    }
}

fn said(found: Option<Found>) -> Said {
    found.map_or(Said::Nothing, |found| Said::Found(found.fingerprint, found.state))
}

fn skip(records: &Records, time: Duration) {
    let clock = match &*records.0 {
        Home::Memory(memory) => &memory.clock,
        Home::File(file) => &*file.clock,
        Home::Redis(_) => unreachable!("the server's clock is skipped where it is"),
    };
    clock.catch_up(clock.now() + super::clock::millis(time));
}

/// What a restart of all processes means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Restart {
    /// There is none: all would be gone.
    Never,
    EndsPending,
    KeepsPending,
}

struct Subject {
    open: Box<dyn Fn() -> Vec<Records>>,
    /// Where the clock is the server's.
    tenant: Option<Tenant>,
    restart: Restart,
    processes: Vec<Records>,
    names: HashMap<u8, ReceiptId>,
    /// Those before them.
    former: HashMap<u8, ReceiptId>,
    turn: usize,
}

impl Subject {
    fn new(open: impl Fn() -> Vec<Records> + 'static, restart: Restart) -> Self {
        let processes = open();
        let (names, former) = (HashMap::new(), HashMap::new());
        Self { open: Box::new(open), tenant: None, restart, processes, names, former, turn: 0 }
    }

    fn of(tenant: Tenant, bounds: Bounds) -> Self {
        let own = tenant.clone();
        let open = move || vec![own.records(bounds), own.records(bounds)];
        Self { tenant: Some(tenant), ..Self::new(open, Restart::KeepsPending) }
    }

    async fn take(&mut self, step: &Step) -> Said {
        self.turn += 1;
        let records = self.processes[self.turn % self.processes.len()].clone();
        let of = |key: u8| Key::of("test", &[key]);
        match step {
            Step::Begin { key, holder, fingerprint, lease, keep } => {
                // Half a minute early: what is over by the minute is over by every clock, and those of two processes
                // differ by a little.
                let early = |minutes: u32| (MINUTE * minutes).saturating_sub(MINUTE / 2);
                let (lease, keep) = (early(*lease), early(*keep));
                let terms = Terms {
                    holder: Holder::from([*holder; 16]),
                    fingerprint: Fingerprint::of(&[*fingerprint]),
                    keep,
                    ..terms(of(*key), lease)
                };
                match records.begin(&terms).await.unwrap() {
                    Begun::Fresh(id) => {
                        if let Some(former) = self.names.insert(*key, id) {
                            self.former.insert(*key, former);
                        }
                        Said::Fresh
                    }
                    Begun::Exists(found) => {
                        assert_eq!(Some(&found.receipt), self.names.get(key));
                        said(Some(found))
                    }
                    Begun::Full => Said::Full,
                    Begun::Crowded => Said::Crowded,
                }
            }
            Step::Finish { key, end } => {
                if let Some(id) = self.names.get(key) {
                    records.finish(of(*key), *id, end.clone()).await.unwrap();
                }
                Said::Nothing
            }
            Step::FinishLate { key, end } => {
                if let Some(id) = self.former.get(key) {
                    records.finish(of(*key), *id, end.clone()).await.unwrap();
                }
                Said::Nothing
            }
            Step::Abandon { key } => {
                if let Some(id) = self.names.get(key) {
                    records.abandon(of(*key), *id);
                }
                // Not waited for; what is asked next comes after it, where it is one thread that is asked.
                let _ = records.find(of(*key)).await;
                while records.owes() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                Said::Nothing
            }
            Step::Find { key } => said(records.find(of(*key)).await.unwrap()),
            Step::Receipt { key } => match self.names.get(key) {
                Some(id) => said(records.receipt(*id).await.unwrap()),
                None => Said::Nothing,
            },
            Step::Skip { minutes } => {
                match &self.tenant {
                    Some(tenant) => tenant.skip(MINUTE * *minutes),
                    None => self.processes.iter().for_each(|records| skip(records, MINUTE * *minutes)),
                }
                Said::Nothing
            }
            Step::Sweep => {
                records.sweep();
                Said::Nothing
            }
            Step::Restart => {
                if self.restart != Restart::Never {
                    self.processes.drain(..).for_each(|records| records.close(MINUTE));
                    let behind = self.processes.is_empty();
                    self.processes = (self.open)();
                    assert!(behind);
                }
                Said::Nothing
            }
        }
    }
}

/// Time is skipped by the clocks of one run: what a restart starts from is what the file carries on.
fn agree(steps: &[Step], bounds: Bounds, mut subject: Subject) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut model = Model::default();
    for (number, step) in steps.iter().enumerate() {
        let wanted = model.take(step, bounds, subject.restart);
        let got = runtime.block_on(subject.take(step));
        assert_eq!(got, wanted, "step {number}: {step:?} of {steps:#?}");
    }
}

/// All else being equal.
pub(super) fn terms(key: Key, time: Duration) -> Terms {
    let (fingerprint, holder) = (Fingerprint::of(b"{}"), Holder::from([0; 16]));
    Terms { key, fingerprint, holder, lease: time, keep: time, wait: Duration::ZERO }
}

fn open(path: &Path, bounds: Bounds) -> Records {
    Records::open(path, bounds).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_files_agree_with_a_map(
        steps in proptest::collection::vec(step(), 1..40),
        records in 2..6u64,
        bytes in 1..8u64,
        share in 1..4u64,
    ) {
        let all = Holding { records, bytes: bytes * OVERHEAD };
        let bounds = Bounds { all, client: Holding { records: share, bytes: share * OVERHEAD } };
        agree(&steps, bounds, Subject::new(move || vec![Records::in_memory(bounds)], Restart::Never));
        let dir = tempfile::tempdir().unwrap();
        let one = dir.path().join("one.db");
        agree(&steps, bounds, Subject::new(move || vec![open(&one, bounds)], Restart::EndsPending));
        let two = dir.path().join("two.db");
        let both = move || vec![open(&two, bounds), open(&two, bounds)];
        agree(&steps, bounds, Subject::new(both, Restart::EndsPending));
        if let Some(server) = Server::shared() {
            agree(&steps, bounds, Subject::of(server.tenant(), bounds));
        }
    }
}

/// Of many that begin one key at once, one begins it.
#[test]
fn one_of_many_begins() {
    let dir = tempfile::tempdir().unwrap();
    let bounds = Bounds::undivided(1000, 1 << 20);
    let path = dir.path().join("records.db");
    let (first, second) = (open(&path, bounds), open(&path, bounds));
    let memory = Records::in_memory(bounds);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let tenant = Server::shared().map(Server::tenant);
    let shared: Vec<_> =
        tenant.iter().flat_map(|tenant| [tenant.records(bounds), tenant.records(bounds)]).collect();
    let homes = [&memory, &memory, &first, &second].into_iter().chain(&shared).collect::<Vec<_>>();
    for homes in homes.chunks(2) {
        for round in 0..20u8 {
            let key = Key::of("race", &[round]);
            let tasks: Vec<_> = (0..32)
                .map(|number| {
                    let records = homes[number % 2].clone();
                    runtime.spawn(async move { records.begin(&terms(key, MINUTE)).await.unwrap() })
                })
                .collect();
            let begun = tasks.into_iter().map(|task| runtime.block_on(task).unwrap());
            let fresh = begun.filter(|begun| matches!(begun, Begun::Fresh(_))).count();
            assert_eq!(fresh, 1, "round {round}");
        }
    }
    assert_eq!((memory.count(), first.count().max(second.count())), (20, 20));
}

/// Memory does not grow with what has come and gone.
#[test]
fn what_is_over_leaves_nothing_behind() {
    let bounds = Bounds::undivided(100, 1 << 20);
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for records in [Records::in_memory(bounds), open(&dir.path().join("records.db"), bounds)] {
        for round in 0..5u8 {
            for number in 0..100u8 {
                let key = Key::of("many", &[round, number]);
                let begun = runtime.block_on(records.begin(&terms(key, MINUTE))).unwrap();
                let Begun::Fresh(receipt) = begun else { panic!("{round} {number}: {begun:?}") };
                let done = End::Done(Bytes::from_static(&[b'x'; 1000]));
                runtime.block_on(records.finish(key, receipt, done)).unwrap();
            }
            let one_more = terms(Key::of("more", &[]), MINUTE);
            assert_eq!(runtime.block_on(records.begin(&one_more)), Ok(Begun::Full));
            skip(&records, MINUTE);
        }
        records.sweep();
        let _ = runtime.block_on(records.find(Key::of("more", &[])));
        assert_eq!(records.count(), 0);
    }
}

/// Who asked is gone before the answer comes: nobody acts, and the key is free again.
#[test]
fn what_was_begun_for_nobody_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let records = open(&dir.path().join("records.db"), Bounds::undivided(10, 1 << 20));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let key = Key::of("gone", b"k");
    let terms = terms(key, MINUTE);
    runtime.block_on(async {
        // Many, so that some are caught before the thread gets to them.
        for _ in 0..50 {
            let mut begin = std::pin::pin!(records.begin(&terms));
            let asked = std::future::poll_fn(|context| std::task::Poll::Ready(begin.as_mut().poll(context)));
            assert!(asked.await.is_pending());
        }
        // The first question makes the thread tidy up, the second finds it done.
        records.find(key).await.unwrap();
        assert_eq!(records.find(key).await, Ok(None));
        assert!(matches!(records.begin(&terms).await, Ok(Begun::Fresh(_))));
    });
}
