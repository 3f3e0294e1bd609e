//! Certificates, keys and roots, from their files.

use super::{Compiler, given};
use crate::config::field::Field;
use crate::config::files::{MAX_ROOTS, MAX_SECRET};
use crate::config::raw;
use crate::config::tree::Mark;
use crate::config::words::Filled;
use crate::gateway::Server;
use crate::lint::Lint;
use crate::tls::{Certificates, Identity, Part, Trust, Unusable};
use std::time::SystemTime;

/// Where systems keep the roots they believe in: Debian and Alpine, Red Hat, SUSE.
const BUNDLES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"];

impl Compiler<'_> {
    /// What listeners show; none where all speak in the clear.
    pub(super) fn certificates(&mut self, file: &raw::File) -> Option<Certificates> {
        let listener = given(&file.listen).find(|(_, listener)| listener.0.tls).map(|(at, _)| at);
        let (at, entry) = match (&file.tls, listener) {
            (Field::Given(at, entry), Some(_)) => (*at, entry),
            (Field::Given(at, _), None) if file.listen.given().is_some() => {
                self.fault_with(
                    *at,
                    "`tls` has no effect: no listener speaks it",
                    "begin one with `https://`: `listen: [\"https://0.0.0.0:8443\"]`",
                );
                return None;
            }
            (Field::Absent, Some(at)) => {
                self.fault_with(
                    at,
                    "this listener has no certificate",
                    "add `tls: { certificates: [{ cert: tls/site.pem, key: tls/site.key }] }`",
                );
                return None;
            }
            (Field::Given(..) | Field::Absent | Field::Wrong(_), _) => return None,
        };
        let pairs = self.required(
            &entry.certificates,
            at,
            "certificates",
            "[{ cert: tls/site.pem, key: tls/site.key }]",
        )?;
        if pairs.is_empty()
            && let Some(at) = entry.certificates.mark()
        {
            self.fault(at, "at least one certificate is needed");
        }
        let mut identities = Vec::new();
        for (at, pair) in given(&entry.certificates) {
            self.required(&pair.cert, at, "cert", "tls/site.pem");
            self.required(&pair.key, at, "key", "tls/site.key");
            if let Some(identity) = self.identity(&pair.cert, &pair.key) {
                if identity.names.is_empty() {
                    self.warn(
                        at,
                        Lint::NamelessCertificate,
                        "this certificate has no DNS name (subjectAltName): no client that asks for a name takes it",
                        "have it made with one: `openssl req -addext subjectAltName=DNS:api.example.com …`",
                    );
                }
                identities.push(identity);
            }
        }
        Certificates::new(identities)
    }

    /// The servers of an upstream; those that begin with `https://` with what they are verified by.
    pub(super) fn servers(
        &mut self,
        entry: &raw::Upstream,
        listed: Vec<(Mark, (bool, Server))>,
    ) -> Vec<Server> {
        let secure = listed.iter().find(|(_, (secure, _))| *secure);
        let tls = match (&entry.tls, secure) {
            (Field::Given(at, _), None) if !listed.is_empty() => {
                self.fault_with(
                    *at,
                    "`tls` has no effect: no server here speaks it",
                    "begin the servers with `https://`",
                );
                None
            }
            (_, None) => None,
            (tls, Some((at, _))) => self.trust(*at, tls.given().unwrap_or(&raw::UpstreamTls::default())),
        };
        let name = entry.tls.given().and_then(|tls| tls.server_name.given());
        listed
            .into_iter()
            .map(|(at, (secure, mut server))| {
                if let (true, Some(trust)) = (secure, &tls) {
                    server.tls = trust.towards(name.map_or(&*server.host, |name| &*name.0));
                    if server.tls.is_none() {
                        self.fault_with(
                            at,
                            "no certificate can be for this name",
                            "say which name it has: `tls: { server_name: crm.internal }`",
                        );
                    }
                }
                server
            })
            .collect()
    }

    fn trust(&mut self, server: Mark, entry: &raw::UpstreamTls) -> Option<Trust> {
        // Both are looked at, whatever is wrong with one.
        let identity = match (&entry.cert, &entry.key) {
            (Field::Absent, Field::Absent) => Some(None),
            (Field::Given(at, _), Field::Absent) => {
                self.fault_with(*at, "a certificate without its key", "add `key: tls/client.key`");
                None
            }
            (Field::Absent, Field::Given(at, _)) => {
                self.fault_with(*at, "a key without its certificate", "add `cert: tls/client.pem`");
                None
            }
            (cert, key) => self.identity(cert, key).map(Some),
        };
        let (at, name, own) = match &entry.ca {
            Field::Given(at, Filled(name)) => (*at, name.as_str(), true),
            Field::Wrong(_) => return None,
            Field::Absent => {
                let Some(bundle) = BUNDLES.iter().find(|bundle| self.files.path_of(bundle).exists()) else {
                    self.fault_with(
                        server,
                        "this machine has no bundle of roots to verify it with",
                        "install `ca-certificates`, or name the roots: `tls: { ca: tls/roots.pem }`",
                    );
                    return None;
                };
                (server, *bundle, false)
            }
        };
        let roots = self.file(at, name, MAX_ROOTS)?;
        let identity = identity?;
        let made = if own {
            Trust::in_file(&roots, identity.as_ref())
        } else {
            Trust::in_bundle(&roots, identity.as_ref())
        };
        made.map_err(|unusable| self.unusable(at, name, &unusable)).ok()
    }

    /// A certificate and its key, from the files that these fields name.
    pub(super) fn identity(&mut self, cert: &Field<Filled>, key: &Field<Filled>) -> Option<Identity> {
        let (Field::Given(cert_at, Filled(cert)), Field::Given(key_at, Filled(key))) = (cert, key) else {
            return None;
        };
        let chain = self.file(*cert_at, cert, MAX_ROOTS);
        let secret = self.files.read_key(key, MAX_SECRET).map_err(|reason| self.fault(*key_at, reason)).ok();
        let identity = match Identity::read(&chain?, &secret?) {
            Ok(identity) => identity,
            Err(unusable) => {
                match unusable.part {
                    Part::Certificate => self.unusable(*cert_at, cert, &unusable),
                    Part::Key => self.unusable(*key_at, key, &unusable),
                }
                return None;
            }
        };
        self.look_at_dates(*cert_at, cert, &identity);
        if self.files.is_open_to_all(key) {
            self.warn(
                *key_at,
                Lint::ReadableKey,
                format!("every user of this machine can read {key}, or may write to it"),
                "chmod 640, or 600",
            );
        }
        self.expiries.push((cert.clone(), identity.validity.until));
        Some(identity)
    }

    fn look_at_dates(&self, at: Mark, name: &str, identity: &Identity) {
        let now = SystemTime::now();
        if identity.validity.is_over(now) {
            self.warn(
                at,
                Lint::ExpiredCertificate,
                format!("{name} has expired: whoever verifies it will not go on"),
                "renew it; it is taken over while this runs",
            );
        } else if identity.validity.is_to_come(now) {
            self.warn(
                at,
                Lint::FutureCertificate,
                format!("{name} is not valid yet: whoever verifies it will not go on"),
                "compare this machine's clock with the certificate's dates",
            );
        }
        if let Some(number) = identity.unlinked {
            self.warn(
                at,
                Lint::UnlinkedCertificate,
                format!("certificate {number} of {name} was not issued by the one behind it"),
                "the site's own comes first, then each one's issuer; leave out what is not of the chain",
            );
        }
    }

    fn file(&mut self, at: Mark, name: &str, limit: u64) -> Option<std::rc::Rc<[u8]>> {
        self.files.read(name, limit).map_err(|reason| self.fault(at, reason)).ok()
    }

    fn unusable(&self, at: Mark, name: &str, unusable: &Unusable) {
        self.fault_with(at, format!("{name} {}", unusable.reason), unusable.suggestion);
    }
}
