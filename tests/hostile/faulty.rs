//! An upstream that misbehaves as a seed says: the fault of an act follows from the act's number, so the client knows
//! what the upstream did to it.

use super::Random;
use crate::support::backend::{answer, json, reset};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What becomes of one act.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    Good,
    /// Says that it closes, and does.
    Closing,
    /// Keeps the connection and closes it so many microseconds later: perhaps just as the next act is written.
    IdleClose(u64),
    /// The end of the connection is the end of the body.
    UntilClose,
    Http10,
    Interim,
    Trickle,
    Chunked,
    Empty(u16),
    /// An answer with this status, and words that must not come out.
    Status(u16),
    /// Only so many bytes of a good answer.
    Cut(usize, Reset),
    Twice,
    Switching,
    BrokenChunks(usize),
    /// Says more than it sends, and closes or keeps silent.
    Long(Silent),
    /// Says less than it sends.
    Short,
    Gzip,
    EndlessChunks,
    EndlessLength,
    EndlessHead,
    NotJson,
    Hang,
    /// Answers when it has read the head, and closes.
    Early(u16, Reset),
    /// Reads the head and so many bytes of the body, and closes.
    PartRead(usize, Reset),
    Junk,
    TwoLengths,
}

pub(super) type Reset = bool;
pub(super) type Silent = bool;

const STATUSES: [u16; 24] = [
    300, 301, 302, 303, 304, 307, 308, 400, 404, 409, 410, 412, 422, 401, 403, 405, 413, 415, 408, 429, 500,
    502, 503, 504,
];
const BROKEN: [&str; 6] = [
    "zz\r\n{}\r\n0\r\n\r\n",
    "2\r\n{}0\r\n\r\n",
    "-2\r\n{}\r\n0\r\n\r\n",
    "2\n{}\n0\n\n",
    "ffffffffffffffffff\r\n{}",
    "2\r\n{",
];

impl Fault {
    pub(super) fn of(seed: u64, act: u64) -> Self {
        let mut random = Random(seed ^ act.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        match random.below(100) {
            0..=29 => Self::Good,
            30..=33 => Self::Closing,
            34..=43 => Self::IdleClose(random.below(2000)),
            44..=45 => Self::UntilClose,
            46 => Self::Http10,
            47..=48 => Self::Interim,
            49 => Self::Trickle,
            50..=52 => Self::Chunked,
            53..=54 => Self::Empty([200, 201, 204][random.index(3)]),
            55..=64 => Self::Status(STATUSES[random.index(STATUSES.len())]),
            65..=74 => Self::Cut(random.index(good(act).len() + 1), random.coin()),
            75..=76 => Self::Twice,
            77 => Self::Switching,
            78..=79 => Self::BrokenChunks(random.index(BROKEN.len())),
            80 => Self::Long(random.coin()),
            81..=82 => Self::Short,
            83 => Self::Gzip,
            84 => Self::EndlessChunks,
            85 => Self::EndlessLength,
            86 => Self::EndlessHead,
            87..=88 => Self::NotJson,
            89 => Self::Hang,
            90..=93 => Self::Early([200, 400, 413, 503][random.index(4)], random.coin()),
            94..=97 => Self::PartRead(random.index(60), random.coin()),
            98 => Self::Junk,
            _ => Self::TwoLengths,
        }
    }
}

/// The body of an act; some are large enough to be written in several steps.
pub(super) fn body_of(act: u64) -> Vec<u8> {
    let body = format!(r#"{{"title":"act {act}","displayName":"A"}}"#);
    crate::support::padded(&body, if act.is_multiple_of(11) { 60_000 } else { body.len() })
}

/// What a good answer says.
pub(super) fn echo(act: u64) -> String {
    format!(r#"{{"act":{act}}}"#)
}

pub(super) fn good(act: u64) -> Vec<u8> {
    json(echo(act))
}

#[derive(Default)]
pub(super) struct Log {
    /// How often each act came.
    pub(super) seen: Mutex<HashMap<u64, usize>>,
    /// Bodies that are not what the client sent.
    pub(super) changed: AtomicUsize,
    /// Connections that were used again after an answer that was none, or a bad one.
    pub(super) reused: AtomicUsize,
    pub(super) connections: AtomicUsize,
}

pub(super) struct Faulty {
    pub(super) addr: SocketAddr,
    pub(super) log: Arc<Log>,
    stop: Arc<AtomicBool>,
}

impl Faulty {
    pub(super) fn new(seed: u64) -> Self {
        Self::listening(move |_, stream, log| serve(seed, stream, log))
    }

    /// Closes, resets, or answers before it is asked, connection by connection.
    pub(super) fn slamming() -> Self {
        Self::listening(|connection, mut stream, _| match connection % 3 {
            0 => {}
            1 => reset(&stream),
            _ => {
                let _ = stream.write_all(&json("{}"));
            }
        })
    }

    fn listening(run: impl Fn(usize, TcpStream, &Log) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let faulty = Self { addr: listener.local_addr().unwrap(), log: Arc::default(), stop: Arc::default() };
        let (log, stop, run) = (faulty.log.clone(), faulty.stop.clone(), Arc::new(run));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let number = log.connections.fetch_add(1, Ordering::SeqCst);
                let (log, run) = (log.clone(), run.clone());
                std::thread::spawn(move || {
                    let _ = stream.set_nodelay(true);
                    let _ = stream.set_write_timeout(Some(Duration::from_secs(5)));
                    run(number, stream, &log);
                });
            }
        });
        faulty
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect_timeout(&self.addr, Duration::from_secs(1));
    }
}

