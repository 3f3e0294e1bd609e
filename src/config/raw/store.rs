//! `store`.

use crate::config::field::{Either, Field};
use crate::config::words::{Filled, Part, PolicyWord, RedisUrl, Size, StorePrefix, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// Where acts that must not be done twice are recorded, and how much of it; with `redis`, also where rates are counted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct Store {
    /// A database file, made if it is not there, relative to this file: records survive a restart, and processes of one machine may share it. On a local disk. Without it, memory.
    #[schemars(extend("examples" = ["/var/lib/formgate/records.db"]))]
    pub(in crate::config) file: Field<Filled>,
    /// A Redis or Valkey that several instances share, instead of a file: `redis://host:6379/0`, or `redis+unix:///run/redis.sock?db=0`. User and password do not stand in it.
    pub(in crate::config) redis: Field<RedisUrl>,
    /// With `redis`: what is done while it is down. Required.
    pub(in crate::config) when_down: Field<Either<PolicyWord, WhenDown>>,
    /// With `redis`: a file that holds the password, relative to this file.
    #[schemars(extend("examples" = ["secrets/redis"]))]
    pub(in crate::config) password_file: Field<Filled>,
    /// With `redis`: the ACL user. Default the server's `default`.
    pub(in crate::config) user: Field<Filled>,
    /// With `redis`: what all names in it begin with. Instances with the same prefix are one. Default `formgate`.
    pub(in crate::config) prefix: Field<StorePrefix>,
    /// With `redis`: how long a request waits for one answer of it: 5ms to 5s. Default 200ms.
    pub(in crate::config) timeout: Field<Time>,
    /// With `redis`: whose rates hold. `shared` (the default): those of `post` and `refused` over all instances, at a round trip for each act. `local`: each instance its own.
    pub(in crate::config) limits: Field<Rates>,
    /// Records, at most; then new keys are turned away, and none is forgotten early. Default 100000.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub(in crate::config) max_records: Field<u32>,
    /// Bytes of all records and the answers in them, at most, likewise. Default 64MiB in memory, else 1GiB.
    pub(in crate::config) max_bytes: Field<Size>,
    /// What one client may hold of both once more than half is used: one part in so many, never less than 16 records and 1MiB. `1/1` is no bound. Default `1/16`.
    pub(in crate::config) client_share: Field<Part>,
}

/// What is done while the shared store is down: `refuse` does not act, `local` goes by what this instance alone knows.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["records", "limits"]))]
pub(in crate::config) struct WhenDown {
    /// Acts with a key. `refuse`: not done, 503. `local`: done once by each instance, not once by all.
    pub(in crate::config) records: Field<PolicyWord>,
    /// All acts where rates are shared. `refuse`: not done, 503. `local`: each instance counts by itself.
    pub(in crate::config) limits: Field<PolicyWord>,
}

/// Whose rates hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(in crate::config) enum Rates {
    Shared,
    Local,
}
