//! The database file: how it is opened, and what is done in it.
//!
//! `SQLite`, because several processes must be able to have the file open: a hand-over runs two at once. Its
//! write-ahead log with `synchronous=FULL` makes a commit one fsync.

use super::super::clock::{Clock, Millis, millis, system_time};
use super::super::{
    Begun, Bounds, Down, End, Fingerprint, Found, Holding, Key, OVERHEAD, ReceiptId, State, Terms,
    new_receipt,
};
use super::place::Place;
use bytes::Bytes;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Params, Row, Transaction, TransactionBehavior,
    params,
};
use std::collections::HashMap;
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
        expires INTEGER NOT NULL,
        holder BLOB
    ) STRICT;
    CREATE INDEX records_by_end ON records (expires);
    CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), now INTEGER NOT NULL) STRICT;
    INSERT INTO clock VALUES (1, 0);";

/// What files made before there were shares lack. Older processes that have the file open leave it empty: such a record
/// is in nobody's share.
const HOLDER: &str = "ALTER TABLE records ADD COLUMN holder BLOB";

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
    all: Holding,
    /// None of them empty; the records of nobody under no name.
    held: HashMap<Vec<u8>, Holding>,
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
        let columns = "SELECT count(*) FROM pragma_table_info('records') WHERE name = 'holder'";
        if connection.query_row(columns, [], |row| row.get::<_, i64>(0))? == 0 {
            connection.execute_batch(HOLDER)?;
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
        self.tally.all.records
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
            *self = Self { version: Some(version), ..Self::default() };
            for (holder, holding) in holdings(connection, "records", [])? {
                self.all.gain(holding);
                self.held.insert(holder, holding);
            }
        }
        Ok(())
    }

    fn gain(&mut self, holder: &[u8], more: Holding) {
        self.all.gain(more);
        if let Some(held) = self.held.get_mut(holder) {
            held.gain(more);
        } else {
            self.held.insert(holder.to_owned(), more);
        }
    }

    fn lose(&mut self, holder: &[u8], less: Holding) {
        self.all.lose(less);
        if let Some(held) = self.held.get_mut(holder) {
            held.lose(less);
            if held.records == 0 {
                self.held.remove(holder);
            }
        }
    }
}

/// What each holder has in these rows, with `coalesce` for records that are nobody's.
fn holdings(
    connection: &Connection,
    rows: &str,
    params: impl Params,
) -> Result<Vec<(Vec<u8>, Holding)>, Fault> {
    let sums = format!(
        "SELECT coalesce(holder, x''), count(*), coalesce(sum(coalesce(length(answer), 0)), 0) \
         FROM {rows} GROUP BY coalesce(holder, x'')"
    );
    let mut query = connection.prepare_cached(&sums)?;
    let read = |row: &Row<'_>| {
        let (records, answers): (u64, u64) = (row.get(1)?, row.get(2)?);
        Ok((row.get(0)?, Holding { records, bytes: records * OVERHEAD + answers }))
    };
    let found = query.query_map(params, read)?.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(found)
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

    pub(super) fn begin(&mut self, terms: &Terms) -> Result<Begun, Fault> {
        let Terms { key, fingerprint, ref holder, lease, keep, wait: _ } = *terms;
        let (holder, lease, keep) = (holder.as_bytes(), millis(lease), millis(keep));
        if let Some(found) = self.read(Wanted::Key(key))? {
            return Ok(Begun::Exists(found));
        }
        let scarce = self.turn_away(holder).is_some();
        self.remove_dead(if scarce { SWEEP } else { EXCHANGE })?;
        if let Some(turned_away) = self.turn_away(holder) {
            return Ok(turned_away);
        }
        // A dead one of this key may still be there.
        let dead = "DELETE FROM records WHERE key = ?1 \
                    RETURNING coalesce(holder, x''), coalesce(length(answer), 0)";
        let read = |row: &Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, u64>(1)?));
        let dead = self.connection.prepare_cached(dead)?.query_row([key.as_bytes()], read);
        if let Some((holder, answer)) = dead.optional()? {
            self.tally.lose(&holder, Holding { records: 1, bytes: OVERHEAD + answer });
        }
        let receipt = new_receipt()?;
        let insert = "INSERT INTO records (key, receipt, fingerprint, state, since, lease, expires, holder) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.connection.prepare_cached(insert)?.execute(params![
            key.as_bytes(),
            receipt.as_bytes(),
            fingerprint.as_bytes(),
            PENDING,
            self.now,
            self.now + lease,
            self.now + keep.max(lease),
            holder,
        ])?;
        self.tally.gain(holder, Holding { records: 1, bytes: OVERHEAD });
        Ok(Begun::Fresh(receipt))
    }

    pub(super) fn finish(&mut self, key: Key, receipt: ReceiptId, end: End) -> Result<(), Fault> {
        let (key, receipt) = (key.as_bytes(), receipt.as_bytes());
        match end {
            End::Forget => {
                let forget = "DELETE FROM records WHERE key = ?1 AND state = ?2 AND receipt = ?3 \
                              RETURNING coalesce(holder, x'')";
                let mut forget = self.connection.prepare_cached(forget)?;
                let gone = forget.query_row(params![key, PENDING, receipt], |row| row.get::<_, Vec<u8>>(0));
                if let Some(holder) = gone.optional()? {
                    self.tally.lose(&holder, Holding { records: 1, bytes: OVERHEAD });
                }
            }
            End::Unknown => {
                let end = "UPDATE records SET state = ?1 WHERE key = ?2 AND state = ?3 AND receipt = ?4";
                self.connection.prepare_cached(end)?.execute(params![UNKNOWN, key, PENDING, receipt])?;
            }
            End::Done(answer) => {
                let end = "UPDATE records SET state = ?1, answer = ?2 WHERE key = ?3 AND state = ?4 AND receipt = ?5 \
                           RETURNING coalesce(holder, x'')";
                let done = params![DONE, &answer[..], key, PENDING, receipt];
                let mut end = self.connection.prepare_cached(end)?;
                let done = end.query_row(done, |row| row.get::<_, Vec<u8>>(0));
                if let Some(holder) = done.optional()? {
                    self.tally.gain(&holder, Holding { records: 0, bytes: answer.len() as u64 });
                }
            }
        }
        Ok(())
    }

    pub(super) fn sweep(&mut self) -> Result<(), Fault> {
        self.remove_dead(SWEEP)
    }

    fn turn_away(&self, holder: &[u8]) -> Option<Begun> {
        let held = || self.tally.held.get(holder).copied().unwrap_or_default();
        self.bounds.turn_away(self.tally.all, held)
    }

    /// Removes the longest dead, so many at most.
    fn remove_dead(&mut self, limit: u64) -> Result<(), Fault> {
        let dead = "(SELECT holder, answer FROM records WHERE expires <= ?1 ORDER BY expires, id LIMIT ?2)";
        let dead = holdings(self.connection, dead, [self.now, limit])?;
        if !dead.is_empty() {
            let remove = "DELETE FROM records WHERE id IN \
                          (SELECT id FROM records WHERE expires <= ?1 ORDER BY expires, id LIMIT ?2)";
            self.connection.prepare_cached(remove)?.execute([self.now, limit])?;
            for (holder, gone) in dead {
                self.tally.lose(&holder, gone);
            }
        }
        Ok(())
    }
}
