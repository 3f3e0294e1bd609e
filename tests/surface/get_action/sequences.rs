//! Every sequence of key, body and state on one gateway (`getaction.json`, U-03 to U-05, B-29, B-30).

use super::{MEMBERS, REJECTED, code, executes, meeting, open, opening, reviews, starts_meetings, told};
use crate::support::backend::{After, json};
use crate::support::{Backend, MEETING, MEETING_BODY, Request, Setup, eventually};
use serde_json::json;
use std::io::Write;
use std::time::{Duration, Instant};

#[test]
fn a_key_is_done_once_and_answered_the_same_ever_after() {
    let backend = starts_meetings();
    let gate = meeting(&backend).start();
    let query = format!("{MEMBERS}&idempotency_key=agent_seq_001");
    let first = gate.exchange(&opening(&query));
    assert_eq!(told(&first).0, "ok");
    // U-05: replay; replay_reordered; nonce is the same key by another name (B-29).
    for again in [
        query.as_str(),
        "idempotency_key=agent_seq_001&displayName=Agent%20Alpha&title=Q3%20Planning",
        "nonce=agent_seq_001&displayName=Agent%20Alpha&title=Q3+Planning&utm_source=chatgpt.com",
    ] {
        let replay = gate.exchange(&opening(again));
        assert_eq!(replay.body, first.body, "{again}");
    }
    assert_eq!(backend.count(), 1);
    // U-04: the same key with another body; the record survives it.
    assert_eq!(
        open(&gate, "title=Other&displayName=Agent+Alpha&idempotency_key=agent_seq_001"),
        ("rejected".to_owned(), REJECTED.to_owned())
    );
    assert_eq!(gate.exchange(&opening(&query)).body, first.body);
    assert_eq!(backend.count(), 1);
    // A key's letters are themselves.
    assert_eq!(code(&gate, &format!("{MEMBERS}&idempotency_key=Agent_seq_001")), "ok");
    assert_eq!(backend.count(), 2);
}

/// A rejection does not burn the key (B-30).
#[test]
fn what_is_rejected_is_not_recorded() {
    let backend = starts_meetings();
    let gate = meeting(&backend).start();
    assert_eq!(code(&gate, "title=&displayName=x&idempotency_key=agent_seq_005"), "rejected");
    assert_eq!(code(&gate, "title=ok&displayName=x&idempotency_key=agent_seq_005"), "ok");
    assert_eq!(backend.count(), 1);
}

