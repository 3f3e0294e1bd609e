//! A real `redis-server` on a unix socket in a folder of its own: killed, paused and started again where a test wants
//! it so.

use super::{Gate, Response, eventually};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

pub(crate) struct Redis {
    dir: tempfile::TempDir,
    more: Vec<String>,
    child: Child,
}

impl Redis {
    /// None where there is no `redis-server`; with `FORMGATE_CI` that is a fault.
    pub(crate) fn start(more: &[&str]) -> Option<Self> {
        let found = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            assert!(std::env::var_os("FORMGATE_CI").is_none(), "redis-server is missing");
            eprintln!("NOT RUN: there is no redis-server");
            return None;
        }
        // Short: the path of a socket has 107 bytes.
        let dir = tempfile::Builder::new().prefix("fg").tempdir_in("/tmp").unwrap();
        let more: Vec<String> = more.iter().map(|word| (*word).to_owned()).collect();
        let child = spawn(&dir, &more);
        let redis = Self { dir, more, child };
        redis.wait();
        Some(redis)
    }

    /// With an append-only file: nothing is lost by a kill.
    pub(crate) fn durable() -> Option<Self> {
        Self::start(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    pub(crate) fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// What `store` says.
    pub(crate) fn store(&self, when_down: impl Into<Value>) -> Value {
        json!({ "redis": self.url(), "when_down": when_down.into(), "timeout": "2s" })
    }

    /// What `redis-cli` prints.
    pub(crate) fn ask(&self, words: &[&str]) -> String {
        let asked = Command::new("redis-cli").arg("-s").arg(self.socket()).args(words).output().unwrap();
        String::from_utf8(asked.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub(crate) fn restart(&mut self) {
        self.kill();
        self.child = spawn(&self.dir, &self.more);
        self.wait();
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(sent.unwrap().success());
    }

    fn wait(&self) {
        let answers = |reply: &str| reply == "PONG" || reply.contains("NOAUTH");
        eventually("redis-server serves", || answers(&self.ask(&["PING"])));
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(dir: &tempfile::TempDir, more: &[String]) -> Child {
    let mut command = Command::new("redis-server");
    command.args(["--port", "0", "--save", "", "--unixsocket"]).arg(dir.path().join("s"));
    command.arg("--dir").arg(dir.path()).args(more);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// `/readyz`, as a value.
pub(crate) fn readiness(gate: &Gate) -> Value {
    let page: Response = gate.ask_admin("GET", "/readyz");
    serde_json::from_slice(&page.body).unwrap()
}

pub(crate) fn is_up(gate: &Gate, up: usize) {
    eventually(&format!("the store is up: {up}"), || gate.metrics().counts("formgate_store_up", &[], up));
}
