//! The certificates of the listeners, chosen by the name that a client asks for (SNI, RFC 6066, 3).

use super::Identity;
use rustls::SignatureScheme;
use rustls::server::ClientHello;
use rustls::sign::CertifiedKey;
use std::collections::HashMap;
use std::sync::Arc;

/// At least one identity. The first is for clients that name nothing, or nothing that is known here.
#[derive(Debug, Clone)]
pub struct Certificates {
    all: Vec<Identity>,
    /// Exact names, and wildcards as `*.example.com`: which of `all`, in the order of the file.
    by_name: HashMap<String, Vec<usize>>,
}

impl Certificates {
    /// `None` where there is no identity.
    pub fn new(all: Vec<Identity>) -> Option<Self> {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (identity, index) in all.iter().zip(0..) {
            for name in &identity.names {
                by_name.entry(name.clone()).or_default().push(index);
            }
        }
        (!all.is_empty()).then_some(Self { all, by_name })
    }

    /// The one to show.
    pub fn choose(&self, hello: &ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.find(hello.server_name(), hello.signature_schemes()).map(|found| Arc::clone(&found.certified))
    }

    /// An exact name before a wildcard; of several for one name (an ECDSA and an RSA one) the first that the client can
    /// verify.
    fn find(&self, name: Option<&str>, schemes: &[SignatureScheme]) -> Option<&Identity> {
        let name = name.map(str::to_ascii_lowercase);
        let exact = name.as_ref().and_then(|name| self.by_name.get(name));
        // One label, the left-most (RFC 9525, 6.3).
        let wildcard = || {
            let (_, parent) = name.as_ref()?.split_once('.')?;
            self.by_name.get(&format!("*.{parent}"))
        };
        let found: Vec<&Identity> = match exact.or_else(wildcard) {
            Some(indices) => indices.iter().filter_map(|index| self.all.get(*index)).collect(),
            None => self.all.iter().take(1).collect(),
        };
        let usable = |identity: &&&Identity| identity.certified.key.choose_scheme(schemes).is_some();
        found.iter().find(usable).or(found.first()).copied()
    }
}
