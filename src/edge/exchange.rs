//! One act, sent once (P5). Only a failed connect is tried again, on the next server; from the first
//! byte on nothing is.

use super::answer::{Source, read_head};
use super::budget::Hold;
use super::connection::{COPIED, poll_write_pair, read_now};
use super::head::FIELDS;
use super::{App, pool, tls};
use crate::gateway::{Admitted, Consequence, Exchange, Head, Ids, Received, Server, Upstream};
use crate::telemetry::UpstreamRecord;
use bytes::BytesMut;
use pingora_core::connectors::TransportConnector;
use pingora_core::protocols::Stream;
use pingora_core::upstreams::peer::HttpPeer;
use pingora_timeout::timeout;
use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::AsyncWrite;

/// Whose turn it is, over all upstreams: with one count for all, each still gets an even share.
static TURN: AtomicUsize = AtomicUsize::new(0);

/// Sends what was admitted and concludes from what comes back. `hold` is the memory of the answer.
pub(super) async fn perform(
    app: &App,
    admitted: &Admitted<'_>,
    head: &Head<'_>,
    ids: &Ids,
    hold: &mut Hold,
) -> (Consequence, UpstreamRecord) {
    let began = Instant::now();
    let (consequence, status) = match connect(app, admitted.upstream(), began).await {
        None => (admitted.conclude(Exchange::NotSent), None),
        Some((number, stream)) => {
            let source = Source { stream, input: BytesMut::new(), hold };
            exchange(app, admitted, head, ids, number, source).await
        }
    };
    let record = UpstreamRecord { result: consequence.result, status, began, took: began.elapsed() };
    (consequence, record)
}

/// A connection to one of the servers, kept or new: each is tried once, beginning with the next in turn.
async fn connect(app: &App, upstream: &Upstream, now: Instant) -> Option<(usize, Stream)> {
    let count = upstream.servers.len();
    let first = if count > 1 { TURN.fetch_add(1, Ordering::Relaxed) } else { 0 };
    for offset in 0..count {
        let number = first.wrapping_add(offset) % count;
        let server = &upstream.servers[number];
        if let Some(stream) = pool::take(server, now) {
            return Some((number, stream));
        }
        match open(&app.connector, server, upstream.timeouts.connect).await {
            Ok(stream) => return Some((number, stream)),
            Err(error) => tracing::debug!(upstream = upstream.name, %error, "no connection"),
        }
    }
    None
}

/// Every address of the name is tried; the look-up and each of them may take `time`.
async fn open(connector: &TransportConnector, server: &Server, time: Duration) -> io::Result<Stream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let addresses: Vec<SocketAddr> = if let Ok(address) = server.host.parse::<IpAddr>() {
        vec![SocketAddr::new(address, server.port)]
    } else {
        let looked_up = timeout(time, tokio::net::lookup_host((server.host.as_str(), server.port)));
        looked_up.await.map_err(|_| io::ErrorKind::TimedOut)??.collect()
    };
    for address in addresses {
        let peer = HttpPeer::new(address, false, String::new());
        match timeout(time, connector.new_stream(&peer)).await {
            Ok(Ok(stream)) => match tls::secure(stream, server.tls.as_ref(), time).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            },
            Ok(Err(error)) => last = io::Error::other(error.to_string()),
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}

/// The body of an answer that is not a success, at most: nothing of it is used, but read to its end the
/// connection can be.
const UNUSED: usize = 64 << 10;
const UNUSED_TIME: Duration = Duration::from_secs(1);

/// Within one time for all of it. Once the status line is there it has said what became of the act,
/// whatever becomes of the rest.
async fn exchange(
    app: &App,
    admitted: &Admitted<'_>,
    head: &Head<'_>,
    ids: &Ids,
    number: usize,
    source: Source<'_>,
) -> (Consequence, Option<u16>) {
    let mut said = None;
    let converse = converse(app, admitted, head, ids, number, source, &mut said);
    match timeout(admitted.upstream().timeouts.exchange, converse).await {
        Ok(consequence) => (consequence, said),
        Err(_) => match said {
            None => (admitted.conclude(Exchange::Unknown), None),
            Some(status) => {
                let answered = Exchange::Answered { status, fields: &[], body: Received::Broken };
                (admitted.conclude(answered), said)
            }
        },
    }
}

async fn converse(
    app: &App,
    admitted: &Admitted<'_>,
    head: &Head<'_>,
    ids: &Ids,
    number: usize,
    mut source: Source<'_>,
    said: &mut Option<u16>,
) -> Consequence {
    let upstream = admitted.upstream();
    let mut request = admitted.head(number, head, ids);
    let mut body: &[u8] = admitted.body();
    if body.len() <= COPIED {
        request.extend_from_slice(body);
        body = b"";
    }
    let sent = send(&mut source, &request, body).await;
    let whole = match sent {
        Sent::Nothing => return admitted.conclude(Exchange::NotSent),
        Sent::All => true,
        Sent::Part => false,
    };
    let Ok((status, head_bytes)) = source.final_head().await else {
        let unread = tls::was_turned_away(&source.stream);
        return admitted.conclude(if unread { Exchange::NotSent } else { Exchange::Unknown });
    };
    *said = Some(status);
    let mut room = [const { MaybeUninit::uninit() }; FIELDS];
    let Some(answer) = read_head(&head_bytes, &mut room) else {
        return admitted.conclude(Exchange::Answered { status, fields: &[], body: Received::Broken });
    };
    let (body, reusable) = if (200..300).contains(&status) {
        source.body(&answer, admitted.max_response()).await
    } else {
        let read = timeout(UNUSED_TIME, source.body(&answer, UNUSED)).await;
        read.unwrap_or((Received::Broken, false))
    };
    if reusable && whole && read_now(&mut source.stream, &mut [0]).is_none() {
        let server = &upstream.servers[number];
        pool::give_back(upstream, server, source.stream, app.workers);
    }
    admitted.conclude(Exchange::Answered { status, fields: answer.fields, body })
}

enum Sent {
    /// The connection was gone before it took a byte.
    Nothing,
    All,
    /// It broke, or the upstream answered before it had read everything.
    Part,
}

/// Writes head and body, and meanwhile takes in an early answer: an upstream that has refused a body
/// may stop reading it.
async fn send(source: &mut Source<'_>, head: &[u8], body: &[u8]) -> Sent {
    let total = head.len() + body.len();
    let mut sent = 0;
    std::future::poll_fn(|context| {
        loop {
            let stream = Pin::new(&mut source.stream);
            let step = if sent < total {
                poll_write_pair(stream, context, head, body, sent)
            } else {
                stream.poll_flush(context).map_ok(|()| 0)
            };
            match step {
                Poll::Ready(Ok(_)) if sent == total => return Poll::Ready(Sent::All),
                Poll::Ready(Ok(0) | Err(_)) if sent == 0 => return Poll::Ready(Sent::Nothing),
                Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(Sent::Part),
                Poll::Ready(Ok(wrote)) => sent += wrote,
                Poll::Pending if sent > 0 => {
                    let mut early = [0; 1024];
                    let mut buffer = tokio::io::ReadBuf::new(&mut early);
                    let stream = Pin::new(&mut source.stream);
                    match tokio::io::AsyncRead::poll_read(stream, context, &mut buffer) {
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(_) => {
                            source.input.extend_from_slice(buffer.filled());
                            return Poll::Ready(Sent::Part);
                        }
                    }
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}
