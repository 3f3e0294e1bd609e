//! The real binary, started on a config in a directory of its own and killed when dropped.

use super::metrics::Metrics;
use super::{Client, PATIENCE, Request, Response, Setup, eventually};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

type Lines = Arc<Mutex<Vec<String>>>;

pub(crate) struct Gate {
    /// The first listener; in the clear where there is one.
    pub(crate) addr: SocketAddr,
    /// The first that speaks TLS.
    pub(crate) tls: Option<SocketAddr>,
    pub(crate) admin: SocketAddr,
    pub(crate) dir: tempfile::TempDir,
    child: Child,
    out: Lines,
    err: Lines,
}

impl Gate {
    /// Starts and waits until it listens.
    #[track_caller]
    pub(crate) fn start(setup: &Setup) -> Self {
        Self::start_with(setup, |_| {})
    }

    /// The same, with a word about the process before it is started.
    #[track_caller]
    pub(crate) fn start_with(setup: &Setup, adjust: impl FnOnce(&mut Command)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in &setup.files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let config = dir.path().join("gateway.yaml");
        std::fs::write(&config, setup.text()).unwrap();
        // Measurements want the binary that ships: `FORMGATE_BIN=target/release/formgate`.
        let binary = std::env::var_os("FORMGATE_BIN").unwrap_or(env!("CARGO_BIN_EXE_formgate").into());
        let mut command = Command::new(binary);
        command.arg("serve").arg(&config).env_remove("RUST_LOG").stdin(Stdio::null());
        adjust(&mut command);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = gather(child.stdout.take().unwrap());
        let err = gather(child.stderr.take().unwrap());
        let start = Instant::now();
        loop {
            let found = |marker| err.lock().unwrap().iter().find_map(|line: &String| url_after(line, marker));
            // Told last.
            if let Some(admin) = found("admin on http://") {
                let tls = found("listening on https://");
                let addr = found("listening on http://").or(tls).unwrap();
                return Self { addr, tls, admin, dir, child, out, err };
            }
            let ended = child.try_wait().unwrap();
            if ended.is_some() || start.elapsed() > PATIENCE {
                let _ = child.kill();
                let _ = child.wait();
                std::thread::sleep(Duration::from_millis(50));
                panic!(
                    "formgate did not start ({ended:?}):\n{}\n{}",
                    err.lock().unwrap().join("\n"),
                    setup.text()
                );
            }
            std::thread::sleep(Duration::from_millis(3));
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.addr)
    }

    /// One request on a connection of its own.
    #[track_caller]
    pub(crate) fn exchange(&self, request: &Request) -> Response {
        self.client().exchange(request)
    }

    #[track_caller]
    pub(crate) fn get(&self, target: &str) -> Response {
        self.exchange(&Request::get(target))
    }

    #[track_caller]
    pub(crate) fn post(&self, target: &str, body: impl AsRef<[u8]>) -> Response {
        self.exchange(&Request::post(target, body))
    }

    /// One request to the admin listener.
    #[track_caller]
    pub(crate) fn ask_admin(&self, method: &str, target: &str) -> Response {
        let host = self.admin.to_string();
        Client::connect(self.admin).exchange(&Request::new(method, target).host(Some(&host)))
    }

    #[track_caller]
    pub(crate) fn metrics(&self) -> Metrics {
        let page = self.ask_admin("GET", "/metrics");
        assert_eq!(page.status, 200, "{}", page.head);
        Metrics::parse(page.text())
    }

    /// `POST /-/reload`, whatever comes of it.
    #[track_caller]
    pub(crate) fn reload(&self) -> Response {
        self.ask_admin("POST", "/-/reload")
    }

    /// The config file.
    pub(crate) fn config(&self) -> PathBuf {
        self.dir.path().join("gateway.yaml")
    }

    /// Replaces a file whole, as editors do.
    pub(crate) fn replace(&self, name: &str, bytes: impl AsRef<[u8]>) {
        replace(&self.dir.path().join(name), bytes.as_ref());
    }

    /// All access lines so far, parsed.
    #[track_caller]
    pub(crate) fn access(&self) -> Vec<Value> {
        let lines = self.out.lock().unwrap().clone();
        let parse =
            |line: &String| serde_json::from_str(line).unwrap_or_else(|fault| panic!("{fault}: {line:?}"));
        lines.iter().map(parse).collect()
    }

    /// Waits for so many access lines; more are a fault. In the order in which the requests came: two that
    /// come one after the other over two connections may be written the other way round.
    #[track_caller]
    pub(crate) fn access_lines(&self, count: usize) -> Vec<Value> {
        eventually(&format!("{count} access lines"), || self.out.lock().unwrap().len() >= count);
        std::thread::sleep(Duration::from_millis(30));
        let mut lines = self.access();
        lines.sort_by_key(|line| line["time"].as_str().unwrap_or_default().to_owned());
        assert_eq!(lines.len(), count, "access lines: {lines:#?}");
        lines
    }

    /// Everything the process has written.
    pub(crate) fn written(&self) -> String {
        format!("{}\n{}", self.out.lock().unwrap().join("\n"), self.err.lock().unwrap().join("\n"))
    }

    pub(crate) fn log(&self) -> String {
        self.err.lock().unwrap().join("\n")
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let sent =
            Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status().unwrap();
        assert!(sent.success());
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for the process to end by itself.
    #[track_caller]
    pub(crate) fn wait(&mut self, time: Duration) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < time, "still running after {time:?}:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// SIGTERM, and the exit.
    #[track_caller]
    pub(crate) fn stop(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.wait(PATIENCE)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let written = self.written();
            let lines: Vec<_> = written.lines().collect();
            let last = &lines[lines.len().saturating_sub(60)..];
            eprintln!("--- what formgate wrote at last ---\n{}", last.join("\n"));
        }
    }
}

/// Writes beside and renames over.
pub(crate) fn replace(path: &Path, bytes: &[u8]) {
    let beside = path.with_extension("new");
    std::fs::write(&beside, bytes).unwrap();
    std::fs::rename(beside, path).unwrap();
}

fn gather(from: impl Read + Send + 'static) -> Lines {
    let lines = Lines::default();
    let into = lines.clone();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(from);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(count) if count > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned();
            into.lock().unwrap().push(text);
            line.clear();
        }
    });
    lines
}

fn url_after(line: &str, marker: &str) -> Option<SocketAddr> {
    let rest = line.split_once(marker)?.1;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".:[]".contains(c))).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
