//! What holds for the process rather than for a generation.

use crate::gateway::ForwardedField;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What cannot change without a restart, and the few process-wide numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// At least one; port 0 takes any free port.
    pub listen: Vec<Listen>,
    /// Metrics, health, snapshot, reload.
    pub admin: Option<AdminAddress>,
    /// Worker threads; `None` is one per core.
    pub threads: Option<usize>,
    /// How the outside names this gateway; no slash at the end.
    pub public_url: Option<String>,
    /// Connections open at once, all listeners together; one more is closed at once.
    pub max_connections: usize,
    /// Bytes of bodies held at once, all requests together.
    pub inflight_bodies: usize,
    /// Bytes of a request head.
    pub max_head: usize,
    /// From the first byte of a head to its last.
    pub head_deadline: Duration,
    /// How long a connection may wait between requests.
    pub keepalive: Duration,
    /// How long a stop waits for requests in flight.
    pub grace: Duration,
    /// How long a stop goes on serving before it closes the listeners; zero is not at all.
    pub leave: Duration,
    /// Where the access lines go.
    pub access_log: AccessLog,
    /// Where acts that must not be done twice are recorded.
    pub store: Store,
    /// Where traces go; `None` is nowhere. Which requests are traced is each generation's.
    pub traces: Option<Collector>,
    /// How often files are looked at for changes; `None` is never.
    pub watch: Option<Duration>,
    /// What becomes of a reload that admits more than before.
    pub on_widening: OnWidening,
}

/// What becomes of a reload after which a form admits what it refused, or a new address is there; the laxer first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum OnWidening {
    /// It is taken over.
    #[default]
    Allow,
    /// It is taken over, and the log says what it widens.
    Warn,
    /// It is refused like a broken file.
    Refuse,
}

/// Where acts that must not be done twice are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// In what.
    pub home: StoreHome,
    /// Records, at most.
    pub max_records: u64,
    /// Bytes of all records, at most.
    pub max_bytes: u64,
    /// A client may hold one part in so many.
    pub client_share: u64,
}

/// In what records are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreHome {
    /// Gone with the process.
    Memory,
    /// A database file.
    File(PathBuf),
    /// A Redis or Valkey that several instances share.
    Redis(Box<RedisStore>),
}

/// A Redis or Valkey that several instances share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisStore {
    /// Where it is.
    pub address: RedisAddress,
    /// The number of the database.
    pub database: u32,
    /// The ACL user; the server's default where there is none.
    pub user: Option<String>,
    /// Its password.
    pub password: Option<Secret>,
    /// What all names in it begin with.
    pub prefix: String,
    /// How long one answer is waited for.
    pub timeout: Duration,
    /// What is done while it is down.
    pub when_down: WhenDown,
    /// Whether the rates of acts are counted in it.
    pub shares_limits: bool,
}

/// Where a Redis is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedisAddress {
    /// A host and a port.
    Tcp(String, u16),
    /// A unix socket.
    Unix(PathBuf),
}

/// What is done while the shared store is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WhenDown {
    /// With acts that have a key.
    pub records: Policy,
    /// With all acts, where rates are shared.
    pub limits: Policy,
}

/// What is done without the shared store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Nothing.
    Refuse,
    /// What this instance alone knows is gone by.
    Local,
}

/// What must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// From a file.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// To whom it is for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) if host.contains(':') => write!(f, "redis://[{host}]:{port}"),
            Self::Tcp(host, port) => write!(f, "redis://{host}:{port}"),
            Self::Unix(path) => write!(f, "redis+unix://{}", path.display()),
        }
    }
}

/// Where traces go: OTLP over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    /// Name or address, IPv6 without its brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The path of the signal, `/v1/traces` mostly.
    pub path: String,
    /// Fields that every request has; they may hold secrets.
    pub fields: Vec<ForwardedField>,
    /// `service.name`.
    pub service: String,
}

/// Where clients connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen {
    /// Address and port.
    pub address: SocketAddr,
    /// Whether TLS is spoken there, and nothing else.
    pub tls: bool,
}

/// As a client would name it: `http://127.0.0.1:8080`.
impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.tls { "https" } else { "http" }, self.address)
    }
}

/// Where the admin listener binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdminAddress {
    /// A loopback address.
    Tcp(SocketAddr),
    /// `unix:/run/formgate/admin.sock`
    Unix(PathBuf),
}

/// Where the access lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessLog {
    /// Standard output.
    Stdout,
    /// Nowhere.
    Off,
    /// A file, appended to.
    File(PathBuf),
}

impl Settings {
    /// Names of the settings in which `other` differs, as they stand in the file.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        // Taken apart by name: a new setting does not build until it is compared.
        let Self {
            listen,
            admin,
            threads,
            // Part of each generation: changes live.
            public_url: _,
            max_connections,
            inflight_bodies,
            max_head,
            head_deadline,
            keepalive,
            grace,
            leave,
            access_log,
            store,
            traces,
            watch,
            // The newest that was taken over holds: see `live`.
            on_widening: _,
        } = self;
        [
            ("listen", *listen == other.listen),
            ("admin", *admin == other.admin),
            ("threads", *threads == other.threads),
            ("max_connections", *max_connections == other.max_connections),
            ("inflight_bodies", *inflight_bodies == other.inflight_bodies),
            ("max_head", *max_head == other.max_head),
            ("head_deadline", *head_deadline == other.head_deadline),
            ("keepalive", *keepalive == other.keepalive),
            ("grace", *grace == other.grace),
            ("leave", *leave == other.leave),
            ("access_log", *access_log == other.access_log),
            ("store", *store == other.store),
            ("traces", *traces == other.traces),
            ("watch", *watch == other.watch),
        ]
        .into_iter()
        .filter_map(|(name, same)| (!same).then_some(name))
        .collect()
    }
}
