//! The part of the mirror that is about traces.

use super::super::field::{Field, Members};
use super::super::words::{Filled, OtlpUrl, Share};
use schemars::JsonSchema;
use serde::Deserialize;

/// Where traces of requests go, and of which. Off where it is left out.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["otlp", "sample"]))]
pub(in crate::config) struct Traces {
    /// The collector, `http://host:port`: OTLP over HTTP, in protobuf, at `/v1/traces` unless the URL has a path. Without TLS: a collector on this machine has that. Changing it needs a restart.
    #[schemars(extend("examples" = ["http://127.0.0.1:4318"]))]
    pub(in crate::config) otlp: Field<OtlpUrl>,
    /// Which requests are recorded besides those that a trusted proxy has decided to record: a share of them, from 0 to 1, or `parent` for none.
    pub(in crate::config) sample: Field<Share>,
    /// Fields sent to the collector. `${file:/run/secrets/token}` stands for the content of that file. Changing it needs a restart.
    pub(in crate::config) headers: Field<Members<String>>,
    /// `service.name` of the spans. Default `formgate`. Changing it needs a restart.
    pub(in crate::config) service: Field<Filled>,
}
