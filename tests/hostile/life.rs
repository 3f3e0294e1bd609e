//! Reload and life cycle under load (issue 3, item 8): killed and started again, stopped with acts in flight, files half
//! written, links flipped, no room for logs. Socket hand-over is issue 6.

use super::turn;
use crate::support::backend::json;
use crate::support::gate::replace;
use crate::support::{After, Backend, Client, Gate, Loss, MEETING, MEETING_BODY, Request, Setup, eventually};
use std::collections::HashMap;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn numbered(n: usize) -> Request {
    Request::post(MEETING, format!(r#"{{"title":"act {n}","displayName":"A"}}"#))
}

/// How often each act was seen.
fn times(backend: &Backend) -> HashMap<Vec<u8>, usize> {
    let mut times = HashMap::new();
    for seen in backend.seen() {
        *times.entry(seen.body).or_default() += 1;
    }
    times
}

fn slow_echo(millis: u64) -> Backend {
    Backend::scripted(move |seen, stream| {
        std::thread::sleep(Duration::from_millis(millis));
        if stream.write_all(&json(&seen.body)).is_ok() { After::Keep } else { After::Close }
    })
}

/// An address that is free, and most likely still is a moment later.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Killed in the middle of everything, five times: no act is seen twice, every loss is told as one, and the next process
/// takes the same address and the same generation.
#[test]
fn killed_and_started_again_under_load() {
    let _turn = turn();
    let backend = slow_echo(2);
    let addr = free();
    let setup = || Setup::meeting(&backend).with("listen", serde_json::json!([addr.to_string()]));
    let (stop, next, answered, lost) =
        (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let mut tags = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let Ok(mut client) = Client::try_connect(addr) else {
                        std::thread::sleep(Duration::from_millis(5));
                        continue;
                    };
                    loop {
                        let n = next.fetch_add(1, Ordering::SeqCst);
                        match client.try_exchange(&numbered(n)) {
                            Ok(response) => {
                                assert_eq!(response.status, 200);
                                assert!(
                                    response.text().contains(&format!("act {n}\"")),
                                    "{}",
                                    response.text()
                                );
                                answered.fetch_add(1, Ordering::SeqCst);
                            }
                            Err(Loss::Closed(_) | Loss::Reset) => {
                                lost.fetch_add(1, Ordering::SeqCst);
                                break;
                            }
                            Err(loss) => panic!("{loss:?}"),
                        }
                        if stop.load(Ordering::SeqCst) {
                            break;
                        }
                    }
                }
            });
        }
        for _ in 0..5 {
            let gate = setup().start();
            std::thread::sleep(Duration::from_millis(300));
            tags.push(gate.get(MEETING).field("etag").unwrap().to_owned());
            gate.signal("KILL");
            drop(gate);
        }
        stop.store(true, Ordering::SeqCst);
    });
    let times = times(&backend);
    assert!(times.values().all(|times| *times == 1), "seen twice: {times:?}");
    let (answered, lost) = (answered.load(Ordering::SeqCst), lost.load(Ordering::SeqCst));
    assert!(answered <= times.len() && times.len() <= answered + lost, "{answered} {} {lost}", times.len());
    tags.dedup();
    assert_eq!(tags.len(), 1, "another generation: {tags:?}");
    println!("life: killed 5 times: {answered} answered, {lost} lost, {} seen, none twice", times.len());
}

/// A stop with fifty acts in flight: each is finished and told, the exit is 0, no line is lost.
#[test]
fn a_stop_finishes_every_act_in_flight() {
    let _turn = turn();
    let backend = slow_echo(600);
    let mut gate = Setup::meeting(&backend).with("grace", "10s").start();
    let clients: Vec<Client> = (0..50)
        .map(|n| {
            let mut client = gate.client();
            client.send(&numbered(n).bytes());
            client
        })
        .collect();
    eventually("all are in flight", || backend.count() == 50);
    let began = Instant::now();
    gate.signal("TERM");
    for (n, mut client) in clients.into_iter().enumerate() {
        let response = client.receive("POST");
        assert_eq!(response.status, 200);
        assert!(response.text().contains(&format!("act {n}\"")));
    }
    assert_eq!(gate.wait(Duration::from_secs(5)).code(), Some(0));
    assert_eq!(gate.access_lines(50).iter().filter(|line| line["outcome"] == "accepted").count(), 50);
    println!("life: 50 acts in flight finished {:?} after SIGTERM", began.elapsed());
}

