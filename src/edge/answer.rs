//! An upstream's answer, read strictly: the head here, the body by `Content-Length`, chunks, or the
//! end of the connection (RFC 9112, 6.3).

use super::budget::Hold;
use super::chunked::{Chunks, Progress};
use super::connection::first_read;
use super::head::read_length;
use crate::gateway::{Field, Received};
use crate::media::lists;
use bytes::{Bytes, BytesMut};
use memchr::memchr_iter;
use pingora_core::protocols::Stream;
use std::io;
use std::mem::MaybeUninit;
use tokio::io::AsyncReadExt;

/// Bytes of an answer's head, interim answers included.
const HEAD: usize = 64 << 10;
/// Bytes asked for in one read.
const READ: usize = 4096;

/// Where an answer is read from.
#[derive(Debug)]
pub(super) struct Source<'h> {
    pub(super) stream: Stream,
    pub(super) input: BytesMut,
    /// Memory of the answer; of the same budget as bodies, for a client may take long to fetch it.
    pub(super) hold: &'h mut Hold,
}

/// The head of a final answer.
#[derive(Debug)]
pub(super) struct AnswerHead<'a> {
    pub(super) fields: &'a [Field<'a>],
    framing: AnswerFraming,
    /// The upstream keeps the connection open after it.
    keeps: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerFraming {
    Length(u64),
    Chunked,
    UntilClose,
    /// Its end can be read in two ways.
    Malformed,
}

/// The connection failed or ended first, or what came is no HTTP: nothing tells what became of the act.
#[derive(Debug)]
pub(super) struct NoAnswer;

impl From<io::Error> for NoAnswer {
    fn from(_: io::Error) -> Self {
        Self
    }
}

impl Source<'_> {
    /// Reads until a final head is complete, over interim ones (RFC 9110, 15.2). Its status, and its bytes.
    pub(super) async fn final_head(&mut self) -> Result<(u16, Bytes), NoAnswer> {
        let mut left = HEAD;
        loop {
            match scan(&self.input)? {
                Scan::Final(status, length) => {
                    return Ok((status, self.input.split_to(length).freeze()));
                }
                Scan::Interim(length) => {
                    left = left.checked_sub(length).ok_or(NoAnswer)?;
                    let _ = self.input.split_to(length);
                }
                Scan::Partial if self.input.len() > left => return Err(NoAnswer),
                Scan::Partial => {
                    if self.read().await? == 0 {
                        return Err(NoAnswer);
                    }
                }
            }
        }
    }

    /// Reads the body, at most `most` bytes. Whether the connection can be used again.
    pub(super) async fn body(&mut self, head: &AnswerHead<'_>, most: usize) -> (Received, bool) {
        let (received, framed) = match head.framing {
            AnswerFraming::Length(length) => (self.exactly(length, most).await, true),
            AnswerFraming::Chunked => (self.chunks(most).await, true),
            AnswerFraming::UntilClose => (self.until_close(most).await, false),
            AnswerFraming::Malformed => (Received::Broken, false),
        };
        let whole = matches!(received, Received::Whole(_));
        (received, framed && whole && head.keeps && self.input.is_empty())
    }

    async fn exactly(&mut self, length: u64, most: usize) -> Received {
        let Some(length) = usize::try_from(length).ok().filter(|length| *length <= most) else {
            return Received::TooLarge;
        };
        while self.input.len() < length {
            self.input.reserve((length - self.input.len()).min(self.input.len().max(READ)));
            if !self.holds(self.input.capacity()) {
                return Received::TooLarge;
            }
            match self.read().await {
                Ok(0) | Err(_) => return Received::Broken,
                Ok(_) => {}
            }
        }
        Received::Whole(self.input.split_to(length).freeze())
    }

    async fn chunks(&mut self, most: usize) -> Received {
        let (mut chunks, mut body) = (Chunks::new(), BytesMut::new());
        loop {
            let step = chunks.decode(&mut self.input, |data| body.extend_from_slice(data));
            if body.len() > most || !self.holds(body.capacity()) {
                return Received::TooLarge;
            }
            match step {
                Ok(Progress::Done) => return Received::Whole(body.freeze()),
                Ok(Progress::More) => {}
                Err(_) => return Received::Broken,
            }
            match self.read().await {
                Ok(0) | Err(_) => return Received::Broken,
                Ok(_) => {}
            }
        }
    }

    /// Backends of HTTP/1.0 end a body by closing. Whether all of it came, its JSON will tell.
    async fn until_close(&mut self, most: usize) -> Received {
        loop {
            if self.input.len() > most || !self.holds(self.input.capacity()) {
                return Received::TooLarge;
            }
            match self.read().await {
                Ok(0) => return Received::Whole(self.input.split().freeze()),
                Ok(_) => {}
                Err(_) => return Received::Broken,
            }
        }
    }

    /// Whether there is memory for so much. What fits into one read is part of what a connection costs.
    fn holds(&mut self, bytes: usize) -> bool {
        bytes <= READ || self.hold.grow_to(bytes).is_ok()
    }

    async fn read(&mut self) -> io::Result<usize> {
        // Most answers come whole, and take a buffer of their size.
        if self.input.is_empty() && self.input.capacity() < READ {
            return first_read(&mut self.stream, &mut self.input, READ).await;
        }
        if self.input.capacity() - self.input.len() < READ / 4 {
            self.input.reserve(READ);
        }
        self.stream.read_buf(&mut self.input).await
    }
}

