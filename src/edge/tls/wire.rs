//! The socket under a TLS connection: counts what goes over it.

use pingora_core::protocols::Stream;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A plain stream, bounded until the handshake is done.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) stream: Stream,
    /// Bytes that may still be read; without bound once the handshake is done.
    room: Option<usize>,
    /// Whether a byte has been written since this was last set to false.
    pub(super) wrote: bool,
}

impl Wire {
    /// At most `room` bytes are read until [`Wire::release`].
    pub(super) fn new(stream: Stream, room: usize) -> Self {
        Self { stream, room: Some(room), wrote: false }
    }

    /// The handshake is done: what follows is bounded by who reads it.
    pub(super) fn release(&mut self) {
        self.room = None;
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = into.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, into))?;
        if let Some(room) = &mut this.room {
            let Some(left) = room.checked_sub(into.filled().len() - before) else {
                return Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into()));
            };
            *room = left;
        }
        Poll::Ready(Ok(()))
    }
}

impl Wire {
    fn note(&mut self, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(wrote, Poll::Ready(Ok(count)) if count > 0) {
            self.wrote = true;
        }
        wrote
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.note(wrote)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = Pin::new(&mut this.stream).poll_write_vectored(context, pieces);
        this.note(wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
