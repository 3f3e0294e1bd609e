//! What was carried, what was guessed and what was not carried: for a person, and for a program.

use super::choose::{Named, NotCarried};
use super::ledger::Ledger;
use super::written::{Guess, one_line};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Everything there is to tell.
#[derive(Debug, Default)]
pub struct Report {
    /// What was read: `petstore.yaml`, `OpenAPI 3.0.3`, its title.
    pub(super) source: [String; 3],
    pub(super) carried: Vec<CarriedRoute>,
    pub(super) not_carried: Vec<Left>,
    pub(super) ledger: Ledger,
    /// About the document as a whole.
    pub(super) remarks: Vec<String>,
}

/// One route that was written.
#[derive(Debug)]
pub(super) struct CarriedRoute {
    pub(super) named: Named,
    pub(super) name: String,
    pub(super) address: String,
    pub(super) form: String,
    /// JSON Pointer of the schema in the source; empty where there is none.
    pub(super) schema: String,
    pub(super) guesses: Vec<Guess>,
    pub(super) left_out: Vec<(String, String)>,
    pub(super) examples: usize,
    pub(super) other_examples: Vec<(String, String)>,
}

/// One operation that was not.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) named: Named,
    pub(super) kind: NotCarried,
    pub(super) reason: String,
}

impl Left {
    pub(super) fn line(&self) -> String {
        let id = self.named.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        one_line(&format!("{} {}{id}: {}", self.named.method, self.named.path, self.reason))
    }
}

impl Report {
    /// How many operations were carried, and how many not.
    pub fn counts(&self) -> (usize, usize) {
        (self.carried.len(), self.not_carried.len())
    }

    /// For a person: what matters, and how much of the rest there is. No word of the source begins a line.
    pub fn text(&self) -> String {
        let [file, version, title] = self.source.each_ref().map(|word| one_line(word));
        let mut out = format!("{file}: {version}, {title}\n");
        let guesses: usize = self.carried.iter().map(|route| route.guesses.len()).sum();
        let _ = writeln!(
            out,
            "carried: {} of {}",
            self.carried.len(),
            self.carried.len() + self.not_carried.len()
        );
        for route in self.carried.iter().take(40) {
            let _ = writeln!(
                out,
                "  {} {} -> {} ({} guessed, {} left out)",
                route.named.method,
                one_line(&route.named.path),
                route.address,
                route.guesses.len(),
                route.left_out.len()
            );
        }
        more(&mut out, self.carried.len(), 40);
        let _ = writeln!(out, "guessed: {guesses} bounds; each stands beside its route in gateway.yaml");
        let mut drops: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (pointer, why) in self.ledger.drops() {
            drops.entry(why).or_default().push(pointer);
        }
        let _ = writeln!(out, "dropped from schemas: {}", drops.values().map(Vec::len).sum::<usize>());
        let mut by_count: Vec<(&str, Vec<&str>)> = drops.into_iter().collect();
        by_count.sort_by_key(|(why, places)| (usize::MAX - places.len(), *why));
        for (why, places) in by_count.iter().take(30) {
            let _ = writeln!(out, "  {} x {}: {}", places.len(), one_line(why), one_line(places[0]));
        }
        more(&mut out, by_count.len(), 30);
        let _ = writeln!(out, "not carried: {}", self.not_carried.len());
        let mut kinds: BTreeMap<NotCarried, Vec<&Left>> = BTreeMap::new();
        for left in &self.not_carried {
            kinds.entry(left.kind).or_default().push(left);
        }
        for (kind, lefts) in kinds {
            let _ = writeln!(out, "  {} x {}", lefts.len(), kind.name());
            // What reads was never meant to be carried; the others are worth a look.
            let shown = if kind == NotCarried::Reads || kind == NotCarried::NotAskedFor { 0 } else { 10 };
            for left in lefts.iter().take(shown) {
                let _ = writeln!(out, "    {}", left.line());
            }
            if shown > 0 && lefts.len() > shown {
                let _ = writeln!(out, "    and {} more", lefts.len() - shown);
            }
        }
        for remark in &self.remarks {
            let _ = writeln!(out, "note: {}", one_line(remark));
        }
        out
    }

    /// For a program: all of it.
    pub fn json(&self) -> Value {
        let [file, version, title] = &self.source;
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for left in &self.not_carried {
            *reasons.entry(left.kind.name()).or_default() += 1;
        }
        json!({
            "source": { "file": file, "version": version, "title": title },
            "carried": self.carried.iter().map(|route| json!({
                "method": route.named.method,
                "path": route.named.path,
                "operation": route.named.id,
                "line": route.named.line,
                "name": route.name,
                "address": route.address,
                "form": route.form,
                "schema": route.schema,
                "guessed": route.guesses.iter().map(|guess| json!({
                    "at": guess.pointer,
                    "keyword": guess.keyword,
                    "value": guess.value,
                })).collect::<Vec<_>>(),
                "left_out": pairs(&route.left_out),
                "examples_accepted": route.examples,
                "examples_not_carried": pairs(&route.other_examples),
            })).collect::<Vec<_>>(),
            "not_carried": self.not_carried.iter().map(|left| json!({
                "method": left.named.method,
                "path": left.named.path,
                "operation": left.named.id,
                "line": left.named.line,
                "kind": left.kind.name(),
                "reason": left.reason,
            })).collect::<Vec<_>>(),
            "reasons": reasons,
            "keywords": self.ledger.entries().map(|(pointer, fates)| json!({
                "at": pointer,
                "carried": fates.carried,
                "translated": fates.translated,
                "dropped": fates.dropped,
            })).collect::<Vec<_>>(),
            "remarks": self.remarks,
        })
    }
}

fn pairs(list: &[(String, String)]) -> Vec<Value> {
    list.iter().map(|(what, why)| json!({ "what": what, "why": why })).collect()
}

fn more(out: &mut String, all: usize, shown: usize) {
    if all > shown {
        let _ = writeln!(out, "  and {} more; `--report json` lists them", all - shown);
    }
}
