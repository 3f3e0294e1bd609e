//! What `deploy/` promises: alerts name what the real binary serves, configurations are taken, the unit is one.

mod alerts;
mod dashboard;
mod files;
mod kubernetes;
mod promtool;
mod recorded;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Runs a tool of the machine's. Where it is missing the test says so and is content: `.ci/run` installs all of them.
fn tool(program: &str, arguments: &[&str]) -> Option<Output> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("{program} is not installed: its check of deploy/ was left out");
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

#[track_caller]
fn content(output: &Output) {
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
