//! Handshakes, and what a TLS connection is to the rest of `edge`: a stream like any other.

mod accept;
mod sealed;
mod wire;

pub(super) use accept::Acceptor;

use crate::gateway::Upstream;
use crate::tls::Client;
use pingora_core::protocols::Stream;
use pingora_timeout::timeout;
use rustls::{AlertDescription, CertificateError, Error};
use sealed::Sealed;
use std::io;
use std::time::Instant;
use tokio_rustls::{TlsConnector, TlsStream};
use wire::Wire;

/// What an upstream may send before its handshake is done: long chains are common inside companies.
const UPSTREAM_HANDSHAKE: usize = 128 << 10;

/// Makes TLS of a connection to server number `number`, if it speaks that; nothing of an act has been sent when it fails.
pub(super) async fn secure(stream: Stream, upstream: &Upstream, number: usize) -> io::Result<Stream> {
    let Some(client) = &upstream.servers[number].tls else { return Ok(stream) };
    let wire = Wire::new(stream, UPSTREAM_HANDSHAKE);
    let connect = TlsConnector::from(client.config()).connect(client.name(), wire);
    let outcome = match timeout(upstream.timeouts.connect, connect).await {
        Ok(outcome) => outcome,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    };
    match outcome {
        Ok(stream) => Ok(Box::new(Sealed::new(TlsStream::Client(stream)))),
        Err(error) => {
            tell(upstream, number, client, kind(&error));
            Err(error)
        }
    }
}

/// Whether the upstream ended a connection because of the certificate that it was shown, or was not: in TLS 1.3 it says so
/// only after the client's last word of the handshake, behind which the act may be on its way. It has read nothing of that:
/// what a client is comes before what it wants (RFC 8446, 4.4).
pub(super) fn was_turned_away(stream: &Stream) -> bool {
    stream.as_any().downcast_ref::<Sealed>().is_some_and(Sealed::was_turned_away)
}

/// Says which server cannot be spoken to and why; both are ours, nothing of the server's is in it.
fn tell(upstream: &Upstream, number: usize, client: &Client, kind: &str) {
    let server = &upstream.servers[number];
    if upstream.condition(number).unreachable.again(Instant::now()) {
        let (upstream, server, port) = (&upstream.name, server.url(), server.port);
        tracing::warn!(upstream, server, port, name = %client.name().to_str(), kind, "no TLS to an upstream");
    }
}

/// What went wrong, in our words: rustls's own may quote the other side.
fn kind(error: &io::Error) -> &'static str {
    match error.get_ref().and_then(|cause| cause.downcast_ref::<Error>()) {
        None => match error.kind() {
            io::ErrorKind::TimedOut => "no handshake in time",
            io::ErrorKind::UnexpectedEof => "closed during the handshake",
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "reset during the handshake",
            io::ErrorKind::QuotaExceeded => "a handshake without end",
            _ => "the connection failed",
        },
        Some(Error::InvalidCertificate(reason)) => match reason {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet"
            }
            CertificateError::UnknownIssuer => "its certificate is from no root that is believed",
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another name"
            }
            CertificateError::BadSignature => "its certificate has a wrong signature",
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                "its certificate is not for servers"
            }
            _ => "its certificate cannot be verified",
        },
        Some(Error::AlertReceived(alert)) if concerns_certificate(*alert) => {
            "it does not take our certificate"
        }
        Some(Error::AlertReceived(AlertDescription::UnrecognisedName)) => "it does not know the name",
        Some(Error::AlertReceived(_)) => "it refused the handshake",
        Some(Error::InvalidMessage(_)) => "it does not speak TLS",
        Some(Error::PeerIncompatible(_)) => "nothing that both sides speak",
        Some(_) => "the handshake failed",
    }
}

/// RFC 8446, 6.2: alerts about a certificate that this side has shown, or has not. Not `access_denied`: whoever says that may
/// have looked at more than who we are.
fn concerns_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
    )
}
