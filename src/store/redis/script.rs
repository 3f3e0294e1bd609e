//! The scripts, and the names that they go by. Each is one round trip and all or nothing; a server that does not know
//! one yet is told it.
//!
//! All names of a prefix begin with `{PREFIX}`: one hash slot, so that a script may touch any of them on a cluster,
//! too, and what is counted is counted exactly.

use crate::gateway::{End, Key, ReceiptId, Terms};
use crate::store::{Bounds, OVERHEAD};
use redis::{Script, ScriptInvocation};
use std::fmt::Display;

/// A script with its names and arguments.
pub(super) type Call<'s> = ScriptInvocation<'s>;

#[derive(Debug)]
pub(super) struct Scripts {
    prefix: String,
    begin: Script,
    find: Script,
    finish: Script,
    receipt: Script,
    probe: Script,
    take: Script,
}

/// Time that tests have skipped.
#[cfg(not(test))]
const SKIPPED: &str = "";
#[cfg(test)]
const SKIPPED: &str =
    "now = now + tonumber(redis.call('GET', KEYS[1]:match('^{.-}') .. ':skipped') or '0')\n";

const FIND: &str = "return read(KEYS[1])";

impl Scripts {
    pub(super) fn new(prefix: &str) -> Self {
        let (now, read, index) =
            (include_str!("now.lua"), include_str!("record.lua"), include_str!("index.lua"));
        let script = |parts: &[&str]| Script::new(&[&[now, SKIPPED], parts].concat().concat());
        Self {
            prefix: format!("{{{prefix}}}"),
            begin: script(&[read, index, include_str!("begin.lua")]),
            find: script(&[read, FIND]),
            finish: script(&[index, include_str!("finish.lua")]),
            receipt: script(&[read, include_str!("receipt.lua")]),
            probe: script(&[index, include_str!("probe.lua")]),
            take: Script::new(include_str!("take.lua")),
        }
    }

    fn name(&self, kind: &str, of: impl Display) -> String {
        format!("{}:{kind}:{of}", self.prefix)
    }

    fn on_index<'s>(&self, script: &'s Script, first: String) -> Call<'s> {
        let mut call = script.key(first);
        for index in ["ends", "sizes", "held"] {
            call.key(format!("{}:{index}", self.prefix));
        }
        call
    }

    /// `holder` as it is stored; `latest` by the server's clock.
    pub(super) fn begin(
        &self,
        terms: &Terms,
        holder: &str,
        receipt: ReceiptId,
        bounds: &Bounds,
        latest: i64,
    ) -> Call<'_> {
        let lease = super::super::clock::millis(terms.lease);
        let keep = super::super::clock::millis(terms.keep);
        let mut call = self.on_index(&self.begin, self.name("record", terms.key));
        call.key(self.name("receipt", receipt));
        call.arg(terms.key.to_string()).arg(&terms.fingerprint.as_bytes()[..]).arg(holder);
        call.arg(receipt.to_string()).arg(lease).arg(keep).arg(latest);
        call.arg(bounds.all.records).arg(bounds.all.bytes);
        call.arg(bounds.client.records).arg(bounds.client.bytes).arg(OVERHEAD);
        call
    }

    pub(super) fn find(&self, key: Key) -> Call<'_> {
        self.find.key(self.name("record", key))
    }

    /// Only what was begun under this receipt is ended.
    pub(super) fn finish(&self, key: Key, receipt: ReceiptId, end: &End) -> Call<'_> {
        let (word, answer): (_, &[u8]) = match end {
            End::Done(answer) => ("done", answer),
            End::Unknown => ("unknown", b""),
            End::Forget => ("forget", b""),
        };
        let mut call = self.on_index(&self.finish, self.name("record", key));
        call.key(self.name("receipt", receipt));
        call.arg(key.to_string()).arg(word).arg(answer);
        call.arg(receipt.to_string());
        call
    }

    pub(super) fn receipt(&self, id: ReceiptId) -> Call<'_> {
        let mut call = self.receipt.key(self.name("receipt", id));
        call.arg(self.name("record", "")).arg(id.to_string());
        call
    }

    pub(super) fn probe(&self, mark: &str) -> Call<'_> {
        let mut call = self.on_index(&self.probe, format!("{}:mark", self.prefix));
        call.key(format!("{}:probe", self.prefix)).arg(mark);
        call
    }

    /// Rates of one client, by their names: `take`, then whether there is one left of the other.
    pub(super) fn take(&self, rates: &[Rate]) -> Call<'_> {
        let mut call = self.take.prepare_invoke();
        for Rate { name, takes, period, burst } in rates {
            call.key(self.name("rate", name));
            call.arg(if *takes { "take" } else { "look" }).arg(format!("{period:.3}")).arg(*burst);
        }
        call
    }
}

/// One rate of one client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rate {
    pub(super) name: String,
    /// Takes one; else only looks whether there is one.
    pub(super) takes: bool,
    /// Microseconds until one is given back.
    pub(super) period: f64,
    pub(super) burst: u32,
}