/// A stop while clients go on: who gets an answer gets the right one, who gets none was never sent on, or is counted.
#[test]
fn a_stop_under_load_loses_nothing_silently() {
    let _turn = turn();
    let backend = slow_echo(3);
    let mut gate = Setup::meeting(&backend).with("grace", "10s").start();
    let (next, done, turned, lost) =
        (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let addr = gate.addr;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut client = Client::connect(addr);
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    match client.try_exchange(&numbered(n)) {
                        Ok(response) if response.status == 200 => done.fetch_add(1, Ordering::SeqCst),
                        Ok(response) => {
                            assert_eq!(response.status, 503, "{}", response.head);
                            turned.fetch_add(1, Ordering::SeqCst);
                            break;
                        }
                        Err(Loss::Closed(0) | Loss::Reset) => {
                            lost.fetch_add(1, Ordering::SeqCst);
                            break;
                        }
                        Err(loss) => panic!("{loss:?}"),
                    };
                }
            });
        }
        std::thread::sleep(Duration::from_millis(400));
        gate.signal("TERM");
    });
    assert_eq!(gate.wait(Duration::from_secs(12)).code(), Some(0));
    let times = times(&backend);
    let done = done.load(Ordering::SeqCst);
    assert!(times.values().all(|times| *times == 1));
    assert_eq!(times.len(), done, "an act was done and its client not told");
    println!(
        "life: SIGTERM under load: {done} done and told, {} turned away, {} closed between requests",
        turned.load(Ordering::SeqCst),
        lost.load(Ordering::SeqCst)
    );
}

/// A route that says which generation it is; wants member `a` when even, `b` when odd.
fn form(n: usize) -> String {
    let member = if n.is_multiple_of(2) { "a" } else { "b" };
    serde_json::json!({
        "description": format!("Generation {n}."),
        "type": "object",
        "properties": { member: { "type": "integer" } },
        "required": [member],
        "additionalProperties": false,
    })
    .to_string()
}

fn flipping(backend: &Backend) -> Setup {
    Setup::bare(backend)
        .route(serde_json::json!({
            "address": "/flip", "name": "flip", "form": "forms/flip.json",
            "upstream": { "to": "backend", "path": "/legacy" },
        }))
        .file("forms/flip.json", form(0))
        .with("watch", "50ms")
}

