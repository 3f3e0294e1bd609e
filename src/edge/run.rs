//! From a loaded config to a process that serves, and to its end.

use super::app::Door;
use super::budget::Budget;
use super::connection::HeadBounds;
use super::hand_over::{TakeOver, hand_over};
use super::listen::Listeners;
use super::supervisor::Supervisor;
use super::{App, Phase, activation, admin, pool, tls, upkeep, watch};
use crate::config::{AccessLog, Listen, Loaded, Settings, StoreHome};
use crate::gateway::Ledger;
use crate::live::Live;
use crate::store::{Kept, Rates, Records, StoreFault};
use crate::telemetry::{Log, Sink, StoreMeters, Telemetry};
use pingora_core::connectors::TransportConnector;
use pingora_runtime::Runtime;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch as channel;
use tokio::task::JoinHandle;

/// Why the process could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A listener's address cannot be had.
    #[error("cannot listen on {address}: {cause}{}", listening(cause))]
    Listen {
        /// The address, as configured.
        address: String,
        /// The system's words.
        cause: std::io::Error,
    },
    /// A socket that systemd passed cannot be served.
    #[error("{0}")]
    Passed(String),
    /// The access log cannot be opened.
    #[error("cannot open the access log {path}: {cause}")]
    AccessLog {
        /// The file.
        path: String,
        /// The system's words.
        cause: std::io::Error,
    },
    /// Records cannot be kept where the config says.
    #[error("{0}")]
    Store(StoreFault),
    /// Something of the machine's is missing: threads, signals.
    #[error("cannot start: {0}")]
    Start(String),
}

/// What may help.
fn listening(cause: &std::io::Error) -> &'static str {
    match cause.kind() {
        std::io::ErrorKind::AddrInUse => {
            ": another program has it, `ss -ltnp` says which; stop that, or say another address"
        }
        std::io::ErrorKind::PermissionDenied => {
            ": ports below 1024 need CAP_NET_BIND_SERVICE, or a socket from systemd (deploy/formgate.socket)"
        }
        _ => "",
    }
}

impl ServeError {
    fn start(cause: impl std::fmt::Display) -> Self {
        Self::Start(cause.to_string())
    }
}

/// How long connections that wait between requests are kept for one more when stopping.
const LAST_WORDS: Duration = Duration::from_millis(500);
const PACE: Duration = Duration::from_millis(20);
/// How often limiters forget clients whose allowance is whole again, and records what is over.
const SWEEP: Duration = Duration::from_secs(10);