/// How a connection goes on.
enum Next {
    Act,
    Close,
    Reset,
    /// The gate must not use it again: whatever comes on it is a fault of the gate.
    Over,
}

fn serve(seed: u64, mut stream: TcpStream, log: &Log) {
    let mut pending = Vec::new();
    while let Some((act, length)) = read_head(&mut stream, &mut pending) {
        *log.seen.lock().unwrap().entry(act).or_default() += 1;
        match perform(Fault::of(seed, act), act, length, &mut stream, &mut pending, log) {
            Next::Act => {}
            Next::Close => return,
            Next::Reset => return reset(&stream),
            Next::Over => {
                let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
                if !pending.is_empty() || matches!(stream.read(&mut [0]), Ok(1)) {
                    log.reused.fetch_add(1, Ordering::SeqCst);
                }
                return;
            }
        }
    }
}

fn perform(
    fault: Fault,
    act: u64,
    length: usize,
    stream: &mut TcpStream,
    pending: &mut Vec<u8>,
    log: &Log,
) -> Next {
    let close = |reset: Reset| if reset { Next::Reset } else { Next::Close };
    match fault {
        Fault::Early(status, reset) => {
            let _ = stream.write_all(&answer(
                &format!("{status} Early"),
                "Connection: close\r\nContent-Type: application/json\r\n",
                echo(act),
            ));
            if !reset {
                let _ = read_body(length, stream, pending);
            }
            return close(reset);
        }
        Fault::PartRead(most, reset) => {
            let _ = read_body(most.min(length), stream, pending);
            return close(reset);
        }
        _ => {}
    }
    match read_body(length, stream, pending) {
        Some(body) if body == body_of(act) => {}
        Some(_) | None => {
            log.changed.fetch_add(1, Ordering::SeqCst);
        }
    }
    match fault {
        Fault::IdleClose(micros) => {
            let _ = stream.write_all(&good(act));
            std::thread::sleep(Duration::from_micros(micros));
            return Next::Close;
        }
        Fault::Trickle => {
            for byte in good(act) {
                if stream.write_all(&[byte]).is_err() {
                    return Next::Close;
                }
                std::thread::sleep(Duration::from_micros(500));
            }
            return Next::Act;
        }
        Fault::EndlessChunks => {
            return endless(
                stream,
                &format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n"),
                &format!("2000\r\n{}\r\n", "x".repeat(0x2000)),
            );
        }
        Fault::EndlessLength => {
            return endless(stream, &format!("{HEAD}Content-Length: 99999999999\r\n\r\n"), &"x".repeat(8192));
        }
        Fault::EndlessHead => return endless(stream, HEAD, &"X-More: x\r\n".repeat(600)),
        _ => {}
    }
    let (bytes, next) = said(fault, act);
    if stream.write_all(&bytes).is_ok() { next } else { Next::Close }
}

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

