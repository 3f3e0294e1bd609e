//! Certificates and trust.

use crate::config::field::Field;
use crate::config::words::{Filled, TlsName};
use schemars::JsonSchema;
use serde::Deserialize;

/// How servers that begin with `https://` are verified, and who the gateway says it is. Verification cannot be turned off.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct UpstreamTls {
    /// A PEM file of the roots that are believed, and no others, relative to this file. Default the machine's own bundle. Looked at for changes.
    pub(in crate::config) ca: Field<Filled>,
    /// A PEM file of the certificate that the gateway shows, its own first, then each one's issuer; with `key`.
    pub(in crate::config) cert: Field<Filled>,
    /// A PEM file of the key of `cert`, without a password.
    pub(in crate::config) key: Field<Filled>,
    /// The name that servers must have a certificate for, when it is not the one in their address.
    pub(in crate::config) server_name: Field<TlsName>,
}
