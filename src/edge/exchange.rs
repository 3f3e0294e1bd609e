//! One act, sent once (P5). Only a failed connect is tried again, on the next server; from the first
//! byte on nothing is. Which server comes next is `gateway::balance`'s to say, and told here is how it went.

use super::answer::{Source, read_head};
use super::budget::Hold;
use super::connection::{COPIED, poll_write_pair, read_now};
use super::dial::{self, Line, Wire};
use super::head::FIELDS;
use super::{App, pool, tls};
use crate::gateway::{
    Admitted, Consequence, Exchange, Exhausted, Experience, Head, Ids, Lease, Received, Upstream,
};
use crate::telemetry::UpstreamRecord;
use bytes::BytesMut;
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::AsyncWrite;
use tokio::time::timeout;

/// Sends what was admitted and concludes from what comes back. `hold` is the memory of the answer.
pub(super) async fn perform(
    app: &App,
    admitted: &Admitted<'_>,
    head: &Head<'_>,
    ids: &Ids,
    hold: &mut Hold,
) -> (Consequence, UpstreamRecord) {
    let began = Instant::now();
    let upstream = admitted.upstream();
    let (consequence, status, ended) = match connect(app, upstream, admitted.affinity(), began).await {
        Err(Exhausted::Unreachable) => (admitted.conclude(Exchange::NotSent), None, Instant::now()),
        Err(Exhausted::Full) => (admitted.conclude(Exchange::Full), None, Instant::now()),
        Ok((_lease, wire)) => {
            let number = wire.line.number;
            let (consequence, status, kept) = exchange(admitted, head, ids, wire, hold).await;
            let ended = Instant::now();
            if let Some(wire) = kept {
                pool::give_back(upstream, wire, ended, app.workers);
            }
            if let Some(experience) = Experience::of(consequence.result, status) {
                note(upstream, number, experience);
            }
            (consequence, status, ended)
        }
    };
    let record = UpstreamRecord { result: consequence.result, status, began, took: ended - began };
    (consequence, record)
}

/// A connection to one of the servers, kept or new, and the room that the act takes there.
async fn connect<'u>(
    app: &App,
    upstream: &'u Upstream,
    affinity: u64,
    now: Instant,
) -> Result<(Lease<'u>, Wire), Exhausted> {
    let mut round = upstream.fleet.round(affinity, now);
    loop {
        let (number, lease) = round.try_next()?;
        if let Some(Wire { stream, line, alarm }) = pool::take(upstream.condition(number), now) {
            // It may have been another number when the connection was opened.
            return Ok((lease, Wire { stream, line: Line { number, ..line }, alarm }));
        }
        match dial::open(&app.connector, upstream, number).await {
            Ok(wire) => return Ok((lease, wire)),
            Err(error) => {
                drop(lease);
                tell(upstream, number, &error);
                note(upstream, number, Experience::Badly);
            }
        }
    }
}

/// Says which server takes no connections, and why. Of a name without addresses `resolve` tells.
fn tell(upstream: &Upstream, number: usize, cause: &io::Error) {
    let (server, condition) = (&upstream.servers[number], upstream.condition(number));
    let nameless = server.name().is_some() && condition.is_unresolved();
    if !nameless && condition.unreachable.again(Instant::now()) {
        let (upstream, server, port) = (&upstream.name, server.url(), server.port);
        tracing::warn!(upstream, server, port, %cause, "no connection to an upstream");
    }
}

fn note(upstream: &Upstream, number: usize, experience: Experience) {
    match experience {
        Experience::Well => upstream.fleet.note_well(number),
        Experience::Badly => {
            if upstream.fleet.note_badly(number, Instant::now()) {
                let server = upstream.servers[number].url();
                tracing::warn!(upstream = upstream.name, server, "ejected: it gets no acts for a while");
            }
        }
    }
}

/// The body of an answer that is not a success, at most: nothing of it is used, but read to its end the
/// connection can be.
const UNUSED: usize = 64 << 10;
const UNUSED_TIME: Duration = Duration::from_secs(1);

/// Within one time for all of it. Once the status line is there it has said what became of the act,
/// whatever becomes of the rest. And the connection, if another may follow on it.
async fn exchange(
    admitted: &Admitted<'_>,
    head: &Head<'_>,
    ids: &Ids,
    wire: Wire,
    hold: &mut Hold,
) -> (Consequence, Option<u16>, Option<Wire>) {
    let Wire { stream, line, mut alarm } = wire;
    let mut source = Source { stream, input: BytesMut::new(), hold };
    let mut said = None;
    let within = {
        let (time, number) = (admitted.upstream().timeouts.exchange, line.number);
        // Where it is: moved into the timeout, it would take its room twice, and be copied with the future it is part of.
        let converse = pin!(converse(admitted, head, ids, number, &mut source, &mut said));
        alarm.within(time, async { Ok(converse.await) }).await
    };
    match within {
        Ok((consequence, reusable)) => {
            let is_silent = reusable && read_now(&mut source.stream, &mut [0]).is_none();
            (consequence, said, is_silent.then_some(Wire { stream: source.stream, line, alarm }))
        }
        Err(_) => match said {
            None => (admitted.conclude(Exchange::Unknown), None, None),
            Some(status) => {
                let answered = Exchange::Answered { status, fields: &[], body: Received::Broken };
                (admitted.conclude(answered), said, None)
            }
        },
    }
}

/// What becomes of the act, and whether another may follow on the connection.
async fn converse(
    admitted: &Admitted<'_>,
    head: &Head<'_>,
    ids: &Ids,
    number: usize,
    source: &mut Source<'_>,
    said: &mut Option<u16>,
) -> (Consequence, bool) {
    let over = |exchange: Exchange<'_>| (admitted.conclude(exchange), false);
    let mut body: &[u8] = admitted.body();
    let copied = if body.len() <= COPIED { body.len() } else { 0 };
    let mut request = admitted.head(number, head, ids, copied);
    if copied > 0 {
        request.extend_from_slice(body);
        body = b"";
    }
    let sent = send(source, &request, body).await;
    let whole = match sent {
        Sent::Nothing => return over(Exchange::NotSent),
        Sent::All => true,
        Sent::Part => false,
    };
    let Ok((status, head_bytes)) = source.final_head().await else {
        let unread = tls::was_turned_away(&source.stream);
        return over(if unread { Exchange::NotSent } else { Exchange::Unknown });
    };
    *said = Some(status);
    // On the heap, as the room that it would take in the future is copied with it.
    let mut room = Vec::with_capacity(FIELDS);
    let Some(answer) = read_head(&head_bytes, room.spare_capacity_mut()) else {
        return over(Exchange::Answered { status, fields: &[], body: Received::Broken });
    };
    let (body, reusable) = if (200..300).contains(&status) {
        source.body(&answer, admitted.max_response()).await
    } else {
        let read = timeout(UNUSED_TIME, pin!(source.body(&answer, UNUSED))).await;
        read.unwrap_or((Received::Broken, false))
    };
    let consequence = admitted.conclude(Exchange::Answered { status, fields: answer.fields, body });
    (consequence, reusable && whole)
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
