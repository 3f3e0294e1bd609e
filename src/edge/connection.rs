//! One HTTP/1 connection: heads in, bodies in, replies out, everything bounded in bytes and in time.

use super::alarm::{Alarm, at_once};
use super::budget::{Budget, Hold};
use super::chunked::{Chunks, Progress};
use super::head::{Framing, find_end, starts_like_a_method};
use super::request::{End, UNWANTED, Uncollected};
use super::{Stray, clock};
use crate::gateway::Reply;
use crate::reason::Reason;
use bytes::{Bytes, BytesMut};
use pingora_core::protocols::Stream;
use pingora_http::StatusCode;
use pingora_timeout::timeout;
use std::cell::RefCell;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

/// The connection preface of HTTP/2 (RFC 9113, 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Says that this answer is the last of its connection.
pub(super) const CLOSE: &[u8] = b"Connection: close\r\n";

/// Bytes asked for in one read of a body.
const READ: usize = 4096;
/// Bytes asked for where a request may begin: most come whole, head and body, in one read.
const FIRST_READ: usize = 16 << 10;
/// First step, and smallest, in which a body's buffer grows.
const GROWTH: usize = 16 << 10;
/// Bytes of a body that are copied behind their head: one buffer costs the system less to take than two.
pub(super) const COPIED: usize = 2048;
/// How long a client may take to read an answer.
const WRITE_DEADLINE: Duration = Duration::from_secs(30);
/// What is read and thrown away before a close, so that the answer is not lost to a reset.
const LINGER_BYTES: usize = 256 << 10;
const LINGER: Duration = Duration::from_secs(2);

thread_local! {
    /// Where requests are first read to, one for all connections of a worker: one that waits holds no buffer.
    static FIRST: RefCell<Box<[u8]>> = RefCell::new(vec![0; FIRST_READ].into_boxed_slice());
}

/// A client's connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Stream,
    input: BytesMut,
    output: Vec<u8>,
    alarm: Alarm,
}

/// How a request begins.
#[derive(Debug)]
pub(super) enum Opening {
    /// A complete head.
    Head(Bytes),
    /// The client left, or kept silent for too long, between requests.
    Closed,
    /// Not a head.
    Stray(Stray),
    /// HTTP/2; nothing has been taken off the input.
    Http2,
}

/// What bounds the reading of a head.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeadBounds {
    pub(super) bytes: usize,
    pub(super) deadline: Duration,
    /// How long to wait for the first byte.
    pub(super) idle: Duration,
    /// HTTP/2 begins a connection or not at all.
    pub(super) first: bool,
}

/// What bounds the reading of a body.
#[derive(Debug)]
pub(super) struct BodyBounds<'b> {
    pub(super) bytes: usize,
    pub(super) deadline: Instant,
    pub(super) budget: &'b Arc<Budget>,
}

/// A whole body, and the memory it holds.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) bytes: Bytes,
    pub(super) hold: Hold,
}

