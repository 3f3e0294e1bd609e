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

#[test]
fn the_config_map_is_taken() {
    let manifest = read("deploy/kubernetes/formgate.yaml");
    let dir = tempfile::tempdir().unwrap();
    for name in ["gateway.yaml", "ticket-open.json"] {
        put(dir.path(), name, &block(&manifest, name));
    }
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
        ("deploy/kubernetes/formgate.yaml", "terminationGracePeriodSeconds: "),
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
    let path = dir.path().join("formgate.service");
    if let Some(output) = tool("systemd-analyze", &["verify", "--man=no", path.to_str().unwrap()]) {
        content(&output);
        // It warns of unknown keys, and ignores them: then nothing would be hardened.
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

/// Writes a file, its secret beside it.
fn put(dir: &Path, name: &str, text: &str) {
    let secret = dir.join("api-token");
    let here =
        SECRETS.iter().fold(text.to_owned(), |text, there| text.replace(there, secret.to_str().unwrap()));
    std::fs::write(secret, "s3cr3t\n").unwrap();
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, here).unwrap();
}

#[track_caller]
fn check(dir: &Path) {
    let config = dir.join("gateway.yaml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_formgate"));
    content(&command.arg("check").arg("--deny-warnings").arg(config).output().unwrap());
}

/// A literal block of a `ConfigMap`, as Kubernetes would write it to a file.
fn block(manifest: &str, key: &str) -> String {
    let (_, after) = manifest.split_once(&format!("\n  {key}: |\n")).unwrap();
    let lines = after.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    let lines: Vec<&str> = lines.map(|line| line.get(4..).unwrap_or("")).collect();
    lines.join("\n") + "\n"
}
