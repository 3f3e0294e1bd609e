//! `check --decoders`: whether constrained decoding holds each form, and what to change where it does not.

use super::show::{Style, printable};
use crate::config::Loaded;
use crate::decoders::{Assessment, Profile, Source, Verdict, assess};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// The profiles of these names, all where there are none; or why not.
pub(super) fn choose(known: &[Profile], names: &[String]) -> Result<Vec<usize>, String> {
    if names.iter().all(String::is_empty) {
        return Ok((0..known.len()).collect());
    }
    let find = |name: &String| {
        known.iter().position(|profile| profile.name == *name).ok_or_else(|| {
            let all: Vec<_> = known.iter().map(|profile| profile.name.as_str()).collect();
            format!("no decoder `{}`; there is {}", printable(name), all.join(", "))
        })
    };
    names.iter().map(find).collect()
}

/// Why a word behind `--decoders` is not taken for its value, where it may have been meant as that and is no file.
pub(super) fn misplaced(known: &[Profile], names: &[String], config: &Path) -> Option<String> {
    let word = config.to_str()?;
    let is_word = !word.is_empty()
        && config.extension().is_none_or(|extension| extension != "yaml" && extension != "yml");
    (names.iter().all(String::is_empty) && is_word && !word.contains('/') && !config.exists()).then(|| {
        let word = printable(word);
        let all: Vec<_> = known.iter().map(|profile| profile.name.as_str()).collect();
        format!(
            "`{word}` is taken for the file, and there is none; decoders are named behind `=`, `--decoders={}`: there is {}",
            if all.contains(&&*word) { &word } else { "NAME" },
            all.join(", ")
        )
    })
}

/// What profiles say of the forms of a configuration.
pub(super) struct Report<'l, 'p> {
    profiles: Vec<&'p Profile>,
    routes: Vec<(&'l str, &'l str, Assessment<'p>)>,
}

impl<'l, 'p> Report<'l, 'p> {
    pub(super) fn of(loaded: &'l Loaded, profiles: Vec<&'p Profile>) -> Self {
        let routes = loaded
            .gateway
            .routes()
            .map(|route| (route.name.as_str(), route.address.as_str(), assess(&route.form, &profiles)));
        Self { routes: routes.collect(), profiles }
    }

    /// Whether some decoder would write what is refused, or refuses a form.
    pub(super) fn is_bad(&self) -> bool {
        let bad = |verdict: &Verdict| matches!(verdict, Verdict::Weaker | Verdict::Refused);
        self.routes.iter().any(|(_, _, assessment)| assessment.verdicts.iter().any(bad))
    }

