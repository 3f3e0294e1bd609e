//! `store: { file: … }`: records outlive the process, and a file that cannot be used is said to be so, at start with
//! the path, at run time by turning new acts away (B-30, P5).

use super::idempotency::{counted, counting, keyed, replayed, setup};
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Setup, eventually};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) fn with_file(backend: &Backend, file: &Path) -> Setup {
    setup(backend, "optional").with("store", json!({ "file": file }))
}

/// Stopped as asked, or killed: what was answered is there afterwards, byte for byte.
#[test]
fn a_restart_keeps_what_was_done() {
    let backend = counting(Duration::ZERO);
    let dir = tempfile::tempdir().unwrap();
    let setup = with_file(&backend, &dir.path().join("records.db"));
    let mut gate = Gate::start(&setup);
    let first = gate.exchange(&keyed("k"));
    assert!(gate.stop().success());
    let left: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "a stop leaves the file and its lock: {left:?}");
    let gate = Gate::start(&setup);
    replayed(&first, &gate.exchange(&keyed("k")));
    let second = gate.exchange(&keyed("l"));
    gate.signal("KILL");
    drop(gate);
    let gate = Gate::start(&setup);
    replayed(&first, &gate.exchange(&keyed("k")));
    replayed(&second, &gate.exchange(&keyed("l")));
    assert_eq!(backend.count(), 2);
    // Answers may be private: nobody else on the machine reads them.
    let mode = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("records.db"), mode("records.db-wal"), mode("records.db.lock")), (0o600, 0o600, 0o600));
}

/// Killed between the record and the answer: it may have happened, and is never done again.
#[test]
fn an_act_that_a_kill_cut_off_is_never_done_again() {
    let backend = counting(Duration::from_secs(30));
    let dir = tempfile::tempdir().unwrap();
    let setup = with_file(&backend, &dir.path().join("records.db"));
    let gate = Gate::start(&setup);
    let mut cut_off = gate.client();
    cut_off.send(&keyed("k").bytes());
    eventually("it is under way", || backend.count() == 1);
    gate.signal("KILL");
    drop(gate);
    let gate = Gate::start(&setup);
    for _ in 0..3 {
        assert_eq!(gate.exchange(&keyed("k")).status, 504);
    }
    assert_eq!(gate.exchange(&keyed("k").body(super::idempotency::OTHER_BODY)).status, 204);
    assert_eq!(backend.count(), 1);
    counted(&gate, "unknown", 3);
}

/// A path relative to the config; and memory, where nothing is named, writes nothing.
#[test]
fn a_path_is_relative_to_the_config() {
    let backend = counting(Duration::ZERO);
    let gate = setup(&backend, "optional").with("store", json!({ "file": "own.db" })).start();
    assert_eq!(gate.exchange(&keyed("k")).status, 200);
    assert!(gate.dir.path().join("own.db").exists());
    let gate = setup(&backend, "optional").with("store", "memory").start();
    assert_eq!(gate.exchange(&keyed("k")).status, 200);
    assert_eq!(std::fs::read_dir(gate.dir.path()).unwrap().count(), 2, "the config and its forms");
}

/// What `serve` says of a file that it cannot use, and its exit code.
#[track_caller]
fn refused(file: &Path, words: &str) {
    let backend = counting(Duration::ZERO);
    let setup = with_file(&backend, file);
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in &setup.files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let config = dir.path().join("gateway.yaml");
    std::fs::write(&config, setup.text()).unwrap();
    let formgate = |verb: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_formgate"));
        command.arg(verb).arg(&config).stdin(Stdio::null()).output().unwrap()
    };
    let output = formgate("serve");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(70), "{said}");
    for part in [words, file.to_str().unwrap(), "cannot keep records in"] {
        assert!(said.contains(part), "{part:?} is not said: {said}");
    }
    assert!(!said.contains("panicked") && !said.contains("listening on"), "{said}");
    // `check` looks at the configuration, wherever it runs: the file is the serving machine's.
    assert_eq!(formgate("check").status.code(), Some(0));
}

