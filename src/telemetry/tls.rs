//! The series about TLS: what handshakes come to, and when certificates end.

use super::Handshake;
use super::families::register;
use super::label::handshake_label;
use crate::gateway::Gateway;
use prometheus::{IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry};

#[derive(Debug)]
pub(super) struct Tls {
    /// By result.
    handshakes: [IntCounter; Handshake::ALL.len()],
    expiry: IntGaugeVec,
}

impl Tls {
    pub(super) fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let handshakes = "Handshakes with clients, by what they came to.";
        let handshakes = Opts::new("formgate_tls_handshakes_total", handshakes);
        let handshakes = register(registry, IntCounterVec::new(handshakes, &["result"]))?;
        let expiry = "When a certificate of the config expires.";
        let expiry = Opts::new("formgate_certificate_expiry_timestamp_seconds", expiry);
        Ok(Self {
            handshakes: Handshake::ALL.map(|result| handshakes.with_label_values(&[handshake_label(result)])),
            expiry: register(registry, IntGaugeVec::new(expiry, &["certificate"]))?,
        })
    }

    pub(super) fn count(&self, handshake: Handshake) {
        self.handshakes[handshake as usize].inc();
    }

    /// The certificates of a generation, by the names that their files have in the config.
    pub(super) fn publish(&self, gateway: &Gateway) {
        self.expiry.reset();
        for (certificate, expiry) in &gateway.expiries {
            let expiry = i64::try_from(*expiry).unwrap_or(i64::MAX);
            self.expiry.with_label_values(&[certificate.as_str()]).set(expiry);
        }
    }
}
