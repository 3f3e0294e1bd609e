//! What makes an act repeatable: the key it is known by, a mark of what was asked, and how far it has come.
//! Words only; `store` keeps them, and decides nothing (REQUIREMENTS B-30).

use super::head::ClientKey;
use crate::every::every;
use crate::hex;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::fmt;
use std::time::{Duration, SystemTime};

/// What an act is known by: SHA-256 over a scope, a zero byte and the client's key. A client's key itself is
/// kept nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 32]);

/// SHA-256 over the bytes that would be sent: the same key with another fingerprint is another act, and refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

/// Names a record to the outside, and says nothing about it: random, unguessable, as in `/r/<32 hex digits>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReceiptId([u8; 16]);

/// Whose records are counted together: a client, over all routes and doors. Half of a SHA-256, for a client's address
/// itself is kept nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Holder([u8; 16]);

impl Holder {
    /// The same for each request of a client, and for nobody else's.
    pub fn of(client: ClientKey) -> Self {
        let hash = Sha256::new().chain_update("holder\0").chain_update(client.as_bytes()).finalize();
        let mut half = [0; 16];
        half.iter_mut().zip(hash).for_each(|(byte, hashed)| *byte = hashed);
        Self(half)
    }

    /// As stored.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl From<[u8; 16]> for Holder {
    fn from(stored: [u8; 16]) -> Self {
        Self(stored)
    }
}

impl Key {
    /// `scope` says whose key it is: two scopes never share a record. A route's two doors store different
    /// things, so each has a scope of its own (`post NAME`, `get_action NAME`).
    pub fn of(scope: &str, key: &[u8]) -> Self {
        let hash = Sha256::new().chain_update(scope).chain_update([0]).chain_update(key);
        Self(hash.finalize().into())
    }

    /// As stored.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Fingerprint {
    /// Of the bytes that would be sent.
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }

    /// As stored.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Fingerprint {
    fn from(stored: [u8; 32]) -> Self {
        Self(stored)
    }
}

impl ReceiptId {
    /// From 32 lower-case hexadecimal digits; `None` for anything else.
    pub fn read(digits: &str) -> Option<Self> {
        let lower = !digits.bytes().any(|digit| digit.is_ascii_uppercase());
        hex::bytes(digits).filter(|_| lower).map(Self)
    }

    /// As stored.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// From random bytes, or as stored.
impl From<[u8; 16]> for ReceiptId {
    fn from(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

/// 64 hexadecimal digits: what a log may say of a client's key.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(f, &self.0)
    }
}

/// 32 hexadecimal digits, as [`ReceiptId::read`] takes them.
impl fmt::Display for ReceiptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(f, &self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(f, &self.0)
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(f, &self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(f, &self.0)
    }
}

impl fmt::Debug for ReceiptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(f, &self.0)
    }
}

/// A record, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Of the act that the key was first used for.
    pub fingerprint: Fingerprint,
    /// How far that act has come.
    pub state: State,
    /// The record's name to the outside.
    pub receipt: ReceiptId,
    /// When it was begun, by the store's clock.
    pub since: SystemTime,
}

/// How far an act has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Under way, as far as anyone knows.
    Pending,
    /// It has ended, and this is what its surface stored: opaque to the store.
    Done(Bytes),
    /// It may have happened: whoever did it has not come back in time. Never done again (P5).
    Unknown,
}

/// How an act that was begun has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// With an answer that is final; later requests get the same.
    Done(Bytes),
    /// Nobody knows how.
    Unknown,
    /// It did not happen, surely: the key is free again.
    Forget,
}

/// What became of beginning an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// The key was free; now it is pending, and the caller does the act.
    Fresh(ReceiptId),
    /// The key is taken: the caller does nothing.
    Exists(Found),
    /// No room for a new key. Those that are there stay.
    Full,
    /// More than half of the room is used, and this holder has its share of it. Others go on.
    Crowded,
}

/// Under which terms an act is done once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// What it is known by.
    pub key: Key,
    /// What it is.
    pub fingerprint: Fingerprint,
    /// In whose share of the room.
    pub holder: Holder,
    /// How long it may take, at most: after that it is taken for lost.
    pub lease: Duration,
    /// How long its key is remembered.
    pub keep: Duration,
    /// How long a second one waits for the first.
    pub wait: Duration,
}

/// What a request with a key came to, as counted: `formgate_replays_total{state}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayState {
    /// Its act was performed now.
    Fresh,
    /// The stored answer was given again.
    Done,
    /// The first act was still under way.
    Pending,
    /// Nobody knows what became of the first act.
    Unknown,
    /// The key was used for something else.
    Conflict,
    /// No room for a new key.
    Full,
    /// No room for a new key of this client.
    Crowded,
    /// The records could not be reached.
    Down,
}

impl ReplayState {
    every![Fresh, Done, Pending, Unknown, Conflict, Full, Crowded, Down];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_two_scopes_differ_and_a_scope_cannot_run_into_its_key() {
        assert_eq!(Key::of("post a", b"k"), Key::of("post a", b"k"));
        for (scope, key) in [("post b", "k"), ("post a", "K"), ("post ", "ak"), ("post ak", "")] {
            assert_ne!(Key::of("post a", b"k"), Key::of(scope, key.as_bytes()), "{scope} {key}");
        }
        assert_ne!(Fingerprint::of(b"{}"), Fingerprint::of(b"{} "));
    }

    #[test]
    fn a_receipt_is_read_as_it_is_written_and_in_no_other_way() {
        let id = ReceiptId::from([0x0f, 0xa0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 255]);
        let written = id.to_string();
        assert_eq!(written, "0fa00102030405060708090a0b0c0dff");
        assert_eq!(ReceiptId::read(&written), Some(id));
        let upper = written.to_uppercase();
        for bad in ["", "0", &written[1..], &format!("{written}0"), &format!("{written}00"), &upper] {
            assert_eq!(ReceiptId::read(bad), None, "{bad}");
        }
        assert_eq!(ReceiptId::read(&written.replace("0f", "é")), None);
    }
}
