//! Profiles: what a runtime does with each construct, from data files that are built in.

use super::{Construct, Verdict};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The data files.
const FILES: &[&str] = &[
    include_str!("profiles/openai-strict.json"),
    include_str!("profiles/anthropic.json"),
    include_str!("profiles/gemini.json"),
    include_str!("profiles/llama.cpp.json"),
    include_str!("profiles/xgrammar.json"),
    include_str!("profiles/llguidance.json"),
    include_str!("profiles/outlines-core.json"),
];

/// What a runtime does with a construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Holds it.
    Exact,
    /// Writes what does not fit.
    Weaker,
    /// Cannot write some of what fits.
    Stronger,
    /// Both.
    WeakerAndStronger,
    /// Refuses the schema.
    Refused,
    /// Neither run, nor said by anything that was read.
    Unknown,
}

impl Effect {
    /// What it means for a form.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Exact => Verdict::Exact,
            Self::Stronger => Verdict::Stronger,
            Self::Unknown => Verdict::Unknown,
            Self::Weaker | Self::WeakerAndStronger => Verdict::Weaker,
            Self::Refused => Verdict::Refused,
        }
    }

    /// In a word or three.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Weaker => "weaker",
            Self::Stronger => "stronger",
            Self::WeakerAndStronger => "weaker and stronger",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

/// One row of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What the runtime does.
    pub effect: Effect,
    /// In words, where the effect alone does not say it. May be empty.
    #[serde(default)]
    pub note: String,
    /// By their names in the profile; where there is none, and the runtime is run, the run.
    #[serde(default)]
    sources: Vec<String>,
}

/// What was read or run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// An address, a package with version and file, or a document; and as what it was read.
    pub what: String,
    /// On which day.
    pub read: String,
}

/// How a runtime spells values: what no form can change.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spelling {
    /// White space that it may write between tokens; without any is always possible.
    pub whitespace: String,
    /// In which order members come, and in no other.
    pub order: String,
    /// What it may write that the strict parse refuses: half a surrogate pair, a number beyond a double.
    pub refused: Vec<String>,
}

/// What one runtime does, at one version.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// By which it is asked for.
    pub name: String,
    /// Runtime, version and mode.
    pub title: String,
    /// Whether a test runs the runtime itself. Its source is then `run`.
    pub run: bool,
    /// By name.
    pub sources: BTreeMap<String, Source>,
    /// How it spells values; `None` where it is not known.
    pub spelling: Option<Spelling>,
    /// By the names of constructs.
    rows: BTreeMap<String, Row>,
}

/// What is said of a construct that a profile has no row for: nothing that was read mentions it.
static UNKNOWN: Row = Row { effect: Effect::Unknown, note: String::new(), sources: Vec::new() };

impl Profile {
    /// All that are built in.
    pub fn all() -> Result<Vec<Self>, serde_json::Error> {
        FILES.iter().map(|text| serde_json::from_str(text)).collect()
    }

    /// What it does with a construct.
    pub fn row(&self, construct: Construct) -> &Row {
        self.rows.get(construct.name()).unwrap_or(&UNKNOWN)
    }

    /// Where a row comes from; empty where nothing says anything.
    pub fn sources_of<'p>(&'p self, row: &'p Row) -> Vec<&'p Source> {
        let run = (row.sources.is_empty() && self.run).then_some("run");
        let names = row.sources.iter().map(String::as_str).chain(run);
        names.filter_map(|name| self.sources.get(name)).collect()
    }

    /// The days on which its sources were read or run: the first and the last.
    pub fn read(&self) -> Option<(&str, &str)> {
        let days = || self.sources.values().map(|source| source.read.as_str());
        Some((days().min()?, days().max()?))
    }
}

#[cfg(test)]
mod tests {
    use super::{Construct, Effect, Profile};

    /// A runtime that is run has a row for every construct.
    #[test]
    fn what_is_run_is_complete() {
        for (construct, name, _) in Construct::ALL {
            assert_eq!((construct.name(), Construct::named(name)), (*name, Some(*construct)));
        }
        for profile in Profile::all().unwrap().iter().filter(|profile| profile.run) {
            for (_, name, _) in Construct::ALL {
                assert!(profile.rows.contains_key(*name), "{} has no row for {name}", profile.name);
            }
        }
    }

    /// Whatever is said has a source with a day, and whatever nobody mentions is unknown, not exact.
    #[test]
    fn what_is_said_was_read_somewhere() {
        let day = |text: &str| text.len() == 10 && text.starts_with("20") && text.split('-').count() == 3;
        for profile in Profile::all().unwrap() {
            assert_eq!(profile.run, profile.sources.contains_key("run"), "{}", profile.name);
            for (name, source) in &profile.sources {
                assert!(!source.what.is_empty() && day(&source.read), "{}: {name}", profile.name);
                let used = |row: &super::Row| row.sources.contains(name);
                assert!(name == "run" || profile.rows.values().any(used), "{}: {name}", profile.name);
            }
            for (name, row) in &profile.rows {
                assert!(Construct::named(name).is_some(), "{}: unknown construct {name}", profile.name);
                let known = row.sources.iter().all(|source| profile.sources.contains_key(source));
                let from = profile.sources_of(row);
                assert!(known && !from.is_empty(), "{}: {name} has no source", profile.name);
            }
            let unsaid = Construct::ALL.iter().find(|(_, name, _)| !profile.rows.contains_key(*name));
            if let Some((construct, ..)) = unsaid {
                let row = profile.row(*construct);
                assert_eq!(
                    (row.effect, profile.sources_of(row).len()),
                    (Effect::Unknown, 0),
                    "{}",
                    profile.name
                );
            }
        }
    }
}
