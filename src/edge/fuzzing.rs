//! What the fuzzers in `fuzz/` call; compiled for them only.

use super::chunked::{Chunks, Progress};
use super::head::{self, FIELDS};
use bytes::BytesMut;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr};

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Exactly this many bytes.
    Length(u64),
    /// Chunked.
    Chunked,
}

/// What was read of a head.
#[derive(Debug)]
pub struct ReadHead {
    /// As written.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// How the body ends.
    pub framing: Framing,
}

/// Where the head ends, looked for from `seen` on; `Err` when it can only be refused.
pub fn find_head_end(bytes: &[u8], seen: usize) -> Result<Option<usize>, ()> {
    head::find_end(bytes, seen).map_err(|_| ())
}

/// A complete head, if it is taken.
pub fn read_head(bytes: &[u8]) -> Option<ReadHead> {
    let mut room = [const { MaybeUninit::uninit() }; FIELDS];
    let request = head::read(bytes, &mut room, IpAddr::V4(Ipv4Addr::LOCALHOST), "http").ok()?;
    let query = request.head.query.map(|query| format!("?{query}")).unwrap_or_default();
    Some(ReadHead {
        method: request.head.method.to_owned(),
        target: format!("{}{query}", request.head.path),
        framing: match request.framing {
            head::Framing::Length(length) => Framing::Length(length),
            head::Framing::Chunked => Framing::Chunked,
        },
    })
}

/// The body and what stands behind it, of a chunked body that comes in pieces; `None` when it is
/// malformed or not complete.
pub fn dechunk<'p>(pieces: &mut dyn Iterator<Item = &'p [u8]>) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut chunks, mut body, mut input) = (Chunks::new(), Vec::new(), BytesMut::new());
    loop {
        match chunks.decode(&mut input, |data| body.extend_from_slice(data)).ok()? {
            Progress::Done => {
                pieces.for_each(|piece| input.extend_from_slice(piece));
                return Some((body, input.to_vec()));
            }
            Progress::More => input.extend_from_slice(pieces.next()?),
        }
    }
}