/// Acts while `change` goes on; every arrival must be a whole generation, every act decided by one.
fn under_load(gate: &Gate, change: impl FnOnce()) -> usize {
    let (stop, acts) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for start in 0..3_usize {
            scope.spawn({
                let (stop, acts) = (&stop, &acts);
                move || {
                    let (mut client, mut n) = (gate.client(), start);
                    while !stop.load(Ordering::SeqCst) {
                        n += 1;
                        let arrival = client.exchange(&Request::get("/flip"));
                        let s = arrival.json()["s"].clone();
                        let number: usize =
                            s["description"].as_str().unwrap()[11..].trim_end_matches('.').parse().unwrap();
                        assert_eq!(
                            s["required"][0],
                            if number.is_multiple_of(2) { "a" } else { "b" },
                            "mixed"
                        );
                        let member = if n.is_multiple_of(2) { "a" } else { "b" };
                        let status =
                            client.exchange(&Request::post("/flip", format!("{{\"{member}\":1}}"))).status;
                        assert!(matches!(status, 200 | 204), "{status}");
                        acts.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        let changed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(change));
        stop.store(true, Ordering::SeqCst);
        if let Err(fault) = changed {
            std::panic::resume_unwind(fault);
        }
    });
    acts.load(Ordering::SeqCst)
}

fn generation(gate: &Gate) -> String {
    gate.get("/flip").json()["s"]["description"].as_str().unwrap().to_owned()
}

/// Files that are written slowly, in place: half a file is never a generation, the whole one is.
#[test]
fn files_half_written_under_load() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let gate = flipping(&backend).start();
    let path = gate.dir.path().join("forms/flip.json");
    let acts = under_load(&gate, || {
        for n in 1..=6 {
            let text = form(n);
            let mut file = std::fs::File::create(&path).unwrap();
            for piece in text.as_bytes().chunks(text.len() / 5) {
                file.write_all(piece).unwrap();
                std::thread::sleep(Duration::from_millis(130));
            }
            drop(file);
            eventually("the whole file is a generation", || generation(&gate) == format!("Generation {n}."));
        }
    });
    let refused = gate.metrics().sum("formgate_reloads_total", &[("result", "refused")]);
    println!("life: 6 files written slowly: {refused} half ones refused, {acts} acts meanwhile");
    assert!(refused > 0.0, "no half file was ever looked at: the test shows nothing");
}

/// As Kubernetes does it: `..data` is renamed over, the old directory removed at once.
#[test]
fn links_flipped_under_load() {
    use std::os::unix::fs::symlink;
    let _turn = turn();
    let backend = Backend::agreeing();
    let gate = flipping(&backend).start();
    let dir = gate.dir.path().join("forms");
    let flip = |n: usize| {
        let name = format!("..{n}");
        std::fs::create_dir(dir.join(&name)).unwrap();
        std::fs::write(dir.join(&name).join("flip.json"), form(n)).unwrap();
        symlink(&name, dir.join("..data_tmp")).unwrap();
        std::fs::rename(dir.join("..data_tmp"), dir.join("..data")).unwrap();
        if n > 0 {
            std::fs::remove_dir_all(dir.join(format!("..{}", n - 1))).unwrap();
        }
    };
    flip(0);
    symlink("..data/flip.json", dir.join("link")).unwrap();
    std::fs::rename(dir.join("link"), dir.join("flip.json")).unwrap();
    let acts = under_load(&gate, || {
        for n in 1..=30 {
            flip(n);
            std::thread::sleep(Duration::from_millis(if n % 3 == 0 { 250 } else { 20 }));
        }
        eventually("the last flip is the generation", || generation(&gate) == "Generation 30.");
    });
    println!("life: 30 flips, {acts} acts meanwhile");
}

/// No room for the log: requests are served, and the lines that are lost are counted.
#[test]
fn a_full_disk_for_the_log_loses_lines_and_no_requests() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("access_log", "/dev/full").start();
    let mut client = gate.client();
    for _ in 0..300 {
        assert_eq!(client.exchange(&Request::post(MEETING, MEETING_BODY)).status, 200);
    }
    eventually("each line is counted as lost", || {
        gate.metrics().counts("formgate_access_lines_lost_total", &[], 300)
    });
    assert!(gate.metrics().counts("formgate_requests_total", &[], 300));
}

/// A process whose output goes where the test says; killed when dropped.
struct Bare {
    child: Child,
    addr: SocketAddr,
    _dir: tempfile::TempDir,
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bare(backend: &Backend, out: Stdio, err: Stdio) -> Bare {
    let addr = free();
    let setup =
        Setup::meeting(backend).with("listen", serde_json::json!([addr.to_string()])).with("watch", "50ms");
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in &setup.files {
        std::fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(dir.path().join(name), bytes).unwrap();
    }
    let config = dir.path().join("gateway.yaml");
    std::fs::write(&config, setup.text()).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_formgate"))
        .arg("serve")
        .arg(&config)
        .env("RUST_LOG", "debug")
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .spawn()
        .unwrap();
    let gate = Bare { child, addr, _dir: dir };
    eventually("it listens", || Client::try_connect(addr).is_ok());
    // Something to say on stderr: a config that is refused, and one that is not.
    replace(&config, b"{");
    std::thread::sleep(Duration::from_millis(400));
    replace(&config, setup.text().as_bytes());
    std::thread::sleep(Duration::from_millis(400));
    gate
}

/// Output that is full, or that nobody reads any more: whatever becomes of the log, requests are served and a stop is a stop.
#[test]
fn output_that_takes_nothing_takes_nothing_down() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let full = || Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let broken = || Stdio::from(std::io::pipe().unwrap().1);
    for (what, out, err) in [("full", full(), full()), ("broken pipes", broken(), broken())] {
        let before = backend.count();
        let mut gate = bare(&backend, out, err);
        for _ in 0..20 {
            let response = Client::connect(gate.addr).exchange(&Request::post(MEETING, MEETING_BODY));
            assert_eq!(response.status, 200, "{what}");
        }
        assert_eq!(backend.count() - before, 20);
        let sent = Command::new("kill").arg("-TERM").arg(gate.child.id().to_string()).status().unwrap();
        assert!(sent.success());
        let began = Instant::now();
        let status = loop {
            match gate.child.try_wait().unwrap() {
                Some(status) => break status,
                None if began.elapsed() > Duration::from_secs(8) => panic!("{what}: does not stop"),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        assert_eq!(status.code(), Some(0), "{what}: {status}");
    }
}
