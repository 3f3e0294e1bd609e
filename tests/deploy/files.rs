//! The files that people copy: configurations are taken by the real `check`, the unit by systemd.

use super::{content, read, tool};
use std::path::Path;
use std::process::Command;

/// Where the shipped configurations read their secret.
const SECRETS: [&str; 2] = ["/run/secrets/api-token", "/run/secrets/formgate/api-token"];

#[test]
fn the_starting_configuration_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "gateway.yaml", &read("deploy/config/gateway.yaml"));
    put(dir.path(), "forms/ticket-open.json", &read("deploy/config/forms/ticket-open.json"));
    check(dir.path());
}

/// Both probes and the graceful stop depend on numbers that stand in two places.
#[test]
fn every_way_to_deploy_stops_after_the_grace() {
    let grace = 30;
    assert!(!read("deploy/config/gateway.yaml").contains("grace:"), "the default is {grace}s");
    for (file, key) in [
        ("deploy/compose.yaml", "stop_grace_period: "),
        ("deploy/formgate.service", "TimeoutStopSec="),
        ("deploy/kubernetes/base/deployment.yaml", "terminationGracePeriodSeconds: "),
    ] {
        let text = read(file);
        let value = text.split_once(key).unwrap_or_else(|| panic!("{file}: {key}")).1;
        let seconds: u32 = value.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
        assert!(seconds > grace + 5, "{file}: {key}{seconds}");
    }
}

#[test]
fn systemd_takes_the_unit() {
    let dir = tempfile::tempdir().unwrap();
    let unit =
        read("deploy/formgate.service").replace("/usr/local/bin/formgate", env!("CARGO_BIN_EXE_formgate"));
    put(dir.path(), "formgate.service", &unit);
    put(dir.path(), "formgate.socket", &read("deploy/formgate.socket"));
    for name in ["formgate.service", "formgate.socket"] {
        let path = dir.path().join(name);
        if let Some(output) = tool("systemd-analyze", &["verify", "--man=no", path.to_str().unwrap()]) {
            content(&output);
            // It warns of unknown keys, and ignores them: then nothing would be hardened.
            assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        }
    }
    // 1.2 of 10 when this was written; what is left is that it has a network and reads files.
    let path = dir.path().join("formgate.service");
    let arguments = ["security", "--offline=true", "--threshold=15", path.to_str().unwrap()];
    if let Some(output) = tool("systemd-analyze", &arguments) {
        content(&output);
    }
}

/// Every alert leads to a part of the page for whoever is on call.
#[test]
fn every_runbook_is_there() {
    let page = read("docs/operating.md");
    let anchors: Vec<String> =
        page.lines().filter_map(|line| line.strip_prefix("### ")).map(str::to_lowercase).collect();
    let mut count = 0;
    for runbook in read("deploy/alerts.yaml").split("runbook: \"").skip(1) {
        let runbook = runbook.split('"').next().unwrap();
        let anchor = runbook.strip_prefix("docs/operating.md#").unwrap_or_else(|| panic!("{runbook}"));
        assert!(anchors.iter().any(|have| have == anchor), "no heading for {runbook}");
        count += 1;
    }
    assert_eq!(count, anchors.len(), "headings of alerts that are gone: {anchors:?}");
}

/// The image is built from what `Dockerfile.dockerignore` leaves: cargo finds everything that its manifest names.
#[test]
fn the_image_has_what_it_is_built_from() {
    let ignored = read("deploy/Dockerfile.dockerignore");
    let ignored: Vec<&str> = ignored.lines().collect();
    let listed = Command::new("git").args(["ls-files"]).current_dir(super::root("")).output().unwrap();
    let dir = tempfile::tempdir().unwrap();
    for name in String::from_utf8(listed.stdout).unwrap().lines() {
        let from = super::root(name);
        if ignored.contains(&name.split('/').next().unwrap()) || !from.is_file() {
            continue;
        }
        let to = dir.path().join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    // `metadata` would not notice a target without its file; this reads the manifest as a build does.
    // What other platforms want may not be here.
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let arguments = ["fetch", "--locked", "--offline", "--target", &host];
    content(&Command::new(cargo).args(arguments).current_dir(dir.path()).output().unwrap());
    check_at(&dir.path().join("config/gateway.yaml"));
}

/// Writes a file, its secret beside it.
pub(super) fn put(dir: &Path, name: &str, text: &str) {
    let secret = dir.join("api-token");
    let here =
        SECRETS.iter().fold(text.to_owned(), |text, there| text.replace(there, secret.to_str().unwrap()));
    std::fs::write(secret, "s3cr3t\n").unwrap();
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, here).unwrap();
}

#[track_caller]
pub(super) fn check(dir: &Path) {
    check_at(&dir.join("gateway.yaml"));
}

#[track_caller]
fn check_at(config: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_formgate"));
    content(&command.arg("check").arg("--deny-warnings").arg(config).output().unwrap());
}
