//! What systemd is told, and the sockets that it passes (`sd_notify(3)`, `sd_listen_fds(3)`).

use crate::support::{Backend, Client, Gate, MEETING, MEETING_BODY, PATIENCE, Request, Setup, eventually};
use std::collections::VecDeque;
use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixDatagram};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The other end of `$NOTIFY_SOCKET`.
struct Systemd {
    socket: UnixDatagram,
    heard: VecDeque<String>,
}

impl Systemd {
    fn at(path: &Path) -> Self {
        Self::on(UnixDatagram::bind(path).unwrap())
    }

    fn on(socket: UnixDatagram) -> Self {
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        Self { socket, heard: VecDeque::new() }
    }

    /// The next message with this line in it; what came before is not looked at again.
    #[track_caller]
    fn hears(&mut self, line: &str) -> String {
        let until = Instant::now() + PATIENCE * 2;
        let mut others = Vec::new();
        while Instant::now() < until {
            let mut buffer = [0; 4096];
            if let Ok(count) = self.socket.recv(&mut buffer) {
                self.heard.push_back(String::from_utf8(buffer[..count].to_vec()).unwrap());
            }
            while let Some(message) = self.heard.pop_front() {
                if message.lines().any(|have| have.starts_with(line)) {
                    return message;
                }
                others.push(message);
            }
        }
        panic!("{line} was not heard, but {others:#?}");
    }
}

#[test]
fn systemd_hears_of_every_step() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let mut systemd = Systemd::at(&path);
    let mut gate = Gate::start_with(&Setup::meeting(&Backend::agreeing()), |command| {
        command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "400000").env_remove("WATCHDOG_PID");
    });
    assert!(systemd.hears("READY=1").contains("\nSTATUS=serving "));
    systemd.hears("WATCHDOG=1");
    systemd.hears("WATCHDOG=1");

    gate.signal("HUP");
    let reloading = systemd.hears("RELOADING=1");
    let micros = reloading.lines().find_map(|line| line.strip_prefix("MONOTONIC_USEC=")).unwrap();
    assert!(micros.parse::<u64>().unwrap() > 0, "{reloading}");
    systemd.hears("READY=1");
    gate.replace("gateway.yaml", "listen: nowhere\n");
    let status = systemd.hears("STATUS=");
    let status = if status.contains("refused") { status } else { systemd.hears("STATUS=") };
    assert!(status.contains("serving ") && status.contains("refused"), "{status}");

    gate.signal("TERM");
    systemd.hears("STOPPING=1");
    assert!(gate.wait(PATIENCE).success());
}

/// The old process is the main one until it says which is.
#[test]
fn a_hand_over_names_the_new_main_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let mut systemd = Systemd::at(&path);
    let mut gate = Gate::start_with(&Setup::meeting(&Backend::agreeing()), |command| {
        command.env("NOTIFY_SOCKET", &path).process_group(0);
    });
    let group = gate.pid();
    systemd.hears("READY=1");
    gate.signal("USR2");
    // The new one's own, before anyone has named it.
    systemd.hears("READY=1");
    let named = systemd.hears("MAINPID=");
    let pid: u32 = named.lines().find_map(|line| line.strip_prefix("MAINPID=")).unwrap().parse().unwrap();
    assert_ne!(pid, group);
    assert!(gate.wait(PATIENCE * 3).success());
    let page = gate.ask_admin("GET", "/-/snapshot").json();
    assert_eq!(page["pid"], pid);
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status();
}

#[test]
fn a_supervisor_that_is_not_there_is_no_reason_not_to_serve() {
    let name = format!("formgate-test-{}", std::process::id());
    let address = UnixAddr::from_abstract_name(&name).unwrap();
    let mut systemd = Systemd::on(UnixDatagram::bind_addr(&address).unwrap());
    let backend = Backend::agreeing();
    for socket in ["/nowhere/notify", "", "vsock:2:1", "not/absolute", &"/x".repeat(300), &format!("@{name}")]
    {
        let mut gate = Gate::start_with(&Setup::meeting(&backend), |command| {
            command.env("NOTIFY_SOCKET", socket).env("WATCHDOG_USEC", "often");
        });
        assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200, "{socket}");
        assert!(gate.stop().success());
    }
    // Only the last one was it.
    systemd.hears("READY=1");
    systemd.hears("STOPPING=1");
}

