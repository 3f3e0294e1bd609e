//! The database file: how it is opened, and what is done in it.
//!
//! `SQLite`, because several processes must be able to have the file open: a hand-over runs two at once. Its
//! write-ahead log with `synchronous=FULL` makes a commit one fsync.

use super::super::clock::{Clock, Millis, system_time};
use super::super::{
    Begun, Bounds, Down, End, Fingerprint, Found, Key, OVERHEAD, ReceiptId, State, new_receipt,
};
use super::place::Place;
use bytes::Bytes;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Says whose file it is: the letters `fgrt`.
const APPLICATION: i64 = 0x6667_7274;
/// The shape of the tables. A file of a later one is not touched.
const VERSION: i64 = 1;

const TABLES: &str = "
    CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        key BLOB NOT NULL UNIQUE,
        receipt BLOB NOT NULL UNIQUE,
        fingerprint BLOB NOT NULL,
        state INTEGER NOT NULL,
        answer BLOB,
        since INTEGER NOT NULL,
        lease INTEGER NOT NULL,
        expires INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX records_by_end ON records (expires);
    CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), now INTEGER NOT NULL) STRICT;
    INSERT INTO clock VALUES (1, 0);";

/// How `state` is written.
const PENDING: i64 = 0;
const DONE: i64 = 1;
const UNKNOWN: i64 = 2;

/// How long another process's transaction is waited for. Two of these, one after the other, are still shorter than
/// a caller's patience.
const BUSY: Duration = Duration::from_secs(3);
/// How exactly the time is carried on, in milliseconds.
const TICK: Millis = 1000;
/// Dead records that one sweep removes, at most; the next one goes on.
const SWEEP: u64 = 10_000;
/// Dead records that go for each new one: the file does not grow between sweeps.
const EXCHANGE: u64 = 2;

/// Something that the database, or the system, says.
#[derive(Debug)]
pub(super) struct Fault(String);

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => Self::damaged(&error.to_string()),
            Some(_) | None => Self(error.to_string()),
        }
    }
}

impl Fault {
    /// In one line: it is for a log.
    fn damaged(words: &str) -> Self {
        let lines: Vec<_> = words.lines().filter(|line| !line.is_empty()).collect();
        Self(format!("it is damaged: {}", lines.join("; ")))
    }
}

impl From<Down> for Fault {
    fn from(_: Down) -> Self {
        Self("the system has no random bytes".to_owned())
    }
}

#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    clock: Arc<Clock>,
    bounds: Bounds,
    tally: Tally,
    place: Place,
}

/// How much is in the file: counted once, then kept, until another process has written.
#[derive(Debug, Default)]
struct Tally {
    records: u64,
    bytes: u64,
    /// `data_version` that it is true of; none where it is not known.
    version: Option<i64>,
}

/// Which record is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    Key(Key),
    Receipt(ReceiptId),
}

impl Database {
    pub(super) fn open(path: &Path, bounds: Bounds, clock: Arc<Clock>) -> Result<Self, String> {
        let mut place = Place::claim(path)?;
        let opened = Self::set_up(path, place.alone());
        let connection = opened.map_err(|Fault(words)| words)?;
        place.settle()?;
        let mut database = Self { connection, clock, bounds, tally: Tally::default(), place };
        // Proves that it can be written, too.
        database.transaction(true, |work| work.remove_dead(SWEEP))?;
        Ok(database)
    }

