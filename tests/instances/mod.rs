//! Several instances behind one Redis (issue 6, part 3): one limit, one act for a key, whatever becomes of the server.

mod config;
mod cost;
mod down;
mod fake;
mod limits;
mod once;
mod share;

use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request, Setup};
use serde_json::{Value, json};

fn keyed(key: &str) -> Request {
    Request::post(MEETING, MEETING_BODY).field("Idempotency-Key", key)
}

/// One route that takes keys, with this store.
fn setup(backend: &Backend, store: impl Into<Value>) -> Setup {
    Setup::meeting(backend).with("routes/0/idempotency", "optional").with("store", store)
}

fn two(backend: &Backend, store: &Value) -> [Gate; 2] {
    [setup(backend, store.clone()).start(), setup(backend, store.clone()).start()]
}

/// The store, with one key changed.
fn with(mut store: Value, key: &str, value: impl Into<Value>) -> Value {
    store[key] = value.into();
    store
}

fn rates(post: &str, refused: &str) -> Value {
    json!({ "get": "none", "post": post, "refused": refused })
}
