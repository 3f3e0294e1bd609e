//! Bodies that a route says its form accepts or refuses, judged as a client's would be.

use super::{Compiler, given};
use crate::config::raw;
use crate::form::CompiledForm;
use crate::gateway::{judge, sentence};
use crate::json::Document;

impl Compiler<'_> {
    pub(super) fn examples(&self, examples: &raw::Examples, form: &CompiledForm, max_body: usize) {
        for (at, body) in given(&examples.accepted) {
            if let Some(why) = refusal(body, form, max_body) {
                self.fault(at, format!("is said to be accepted, and is refused: {why}"));
            }
        }
        for (at, body) in given(&examples.refused) {
            if refusal(body, form, max_body).is_none() {
                self.fault(at, "is said to be refused, and is accepted");
            }
        }
    }
}

/// Why a body would be refused.
fn refusal(body: &str, form: &CompiledForm, max_body: usize) -> Option<String> {
    let body = body.as_bytes();
    let unfit = judge(form, max_body, &mut Document::new(), body).err()?;
    // Where a member is in one line is plain; where JSON breaks off is not.
    let is_plain = |line: usize| line == 1 && unfit.mismatch().is_some();
    let place = |(line, column)| {
        if is_plain(line) { String::new() } else { format!(", at its line {line}, column {column}") }
    };
    Some(sentence(&unfit, form, max_body, body) + &unfit.place(body).map(place).unwrap_or_default())
}
