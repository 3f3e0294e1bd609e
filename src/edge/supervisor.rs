//! What systemd is told (`sd_notify(3)`): that this process is ready, reloads, stops, is replaced, and that its workers
//! still take turns. Datagrams to `$NOTIFY_SOCKET`; where there is none, nothing is done.

use crate::live::{Live, Status};
use pingora_runtime::Runtime;
use rustix::time::{ClockId, clock_gettime};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

/// How often the state is looked at.
const PACE: Duration = Duration::from_secs(1);

/// The process's supervisor, if it has one.
#[derive(Debug)]
pub(super) struct Supervisor {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// Half of what systemd waits for a sign of life.
    watchdog: Option<Duration>,
}

impl Supervisor {
    /// From the environment that systemd sets up.
    pub(super) fn of_environment() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let Some(name) = variable("NOTIFY_SOCKET") else { return Self { socket: None, watchdog: None } };
        let address = match name.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
            _ => SocketAddr::from_pathname(&name),
        };
        let socket = address.and_then(|address| Ok((UnixDatagram::unbound()?, address)));
        let socket = socket.inspect_err(|error| tracing::warn!(%error, "NOTIFY_SOCKET cannot be used")).ok();
        let ours =
            variable("WATCHDOG_PID").is_none_or(|pid| pid.to_str() == Some(&std::process::id().to_string()));
        let wait = variable("WATCHDOG_USEC").filter(|_| ours).and_then(|wait| wait.to_str()?.parse().ok());
        let watchdog = wait.filter(|wait| *wait > 0).map(|wait| Duration::from_micros(wait) / 2);
        Self { socket, watchdog }
    }

    pub(super) fn ready(&self, live: &Live) {
        self.tell(&format!("READY=1\nSTATUS={}", words(&live.status())));
    }

    /// A reload that was asked for; [`Self::ready`] ends it.
    pub(super) fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1000);
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={micros}\nSTATUS=reading the configuration"));
    }

    pub(super) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=stopping: what is in flight finishes");
    }

    /// This process is no longer the one that counts.
    pub(super) fn replaced(&self, by: u32) {
        self.tell(&format!("MAINPID={by}\nSTATUS=replaced by process {by}"));
    }

    /// Tells what is served whenever that changes, and gives signs of life as long as every worker takes a turn.
    pub(super) async fn watch(self: Arc<Self>, live: Arc<Live>, workers: Arc<Runtime>, threads: usize) {
        if self.socket.is_none() {
            return;
        }
        let mut said = words(&live.status());
        let pace = self.watchdog.map_or(PACE, |wait| wait.min(PACE));
        loop {
            tokio::time::sleep(pace).await;
            let now = words(&live.status());
            if now != said {
                self.tell(&format!("STATUS={now}"));
                said = now;
            }
            if let Some(wait) = self.watchdog {
                if tokio::time::timeout(wait, turns(&workers, threads)).await.is_ok() {
                    self.tell("WATCHDOG=1");
                } else {
                    tracing::error!("a worker takes no turns: systemd is given no sign of life");
                }
            }
        }
    }

    /// One datagram, never waited for long: a supervisor that does not read must not hold up requests.
    fn tell(&self, state: &str) {
        let Some((socket, address)) = &self.socket else { return };
        let _ = socket.set_nonblocking(true);
        if let Err(error) = socket.send_to_addr(state.as_bytes(), address) {
            tracing::warn!(%error, "systemd cannot be told");
        }
    }
}

/// Until every worker has taken one.
async fn turns(workers: &Runtime, threads: usize) {
    let Runtime::NoSteal(workers) = workers else { return };
    for number in 0..threads {
        let _ = workers.get_runtime_at(number).spawn(async {}).await;
    }
}

/// One line, as `systemctl status` shows it.
fn words(status: &Status) -> String {
    let digest = status.digest.get(..12).unwrap_or(&status.digest);
    match &status.refused {
        None => format!("serving {digest}"),
        Some(refused) => {
            format!("serving {digest}; the newest files are refused: {} faults", refused.faults.len())
        }
    }
}
