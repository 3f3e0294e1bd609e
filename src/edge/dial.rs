//! A connection to a server of an upstream: over TCP to one of the addresses of its name, with TLS where it
//! speaks that, or over a unix socket.

use super::alarm::Alarm;
use super::{resolve, tls};
use crate::gateway::{Open, Upstream};
use pingora_core::connectors::TransportConnector;
use pingora_core::protocols::Stream;
use pingora_core::upstreams::peer::HttpPeer;
use pingora_timeout::timeout;
use std::io;
use std::net::SocketAddr;

/// Addresses of one name that are tried for one act; a name with more has them all tried over several.
const ADDRESSES: usize = 3;

/// An open connection, and where it leads.
pub(super) struct Wire {
    pub(super) stream: Stream,
    pub(super) line: Line,
    /// Ends the waits of its acts.
    pub(super) alarm: Alarm,
}

/// Where a connection leads.
pub(super) struct Line {
    /// The server's number in the generation that uses it.
    pub(super) number: usize,
    /// The other end; none over a unix socket.
    pub(super) peer: Option<SocketAddr>,
    /// Of the addresses that were known when it was opened: see [`crate::gateway::Condition::epoch`].
    pub(super) epoch: u32,
    /// Counts the connection as long as it is open.
    pub(super) _counted: Open,
}

/// Connects to server number `number`. Each address may take `timeouts.connect`, and its TLS as much again.
pub(super) async fn open(
    connector: &TransportConnector,
    upstream: &Upstream,
    number: usize,
) -> io::Result<Wire> {
    let (server, condition) = (&upstream.servers[number], upstream.condition(number));
    let epoch = condition.epoch();
    let wire = |stream, peer| {
        let line = Line { number, peer, epoch, _counted: Open::to(condition) };
        Wire { stream, line, alarm: Alarm::default() }
    };
    if let Some(path) = &server.socket {
        let peer = HttpPeer::new_uds(path, false, String::new());
        let peer = peer.map_err(|error| io::Error::other(error.to_string()))?;
        return connect(connector, upstream, &peer).await.map(|stream| wire(stream, None));
    }
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let addresses = resolve::addresses(upstream, number).await?;
    let first = if addresses.len() > 1 { condition.turn() } else { 0 };
    for offset in 0..addresses.len().min(ADDRESSES) {
        let address = addresses[first.wrapping_add(offset) % addresses.len()];
        let peer = HttpPeer::new(address, false, String::new());
        let secured = match connect(connector, upstream, &peer).await {
            Ok(stream) => tls::secure(stream, upstream, number).await,
            Err(error) => Err(error),
        };
        match secured {
            Ok(stream) => return Ok(wire(stream, Some(address))),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn connect(connector: &TransportConnector, upstream: &Upstream, peer: &HttpPeer) -> io::Result<Stream> {
    match timeout(upstream.timeouts.connect, connector.new_stream(peer)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(io::Error::other(error.to_string())),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}
