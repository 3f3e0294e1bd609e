//! The files of one load. Each is read once; what was read is what is judged, served and hashed.

use crate::hex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The YAML file, in bytes, at most.
pub(super) const MAX_YAML: u64 = 8 << 20;
/// A form file, in bytes, at most. `form` sets a lower bound on what it compiles, with a better reason.
pub(super) const MAX_FORM: u64 = 4 << 20;
/// A secret file, in bytes, at most.
pub(super) const MAX_SECRET: u64 = 16 << 10;

/// A PEM file of certificates, in bytes, at most: the roots of a whole machine are a quarter of it.
pub(super) const MAX_ROOTS: u64 = 1 << 20;

/// Reads, remembers, and keeps the order.
pub(super) struct Files {
    base: PathBuf,
    taken: Vec<Taken>,
    /// Where a path is among them.
    places: HashMap<PathBuf, usize>,
}

/// What was read of a load, to tell whether the files still say the same: private keys are in it, so it is never shown.
#[derive(Debug)]
pub(super) struct Reading {
    files: Vec<(PathBuf, u64)>,
    digest: [u8; 32],
}

struct Taken {
    path: PathBuf,
    /// The limit it was read with.
    limit: u64,
    /// As the YAML names it: the digest is the same wherever the directory stands.
    name: String,
    outcome: Result<Rc<[u8]>, String>,
    /// What the digest is over: nothing of a private key.
    digested: bool,
}

impl Files {
    /// Nothing read yet; names are taken relative to the directory of `yaml`.
    pub(super) fn beside(yaml: &Path) -> Self {
        Self {
            base: yaml.parent().unwrap_or(Path::new("")).to_owned(),
            taken: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Where a name leads.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// The bytes of a file named in the YAML; a second call gives what the first one read.
    pub(super) fn read(&mut self, name: &str, limit: u64) -> Result<Rc<[u8]>, String> {
        self.read_at(self.path_of(name), name, limit, true)
    }

    /// A private key: it stays out of the digest. Another key comes with another certificate, which is in it.
    pub(super) fn read_key(&mut self, name: &str, limit: u64) -> Result<Rc<[u8]>, String> {
        self.read_at(self.path_of(name), name, limit, false)
    }

    /// What may help where a file of the YAML cannot be read.
    pub(super) fn help(&self, name: &str) -> &'static str {
        let path = self.path_of(name);
        // Only what is a file is opened, as in `read_bounded`.
        let opened = std::fs::metadata(&path)
            .and_then(|data| if data.is_file() { File::open(&path).map(|_| data) } else { Ok(data) });
        match opened {
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                "it must be readable by the user that runs formgate: `chgrp` and `chmod 640`, or `chown`"
            }
            Ok(data) if data.is_dir() => "it is a folder: name a file in it",
            Ok(_) | Err(_) => "the path is relative to the YAML file",
        }
    }

    /// Whether every user of the machine may write to the file.
    pub(super) fn is_written_by_all(&self, name: &str) -> bool {
        let data = std::fs::metadata(self.path_of(name));
        data.is_ok_and(|data| data.permissions().mode() & 0o002 != 0)
    }

    /// Whether every user of the machine may read the file, or others than its owner may write to it.
    pub(super) fn is_open_to_all(&self, name: &str) -> bool {
        let data = std::fs::metadata(self.path_of(name));
        data.is_ok_and(|data| data.permissions().mode() & 0o026 != 0)
    }

    /// The same, for the YAML itself, which goes by no name.
    pub(super) fn read_yaml(&mut self, path: &Path) -> Result<Rc<[u8]>, String> {
        self.read_at(path.to_owned(), "", MAX_YAML, true)
    }

    fn read_at(&mut self, path: PathBuf, name: &str, limit: u64, digested: bool) -> Result<Rc<[u8]>, String> {
        if let Some(taken) = self.places.get(&path).and_then(|place| self.taken.get_mut(*place)) {
            taken.digested |= digested;
            return taken.outcome.clone();
        }
        self.places.insert(path.clone(), self.taken.len());
        let outcome = read_bounded(&path, limit);
        self.taken.push(Taken { path, limit, name: name.to_owned(), outcome: outcome.clone(), digested });
        outcome
    }

    /// Every file asked for, also those that could not be read: they may appear.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.taken.iter().map(|taken| taken.path.clone()).collect()
    }

    /// What has been read.
    pub(super) fn reading(&self) -> Reading {
        let files = self.taken.iter().map(|taken| (taken.path.clone(), taken.limit)).collect();
        Reading { files, digest: digest_of(self.taken.iter().map(|taken| &taken.outcome)) }
    }

    /// Hex SHA-256 over names and bytes of all that was read, private keys left out, cut to 32 characters.
    pub(super) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for taken in &self.taken {
            let bytes: &[u8] = match &taken.outcome {
                Ok(bytes) if taken.digested => bytes,
                Ok(_) | Err(_) => &[],
            };
            for part in [taken.name.as_bytes(), bytes] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
        }
        hex::of(&hash.finalize()[..16])
    }
}

impl Reading {
    /// The files, the YAML first.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Whether reading the same files again gives the same.
    pub(super) fn still_holds(&self) -> bool {
        let read: Vec<_> = self.files.iter().map(|(path, limit)| read_bounded(path, *limit)).collect();
        digest_of(read.iter()) == self.digest
    }
}

/// Over what was read, and over what could not be.
fn digest_of<'r>(outcomes: impl Iterator<Item = &'r Result<Rc<[u8]>, String>>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for outcome in outcomes {
        let (is_read, bytes): (u8, &[u8]) = match outcome {
            Ok(bytes) => (1, bytes),
            Err(reason) => (0, reason.as_bytes()),
        };
        hash.update([is_read]);
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    }
    hash.finalize().into()
}

fn read_bounded(path: &Path, limit: u64) -> Result<Rc<[u8]>, String> {
    let cannot = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    // Looked at before it is opened: opening a FIFO would wait for a writer.
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        return Err(format!("cannot read {}: not a file", path.display()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > limit {
        return Err(format!("{} is larger than {limit} bytes", path.display()));
    }
    Ok(bytes.into())
}
