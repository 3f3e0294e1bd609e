//! What constrained decoders make of forms: whether a model that is held to a form by its runtime writes what the
//! form admits, and nothing else.
//!
//! `survey` says which [`Construct`]s a form has, a [`Profile`] what its runtime does with each. Profiles are data
//! files beside this module (`decoders/profiles/`), each row with the sources that it was read or run from; what no source
//! mentions is unknown. All of it is about values: how members are ordered and how numbers and texts are spelled is said once a profile.

mod construct;
mod profile;
mod survey;

pub use construct::Construct;
pub use profile::{Effect, Profile, Row, Source, Spelling};

use crate::form::CompiledForm;

/// Whether a decoder holds a form. The worse the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// It writes what the form admits and nothing else.
    Exact,
    /// It cannot write some of what the form admits.
    Stronger,
    /// Not known: of some construct nothing that was read says what happens.
    Unknown,
    /// It writes some of what the form refuses: to whoever acts, a 204 that nothing explains.
    Weaker,
    /// The runtime refuses the schema.
    Refused,
}

impl Verdict {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Stronger => "stronger",
            Self::Unknown => "unknown",
            Self::Weaker => "weaker",
            Self::Refused => "refused",
        }
    }
}

/// What one construct at one place does under each profile that does not hold it.
#[derive(Debug)]
pub struct Finding<'p> {
    /// JSON Pointer into the form.
    pub pointer: String,
    /// What stands there.
    pub construct: Construct,
    /// The profiles that do not hold it, and how.
    pub effects: Vec<(&'p Profile, &'p Row)>,
}

/// What a set of profiles says of one form.
#[derive(Debug)]
pub struct Assessment<'p> {
    /// One for each profile, in their order.
    pub verdicts: Vec<Verdict>,
    /// In the order of the form; constructs that all hold are left out.
    pub findings: Vec<Finding<'p>>,
}

/// Holds a form against profiles.
pub fn assess<'p>(form: &CompiledForm, profiles: &[&'p Profile]) -> Assessment<'p> {
    let sightings = survey::survey(form.published());
    let worst = |profile: &&Profile| {
        let verdicts = sightings.iter().map(|(_, construct)| profile.row(*construct).effect.verdict());
        verdicts.max().unwrap_or(Verdict::Exact)
    };
    let verdicts = profiles.iter().map(worst).collect();
    let findings = sightings.into_iter().map(|(pointer, construct)| {
        let rows = profiles.iter().map(|profile| (*profile, profile.row(construct)));
        let effects = rows.filter(|(_, row)| row.effect != Effect::Exact).collect();
        Finding { pointer, construct, effects }
    });
    let findings = findings.filter(|finding| !finding.effects.is_empty()).collect();
    Assessment { verdicts, findings }
}
