//! Clocks that step (issue 3, item 8): the wall clock is for dates in answers and lines, never for deadlines and rates.
//! The clock of the gate's process alone is stepped, by `libfaketime` (Debian: `faketime`).

use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request, Setup};
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where Debian puts it, whatever the machine is.
fn library() -> Option<PathBuf> {
    let places = std::fs::read_dir("/usr/lib").ok()?.filter_map(Result::ok);
    places.map(|place| place.path().join("faketime/libfaketime.so.1")).find(|library| library.exists())
}

#[test]
fn steps_of_the_wall_clock_change_dates_and_nothing_else() {
    let Some(library) = library() else {
        println!("clock: NOT RUN: libfaketime is not there (apt-get install faketime)");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let offset = dir.path().join("offset");
    let step = |by: &str| std::fs::write(&offset, by).unwrap();
    step("+0");
    let backend = Backend::agreeing();
    let setup = Setup::meeting(&backend)
        .with("routes/0/limits", json!({ "get": "none", "post": "1/m burst 13", "refused": "none" }))
        .with("routes/0/body_deadline", "500ms")
        .with("watch", "50ms");
    let gate = Gate::start_with(&setup, |command| {
        command
            .env("LD_PRELOAD", &library)
            .env("FAKETIME_TIMESTAMP_FILE", &offset)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
    });
    let mut kept = gate.client();
    let mut years = Vec::new();
    for by in ["+0", "+4000d", "-4000d", "+1h", "-1h"] {
        step(by);
        // A `Date` is kept for a second.
        std::thread::sleep(Duration::from_millis(1100));
        let response = kept.exchange(&Request::post(MEETING, MEETING_BODY));
        assert_eq!(response.status, 200, "{by}");
        years.push(response.field("date").unwrap()[12..16].to_owned());
        let began = Instant::now();
        let mut stalled = gate.client();
        stalled.send(&Request::post(MEETING, MEETING_BODY).head());
        assert_eq!(stalled.receive("POST").status, 408, "{by}");
        let took = began.elapsed();
        assert!(took > Duration::from_millis(400) && took < Duration::from_secs(2), "{by}: {took:?}");
    }
    // Ten of thirteen are spent, and no step has given one back: three are left, whatever the date.
    let left = (0..6).filter(|_| kept.exchange(&Request::post(MEETING, MEETING_BODY)).status == 200).count();
    assert_eq!(left, 3, "a step of the clock forgives rates");
    let began = Instant::now();
    step("-4000d");
    gate.replace("forms/meetings-start.json", r#"{"description":"Nothing.","type":"null"}"#);
    crate::support::eventually("a reload is noticed", || gate.get(MEETING).text().contains("Nothing."));
    assert!(began.elapsed() < Duration::from_secs(5));
    println!("clock: years {years:?}, rates and deadlines as before");
    assert!(years[1] > years[0] && years[2] < years[0], "the clock was not stepped: {years:?}");
}
