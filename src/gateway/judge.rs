//! Whether a body fits, and if not, why not: one judgement for acts, for `explain` and for the examples
//! in a config.

use crate::form::{CompiledForm, Mismatch, Seen};
use crate::json::{Document, SyntaxFault, Value, line_column, pointer};
use crate::reason::Reason;
use std::cell::RefCell;

/// Why a body is not admitted. For the operator: names of members and places, never a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// Longer than the route's limit.
    TooLarge,
    /// Not one strict JSON value.
    Syntax(SyntaxFault),
    /// The form does not admit the value.
    Form(Mismatch),
    /// A number that the backend would not read as written (`numbers: safe_integers`).
    NumberUnsafe,
}

thread_local! {
    /// Buffers of the parser, one set a worker: parsing allocates nothing once they have grown.
    static DOCUMENT: RefCell<Document> = RefCell::new(Document::new());
}

/// What a worker keeps of the buffers of one large body.
const DOCUMENT_KEPT: usize = 1 << 20;

/// Lends this worker's document.
pub fn with_document<T>(work: impl FnOnce(&mut Document) -> T) -> T {
    DOCUMENT.with_borrow_mut(|document| {
        let outcome = work(document);
        document.shrink_to(DOCUMENT_KEPT);
        outcome
    })
}

/// Strict parse, then the form (GPT draft, "Verification").
pub fn judge(
    form: &CompiledForm,
    max_body: usize,
    document: &mut Document,
    body: &[u8],
) -> Result<(), Unfit> {
    match glance(form, max_body, document, body) {
        Seen::Fits => Ok(()),
        seen @ (Seen::Unfit | Seen::Unsure) => decide(form, max_body, document, body, seen).map(|_| ()),
    }
}

/// The same, and the value that fits.
pub(super) fn admitted<'d>(
    form: &CompiledForm,
    max_body: usize,
    document: &'d mut Document,
    body: &'d [u8],
) -> Result<Value<'d>, Unfit> {
    decide(form, max_body, document, body, Seen::Unsure)
}

/// What shows at a glance. In debug builds, every one is held against the judgement.
fn glance(form: &CompiledForm, max_body: usize, document: &mut Document, body: &[u8]) -> Seen {
    if body.len() > max_body {
        return Seen::Unfit;
    }
    let seen = form.glance(body);
    if cfg!(debug_assertions) {
        let fits = decide(form, max_body, document, body, Seen::Unsure).is_ok();
        match seen {
            Seen::Fits => assert!(fits, "seen to fit, but judged unfit"),
            Seen::Unfit => assert!(!fits, "seen to be unfit, but judged fit"),
            Seen::Unsure => {}
        }
    }
    seen
}

/// Parses and validates what a glance left open.
fn decide<'d>(
    form: &CompiledForm,
    max_body: usize,
    document: &'d mut Document,
    body: &'d [u8],
    seen: Seen,
) -> Result<Value<'d>, Unfit> {
    if body.len() > max_body {
        return Err(Unfit::TooLarge);
    }
    let value = document.parse(body).map_err(Unfit::Syntax)?;
    match seen {
        Seen::Fits | Seen::Unsure => form.check(value).map_err(Unfit::Form)?,
        Seen::Unfit => return Err(Unfit::Form(form.tell(value))),
    }
    if !form.numbers_safe(value) {
        return Err(Unfit::NumberUnsafe);
    }
    Ok(value)
}

impl Unfit {
    /// For metrics and log.
    pub fn reason(&self) -> Reason {
        match self {
            Self::TooLarge => Reason::TooLarge,
            Self::Syntax(fault) => Reason::Syntax(fault.kind),
            Self::Form(_) => Reason::Form,
            Self::NumberUnsafe => Reason::NumberUnsafe,
        }
    }

    /// Where in the form, for a form mismatch.
    pub fn mismatch(&self) -> Option<&Mismatch> {
        match self {
            Self::Form(mismatch) => Some(mismatch),
            Self::TooLarge | Self::Syntax(_) | Self::NumberUnsafe => None,
        }
    }

    /// One sentence, without a full stop.
    pub fn words(&self) -> String {
        match self {
            Self::TooLarge => "it is larger than `max_body`".to_owned(),
            Self::Syntax(fault) => fault.kind.to_string(),
            Self::Form(mismatch) => {
                let instance = match mismatch.instance_pointer.as_str() {
                    "" => "its root",
                    pointer => pointer,
                };
                format!("{instance} does not fit {} of the form", mismatch.schema_pointer)
            }
            Self::NumberUnsafe => "a number in it is not safe (`numbers: safe_integers`)".to_owned(),
        }
    }

    /// Line and column in the body, from 1, of what is wrong; `None` where no one place is.
    pub fn place(&self, body: &[u8]) -> Option<(usize, usize)> {
        let at = match self {
            Self::Syntax(fault) => fault.at,
            Self::Form(mismatch) => {
                let mut document = Document::new();
                let value = document.parse(body).ok()?;
                follow(value, &mismatch.instance_pointer).span().start
            }
            Self::TooLarge | Self::NumberUnsafe => return None,
        };
        Some(line_column(body, at))
    }
}

/// The member that a JSON Pointer (RFC 6901) leads to, through members alone.
pub(super) fn follow_to<'d>(value: Value<'d>, pointer: &str) -> Option<Value<'d>> {
    pointer::tokens(pointer).try_fold(value, |value, name| value.as_object()?.get(&name))
}

/// The value that a JSON Pointer (RFC 6901) leads to, or the deepest one on the way.
fn follow<'d>(value: Value<'d>, pointer: &str) -> Value<'d> {
    let deeper = pointer::tokens(pointer).try_fold(value, |value, name| value.child(&name).ok_or(value));
    deeper.unwrap_or_else(|deepest| deepest)
}