    fn set_up(path: &Path, alone: bool) -> Result<Connection, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let (application, version) = (pragma("application_id")?, pragma("user_version")?);
        let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let new = (application, version, tables) == (0, 0, 0);
        if !new && application != APPLICATION {
            return Err(Fault("it is a database of something else".to_owned()));
        }
        if version > VERSION {
            return Err(Fault(format!(
                "it was written by a newer formgate (version {version} of the tables; this one knows {VERSION})"
            )));
        }
        connection.pragma_update(None, "synchronous", "FULL")?;
        let mode: String =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        if !mode.eq_ignore_ascii_case("wal") {
            return Err(Fault("its file system cannot hold a write-ahead log".to_owned()));
        }
        if new {
            let made = format!(
                "BEGIN IMMEDIATE; {TABLES} PRAGMA application_id = {APPLICATION}; \
                 PRAGMA user_version = {VERSION}; COMMIT;"
            );
            connection.execute_batch(&made)?;
        }
        let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if sound != "ok" {
            return Err(Fault::damaged(&sound));
        }
        if alone {
            // Whoever was in the middle of something is no more.
            connection
                .execute("UPDATE records SET state = ?1 WHERE state = ?2", params![UNKNOWN, PENDING])?;
        }
        Ok(connection)
    }

    pub(super) fn count(&self) -> u64 {
        self.tally.records
    }

    /// All of the work, durable, or nothing of it; what only reads needs no transaction.
    pub(super) fn transaction(
        &mut self,
        writes: bool,
        work: impl FnOnce(&mut Work<'_>) -> Result<(), Fault>,
    ) -> Result<(), String> {
        let done = self.attempt(writes, work);
        if done.is_err() {
            self.tally.version = None;
        }
        done.map_err(|Fault(words)| words)
    }

    fn attempt(
        &mut self,
        writes: bool,
        work: impl FnOnce(&mut Work<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.place.is_ours().map_err(Fault)?;
        let Self { connection, clock, bounds, tally, .. } = self;
        let connection = &*connection;
        if !writes {
            let now = clock.now();
            return work(&mut Work { connection, now, bounds: *bounds, tally });
        }
        // Rolled back when it is dropped.
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
        let stored = connection
            .prepare_cached("SELECT now FROM clock")?
            .query_row([], |row| row.get::<_, Millis>(0))?;
        clock.catch_up(stored);
        let now = clock.now();
        if now >= stored + TICK {
            connection.prepare_cached("UPDATE clock SET now = ?1")?.execute([now])?;
        }
        tally.refresh(connection)?;
        work(&mut Work { connection, now, bounds: *bounds, tally })?;
        Ok(transaction.commit()?)
    }
}

impl Tally {
    fn refresh(&mut self, connection: &Connection) -> Result<(), Fault> {
        let version = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.version != Some(version) {
            let count = "SELECT count(*), coalesce(sum(coalesce(length(answer), 0)), 0) FROM records";
            let (records, bytes): (u64, u64) =
                connection.prepare_cached(count)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            *self = Self { records, bytes: bytes + records * OVERHEAD, version: Some(version) };
        }
        Ok(())
    }

    fn lose(&mut self, records: u64, answers: u64) {
        self.records = self.records.saturating_sub(records);
        self.bytes = self.bytes.saturating_sub(records * OVERHEAD + answers);
    }
}

/// What can be done within one transaction.
pub(super) struct Work<'d> {
    connection: &'d Connection,
    now: Millis,
    bounds: Bounds,
    tally: &'d mut Tally,
}