#[test]
fn a_file_that_cannot_be_used_is_refused_at_start_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let written = |name: &str, bytes: &[u8]| {
        std::fs::write(at(name), bytes).unwrap();
        at(name)
    };
    refused(&at("missing/records.db"), "is not there");
    refused(dir.path(), "directory");
    // Not even root writes there.
    refused(Path::new("/sys/formgate-records.db"), "cannot be opened");
    refused(&written("garbage.db", &[b'x'; 8192]), "not a database");
    refused(&written("text.db", b"records"), "not a database");

    // A store in use, then damaged in the middle.
    let good = at("good.db");
    let backend = counting(Duration::ZERO);
    let mut gate = Gate::start(&with_file(&backend, &good));
    for number in 0..200 {
        assert_eq!(gate.exchange(&keyed(&number.to_string())).status, 200);
    }
    assert!(gate.stop().success());
    let bytes = std::fs::read(&good).unwrap();
    assert!(bytes.len() > 16 * 4096, "{}", bytes.len());
    let mut damaged = bytes.clone();
    damaged[4 * 4096..12 * 4096].fill(0xa5);
    refused(&written("damaged.db", &damaged), "it is damaged");
    refused(&written("short.db", &bytes[..bytes.len() / 2]), "it is damaged");

    // Of a later formgate (`user_version`, at 60), and of something else (`application_id`, at 68).
    let mut later = bytes.clone();
    later[60..64].copy_from_slice(&2u32.to_be_bytes());
    refused(&written("later.db", &later), "written by a newer formgate");
    let mut other = bytes;
    other[68..72].copy_from_slice(&7u32.to_be_bytes());
    refused(&written("other.db", &other), "a database of something else");
}

/// Taken away while it is open: another process would write into another file. Nothing is begun any more.
#[test]
fn a_file_that_is_taken_away_stops_new_acts_and_nothing_else() {
    let backend = counting(Duration::ZERO);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("records.db");
    let gate = Gate::start(&with_file(&backend, &file));
    let first = gate.exchange(&keyed("k"));
    let aside = dir.path().join("aside.db");
    std::fs::rename(&file, &aside).unwrap();
    let began = Instant::now();
    for key in ["k", "l"] {
        let down = gate.exchange(&keyed(key));
        assert_eq!((down.status, down.body.len()), (503, 0), "{}", down.head);
        assert!(down.field("retry-after").is_some());
    }
    std::fs::write(&file, b"").unwrap();
    assert_eq!(gate.exchange(&keyed("l")).status, 503);
    assert!(began.elapsed() < Duration::from_secs(3), "told only when patience was over");
    assert_eq!(backend.count(), 1);
    counted(&gate, "down", 3);
    assert!(gate.metrics().counts("formgate_records_down", &[], 1));
    let ready = gate.ask_admin("GET", "/readyz");
    assert_eq!(ready.status, 200);
    assert!(ready.json()["records_down"]["cause"].as_str().unwrap().contains("replaced"), "{}", ready.text());
    assert!(gate.log().contains("the records cannot be reached"), "{}", gate.log());
    assert_eq!((gate.post(MEETING, MEETING_BODY).status, gate.get(MEETING).status), (200, 200));
    // Put back, it goes on where it was.
    std::fs::rename(&aside, &file).unwrap();
    replayed(&first, &gate.exchange(&keyed("k")));
    assert_eq!(gate.exchange(&keyed("l")).status, 200);
    assert!(gate.metrics().counts("formgate_records_down", &[], 0));
    assert!(gate.ask_admin("GET", "/readyz").json()["records_down"].is_null());
}

/// Makes writes below a folder fail, as on a full disk, while a file says so: no mount and no quota is needed.
fn failing_writes(dir: &Path) -> PathBuf {
    let source = dir.join("full.c");
    let library = dir.join("full.so");
    std::fs::write(&source, include_str!("full.c")).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    assert!(cc.status().unwrap().success(), "the C compiler that builds formgate builds this");
    library
}

