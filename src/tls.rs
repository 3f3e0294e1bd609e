//! What TLS takes from files: certificates with their keys, and the roots that are believed. Bytes in, values out; the
//! handshakes are in `edge::tls`.
//!
//! Why rustls by itself and not pingora's TLS. Pingora 0.9.1 has the same rustls behind a feature, with a resolver for
//! certificates, so SNI and renewal could be had through it. But its service shakes hands before we see the connection: within
//! a fixed 60 s, without a bound in bytes, before `max_connections` could count it, and each failure is an error line with
//! what rustls says of the other side. It builds the `ServerConfig` itself (no tickets), panics where that fails, and brings
//! `x509-parser`, `ouroboros`, `rustls-native-certs` 0.7 and the archived `rustls-pemfile` along. Its other backends are
//! OpenSSL's kind: a C library to keep patched, in a process where every byte of a stranger is otherwise read by safe Rust.
//! So pingora accepts and connects plain sockets, and the handshake is ours to bound, to count and to take certificates for
//! from the current generation; it is 150 lines.
//!
//! Why ring and not aws-lc-rs: it builds in seconds with a C compiler (aws-lc-rs builds a C library of ten times the size),
//! and the image stays one file. What that gives up is post-quantum key exchange, which ring does not have.
//!
//! TLS 1.2 and 1.3 with the suites that rustls has: all with forward secrecy and authenticated encryption. There is no
//! switch for less, and none that turns verification off.

mod certificates;
mod identity;
mod trust;

pub use certificates::Certificates;
pub use identity::{Identity, Part, Unusable, Validity};
pub use trust::{Client, Trust};

use rustls::crypto::{CryptoProvider, ring};
use std::sync::{Arc, LazyLock};

/// The one provider of the process.
static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| Arc::new(ring::default_provider()));

/// What every handshake of this process computes with.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::clone(&PROVIDER)
}
