//! What became of each keyword of the source: nothing is dropped silently.

use std::collections::{BTreeMap, BTreeSet};

/// Keywords of the source by their JSON Pointer, each with what became of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger(BTreeMap<String, Fates>);

/// One keyword may be read for several operations, and fare differently.
#[derive(Debug, Clone, Default)]
pub(super) struct Fates {
    pub(super) carried: bool,
    pub(super) translated: bool,
    /// Why it was dropped, where it was.
    pub(super) dropped: BTreeSet<String>,
}

impl Ledger {
    /// It says in the form what it says in the source.
    pub(super) fn carried(&mut self, pointer: String) {
        self.0.entry(pointer).or_default().carried = true;
    }

    /// What it says is said in other words.
    pub(super) fn translated(&mut self, pointer: String) {
        self.0.entry(pointer).or_default().translated = true;
    }

    pub(super) fn dropped(&mut self, pointer: String, why: impl Into<String>) {
        self.0.entry(pointer).or_default().dropped.insert(why.into());
    }

    /// Takes over what another one knows.
    pub(super) fn absorb(&mut self, other: Self) {
        for (pointer, fates) in other.0 {
            let own = self.0.entry(pointer).or_default();
            own.carried |= fates.carried;
            own.translated |= fates.translated;
            own.dropped.extend(fates.dropped);
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&String, &Fates)> {
        self.0.iter()
    }

    /// Where what was dropped stands, and why: by pointer.
    pub(super) fn drops(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(pointer, fates)| {
            fates.dropped.iter().map(move |why| (pointer.as_str(), why.as_str()))
        })
    }
}
