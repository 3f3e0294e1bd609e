//! The way to the server: one connection that every worker sends through, and one thread that keeps it.
//!
//! Requests of all workers go out in one pipeline and come back in its order; who stops waiting leaves a gap that is
//! filled and thrown away, so nobody is ever given another's answer. A first answer that does not come in time, and
//! any error of the connection, opens the circuit: from then on nobody waits, until the thread has connected anew
//! and has been answered.

use super::failure::{Break, Failure};
use super::mark::{Marks, Regard};
use super::owed::Owed;
use super::script::{Call, Scripts};
use super::wire::{Server, Wire};
use crate::config::RedisStore;
use crate::store::{Down, Trouble};
use crate::telemetry::{StoreAsk, StoreError, StoreMeters};
use arc_swap::ArcSwapOption;
use redis::FromRedisValue;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// How often the server is looked at while all is well.
const PROBE: Duration = Duration::from_secs(1);
/// How often it is asked how well it keeps what it is given: an operator may have changed it.
const REGARD: Duration = Duration::from_secs(10);
/// How long after a failed connect the next one is made, from and to; half of it by chance, so that a hundred
/// instances do not come back at once.
const PACE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));
/// How many times as long as others an end may take that is written late: nobody waits for it, and it may be large.
const PATIENCE: u32 = 5;
/// How long the first connect may keep a start waiting.
const FIRST: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Link {
    pub(super) scripts: Scripts,
    pub(super) owed: Owed,
    server: Server,
    timeout: Duration,
    /// None while the circuit is open.
    connection: ArcSwapOption<Wire>,
    /// The connection is to be made anew.
    broken: Notify,
    state: Mutex<State>,
    /// Of the server, by the last answer that told.
    count: AtomicU64,
    /// How far the server's clock is ahead of ours, in milliseconds.
    ahead: AtomicI64,
    began: Instant,
    closed: AtomicBool,
    meters: StoreMeters,
}

#[derive(Debug, Default)]
struct State {
    trouble: Option<Trouble>,
    regard: Regard,
    marks: Marks,
}

impl Link {
    /// Without a connection, and nobody who makes one.
    fn new(store: &RedisStore, meters: StoreMeters) -> Self {
        Self {
            scripts: Scripts::new(&store.prefix),
            owed: Owed::new(meters.ends_dropped.clone()),
            server: Server::new(store),
            timeout: store.timeout,
            connection: ArcSwapOption::empty(),
            broken: Notify::new(),
            state: Mutex::default(),
            count: AtomicU64::new(0),
            ahead: AtomicI64::new(0),
            began: Instant::now(),
            closed: AtomicBool::new(false),
            meters,
        }
    }

    /// Starts the thread, and waits a little for the first connect. A server that cannot be reached is no reason not
    /// to start: what to do without it is in the config.
    pub(super) fn open(store: &RedisStore, meters: StoreMeters) -> Result<(Arc<Self>, Handle), String> {
        let link = Arc::new(Self::new(store, meters));
        link.meters.up.set(0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let handle = runtime.handle().clone();
        let (tried, first) = std::sync::mpsc::channel();
        let keeper = Arc::clone(&link);
        let thread = std::thread::Builder::new().name("store".into());
        let spawned = thread.spawn(move || {
            runtime.block_on(async {
                let mut pace = Pace::default();
                while !keeper.closed.load(Ordering::Relaxed) {
                    keeper
                        .keep_once(&mut pace, || {
                            // Whoever waited for it may have gone on.
                            let _ = tried.send(());
                        })
                        .await;
                    sleep(pace.next()).await;
                }
            });
        });
        spawned.map_err(|error| format!("no thread for it: {error}"))?;
        // Whatever it came to is in the state.
        let _ = first.recv_timeout(FIRST);
        Ok((link, handle))
    }

    /// Nobody asks any more: the thread ends.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.broken.notify_one();
    }

    /// Asks, and waits no longer than the timeout.
    pub(super) async fn ask<T: FromRedisValue>(&self, ask: StoreAsk, call: &Call<'_>) -> Result<T, Down> {
        self.ask_by_way(&self.way(ask)?, call).await
    }

    /// What a question goes by. Where there is none, nothing is sent.
    pub(super) fn way(&self, ask: StoreAsk) -> Result<Arc<Wire>, Down> {
        self.meters.requests.at(ask).inc();
        self.connection.load_full().ok_or_else(|| {
            self.meters.errors.at(StoreError::Down).inc();
            Down
        })
    }