/// 503 and nothing sent while the disk is full; healed without a restart. A disk that fails to write is the same.
#[test]
fn a_full_disk_stops_new_acts_until_there_is_room() {
    let backend = counting(Duration::ZERO);
    let dir = tempfile::tempdir().unwrap();
    let (library, switch) = (failing_writes(dir.path()), dir.path().join("switch"));
    let file = dir.path().join("records.db");
    let gate = Gate::start_with(&with_file(&backend, &file), |command| {
        command.env("LD_PRELOAD", &library).env("FULL_SWITCH", &switch).env("FULL_FOR", &file);
    });
    let first = gate.exchange(&keyed("k"));
    assert_eq!(first.status, 200);
    let (mut acts, mut downs) = (1, 0);
    for error in ["ENOSPC", "EIO", "EROFS", "fsync"] {
        std::fs::write(&switch, error).unwrap();
        for number in 0..3 {
            let down = gate.exchange(&keyed(&format!("{error}-{number}")));
            assert_eq!((down.status, down.body.len()), (503, 0), "{error}: {}", down.head);
        }
        downs += 3;
        counted(&gate, "down", downs);
        assert_eq!(backend.count(), acts, "{error}: sent without a record");
        assert!(gate.metrics().counts("formgate_records_down", &[], 1), "{error}");
        // What was done before is told all the same: it is there to be read.
        replayed(&first, &gate.exchange(&keyed("k")));
        std::fs::remove_file(&switch).unwrap();
        assert_eq!(gate.exchange(&keyed(&format!("{error}-0"))).status, 200, "{error}: not healed");
        acts += 1;
        assert_eq!(backend.count(), acts);
        assert!(gate.metrics().counts("formgate_records_down", &[], 0), "{error}");
    }
    replayed(&first, &gate.exchange(&keyed("k")));
    assert!(!gate.written().contains("panicked"));
}

/// Full already at start: said, with the path.
#[test]
fn a_full_disk_at_start_is_said() {
    let backend = counting(Duration::ZERO);
    let dir = tempfile::tempdir().unwrap();
    let (library, switch) = (failing_writes(dir.path()), dir.path().join("switch"));
    let file = dir.path().join("records.db");
    std::fs::write(&switch, "ENOSPC").unwrap();
    let setup = with_file(&backend, &file);
    let started = std::panic::catch_unwind(|| {
        Gate::start_with(&setup, |command| {
            command.env("LD_PRELOAD", &library).env("FULL_SWITCH", &switch).env("FULL_FOR", &file);
        })
    });
    let said = started.err().and_then(|panic| panic.downcast::<String>().ok()).expect("it does not start");
    assert!(said.contains("full") && said.contains("cannot keep records in"), "{said}");
}

/// The record of an end that cannot be written: the client is told the truth, and the act is not done again.
#[test]
fn an_end_that_cannot_be_recorded_is_told_and_not_repeated() {
    let backend = counting(Duration::from_millis(400));
    let dir = tempfile::tempdir().unwrap();
    let (library, switch) = (failing_writes(dir.path()), dir.path().join("switch"));
    let file = dir.path().join("records.db");
    let setup = with_file(&backend, &file).with("routes/0/idempotency", json!({ "wait": "100ms" }));
    let gate = Gate::start_with(&setup, |command| {
        command.env("LD_PRELOAD", &library).env("FULL_SWITCH", &switch).env("FULL_FOR", &file);
    });
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gate.exchange(&keyed("k")));
        eventually("it is under way", || backend.count() == 1);
        std::fs::write(&switch, "ENOSPC").unwrap();
        assert_eq!(first.join().unwrap().status, 200);
    });
    std::fs::remove_file(&switch).unwrap();
    let again = gate.exchange(&keyed("k"));
    assert!([409, 504].contains(&again.status), "{}", again.head);
    assert_eq!(backend.count(), 1);
    assert!(gate.log().contains("its record could not be written"), "{}", gate.log());
}