enum Scan {
    Final(u16, usize),
    Interim(usize),
    Partial,
}

fn scan(bytes: &[u8]) -> Result<Scan, NoAnswer> {
    let mut fields = [httparse::EMPTY_HEADER; 0];
    let mut line = httparse::Response::new(&mut fields);
    // Without room for fields httparse stops at the first one: all that is wanted is the status line.
    match line.parse(bytes) {
        Ok(httparse::Status::Partial) if line.code.is_none() => return Ok(Scan::Partial),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => {}
        Err(_) => return Err(NoAnswer),
    }
    let Some(end) = memchr_iter(b'\n', bytes).find(|at| bytes[..*at].ends_with(b"\r\n\r")) else {
        return Ok(Scan::Partial);
    };
    match line.code {
        None | Some(0..=99 | 600..) => Err(NoAnswer),
        // 101 is final here: we asked for no upgrade.
        Some(status @ (101 | 200..=599)) => Ok(Scan::Final(status, end + 1)),
        Some(100..=199) => Ok(Scan::Interim(end + 1)),
    }
}

/// Reads a complete final head; `None` when its fields are malformed.
pub(super) fn read_head<'a>(
    bytes: &'a [u8],
    room: &'a mut [MaybeUninit<Field<'a>>],
) -> Option<AnswerHead<'a>> {
    let mut response = httparse::Response::new(&mut []);
    let parser = httparse::ParserConfig::default();
    let parsed = parser.parse_response_with_uninit_headers(&mut response, bytes, room);
    if parsed != Ok(httparse::Status::Complete(bytes.len())) {
        return None;
    }
    let (status, version) = (response.code?, response.version?);
    let fields: &'a [Field<'a>] = response.headers;
    let named = |name: &'static str| fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
    let (mut lengths, mut codings) = (named("content-length"), named("transfer-encoding"));
    let framing = match (lengths.next(), lengths.next(), codings.next(), codings.next()) {
        // No body whatever the head says (RFC 9112, 6.3).
        _ if status == 204 || status == 304 => AnswerFraming::Length(0),
        // What follows is no HTTP.
        _ if status == 101 => AnswerFraming::Malformed,
        (None, None, None, None) => AnswerFraming::UntilClose,
        (Some(length), None, None, None) => {
            read_length(length.value).map_or(AnswerFraming::Malformed, AnswerFraming::Length)
        }
        (None, None, Some(coding), None) if coding.value.eq_ignore_ascii_case(b"chunked") => {
            AnswerFraming::Chunked
        }
        (Some(_) | None, Some(_) | None, Some(_) | None, Some(_) | None) => AnswerFraming::Malformed,
    };
    let says_close = named("connection").any(|field| lists(field.value, "close"));
    Some(AnswerHead { fields, framing, keeps: version == 1 && !says_close })
}
