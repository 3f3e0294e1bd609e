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
    /// Not looked at.
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
    /// An address, or a package with version and file; where it is empty, the profile's own.
    #[serde(default)]
    pub source: String,
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
    /// When it was looked at: a date.
    pub looked_at: String,
    /// Where rows come from that do not say so themselves.
    pub source: String,
    /// Whether a test runs the runtime itself.
    pub run: bool,
    /// How it spells values; `None` where it is not known.
    pub spelling: Option<Spelling>,
    /// By the names of constructs.
    rows: BTreeMap<String, Row>,
}

/// What is said of a construct that a profile has no row for. A test sees to it that there is none.
static UNKNOWN: Row = Row { effect: Effect::Unknown, note: String::new(), source: String::new() };

impl Profile {
    /// All that are built in.
    pub fn all() -> Result<Vec<Self>, serde_json::Error> {
        FILES.iter().map(|text| serde_json::from_str(text)).collect()
    }

    /// What it does with a construct.
    pub fn row(&self, construct: Construct) -> &Row {
        self.rows.get(construct.name()).unwrap_or(&UNKNOWN)
    }

    /// Where a row comes from.
    pub fn source_of<'p>(&'p self, row: &'p Row) -> &'p str {
        if row.source.is_empty() { &self.source } else { &row.source }
    }
}

#[cfg(test)]
mod tests {
    use super::{Construct, Profile};

    /// Every profile has a row for every construct, and no other; what is not held says why.
    #[test]
    fn profiles_are_complete() {
        for profile in Profile::all().unwrap() {
            for (construct, name, _) in Construct::ALL {
                assert_eq!((construct.name(), Construct::named(name)), (*name, Some(*construct)));
                assert!(profile.rows.contains_key(*name), "{} has no row for {name}", profile.name);
            }
            for (name, row) in &profile.rows {
                assert!(Construct::named(name).is_some(), "{}: unknown construct {name}", profile.name);
                assert!(!profile.source_of(row).is_empty(), "{}: {name} has no source", profile.name);
            }
            assert!(profile.looked_at.len() == 10 && profile.looked_at.starts_with("20"), "{}", profile.name);
        }
    }
}