    /// A table, then each place that some decoder does not hold.
    pub(super) fn text(&self, style: Style) -> String {
        let mut out = String::new();
        let first = self.routes.iter().map(|(name, ..)| name.len()).max().unwrap_or(0).max("route".len());
        let _ = write!(out, "{:first$}", "route");
        for profile in &self.profiles {
            let _ = write!(out, "  {:width$}", profile.name, width = width(profile));
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        for (name, _, assessment) in &self.routes {
            let _ = write!(out, "{name:first$}");
            for (verdict, profile) in assessment.verdicts.iter().zip(&self.profiles) {
                let word = format!("{:width$}", verdict.name(), width = width(profile));
                let _ = write!(out, "  {}", style.paint(colour(*verdict), &word));
            }
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        }
        for (name, address, assessment) in &self.routes {
            if assessment.findings.is_empty() {
                continue;
            }
            let _ = writeln!(out, "\n{} at {}", style.strong(name), printable(address));
            for finding in &assessment.findings {
                let pointer = if finding.pointer.is_empty() { "(root)" } else { &finding.pointer };
                let _ = writeln!(out, "  {}  {}", printable(pointer), finding.construct.name());
                for (effect, notes) in by_effect(finding) {
                    let _ = writeln!(out, "    {effect}: {notes}");
                }
                if !finding.construct.advice().is_empty() {
                    let _ =
                        writeln!(out, "    {}: {}", style.paint("1;36", "help"), finding.construct.advice());
                }
            }
        }
        out.push('\n');
        for profile in &self.profiles {
            let _ = write!(out, "{}: {}, {}", profile.name, profile.title, known(profile));
            if let Some(spelling) = &profile.spelling {
                let _ = write!(out, "; white space {}; order {}", spelling.whitespace, spelling.order);
                if !spelling.refused.is_empty() {
                    let _ = write!(out, "; may write {}, which is refused", spelling.refused.join(" and "));
                }
            }
            out.push('\n');
        }
        out.push_str(
            "exact: writes what the form admits and nothing else. weaker: writes what is refused (204). stronger: cannot \
             write some of what is admitted. refused: does not take the form. unknown: nothing that was read says; do not \
             count on it. Of a runtime that was not run, all of it is what was read, not what it does.\n",
        );
        out
    }

    /// The same for programs, with the source of each row.
    pub(super) fn json(&self) -> Value {
        let routes = self.routes.iter().map(|(name, address, assessment)| {
            let verdicts = self.profiles.iter().zip(&assessment.verdicts);
            let verdicts = verdicts.map(|(profile, verdict)| (profile.name.clone(), json!(verdict.name())));
            let findings = assessment.findings.iter().map(|finding| {
                let effects = finding.effects.iter().map(|(profile, row)| {
                    let sources: Vec<_> = profile.sources_of(row).into_iter().map(source).collect();
                    let told = json!({ "effect": row.effect.name(), "note": row.note, "sources": sources });
                    (profile.name.clone(), told)
                });
                json!({
                    "pointer": finding.pointer,
                    "construct": finding.construct.name(),
                    "help": finding.construct.advice(),
                    "effects": effects.collect::<serde_json::Map<_, _>>(),
                })
            });
            json!({
                "name": name,
                "address": address,
                "verdicts": verdicts.collect::<serde_json::Map<_, _>>(),
                "findings": findings.collect::<Vec<_>>(),
            })
        });
        let profiles = self.profiles.iter().map(|profile| {
            json!({
                "name": profile.name,
                "title": profile.title,
                "run": profile.run,
                "sources": profile.sources.values().map(source).collect::<Vec<_>>(),
            })
        });
        json!({ "profiles": profiles.collect::<Vec<_>>(), "routes": routes.collect::<Vec<_>>() })
    }
}

fn source(source: &Source) -> Value {
    json!({ "what": source.what, "read": source.read })
}

/// How a profile is known, and when.
fn known(profile: &Profile) -> String {
    let days = match profile.read() {
        Some((first, last)) if first == last => format!("on {first}"),
        Some((first, last)) => format!("from {first} to {last}"),
        None => "never".to_owned(),
    };
    if profile.run { format!("run {days}") } else { format!("from what was read {days}, not run") }
}

/// A column holds the name and every verdict.
fn width(profile: &Profile) -> usize {
    profile.name.len().max("stronger".len())
}

fn colour(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Exact => "32",
        Verdict::Stronger | Verdict::Unknown => "33",
        Verdict::Weaker | Verdict::Refused => "31",
    }
}

/// Effects, the worst first, each with the decoders that have it and what they say.
fn by_effect(finding: &crate::decoders::Finding<'_>) -> Vec<(&'static str, String)> {
    let mut rows: Vec<_> = finding.effects.iter().collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.effect.verdict()));
    let mut told: Vec<(&'static str, String)> = Vec::new();
    for (profile, row) in rows {
        let mut text = profile.name.clone();
        if !row.note.is_empty() {
            let _ = write!(text, " ({})", row.note);
        }
        match told.last_mut() {
            Some((effect, all)) if *effect == row.effect.name() => {
                let _ = write!(all, ", {text}");
            }
            Some(_) | None => told.push((row.effect.name(), text)),
        }
    }
    told
}