/// Serves until a signal says stop, and lets what is in flight finish.
///
/// `ready` is told the addresses once every listener is bound.
pub fn serve(
    path: &Path,
    loaded: Loaded,
    log: Log,
    ready: impl FnOnce(&[Listen], Option<String>),
) -> Result<(), ServeError> {
    let settings = loaded.settings.clone();
    quiet_panics();
    let meters = StoreMeters::new().map_err(ServeError::start)?;
    let Kept { records, rates } = Kept::open(&settings.store, meters.clone()).map_err(ServeError::Store)?;
    let (take_over, mut inherited) = TakeOver::receive().map_err(ServeError::start)?;
    activation::receive(&settings, &mut inherited)?;
    let supervisor = Arc::new(Supervisor::of_environment());
    let listeners = Listeners::of(&settings, inherited)?;
    let telemetry = Telemetry::new(sink(&settings.access_log)?, settings.traces.clone());
    let telemetry = telemetry.map_err(ServeError::start)?;
    if let StoreHome::Redis(_) = &settings.store.home {
        telemetry.show_store(&meters).map_err(ServeError::start)?;
    }
    let telemetry = Arc::new(telemetry);
    telemetry.inflight_body_bytes_limit.set(i64::try_from(settings.inflight_bodies).unwrap_or(i64::MAX));
    let ledger = rates.clone().map(|rates| rates as Arc<dyn Ledger>);
    let live = Arc::new(Live::new(path, loaded, Arc::clone(&telemetry), ledger));
    let app = app(&settings, Arc::clone(&live), Arc::clone(&telemetry), records.clone(), rates, log);
    let app = Arc::new(app);
    let threads = app.workers;

    // Workers do not steal: a connection, its upstream and its buffers stay with one.
    let workers = Arc::new(Runtime::new_no_steal(threads, "worker"));
    let control = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let control = control.map_err(ServeError::start)?;
    // Heard before anything is served: a stop that comes with the first request is a stop like any other.
    let mut signals = control.block_on(async { Signals::new() }).map_err(ServeError::start)?;
    let (stop, stopped) = channel::channel(false);

    let acceptor = Arc::new(tls::Acceptor::new(&live).map_err(ServeError::start)?);
    let handles = handles(&workers, threads);
    for worker in &handles {
        // Each has connections of its own to upstreams, and looks after them.
        worker.spawn(pool::sweep());
    }
    if let Some(first) = handles.first() {
        // Listeners are accepted from where the first worker is, whichever serves the connection.
        let _on_first = first.enter();
        for listener in &listeners.public {
            let tls = listener.tls.then(|| Arc::clone(&acceptor));
            let door = Door { app: Arc::clone(&app), tls };
            let accepts = listener.accept(door, handles.clone(), stopped.clone());
            accepts.map_err(ServeError::start)?;
        }
    }
    if let Some(every) = settings.watch {
        watch::watch(Arc::clone(&live), every);
    }
    control.block_on(async {
        // The admin listener is open to the end, to tell how the stop goes, unless a newer process has it.
        let (admin_stop, admin_stopped) = channel::channel(false);
        if let Some(admin) = &listeners.admin {
            let door = admin::Door { app: Arc::clone(&app), by_file: admin.is_unix };
            admin.accept(door, vec![Handle::current()], admin_stopped).map_err(ServeError::start)?;
        }
        tokio::spawn(sweep(Arc::clone(&live), records.clone()));
        let upkeep = tokio::spawn(upkeep::keep(Arc::clone(&app)));
        ready(&listeners.addresses(), listeners.admin_name());
        take_over.serves();
        supervisor.ready(&live);
        let watch = Arc::clone(&supervisor).watch(Arc::clone(&live), Arc::clone(&workers), threads);
        let watch = tokio::spawn(watch);
        match signals.until_stop(&live, &telemetry, &supervisor, &Arc::new(listeners)).await {
            Stop::Replaced(by) => {
                watch.abort();
                supervisor.replaced(by);
                let _ = admin_stop.send(true);
            }
            Stop::Asked => {
                supervisor.stopping();
                linger(&app, settings.leave, &mut signals).await;
            }
        }
        upkeep.abort();
        tracing::info!(grace = ?settings.grace, "stopping: no new connections");
        app.enter(Phase::Leaving);
        let _ = stop.send(true);
        tokio::select! {
            () = leave(&app, settings.grace) => {}
            () = signals.stop() => tracing::warn!("stopped: asked for a second time"),
        }
        watch.abort();
        let _ = watch.await;
        Ok(())
    })?;
    // A hand-over or a reload that has not come to its end is not waited for.
    control.shutdown_background();
    telemetry.flush(Duration::from_secs(2));
    if let Some(workers) = Arc::into_inner(workers) {
        workers.shutdown_timeout(Duration::from_millis(100));
    }
    records.close(Duration::from_secs(2));
    Ok(())
}

/// What connections share, before there is one.
fn app(
    settings: &Settings,
    live: Arc<Live>,
    telemetry: Arc<Telemetry>,
    records: Records,
    rates: Option<Arc<Rates>>,
    log: Log,
) -> App {
    let threads = settings
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    App {
        budget: Budget::new(settings.inflight_bodies, Some(telemetry.inflight_body_bytes.clone())),
        records,
        rates,
        live,
        telemetry,
        log,
        log_timer: Mutex::default(),
        connector: TransportConnector::new(None),
        workers: threads,
        admin_budget: Budget::new(admin::BODIES, None),
        bounds: HeadBounds {
            bytes: settings.max_head,
            deadline: settings.head_deadline,
            idle: settings.keepalive,
            first: false,
        },
        max_connections: settings.max_connections,
        connections: AtomicUsize::new(0),
        admin_connections: AtomicUsize::new(0),
        in_flight: AtomicUsize::new(0),
        phase: AtomicU8::new(Phase::Serving as u8),
    }
}

/// Where each worker runs.
fn handles(workers: &Runtime, threads: usize) -> Vec<Handle> {
    let at = |number| match workers {
        Runtime::NoSteal(workers) => workers.get_runtime_at(number).clone(),
        Runtime::Steal { .. } => workers.get_handle().clone(),
    };
    (0..threads).map(at).collect()
}

