//! A `redis-server` for unit tests: the real one, on a unix socket, without a port. Where there is none the tests that
//! want one say so and go on, but for `FORMGATE_CI`, where it must be there.

use super::redis::{Shared, SharedRecords};
use super::{Bounds, Home, Records};
use crate::config::{Policy, RedisAddress, RedisStore, WhenDown};
use crate::telemetry::StoreMeters;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// Started once, and ended with the tests: by its own watch, for a static is not dropped.
pub(super) struct Server {
    socket: PathBuf,
    child: Option<Child>,
    tenants: AtomicUsize,
}

static SERVER: LazyLock<Option<Server>> = LazyLock::new(|| Server::start(&[]));

impl Server {
    pub(super) fn shared() -> Option<&'static Self> {
        SERVER.as_ref()
    }

    pub(super) fn start(more: &[&str]) -> Option<Self> {
        // Short: a socket's path has 107 bytes.
        let dir = std::env::temp_dir().join(format!("fg-redis-{:08x}", fastrand::u32(..)));
        std::fs::create_dir(&dir).unwrap();
        let socket = dir.join("s");
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"]).arg(&socket);
        command.arg("--dir").arg(&dir).args(more).stdout(Stdio::null());
        let Ok(child) = command.spawn() else {
            assert!(std::env::var_os("FORMGATE_CI").is_none(), "no redis-server");
            eprintln!("not run against Redis: there is no redis-server");
            return None;
        };
        // Dies with us, however we end, and takes its folder along.
        let watch = format!(
            "while kill -0 {} 2>/dev/null && kill -0 {} 2>/dev/null; do sleep 0.5; done; kill -9 {} 2>/dev/null; rm -rf {}",
            std::process::id(),
            child.id(),
            child.id(),
            dir.display()
        );
        let mut shell = Command::new("sh");
        let watching = shell.arg("-c").arg(watch).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        // It ends after us.
        std::mem::forget(watching.unwrap());
        let until = Instant::now() + Duration::from_secs(30);
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            assert!(Instant::now() < until, "redis-server does not come to serve");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(Self { socket, child: Some(child), tenants: AtomicUsize::new(0) })
    }

    /// A prefix of its own.
    pub(super) fn tenant(&self) -> Tenant {
        let number = self.tenants.fetch_add(1, Ordering::SeqCst);
        Tenant { socket: self.socket.as_path().into(), prefix: format!("t{number}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[derive(Clone)]
pub(super) struct Tenant {
    pub(super) socket: Arc<Path>,
    pub(super) prefix: String,
}

impl Tenant {
    pub(super) fn store(&self, when_down: Policy) -> RedisStore {
        RedisStore {
            address: RedisAddress::Unix(self.socket.to_path_buf()),
            database: 0,
            user: None,
            password: None,
            prefix: self.prefix.clone(),
            // Tests run beside many others.
            timeout: Duration::from_secs(20),
            when_down: WhenDown { records: when_down, limits: when_down },
            shares_limits: true,
        }
    }

    pub(super) fn records(&self, bounds: Bounds) -> Records {
        Self::records_by(&self.store(Policy::Refuse), bounds)
    }

    fn records_by(store: &RedisStore, bounds: Bounds) -> Records {
        let shared = Shared::open(store, StoreMeters::new().unwrap()).unwrap();
        let records = SharedRecords::new(shared, bounds, store.when_down.records);
        Records(Arc::new(Home::Redis(Box::new(records))))
    }

    /// Lets the server's clock be ahead, for this tenant.
    pub(super) fn skip(&self, time: Duration) {
        let client = redis::Client::open(redis::ConnectionAddr::Unix(self.socket.to_path_buf())).unwrap();
        let mut connection = client.get_connection().unwrap();
        let name = format!("{{{}}}:skipped", self.prefix);
        let millis = u64::try_from(time.as_millis()).unwrap();
        let _: u64 = redis::cmd("INCRBY").arg(name).arg(millis).query(&mut connection).unwrap();
    }
}