impl Connection {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, input: BytesMut::new(), output: Vec::new(), alarm: Alarm::default() }
    }

    /// The stream with what was read of it but not taken, for HTTP/2.
    pub(super) fn into_parts(self) -> (Stream, BytesMut) {
        (self.stream, self.input)
    }

    /// `since`: when it began to wait for it, lately.
    pub(super) async fn next_head(&mut self, bounds: HeadBounds, since: Instant) -> Opening {
        if self.input.is_empty() {
            self.input = BytesMut::new();
            let first_read = first_read(&mut self.stream, &mut self.input, FIRST_READ);
            match self.alarm.until(since + bounds.idle, first_read).await {
                Ok(0) | Err(_) => return Opening::Closed,
                Ok(_) => {}
            }
        }
        // Most heads come in one piece: only the others cost a look at the clock.
        let mut deadline = None;
        let (mut seen, mut first) = (0, true);
        loop {
            // One empty line before a request is a client's habit (RFC 9112, 2.2); two are not.
            if first && self.input.starts_with(b"\r\n") {
                let _ = self.input.split_to(2);
                first = false;
            }
            let half_a_line = first && self.input == b"\r"[..];
            if !half_a_line && !starts_like_a_method(&self.input) {
                return Opening::Stray(Stray::Framing);
            }
            if bounds.first
                && self.input.starts_with(&PREFACE[..self.input.len().min(PREFACE.len())])
                && self.input.len() >= 3
            {
                if self.input.len() >= PREFACE.len() {
                    return Opening::Http2;
                }
            } else {
                match find_end(&self.input, seen) {
                    // Most requests without a body: their buffer goes with them, and is not shared first.
                    Ok(Some(end)) if end == self.input.len() && end <= bounds.bytes => {
                        return Opening::Head(std::mem::take(&mut self.input).freeze());
                    }
                    Ok(Some(end)) if end <= bounds.bytes => {
                        return Opening::Head(self.input.split_to(end).freeze());
                    }
                    Ok(None) if self.input.len() < bounds.bytes => {}
                    Ok(Some(_) | None) => return Opening::Stray(Stray::HeadTooLarge),
                    Err(stray) => return Opening::Stray(stray),
                }
                seen = self.input.len();
            }
            let by = *deadline.get_or_insert_with(|| Instant::now() + bounds.deadline);
            match self.read_until(by).await {
                Ok(0) => return Opening::Stray(Stray::Cut),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    return Opening::Stray(Stray::Deadline);
                }
                Err(_) => return Opening::Stray(Stray::Cut),
            }
        }
    }

    /// Reads a whole body into memory.
    pub(super) async fn collect(
        &mut self,
        framing: Framing,
        bounds: &BodyBounds<'_>,
    ) -> Result<Collected, Uncollected> {
        let mut hold = bounds.budget.hold();
        match framing {
            Framing::Length(length) => {
                let length = usize::try_from(length).map_err(|_| Reason::TooLarge)?;
                if length > bounds.bytes {
                    return Err(Reason::TooLarge.into());
                }
                loop {
                    let have = self.input.len().min(length);
                    // As it comes, not as it is announced: an announcement costs its sender nothing.
                    let room = length.min((have * 4).max(GROWTH));
                    hold.grow_to(room).map_err(|_| Reason::Budget)?;
                    if have == length {
                        let bytes = self.input.split_to(length).freeze();
                        self.let_go(length);
                        return Ok(Collected { bytes, hold });
                    }
                    if self.input.capacity() < room {
                        // Not `reserve`, which may take twice as much as is held for it; and with the room
                        // that a read asks for, or the last bytes of a body would double its buffer.
                        let mut grown = BytesMut::with_capacity(room + READ / 4);
                        grown.extend_from_slice(&self.input);
                        self.input = grown;
                    }
                    self.read_body(bounds.deadline).await?;
                }
            }
            Framing::Chunked => {
                let (mut chunks, mut body) = (Chunks::new(), BytesMut::new());
                loop {
                    let step = chunks.decode(&mut self.input, |data| body.extend_from_slice(data));
                    let progress = step.map_err(|_| Reason::BodyBroken)?;
                    if body.len() > bounds.bytes {
                        // Read over like every body that is not wanted.
                        drop((body, hold));
                        let end = match progress {
                            Progress::Done => End::Reached,
                            Progress::More => self.discard_chunks(chunks, UNWANTED, bounds.deadline).await?,
                        };
                        return Err(Uncollected { reason: Reason::TooLarge, end });
                    }
                    hold.grow_to(body.capacity()).map_err(|_| Reason::Budget)?;
                    if progress == Progress::Done {
                        return Ok(Collected { bytes: body.freeze(), hold });
                    }
                    self.read_body(bounds.deadline).await?;
                }
            }
        }
    }

    /// Reads over a body that will not be judged.
    pub(super) async fn discard(
        &mut self,
        framing: Framing,
        most: usize,
        by: Instant,
    ) -> Result<End, Reason> {
        let length = match framing {
            Framing::Chunked => return self.discard_chunks(Chunks::new(), most, by).await,
            Framing::Length(length) => usize::try_from(length).ok().filter(|length| *length <= most),
        };
        let Some(mut left) = length else {
            return Ok(End::Lost);
        };
        loop {
            let here = left.min(self.input.len());
            let _ = self.input.split_to(here);
            left -= here;
            if left == 0 {
                return Ok(End::Reached);
            }
            self.read_body(by).await?;
        }
    }

    async fn discard_chunks(&mut self, mut chunks: Chunks, most: usize, by: Instant) -> Result<End, Reason> {
        let mut discarded = 0;
        loop {
            match chunks.decode(&mut self.input, |data| discarded += data.len()) {
                Ok(Progress::Done) => return Ok(End::Reached),
                Ok(Progress::More) if discarded as u64 + chunks.announced() > most as u64 => {
                    return Ok(End::Lost);
                }
                Ok(Progress::More) => self.read_body(by).await?,
                Err(_) => return Err(Reason::BodyBroken),
            }
        }
    }

    /// Whether some of a body has come already: then nobody waits for 100.
    pub(super) fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    pub(super) async fn say_continue(&mut self) -> io::Result<()> {
        let wire = b"HTTP/1.1 100 Continue\r\n\r\n";
        self.alarm.within(WRITE_DEADLINE, write_all(&mut self.stream, wire, b"")).await
    }

    /// Head and body in one write. `more` is put together to the lines that only this answer has.
    pub(super) async fn respond(&mut self, reply: &Reply, more: &[&[u8]]) -> io::Result<()> {
        let out = &mut self.output;
        out.clear();
        write_status(out, reply.status);
        clock::write_date(out);
        out.extend_from_slice(&reply.lines);
        for part in more {
            out.extend_from_slice(part);
        }
        out.extend_from_slice(b"\r\n");
        let mut body: &[u8] = &reply.body;
        if body.len() <= COPIED {
            out.extend_from_slice(body);
            body = b"";
        }
        self.alarm.within(WRITE_DEADLINE, write_all(&mut self.stream, out, body)).await
    }

    /// Closes so that the last answer arrives: our end first, then what the client still sends is
    /// read over for a while. A socket closed with unread input is reset, and takes the answer along.
    pub(super) async fn linger(mut self) {
        // What was read of a body that was turned away is in no budget any more.
        self.input = BytesMut::new();
        if self.stream.shutdown().await.is_err() {
            return;
        }
        let read_over = async {
            let mut left = LINGER_BYTES;
            let mut sink = [0; 2048];
            while let Ok(read) = self.stream.read(&mut sink).await {
                left = left.saturating_sub(read);
                if read == 0 || left == 0 {
                    break;
                }
            }
        };
        let _ = timeout(LINGER, read_over).await;
    }

    /// A buffer that had grown for a body goes when the body goes: what stays on an idle connection is
    /// in no budget.
    fn let_go(&mut self, length: usize) {
        if length > GROWTH {
            self.input = BytesMut::from(&self.input[..]);
        }
    }

    async fn read_body(&mut self, by: Instant) -> Result<(), Reason> {
        match self.read_until(by).await {
            Ok(0) => Err(Reason::BodyBroken),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Reason::Deadline),
            Err(_) => Err(Reason::BodyBroken),
        }
    }

    async fn read_until(&mut self, by: Instant) -> io::Result<usize> {
        if self.input.capacity() - self.input.len() < READ / 4 {
            self.input.reserve(READ);
        }
        self.alarm.until(by, self.stream.read_buf(&mut self.input)).await
    }
}

