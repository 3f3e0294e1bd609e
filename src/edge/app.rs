//! One HTTP/1 connection, request after request.

use super::connection::{BodyBounds, CLOSE, Collected, Connection, HeadBounds, Opening};
use super::head::{FIELDS, Framing, Request, read};
use super::listen::Serve;
use super::request::{BodySource, Decision, End, UNWANTED, Uncollected, decide};
use super::socket::Socket;
use super::{App, Counted, Stray, http2, tls};
use crate::gateway::Head;
use crate::reason::Reason;
use pingora_core::protocols::ALPN;
use pingora_core::server::ShutdownWatch;
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// What serves the public listeners.
pub(super) struct Door {
    pub(super) app: Arc<App>,
    /// TLS is spoken, and nothing else.
    pub(super) tls: Option<Arc<tls::Acceptor>>,
}

impl Serve for Door {
    async fn serve(self: Arc<Self>, socket: Socket, peer: IpAddr, shutdown: ShutdownWatch) {
        let app = &self.app;
        let (_counted, open) = Counted::one(&app.connections);
        if open > app.max_connections {
            return app.telemetry.connections_refused.inc();
        }
        let Some(acceptor) = &self.tls else {
            return app.serve(Connection::new(Box::new(socket)), peer, "http", &shutdown).await;
        };
        let Some(stream) = Box::pin(acceptor.accept(app, socket)).await else { return };
        if matches!(stream.selected_alpn_proto(), Some(ALPN::H2)) {
            let connection = Connection::new(stream);
            Box::pin(http2::serve(Arc::clone(app), connection, peer, "https", &shutdown)).await;
        } else {
            app.serve(Connection::new(stream), peer, "https", &shutdown).await;
        }
    }
}

/// How a connection goes on after one request.
enum Next {
    /// Another request, which it waits for since then.
    Request(Instant),
    Linger,
    Close,
}

impl App {
    async fn serve(
        self: &Arc<Self>,
        mut connection: Connection,
        peer: IpAddr,
        scheme: &'static str,
        shutdown: &ShutdownWatch,
    ) {
        // A client that has just connected has something to say. On TLS it has said that it is not HTTP/2.
        let first = scheme == "http";
        let mut bounds = HeadBounds { idle: self.bounds.deadline, first, ..self.bounds };
        let mut since = Instant::now();
        loop {
            let opening = connection.next_head(bounds, since).await;
            bounds = self.bounds;
            // What is rare is on the heap: a connection that waits carries no room for it.
            let head = match opening {
                Opening::Closed => return,
                Opening::Http2 => {
                    return Box::pin(http2::serve(Arc::clone(self), connection, peer, scheme, shutdown))
                        .await;
                }
                Opening::Stray(stray) => Err(stray),
                Opening::Head(bytes) => Ok(bytes),
            };
            let (_counted, _) = Counted::one(&self.in_flight);
            let mut room = [const { MaybeUninit::uninit() }; FIELDS];
            let request = match &head {
                Ok(bytes) => read(bytes, &mut room, peer, scheme),
                Err(stray) => Err(*stray),
            };
            let next = match request {
                Err(stray) => Box::pin(self.turn_away(&mut connection, stray, peer)).await,
                Ok(request) => self.answer(&mut connection, &request).await,
            };
            match next {
                Next::Request(ended) => since = ended,
                Next::Linger => return Box::pin(connection.linger()).await,
                Next::Close => return,
            }
        }
    }

    async fn answer(&self, connection: &mut Connection, request: &Request<'_>) -> Next {
        let snapshot = self.snapshot();
        let Request { head, framing, expects_continue, close } = request;
        let mut body = Body { connection, app: self, framing: *framing, waits: *expects_continue };
        let decision = decide(self, &snapshot, head, &mut body).await;
        let closes = *close || self.is_leaving();
        let sent = respond(body.connection, &decision, closes).await;
        let ended = decision.record(self, &snapshot, head, sent);
        if !sent {
            return Next::Close;
        }
        if closes || decision.close {
            return Next::Linger;
        }
        match decision.unread {
            None => Next::Request(ended),
            Some(by) => match body.discard(UNWANTED, by).await {
                Ok(End::Reached) => Next::Request(Instant::now()),
                Ok(End::Lost) | Err(_) => Next::Linger,
            },
        }
    }

    /// Answers what is no request, and ends the connection: where the next one would begin is unknown.
    async fn turn_away(&self, connection: &mut Connection, stray: Stray, peer: IpAddr) -> Next {
        let decision = Decision::stray(stray, peer);
        let sent = match stray {
            Stray::Cut => false,
            Stray::Framing | Stray::HeadTooLarge | Stray::Deadline | Stray::Expectation => {
                respond(connection, &decision, true).await
            }
        };
        decision.record(self, &self.snapshot(), &Head::nothing(peer), sent);
        if sent { Next::Linger } else { Next::Close }
    }
}

async fn respond(connection: &mut Connection, decision: &Decision, closes: bool) -> bool {
    let (own, nothing): (&[u8], &[u8]) = (decision.lines.as_bytes(), b"");
    let [name, id, end] = if decision.names_request() {
        [b"X-Request-Id: ", decision.request_id(), b"\r\n"]
    } else {
        [nothing; 3]
    };
    // A refusal never says that the connection ends because of it: all refusals look alike (P6).
    let says_close = closes || (decision.close && decision.reply.status != 204);
    let close = if says_close { CLOSE } else { nothing };
    connection.respond(&decision.reply, &[own, name, id, end, close]).await.is_ok()
}

/// The body of one HTTP/1 request.
struct Body<'c> {
    connection: &'c mut Connection,
    app: &'c App,
    framing: Framing,
    /// The client waits for 100 before it sends anything (RFC 9110, 10.1.1).
    waits: bool,
}

impl BodySource for Body<'_> {
    async fn collect(&mut self, bytes: usize, by: Instant) -> Result<Collected, Uncollected> {
        if self.waits && self.framing != Framing::Length(0) && !self.connection.has_input() {
            self.connection.say_continue().await.map_err(|_| Reason::BodyBroken)?;
        }
        let bounds = BodyBounds { bytes, deadline: by, budget: &self.app.budget };
        self.connection.collect(self.framing, &bounds).await
    }

    async fn discard(&mut self, bytes: usize, by: Instant) -> Result<End, Reason> {
        match self.framing {
            Framing::Length(0) => return Ok(End::Reached),
            Framing::Length(length) if length > bytes as u64 => return Ok(End::Lost),
            Framing::Length(_) | Framing::Chunked => {}
        }
        // Without 100 the body may come or not: what follows could be either.
        if self.waits && !self.connection.has_input() {
            return Ok(End::Lost);
        }
        self.connection.discard(self.framing, bytes, by).await
    }
}
