//! Forms and arrivals made ahead, on all cores: where there are many routes, that is nearly all that a load takes.
//!
//! Only a head start: what a route finds made here it need not make itself. Nothing is told from here.

use super::route::Defaults;
use super::{Compiler, given};
use crate::config::fault::Findings;
use crate::config::field::{Either, Field};
use crate::config::files::MAX_FORM;
use crate::config::tree::Mark;
use crate::config::{inline, raw};
use crate::form::{CompiledForm, Effort, FormFault, FormOptions, LintLevels, Representation, arrival};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does the same to each of many things, on all cores.
pub(super) fn each<T: Send>(things: &mut [T], work: impl Fn(&mut T) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if threads < 2 || things.len() < MANY {
        return things.iter_mut().for_each(work);
    }
    let share = things.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for part in things.chunks_mut(share) {
            scope.spawn(|| part.iter_mut().for_each(&work));
        }
    });
}

/// Fewer routes than these are made as they come.
const MANY: usize = 32;

/// What one route says and what became of it.
pub(super) type Made = Result<(CompiledForm, Representation), Vec<FormFault>>;

/// What has been made, by the place of the route.
pub(super) type Ahead = HashMap<Mark, Made>;

/// What is needed to make it.
struct Work<'f> {
    at: Mark,
    text: String,
    options: FormOptions,
    context: &'f str,
    messages: String,
}

impl Compiler<'_> {
    /// Makes what can be made of every route.
    pub(super) fn ahead(
        &mut self,
        list: &Field<Vec<Field<raw::Route>>>,
        lints: &LintLevels,
        defaults: &Defaults<'_>,
        effort: Effort,
    ) -> Ahead {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        if threads < 2 || given(list).count() < MANY {
            return Ahead::new();
        }
        // Whatever is wrong is told when the route itself is judged.
        let unheard = Findings::default();
        let mut quiet = Compiler {
            tree: self.tree,
            findings: &unheard,
            warnings: &unheard,
            files: &mut *self.files,
            form_faults: Vec::new(),
            form_warnings: Vec::new(),
            expiries: Vec::new(),
        };
        let work: Vec<_> =
            given(list).filter_map(|(at, entry)| quiet.work(at, entry, lints, defaults)).collect();
        let (next, made) = (AtomicUsize::new(0), Mutex::new(Ahead::new()));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(work) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let outcome = work.make(effort);
                        made.lock().unwrap_or_else(PoisonError::into_inner).insert(work.at, outcome);
                    }
                });
            }
        });
        made.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn work<'f>(
        &mut self,
        at: Mark,
        entry: &'f raw::Route,
        lints: &LintLevels,
        defaults: &Defaults<'_>,
    ) -> Option<Work<'f>> {
        let text = match entry.form.given()? {
            Either::Scalar(name) => {
                String::from_utf8(self.files.read(&name.0, MAX_FORM).ok()?.to_vec()).ok()?
            }
            Either::Mapping(subtree) => inline::to_json(self.tree, subtree.0, self.findings)?,
        };
        let options = self.form_options(entry, lints, self.max_body(entry, defaults));
        let context = entry.context.given().map_or("", String::as_str);
        Some(Work { at, text, options, context, messages: self.messages(&entry.messages) })
    }
}

impl Work<'_> {
    fn make(&self, effort: Effort) -> Made {
        let form = CompiledForm::compile(&self.text, &self.options)?;
        let arrival = arrival(self.context, &self.messages, &form, effort);
        Ok((form, arrival))
    }
}
