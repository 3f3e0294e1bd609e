//! A certificate chain and the key that belongs to it.

use super::provider;
use rustls::InconsistentKeys;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::sign::CertifiedKey;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use webpki::{EndEntityCert, KeyUsage};

/// Who one is: a chain, and its key.
#[derive(Clone)]
pub struct Identity {
    pub(super) certified: Arc<CertifiedKey>,
    /// DNS names of the first certificate, lower case; `*.` begins a wildcard.
    pub names: Vec<String>,
    /// When the first certificate is valid.
    pub validity: Validity,
    /// Number of the first certificate, from 1, that was not issued by the one behind it.
    pub unlinked: Option<usize>,
}

/// From and until when a certificate is valid, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// First second.
    pub from: u64,
    /// Last second.
    pub until: u64,
}

/// Which of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `cert`
    Certificate,
    /// `key`
    Key,
}

/// Why a file does not serve. Never quotes what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The file that is to blame.
    pub part: Part,
    /// Said of that file: `holds no certificate`.
    pub reason: String,
    /// What to do.
    pub suggestion: &'static str,
}

const SWAPPED: &str = "are `cert` and `key` swapped?";
const WANTED: &str =
    "PEM is expected: `-----BEGIN CERTIFICATE-----`, the site's own first, then each one's issuer";
const PLAIN_KEY: &str =
    "nobody types it at a restart: `openssl pkey -in KEY -out PLAIN`, readable for this user only";
const KINDS: &str = "RSA of 2048 to 8192 bits, ECDSA on P-256 or P-384, and Ed25519 are";

impl Identity {
    /// Reads two PEM files; they may be one.
    pub fn read(chain: &[u8], key: &[u8]) -> Result<Self, Unusable> {
        let chain = read_chain(chain)?;
        let key = read_key(key)?;
        let fault = |part, reason: String, suggestion| Unusable { part, reason, suggestion };
        let signing = provider()
            .key_provider
            .load_private_key(key)
            .map_err(|_| fault(Part::Key, "holds a key of a kind that is not supported".to_owned(), KINDS))?;
        let certified = CertifiedKey::new(chain, signing);
        match certified.keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
            Err(_) => return Err(mismatch(&certified)),
        }
        let (names, validity) = look_at(&certified.cert[0]).map_err(|reason| {
            fault(Part::Certificate, reason, "a certificate of X.509 version 3 is expected")
        })?;
        Ok(Self {
            unlinked: first_unlinked(&certified.cert),
            certified: Arc::new(certified),
            names,
            validity,
        })
    }

    /// The chain as it is sent: what tells two identities apart.
    pub(super) fn chain(&self) -> &[CertificateDer<'static>] {
        &self.certified.cert
    }
}

/// No key, not even its kind.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Validity {
    /// Whether `now` lies after the last second.
    pub fn is_over(self, now: SystemTime) -> bool {
        seconds(now) > self.until
    }

    /// Whether `now` lies before the first second.
    pub fn is_to_come(self, now: SystemTime) -> bool {
        seconds(now) < self.from
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// All certificates of a PEM file, each readable.
pub(super) fn read_chain(file: &[u8]) -> Result<Vec<CertificateDer<'static>>, Unusable> {
    let fault = |reason: String, suggestion| Unusable { part: Part::Certificate, reason, suggestion };
    let read: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(file).collect();
    let chain = read.map_err(|_| fault("is broken PEM".to_owned(), WANTED))?;
    for (certificate, number) in chain.iter().zip(1..) {
        if let Err(reason) = EndEntityCert::try_from(certificate) {
            let reason = format!("holds a certificate that cannot be read, number {number}: {reason}");
            return Err(fault(reason, "a certificate of X.509 version 3 is expected"));
        }
    }
    if !chain.is_empty() {
        Ok(chain)
    } else if holds(file, "PRIVATE KEY-----") {
        Err(fault("holds a private key and no certificate".to_owned(), SWAPPED))
    } else {
        Err(fault("holds no certificate".to_owned(), WANTED))
    }
}

fn read_key(file: &[u8]) -> Result<PrivateKeyDer<'static>, Unusable> {
    let fault =
        |reason: &str, suggestion| Unusable { part: Part::Key, reason: reason.to_owned(), suggestion };
    if holds(file, "BEGIN ENCRYPTED PRIVATE KEY") || holds(file, "Proc-Type: 4,ENCRYPTED") {
        return Err(fault("is protected by a password", PLAIN_KEY));
    }
    match PrivateKeyDer::from_pem_slice(file) {
        Ok(key) => Ok(key),
        Err(pem::Error::NoItemsFound) if holds(file, "BEGIN CERTIFICATE") => {
            Err(fault("holds a certificate and no private key", SWAPPED))
        }
        Err(pem::Error::NoItemsFound) => {
            Err(fault("holds no private key", "PEM is expected: `-----BEGIN PRIVATE KEY-----`"))
        }
        Err(_) => Err(fault("is broken PEM", "PEM is expected: `-----BEGIN PRIVATE KEY-----`")),
    }
}

fn holds(file: &[u8], text: &str) -> bool {
    file.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The key fits no certificate, or one that does not come first.
fn mismatch(certified: &CertifiedKey) -> Unusable {
    let own = certified.cert.iter().skip(1).position(|certificate| {
        CertifiedKey::new(vec![certificate.clone()], Arc::clone(&certified.key)).keys_match().is_ok()
    });
    match own {
        Some(position) => Unusable {
            part: Part::Certificate,
            reason: format!(
                "is in the wrong order: the certificate of the key is number {} of {}",
                position + 2,
                certified.cert.len()
            ),
            suggestion: "the site's own comes first, then each one's issuer",
        },
        None => Unusable {
            part: Part::Key,
            reason: "does not belong to the certificate".to_owned(),
            suggestion: "renew both files together; the certificate must have been made for this key",
        },
    }
}

/// DNS names and dates.
fn look_at(certificate: &CertificateDer<'_>) -> Result<(Vec<String>, Validity), String> {
    let read = EndEntityCert::try_from(certificate).map_err(|reason| reason.to_string())?;
    let names = read.valid_dns_names().map(str::to_ascii_lowercase).collect();
    // webpki tells dates only where it refuses: nothing is valid at the beginning and the end of time.
    let refused_at = |seconds| {
        let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        read.verify_for_usage(&[], &[], &[], time, KeyUsage::server_auth(), None, None).err()
    };
    let from = match refused_at(0) {
        Some(webpki::Error::CertNotValidYet { not_before, .. }) => not_before.as_secs(),
        Some(webpki::Error::InvalidCertValidity) => return Err("ends before it begins".to_owned()),
        Some(_) | None => 0,
    };
    let until = match refused_at(u64::MAX) {
        Some(webpki::Error::CertExpired { not_after, .. }) => not_after.as_secs(),
        Some(_) | None => return Err("has dates that cannot be read".to_owned()),
    };
    Ok((names, Validity { from, until }))
}

fn first_unlinked(chain: &[CertificateDer<'_>]) -> Option<usize> {
    let ends = |certificate| EndEntityCert::try_from(certificate).ok();
    chain
        .windows(2)
        .position(|pair| match (ends(&pair[0]), ends(&pair[1])) {
            (Some(issued), Some(issuer)) => issued.issuer() != issuer.subject(),
            _ => true,
        })
        .map(|position| position + 1)
}