/// Waits without a buffer; what came, `most` bytes at most, is copied into one of its size.
pub(super) async fn first_read<S: AsyncRead + Unpin + ?Sized>(
    stream: &mut S,
    input: &mut BytesMut,
    most: usize,
) -> io::Result<usize> {
    std::future::poll_fn(|context| {
        FIRST.with_borrow_mut(|first| {
            let mut room = ReadBuf::new(&mut first[..most.min(FIRST_READ)]);
            ready!(Pin::new(&mut *stream).poll_read(context, &mut room))?;
            input.extend_from_slice(room.filled());
            Poll::Ready(Ok(room.filled().len()))
        })
    })
    .await
}

/// Head and body in as few writes as the socket takes, without copying the body behind the head.
pub(super) async fn write_all<S: AsyncWrite + Unpin + ?Sized>(
    stream: &mut S,
    head: &[u8],
    body: &[u8],
) -> io::Result<()> {
    let mut sent = 0;
    while sent < head.len() + body.len() {
        let wrote = std::future::poll_fn(|context| {
            poll_write_pair(Pin::new(&mut *stream), context, head, body, sent)
        });
        match wrote.await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            wrote => sent += wrote,
        }
    }
    stream.flush().await
}

/// One write of what is left of `head` and `body` after `sent` bytes.
pub(super) fn poll_write_pair<S: AsyncWrite + ?Sized>(
    stream: Pin<&mut S>,
    context: &mut Context<'_>,
    head: &[u8],
    body: &[u8],
    sent: usize,
) -> Poll<io::Result<usize>> {
    match head.get(sent..) {
        Some(head) if !head.is_empty() && !body.is_empty() => {
            let pair = [io::IoSlice::new(head), io::IoSlice::new(body)];
            stream.poll_write_vectored(context, &pair)
        }
        Some(head) if !head.is_empty() => stream.poll_write(context, head),
        Some(_) | None => stream.poll_write(context, &body[sent - head.len()..]),
    }
}

/// Reads without waiting: `None` when nothing is there.
pub(super) fn read_now<S: AsyncRead + Unpin + ?Sized>(
    stream: &mut S,
    into: &mut [u8],
) -> Option<io::Result<usize>> {
    at_once(stream.read(into))
}

fn write_status(out: &mut Vec<u8>, status: u16) {
    let common: &[u8] = match status {
        200 => b"HTTP/1.1 200 OK\r\n",
        204 => b"HTTP/1.1 204 No Content\r\n",
        304 => b"HTTP/1.1 304 Not Modified\r\n",
        _ => {
            let phrase = StatusCode::from_u16(status).ok();
            let phrase = phrase.and_then(|status| status.canonical_reason()).unwrap_or("");
            // Writing to a `Vec` cannot fail.
            let _ = write!(out, "HTTP/1.1 {status} {phrase}\r\n");
            return;
        }
    };
    out.extend_from_slice(common);
}