/// What is written at once, and how the connection goes on.
fn said(fault: Fault, act: u64) -> (Vec<u8>, Next) {
    match fault {
        Fault::Good => (good(act), Next::Act),
        Fault::Closing => (
            answer("200 OK", "Connection: close\r\nContent-Type: application/json\r\n", echo(act)),
            Next::Over,
        ),
        Fault::UntilClose => (format!("{HEAD}\r\n{}", echo(act)).into_bytes(), Next::Close),
        Fault::Http10 => {
            (String::from_utf8(good(act)).unwrap().replace("HTTP/1.1", "HTTP/1.0").into_bytes(), Next::Over)
        }
        Fault::Interim => {
            let interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
            ([interim.as_slice(), &good(act)].concat(), Next::Act)
        }
        Fault::Chunked => {
            let chunks = format!(
                "{HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n{:x}\r\n{}\r\n0\r\nX: y\r\n\r\n",
                echo(act).len() - 1,
                &echo(act)[1..]
            );
            (chunks.into_bytes(), Next::Act)
        }
        Fault::Empty(204) => (b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), Next::Act),
        Fault::Empty(status) => (answer(&format!("{status} Empty"), "", ""), Next::Act),
        Fault::Status(304) => (b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec(), Next::Act),
        Fault::Status(status) => {
            (answer(&format!("{status} As Said"), "Location: /elsewhere\r\n", "secret words"), Next::Act)
        }
        Fault::Cut(at, reset) => (good(act)[..at].to_vec(), if reset { Next::Reset } else { Next::Close }),
        Fault::Twice => ([good(act), json(r#"{"stolen":true}"#)].concat(), Next::Over),
        Fault::Switching => (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nraw".to_vec(),
            Next::Over,
        ),
        Fault::BrokenChunks(which) => (
            format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{}", BROKEN[which]).into_bytes(),
            if which == 5 { Next::Close } else { Next::Over },
        ),
        Fault::Long(silent) => {
            let said = format!("{HEAD}Content-Length: {}\r\n\r\n{}", echo(act).len() + 9, echo(act));
            (said.into_bytes(), if silent { Next::Over } else { Next::Close })
        }
        Fault::Short => (format!("{HEAD}Content-Length: 5\r\n\r\n{}", echo(act)).into_bytes(), Next::Over),
        Fault::Gzip => (
            answer("200 OK", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", echo(act)),
            Next::Act,
        ),
        Fault::NotJson => (json("{\"act\":"), Next::Act),
        Fault::Hang => (Vec::new(), Next::Over),
        Fault::Junk => (b"SSH-2.0-OpenSSH_9.9\r\n\r\n".to_vec(), Next::Over),
        Fault::TwoLengths => (
            format!("{HEAD}Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}", echo(act)).into_bytes(),
            Next::Over,
        ),
        // Not at once.
        Fault::Early(..)
        | Fault::PartRead(..)
        | Fault::IdleClose(_)
        | Fault::Trickle
        | Fault::EndlessChunks
        | Fault::EndlessLength
        | Fault::EndlessHead => (Vec::new(), Next::Close),
    }
}

fn endless(stream: &mut TcpStream, start: &str, more: &str) -> Next {
    if stream.write_all(start.as_bytes()).is_ok() {
        while stream.write_all(more.as_bytes()).is_ok() {}
    }
    Next::Close
}

/// The number of the act, and the length of its body.
fn read_head(stream: &mut TcpStream, pending: &mut Vec<u8>) -> Option<(u64, usize)> {
    let end = loop {
        if let Some(at) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        fill(stream, pending)?;
    };
    let head: Vec<u8> = pending.drain(..end).collect();
    let head = String::from_utf8(head).ok()?.to_ascii_lowercase();
    let field = |name: &str| {
        let line = head.split("\r\n").find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.and_then(|value| value.parse::<u64>().ok())
    };
    Some((field("x-act")?, usize::try_from(field("content-length")?).ok()?))
}

fn read_body(length: usize, stream: &mut TcpStream, pending: &mut Vec<u8>) -> Option<Vec<u8>> {
    while pending.len() < length {
        fill(stream, pending)?;
    }
    Some(pending.drain(..length).collect())
}

fn fill(stream: &mut TcpStream, pending: &mut Vec<u8>) -> Option<()> {
    let mut buffer = [0; 16_384];
    match stream.read(&mut buffer) {
        Ok(count) if count > 0 => {
            pending.extend_from_slice(&buffer[..count]);
            Some(())
        }
        Ok(_) | Err(_) => None,
    }
}
