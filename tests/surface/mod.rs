//! What is drawn from the forms for clients that do not speak GPT (DESIGN 8; issue 4), and keys at every door.

mod embedded;
mod get_action;
mod idempotency;
mod idempotency_crashes;
mod idempotency_ends;
mod idempotency_file;
mod idempotency_processes;
mod index;
mod mcp;
mod openapi;
mod openapi_budgets;
mod openapi_wire;
mod schema;
mod tools;

use crate::support::Setup;
use formgate::config::{Loaded, Refused, load};
use formgate::gateway::Own;
use serde_json::{Value, json};

const URL: &str = "https://api.example.com";

/// A setup with the OpenAPI document on, and no page; nothing listens upstream.
fn drawn() -> Setup {
    // Pages are others' to test, and take the longest to draw.
    let surfaces = json!({ "openapi": "on", "pages": "off" });
    Setup::towards("http://127.0.0.1:9").with("public_url", URL).with("surfaces", surfaces)
}

/// Loads a setup without serving it.
fn loaded(setup: &Setup) -> Result<Loaded, Refused> {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in &setup.files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let config = dir.path().join("gateway.yaml");
    std::fs::write(&config, setup.text()).unwrap();
    load(&config)
}

/// The text of the document of a setup that loads.
#[track_caller]
fn text(setup: &Setup) -> String {
    let loaded = loaded(setup).unwrap_or_else(|refused| panic!("{:#?}", refused.faults));
    String::from_utf8(loaded.gateway.sheet(Own::OpenApi).unwrap().to_vec()).unwrap()
}

/// The same, read.
#[track_caller]
fn document(setup: &Setup) -> Value {
    serde_json::from_str(&text(setup)).unwrap()
}

/// The faults of a setup that does not load, each as its pointer and its reason.
#[track_caller]
fn faults(setup: &Setup) -> Vec<(String, String)> {
    let refused = loaded(setup).map(|_| "it loads").unwrap_err();
    refused.faults.into_iter().map(|fault| (fault.pointer, fault.reason)).collect()
}

/// The warnings of a setup that loads.
#[track_caller]
fn warnings(setup: &Setup) -> Vec<(String, String)> {
    let loaded = loaded(setup).unwrap_or_else(|refused| panic!("{:#?}", refused.faults));
    loaded.warnings.into_iter().map(|warning| (warning.pointer, warning.reason)).collect()
}

/// A form without anything to say but that it is an object.
fn plain(description: &str) -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false, "description": description })
}

/// The faults of a setup, a line each; none when it loads.
fn told(setup: &Setup) -> String {
    let faults = loaded(setup).map_or_else(|refused| refused.faults, |_| Vec::new());
    faults.iter().map(|fault| format!("{} {}", fault.pointer, fault.reason)).collect::<Vec<_>>().join("\n")
}