impl Work<'_> {
    pub(super) fn read(&self, wanted: Wanted) -> Result<Option<Found>, Fault> {
        let found = |row: &Row<'_>| self.found(row);
        let record = match &wanted {
            Wanted::Key(key) => self
                .connection
                .prepare_cached(
                    "SELECT fingerprint, state, answer, receipt, since, lease FROM records \
                     WHERE key = ?1 AND expires > ?2",
                )?
                .query_row(params![key.as_bytes(), self.now], found),
            Wanted::Receipt(id) => self
                .connection
                .prepare_cached(
                    "SELECT fingerprint, state, answer, receipt, since, lease FROM records \
                     WHERE receipt = ?1 AND expires > ?2",
                )?
                .query_row(params![id.as_bytes(), self.now], found),
        };
        Ok(record.optional()?)
    }

    fn found(&self, row: &Row<'_>) -> rusqlite::Result<Found> {
        let lease: Millis = row.get(5)?;
        let state = match row.get(1)? {
            PENDING if lease > self.now => State::Pending,
            PENDING | UNKNOWN => State::Unknown,
            DONE => State::Done(Bytes::from(row.get::<_, Vec<u8>>(2)?)),
            strange => return Err(rusqlite::Error::IntegralValueOutOfRange(1, strange)),
        };
        Ok(Found {
            fingerprint: Fingerprint::from(row.get::<_, [u8; 32]>(0)?),
            state,
            receipt: ReceiptId::from(row.get::<_, [u8; 16]>(3)?),
            since: system_time(row.get(4)?),
        })
    }

    pub(super) fn begin(
        &mut self,
        key: Key,
        fingerprint: Fingerprint,
        lease: Millis,
        keep: Millis,
    ) -> Result<Begun, Fault> {
        if let Some(found) = self.read(Wanted::Key(key))? {
            return Ok(Begun::Exists(found));
        }
        self.remove_dead(if self.is_full() { SWEEP } else { EXCHANGE })?;
        if self.is_full() {
            return Ok(Begun::Full);
        }
        // A dead one of this key may still be there.
        let dead = "DELETE FROM records WHERE key = ?1 RETURNING coalesce(length(answer), 0)";
        let dead = self.connection.prepare_cached(dead)?.query_row([key.as_bytes()], |row| row.get(0));
        if let Some(answer) = dead.optional()? {
            self.tally.lose(1, answer);
        }
        let receipt = new_receipt()?;
        let insert = "INSERT INTO records (key, receipt, fingerprint, state, since, lease, expires) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.connection.prepare_cached(insert)?.execute(params![
            key.as_bytes(),
            receipt.as_bytes(),
            fingerprint.as_bytes(),
            PENDING,
            self.now,
            self.now + lease,
            self.now + keep.max(lease),
        ])?;
        self.tally.records += 1;
        self.tally.bytes += OVERHEAD;
        Ok(Begun::Fresh(receipt))
    }

    pub(super) fn finish(&mut self, key: Key, end: End) -> Result<(), Fault> {
        let key = key.as_bytes();
        match end {
            End::Forget => {
                let forget = "DELETE FROM records WHERE key = ?1 AND state = ?2";
                let gone = self.connection.prepare_cached(forget)?.execute(params![key, PENDING])?;
                self.tally.lose(gone as u64, 0);
            }
            End::Unknown => {
                let end = "UPDATE records SET state = ?1 WHERE key = ?2 AND state = ?3";
                self.connection.prepare_cached(end)?.execute(params![UNKNOWN, key, PENDING])?;
            }
            End::Done(answer) => {
                let end = "UPDATE records SET state = ?1, answer = ?2 WHERE key = ?3 AND state = ?4";
                let done = params![DONE, &answer[..], key, PENDING];
                let done = self.connection.prepare_cached(end)?.execute(done)?;
                self.tally.bytes += done as u64 * answer.len() as u64;
            }
        }
        Ok(())
    }

    pub(super) fn sweep(&mut self) -> Result<(), Fault> {
        self.remove_dead(SWEEP)
    }

    fn is_full(&self) -> bool {
        self.tally.records >= self.bounds.records || self.tally.bytes >= self.bounds.bytes
    }

    /// Removes the longest dead, so many at most.
    fn remove_dead(&mut self, limit: u64) -> Result<(), Fault> {
        let dead = "SELECT count(*), coalesce(sum(coalesce(length(answer), 0)), 0) FROM \
                    (SELECT answer FROM records WHERE expires <= ?1 ORDER BY expires, id LIMIT ?2)";
        let (records, answers): (u64, u64) = self
            .connection
            .prepare_cached(dead)?
            .query_row([self.now, limit], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if records > 0 {
            let remove = "DELETE FROM records WHERE id IN \
                          (SELECT id FROM records WHERE expires <= ?1 ORDER BY expires, id LIMIT ?2)";
            self.connection.prepare_cached(remove)?.execute([self.now, limit])?;
            self.tally.lose(records, answers);
        }
        Ok(())
    }
}
