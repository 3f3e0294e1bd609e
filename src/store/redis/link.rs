//! The way to the server: one connection that every worker sends through, and one thread that keeps it.
//!
//! Requests of all workers go out in one pipeline and come back in its order; who stops waiting leaves a gap that is
//! filled and thrown away, so nobody is ever given another's answer. A first answer that does not come in time, and
//! any error of the connection, opens the circuit: from then on nobody waits, until the thread has connected anew
//! and has been answered.

use super::mark::{Marks, Regard};
use super::owed::Owed;
use super::script::{Call, Scripts};
use crate::config::{RedisAddress, RedisStore};
use crate::store::{Down, Trouble};
use crate::telemetry::{StoreAsk, StoreError, StoreMeters};
use arc_swap::ArcSwapOption;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ConnectionAddr, FromRedisValue, IntoConnectionInfo, RedisError};
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
/// How long the first connect may keep a start waiting.
const FIRST: Duration = Duration::from_secs(2);

/// What a server says that is of no use to anyone for now.
const USELESS: [&str; 10] = [
    "ASK",
    "BUSY",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "MOVED",
    "NOAUTH",
    "READONLY",
    "TRYAGAIN",
];

#[derive(Debug)]
pub(super) struct Link {
    pub(super) scripts: Scripts,
    pub(super) owed: Owed,
    client: Client,
    timeout: Duration,
    /// None while the circuit is open.
    connection: ArcSwapOption<MultiplexedConnection>,
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

/// Why there was no answer.
enum Failure {
    Timeout,
    Connection(RedisError),
    /// The server says no.
    Server(RedisError),
}

impl Link {
    /// Starts the thread, and waits a little for the first connect. A server that cannot be reached is no reason not
    /// to start: what to do without it is in the config.
    pub(super) fn open(store: &RedisStore, meters: StoreMeters) -> Result<(Arc<Self>, Handle), String> {
        let link = Self {
            scripts: Scripts::new(&store.prefix),
            owed: Owed::default(),
            client: client(store).map_err(|error| error.to_string())?,
            timeout: store.timeout,
            connection: ArcSwapOption::empty(),
            broken: Notify::new(),
            state: Mutex::default(),
            count: AtomicU64::new(0),
            ahead: AtomicI64::new(0),
            began: Instant::now(),
            closed: AtomicBool::new(false),
            meters,
        };
        link.meters.up.set(0);
        let link = Arc::new(link);
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
        self.meters.requests.at(ask).inc();
        let Some(connection) = self.connection.load_full() else {
            self.meters.errors.at(StoreError::Down).inc();
            return Err(Down);
        };
        let began = Instant::now();
        let asked = self.ask_by(&connection, call).await;
        self.meters.seconds.observe(began.elapsed().as_secs_f64());
        asked.map_err(|failure| {
            self.fail(&connection, &failure);
            Down
        })
    }

    async fn ask_by<T: FromRedisValue>(
        &self,
        connection: &MultiplexedConnection,
        call: &Call<'_>,
    ) -> Result<T, Failure> {
        // A clone is a sender; the connection behind it is the same.
        let mut connection = connection.clone();
        match timeout(self.timeout, call.invoke_async(&mut connection)).await {
            Err(_) => Err(Failure::Timeout),
            Ok(answer) => answer.map_err(Failure::of),
        }
    }