/// Ports that were free a moment ago.
fn free() -> [SocketAddr; 2] {
    let sockets = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    sockets.map(|socket| socket.local_addr().unwrap())
}

struct Activated(Child);

impl Drop for Activated {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// formgate behind `systemd-socket-activate`, which starts it when the first client comes.
fn activate(sockets: &[&str], config: &Path) -> Option<Activated> {
    let mut command = Command::new("systemd-socket-activate");
    for socket in sockets {
        command.args(["-l", socket]);
    }
    command.arg(env!("CARGO_BIN_EXE_formgate")).arg("serve").arg(config);
    match command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn() {
        Ok(child) => Some(Activated(child)),
        Err(error) => {
            assert!(std::env::var_os("FORMGATE_CI").is_none(), "systemd-socket-activate: {error}");
            eprintln!("systemd-socket-activate is not installed: sockets that systemd passes were left out");
            None
        }
    }
}

/// A config for these addresses, in a folder.
fn config(listen: SocketAddr, admin: &str, backend: &Backend) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let setup = Setup::meeting(backend).with("listen", vec![listen.to_string()]).with("admin", admin);
    for (name, bytes) in &setup.files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    std::fs::write(dir.path().join("gateway.yaml"), setup.text()).unwrap();
    dir
}

#[track_caller]
fn get(address: SocketAddr) -> u16 {
    let mut status = 0;
    eventually("it answers", || {
        let answer = Client::try_connect(address)
            .ok()
            .and_then(|mut client| client.try_exchange(&Request::get(MEETING)).ok());
        status = answer.map_or(0, |answer| answer.status);
        status != 0
    });
    status
}

#[test]
fn sockets_that_systemd_passes_are_served() {
    let backend = Backend::agreeing();
    let [listen, admin] = free();
    let dir = config(listen, &admin.to_string(), &backend);
    let (listen_, admin_) = (listen.to_string(), admin.to_string());
    let Some(mut gate) = activate(&[&listen_, &admin_], &dir.path().join("gateway.yaml")) else { return };
    // Bound by systemd: were formgate to bind them too, it would not start.
    assert_eq!(get(listen), 200);
    let page = Client::connect(admin).exchange(&Request::get("/readyz").host(Some(&admin_)));
    assert_eq!(page.status, 200);
    let _ = Command::new("kill").args(["-TERM", &gate.0.id().to_string()]).status();
    assert!(gate.0.wait().unwrap().success());

    let socket = dir.path().join("admin.sock");
    let [listen, _] = free();
    let dir = config(listen, &format!("unix:{}", socket.display()), &backend);
    let (listen_, admin_) = (listen.to_string(), socket.display().to_string());
    let Some(_gate) = activate(&[&listen_, &admin_], &dir.path().join("gateway.yaml")) else { return };
    assert_eq!(get(listen), 200);
}

#[test]
fn a_socket_that_the_file_does_not_name_is_refused() {
    let backend = Backend::agreeing();
    let [listen, other] = free();
    let dir = config(listen, "off", &backend);
    let other_ = other.to_string();
    let Some(mut gate) = activate(&[&other_], &dir.path().join("gateway.yaml")) else { return };
    eventually("it has ended", || {
        let _ = Client::try_connect(other);
        gate.0.try_wait().unwrap().is_some()
    });
    assert_eq!(gate.0.wait().unwrap().code(), Some(70));
    let mut said = String::new();
    gate.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(
        said.contains(&format!("systemd passed the socket {other}")) && said.contains("`listen`"),
        "{said}"
    );
}