    pub(super) async fn ask_by_way<T: FromRedisValue>(
        &self,
        way: &Arc<Wire>,
        call: &Call<'_>,
    ) -> Result<T, Down> {
        let began = Instant::now();
        let asked = self.ask_by(way, call).await;
        self.meters.seconds.observe(began.elapsed().as_secs_f64());
        asked.map_err(|failure| {
            self.fail(way, &failure);
            Down
        })
    }

    async fn ask_by<T: FromRedisValue>(&self, wire: &Wire, call: &Call<'_>) -> Result<T, Failure> {
        self.ask_within(self.timeout, wire, call).await
    }

    async fn ask_within<T: FromRedisValue>(
        &self,
        patience: Duration,
        wire: &Wire,
        call: &Call<'_>,
    ) -> Result<T, Failure> {
        match timeout(patience, call.invoke_async(&mut wire.sender())).await {
            Err(_) => Err(Failure::Timeout),
            Ok(answer) => answer.map_err(|error| wire.failure(&error)),
        }
    }

    /// Takes note, and opens the circuit where nobody else would be answered either.
    fn fail(&self, connection: &Arc<Wire>, failure: &Failure) {
        let kind = match failure {
            Failure::Timeout => StoreError::Timeout,
            Failure::Broken(_) => StoreError::Connection,
            Failure::Refused(_) => StoreError::Refused,
        };
        self.meters.errors.at(kind).inc();
        let (breaks, cause) = (failure.breaks(), failure.to_string());
        let current = self.connection.load_full();
        // An answer to an earlier connection says nothing about this one.
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)) {
            if breaks {
                self.connection.store(None);
                connection.end();
                self.broken.notify_one();
            }
            self.note(Some(cause));
        }
    }

    /// One connection, from its beginning to its end.
    async fn keep_once(&self, pace: &mut Pace, tried: impl FnOnce()) {
        let connected = self.connect().await;
        let connection = match connected {
            Ok(connection) => Arc::new(connection),
            Err(failure) => {
                self.note(Some(failure.to_string()));
                return tried();
            }
        };
        self.connection.store(Some(Arc::clone(&connection)));
        self.meters.up.set(1);
        self.note(None);
        pace.reset();
        tried();
        let [mut regarded, mut offered] = [Instant::now(); 2];
        loop {
            tokio::select! {
                // Maybe of an earlier connection: what is so is seen below.
                () = self.broken.notified() => {}
                () = self.owed.due() => {}
                () = sleep(PROBE) => {}
            }
            if self.connection.load().is_none() || self.closed.load(Ordering::Relaxed) {
                break;
            }
            if offered.elapsed() > PROBE {
                offered = Instant::now();
                self.owed.again(offered);
            }
            let looked: Result<(), Failure> = async {
                let looked = self.look(&connection).await;
                if !looked.as_ref().is_err_and(Failure::breaks) {
                    self.pay(&connection, looked.is_ok(), self.timeout * PATIENCE).await?;
                }
                looked?;
                if regarded.elapsed() > REGARD {
                    regarded = Instant::now();
                    self.regard(&connection).await;
                }
                Ok(())
            }
            .await;
            match looked {
                Ok(()) => self.note(None),
                Err(failure) => {
                    let breaks = failure.breaks();
                    self.fail(&connection, &failure);
                    if breaks {
                        break;
                    }
                }
            }
        }
        self.connection.store(None);
        connection.end();
        self.meters.up.set(0);
    }

    /// Connects, and is sure that the server can be used before anyone sends through it.
    async fn connect(&self) -> Result<Wire, Failure> {
        let patience = self.timeout.max(Duration::from_millis(500));
        let connected = timeout(patience, self.server.connect()).await;
        let wire = connected.unwrap_or(Err(Failure::Timeout))?;
        self.look(&wire).await?;
        self.regard(&wire).await;
        self.pay(&wire, true, self.timeout).await?;
        Ok(wire)
    }

    /// Whether it can be written, whether it is still the same data, what time it is there.
    async fn look(&self, wire: &Wire) -> Result<(), Failure> {
        let fresh = format!("{:032x}", fastrand::u128(..));
        let call = self.scripts.probe(&fresh);
        let (mark, now, count): (String, i64, u64) = self.ask_by(wire, &call).await?;
        if mark.len() != fresh.len() || !mark.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Failure::Broken(Break::Strange));
        }
        self.learn(now);
        self.count.store(count, Ordering::Relaxed);
        if self.state().marks.see(mark) {
            self.meters.losses.inc();
            tracing::error!(
                "Redis has lost its data: keys that were used can be used again, and rates begin anew"
            );
        }
        Ok(())
    }

    /// What the server says about how well it keeps what it is given. It may not say; then nothing is known.
    async fn regard(&self, wire: &Wire) {
        let mut connection = wire.sender();
        let mut asked = redis::cmd("INFO");
        let answer =
            timeout(self.timeout, asked.arg("everything").query_async::<String>(&mut connection)).await;
        let regard = match answer {
            Ok(Ok(told)) => Regard::read(&told),
            Ok(Err(_)) | Err(_) => Regard::default(),
        };
        let mut state = self.state();
        if !state.regard.says_the_same(&regard) {
            regard.warnings().for_each(|warning| tracing::warn!("Redis: {warning}"));
            state.regard = regard;
        }
    }

    /// Writes what could not be written when it was to be, but for what is added meanwhile. One that is refused, or that takes too
    /// long or ends the connection for what it is, does not keep the others from it.
    async fn pay(&self, wire: &Wire, writable: bool, patience: Duration) -> Result<(), Failure> {
        for _ in 0..self.owed.waiting_now() {
            let Some(debt) = self.owed.first() else { break };
            let call = self.scripts.finish(debt.key(), debt.receipt(), debt.end());
            match self.ask_within::<u8>(patience, wire, &call).await {
                Ok(_) => self.owed.paid(&debt),
                Err(failure) if failure.breaks() => {
                    // The server has just answered: were this one offered first again, nothing might ever get past it.
                    self.owed.refused(writable);
                    return Err(failure);
                }
                Err(_) => {
                    self.meters.errors.at(StoreError::Refused).inc();
                    self.owed.refused(writable);
                }
            }
        }
        Ok(())
    }

    /// The server's clock, by an answer of it.
    pub(super) fn learn(&self, now: i64) {
        self.ahead.store(now.saturating_sub(self.elapsed()), Ordering::Relaxed);
    }

    /// When a question asked now is too old to be answered, by the server's clock. A second on top: that is how old
    /// what we know of its clock may be.
    pub(super) fn latest(&self) -> i64 {
        let patience = i64::try_from((self.timeout + PROBE).as_millis()).unwrap_or(i64::MAX / 4);
        self.ahead.load(Ordering::Relaxed).saturating_add(self.elapsed()).saturating_add(patience)
    }

    fn elapsed(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX / 4)
    }

    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    pub(super) fn trouble(&self) -> Option<Trouble> {
        self.state().trouble.clone()
    }

    /// Why what is recorded may be forgotten early, where that is known.
    pub(super) fn forgetful(&self) -> Option<Trouble> {
        self.state().regard.forgetful()
    }

    /// What an operator should know, in words.
    pub(super) fn warnings(&self) -> Vec<String> {
        let state = self.state();
        state.regard.warnings().chain(state.marks.warning()).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers since when, and says so once when it begins and once when it ends.
    fn note(&self, cause: Option<String>) {
        let mut state = self.state();
        match (cause, state.trouble.as_mut()) {
            (None, None) => {}
            (None, Some(_)) => {
                tracing::info!("Redis can be reached again");
                state.trouble = None;
            }
            (Some(cause), Some(trouble)) => trouble.cause = cause,
            (Some(cause), None) => {
                tracing::error!(%cause, "Redis cannot be used: `when_down` holds");
                state.trouble = Some(Trouble { since: SystemTime::now(), cause });
            }
        }
    }
}

#[cfg(fuzzing)]
impl Link {
    /// Over a stream that is there, which nobody keeps.
    pub(super) async fn over<S>(store: &RedisStore, meters: StoreMeters, stream: S) -> Result<Self, Failure>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        let link = Self::new(store, meters);
        link.connection.store(Some(Arc::new(link.server.greet(stream).await?)));
        Ok(link)
    }

    /// Whether it can be used, as a server that has just been connected to is tried.
    pub(super) async fn try_out(&self) -> bool {
        let Some(connection) = self.connection.load_full() else { return false };
        match self.look(&connection).await {
            Ok(()) => self.regard(&connection).await,
            Err(failure) => {
                self.fail(&connection, &failure);
                return false;
            }
        }
        true
    }
}

/// How long until the next connect.
#[derive(Debug, Default)]
struct Pace(Option<Duration>);

impl Pace {
    fn reset(&mut self) {
        self.0 = None;
    }

    /// The first one at once, then longer and longer.
    fn next(&mut self) -> Duration {
        let (least, most) = PACE;
        let Some(pace) = self.0 else {
            self.0 = Some(least);
            return Duration::ZERO;
        };
        self.0 = Some((pace * 2).min(most));
        pace.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}
