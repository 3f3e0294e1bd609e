//! HTTP/2 in raw frames (RFC 9113, 4; RFC 7541, 6.2.3), for what no client library would send.

use super::process::MIB;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const END_STREAM: u8 = 1;
pub(super) const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut out = length[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend_from_slice(payload);
    out
}

/// Fields as literals that are never indexed, without Huffman: the bytes are those given.
pub(super) fn fields(list: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in list {
        out.push(0x10);
        for text in [name, value] {
            integer(text.len(), &mut out);
            out.extend_from_slice(text);
        }
    }
    out
}

/// An integer with a prefix of seven bits (RFC 7541, 5.1).
fn integer(value: usize, out: &mut Vec<u8>) {
    let Some(mut rest) = value.checked_sub(127) else {
        return out.push(u8::try_from(value).unwrap());
    };
    out.push(127);
    while rest >= 128 {
        out.push(u8::try_from(rest % 128 + 128).unwrap());
        rest /= 128;
    }
    out.push(u8::try_from(rest).unwrap());
}

/// What came of a connection or a stream.
#[derive(Debug, Default)]
pub(super) struct Came {
    /// The first field block of each stream that was answered, still compressed, and its status where it is in the static table.
    pub(super) statuses: Vec<(u32, Option<u16>)>,
    pub(super) resets: Vec<u32>,
    pub(super) acks: usize,
    pub(super) goaway: bool,
    pub(super) closed: bool,
}

impl Came {
    pub(super) fn status(&self, stream: u32) -> Option<u16> {
        self.statuses.iter().find(|(of, _)| *of == stream).and_then(|(_, status)| *status)
    }

    /// Refused by the protocol: the stream was reset, or the connection ended.
    pub(super) fn refused(&self, stream: u32) -> bool {
        self.resets.contains(&stream) || self.goaway || self.closed
    }
}

pub(super) struct Raw {
    pub(super) stream: TcpStream,
    pending: Vec<u8>,
}

impl Raw {
    /// Connects, and sends the preface and empty settings.
    pub(super) fn open(to: SocketAddr) -> Self {
        let stream = TcpStream::connect_timeout(&to, Duration::from_secs(5)).unwrap();
        let _ = stream.set_nodelay(true);
        let _ = stream.set_write_timeout(Some(Duration::from_secs(5)));
        let mut raw = Self { stream, pending: Vec::new() };
        raw.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        raw.send(&frame(SETTINGS, 0, 0, b""));
        raw
    }

    /// False when the other side takes no more.
    pub(super) fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Reads frames until the stream is decided, the connection ended, or the time is over.
    pub(super) fn until(&mut self, stream: u32, time: Duration) -> Came {
        let mut came = Came::default();
        let by = Instant::now() + time;
        loop {
            while let Some((kind, flags, of, payload)) = self.take() {
                match kind {
                    HEADERS => came.statuses.push((of, payload.first().copied().and_then(indexed_status))),
                    RST_STREAM => came.resets.push(of),
                    GOAWAY => came.goaway = true,
                    PING | SETTINGS if flags & ACK != 0 => came.acks += 1,
                    _ => {}
                }
                let ended = kind == RST_STREAM || (matches!(kind, HEADERS | DATA) && flags & END_STREAM != 0);
                if of == stream && stream != 0 && ended {
                    return came;
                }
            }
            let left = by.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return came;
            }
            let _ = self.stream.set_read_timeout(Some(left));
            let mut buffer = [0; 16_384];
            match self.stream.read(&mut buffer) {
                Ok(0) => {
                    came.closed = true;
                    return came;
                }
                Ok(count) => self.pending.extend_from_slice(&buffer[..count]),
                Err(fault) if matches!(fault.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return came;
                }
                Err(_) => {
                    came.closed = true;
                    return came;
                }
            }
            assert!(self.pending.len() < usize::try_from(64 * MIB).unwrap());
        }
    }

    fn take(&mut self) -> Option<(u8, u8, u32, Vec<u8>)> {
        let head = self.pending.get(..9)?;
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let (kind, flags) = (head[3], head[4]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & 0x7fff_ffff;
        let payload = self.pending.get(9..9 + length)?.to_vec();
        self.pending.drain(..9 + length);
        Some((kind, flags, stream, payload))
    }
}

/// `:status` of the static table (RFC 7541, appendix A); others are 0.
fn indexed_status(byte: u8) -> Option<u16> {
    match byte {
        0x88 => Some(200),
        0x89 => Some(204),
        0x8a => Some(206),
        0x8b => Some(304),
        0x8c => Some(400),
        0x8d => Some(404),
        0x8e => Some(500),
        _ => None,
    }
}
