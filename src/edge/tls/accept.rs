//! Handshakes with clients, bounded in time (`head_deadline`) and in bytes, counted, and never told about: what a
//! client says before it is a client goes into no line of any log.

use super::sealed::Sealed;
use super::wire::Wire;
use crate::edge::App;
use crate::edge::connection::{CLOSE, Connection};
use crate::edge::socket::Socket;
use crate::gateway::Reply;
use crate::live::Live;
use crate::reason::Face;
use crate::telemetry::Handshake;
use crate::tls::provider;
use pingora_core::protocols::Stream;
use pingora_timeout::timeout;
use rustls::crypto::ring::Ticketer;
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{Error, HandshakeKind, ServerConfig};
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::ready;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_rustls::{TlsAcceptor, TlsStream};

/// What a client may send before its handshake is done. A hello is about half a kilobyte, two with post-quantum keys
/// and a ticket; nobody is asked for a certificate.
const CLIENT_HANDSHAKE: usize = 16 << 10;

/// The first byte of every TLS connection: a record of the handshake (RFC 8446, 5.1).
const HANDSHAKE_RECORD: u8 = 0x16;

/// Makes TLS connections of plain ones.
pub(in crate::edge) struct Acceptor(TlsAcceptor);

/// Takes certificates from the generation that is served when the handshake comes.
struct Chosen(Arc<Live>);

impl ResolvesServerCert for Chosen {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.snapshot().gateway.certificates.as_ref()?.choose(&hello)
    }
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chosen")
    }
}

impl Acceptor {
    /// One for the life of the process: reloads change what it shows, not what it is, so tickets go on.
    pub(in crate::edge) fn new(live: &Arc<Live>) -> Result<Self, Error> {
        let builder =
            ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
        let mut config = builder.with_no_client_auth().with_cert_resolver(Arc::new(Chosen(Arc::clone(live))));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // What a client needs to come back is kept by the client, under a key that changes every six hours. No early
        // data, which rustls has off: it can be replayed, and an act would be done twice.
        config.ticketer = Ticketer::new()?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// The connection, encrypted; none when there is nothing to go on with.
    pub(in crate::edge) async fn accept(&self, app: &App, mut socket: Socket) -> Option<Stream> {
        let handshake = async {
            // Before there is a session: who says nothing costs no more than on a listener in the clear.
            match begin(&mut socket).await? {
                Beginning::Tls => {}
                Beginning::Http => return Err(Failure::Clear(socket)),
                Beginning::Other => return Err(Failure::Other(Handshake::Malformed)),
            }
            Ok(self.0.accept(Wire::new(Box::new(socket), CLIENT_HANDSHAKE)).await?)
        };
        let outcome = timeout(app.bounds.deadline, handshake).await;
        let result = match outcome {
            Ok(Ok(stream)) => {
                let resumed = stream.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed);
                app.telemetry.count_handshake(if resumed { Handshake::Resumed } else { Handshake::Done });
                return Some(Box::new(Sealed::new(TlsStream::Server(stream))));
            }
            Ok(Err(Failure::Clear(socket))) => {
                app.telemetry.count_handshake(Handshake::Clear);
                turn_away(socket).await;
                return None;
            }
            Ok(Err(Failure::Other(result))) => result,
            Err(_) => Handshake::Deadline,
        };
        app.telemetry.count_handshake(result);
        None
    }
}

enum Failure {
    /// HTTP where TLS was expected.
    Clear(Socket),
    Other(Handshake),
}

enum Beginning {
    Tls,
    Http,
    Other,
}

/// Waits for the first bytes, and puts them back.
async fn begin(socket: &mut Socket) -> io::Result<Beginning> {
    let (beginning, bytes) = std::future::poll_fn(|context| {
        let mut room = [0; 2048];
        let mut room = ReadBuf::new(&mut room);
        ready!(Pin::new(&mut *socket).poll_read(context, &mut room))?;
        let bytes = room.filled();
        let beginning = match bytes.first() {
            None => return io::Result::Err(io::ErrorKind::UnexpectedEof.into()).into(),
            Some(&HANDSHAKE_RECORD) => Beginning::Tls,
            Some(first) if first.is_ascii_uppercase() => Beginning::Http,
            Some(_) => Beginning::Other,
        };
        io::Result::Ok((beginning, bytes.to_vec())).into()
    })
    .await?;
    socket.rewind(&bytes);
    Ok(beginning)
}

/// 400 in the clear, as to every request that is none.
async fn turn_away(socket: Socket) {
    let mut connection = Connection::new(Box::new(socket));
    if connection.respond(&Reply::of(Face::BadRequest), &[CLOSE]).await.is_ok() {
        connection.linger().await;
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Other(match error.get_ref().and_then(|cause| cause.downcast_ref::<Error>()) {
            None if error.kind() == io::ErrorKind::QuotaExceeded => Handshake::Malformed,
            None => Handshake::Cut,
            Some(Error::AlertReceived(_)) => Handshake::Rejected,
            Some(Error::PeerIncompatible(_) | Error::NoApplicationProtocol) => Handshake::Incompatible,
            Some(_) => Handshake::Malformed,
        })
    }
}