    /// Takes note, and opens the circuit where nobody else would be answered either.
    fn fail(&self, connection: &Arc<MultiplexedConnection>, failure: &Failure) {
        let kind = match failure {
            Failure::Timeout => StoreError::Timeout,
            Failure::Connection(_) => StoreError::Connection,
            Failure::Server(_) => StoreError::Refused,
        };
        self.meters.errors.at(kind).inc();
        let (breaks, cause) = (failure.breaks(), failure.to_string());
        let current = self.connection.load_full();
        // An answer to an earlier connection says nothing about this one.
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)) {
            if breaks {
                self.connection.store(None);
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
        let mut regarded = Instant::now();
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
            let looked: Result<(), Failure> = async {
                self.pay(&connection).await?;
                self.look(&connection).await?;
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
        self.meters.up.set(0);
    }

    /// Connects, and is sure that the server can be used before anyone sends through it.
    async fn connect(&self) -> Result<MultiplexedConnection, Failure> {
        let patience = self.timeout.max(Duration::from_millis(500));
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(patience))
            // Who asks has its own patience.
            .set_response_timeout(None);
        let connecting = self.client.get_multiplexed_async_connection_with_config(&config);
        let connection = match timeout(patience, connecting).await {
            Err(_) => return Err(Failure::Timeout),
            Ok(connected) => connected.map_err(Failure::of)?,
        };
        self.look(&connection).await?;
        self.regard(&connection).await;
        self.pay(&connection).await?;
        Ok(connection)
    }

    /// Whether it can be written, whether it is still the same data, what time it is there.
    async fn look(&self, connection: &MultiplexedConnection) -> Result<(), Failure> {
        let fresh = format!("{:032x}", fastrand::u128(..));
        let call = self.scripts.probe(&fresh);
        let (mark, now, count): (String, i64, u64) = self.ask_by(connection, &call).await?;
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
    async fn regard(&self, connection: &MultiplexedConnection) {
        let mut connection = connection.clone();
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

    /// Writes what could not be written when it was to be.
    async fn pay(&self, connection: &MultiplexedConnection) -> Result<(), Failure> {
        while let Some(debt) = self.owed.first() {
            let call = self.scripts.finish(debt.key, &debt.end, debt.receipt);
            match self.ask_by::<u8>(connection, &call).await {
                Ok(_) => self.owed.paid(&debt),
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// The server's clock, by an answer of it.
    pub(super) fn learn(&self, now: i64) {
        self.ahead.store(now - self.elapsed(), Ordering::Relaxed);
    }

    /// When a question asked now is too old to be answered, by the server's clock. A second on top: that is how old
    /// what we know of its clock may be.
    pub(super) fn latest(&self) -> i64 {
        let patience = i64::try_from((self.timeout + PROBE).as_millis()).unwrap_or(i64::MAX / 4);
        self.ahead.load(Ordering::Relaxed) + self.elapsed() + patience
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

fn client(store: &RedisStore) -> Result<Client, RedisError> {
    let address = match &store.address {
        RedisAddress::Tcp(host, port) => ConnectionAddr::Tcp(host.clone(), *port),
        RedisAddress::Unix(path) => ConnectionAddr::Unix(path.clone()),
    };
    let info = address.into_connection_info()?;
    // No name of the library: that would be one more right that a user needs.
    let settings = info.redis_settings().clone().set_skip_set_lib_name();
    let mut settings = settings.set_db(i64::from(store.database));
    if let Some(user) = &store.user {
        settings = settings.set_username(user);
    }
    if let Some(password) = &store.password {
        settings = settings.set_password(password.reveal());
    }
    Client::open(info.set_redis_settings(settings))
}

impl Failure {
    fn of(error: RedisError) -> Self {
        if error.is_timeout() {
            Self::Timeout
        } else if error.code().is_some() {
            Self::Server(error)
        } else {
            Self::Connection(error)
        }
    }

    /// Nobody else would be answered either. A server that is full, or allows less than is asked, still answers what
    /// it can.
    fn breaks(&self) -> bool {
        match self {
            Self::Timeout | Self::Connection(_) => true,
            Self::Server(error) => error.code().is_some_and(|code| USELESS.contains(&code)),
        }
    }
}

/// Never with what was sent: words of the server may quote it, so only its code is kept.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Timeout => f.write_str("no answer in time"),
            Self::Server(error) => write!(f, "it says {}", error.code().unwrap_or("no")),
            Self::Connection(error) => write!(f, "{error}"),
        }
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
