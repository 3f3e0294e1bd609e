//! What a key costs an act: the record begun and ended, durable both times, in memory and in a file, alone and with
//! 63 others at the same time. `cargo bench --bench core -- records`

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion};
use formgate::store::{Begun, Bounds, End, Fingerprint, Holder, Key, Records, Terms};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

static KEYS: AtomicU64 = AtomicU64::new(0);

/// One act's share: a new key, and an answer of 300 bytes.
async fn act(records: &Records) {
    let key = Key::of("bench", &KEYS.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    let time = Duration::from_hours(1);
    let (fingerprint, holder) = (Fingerprint::of(b"{}"), Holder::from([0; 16]));
    let terms = Terms { key, fingerprint, holder, lease: time, keep: time, wait: Duration::ZERO };
    let begun = records.begin(&terms).await.expect("it can be reached");
    let fresh = if let Begun::Fresh(receipt) = begun { Some(receipt) } else { None };
    let done = End::Done(Bytes::from_static(&[b'x'; 300]));
    records.finish(key, fresh.expect("the key is new"), done).await.expect("it can be written");
}

/// `acts`, so many at a time.
fn run(runtime: &Runtime, records: &Records, acts: u64, at_once: u64) -> Duration {
    let began = Instant::now();
    let tasks: Vec<_> = (0..at_once)
        .map(|number| {
            let records = records.clone();
            let share = acts / at_once + u64::from(number < acts % at_once);
            runtime.spawn(async move {
                for _ in 0..share {
                    act(&records).await;
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).expect("it ends");
    }
    began.elapsed()
}

/// The groups of criterion. The time is wall-clock time for each act: with 64 at once, of 64 that share it.
pub(crate) fn measure(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bounds = Bounds::undivided(u64::MAX, u64::MAX);
    let file = Records::open(&folder.path().join("records.db"), bounds).expect("it can be opened");
    let mut group = criterion.benchmark_group("records");
    for (name, records) in [("memory", Records::in_memory(bounds)), ("file", file)] {
        for at_once in [1, 64] {
            let id = BenchmarkId::new(name, at_once);
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|acts| run(&runtime, &records, acts, at_once));
            });
        }
    }
    group.finish();
}
