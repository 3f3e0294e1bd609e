//! A TLS connection after its handshake, as a stream of pingora's.

use super::concerns_certificate;
use super::wire::Wire;
use crate::edge::alarm::at_once;
use async_trait::async_trait;
use pingora_core::protocols::raw_connect::ProxyDigest;
use pingora_core::protocols::{
    ALPN, GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl, TimingDigest,
    UniqueID, UniqueIDType,
};
use rustls::Error;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_rustls::TlsStream;

/// A stream that is encrypted on its way, and says farewell (`close_notify`) however it ends.
#[derive(Debug)]
pub(super) struct Sealed {
    /// On the heap: a stream is moved about, and a session is large.
    tls: Box<TlsStream<Wire>>,
    /// A write that failed after some of it had left.
    failed: Option<io::ErrorKind>,
    /// Something has come from the other side.
    heard: bool,
    turned_away: bool,
}

impl Sealed {
    pub(super) fn new(tls: TlsStream<Wire>) -> Self {
        let mut tls = Box::new(tls);
        tls.get_mut().0.release();
        Self { tls, failed: None, heard: false, turned_away: false }
    }

    /// The first thing heard was that the other side does not take our certificate.
    pub(super) fn was_turned_away(&self) -> bool {
        self.turned_away && !self.heard
    }

    fn wire(&self) -> &Wire {
        self.tls.get_ref().0
    }

    /// Writes, and never says "nothing was sent" when something was: bytes are encrypted into a buffer first, and a
    /// socket that fails half-way through it may have delivered what it took.
    fn write(
        &mut self,
        offered: usize,
        write: impl FnOnce(Pin<&mut TlsStream<Wire>>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Some(kind) = self.failed {
            return Poll::Ready(Err(kind.into()));
        }
        self.tls.get_mut().0.wrote = false;
        match write(Pin::new(&mut *self.tls)) {
            Poll::Ready(Err(error)) if self.wire().wrote => {
                self.failed = Some(error.kind());
                Poll::Ready(Ok(offered))
            }
            outcome => outcome,
        }
    }
}

impl AsyncRead for Sealed {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = into.filled().len();
        let read = Pin::new(&mut *this.tls).poll_read(context, into);
        this.heard |= into.filled().len() > before;
        if let Poll::Ready(Err(error)) = &read
            && let Some(Error::AlertReceived(alert)) =
                error.get_ref().and_then(|cause| cause.downcast_ref::<Error>())
        {
            this.turned_away = concerns_certificate(*alert);
        }
        read
    }
}

impl AsyncWrite for Sealed {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().write(bytes.len(), |tls| tls.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let offered = pieces.iter().map(|piece| piece.len()).sum();
        self.get_mut().write(offered, |tls| tls.poll_write_vectored(context, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.failed {
            Some(kind) => Poll::Ready(Err(kind.into())),
            None => Pin::new(&mut *this.tls).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().tls).poll_shutdown(context)
    }
}

/// However a connection ends, the other side learns that nothing is missing, if the socket takes it at once. Where an
/// answer is still on its way something is missing.
impl Drop for Sealed {
    fn drop(&mut self) {
        let (_, session) = self.tls.get_mut();
        if self.failed.is_none() && !session.wants_write() {
            session.send_close_notify();
            let _ = at_once(self.tls.flush());
        }
    }
}

// What pingora asks of a stream, answered by the one inside.

#[async_trait]
impl Shutdown for Sealed {
    async fn shutdown(&mut self) {
        let _ = AsyncWriteExt::shutdown(self).await;
    }
}

/// Nothing needs to be peeked at: the handshake has said what is spoken.
#[async_trait]
impl Peek for Sealed {}

impl UniqueID for Sealed {
    fn id(&self) -> UniqueIDType {
        self.wire().stream.id()
    }
}

impl Ssl for Sealed {
    fn selected_alpn_proto(&self) -> Option<ALPN> {
        (self.tls.get_ref().1.alpn_protocol()? == b"h2").then_some(ALPN::H2)
    }
}

impl GetTimingDigest for Sealed {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        self.wire().stream.get_timing_digest()
    }
}

impl GetProxyDigest for Sealed {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        self.wire().stream.get_proxy_digest()
    }
}

impl GetSocketDigest for Sealed {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        self.wire().stream.get_socket_digest()
    }
}
