//! From a loaded config to a process that serves, and to its end.

use super::app::Door;
use super::budget::Budget;
use super::connection::HeadBounds;
use super::{App, admin, watch};
use crate::config::{AccessLog, AdminAddress, Loaded, Settings};
use crate::live::Live;
use crate::telemetry::{Sink, Telemetry};
use pingora_core::connectors::TransportConnector;
use pingora_core::listeners::{L4BufferSettings, ListenerConfig};
use pingora_core::server::{Fds, ListenFds};
use pingora_core::services::Service as _;
use pingora_core::services::listening::Service;
use pingora_runtime::Runtime;
use std::fs::OpenOptions;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::IntoRawFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch as channel;

/// Why the process could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A listener's address cannot be had.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address, as configured.
        address: String,
        /// The system's words.
        cause: std::io::Error,
    },
    /// The access log cannot be opened.
    #[error("cannot open the access log {path}: {cause}")]
    AccessLog {
        /// The file.
        path: String,
        /// The system's words.
        cause: std::io::Error,
    },
    /// Something of the machine's is missing: threads, signals.
    #[error("cannot start: {0}")]
    Start(String),
}

/// How often limiters forget clients whose allowance is whole again.
const SWEEP: Duration = Duration::from_secs(10);

/// Serves until a signal says stop, and lets what is in flight finish.
///
/// `ready` is told the addresses once every listener is bound.
pub fn serve(
    path: &Path,
    loaded: Loaded,
    ready: impl FnOnce(&[SocketAddr], Option<String>),
) -> Result<(), ServeError> {
    let settings = loaded.settings.clone();
    quiet_panics();
    let listeners = bind(&settings)?;
    let admin = settings.admin.as_ref().map(bind_admin).transpose()?;
    let telemetry =
        Telemetry::new(sink(&settings.access_log)?).map_err(|error| ServeError::Start(error.to_string()))?;
    let telemetry = Arc::new(telemetry);
    let live = Arc::new(Live::new(path, loaded, Arc::clone(&telemetry)));
    let app = Arc::new(App {
        budget: Budget::new(settings.inflight_bodies, telemetry.inflight_body_bytes.clone()),
        live: Arc::clone(&live),
        telemetry: Arc::clone(&telemetry),
        connector: TransportConnector::new(None),
        bounds: HeadBounds {
            bytes: settings.max_head,
            deadline: settings.head_deadline,
            idle: settings.keepalive,
        },
        max_connections: settings.max_connections,
        connections: AtomicUsize::new(0),
        in_flight: AtomicUsize::new(0),
        stopping: AtomicBool::new(false),
    });

    let threads = settings
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    // Workers do not steal: a connection, its upstream and its buffers stay with one.
    let workers = Runtime::new_no_steal(threads, "worker");
    let control = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| ServeError::Start(error.to_string()))?;
    let (stop, stopped) = channel::channel(false);

    let addresses: Vec<SocketAddr> = listeners.iter().map(|(address, _)| *address).collect();
    let mut service = service(&addresses, Arc::clone(&app));
    let fds = hand_over(listeners);
    workers.get_handle().spawn({
        let stopped = stopped.clone();
        async move { service.start_service(Some(fds), stopped, 1).await }
    });
    if let Some(every) = settings.watch {
        watch::watch(Arc::clone(&live), every);
    }
    control.block_on(async {
        let shown = admin.as_ref().map(admin::Bound::name);
        if let Some(admin) = admin {
            admin.listen(Arc::clone(&app));
        }
        tokio::spawn(sweep(Arc::clone(&live)));
        let signals = Signals::new().map_err(|error| ServeError::Start(error.to_string()))?;
        ready(&addresses, shown);
        signals.until_stop(&live).await;
        tracing::info!(grace = ?settings.grace, "stopping: no new connections");
        app.stopping.store(true, Ordering::SeqCst);
        let _ = stop.send(true);
        drain(&app, settings.grace).await;
        Ok(())
    })?;
    telemetry.flush(Duration::from_secs(2));
    workers.shutdown_timeout(Duration::from_millis(100));
    Ok(())
}

/// A panic's message may quote what it choked on: only its place is told.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "something unforeseen: please report it");
    }));
}

/// Waits until nothing is in flight, or `grace` is over.
async fn drain(app: &App, grace: Duration) {
    let until = Instant::now() + grace;
    loop {
        // Connections just accepted get a moment to say what they came for.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let left = app.in_flight.load(Ordering::SeqCst);
        if left == 0 {
            tracing::info!("stopped: nothing was in flight");
            return;
        }
        if Instant::now() >= until {
            tracing::warn!(left, "stopped: the grace is over and requests were in flight");
            return;
        }
    }
}

async fn sweep(live: Arc<Live>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let snapshot = live.snapshot();
        for limiter in snapshot.gateway.routes().flat_map(|route| route.limits.each()) {
            limiter.sweep();
        }
    }
}

struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// SIGHUP reloads; SIGTERM and SIGINT stop.
    async fn until_stop(mut self, live: &Arc<Live>) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {
                    let live = Arc::clone(live);
                    tokio::task::spawn_blocking(move || live.reload());
                }
            }
        }
    }
}

/// Binds before anything else starts, so that a taken port is an error and not a panic, and port 0
/// becomes a number.
fn bind(settings: &Settings) -> Result<Vec<(SocketAddr, TcpListener)>, ServeError> {
    let open = |address: &SocketAddr| {
        let failed = |cause| ServeError::Listen { address: address.to_string(), cause };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        Ok((bound, listener))
    };
    settings.listen.iter().map(open).collect()
}

fn bind_admin(address: &AdminAddress) -> Result<admin::Bound, ServeError> {
    admin::Bound::bind(address).map_err(|cause| ServeError::Listen {
        address: match address {
            AdminAddress::Tcp(address) => address.to_string(),
            AdminAddress::Unix(path) => path.display().to_string(),
        },
        cause,
    })
}

/// Pingora takes listeners from a table of descriptors, as it does when an older process hands over.
fn hand_over(listeners: Vec<(SocketAddr, TcpListener)>) -> ListenFds {
    let mut fds = Fds::new();
    for (address, listener) in listeners {
        fds.add(address.to_string(), listener.into_raw_fd());
    }
    ListenFds::new(fds.into())
}

/// No buffers in pingora's streams: ours are in [`super::connection`], and only while they are needed.
fn service(addresses: &[SocketAddr], app: Arc<App>) -> Service<Door> {
    let mut service = Service::new("formgate".into(), Door(app));
    for address in addresses {
        let listener = ListenerConfig::tcp(address.to_string());
        service.add_listener(listener.l4_buffer(L4BufferSettings::unbuffered()));
    }
    service
}

fn sink(access_log: &AccessLog) -> Result<Sink, ServeError> {
    match access_log {
        AccessLog::Stdout => Ok(Sink::Stdout),
        AccessLog::Off => Ok(Sink::Off),
        AccessLog::File(path) => {
            let opened = OpenOptions::new().create(true).append(true).open(path);
            opened
                .map(Sink::File)
                .map_err(|cause| ServeError::AccessLog { path: path.display().to_string(), cause })
        }
    }
}
