//! From the file to a listening process, and what a bad file or a taken port gets (issue 2, items 7, 8 and
//! "What bad input gets").

use crate::support::{Backend, MEETING, MEETING_BODY, Setup, eventually};
use serde_json::json;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Runs the binary to its end.
fn formgate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_formgate")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn written(setup: &Setup) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in &setup.files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let path = dir.path().join("gateway.yaml");
    std::fs::write(&path, setup.text()).unwrap();
    (dir, path.to_str().unwrap().to_owned())
}

/// 78, every fault, nothing bound.
#[test]
fn a_bad_config_is_refused_whole_with_every_fault() {
    let backend = Backend::agreeing();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let setup = Setup::meeting(&backend)
        .with("listen", json!([taken.local_addr().unwrap().to_string()]))
        .with("routes/0/max_boddy", "1KiB")
        .with("routes/0/upstream/to", "nowhere")
        .with("defaults/limits", json!({ "get": "none", "post": "often", "refused": "none" }))
        .inline_route("odd", &json!({ "type": "string", "maxlength": 3 }));
    let (_dir, path) = written(&setup);
    for verb in ["serve", "check"] {
        let output = formgate(&[verb, &path]);
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(78), "{verb}: {said}");
        for fault in ["max_boddy", "nowhere", "/defaults/limits/post", "maxlength"] {
            assert!(said.contains(fault), "{verb} does not report {fault}:\n{said}");
        }
        assert!(!said.contains("listening on"), "{said}");
    }
}

#[test]
fn a_taken_port_is_an_error_and_not_a_panic() {
    let backend = Backend::agreeing();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let setup = Setup::meeting(&backend).with("listen", json!([taken.local_addr().unwrap().to_string()]));
    let (_dir, path) = written(&setup);
    let output = formgate(&["serve", &path]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(70), "{said}");
    assert!(said.contains(&taken.local_addr().unwrap().to_string()) && !said.contains("panicked"), "{said}");
}

/// A missing file and a missing verb.
#[test]
fn exit_codes_tell_config_from_usage() {
    assert_eq!(formgate(&["serve", "/nowhere/gateway.yaml"]).status.code(), Some(78));
    assert_eq!(formgate(&["serve", "--nonsense"]).status.code(), Some(64));
    assert_eq!(formgate(&["nonsense"]).status.code(), Some(64));
    assert_eq!(formgate(&["--help"]).status.code(), Some(0));
    let backend = Backend::agreeing();
    let (_dir, path) = written(&Setup::meeting(&backend));
    assert_eq!(formgate(&["check", &path]).status.code(), Some(0));
}

/// A public bind of the admin listener is a fault.
#[test]
fn a_public_admin_listener_is_refused() {
    let backend = Backend::agreeing();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:9901"] {
        let (_dir, path) = written(&Setup::meeting(&backend).with("admin", address));
        assert_eq!(formgate(&["serve", &path]).status.code(), Some(78), "{address}");
    }
}

/// Over a unix socket, with the port of the public listener known from the log.
#[test]
fn the_admin_listener_can_be_a_unix_socket() {
    let backend = Backend::agreeing();
    let socket = tempfile::tempdir().unwrap();
    let socket = socket.path().join("admin.sock");
    let setup = Setup::meeting(&backend).with("admin", format!("unix:{}", socket.display()));
    let (_dir, path) = written(&setup);
    let mut child = Command::new(env!("CARGO_BIN_EXE_formgate"))
        .args(["serve", &path])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut connected = None;
    for _ in 0..500 {
        std::thread::sleep(Duration::from_millis(10));
        if let Ok(stream) = UnixStream::connect(&socket) {
            connected = Some(stream);
            break;
        }
    }
    let mut page = String::new();
    if let Some(mut stream) = connected {
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let _ = stream.read_to_string(&mut page);
    }
    let _ = child.kill();
    let _ = child.wait();
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page:?}");
}

