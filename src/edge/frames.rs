//! An HTTP/2 connection whose heads come within their deadline.
//!
//! Streams and their bodies have deadlines of their own, but a head belongs to no stream before it is whole: a client that
//! begins one and goes on for ever, or stops, would hold its connection for as long as an idle one. So what is read is
//! looked at on its way to `h2`: only how long frames are, and where a head begins and ends (RFC 9113, 4.1, 6.2, 6.10).

use super::connection::PREFACE;
use async_trait::async_trait;
use pingora_core::protocols::raw_connect::ProxyDigest;
use pingora_core::protocols::{
    ALPN, GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl, Stream,
    TimingDigest, UniqueID, UniqueIDType,
};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream that fails when a head takes longer than it may.
#[derive(Debug)]
pub(super) struct Timed {
    stream: Stream,
    frames: Frames,
    deadline: Duration,
    /// Runs while a head is not whole.
    left: Option<Pin<Box<Sleep>>>,
}

impl Timed {
    /// `stream` begins with the preface, which has the same deadline.
    pub(super) fn new(stream: Stream, deadline: Duration) -> Self {
        Self { stream, frames: Frames::new(), deadline, left: None }
    }
}

impl AsyncRead for Timed {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = into.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, into);
        this.frames.follow(&into.filled()[before..]);
        if !this.frames.in_head {
            this.left = None;
            return read;
        }
        let left = this.left.get_or_insert_with(|| Box::pin(sleep(this.deadline)));
        match left.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => read,
        }
    }
}

/// Where in the frames the input stands.
#[derive(Debug)]
struct Frames {
    /// Bytes to pass over: the preface, or what is left of a frame.
    skip: usize,
    /// What has come of a frame's first nine bytes.
    start: [u8; 9],
    have: usize,
    /// A HEADERS frame, or the preface, has begun, and what ends it has not come to its end.
    in_head: bool,
    /// The frame being passed over is the last of the head.
    last: bool,
}

const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;
const END_HEADERS: u8 = 0x4;

impl Frames {
    fn new() -> Self {
        Self { skip: PREFACE.len(), start: [0; 9], have: 0, in_head: true, last: true }
    }

    fn follow(&mut self, mut bytes: &[u8]) {
        loop {
            let passed = self.skip.min(bytes.len());
            bytes = &bytes[passed..];
            self.skip -= passed;
            if self.skip > 0 {
                return;
            }
            if self.last {
                (self.in_head, self.last) = (false, false);
            }
            let Some((first, rest)) = bytes.split_first() else { return };
            bytes = rest;
            self.start[self.have] = *first;
            self.have += 1;
            if self.have == self.start.len() {
                self.have = 0;
                self.begin();
            }
        }
    }

    fn begin(&mut self) {
        let [high, middle, low, kind, flags, ..] = self.start;
        self.skip = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        // Whatever else comes inside a head is a connection error, and h2 knows.
        if kind == HEADERS || kind == CONTINUATION {
            self.in_head = true;
            self.last = flags & END_HEADERS != 0;
        }
    }
}

impl AsyncWrite for Timed {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

// What pingora asks of a stream, answered by the one inside.

#[async_trait]
impl Shutdown for Timed {
    async fn shutdown(&mut self) {
        Shutdown::shutdown(&mut *self.stream).await;
    }
}

#[async_trait]
impl Peek for Timed {
    /// What is peeked at is put back, and followed when it is read.
    async fn try_peek(&mut self, into: &mut [u8]) -> io::Result<bool> {
        self.stream.try_peek(into).await
    }
}

impl UniqueID for Timed {
    fn id(&self) -> UniqueIDType {
        self.stream.id()
    }
}

impl Ssl for Timed {
    fn selected_alpn_proto(&self) -> Option<ALPN> {
        self.stream.selected_alpn_proto()
    }
}

impl GetTimingDigest for Timed {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        self.stream.get_timing_digest()
    }
}

impl GetProxyDigest for Timed {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        self.stream.get_proxy_digest()
    }
}

impl GetSocketDigest for Timed {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        self.stream.get_socket_digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, length: u8) -> Vec<u8> {
        let mut bytes = vec![0, 0, length, kind, flags, 0, 0, 0, 1];
        bytes.resize(9 + usize::from(length), 7);
        bytes
    }

    /// After each byte, whether a head has begun and is not whole; cut anywhere, it is the same.
    #[test]
    fn a_head_is_seen_from_its_first_frame_to_its_last_byte() {
        let wire = [
            PREFACE.to_vec(),
            frame(4, 0, 6),
            frame(HEADERS, END_HEADERS, 3),
            frame(0, 0, 5),
            frame(HEADERS, 0, 4),
            frame(CONTINUATION, 0, 0),
            frame(CONTINUATION, END_HEADERS, 2),
            frame(HEADERS, END_HEADERS, 0),
            frame(6, END_HEADERS, 8),
        ]
        .concat();
        let mut one_by_one = Frames::new();
        let states: Vec<bool> = wire
            .iter()
            .map(|byte| {
                one_by_one.follow(&[*byte]);
                one_by_one.in_head
            })
            .collect();
        let spans: Vec<(bool, usize)> =
            states.chunk_by(|a, b| a == b).map(|span| (span[0], span.len())).collect();
        // Preface, SETTINGS and the first eight bytes of HEADERS; its ninth and three more but the last…
        let expected = [
            (true, 23),
            (false, 1 + 15 + 8),
            (true, 3),
            (false, 1 + 14 + 8),
            (true, 1 + 4 + 9 + 9 + 1),
            (false, 1 + 9 + 17),
        ];
        assert_eq!(spans, expected);
        for cut in 0..wire.len() {
            let mut frames = Frames::new();
            frames.follow(&wire[..cut]);
            assert_eq!(frames.in_head, cut == 0 || states[cut - 1], "{cut}");
            frames.follow(&wire[cut..]);
            assert!(!frames.in_head);
        }
    }
}
