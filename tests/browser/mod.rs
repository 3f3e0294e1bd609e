//! The page for people, in real headless Chromium against the real binary (issue 4, 1).

mod controls;
mod driver;
mod fill;
mod hostile;
mod reading;
mod sending;

use crate::support::{Backend, Setup};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;

/// `config/gateway.yaml` and its files, towards this backend and without rates.
fn shipped(backend: &Backend) -> Setup {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let mut config: Value =
        serde_yaml::from_str(std::str::from_utf8(&read("gateway.yaml")).unwrap()).unwrap();
    config["listen"] = serde_json::json!(["127.0.0.1:0"]);
    config["admin"] = "127.0.0.1:0".into();
    config["tokens"]["agents"]["sha256"] = hash_of(TOKEN).into();
    config["upstreams"]["legacy"]["servers"] = serde_json::json!([backend.url()]);
    for route in config["routes"].as_array_mut().unwrap() {
        route["limits"] = "none".into();
    }
    let mut setup = Setup { config, files: Vec::new() };
    for below in ["forms", "secrets"] {
        for entry in std::fs::read_dir(folder.join(below)).unwrap() {
            let name = format!("{below}/{}", entry.unwrap().file_name().display());
            let bytes = read(&name);
            setup = setup.file(&name, bytes);
        }
    }
    setup
}

/// What opens the routes that are not for everyone.
const TOKEN: &str = "a-token-of-the-tests";

fn hash_of(token: &str) -> String {
    Sha256::digest(token.as_bytes()).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The routes of a setup that has been written out.
fn routes(config: &Value) -> Vec<Value> {
    config["routes"].as_array().unwrap().clone()
}

/// The form of a route, from its file or inline.
fn form_of(setup_files: &[(String, Vec<u8>)], route: &Value) -> Value {
    match route["form"].as_str() {
        Some(file) => {
            let (_, bytes) = setup_files.iter().find(|(name, _)| name == file).unwrap();
            serde_json::from_slice(bytes).unwrap()
        }
        None => route["form"].clone(),
    }
}
