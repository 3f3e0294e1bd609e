//! What a load has made, for the next one to take over: a reload that changes one route of many makes that one.
//!
//! Taken over is only what would come out the same, because it is made from the same words.

use super::files::Reading;
use crate::form::{CompiledForm, FormOptions, Representation};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What its files said; and its forms and arrivals. Of few routes these are not kept: they are made as quickly.
#[derive(Debug, Default)]
pub struct Stock {
    /// Nothing before the first load.
    pub(super) reading: Option<Reading>,
    made: HashMap<Recipe, (Arc<CompiledForm>, Arc<Representation>)>,
}

/// All that a form and its arrival are made from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Recipe {
    /// The form.
    pub(super) text: String,
    pub(super) options: FormOptions,
    /// `p`.
    pub(super) context: String,
    /// `m`, as JSON.
    pub(super) messages: String,
}

impl Stock {
    /// The files of the load, if they still say what they said: then another load would make the same.
    pub fn unchanged(&self) -> Option<Vec<PathBuf>> {
        self.reading.as_ref().filter(|reading| reading.still_holds()).map(Reading::paths)
    }

    /// What was made from the same.
    pub(super) fn of(&self, recipe: &Recipe) -> Option<(Arc<CompiledForm>, Arc<Representation>)> {
        self.made.get(recipe).cloned()
    }

    pub(super) fn keep(&mut self, recipe: Recipe, form: &Arc<CompiledForm>, arrival: &Arc<Representation>) {
        self.made.insert(recipe, (Arc::clone(form), Arc::clone(arrival)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Loaded, load, load_after};
    use std::fmt::Write as _;
    use std::path::Path;

    /// As many routes as are worth keeping, each taking a text of its own length; `changed` stands for route 7.
    fn written(folder: &Path, changed: &str) -> PathBuf {
        let mut yaml = String::from(
            "listen: [\"127.0.0.1:0\"]\n\
             upstreams: { legacy: { servers: [\"http://127.0.0.1:9\"] } }\n\
             defaults: { limits: none }\n\
             routes:\n",
        );
        for number in 0..40 {
            let said = if number == 7 {
                changed.to_owned()
            } else {
                format!("form: {{ type: string, maxLength: {} }}", number + 1)
            };
            let _ = write!(
                yaml,
                "  - address: /{number}\n    name: route_{number}\n    upstream: {{ to: legacy, path: / }}\n    {said}\n"
            );
        }
        let path = folder.join("gateway.yaml");
        std::fs::write(&path, yaml).unwrap();
        path
    }

    fn taken_over(before: &Loaded, after: &Loaded, number: usize) -> [bool; 2] {
        let address = format!("/{number}");
        let [before, after] = [before, after].map(|loaded| loaded.gateway.at(&address).unwrap());
        [Arc::ptr_eq(&before.form, &after.form), Arc::ptr_eq(&before.arrival, &after.arrival)]
    }

    #[test]
    fn only_files_that_say_the_same_still_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), "form: seventh.json");
        let form = folder.path().join("seventh.json");
        let write = |text: &str| std::fs::write(&form, text).unwrap();
        write(r#"{"type":"string","maxLength":9}"#);
        let stock = load(&path).unwrap().stock;
        assert_eq!(stock.unchanged(), Some(vec![path.clone(), form.clone()]));
        write(r#"{"type":"string","maxLength":8}"#);
        assert_eq!(stock.unchanged(), None);
        std::fs::remove_file(&form).unwrap();
        assert_eq!(stock.unchanged(), None);
        write(r#"{"type":"string","maxLength":9}"#);
        assert!(stock.unchanged().is_some());
        assert_eq!(Stock::default().unchanged(), None);
    }

    #[test]
    fn what_is_made_from_the_same_words_is_taken_over_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let first = "form: { type: integer, minimum: 0, maximum: 9 }";
        let before = load(&written(folder.path(), first)).unwrap();
        for (changed, expected) in [
            (first.to_owned(), [true; 2]),
            (format!("{first}\n    max_body: 1KiB"), [false; 2]),
            (format!("{first}\n    numbers: safe_integers"), [false; 2]),
            (format!("{first}\n    context: Another one."), [false; 2]),
            (format!("{first}\n    messages: [{{ role: system, content: Be kind. }}]"), [false; 2]),
            (format!("{first}\n    type: number"), [true; 2]),
            ("form: { type: integer, minimum: 0, maximum: 10 }".to_owned(), [false; 2]),
        ] {
            let after = load_after(&written(folder.path(), &changed), &before.stock).unwrap();
            assert_eq!(taken_over(&before, &after, 7), expected, "{changed}");
            assert_eq!(taken_over(&before, &after, 8), [true; 2], "{changed}");
            let form = after.gateway.at("/7").unwrap().form.published().to_owned();
            assert_eq!(form.contains("10"), changed.contains("10"), "{changed}");
        }
    }

    #[test]
    fn what_was_refused_is_not_taken_over_and_warnings_are_told_again() {
        let folder = tempfile::tempdir().unwrap();
        let unbounded = "form: { type: string }\n    lints: { unbounded-string: warn }";
        let before = load(&written(folder.path(), unbounded)).unwrap();
        assert!(!before.warnings.is_empty());
        let again = load_after(&written(folder.path(), unbounded), &before.stock).unwrap();
        assert_eq!(again.warnings, before.warnings);
        let denied = "form: { type: string }\n    lints: { unbounded-string: deny }";
        assert!(load_after(&written(folder.path(), denied), &before.stock).is_err());
    }
}
