//! The harness: the real binary, a raw client, a backend that records and does as it is told.

pub(crate) mod backend;
pub(crate) mod cases;
pub(crate) mod client;
pub(crate) mod clock;
pub(crate) mod gate;
pub(crate) mod metrics;
pub(crate) mod redis;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod setup;
pub(crate) mod tls;
pub(crate) mod venv;

pub(crate) use backend::{After, Backend};
pub(crate) use client::{Client, Loss};
pub(crate) use gate::Gate;
pub(crate) use request::Request;
pub(crate) use response::Response;
pub(crate) use setup::Setup;

use std::time::{Duration, Instant};

/// How long a test waits for something that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The address most tests use, and a body its form admits.
pub(crate) const MEETING: &str = "/api/v2/meetings/start";
pub(crate) const MEETING_BODY: &str = r#"{"title":"Q3 Planning","displayName":"Agent Alpha"}"#;

/// A body with spaces behind it, `length` bytes in all.
pub(crate) fn padded(body: &str, length: usize) -> Vec<u8> {
    let mut bytes = body.as_bytes().to_vec();
    bytes.resize(length, b' ');
    bytes
}

/// Asks again until it holds; the gateway records after it has answered.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "never came true: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
