//! What several instances share, in a Redis or Valkey: records of acts that must not be done twice, and what clients
//! have used up of their rates. Time is the server's, each question one script, one round trip.
//!
//! While the server is down the config says what is done. With `local` a process goes on by what it knows itself: what it
//! then begins is ended and remembered here, also when the server has come back; and what it began there it knows, too.

mod answers;
mod failure;
#[cfg(fuzzing)]
pub mod fuzzing;
mod link;
mod mark;
mod owed;
mod rates;
mod script;
mod wire;

pub use rates::Rates;

use super::clock::system_time;
use super::memory::Memory;
use super::{
    Begun, Bounds, Down, End, Fingerprint, Found, Holding, Key, ReceiptId, State, Terms, Trouble, new_receipt,
};
use crate::config::{Policy, RedisStore};
use crate::telemetry::{StoreAsk, StoreMeters};
use bytes::Bytes;
use link::Link;
use owed::Debt;
use redis::{FromRedisValue, ParsingError, Value};
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// What this process may keep of records while the server is down.
const LOCAL_BYTES: u64 = 64 << 20;

/// A way to a server. A clone is the same way.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    link: Arc<Link>,
    /// Of the thread that keeps the link: for what nobody waits for.
    thread: Handle,
    /// What names of clients are hashed with.
    secret: Arc<str>,
}

impl Shared {
    pub(super) fn open(store: &RedisStore, meters: StoreMeters) -> Result<Self, String> {
        let (link, thread) = Link::open(store, meters)?;
        let secret = store.password.as_ref().map_or("", |password| password.reveal()).into();
        Ok(Self { link, thread, secret })
    }

    pub(super) fn trouble(&self) -> Option<Trouble> {
        self.link.trouble()
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        self.link.warnings()
    }

    /// A name for something of a client's: without the password nobody can find out whose it is by trying addresses.
    fn name(&self, kind: &str, parts: &[&[u8]]) -> String {
        let mut hash = Sha256::new().chain_update(kind);
        for part in [self.secret.as_bytes()].iter().chain(parts) {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let mut half = [0; 16];
        half.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
        format!("{:032x}", u128::from_be_bytes(half))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The thread has one itself.
        if Arc::strong_count(&self.secret) == 1 {
            self.link.close();
        }
    }
}

#[derive(Debug)]
pub(super) struct SharedRecords {
    pub(super) shared: Shared,
    bounds: Bounds,
    /// Where this process may go on alone while the server is down.
    local: Option<Local>,
}

/// What this process knows by itself.
#[derive(Debug)]
struct Local {
    /// What was begun here, while the server was down: it is nowhere else.
    alone: Memory,
    /// What this process began at the server. Asked only while that is down.
    copies: Memory,
    /// Of two that begin one key at once, one may have been answered there and the other not: here they come one after the
    /// other.
    turn: Mutex<()>,
}

impl SharedRecords {
    pub(super) fn new(shared: Shared, bounds: Bounds, when_down: Policy) -> Self {
        let all = Holding { bytes: bounds.all.bytes.min(LOCAL_BYTES), ..bounds.all };
        let local = match when_down {
            Policy::Refuse => None,
            Policy::Local => {
                let alone = Memory::new(Bounds { all, ..bounds });
                // Whose share it is was judged there.
                let copies = Memory::new(Bounds::undivided(all.records, all.bytes));
                Some(Local { alone, copies, turn: Mutex::default() })
            }
        };
        Self { shared, bounds, local }
    }

    pub(super) async fn find(&self, key: Key) -> Result<Option<Found>, Down> {
        if let Some(found) = self.alone(|alone| alone.find(key)) {
            return Ok(Some(found));
        }
        let call = self.link().scripts.find(key);
        self.read(StoreAsk::Find, &call, |copies| copies.find(key)).await
    }

    pub(super) async fn receipt(&self, id: ReceiptId) -> Result<Option<Found>, Down> {
        if let Some(found) = self.alone(|alone| alone.receipt(id)) {
            return Ok(Some(found));
        }
        let call = self.link().scripts.receipt(id);
        self.read(StoreAsk::Receipt, &call, |copies| copies.receipt(id)).await
    }

    pub(super) async fn begin(&self, terms: &Terms) -> Result<Begun, Down> {
        if let Some(found) = self.alone(|alone| alone.find(terms.key)) {
            return Ok(Begun::Exists(found));
        }
        let begun = self.begin_shared(terms).await;
        let Some(Local { alone, copies, turn }) = &self.local else { return begun };
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        match begun {
            Ok(Begun::Fresh(receipt)) => {
                if let Some(found) = alone.find(terms.key) {
                    self.link().owed.add(Debt::new(terms.key, receipt, End::Forget));
                    return Ok(Begun::Exists(found));
                }
                copies.copy(terms, receipt);
                begun
            }
            Err(Down) => match copies.find(terms.key) {
                Some(found) => Ok(Begun::Exists(found)),
                None => alone.begin(terms),
            },
            Ok(Begun::Exists(_) | Begun::Full | Begun::Crowded) => begun,
        }
    }

