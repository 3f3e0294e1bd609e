//! Records of acts that must not be done twice (REQUIREMENTS B-30): in memory, or in a file that outlives the
//! process and may be shared with others on this machine. I/O and bookkeeping; what a record means is decided
//! in `gateway`.
//!
//! What holds for both: a key is begun at most once while its record lives; a record is never evicted for a new
//! one, so a full store turns new keys away; a pending record whose lease is over, or whose process is known to
//! be gone, is read as unknown; and where the records cannot be reached, that is what is said.

mod clock;
mod file;
mod memory;
#[cfg(test)]
mod model;

pub use crate::gateway::{Begun, End, Fingerprint, Found, Key, ReceiptId, State};

use file::FileRecords;
use memory::Memory;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The records. A clone is the same records.
#[derive(Debug, Clone)]
pub struct Records(Arc<Home>);

#[derive(Debug)]
enum Home {
    Memory(Memory),
    File(FileRecords),
}

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Records.
    pub records: u64,
    /// Bytes of all records, [`OVERHEAD`] for each included. Asked before an act is begun: what acts in flight
    /// store may come on top.
    pub bytes: u64,
}

/// What a record costs besides its answer, in bytes.
pub const OVERHEAD: u64 = 256;

/// The records cannot be reached. Nothing was begun, as far as the caller is concerned: it must not act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the records cannot be reached")]
pub struct Down;

/// Why a file of records cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot keep records in {}: {cause}", path.display())]
pub struct StoreFault {
    /// The file.
    pub path: PathBuf,
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

impl Records {
    /// Gone with the process.
    pub fn in_memory(bounds: Bounds) -> Self {
        Self(Arc::new(Home::Memory(Memory::new(bounds))))
    }

    /// In a database file, made if it is not there, with `PATH.lock`, `PATH-wal` and `PATH-shm` beside it.
    /// Several processes of one machine may open it. Blocks.
    pub fn open(path: &Path, bounds: Bounds) -> Result<Self, StoreFault> {
        let opened = FileRecords::open(path, bounds);
        let opened = opened.map_err(|cause| StoreFault { path: path.to_owned(), cause })?;
        Ok(Self(Arc::new(Home::File(opened))))
    }

    /// The live record of a key.
    pub async fn find(&self, key: Key) -> Result<Option<Found>, Down> {
        match &*self.0 {
            Home::Memory(memory) => Ok(memory.find(key)),
            Home::File(file) => file.find(key).await,
        }
    }

    /// Makes the key pending if it is free; durable before it returns.
    ///
    /// `lease` is how long the act may take, at most; `keep` how long the key is remembered, from now. A record
    /// always outlives its lease.
    pub async fn begin(
        &self,
        key: Key,
        fingerprint: Fingerprint,
        lease: Duration,
        keep: Duration,
    ) -> Result<Begun, Down> {
        match &*self.0 {
            Home::Memory(memory) => memory.begin(key, fingerprint, lease, keep),
            Home::File(file) => file.begin(key, fingerprint, lease, keep).await,
        }
    }

    /// Ends what was begun; durable before it returns. Only a pending record is changed: one that has ended
    /// stays as it is.
    pub async fn finish(&self, key: Key, end: End) -> Result<(), Down> {
        match &*self.0 {
            Home::Memory(memory) => {
                memory.finish(key, end);
                Ok(())
            }
            Home::File(file) => file.finish(key, end).await,
        }
    }

    /// The same for an act that was left in the middle: unknown, and nobody waits for it to be written.
    pub fn abandon(&self, key: Key) {
        match &*self.0 {
            Home::Memory(memory) => memory.finish(key, End::Unknown),
            Home::File(file) => file.abandon(key),
        }
    }

    /// The live record of this name.
    pub async fn receipt(&self, id: ReceiptId) -> Result<Option<Found>, Down> {
        match &*self.0 {
            Home::Memory(memory) => Ok(memory.receipt(id)),
            Home::File(file) => file.receipt(id).await,
        }
    }

    /// Forgets what is no longer live, and finds out whether the records can be reached. Not waited for.
    pub fn sweep(&self) {
        match &*self.0 {
            Home::Memory(memory) => memory.sweep(),
            Home::File(file) => file.sweep(),
        }
    }

    /// How many records are kept.
    pub fn count(&self) -> u64 {
        match &*self.0 {
            Home::Memory(memory) => memory.count(),
            Home::File(file) => file.count(),
        }
    }

    /// Set while the records cannot be reached.
    pub fn trouble(&self) -> Option<Trouble> {
        match &*self.0 {
            Home::Memory(_) => None,
            Home::File(file) => file.trouble(),
        }
    }

    /// Writes what is waiting and lets go of the file, within the time. Blocks; for a stop.
    pub fn close(&self, within: Duration) {
        match &*self.0 {
            Home::Memory(_) => {}
            Home::File(file) => file.close(within),
        }
    }
}

/// A new name for a record. The system's randomness: a name is all that guards what it leads to.
fn new_receipt() -> Result<ReceiptId, Down> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Down)?;
    Ok(ReceiptId::from(bytes))
}
