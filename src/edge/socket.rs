//! A client's socket as pingora wants it, and nothing more: pingora's own stream also keeps how long it has waited, for which
//! it looks at the clock twice a wait, and a buffer for what is written.

use async_trait::async_trait;
use pingora_core::protocols::raw_connect::ProxyDigest;
use pingora_core::protocols::{
    GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl, TimingDigest,
    UniqueID, UniqueIDType,
};
use std::io::{self, IoSlice};
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

#[derive(Debug)]
pub(super) struct Socket {
    system: System,
    /// Was read and put back: comes first.
    again: Vec<u8>,
}

#[derive(Debug)]
enum System {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl From<TcpStream> for Socket {
    fn from(stream: TcpStream) -> Self {
        Self { system: System::Tcp(stream), again: Vec::new() }
    }
}

impl From<UnixStream> for Socket {
    fn from(stream: UnixStream) -> Self {
        Self { system: System::Unix(stream), again: Vec::new() }
    }
}

impl Socket {
    /// Puts back what was read of it.
    pub(super) fn rewind(&mut self, bytes: &[u8]) {
        self.again.splice(..0, bytes.iter().copied());
    }

    fn read_again(&mut self, into: &mut ReadBuf<'_>) {
        let count = self.again.len().min(into.remaining());
        into.put_slice(&self.again[..count]);
        self.again.drain(..count);
        if self.again.is_empty() {
            self.again = Vec::new();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.again.is_empty() {
            this.read_again(into);
            return Poll::Ready(Ok(()));
        }
        match &mut this.system {
            System::Tcp(stream) => Pin::new(stream).poll_read(context, into),
            System::Unix(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().system {
            System::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            System::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().system {
            System::Tcp(stream) => Pin::new(stream).poll_write_vectored(context, pieces),
            System::Unix(stream) => Pin::new(stream).poll_write_vectored(context, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // What is written is with the system.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().system {
            System::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            System::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

#[async_trait]
impl Shutdown for Socket {
    async fn shutdown(&mut self) {
        let _ = AsyncWriteExt::shutdown(self).await;
    }
}

impl UniqueID for Socket {
    fn id(&self) -> UniqueIDType {
        match &self.system {
            System::Tcp(stream) => stream.as_raw_fd(),
            System::Unix(stream) => stream.as_raw_fd(),
        }
    }
}

// What else pingora asks of a stream; nothing here looks at it.

#[async_trait]
impl Peek for Socket {}

impl Ssl for Socket {}

impl GetTimingDigest for Socket {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        Vec::new()
    }
}

impl GetProxyDigest for Socket {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        None
    }
}

impl GetSocketDigest for Socket {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        None
    }
}