    async fn begin_shared(&self, terms: &Terms) -> Result<Begun, Down> {
        if self.link().forgetful().is_some() {
            return Err(Down);
        }
        let holder = self.shared.name("holder", &[terms.holder.as_bytes()]);
        let mut again = true;
        loop {
            let receipt = new_receipt()?;
            let latest = self.link().latest();
            let call = self.link().scripts.begin(terms, &holder, receipt, &self.bounds, latest);
            let way = self.link().way(StoreAsk::Begin)?;
            // Whether it was begun or not, if nobody learns of it nobody acts.
            let mut orphan = Orphan { link: self.link(), key: terms.key, receipt, told: false };
            let said = self.link().ask_by_way::<Said>(&way, &call).await?;
            orphan.told = true;
            return Ok(match said {
                Said::Found(found) => Begun::Exists(found),
                Said::Fresh => Begun::Fresh(receipt),
                Said::Full => Begun::Full,
                Said::Crowded => Begun::Crowded,
                Said::Late(now) if again => {
                    // Its clock was set, or this question has lain somewhere: once more, by what it says.
                    self.link().learn(now);
                    again = false;
                    continue;
                }
                Said::Late(_) | Said::Nothing => return Err(Down),
            });
        }
    }

    pub(super) async fn finish(&self, key: Key, receipt: ReceiptId, end: End) -> Result<(), Down> {
        if self.finish_here(key, receipt, &end) {
            return Ok(());
        }
        let call = self.link().scripts.finish(key, receipt, &end);
        let ended = self.link().ask::<u8>(StoreAsk::Finish, &call).await;
        if ended.is_err() {
            // Not lost: it is written as soon as the server is back, if this process lives to see it.
            self.link().owed.add(Debt::new(key, receipt, end));
        }
        ended.map(|_| ())
    }

    pub(super) fn abandon(&self, key: Key, receipt: ReceiptId) {
        if !self.finish_here(key, receipt, &End::Unknown) {
            self.link().owed.add(Debt::new(key, receipt, End::Unknown));
        }
    }

    /// Whether that was all: it was begun here alone.
    fn finish_here(&self, key: Key, receipt: ReceiptId, end: &End) -> bool {
        let Some(Local { alone, copies, turn: _ }) = &self.local else { return false };
        alone.finish(key, receipt, end.clone()) || {
            copies.finish(key, receipt, end.clone());
            false
        }
    }

    pub(super) fn sweep(&self) {
        if let Some(Local { alone, copies, turn: _ }) = &self.local {
            alone.sweep();
            copies.sweep();
        }
        self.link().owed.look();
    }

    /// As the server last said, and what this process keeps besides.
    pub(super) fn count(&self) -> u64 {
        self.link().count().saturating_add(self.local.as_ref().map_or(0, |local| local.alone.count()))
    }

    pub(super) fn trouble(&self) -> Option<Trouble> {
        self.link().trouble().or_else(|| self.link().forgetful())
    }

    /// Waits until what is owed is written, within the time.
    pub(super) fn close(&self, within: Duration) {
        let until = Instant::now() + within;
        while !self.link().owed.is_empty() && Instant::now() < until && self.link().trouble().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[cfg(test)]
    pub(super) fn owes(&self) -> bool {
        !self.link().owed.is_empty()
    }

    fn link(&self) -> &Link {
        &self.shared.link
    }

    fn alone<T>(&self, read: impl FnOnce(&Memory) -> Option<T>) -> Option<T> {
        self.local.as_ref().map(|local| &local.alone).filter(|alone| alone.count() > 0).and_then(read)
    }

    /// Asks the server, and where that is down and this process may go on alone, what it began there itself.
    async fn read(
        &self,
        ask: StoreAsk,
        call: &script::Call<'_>,
        copied: impl FnOnce(&Memory) -> Option<Found>,
    ) -> Result<Option<Found>, Down> {
        match (self.link().ask::<Said>(ask, call).await, &self.local) {
            (Ok(Said::Found(found)), _) => Ok(Some(found)),
            (Ok(Said::Nothing), _) => Ok(None),
            (Ok(Said::Fresh | Said::Full | Said::Crowded | Said::Late(_)) | Err(Down), Some(local)) => {
                Ok(copied(&local.copies))
            }
            (Ok(Said::Fresh | Said::Full | Said::Crowded | Said::Late(_)) | Err(Down), None) => Err(Down),
        }
    }
}

/// What may have been begun for nobody: who asked did not wait for the answer, or did not get it.
struct Orphan<'r> {
    link: &'r Link,
    key: Key,
    receipt: ReceiptId,
    told: bool,
}

impl Drop for Orphan<'_> {
    fn drop(&mut self) {
        if !self.told {
            let Self { key, receipt, .. } = *self;
            self.link.owed.add(Debt::new(key, receipt, End::Forget));
        }
    }
}

