//! Black-box and integration tests: one binary, one line a module.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod adopt;
mod browser;
mod config;
mod deploy;
mod form;
mod hostile;
mod instances;
mod json;
mod layers;
mod requirements;
mod support;
mod surface;
mod tls;
mod upstreams;
mod wire;
