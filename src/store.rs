//! Records of acts that must not be done twice (REQUIREMENTS B-30): in memory, in a file that outlives the process
//! and may be shared with others on this machine, or in a Redis that several instances share; there, what clients
//! have used up of their rates is counted, too. I/O and bookkeeping; what a record means is decided
//! in `gateway`.
//!
//! What holds for all three: a key is begun at most once while its record lives; a record is never evicted for a new
//! one, so a full store turns new keys away; a pending record whose lease is over, or whose process is known to
//! be gone, is read as unknown; one client cannot take all the room from the others; and where the records cannot be reached, that is what is said.

mod clock;
mod file;
mod memory;
#[cfg(test)]
mod model;
mod redis;
#[cfg(test)]
mod server;

pub use crate::gateway::{Begun, End, Fingerprint, Found, Holder, Key, ReceiptId, State, Terms};

pub use redis::Rates;
#[cfg(fuzzing)]
#[doc(hidden)]
pub use redis::fuzzing;

use crate::config::{RedisStore, Store, StoreHome};
use crate::telemetry::StoreMeters;
use file::FileRecords;
use memory::Memory;
use redis::{Shared, SharedRecords};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The records. A clone is the same records.
#[derive(Debug, Clone)]
pub struct Records(Arc<Home>);

#[derive(Debug)]
enum Home {
    Memory(Box<Memory>),
    File(FileRecords),
    Redis(Box<SharedRecords>),
}

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Of all. Bytes are asked before an act is begun: what acts in flight store may come on top.
    pub all: Holding,
    /// Of one client, once more than half of all is used.
    pub client: Holding,
}

/// Records, or room for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Holding {
    /// Records.
    pub records: u64,
    /// Their bytes, [`OVERHEAD`] for each included.
    pub bytes: u64,
}

impl Bounds {
    /// What one client may always have: a smaller share would hinder those who do no harm.
    const CLIENT: Holding = Holding { records: 16, bytes: 1 << 20 };

    /// A client may have one part in so many; the whole where that is 1.
    pub fn shared(records: u64, bytes: u64, parts: u64) -> Self {
        let part = |whole: u64, least: u64| (whole / parts.max(1)).max(least);
        let client =
            Holding { records: part(records, Self::CLIENT.records), bytes: part(bytes, Self::CLIENT.bytes) };
        Self { all: Holding { records, bytes }, client }
    }

    /// A client may have all of it.
    pub fn undivided(records: u64, bytes: u64) -> Self {
        Self::shared(records, bytes, 1)
    }

    /// Why a new key is turned away, if it is: the one place where that is decided for memory and file.
    fn turn_away(&self, used: Holding, held: impl FnOnce() -> Holding) -> Option<Begun> {
        let reaches = |used: u64, bound: u64| used >= bound;
        let passes_half = |used: u64, bound: u64| used > bound / 2;
        let any = |judge: fn(u64, u64) -> bool, used: Holding, bound: Holding| {
            judge(used.records, bound.records) || judge(used.bytes, bound.bytes)
        };
        if any(reaches, used, self.all) {
            Some(Begun::Full)
        } else if any(passes_half, used, self.all) && any(reaches, held(), self.client) {
            Some(Begun::Crowded)
        } else {
            None
        }
    }
}

impl Holding {
    fn gain(&mut self, more: Self) {
        self.records += more.records;
        self.bytes += more.bytes;
    }

    fn lose(&mut self, less: Self) {
        self.records = self.records.saturating_sub(less.records);
        self.bytes = self.bytes.saturating_sub(less.bytes);
    }
}

/// What a record costs besides its answer, in bytes.
pub const OVERHEAD: u64 = 256;

/// The records cannot be reached. Nothing was begun, as far as the caller is concerned: it must not act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the records cannot be reached")]
pub struct Down;

/// Why records cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error("cannot keep records in {place}: {cause}")]
pub struct StoreFault {
    /// The file or the server.
    pub place: String,
    /// What is wrong with it.
    pub cause: String,
}

/// The records could not be reached when it was last tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Since when.
    pub since: SystemTime,
    /// What the system or the database says.
    pub cause: String,
}

/// What the config says is kept, and where.
#[derive(Debug)]
pub struct Kept {
    /// Acts that must not be done twice.
    pub records: Records,
    /// What clients have used up of their rates, where that is shared.
    pub rates: Option<Arc<Rates>>,
}

impl Kept {
    /// Opens what the config names. A file must be there to be used; a server may come later. Blocks.
    pub fn open(store: &Store, meters: StoreMeters) -> Result<Self, StoreFault> {
        let bounds = Bounds::shared(store.max_records, store.max_bytes, store.client_share);
        match &store.home {
            StoreHome::Memory => Ok(Self { records: Records::in_memory(bounds), rates: None }),
            StoreHome::File(path) => Ok(Self { records: Records::open(path, bounds)?, rates: None }),
            StoreHome::Redis(redis) => Self::share(redis, bounds, meters),
        }
    }

    fn share(redis: &RedisStore, bounds: Bounds, meters: StoreMeters) -> Result<Self, StoreFault> {
        let shared = Shared::open(redis, meters)
            .map_err(|cause| StoreFault { place: redis.address.to_string(), cause })?;
        let rates = redis.shares_limits.then(|| Arc::new(Rates::new(shared.clone(), redis.when_down.limits)));
        let records = SharedRecords::new(shared, bounds, redis.when_down.records);
        Ok(Self { records: Records(Arc::new(Home::Redis(Box::new(records)))), rates })
    }
}