/// What the scripts of records answer.
#[derive(Debug)]
enum Said {
    Found(Found),
    Fresh,
    Full,
    Crowded,
    Late(i64),
    Nothing,
}

impl FromRedisValue for Said {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        let strange = || ParsingError::from("not an answer of formgate's script");
        let parts = match value {
            Value::Nil | Value::Boolean(false) => return Ok(Self::Nothing),
            Value::Array(parts) => parts,
            _ => return Err(strange()),
        };
        let mut parts = parts.into_iter();
        let mut bytes = || match parts.next() {
            Some(Value::BulkString(bytes)) => Ok(bytes),
            Some(Value::Int(number)) => Ok(number.to_string().into_bytes()),
            Some(_) | None => Err(strange()),
        };
        let number = |bytes: Vec<u8>| {
            String::from_utf8(bytes).ok().and_then(|digits| digits.parse::<i64>().ok()).ok_or_else(strange)
        };
        let said = match &bytes()?[..] {
            b"fresh" => Self::Fresh,
            b"full" => Self::Full,
            b"crowded" => Self::Crowded,
            b"late" => Self::Late(number(bytes()?)?),
            b"found" => {
                let fingerprint = <[u8; 32]>::try_from(bytes()?).map_err(|_| strange())?;
                let (state, answer, receipt) = (bytes()?, bytes()?, bytes()?);
                let receipt = std::str::from_utf8(&receipt).ok().and_then(ReceiptId::read);
                let state = match &state[..] {
                    b"pending" => State::Pending,
                    b"done" => State::Done(Bytes::from(answer)),
                    b"unknown" => State::Unknown,
                    _ => return Err(strange()),
                };
                let since = u64::try_from(number(bytes()?)?).unwrap_or_default();
                Self::Found(Found {
                    fingerprint: Fingerprint::from(fingerprint),
                    state,
                    receipt: receipt.ok_or_else(strange)?,
                    since: system_time(since),
                })
            }
            _ => return Err(strange()),
        };
        // More than was asked for is something else.
        if parts.next().is_none() { Ok(said) } else { Err(strange()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::model;
    use crate::store::server::Server;

    /// Who asked to begin has gone, and says so on another connection before the question comes: it is not begun for nobody.
    #[tokio::test]
    async fn what_is_given_up_before_it_comes_is_not_begun() {
        let Some(server) = Server::shared() else { return };
        let store = server.tenant().store(Policy::Refuse);
        let (link, _) = Link::open(&store, StoreMeters::new().unwrap()).unwrap();
        let terms = model::terms(Key::of("gone", b"k"), Duration::from_mins(1));
        let receipt = new_receipt().unwrap();
        let bounds = Bounds::undivided(10, 1 << 20);
        let given_up = link.scripts.finish(terms.key, receipt, &End::Forget);
        assert_eq!(link.ask::<u8>(StoreAsk::Finish, &given_up).await, Ok(0));
        let begin = |receipt| link.scripts.begin(&terms, "holder", receipt, &bounds, link.latest());
        let said = link.ask::<Said>(StoreAsk::Begin, &begin(receipt)).await;
        assert!(matches!(said, Ok(Said::Late(_))), "{said:?}");
        let said = link.ask::<Said>(StoreAsk::Begin, &begin(new_receipt().unwrap())).await;
        assert!(matches!(said, Ok(Said::Fresh)), "{said:?}");
        link.close();
    }

    #[test]
    fn an_answer_with_more_in_it_is_none() {
        let read = |parts: &[&str]| {
            let parts = parts.iter().map(|part| Value::BulkString(part.as_bytes().to_vec()));
            Said::from_redis_value(Value::Array(parts.collect())).ok()
        };
        assert!(matches!(read(&["fresh"]), Some(Said::Fresh)));
        assert!(matches!(read(&["late", "12"]), Some(Said::Late(12))));
        let (mark, receipt) = ("f".repeat(32), "0".repeat(32));
        let found = ["found", &mark, "done", "answer", &receipt, "7"];
        assert!(matches!(read(&found), Some(Said::Found(_))));
        for strange in
            [&["fresh", "fresh"][..], &["full", ""], &["late", "12", "13"], &[&found[..], &[""]].concat()]
        {
            assert!(read(strange).is_none(), "{strange:?}");
        }
    }
}
