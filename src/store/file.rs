//! Records in a database file. One thread does all the reading and writing: it takes everything that waits,
//! does it in one transaction with one fsync, and answers all. No worker ever waits in a system call for it.

mod database;
mod place;

use super::clock::Clock;
use super::{Begun, Bounds, Down, End, Found, Key, ReceiptId, Terms, Trouble};
use database::{Database, Wanted};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// What one transaction takes in, at most.
const BATCH: usize = 1024;
/// How long a caller waits. A disk that takes longer is as good as gone, and requests have deadlines.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct FileRecords {
    /// Not bounded by itself: each request waits for its answer before it asks again, and requests are bounded.
    asks: UnboundedSender<Ask>,
    shared: Arc<Shared>,
    #[cfg(test)]
    pub(super) clock: Arc<Clock>,
}

/// What the thread tells everyone.
#[derive(Debug, Default)]
struct Shared {
    count: AtomicU64,
    trouble: Mutex<Option<Trouble>>,
}

type Answer<T> = oneshot::Sender<Result<T, Down>>;

#[derive(Debug)]
enum Ask {
    Read(Wanted, Answer<Option<Found>>),
    Begin(Terms, Answer<Begun>),
    /// Without an answer where nobody waits.
    Finish(Key, ReceiptId, End, Option<Answer<()>>),
    Sweep,
    Close(std::sync::mpsc::Sender<()>),
}

/// An answer that waits for the end of its transaction.
enum Settled {
    Read(Answer<Option<Found>>, Option<Found>),
    Begun(Key, Answer<Begun>, Begun),
    Finished(Option<Answer<()>>),
}

impl FileRecords {
    /// Opens and checks the file, and starts the thread. What is wrong is said in words.
    pub(super) fn open(path: &Path, bounds: Bounds) -> Result<Self, String> {
        let clock = Arc::new(Clock::new());
        let database = Database::open(path, bounds, Arc::clone(&clock))?;
        let shared = Arc::new(Shared::default());
        shared.count.store(database.count(), Ordering::SeqCst);
        let (asks, asked) = unbounded_channel();
        let scribe = Scribe { database, shared: Arc::clone(&shared), orphans: Vec::new() };
        let thread = std::thread::Builder::new().name("records".into());
        thread.spawn(move || scribe.run(asked)).map_err(|error| format!("no thread for it: {error}"))?;
        Ok(Self {
            asks,
            shared,
            #[cfg(test)]
            clock,
        })
    }

    pub(super) async fn find(&self, key: Key) -> Result<Option<Found>, Down> {
        self.ask(|answer| Ask::Read(Wanted::Key(key), answer)).await
    }

    pub(super) async fn receipt(&self, id: ReceiptId) -> Result<Option<Found>, Down> {
        self.ask(|answer| Ask::Read(Wanted::Receipt(id), answer)).await
    }

    pub(super) async fn begin(&self, terms: &Terms) -> Result<Begun, Down> {
        self.ask(|answer| Ask::Begin(*terms, answer)).await
    }

    pub(super) async fn finish(&self, key: Key, receipt: ReceiptId, end: End) -> Result<(), Down> {
        self.ask(|answer| Ask::Finish(key, receipt, end, Some(answer))).await
    }

    pub(super) fn abandon(&self, key: Key, receipt: ReceiptId) {
        // Where the thread is gone, the lease says the same a little later.
        let _ = self.asks.send(Ask::Finish(key, receipt, End::Unknown, None));
    }