#[test]
fn twenty_at_once_are_one_act() {
    let backend = Backend::scripted(|_, stream| {
        std::thread::sleep(Duration::from_millis(300));
        let answer = json(r#"{"joinUrl":"https://meet.example/1"}"#);
        if stream.write_all(&answer).is_ok() { After::Keep } else { After::Close }
    });
    let gate = meeting(&backend).start();
    let query = format!("{MEMBERS}&idempotency_key=agent_seq_004");
    let answers: Vec<_> = std::thread::scope(|scope| {
        let open = || open(&gate, &query);
        let threads: Vec<_> = (0..20).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (code, url) in answers {
        assert_eq!(
            (code.as_str(), url.as_str()),
            ("ok", "https://meet.example/1"),
            "they wait for the first"
        );
    }
    assert_eq!(backend.count(), 1);
}

/// While the first is under way longer than `wait`, others are told to stop; and when nobody knows what became of it.
#[test]
fn what_is_pending_or_unknown_is_for_a_person_and_never_sent_again() {
    let backend = Backend::scripted(|_, _| {
        std::thread::sleep(Duration::from_millis(2500));
        After::Close
    });
    let mut action = executes();
    action["wait"] = json!("200ms");
    let gate = meeting(&backend)
        .with("routes/0/get_action", action)
        .with("upstreams/backend/timeouts/exchange", "1500ms")
        .start();
    let query = format!("{MEMBERS}&idempotency_key=agent_seq_006");
    let review = ("human_review_required".to_owned(), "https://example.org/review/agent_seq_006".to_owned());
    std::thread::scope(|scope| {
        let first = scope.spawn(|| open(&gate, &query));
        eventually("the first is at the backend", || backend.count() == 1);
        let began = Instant::now();
        assert_eq!(open(&gate, &query), review, "pending");
        assert!(
            began.elapsed() >= Duration::from_millis(200) && began.elapsed() < Duration::from_millis(1200)
        );
        assert_eq!(
            code(&gate, "title=b&displayName=c&idempotency_key=agent_seq_006"),
            "rejected",
            "another body"
        );
        assert_eq!(first.join().unwrap(), review, "the upstream hung");
    });
    for _ in 0..3 {
        assert_eq!(open(&gate, &query), review, "unknown");
    }
    assert_eq!(backend.count(), 1);
    let lines = gate.access_lines(6);
    let replays: Vec<_> = lines.iter().map(|line| line["replay"].as_str().unwrap()).collect();
    assert_eq!(replays.iter().filter(|state| **state == "unknown").count(), 3, "{replays:?}");
    for state in ["pending", "conflict", "fresh"] {
        assert_eq!(replays.iter().filter(|have| **have == state).count(), 1, "{replays:?}");
    }
}

/// `execute: false`: validated and recorded, a person decides, the upstream hears nothing (B-32, U-22).
#[test]
fn without_execute_a_person_decides() {
    let backend = starts_meetings();
    let action = reviews("https://example.org/review/{key}", &json!({ "title": "a", "displayName": "b" }));
    let gate = meeting(&backend).with("routes/0/get_action", action).start();
    let query = format!("{MEMBERS}&nonce=agent_seq_020");
    let review = ("human_review_required".to_owned(), "https://example.org/review/agent_seq_020".to_owned());
    assert_eq!(open(&gate, &query), review);
    assert_eq!(open(&gate, &query), review);
    assert_eq!(code(&gate, "title=b&displayName=c&nonce=agent_seq_020"), "rejected", "it was recorded");
    assert_eq!(code(&gate, "title=&displayName=c&nonce=agent_seq_021"), "rejected", "it is validated");
    backend.untouched();
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200, "U-09: the same by POST");
    assert_eq!(backend.count(), 1);
}

/// One key on two routes, and by two methods: acts of their own.
#[test]
fn keys_belong_to_one_route_and_to_its_get() {
    let backend = starts_meetings();
    let mut setup = meeting(&backend).case_route("review-request");
    let mut action = executes();
    action["example"] = json!({ "subject": "handoff" });
    setup = setup.with("routes/1/get_action", action);
    let gate = setup.start();
    assert_eq!(code(&gate, &format!("{MEMBERS}&nonce=agent_seq_010")), "ok");
    let other = gate.get("/api/v2/review-request?subject=handoff&nonce=agent_seq_010");
    assert_eq!(told(&other).0, "ok");
    let post = Request::post(MEETING, MEETING_BODY).field("Idempotency-Key", "agent_seq_010");
    assert_eq!(gate.exchange(&post).status, 200);
    assert_eq!(backend.count(), 3);
}

/// Records are the process's, not the generation's (B-15): a reload forgets none, also when the form has changed.
#[test]
fn a_reload_forgets_no_key() {
    let backend = starts_meetings();
    let gate = meeting(&backend).start();
    let query = format!("{MEMBERS}&idempotency_key=agent_seq_007");
    let first = open(&gate, &query);
    gate.replace("forms/meetings-start.json", r#"{
        "type": "object", "properties": { "title": { "type": "string", "maxLength": 3 }, "displayName": { "type": "string", "maxLength": 40 } },
        "required": ["title"], "additionalProperties": false, "description": "Shorter." }"#);
    let broken = gate.reload();
    assert!(
        broken.text().contains("cannot be spelled"),
        "the example does not fit any more: {}",
        broken.text()
    );
    gate.replace("forms/meetings-start.json", r#"{
        "type": "object", "properties": { "title": { "type": "string", "maxLength": 40 }, "displayName": { "type": "string", "maxLength": 40 } },
        "required": ["title"], "additionalProperties": false, "description": "Shorter." }"#);
    assert_eq!(gate.reload().status, 200);
    assert!(gate.get(MEETING).text().contains("Shorter."));
    assert_eq!(open(&gate, &query), first);
    assert_eq!(backend.count(), 1);
}

/// The same while the first one is still under way: nobody is told that nothing was done (U-20).
#[test]
fn who_repeats_during_a_reload_waits_for_the_first() {
    let backend = Backend::scripted(|_, stream| {
        std::thread::sleep(Duration::from_millis(1500));
        let body = r#"{"id":1,"joinUrl":"https://meet.example/1"}"#;
        if stream.write_all(&json(body)).is_ok() { After::Keep } else { After::Close }
    });
    let gate = meeting(&backend).start();
    let query = "title=A+title+that+is+long+by+the+new+form&displayName=Ada&idempotency_key=agent_seq_008";
    std::thread::scope(|scope| {
        let first = scope.spawn(|| open(&gate, query));
        eventually("the first is under way", || backend.count() == 1);
        gate.replace("forms/meetings-start.json", r#"{
            "type": "object", "properties": { "title": { "type": "string", "maxLength": 20 }, "displayName": { "type": "string", "maxLength": 40 } },
            "required": ["title"], "additionalProperties": false, "description": "Shorter." }"#);
        assert_eq!(gate.reload().status, 200);
        assert!(gate.get(MEETING).text().contains("Shorter."));
        let again = open(&gate, query);
        assert_eq!(again, first.join().unwrap());
        assert_eq!(again.0, "ok");
    });
    assert_eq!(backend.count(), 1);
}

/// Bare GETs, and GETs that name neither key nor member, are the same arrival for everyone (P8, U-25, B-25).
#[test]
fn other_gets_are_arrivals() {
    let backend = starts_meetings();
    let gate = meeting(&backend).start();
    let plain = gate.get(MEETING);
    assert_eq!(plain.status, 200);
    assert!(plain.json().get("s").is_some());
    for query in [
        "",
        "x=1",
        "utm_source=chatgpt.com",
        "Title=Q3",
        "title[]=Q3",
        "IDEMPOTENCY_KEY=abcdefgh",
        "key=abcdefgh",
        "%ZZ=1",
        "&&",
        "=title",
        "token=abc",
        "utm_title=title",
        "x=title",
    ] {
        let arrival = gate.get(&format!("{MEETING}?{query}"));
        assert_eq!((&arrival.body, arrival.constant_head()), (&plain.body, plain.constant_head()), "{query}");
    }
    // Named, even without a value or percent-encoded, it is an attempt.
    for query in ["title", "nonce", "%74itle=a", "x=1&recording=true", "idempotency_key="] {
        assert_eq!(code(&gate, query), "rejected", "{query}");
    }
    // A route that has none answers the same URL with its form (U-01).
    let without = Setup::meeting(&backend).start();
    let form = without.get(&format!("{MEETING}?{MEMBERS}&nonce=agent_seq_030"));
    assert!(form.json().get("s").is_some());
    backend.untouched();
}
