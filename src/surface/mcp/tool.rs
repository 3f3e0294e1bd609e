//! What the list says of a tool, and the server of itself.

use crate::gateway::Tool;
use crate::hex;
use crate::json::quoted;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Appends one tool. The input schema is the form as it is published, byte for byte.
pub(super) fn draw(name: &str, tool: &Tool, form: &str, list: &mut String) {
    if !list.is_empty() {
        list.push(',');
    }
    let title = tool.title.as_ref().map(|title| format!("\"title\":{},", quoted(title))).unwrap_or_default();
    let description = quoted(&tool.description);
    let hints = &tool.hints;
    // Writing to a `String` cannot fail.
    let _ = write!(
        list,
        "{{\"name\":\"{name}\",{title}\"description\":{description},\"inputSchema\":{form},\"annotations\":\
         {{\"readOnlyHint\":{},\"destructiveHint\":{},\"idempotentHint\":{},\"openWorldHint\":{}}}}}",
        hints.read_only, hints.destructive, hints.idempotent, hints.open_world,
    );
}

/// `serverInfo`. The version follows the list: it tells a client that the tools changed, and nothing about the gateway.
pub(super) fn server(name: &str, list: &str) -> String {
    let version = hex::of(&Sha256::digest(list.as_bytes())[..6]);
    format!("{{\"name\":{},\"version\":\"{version}\"}}", quoted(name))
}

/// What a model should know that no schema says.
pub(super) fn instructions() -> String {
    quoted(
        "Each tool does one thing, and takes exactly what its inputSchema describes: no other members, no other types. A \
         call that is refused has done nothing, and why it was refused is not told; compare the arguments with the \
         schema again. When a call ends without an answer it may have been carried out: do not repeat it before you \
         know that it was not.",
    )
}
