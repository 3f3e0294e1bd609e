//! formgate stands in front of an HTTP API and turns chosen addresses into GPT addresses
//! (Generic Protocol Type, draft-ferguson-gpt-00): `GET` gives the form, `POST` a value that fits
//! it and the backend receives those very bytes, once.
//!
//! The path of a request, from the wire and back:
//!
//! 1. [`edge`] reads a head, strictly, and takes the current [`live`] snapshot.
//! 2. [`gateway::Gateway::triage`] decides from the head alone: answer, refuse, or collect a body. (A GET-Action has
//!    its body in its query; at a desk, as MCP's, [`surface`] finds in the body which route is meant.)
//! 3. To an arrival the answer is bytes computed before ([`form::Representation`]); nothing is formatted.
//! 4. To collect, `edge` reads a bounded body under a [`gateway::Ticket`].
//! 5. [`gateway::Ticket::submit`] parses it ([`json`]) and holds it against the form ([`form`]).
//! 6. What fits becomes [`gateway::Admitted`], the only permission to reach an upstream.
//! 7. `edge` sends it, once (where there is a key, [`store`] says whether it has been), and [`gateway`] decides what the client may see of the outcome.
//! 8. `edge` answers, and [`telemetry`] records it: one line, one count.
//!
//! Imports point down only (`tests/layers.rs` proves it):
//!
//! ```text
//! L5  cli ▶ edge               the only folder that may say pingora
//! L4  live  telemetry  store   the snapshot and its reload turn | metrics, access line | records
//!     adopt                    an API that exists ▶ the files of a gateway
//! L3  config                   YAML ▶ Gateway, or the whole list of faults
//! L2  gateway ◀ surface        decisions, pure and synchronous | what is drawn for clients that speak no GPT
//! L2  decoders                 what constrained decoders make of a form
//! L1  form                     closed dialect, compile, lint, representations
//! L0  json hex media tls reason bounds lint every   words and bytes; no I/O
//! ```

pub mod adopt;
pub mod bounds;
pub mod cli;
pub mod config;
pub mod decoders;
pub mod edge;
mod every;
pub mod form;
pub mod gateway;
pub mod hex;
pub mod json;
pub mod lint;
pub mod live;
pub mod media;
pub mod reason;
pub mod store;
pub mod surface;
pub mod telemetry;
pub mod tls;
