//! The end of connections and of the process: every one with a farewell (`close_notify`), and no request lost.

use super::{curl, run, setup, through};
use crate::support::tls::{Authority, client, dial};
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request, Setup, eventually};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// `read_to_end` of rustls fails where a connection ends without a farewell.
#[test]
fn every_end_has_a_farewell() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let mut gate = setup(&backend, &[ca.issue(&["site.test"])]).with("keepalive", "300ms").start();
    let to = gate.tls.unwrap();
    let ends = |bytes: &[u8], what: &str| {
        let mut line = dial(to, "site.test", client(&ca, &["http/1.1"])).unwrap();
        line.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let read = line.read_to_end(&mut answer);
        assert!(read.is_ok() && answer.starts_with(b"HTTP/1.1 "), "{what}: {read:?}");
    };
    ends(&Request::get(MEETING).field("Connection", "close").bytes(), "asked for");
    ends(&Request::get(MEETING).bytes(), "idle");
    ends(b"GET / HTTP/1.1\r\nbroken\r\n\r\n", "malformed");
    ends(&Request::get(MEETING).field("Expect", "nothing").bytes(), "expectation");
    // A stop says it too, to those that wait.
    let mut line = dial(to, "site.test", client(&ca, &["http/1.1"])).unwrap();
    line.write_all(&Request::get(MEETING).bytes()).unwrap();
    assert!(line.read(&mut [0; 4096]).unwrap() > 0);
    assert_eq!(gate.stop().code(), Some(0));
}

#[test]
fn an_act_in_flight_is_finished_by_a_stop() {
    let ca = Authority::new("ca");
    let backend = Backend::scripted(|_, stream| {
        std::thread::sleep(Duration::from_millis(700));
        let _ = stream.write_all(&crate::support::backend::json(r#"{"done":true}"#));
        crate::support::After::Keep
    });
    let mut gate = setup(&backend, &[ca.issue(&["site.test"])]).start();
    let mut client = through(&gate, &ca, "site.test");
    client.send(&Request::post(MEETING, MEETING_BODY).bytes());
    eventually("the act is at the backend", || backend.count() == 1);
    gate.signal("TERM");
    let answer = client.receive("POST");
    assert_eq!((answer.status, answer.text()), (200, r#"{"done":true}"#));
    assert_eq!(gate.wait(Duration::from_secs(8)).code(), Some(0));
}

fn pid(gate: &Gate) -> Option<u64> {
    let mut client = crate::support::Client::try_connect(gate.admin).ok()?;
    let host = gate.admin.to_string();
    let page = client.try_exchange(&Request::new("GET", "/-/snapshot").host(Some(&host))).ok()?;
    serde_json::from_slice::<serde_json::Value>(&page.body).ok()?["pid"].as_u64()
}

/// SIGUSR2: the new process speaks TLS on the same socket, and in the clear on the other.
#[test]
fn a_hand_over_loses_no_request() {
    let (ca, backend) = (Authority::new("ca"), Backend::agreeing());
    let setup: Setup = setup(&backend, &[ca.issue(&["site.test"])]);
    let gate = Gate::start_with(&setup, |command| {
        command.process_group(0);
    });
    let first = pid(&gate).unwrap();
    let (done, acts) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for sealed in [true, true, false] {
            let (gate, ca, done, acts) = (&gate, &ca, &done, &acts);
            let connect = move || if sealed { through(gate, ca, "site.test") } else { gate.client() };
            scope.spawn(move || {
                let mut client = connect();
                while !done.load(Ordering::Relaxed) {
                    let answer = client.exchange(&Request::post(MEETING, MEETING_BODY));
                    assert_eq!(answer.status, 200, "{}", answer.head);
                    acts.fetch_add(1, Ordering::Relaxed);
                    if answer.field("connection").is_some() {
                        client = connect();
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(200));
        gate.signal("USR2");
        eventually("a new process answers", || pid(&gate).is_some_and(|pid| pid != first));
        let before = acts.load(Ordering::Relaxed);
        eventually("it acts", || acts.load(Ordering::Relaxed) > before + 50);
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(backend.count(), acts.load(Ordering::Relaxed));
    let (done, form) = curl(&gate, &ca, "site.test", &[]);
    // The whole group: its output ends only with the last of them.
    run("kill", &["-KILL", "--", &format!("-{}", gate.pid())], "");
    assert!(done && form.starts_with('{'), "{form}");
}

/// `demo --tls` makes its own certificate, and the lines that it prints work as they stand.
#[test]
fn the_demo_prints_lines_that_work() {
    // Its ports are fixed: a demo of someone else's on this machine is not ours to end.
    let taken = ["127.0.0.1:8443", "127.0.0.1:9901", "127.0.0.1:18081"]
        .iter()
        .any(|port| std::net::TcpListener::bind(port).is_err());
    if taken {
        assert!(std::env::var_os("FORMGATE_CI").is_none(), "a port of the demo is taken");
        eprintln!("NOT RUN: a port of the demo is taken");
        return;
    }
    let mut demo = Command::new(env!("CARGO_BIN_EXE_formgate"))
        .args(["demo", "--tls"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(demo.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut printed = lines.filter(|line| line.contains("curl --cacert "));
    let form = printed.next().unwrap();
    let act = printed.next().unwrap();
    let (got, form) = run("sh", &["-c", &form], "");
    let (acted, answer) = run("sh", &["-c", &act], "");
    let folder = std::env::temp_dir().join(format!("formgate-demo-{}", demo.id()));
    let mode = std::fs::metadata(folder.join("demo.key")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777;
    let _ = demo.kill();
    let _ = demo.wait();
    let _ = std::fs::remove_dir_all(folder);
    assert!(got && form.contains(r#""s":{"#), "{form}");
    assert!(acted && answer.contains("HTTP/2 200"), "{answer}");
    assert_eq!(mode, 0o600);
}