/// A panic's message may quote what it choked on: only its place is told.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "something unforeseen: please report it");
    }));
}

/// Goes on serving until load balancers have looked away (`leave`): each answer is the last of its connection, and
/// `/readyz` says why.
async fn linger(app: &App, leave: Duration, signals: &mut Signals) {
    if leave.is_zero() {
        return;
    }
    tracing::info!(?leave, "leaving: still serving, each answer the last of its connection");
    app.enter(Phase::Leaving);
    tokio::select! {
        () = tokio::time::sleep(leave) => {}
        () = signals.stop() => {}
    }
}

/// Lets open connections say what they have to say, each answer being the last; then takes no more acts
/// and waits until nothing is in flight, or `grace` is over.
async fn leave(app: &App, grace: Duration) {
    let began = Instant::now();
    let over = |time| began.elapsed() >= time;
    // Connections just accepted get a moment to be counted.
    tokio::time::sleep(2 * PACE).await;
    let open = || app.connections.load(Ordering::SeqCst) + app.admin_connections.load(Ordering::SeqCst);
    while open() > 0 && !over(grace.min(LAST_WORDS)) {
        tokio::time::sleep(PACE).await;
    }
    app.enter(Phase::Draining);
    loop {
        let left = app.in_flight.load(Ordering::SeqCst);
        if left == 0 {
            tracing::info!("stopped: nothing was in flight");
            return;
        }
        if over(grace) {
            tracing::warn!(left, "stopped: the grace is over and requests were in flight");
            return;
        }
        tokio::time::sleep(PACE).await;
    }
}

async fn sweep(live: Arc<Live>, records: Records) {
    loop {
        tokio::time::sleep(SWEEP).await;
        records.sweep();
        let snapshot = live.snapshot();
        for limiter in snapshot.gateway.limits().flat_map(|(_, limits)| limits.each()) {
            limiter.sweep();
        }
    }
}

/// Why the process stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Asked,
    /// A newer process serves on the same sockets.
    Replaced(u32),
}

struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    replace: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            replace: signal(SignalKind::user_defined2())?,
        })
    }

    /// SIGTERM or SIGINT.
    async fn stop(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// SIGHUP reloads and opens the access log anew; SIGTERM and SIGINT stop, and so does SIGUSR2 once a new process serves.
    async fn until_stop(
        &mut self,
        live: &Arc<Live>,
        telemetry: &Telemetry,
        supervisor: &Arc<Supervisor>,
        listeners: &Arc<Listeners>,
    ) -> Stop {
        // One hand-over at a time; meanwhile the other signals are heard.
        let mut handing: Option<JoinHandle<std::io::Result<u32>>> = None;
        loop {
            let handed = async {
                match &mut handing {
                    Some(handing) => handing.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = self.terminate.recv() => return Stop::Asked,
                _ = self.interrupt.recv() => return Stop::Asked,
                _ = self.hangup.recv() => {
                    telemetry.reopen_access_log();
                    let (live, supervisor) = (Arc::clone(live), Arc::clone(supervisor));
                    tokio::task::spawn_blocking(move || {
                        supervisor.reloading();
                        live.reload();
                        supervisor.ready(&live);
                    });
                }
                outcome = handed => {
                    handing = None;
                    match outcome {
                        Ok(Ok(by)) => return Stop::Replaced(by),
                        Ok(Err(error)) => tracing::error!(%error, "not replaced: this process goes on"),
                        Err(error) => tracing::error!(%error, "not replaced: this process goes on"),
                    }
                }
                _ = self.replace.recv() => {
                    if handing.is_none() {
                        let listeners = Arc::clone(listeners);
                        handing = Some(tokio::task::spawn_blocking(move || hand_over(&listeners)));
                    }
                }
            }
        }
    }
}

fn sink(access_log: &AccessLog) -> Result<Sink, ServeError> {
    match access_log {
        AccessLog::Stdout => Ok(Sink::Stdout),
        AccessLog::Off => Ok(Sink::Off),
        AccessLog::File(path) => Sink::file(path)
            .map_err(|cause| ServeError::AccessLog { path: path.display().to_string(), cause }),
    }
}
