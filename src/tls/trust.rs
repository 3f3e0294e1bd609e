//! Whom the gateway believes when it connects, and who it says it is.

use super::identity::{Unusable, read_chain};
use super::{Identity, Part, provider};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject;
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, RootCertStore};
use sha2::{Digest, Sha256};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What holds for all servers of an upstream.
#[derive(Clone)]
pub struct Trust {
    config: Arc<ClientConfig>,
    /// Of roots and identity: connections of one are never used for another.
    fingerprint: [u8; 32],
}

/// How one server is spoken to. Two are equal when a connection of one is as good as a connection of the other.
#[derive(Clone)]
pub struct Client {
    trust: Trust,
    name: ServerName<'static>,
}

impl Trust {
    /// Believes in the roots of one PEM file, all of which must be readable.
    pub fn in_file(roots: &[u8], identity: Option<&Identity>) -> Result<Self, Unusable> {
        let mut store = RootCertStore::empty();
        for (certificate, number) in read_chain(roots)?.into_iter().zip(1..) {
            store.add(certificate).map_err(|_| Unusable {
                part: Part::Certificate,
                reason: format!("holds a certificate that cannot be a root, number {number}"),
                suggestion: "a certificate of X.509 version 3 is expected",
            })?;
        }
        Self::new(store, roots, identity)
    }

    /// Believes in the machine's roots, of which some may be of kinds that nobody verifies any more.
    pub fn in_bundle(roots: &[u8], identity: Option<&Identity>) -> Result<Self, Unusable> {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(CertificateDer::pem_slice_iter(roots).filter_map(Result::ok));
        if store.is_empty() {
            return Err(Unusable {
                part: Part::Certificate,
                reason: "holds no certificate".to_owned(),
                suggestion: "install `ca-certificates`, or name the roots: `tls: { ca: … }`",
            });
        }
        Self::new(store, roots, identity)
    }

    fn new(store: RootCertStore, roots: &[u8], identity: Option<&Identity>) -> Result<Self, Unusable> {
        let unusable = |_| Unusable {
            part: Part::Certificate,
            reason: "cannot be used".to_owned(),
            suggestion: "please report it",
        };
        let builder = ClientConfig::builder_with_provider(provider());
        let builder = builder.with_safe_default_protocol_versions().map_err(unusable)?;
        let builder = builder.with_root_certificates(store);
        let mut config = match identity {
            None => builder.with_no_client_auth(),
            Some(identity) => builder
                .with_client_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(&identity.certified)))),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let mut hash = Sha256::new();
        hash.update(Sha256::digest(roots));
        // The chain speaks for its key.
        for certificate in identity.map(Identity::chain).unwrap_or_default() {
            hash.update(Sha256::digest(certificate));
        }
        Ok(Self { config: Arc::new(config), fingerprint: hash.finalize().into() })
    }

    /// For the server of this name or address; `None` where it is neither.
    pub fn towards(&self, name: &str) -> Option<Client> {
        let name = ServerName::try_from(name.to_owned()).ok()?;
        Some(Client { trust: self.clone(), name })
    }
}

impl Client {
    /// What the handshake is made with.
    pub fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.trust.config)
    }

    /// The name that the server must have a certificate for, and that it is told (SNI; no address is).
    pub fn name(&self) -> ServerName<'static> {
        self.name.clone()
    }
}

impl PartialEq for Client {
    fn eq(&self, other: &Self) -> bool {
        self.trust.fingerprint == other.trust.fingerprint && self.name == other.name
    }
}

impl Eq for Client {}

impl Hash for Client {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.trust.fingerprint.hash(state);
        self.name.hash(state);
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("name", &self.name).finish_non_exhaustive()
    }
}
