//! Forms and arrivals made ahead, on all cores: where there are many routes, that is most of what a load takes.
//!
//! Only a head start: what a route finds made here it need not make itself. Nothing is told from here. What an
//! earlier load has made from the same words is taken over ([`Stock`]).

use super::route::Defaults;
use super::{Compiler, given};
use crate::config::fault::Findings;
use crate::config::field::{Either, Field};
use crate::config::files::MAX_FORM;
use crate::config::stock::{Recipe, Stock};
use crate::config::tree::Mark;
use crate::config::{inline, raw};
use crate::form::{CompiledForm, FormFault, Representation, arrival};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Fewer routes than these are made as they come.
const MANY: usize = 32;

/// What one route says and what became of it.
pub(super) type Made = Result<(Arc<CompiledForm>, Arc<Representation>), Vec<FormFault>>;

/// What has been made, by the place of the route.
pub(super) type Ahead = HashMap<Mark, Made>;

/// What is needed to make it.
struct Work {
    at: Mark,
    recipe: Recipe,
}

impl Compiler<'_> {
    /// Makes what can be made of every route.
    pub(super) fn ahead(&mut self, list: &Field<Vec<Field<raw::Route>>>, defaults: &Defaults<'_>) -> Ahead {
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
            told: HashSet::new(),
            levels: self.levels.clone(),
            expiries: Vec::new(),
            earlier: self.earlier,
            stock: Stock::default(),
        };
        let work: Vec<_> = given(list).filter_map(|(at, entry)| quiet.work(at, entry, defaults)).collect();
        let (next, made) = (AtomicUsize::new(0), Mutex::new(Ahead::new()));
        let earlier = self.earlier;
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(work) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let outcome = make(&work.recipe, earlier);
                        made.lock().unwrap_or_else(PoisonError::into_inner).insert(work.at, outcome);
                    }
                });
            }
        });
        let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        for Work { at, recipe } in work {
            if let Some(Ok((form, arrival))) = made.get(&at) {
                self.stock.keep(recipe, form, arrival);
            }
        }
        made
    }

    fn work(&mut self, at: Mark, entry: &raw::Route, defaults: &Defaults<'_>) -> Option<Work> {
        let text = match entry.form.given()? {
            Either::Scalar(name) => {
                String::from_utf8(self.files.read(&name.0, MAX_FORM).ok()?.to_vec()).ok()?
            }
            Either::Mapping(subtree) => inline::to_json(self.tree, subtree.0, self.findings)?,
        };
        let options = self.form_options(entry, self.max_body(entry, defaults));
        let context = entry.context.given().cloned().unwrap_or_default();
        let messages = self.messages(&entry.messages);
        Some(Work { at, recipe: Recipe { text, options, context, messages } })
    }
}

fn make(recipe: &Recipe, earlier: &Stock) -> Made {
    if let Some(made) = earlier.of(recipe) {
        return Ok(made);
    }
    let form = CompiledForm::compile(&recipe.text, &recipe.options)?;
    let arrival = arrival(&recipe.context, &recipe.messages, &form);
    Ok((Arc::new(form), Arc::new(arrival)))
}
