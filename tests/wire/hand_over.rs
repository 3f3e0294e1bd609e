//! SIGUSR2 replaces the process: a new one takes over the sockets and not a request is lost (P11); one that does
//! not come to serve changes nothing.

use crate::support::{Backend, Client, Gate, MEETING, MEETING_BODY, Request, Setup, eventually};
use std::os::unix::process::CommandExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// The process that answers on the admin listener now.
fn pid(gate: &Gate) -> Option<u32> {
    let mut client = Client::try_connect(gate.admin).ok()?;
    let host = gate.admin.to_string();
    let page = client.try_exchange(&Request::new("GET", "/-/snapshot").host(Some(&host))).ok()?;
    let page: serde_json::Value = serde_json::from_slice(&page.body).ok()?;
    u32::try_from(page["pid"].as_u64()?).ok()
}

/// Ends processes that the gate does not know of.
struct Heirs<'g>(&'g Gate, u32);

impl Drop for Heirs<'_> {
    fn drop(&mut self) {
        // The whole group, the gate included: its output ends only with the last of them.
        let group = format!("-{}", self.1);
        let _ = std::process::Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = pid(self.0);
    }
}

fn start(setup: &Setup) -> Gate {
    Gate::start_with(setup, |command| {
        command.process_group(0);
    })
}

#[test]
fn not_a_request_is_lost() {
    let backend = Backend::agreeing();
    let mut gate = start(&Setup::meeting(&backend));
    let first = pid(&gate).unwrap();
    let heirs = Heirs(&gate, first);
    let (done, acts) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = gate.client();
                while !done.load(Ordering::Relaxed) {
                    let response = client.exchange(&Request::post(MEETING, MEETING_BODY));
                    assert_eq!(response.status, 200, "{}", response.head);
                    acts.fetch_add(1, Ordering::Relaxed);
                    if response.field("connection").is_some() {
                        client = gate.client();
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(200));
        gate.signal("USR2");
        eventually("a new process answers", || pid(&gate).is_some_and(|pid| pid != first));
        let before = acts.load(Ordering::Relaxed);
        eventually("it acts", || acts.load(Ordering::Relaxed) > before + 200);
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(backend.count(), acts.load(Ordering::Relaxed));
    // And the new one can be replaced in its turn.
    let second = pid(&gate).unwrap();
    let told = std::process::Command::new("kill").args(["-USR2", &second.to_string()]).status();
    assert!(told.unwrap().success());
    eventually("a third process answers", || pid(&gate).is_some_and(|pid| pid != first && pid != second));
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
    drop(heirs);
    let _ = gate.wait(Duration::from_secs(5));
}

#[test]
fn a_process_that_cannot_serve_replaces_nothing() {
    let backend = Backend::agreeing();
    let gate = start(&Setup::meeting(&backend).with("watch", "off"));
    let first = pid(&gate).unwrap();
    let _heirs = Heirs(&gate, first);
    gate.replace("gateway.yaml", "routes: [");
    gate.signal("USR2");
    eventually("it says so", || gate.log().contains("not replaced"));
    assert_eq!(pid(&gate), Some(first));
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
}
