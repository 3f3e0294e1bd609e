//! Certificates and trust.

use crate::config::field::Field;
use crate::config::words::{Filled, TlsName};
use schemars::JsonSchema;
use serde::Deserialize;

/// What listeners that begin with `https://` show.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["certificates"]))]
pub(in crate::config) struct Tls {
    /// Chosen by the name that a client asks for; the first where it asks for none, or for one that is not here.
    #[schemars(length(min = 1))]
    pub(in crate::config) certificates: Field<Vec<Field<Pair>>>,
}

/// A certificate and its key. Looked at for changes: a renewed pair is taken over without a restart.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["cert", "key"]))]
pub(in crate::config) struct Pair {
    /// A PEM file, relative to this file: the site's own certificate first, then each one's issuer.
    #[schemars(extend("examples" = ["tls/site.pem"]))]
    pub(in crate::config) cert: Field<Filled>,
    /// A PEM file of the key of `cert`, without a password; it may be the same file.
    #[schemars(extend("examples" = ["tls/site.key"]))]
    pub(in crate::config) key: Field<Filled>,
}

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
