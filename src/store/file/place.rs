//! Whose the file is: the file itself, and a lock beside it that every process holds while it has the file open.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another process may take to set the file up: it reads all of it. Shorter than a hand-over waits.
const PATIENCE: Duration = Duration::from_secs(25);
const PACE: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    /// Held by itself while the file is set up by one that is alone, together with others afterwards. The
    /// system lets go of it when the process ends, however it ends.
    lock: File,
    alone: bool,
    /// Device and number of the file: another one at its path is not what we have open.
    identity: (u64, u64),
}

impl Place {
    /// Makes the file if it is not there, for nobody else to read, and finds out whether others have it.
    pub(super) fn claim(path: &Path) -> Result<Self, String> {
        let open = |path: &Path| {
            let opened =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
            opened.map_err(|error| explained(path, &error))
        };
        let identity = identity(&open(path)?.metadata().map_err(|error| explained(path, &error))?);
        let mut beside = path.as_os_str().to_owned();
        beside.push(".lock");
        let beside = PathBuf::from(beside);
        let lock = open(&beside)?;
        let alone = match lock.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => return Err(explained(&beside, &error)),
        };
        let place = Self { path: path.to_owned(), lock, alone, identity };
        if !alone {
            place.share()?;
        }
        Ok(place)
    }

    /// No other process has the file open: what is pending in it is nobody's.
    pub(super) fn alone(&self) -> bool {
        self.alone
    }

    /// Lets others in. Whoever finds itself alone in between finds nothing pending of ours: nothing was begun.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        if self.alone {
            self.lock.unlock().map_err(|error| explained(&self.path, &error))?;
            self.share()?;
        }
        Ok(())
    }

    /// `Err` when the path no longer leads to what is open: another process would write into another file.
    pub(super) fn is_ours(&self) -> Result<(), String> {
        match std::fs::metadata(&self.path) {
            Ok(metadata) if identity(&metadata) == self.identity => Ok(()),
            Ok(_) => Err("the file was replaced by another one while it was open".to_owned()),
            Err(error) => Err(format!("the file is gone: {error}")),
        }
    }

    fn share(&self) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.lock.try_lock_shared() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PACE),
                Err(TryLockError::WouldBlock) => {
                    return Err("another process is setting it up and does not come to an end".to_owned());
                }
                Err(TryLockError::Error(error)) => return Err(explained(&self.path, &error)),
            }
        }
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// The system's words, and which file they are about when it is not plain.
fn explained(path: &Path, error: &io::Error) -> String {
    match (error.kind(), path.parent()) {
        (io::ErrorKind::NotFound, Some(folder)) => {
            format!("its folder {} is not there ({error})", folder.display())
        }
        _ => format!("{} cannot be opened: {error}", path.display()),
    }
}