    pub(super) fn sweep(&self) {
        if self.asks.send(Ask::Sweep).is_err() {
            self.shared.note(Some("the thread that writes has ended".to_owned()));
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.shared.count.load(Ordering::Relaxed)
    }

    pub(super) fn trouble(&self) -> Option<Trouble> {
        self.shared.trouble().clone()
    }

    pub(super) fn close(&self, within: Duration) {
        let (closed, closing) = std::sync::mpsc::channel();
        if self.asks.send(Ask::Close(closed)).is_ok() {
            // Waited for or not, what was answered is on the disk.
            let _ = closing.recv_timeout(within);
        }
    }

    async fn ask<T>(&self, ask: impl FnOnce(Answer<T>) -> Ask) -> Result<T, Down> {
        let (answer, answered) = oneshot::channel();
        self.asks.send(ask(answer)).map_err(|_| Down)?;
        match timeout(PATIENCE, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(Down),
        }
    }
}

impl Shared {
    fn trouble(&self) -> std::sync::MutexGuard<'_, Option<Trouble>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers since when, and says so once when it begins and once when it ends.
    fn note(&self, cause: Option<String>) {
        let mut trouble = self.trouble();
        match (cause, trouble.as_mut()) {
            (None, None) => {}
            (None, Some(_)) => {
                tracing::info!("the records can be reached again");
                *trouble = None;
            }
            (Some(cause), Some(trouble)) => trouble.cause = cause,
            (Some(cause), None) => {
                tracing::error!(%cause, "the records cannot be reached: acts that need them are turned away");
                *trouble = Some(Trouble { since: SystemTime::now(), cause });
            }
        }
    }
}

/// What runs in the thread.
struct Scribe {
    database: Database,
    shared: Arc<Shared>,
    /// Begun for callers that were gone when they could have been told: nobody acts on them.
    orphans: Vec<(Key, ReceiptId)>,
}

impl Scribe {
    fn run(mut self, mut asked: UnboundedReceiver<Ask>) {
        let mut batch = Vec::new();
        let mut settled = Vec::new();
        while let Some(first) = asked.blocking_recv() {
            let more = std::iter::from_fn(|| asked.try_recv().ok());
            batch.extend(std::iter::once(first).chain(more.take(BATCH - 1)));
            let closing = self.take(&mut batch, &mut settled);
            if let Some(closed) = closing {
                drop(self);
                // Whoever waits for it may be gone.
                let _ = closed.send(());
                return;
            }
        }
    }

    /// Does what is asked, all of it or nothing, and answers.
    fn take(
        &mut self,
        batch: &mut Vec<Ask>,
        settled: &mut Vec<Settled>,
    ) -> Option<std::sync::mpsc::Sender<()>> {
        let writes = !self.orphans.is_empty()
            || batch
                .iter()
                .any(|ask| matches!(ask, Ask::Begin(..) | Ask::Finish(..) | Ask::Sweep | Ask::Close(_)));
        let mut closing = None;
        let outcome = self.database.transaction(writes, |work| {
            for (key, receipt) in &self.orphans {
                work.finish(*key, *receipt, End::Forget)?;
            }
            for ask in batch.drain(..) {
                match ask {
                    Ask::Read(wanted, answer) => settled.push(Settled::Read(answer, work.read(wanted)?)),
                    Ask::Begin(terms, answer) => {
                        let begun = work.begin(&terms)?;
                        settled.push(Settled::Begun(terms.key, answer, begun));
                    }
                    Ask::Finish(key, receipt, end, answer) => {
                        work.finish(key, receipt, end)?;
                        settled.push(Settled::Finished(answer));
                    }
                    Ask::Sweep => work.sweep()?,
                    Ask::Close(closed) => closing = Some(closed),
                }
            }
            Ok(())
        });
        // What was not even begun is not begun later: its callers learn from the loss of their answers.
        batch.clear();
        let done = outcome.is_ok();
        if done {
            self.orphans.clear();
        }
        if writes || !done {
            self.shared.note(outcome.err());
        }
        self.shared.count.store(self.database.count(), Ordering::SeqCst);
        for settled in settled.drain(..) {
            self.answer(settled, done);
        }
        closing
    }

    fn answer(&mut self, settled: Settled, done: bool) {
        match settled {
            Settled::Read(answer, found) => {
                let _ = answer.send(if done { Ok(found) } else { Err(Down) });
            }
            Settled::Begun(key, answer, begun) => {
                let told = answer.send(if done { Ok(begun) } else { Err(Down) });
                // Given back where nobody took it.
                if let Err(Ok(Begun::Fresh(receipt))) = told {
                    self.orphans.push((key, receipt));
                }
            }
            Settled::Finished(answer) => {
                if let Some(answer) = answer {
                    let _ = answer.send(if done { Ok(()) } else { Err(Down) });
                }
            }
        }
    }
}
