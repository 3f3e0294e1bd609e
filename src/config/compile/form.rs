//! The form of a route: a file or inline, compiled, its faults told where they stand.

use super::{Compiler, members};
use crate::config::fault::{Fault, nearest};
use crate::config::field::{Either, Field, Members};
use crate::config::files::MAX_FORM;
use crate::config::raw;
use crate::config::tree::Mark;
use crate::config::words::Filled;
use crate::config::{fault::Finding, inline};
use crate::form::{CompiledForm, FormFault, FormOptions};
use crate::json::line_column;
use crate::lint::{Level, Lint, LintLevels};
use std::path::PathBuf;
use std::sync::Arc;

/// Where the text of a form came from.
enum Source {
    File {
        path: PathBuf,
        text: String,
    },
    /// The node in the YAML.
    Inline(Mark),
}

impl Compiler<'_> {
    /// The form of a field, as it was compiled ahead or is compiled now.
    pub(super) fn form(
        &mut self,
        field: &Field<Either<Filled, crate::config::field::Subtree>>,
        options: &FormOptions,
        compiled: Option<Result<Arc<CompiledForm>, Vec<FormFault>>>,
    ) -> Option<Arc<CompiledForm>> {
        let Field::Given(at, given) = field else { return None };
        let (text, source) = match given {
            Either::Scalar(Filled(name)) => {
                let text = self.form_text(*at, name)?;
                (text.clone(), Source::File { path: self.files.path_of(name), text })
            }
            Either::Mapping(subtree) => {
                (inline::to_json(self.tree, subtree.0, self.findings)?, Source::Inline(subtree.0))
            }
        };
        match compiled.unwrap_or_else(|| CompiledForm::compile(&text, options).map(Arc::new)) {
            Ok(form) => {
                for warning in form.warnings() {
                    self.tell(&source, warning, true);
                }
                Some(form)
            }
            Err(faults) => {
                for fault in &faults {
                    self.tell(&source, fault, false);
                }
                None
            }
        }
    }

    fn form_text(&mut self, at: Mark, name: &str) -> Option<String> {
        match self.files.read(name, MAX_FORM) {
            Ok(bytes) => match std::str::from_utf8(&bytes) {
                Ok(text) => Some(text.to_owned()),
                Err(error) => {
                    let (line, column) = line_column(&bytes, error.valid_up_to());
                    self.form_faults.push(Fault {
                        file: self.files.path_of(name),
                        line,
                        column,
                        pointer: String::new(),
                        reason: "not UTF-8".to_owned(),
                        suggestion: None,
                        lint: None,
                    });
                    None
                }
            },
            Err(reason) => {
                self.fault_with(at, reason, self.files.help(name));
                None
            }
        }
    }

    fn tell(&mut self, source: &Source, fault: &FormFault, warning: bool) {
        let FormFault { pointer, at, reason, suggestion, lint } = fault;
        match source {
            Source::File { path, text } => {
                let (line, column) = line_column(text.as_bytes(), *at);
                let fault = Fault {
                    file: path.clone(),
                    line,
                    column,
                    pointer: pointer.clone(),
                    reason: reason.clone(),
                    suggestion: suggestion.clone(),
                    lint: *lint,
                };
                if self.told.insert((warning, fault.clone())) {
                    if warning { &mut self.form_warnings } else { &mut self.form_faults }.push(fault);
                }
            }
            Source::Inline(root) => {
                let (line, column) = self.tree.position(self.tree.follow(*root, pointer));
                let findings = if warning { self.warnings } else { self.findings };
                findings.add(Finding {
                    line,
                    column,
                    pointer: self.tree.pointer(*root) + pointer,
                    reason: reason.clone(),
                    suggestion: suggestion.clone(),
                    lint: *lint,
                });
            }
        }
    }

    /// The levels so far, changed as the mapping says. Whether the level of a lint can be said here, `can` says.
    pub(super) fn lint_levels(
        &self,
        changes: &Field<Members<raw::Level>>,
        can: fn(Lint) -> bool,
    ) -> LintLevels {
        let mut levels = self.levels.clone();
        for (name, _, level) in members(changes) {
            match Lint::named(&name.text) {
                Some(lint) if can(lint) => levels.set(
                    lint,
                    match level {
                        raw::Level::Allow => Level::Allow,
                        raw::Level::Warn => Level::Warn,
                        raw::Level::Deny => Level::Deny,
                    },
                ),
                Some(lint) => self.fault_with(
                    name.mark,
                    format!("`{}` is not about the form of a route", lint.name()),
                    "say its level at the top of the file, under `lints`",
                ),
                None => {
                    let known = || Lint::ALL.iter().filter(|lint| can(**lint)).map(|lint| lint.name());
                    let suggestion = match nearest(&name.text, known()) {
                        Some(lint) => format!("did you mean `{lint}`?"),
                        None => format!("known lints: {}", known().collect::<Vec<_>>().join(", ")),
                    };
                    let reason = format!("unknown lint `{}`", name.text.escape_debug());
                    self.fault_with(name.mark, reason, suggestion);
                }
            }
        }
        levels
    }
}