/// Whether what the config names can be used from here, where that is, and what should be known about it. Makes nothing.
/// Blocks.
pub fn try_out(store: &Store) -> (String, Result<Vec<String>, String>) {
    match &store.home {
        StoreHome::Memory => ("memory".to_owned(), Ok(Vec::new())),
        StoreHome::File(path) => (path.display().to_string(), try_file(path).map(|()| Vec::new())),
        StoreHome::Redis(redis) => {
            let shared = StoreMeters::new().map_err(|error| error.to_string());
            let shared = shared.and_then(|meters| Shared::open(redis, meters));
            let found = shared.and_then(|shared| match shared.trouble() {
                None => Ok(shared.warnings()),
                Some(trouble) => Err(trouble.cause),
            });
            (redis.address.to_string(), found)
        }
    }
}

fn try_file(path: &Path) -> Result<(), String> {
    if path.exists() {
        let opened = std::fs::OpenOptions::new().read(true).write(true).open(path);
        return opened.map(drop).map_err(|error| error.to_string());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match std::fs::metadata(folder) {
        Ok(folder) if !folder.is_dir() => Err("its folder is none".to_owned()),
        Ok(folder) if folder.permissions().readonly() => Err("its folder cannot be written".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("its folder {}: {error}", folder.display())),
    }
}

impl Records {
    /// Gone with the process.
    pub fn in_memory(bounds: Bounds) -> Self {
        Self(Arc::new(Home::Memory(Box::new(Memory::new(bounds)))))
    }

    /// In a database file, made if it is not there, with `PATH.lock`, `PATH-wal` and `PATH-shm` beside it.
    /// Several processes of one machine may open it. Blocks.
    pub fn open(path: &Path, bounds: Bounds) -> Result<Self, StoreFault> {
        let opened = FileRecords::open(path, bounds);
        let opened = opened.map_err(|cause| StoreFault { place: path.display().to_string(), cause })?;
        Ok(Self(Arc::new(Home::File(opened))))
    }

    /// The live record of a key.
    pub async fn find(&self, key: Key) -> Result<Option<Found>, Down> {
        match &*self.0 {
            Home::Memory(memory) => Ok(memory.find(key)),
            Home::File(file) => file.find(key).await,
            Home::Redis(shared) => shared.find(key).await,
        }
    }

    /// Makes the key pending if it is free; durable before it returns.
    ///
    /// It is kept from now on, and always outlives its lease.
    pub async fn begin(&self, terms: &Terms) -> Result<Begun, Down> {
        match &*self.0 {
            Home::Memory(memory) => memory.begin(terms),
            Home::File(file) => file.begin(terms).await,
            Home::Redis(shared) => shared.begin(terms).await,
        }
    }

    /// Ends what was begun under this receipt; durable before it returns. Only a pending record is changed: one that has ended
    /// stays as it is, and so does one that was begun anew.
    pub async fn finish(&self, key: Key, receipt: ReceiptId, end: End) -> Result<(), Down> {
        match &*self.0 {
            Home::Memory(memory) => {
                memory.finish(key, receipt, end);
                Ok(())
            }
            Home::File(file) => file.finish(key, receipt, end).await,
            Home::Redis(shared) => shared.finish(key, receipt, end).await,
        }
    }

    /// The same for an act that was left in the middle: unknown, and nobody waits for it to be written.
    pub fn abandon(&self, key: Key, receipt: ReceiptId) {
        match &*self.0 {
            Home::Memory(memory) => {
                memory.finish(key, receipt, End::Unknown);
            }
            Home::File(file) => file.abandon(key, receipt),
            Home::Redis(shared) => shared.abandon(key, receipt),
        }
    }

    /// The live record of this name.
    pub async fn receipt(&self, id: ReceiptId) -> Result<Option<Found>, Down> {
        match &*self.0 {
            Home::Memory(memory) => Ok(memory.receipt(id)),
            Home::File(file) => file.receipt(id).await,
            Home::Redis(shared) => shared.receipt(id).await,
        }
    }

    /// Forgets what is no longer live, and finds out whether the records can be reached. Not waited for.
    pub fn sweep(&self) {
        match &*self.0 {
            Home::Memory(memory) => memory.sweep(),
            Home::File(file) => file.sweep(),
            Home::Redis(shared) => shared.sweep(),
        }
    }

    /// Something is still to be written.
    #[cfg(test)]
    fn owes(&self) -> bool {
        match &*self.0 {
            Home::Memory(_) | Home::File(_) => false,
            Home::Redis(shared) => shared.owes(),
        }
    }

    /// How many records are kept.
    pub fn count(&self) -> u64 {
        match &*self.0 {
            Home::Memory(memory) => memory.count(),
            Home::File(file) => file.count(),
            Home::Redis(shared) => shared.count(),
        }
    }

    /// Set while the records cannot be reached.
    pub fn trouble(&self) -> Option<Trouble> {
        match &*self.0 {
            Home::Memory(_) => None,
            Home::File(file) => file.trouble(),
            Home::Redis(shared) => shared.trouble(),
        }
    }

    /// What an operator should know of where they are, in words.
    pub fn warnings(&self) -> Vec<String> {
        match &*self.0 {
            Home::Memory(_) | Home::File(_) => Vec::new(),
            Home::Redis(shared) => shared.shared.warnings(),
        }
    }

    /// Writes what is waiting and lets go of the file, within the time. Blocks; for a stop.
    pub fn close(&self, within: Duration) {
        match &*self.0 {
            Home::Memory(_) => {}
            Home::File(file) => file.close(within),
            Home::Redis(shared) => shared.close(within),
        }
    }
}

/// A new name for a record. The system's randomness: a name is all that guards what it leads to.
fn new_receipt() -> Result<ReceiptId, Down> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Down)?;
    Ok(ReceiptId::from(bytes))
}
