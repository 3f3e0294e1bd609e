//! The access log: one JSON line a request, written by one thread, never waited for by a worker.
//!
//! Workers append to a buffer; the thread takes it every few milliseconds and writes it in one call.
//! When the sink blocks or is full the buffer stops growing and lines are counted as lost: a full
//! disk costs lines, not requests.

use super::label::{door_label, method_label, outcome_label, reason_label, replay_label, result_label};
use super::{AttemptRecord, Record};
use crate::gateway::Door;
use prometheus::IntCounter;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Where lines go.
#[derive(Debug)]
pub enum Sink {
    /// Standard output.
    Stdout,
    /// A file, open for appending, and where it was: there it is opened anew when it has been moved away.
    File(File, PathBuf),
    /// Nowhere.
    Off,
}

impl Sink {
    /// Opens a file for appending; makes it if need be.
    pub fn file(path: &Path) -> io::Result<Self> {
        append(path).map(|file| Self::File(file, path.to_owned()))
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        match self {
            Self::Off => Ok(()),
            Self::Stdout => {
                let mut out = io::stdout();
                out.write_all(lines)?;
                out.flush()
            }
            Self::File(file, _) => file.write_all(lines),
        }
    }

    /// What was moved away is let go of. A new one that cannot be had leaves the old one: lines go on.
    fn reopen(&mut self) {
        let Self::File(file, path) = self else { return };
        match append(path) {
            Ok(anew) => *file = anew,
            Err(error) => {
                tracing::error!(%error, path = %path.display(), "the access log cannot be opened anew: it goes on where it was");
            }
        }
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// The writing end.
#[derive(Debug)]
pub(super) struct Access {
    queue: Option<Arc<Queue>>,
    lost: IntCounter,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    written: Condvar,
    /// The sink is to be opened anew before the next line.
    reopen: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<u8>,
    lines: u64,
    writing: bool,
}

/// Bytes that may wait; about 20 000 lines.
const WAITING: usize = 8 << 20;
/// How long a line may wait before the thread looks.
const PACE: Duration = Duration::from_millis(20);
/// Characters of `GPT-Actor` that are kept.
const ACTOR: usize = 128;

impl Access {
    pub(super) fn new(sink: Sink, lost: IntCounter) -> Self {
        if matches!(sink, Sink::Off) {
            return Self { queue: None, lost };
        }
        let queue = Arc::new(Queue::default());
        let (shared, counter) = (Arc::clone(&queue), lost.clone());
        let thread = std::thread::Builder::new().name("access".into());
        if let Err(error) = thread.spawn(move || shared.drain(sink, &counter)) {
            tracing::error!(%error, "no thread for the access log: lines are lost");
        }
        Self { queue: Some(queue), lost }
    }

    pub(super) fn write(&self, record: &Record<'_>) {
        let Some(queue) = &self.queue else {
            return;
        };
        let mut state = queue.lock();
        if state.waiting.len() >= WAITING {
            self.lost.inc();
            return;
        }
        state.lines += 1;
        write_line(&mut state.waiting, record);
    }

    /// The file has been moved away: what comes from now on goes to a new one of the same name.
    pub(super) fn reopen(&self) {
        if let Some(queue) = &self.queue {
            queue.reopen.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn flush(&self, within: Duration) {
        if let Some(queue) = &self.queue {
            let unwritten = |state: &mut State| state.writing || !state.waiting.is_empty();
            let _ = queue.written.wait_timeout_while(queue.lock(), within, unwritten);
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drain(&self, mut sink: Sink, lost: &IntCounter) {
        let mut taken = Vec::new();
        loop {
            std::thread::sleep(PACE);
            // Also while there is nothing to write: whoever moved the old file waits for the new one.
            if self.reopen.swap(false, Ordering::Relaxed) {
                sink.reopen();
            }
            let lines = {
                let mut state = self.lock();
                if state.waiting.is_empty() {
                    continue;
                }
                std::mem::swap(&mut state.waiting, &mut taken);
                state.writing = true;
                std::mem::take(&mut state.lines)
            };
            if sink.write(&taken).is_err() {
                lost.inc_by(lines);
            }
            taken.clear();
            taken.shrink_to(1 << 16);
            self.lock().writing = false;
            self.written.notify_all();
        }
    }
}

/// Of the line: `docs/access-log.md` says what is promised within one.
const VERSION: u32 = 1;

fn write_line(out: &mut Vec<u8>, record: &Record<'_>) {
    let mut line = Line { out };
    let ids = record.ids;
    let took = micros(record.took);
    // Writing to a `Vec` cannot fail, and names of routes need no escaping (`config` bounds them).
    let _ = write!(
        line,
        "{{\"v\":{VERSION},\"time\":\"{}\",\"request\":\"{}\",\"trace\":\"{}\",\"route\":\"{}\",\
         \"method\":\"{}\",\"outcome\":\"{}\",\"status\":{},\"bytes_in\":{},\"bytes_out\":{},\
         \"took_us\":{took},\"client\":\"{}\"",
        humantime::format_rfc3339_micros(record.time()),
        ids.request,
        ids.trace,
        record.route,
        method_label(record.method),
        outcome_label(record.outcome),
        record.status,
        record.bytes_in,
        record.bytes_out,
        record.client,
    );
    match record.door {
        Door::Address => {}
        Door::GetAction | Door::Tools | Door::Mcp => {
            let _ = write!(line, ",\"door\":\"{}\"", door_label(record.door));
        }
    }
    if let Some(attempt) = record.attempt {
        line.attempt(attempt);
    }
    if let Some(reason) = record.reason {
        let _ = write!(line, ",\"reason\":\"{}\"", reason_label(reason));
    }
    if let Some(mismatch) = record.mismatch {
        let _ = line.write_str(",\"schema\":");
        line.string(mismatch.schema_pointer.as_bytes(), usize::MAX);
        let _ = line.write_str(",\"keyword\":");
        line.string(mismatch.keyword.as_bytes(), usize::MAX);
    }
    if let Some(state) = record.replay {
        let _ = write!(line, ",\"replay\":\"{}\"", replay_label(state));
    }
    if let Some(upstream) = record.upstream {
        let result = result_label(upstream.result);
        let took = micros(upstream.took);
        let _ = write!(line, ",\"upstream\":\"{result}\",\"upstream_us\":{took}");
        if let Some(status) = upstream.status {
            let _ = write!(line, ",\"upstream_status\":{status}");
        }
    }
    if let Some(token) = record.token {
        let _ = write!(line, ",\"token\":\"{token}\"");
    }
    if let Some(actor) = record.actor {
        let _ = line.write_str(",\"actor\":");
        line.string(actor, ACTOR);
    }
    let _ = line.write_str("}\n");
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

struct Line<'o> {
    out: &'o mut Vec<u8>,
}

impl std::fmt::Write for Line<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.out.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl Line<'_> {
    /// Names of members are the form's, never the client's.
    fn attempt(&mut self, attempt: &AttemptRecord) {
        let AttemptRecord { code, trace } = attempt;
        let _ = write!(self, ",\"code\":\"{}\"", code.name());
        if let Some(key) = trace.key {
            let _ = write!(self, ",\"key\":\"{key}\"");
        }
        let _ = self.write_str(",\"members\":[");
        for (index, name) in trace.members.iter().enumerate() {
            let _ = self.write_str(if index == 0 { "" } else { "," });
            self.string(name.as_bytes(), usize::MAX);
        }
        let _ = self.write_str("]");
    }

    /// A JSON string of at most `cap` characters. Control characters, and what is not UTF-8, come out
    /// as U+FFFD: nothing that a client sends can end a line or colour a terminal.
    fn string(&mut self, bytes: &[u8], cap: usize) {
        self.out.push(b'"');
        for character in String::from_utf8_lossy(bytes).chars().take(cap) {
            let _ = match character {
                '"' => self.write_str("\\\""),
                '\\' => self.write_str("\\\\"),
                control if control.is_control() => self.write_char(char::REPLACEMENT_CHARACTER),
                '\u{2028}'
                | '\u{2029}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}' => self.write_char(char::REPLACEMENT_CHARACTER),
                other => self.write_char(other),
            };
        }
        self.out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn what_a_client_claims_cannot_leave_its_string() {
        let mut out = Vec::new();
        Line { out: &mut out }.string(b"a\"\\\n\x1b[31m\xff\xc2\x85b", 9);
        assert_eq!(String::from_utf8(out).unwrap(), "\"a\\\"\\\\\u{fffd}\u{fffd}[31m\"");
    }
}
