//! Bodies that a route says its form accepts or refuses, judged as a client's would be.

use super::{Compiler, given};
use crate::config::raw;
use crate::form::CompiledForm;
use crate::json::{Document, line_column};

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

/// Why a body would be refused. The steps of `Ticket::submit`, in words.
fn refusal(body: &str, form: &CompiledForm, max_body: usize) -> Option<String> {
    if body.len() > max_body {
        return Some("it is larger than `max_body`".to_owned());
    }
    let mut document = Document::new();
    let value = match document.parse(body.as_bytes()) {
        Ok(value) => value,
        Err(fault) => {
            let (line, column) = line_column(body.as_bytes(), fault.at);
            return Some(format!("{}, at its line {line}, column {column}", fault.kind));
        }
    };
    if let Some(mismatch) = form.mismatch(value) {
        let instance =
            if mismatch.instance_pointer.is_empty() { "its root" } else { &mismatch.instance_pointer };
        return Some(format!("{instance} does not fit {} of the form", mismatch.schema_pointer));
    }
    (!form.numbers_safe(value)).then(|| "a number in it is not safe (`numbers: safe_integers`)".to_owned())
}
