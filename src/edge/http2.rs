//! HTTP/2, by prior knowledge on a clear connection or by ALPN on TLS: pingora's sessions, our decisions.

use super::connection::{Collected, Connection};
use super::frames::Timed;
use super::head::{FIELDS, is_target, read_expect};
use super::request::{BodySource, Decision, End, UNWANTED, Uncollected, decide};
use super::socket::Socket;
use super::{App, Counted, Stray};
use crate::gateway::{Field, Head, Length};
use crate::reason::Reason;
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use pingora_core::apps::{HttpServerApp, HttpServerOptions, ReusedHttpStream, ServerApp};
use pingora_core::protocols::Stream;
use pingora_core::protocols::http::ServerSession;
use pingora_core::server::ShutdownWatch;
use pingora_http::ResponseHeader;
use pingora_timeout::timeout;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How long a client may take to read an answer.
const WRITE_DEADLINE: Duration = Duration::from_secs(30);

/// One connection's streams.
struct Streams {
    app: Arc<App>,
    peer: IpAddr,
    scheme: &'static str,
    options: HttpServerOptions,
}

/// Takes over a connection that has begun with the preface, or will.
pub(super) async fn serve(
    app: Arc<App>,
    connection: Connection,
    peer: IpAddr,
    scheme: &'static str,
    shutdown: &ShutdownWatch,
) {
    let (stream, input) = connection.into_parts();
    let Some(stream) = unread(stream, &input) else {
        return;
    };
    let stream = Box::new(Timed::new(stream, app.bounds.deadline));
    let mut options = HttpServerOptions::default();
    // On TLS the handshake has said it, and pingora asks for that.
    options.h2c = scheme == "http";
    options.h2_idle_timeout = Some(app.bounds.idle);
    let streams = Arc::new(Streams { app, peer, scheme, options });
    streams.process_new(stream, shutdown).await;
}

/// Puts back what was read, for pingora to find the preface.
fn unread(stream: Stream, input: &[u8]) -> Option<Stream> {
    if input.is_empty() {
        return Some(stream);
    }
    let mut socket = stream.into_any().downcast::<Socket>().ok()?;
    socket.rewind(input);
    Some(socket)
}

#[async_trait]
impl HttpServerApp for Streams {
    async fn process_new_http(
        self: &Arc<Self>,
        mut session: ServerSession,
        _shutdown: &ShutdownWatch,
    ) -> Option<ReusedHttpStream> {
        if !session.read_request().await.is_ok_and(|read| read) {
            return None;
        }
        let (_counted, _) = Counted::one(&self.app.in_flight);
        let request = session.req_header().clone();
        let fields: Vec<Field<'_>> = request
            .headers
            .iter()
            .map(|(name, value)| Field { name: name.as_str(), value: value.as_bytes() })
            .collect();
        let target = std::str::from_utf8(request.raw_path()).unwrap_or("\0");
        let size: usize = fields.iter().map(|field| field.name.len() + field.value.len() + 4).sum();
        let stray = if size + target.len() > self.app.bounds.bytes || fields.len() > FIELDS {
            Some(Stray::HeadTooLarge)
        } else if !is_target(target) {
            Some(Stray::Framing)
        } else {
            read_expect(&fields).err()
        };
        if let Some(stray) = stray {
            let decision = Decision::stray(stray, self.peer);
            let sent = timeout(WRITE_DEADLINE, respond(&mut session, &decision)).await;
            let head = Head::nothing(self.peer);
            decision.record(&self.app, &self.app.snapshot(), &head, matches!(sent, Ok(Some(()))));
            return None;
        }
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let length = fields.iter().find(|field| field.name == "content-length");
        let head = Head {
            method: request.method.as_str(),
            path,
            query,
            length: match length.and_then(|field| super::head::read_length(field.value)) {
                Some(length) => Length::Known(length),
                None if session.is_body_empty() => Length::Known(0),
                None => Length::Unknown,
            },
            authority: request.uri.authority().map_or("", |authority| authority.as_str()),
            fields: &fields,
            peer: self.peer,
            scheme: self.scheme,
        };
        let snapshot = self.app.snapshot();
        let mut body = Body { session: &mut session, app: &self.app };
        let decision = decide(&self.app, &snapshot, &head, &mut body).await;
        let sent = timeout(WRITE_DEADLINE, respond(&mut session, &decision)).await;
        decision.record(&self.app, &snapshot, &head, matches!(sent, Ok(Some(()))));
        if let Some(by) = decision.unread {
            let _ = Body { session: &mut session, app: &self.app }.discard(UNWANTED, by).await;
        }
        let _ = session.finish().await;
        None
    }

    fn server_options(&self) -> Option<&HttpServerOptions> {
        Some(&self.options)
    }
}

async fn respond(session: &mut ServerSession, decision: &Decision) -> Option<()> {
    let mut head = ResponseHeader::build(decision.reply.status, None).ok()?;
    let lines = std::str::from_utf8(&decision.reply.lines).ok()?;
    for line in lines.lines().chain(decision.lines.lines()) {
        let (name, value) = line.split_once(": ")?;
        head.append_header(name.to_owned(), value).ok()?;
    }
    head.append_header("date", httpdate::fmt_http_date(SystemTime::now())).ok()?;
    if decision.names_request() {
        head.append_header("x-request-id", decision.request_id()).ok()?;
    }
    session.write_response_header(Box::new(head)).await.ok()?;
    session.write_response_body(decision.reply.body.clone(), true).await.ok()
}

struct Body<'s> {
    session: &'s mut ServerSession,
    app: &'s App,
}

impl BodySource for Body<'_> {
    async fn collect(&mut self, bytes: usize, by: Instant) -> Result<Collected, Uncollected> {
        let mut hold = self.app.budget.hold();
        let mut body = BytesMut::new();
        while let Some(piece) = self.piece(by).await? {
            if body.len() + piece.len() > bytes {
                drop((body, hold));
                let end = self.discard(UNWANTED, by).await?;
                return Err(Uncollected { reason: Reason::TooLarge, end });
            }
            body.extend_from_slice(&piece);
            hold.grow_to(body.capacity()).map_err(|_| Reason::Budget)?;
        }
        Ok(Collected { bytes: body.freeze(), hold })
    }

    /// A stream that is let go of before its end is reset behind the answer, and a refusal for the head would
    /// look like no other.
    async fn discard(&mut self, bytes: usize, by: Instant) -> Result<End, Reason> {
        let mut discarded = 0;
        while let Some(piece) = self.piece(by).await? {
            discarded += piece.len();
            if discarded > bytes {
                return Ok(End::Lost);
            }
        }
        Ok(End::Reached)
    }
}

impl Body<'_> {
    async fn piece(&mut self, by: Instant) -> Result<Option<Bytes>, Reason> {
        let left = by.saturating_duration_since(Instant::now());
        match timeout(left, self.session.read_request_body()).await {
            Err(_) => Err(Reason::Deadline),
            Ok(Err(_)) => Err(Reason::BodyBroken),
            Ok(Ok(piece)) => Ok(piece),
        }
    }
}
