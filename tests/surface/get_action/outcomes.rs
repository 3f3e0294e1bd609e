//! What the upstream's answer becomes (REQUIREMENTS B-1, third column), where `ok` leads (B-31), and what is kept.

use super::{MEMBERS, REJECTED, executes, meeting, open, opening, told};
use crate::support::backend::{After, answer, json, nobody, reset};
use crate::support::{Backend, Setup};
use serde_json::json;
use std::io::Write;

const REVIEW: &str = "https://example.org/review/agent_seq_100";

/// Opens twice; both answers, and how often the upstream was asked.
fn twice(bytes: Vec<u8>, adjust: impl FnOnce(Setup) -> Setup) -> ([(u16, String, String); 2], usize) {
    let backend = Backend::answering(bytes);
    let gate = adjust(meeting(&backend)).start();
    let open = || {
        let response = gate.exchange(&opening(&format!("{MEMBERS}&idempotency_key=agent_seq_100")));
        let (code, url) = told(&response);
        (response.status, code, url)
    };
    ([open(), open()], backend.count())
}

#[test]
fn the_table() {
    let plain = "Content-Type: application/json\r\n";
    // Status, code, how often the same URL opened twice reaches the upstream.
    let rows = [
        (json(r#"{"joinUrl":"https://meet.example/1"}"#), 200, "ok", 1),
        (
            answer("202 Accepted", plain, r#"{"joinUrl":"https://meet.example/1"}"#),
            200,
            "human_review_required",
            1,
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), 200, "ok", 1),
        (answer("200 OK", "Content-Type: text/html\r\n", "<p>"), 200, "ok", 1),
        (answer("200 OK", plain, "{"), 200, "ok", 1),
        (answer("302 Found", "Location: /login\r\n", ""), 200, "human_review_required", 1),
        (answer("400 Bad Request", plain, "{}"), 200, "rejected", 1),
        (answer("404 Not Found", plain, "{}"), 200, "rejected", 1),
        (answer("409 Conflict", plain, "{}"), 200, "rejected", 1),
        (answer("422 No", plain, "{}"), 200, "rejected", 1),
        (answer("401 Unauthorized", plain, "{}"), 200, "human_review_required", 1),
        (answer("405 No", plain, "{}"), 200, "human_review_required", 1),
        (answer("429 Slow", "Retry-After: 7\r\n", ""), 429, "rejected", 2),
        (answer("500 Oops", plain, "{}"), 200, "human_review_required", 1),
        (answer("503 Oops", plain, "{}"), 200, "human_review_required", 1),
    ];
    for (bytes, status, code, sent) in rows {
        let line = String::from_utf8_lossy(&bytes).lines().next().unwrap().to_owned();
        let ([first, second], count) = twice(bytes, |setup| setup);
        assert_eq!((first.0, first.1.as_str()), (status, code), "{line}");
        assert_eq!(first, second, "{line}: the same answer again");
        assert_eq!(count, sent, "{line}: sent");
        match code {
            "rejected" => assert_eq!(first.2, REJECTED, "{line}: constant"),
            "human_review_required" => assert_eq!(first.2, REVIEW, "{line}"),
            _ => assert!(first.2.starts_with("https://"), "{line}"),
        }
    }
}

/// No connection, no act: the key is free again. A reset after the first byte: unknown, never sent again.
#[test]
fn what_was_not_sent_may_be_tried_again_and_what_may_have_been_may_not() {
    let gate = {
        let setup = Setup::towards(&format!("http://{}", nobody())).case_route("meetings-start");
        setup.with("public_url", "https://api.example.com").with("routes/0/get_action", executes()).start()
    };
    let query = format!("{MEMBERS}&idempotency_key=agent_seq_101");
    for _ in 0..2 {
        assert_eq!(open(&gate, &query), ("rejected".to_owned(), REJECTED.to_owned()));
    }
    assert_eq!(open(&gate, "title=b&displayName=c&idempotency_key=agent_seq_101").0, "rejected");
    let lines = gate.access_lines(3);
    assert!(
        lines.iter().all(|line| line["replay"] == "fresh" && line["outcome"] == "unavailable"),
        "{lines:#?}"
    );

    let backend = Backend::scripted(|_, stream| {
        reset(stream);
        After::Reset
    });
    let gate = meeting(&backend).start();
    for _ in 0..2 {
        assert_eq!(open(&gate, &query).0, "human_review_required");
    }
    assert_eq!(backend.count(), 1);
}

/// B-31: the pointer's URL only when it is public and listed; else the receipt, for the act was done.
#[test]
fn ok_leads_where_it_may() {
    let other = |url: &str| json(format!(r#"{{"joinUrl":{}}}"#, json!(url)));
    for (bytes, allowed) in [
        (other("https://meet.example/a?room=1#x"), true),
        (other("https://MEET.EXAMPLE/a"), true),
        (other("http://meet.example/a"), false),
        (other("https://evil.example/a"), false),
        (other("https://meet.example@evil.example/a"), false),
        (other("https://meet.example.evil.example/a"), false),
        (other("https://meet.example/a?access_token=x"), false),
        (other("https://meet.example/a b"), false),
        (other("javascript:alert(1)"), false),
        (json(r#"{"joinUrl":7}"#), false),
        (json(r#"{"other":"https://meet.example/a"}"#), false),
        (json("[]"), false),
    ] {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let ([first, second], _) = twice(bytes, |setup| setup);
        assert_eq!(first, second);
        assert_eq!(first.1, "ok");
        let receipt = first.2.strip_prefix("https://api.example.com/r/");
        assert_eq!(receipt.is_none(), allowed, "{}: {text}", first.2);
        if let Some(id) = receipt {
            assert!(id.len() == 32 && id.bytes().all(|byte| b"0123456789abcdef".contains(&byte)), "{id}");
        }
    }
    let template = |setup: Setup| {
        setup.with(
            "routes/0/get_action/result_url",
            json!({ "template": "https://example.org/meetings/{key}" }),
        )
    };
    let ([first, _], _) = twice(json("{}"), template);
    assert_eq!(first.2, "https://example.org/meetings/agent_seq_100");
}

/// A 429 of the upstream's passes its wait on.
#[test]
fn the_upstreams_wait_is_passed_on() {
    let backend = Backend::answering(answer("429 Slow", "Retry-After: 7\r\n", ""));
    let gate = meeting(&backend).start();
    let response = gate.exchange(&opening(&format!("{MEMBERS}&nonce=agent_seq_102")));
    assert_eq!((response.status, response.field("retry-after")), (429, Some("7")));
}

/// A client that leaves while the upstream works loses nothing: the answer is there when it comes back.
#[test]
fn leaving_in_the_middle_does_not_lose_the_act() {
    let backend = Backend::scripted(|_, stream| {
        std::thread::sleep(std::time::Duration::from_millis(300));
        let answer = json(r#"{"joinUrl":"https://meet.example/1"}"#);
        if stream.write_all(&answer).is_ok() { After::Keep } else { After::Close }
    });
    let gate = meeting(&backend).start();
    let query = format!("{MEMBERS}&nonce=agent_seq_103");
    let mut client = gate.client();
    client.send(&opening(&query).bytes());
    crate::support::eventually("it is at the backend", || backend.count() == 1);
    client.reset();
    let (code, _) = open(&gate, &query);
    assert!(["ok", "human_review_required"].contains(&code.as_str()), "{code}");
    assert_eq!(backend.count(), 1);
}

/// The same over HTTP/2.
#[test]
fn http2_opens_as_http1_does() {
    use crate::wire::http2;
    let backend = super::starts_meetings();
    let gate = meeting(&backend).start();
    let query = format!("{MEMBERS}&nonce=agent_seq_106");
    let opened = http2::run(async {
        let client = http2::open(gate.addr).await;
        let get = || http2::request("GET", &format!("{}?{query}", crate::support::MEETING));
        let first = http2::exchange(&client, get(), &[]).await.unwrap();
        let again = http2::exchange(&client, get(), &[]).await.unwrap();
        assert_eq!((again.status, &again.body), (first.status, &first.body));
        assert_eq!(
            (first.field("x-robots-tag"), first.field("cache-control")),
            (Some("noindex, nofollow"), Some("no-store"))
        );
        let with_body = http2::exchange(&client, get(), &[b"{}"]).await.unwrap();
        assert!(with_body.body.starts_with(br#"{"code":"rejected","#));
        first
    });
    assert_eq!(gate.exchange(&opening(&query)).body, opened.body, "one record, whatever the protocol");
    assert!(opened.body.starts_with(br#"{"code":"ok","url":"https://meet.example/"#));
    assert_eq!(backend.count(), 1);
}

/// Whatever happens inside, the answer has its two keys, and does not say that nothing was done (U-06).
#[test]
fn the_unforeseen_is_for_a_person() {
    let backend = super::starts_meetings();
    let setup = meeting(&backend);
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in &setup.files {
        std::fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(dir.path().join(name), bytes).unwrap();
    }
    std::fs::write(dir.path().join("gateway.yaml"), setup.text()).unwrap();
    let gateway = formgate::config::load(&dir.path().join("gateway.yaml")).unwrap().gateway;
    let told = |method: &'static str, query: Option<&str>| {
        let nothing = formgate::gateway::Head::nothing([127, 0, 0, 1].into());
        let head = formgate::gateway::Head { method, path: crate::support::MEETING, query, ..nothing };
        gateway.unforeseen(&head).map(|told| String::from_utf8(told.reply.body.to_vec()).unwrap())
    };
    let query = format!("{MEMBERS}&nonce=agent_seq_107");
    let review = r#"{"code":"human_review_required","url":"https://example.org/review/agent_seq_107"}"#;
    assert_eq!(told("GET", Some(&query)).as_deref(), Some(review));
    assert_eq!(told("GET", Some("title=x")), Some(format!(r#"{{"code":"rejected","url":"{REJECTED}"}}"#)));
    for (method, query) in [("GET", None), ("GET", Some("x=1")), ("POST", Some(query.as_str()))] {
        assert_eq!(told(method, query), None);
    }
}

/// While stopping: what was done is told, nothing new is begun, and the answer keeps its shape.
#[test]
fn a_gateway_that_stops_answers_with_two_keys() {
    let backend = super::starts_meetings();
    let slow = Backend::scripted(|_, stream| {
        std::thread::sleep(std::time::Duration::from_millis(1500));
        if stream.write_all(&json("{}")).is_ok() { After::Keep } else { After::Close }
    });
    let url = slow.url();
    let setup = meeting(&backend)
        .with("upstreams/slow", json!({ "servers": [url] }))
        .inline_route("slow", &json!({ "type": "null" }))
        .with("routes/1/upstream/to", "slow");
    let mut gate = setup.start();
    let done = format!("{MEMBERS}&nonce=agent_seq_104");
    let before = open(&gate, &done);
    let (mut again, mut fresh, mut holds) = (gate.client(), gate.client(), gate.client());
    holds.send(&crate::support::Request::post("/slow", "null").bytes());
    crate::support::eventually("one is under way", || slow.count() == 1);
    // Connections that have said nothing yet are closed; these two are in the middle of a head.
    let [old, new] = [&done, "title=a&displayName=b&nonce=agent_seq_105"].map(|query| opening(query).bytes());
    again.send(&old[..old.len() - 2]);
    fresh.send(&new[..new.len() - 2]);
    gate.signal("TERM");
    std::thread::sleep(std::time::Duration::from_millis(900));
    again.send(&old[old.len() - 2..]);
    fresh.send(&new[new.len() - 2..]);
    assert_eq!(told(&again.receive("GET")), before);
    assert_eq!(told(&fresh.receive("GET")).0, "rejected");
    assert_eq!(holds.receive("POST").status, 200);
    assert!(gate.wait(crate::support::PATIENCE).success());
    assert_eq!(backend.count(), 1);
}