/// The admin listener answers programs on this machine, not pages that a browser was sent to (DNS rebinding).
#[test]
fn the_admin_listener_answers_no_page() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let ask = |host: &str, origin: Option<&str>| {
        let request = crate::support::Request::new("POST", "/-/reload").host(Some(host));
        let request = origin.iter().fold(request, |request, origin| request.field("Origin", origin));
        crate::support::Client::connect(gate.admin).exchange(&request).status
    };
    assert_eq!(ask("localhost", None), 200);
    assert_eq!(ask(&gate.admin.to_string(), None), 200);
    assert_eq!(ask("attacker.example", None), 403);
    assert_eq!(ask("localhost", Some("https://attacker.example")), 403);
}

/// Killed and started again, the same files give the same generation.
#[test]
fn a_restart_gives_the_same_generation() {
    let backend = Backend::agreeing();
    let first = Setup::meeting(&backend).start();
    let arrival = first.get(MEETING);
    first.signal("KILL");
    let second = Setup::meeting(&backend).start();
    assert_eq!(second.get(MEETING).constant_head(), arrival.constant_head());
    assert_eq!(second.post(MEETING, MEETING_BODY).status, 200);
}

/// SIGINT stops as SIGTERM does.
#[test]
fn an_interrupt_stops() {
    let backend = Backend::agreeing();
    let mut gate = Setup::meeting(&backend).start();
    gate.signal("INT");
    assert_eq!(gate.wait(Duration::from_secs(5)).code(), Some(0));
}

/// The access log in a file of its own; nothing on stdout then.
#[test]
fn access_lines_go_where_they_are_told() {
    let backend = Backend::agreeing();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("access.log");
    let mut gate = Setup::meeting(&backend).with("access_log", path.to_str().unwrap()).start();
    for _ in 0..3 {
        assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
    }
    assert_eq!(gate.stop().code(), Some(0));
    assert!(gate.access().is_empty());
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 3, "a stop loses no line: {text}");
}

/// Rotation as logrotate does it: the file is moved away, SIGHUP is sent, and a new one of the same name goes on. No line
/// is lost, none is in both; where the new one cannot be made, the old one goes on.
#[test]
fn the_access_log_is_opened_anew_on_sighup() {
    let backend = Backend::agreeing();
    let dir = tempfile::tempdir().unwrap();
    let (path, moved) = (dir.path().join("logs/access.log"), dir.path().join("logs/access.log.1"));
    std::fs::create_dir(dir.path().join("logs")).unwrap();
    let gate = Setup::meeting(&backend).with("access_log", path.to_str().unwrap()).start();
    let lines = |path: &std::path::Path| std::fs::read_to_string(path).unwrap_or_default().lines().count();
    let act = || assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
    (0..3).for_each(|_| act());
    eventually("three lines", || lines(&path) == 3);
    std::fs::rename(&path, &moved).unwrap();
    act();
    eventually("the moved file still gets what comes", || lines(&moved) == 4);
    assert!(!path.exists());
    gate.signal("HUP");
    eventually("there is a new one before there is a line", || path.exists());
    (0..2).for_each(|_| act());
    eventually("the lines are in the new one", || lines(&path) == 2);
    assert_eq!(lines(&moved), 4);
    // Under load: what is moved away and what is new add up.
    let acts = std::thread::scope(|scope| {
        let load = scope.spawn(|| (0..200).inspect(|_| act()).count());
        for turn in 2..6 {
            std::thread::sleep(Duration::from_millis(60));
            std::fs::rename(&path, dir.path().join(format!("logs/access.log.{turn}"))).unwrap();
            gate.signal("HUP");
            eventually("a new one", || path.exists());
        }
        load.join().unwrap()
    });
    let all = || -> usize {
        std::fs::read_dir(dir.path().join("logs")).unwrap().map(|entry| lines(&entry.unwrap().path())).sum()
    };
    eventually("every line is somewhere, once", || all() == 6 + acts);
    // No place for a new one: said, and lines go on where they went.
    std::fs::rename(dir.path().join("logs"), dir.path().join("gone")).unwrap();
    gate.signal("HUP");
    eventually("it is said", || gate.log().contains("the access log cannot be opened anew"));
    act();
    eventually("the old one goes on", || {
        std::fs::read_dir(dir.path().join("gone"))
            .unwrap()
            .map(|entry| lines(&entry.unwrap().path()))
            .sum::<usize>()
            == 7 + acts
    });
    assert!(gate.metrics().counts("formgate_access_lines_lost_total", &[], 0));
}
