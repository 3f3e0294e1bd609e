//! The strict parser: what it accepts, what it reads, and what it costs.

mod cost;
mod numbers;
mod parity;
mod strictness;
pub(crate) mod suite;
mod validation;
mod values;

use formgate::json::{Document, SyntaxKind};

/// The kind of fault, or nothing for an accepted text.
fn fault_of(bytes: &[u8]) -> Option<SyntaxKind> {
    Document::new().parse(bytes).err().map(|fault| fault.kind)
}
