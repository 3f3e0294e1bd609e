//! What is wrong with a file: collected in full, shown like a compiler's.

use crate::lint::Lint;
use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;

/// One thing wrong, where it is, and what to do. Never carries the content of a secret file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The file, as it was named.
    pub file: PathBuf,
    /// From 1; 0 for what is about the file as a whole.
    pub line: usize,
    /// From 1, in characters; 0 with line 0.
    pub column: usize,
    /// JSON Pointer (RFC 6901) into the file.
    pub pointer: String,
    /// One sentence, without a full stop.
    pub reason: String,
    /// What to write instead, where that is known.
    pub suggestion: Option<String>,
    /// The lint it comes from: a warning, or one that was denied.
    pub lint: Option<Lint>,
}

/// `file:line:column: reason`, one line, for logs; `check` prints more.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line != 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.reason)?;
        if let Some(suggestion) = &self.suggestion {
            write!(f, " ({suggestion})")?;
        }
        Ok(())
    }
}

/// A fault in the YAML file itself, before it is told which file that is.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) pointer: String,
    pub(super) reason: String,
    pub(super) suggestion: Option<String>,
    pub(super) lint: Option<Lint>,
}

/// Where findings are put. Shared by everything that looks at one file, so it is written through `&`.
#[derive(Debug, Default)]
pub(super) struct Findings(RefCell<Vec<Finding>>);

impl Findings {
    pub(super) fn add(&self, finding: Finding) {
        self.0.borrow_mut().push(finding);
    }

    pub(super) fn add_at(&self, line: usize, column: usize, reason: String) {
        self.add(Finding { line, column, pointer: String::new(), reason, suggestion: None, lint: None });
    }

    pub(super) fn into_faults(self, file: &std::path::Path) -> Vec<Fault> {
        self.0
            .into_inner()
            .into_iter()
            .map(|finding| Fault {
                file: file.to_owned(),
                line: finding.line,
                column: finding.column,
                pointer: finding.pointer,
                reason: finding.reason,
                suggestion: finding.suggestion,
                lint: finding.lint,
            })
            .collect()
    }
}

/// The name among `known` that `given` was probably meant to be.
pub(crate) fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // A key pasted by accident may be long; nothing that long is a typo.
    if given.len() > 64 {
        return None;
    }
    let plain = |name: &str| name.to_ascii_lowercase().replace('-', "_");
    let allowed = (given.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (distance(&plain(given), &plain(name)), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Edits from one word to the other: insert, delete, replace, swap neighbours (optimal string alignment).
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<_>>()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn typos_find_their_word() {
        assert_eq!(distance("form", "from"), 1);
        assert_eq!(distance("", "abc"), 3);
        let known = ["address", "max_body", "upstream", "form"];
        assert_eq!(nearest("adress", known), Some("address"));
        assert_eq!(nearest("maxBody", known), Some("max_body"));
        assert_eq!(nearest("max-body", known), Some("max_body"));
        assert_eq!(nearest("from", known), Some("form"));
        assert_eq!(nearest("colour", known), None);
    }
}
