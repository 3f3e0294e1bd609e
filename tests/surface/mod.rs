//! What is drawn from the forms for clients that do not speak GPT (DESIGN 8; issue 4), and keys at every door.

mod get_action;
mod idempotency;
mod idempotency_ends;
mod idempotency_file;
mod idempotency_processes;
mod mcp;
