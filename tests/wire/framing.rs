//! Requests that could be read two ways are refused, and the connection closed (DESIGN 4 and 10; G-23).
//! The classics of smuggling in full are issue 3's `tests/hostile`; these are the ones pingora's parser lets through.

use crate::support::{Backend, Client, Gate, MEETING, MEETING_BODY, Request, Setup};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(2);

/// A POST whose head is written by hand.
fn head(lines: &str) -> String {
    format!("POST {MEETING} HTTP/1.1\r\nHost: formgate.test\r\nContent-Type: application/json\r\n{lines}\r\n")
}

fn chunked() -> String {
    format!("{:x}\r\n{MEETING_BODY}\r\n0\r\n\r\n", MEETING_BODY.len())
}

#[track_caller]
fn refused(gate: &Gate, what: &str, bytes: &[u8], statuses: &[u16]) {
    let mut client = gate.client();
    client.send(bytes);
    let response = client.try_receive("POST").unwrap_or_else(|loss| panic!("{what}: {loss:?}"));
    assert!(statuses.contains(&response.status), "{what}: {}", response.head);
    assert!(response.body.is_empty(), "{what}: {}", response.text());
    assert!(response.field("server").is_none(), "{what}: {}", response.head);
    assert!(client.closes_within(SOON), "{what}: left open");
}

#[test]
fn ambiguous_or_malformed_framing_is_400_and_close() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let length = MEETING_BODY.len();
    let with_length = |lines: &str| format!("{}{MEETING_BODY}", head(lines));
    let with_chunks = |lines: &str| format!("{}{}", head(lines), chunked());
    let broken = [
        ("CL and TE", with_chunks(&format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"))),
        ("TE and CL", with_chunks("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n")),
        ("CL twice, different", with_length(&format!("Content-Length: {length}\r\nContent-Length: 3\r\n"))),
        (
            "CL twice, the same",
            with_length(&format!("Content-Length: {length}\r\nContent-Length: {length}\r\n")),
        ),
        ("CL list", with_length(&format!("Content-Length: {length}, {length}\r\n"))),
        ("CL signed", with_length(&format!("Content-Length: +{length}\r\n"))),
        ("CL negative", with_length("Content-Length: -1\r\n")),
        ("CL hex", with_length("Content-Length: 0x34\r\n")),
        ("CL empty", with_length("Content-Length: \r\n")),
        ("CL inner space", with_length("Content-Length: 5 2\r\n")),
        ("CL beyond 64 bits", with_length("Content-Length: 18446744073709551668\r\n")),
        ("TE gzip, chunked", with_chunks("Transfer-Encoding: gzip, chunked\r\n")),
        ("TE chunked, gzip", with_chunks("Transfer-Encoding: chunked, gzip\r\n")),
        ("TE chunked twice", with_chunks("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
        ("TE chunked, chunked", with_chunks("Transfer-Encoding: chunked, chunked\r\n")),
        ("TE identity", with_length(&format!("Transfer-Encoding: identity\r\nContent-Length: {length}\r\n"))),
        ("TE xchunked", with_chunks("Transfer-Encoding: xchunked\r\n")),
        ("TE quoted", with_chunks("Transfer-Encoding: \"chunked\"\r\n")),
        ("TE name with a space", with_chunks("Transfer-Encoding : chunked\r\n")),
        (
            "no Host",
            format!(
                "POST {MEETING} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{MEETING_BODY}"
            ),
        ),
        ("Host twice", with_length(&format!("Host: other.test\r\nContent-Length: {length}\r\n"))),
        ("a bare LF in the head", with_length(&format!("X-A: 1\nContent-Length: {length}\r\n"))),
        ("a bare CR in a value", with_length(&format!("X-A: 1\rX-B: 2\r\nContent-Length: {length}\r\n"))),
        ("NUL in a value", with_length(&format!("X-A: 1\0\r\nContent-Length: {length}\r\n"))),
        ("obs-fold", with_length(&format!("X-A: 1\r\n folded\r\nContent-Length: {length}\r\n"))),
        ("a field without a colon", with_length(&format!("nonsense\r\nContent-Length: {length}\r\n"))),
        ("an empty name", with_length(&format!(": x\r\nContent-Length: {length}\r\n"))),
    ];
    for (what, bytes) in broken {
        refused(&gate, what, bytes.as_bytes(), &[400]);
    }
    let old = format!(
        "POST {MEETING} HTTP/1.0\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        chunked()
    );
    refused(&gate, "HTTP/1.0 with TE", old.as_bytes(), &[400]);
    refused(&gate, "HTTP/3.0", format!("GET {MEETING} HTTP/3.0\r\nHost: a\r\n\r\n").as_bytes(), &[400, 505]);
    refused(&gate, "no HTTP at all", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", &[400]);
    refused(&gate, "no version", format!("GET {MEETING}\r\n\r\n").as_bytes(), &[400]);
    backend.untouched();
}

/// No tunnel is opened and no second protocol spoken: the field is ignored, as RFC 9110, 7.8 allows and
/// http.json (`hdr Upgrade`) expects. Java's `HttpClient` and `curl --http2` send it with every clear request.
#[test]
fn an_upgrade_is_ignored() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let mut client = gate.client();
    let offers = [
        "Connection: Upgrade\r\nUpgrade: websocket",
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
        "Upgrade: TLS/1.0",
    ];
    for fields in offers {
        let length = MEETING_BODY.len();
        let act = format!("{}{MEETING_BODY}", head(&format!("{fields}\r\nContent-Length: {length}\r\n")));
        client.send(act.as_bytes());
        assert_eq!(client.receive("POST").status, 200, "{fields}");
        client.send(format!("GET {MEETING} HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n").as_bytes());
        assert_eq!(client.receive("GET").status, 200, "{fields}");
    }
    for request in backend.seen() {
        assert!(!request.head.to_ascii_lowercase().contains("upgrade"), "{}", request.head);
    }
    assert_eq!(backend.count(), offers.len());
}

#[test]
fn broken_chunks_are_400_and_close_and_never_forwarded() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let length = MEETING_BODY.len();
    let bodies = [
        ("no size", format!("\r\n{MEETING_BODY}\r\n0\r\n\r\n")),
        ("not hex", format!("zz\r\n{MEETING_BODY}\r\n0\r\n\r\n")),
        ("0x", format!("0x{length:x}\r\n{MEETING_BODY}\r\n0\r\n\r\n")),
        ("negative", format!("-{length:x}\r\n{MEETING_BODY}\r\n0\r\n\r\n")),
        ("too short", format!("{:x}\r\n{MEETING_BODY}\r\n0\r\n\r\n", length - 1)),
        ("overflow", format!("10000000000000000{length:x}\r\n{MEETING_BODY}\r\n0\r\n\r\n")),
        ("bare LF after the size", format!("{length:x}\n{MEETING_BODY}\r\n0\r\n\r\n")),
        ("bare LF after the data", format!("{length:x}\r\n{MEETING_BODY}\n0\r\n\r\n")),
    ];
    for (what, body) in bodies {
        let mut client = gate.client();
        client.send(format!("{}{body}", head("Transfer-Encoding: chunked\r\n")).as_bytes());
        client.finish();
        if let Ok(response) = client.try_receive("POST") {
            assert!(matches!(response.status, 400 | 204), "{what}: {}", response.head);
            assert!(client.closes_within(SOON), "{what}: left open");
        }
    }
    backend.untouched();
}

/// A cut body is 400, whole or not, and nothing of it is forwarded.
#[test]
fn a_body_that_breaks_off_is_never_forwarded() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    for request in [Request::post(MEETING, MEETING_BODY), Request::post(MEETING, MEETING_BODY).chunked(10)] {
        let bytes = request.bytes();
        let head = request.head().len();
        for cut in [head, head + 1, head + 20, bytes.len() - 1] {
            let mut client = gate.client();
            client.send(&bytes[..cut]);
            client.finish();
            let response = client.try_receive("POST").map(|response| response.status);
            assert_eq!(response, Ok(400), "cut at {cut} of {}", bytes.len());
            assert!(client.closes_within(SOON));
            let mut client = gate.client();
            client.send(&bytes[..cut]);
            client.reset();
        }
    }
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
    backend.only();
}

/// A head of any size is bounded: 431, close; also one line without an end, also many short fields.
#[test]
fn a_head_over_the_limit_is_431_and_close() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("max_head", "16KiB").start();
    let long = "x".repeat(200_000);
    let many = (0..3000).map(|n| format!("X-{n}: {n}\r\n")).collect::<Vec<_>>().concat();
    let heads = [
        ("a long value", format!("GET {MEETING} HTTP/1.1\r\nHost: a\r\nX-Long: {long}\r\n\r\n")),
        ("many fields", format!("GET {MEETING} HTTP/1.1\r\nHost: a\r\n{many}\r\n")),
        ("a long target", format!("GET {MEETING}?{long} HTTP/1.1\r\nHost: a\r\n\r\n")),
        ("a line without end", long.clone()),
    ];
    for (what, head) in heads {
        let mut client = gate.client();
        client.send(head.as_bytes());
        match client.try_receive("GET") {
            Ok(response) => {
                let fine = matches!(response.status, 431 | 414 | 400);
                assert!(fine && response.body.is_empty(), "{what}: {}", response.head);
                assert!(client.closes_within(SOON), "{what}: left open");
            }
            Err(loss) => panic!("{what}: {loss:?}"),
        }
    }
    let just = "x".repeat(15_000);
    assert_eq!(gate.exchange(&Request::get(MEETING).field("X-Long", &just)).status, 200);
    backend.untouched();
}

/// 100-continue comes only when the body is wanted; anything else expected is 417.
#[test]
fn expect_is_answered_by_the_gateway() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let waiting = Request::post(MEETING, MEETING_BODY).field("Expect", "100-continue");
    let mut client = gate.client();
    client.send(&waiting.head());
    std::thread::sleep(Duration::from_millis(50));
    client.send(&waiting.tail());
    let response = client.receive("POST");
    assert_eq!((response.status, response.interim.as_slice()), (200, &[100][..]));
    assert_eq!(client.exchange(&Request::get(MEETING)).status, 200, "the connection was kept");
    let refused = [
        Request::post(&format!("{MEETING}?x"), MEETING_BODY),
        Request::post(MEETING, MEETING_BODY).without("Content-Type"),
        Request::post("/elsewhere", MEETING_BODY),
        Request::post(MEETING, MEETING_BODY).field("If-Match", "\"stale\""),
    ];
    for (request, status) in refused.iter().zip([204, 204, 404, 412]) {
        let request = request.clone().field("Expect", "100-continue");
        let mut client = gate.client();
        client.send(&request.head());
        let response = client.receive("POST");
        assert_eq!((response.status, response.interim.as_slice()), (status, &[][..]), "a body was asked for");
    }
    for other in ["100-continue, x", "200-ok", "x"] {
        let response = gate.exchange(&Request::post(MEETING, MEETING_BODY).field("Expect", other));
        assert_eq!(response.status, 417, "Expect: {other}");
    }
    assert_eq!(backend.only().field("expect"), None);
}

/// HTTP/1.0 acts with a length work, and close unless asked to keep.
#[test]
fn http_1_0_acts_are_served() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let old = Request::post(MEETING, MEETING_BODY).version("HTTP/1.0");
    let mut client = gate.client();
    assert_eq!(client.exchange(&old).status, 200);
    assert!(client.closes_within(SOON));
    let mut client = gate.client();
    assert_eq!(client.exchange(&old.clone().host(None)).status, 200);
    assert_eq!(backend.count(), 2);
}

/// Connection: close is obeyed; the default of HTTP/1.1 is to keep.
#[test]
fn connections_are_kept_and_closed_as_asked() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let mut client = gate.client();
    for _ in 0..3 {
        for request in [
            Request::get(MEETING),
            Request::post(MEETING, MEETING_BODY),
            Request::post(MEETING, "{}"),
            Request::get("/x"),
        ] {
            assert!(client.exchange(&request).status < 500);
        }
    }
    assert_eq!(client.exchange(&Request::get(MEETING).field("Connection", "close")).status, 200);
    assert!(client.closes_within(SOON));
    let mut client: Client = gate.client();
    assert_eq!(
        client.exchange(&Request::post(MEETING, MEETING_BODY).field("Connection", "Close")).status,
        200
    );
    assert!(client.closes_within(SOON));
}

/// If-Match on an act: the current tag passes, any other is 412 before the body is read (B-12).
#[test]
fn if_match_guards_against_a_changed_form() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let etag = gate.get(MEETING).field("etag").unwrap().to_owned();
    let act = |tag: &str| gate.exchange(&Request::post(MEETING, MEETING_BODY).field("If-Match", tag));
    for tag in [etag.clone(), format!("\"x\", {etag}"), "*".into()] {
        assert_eq!(act(&tag).status, 200, "{tag}");
    }
    for tag in
        ["\"x\"".to_owned(), format!("W/{etag}"), String::new(), "x".into(), etag.trim_matches('"').into()]
    {
        let response = act(&tag);
        assert_eq!((response.status, response.body.len()), (412, 0), "{tag}");
    }
    assert_eq!(backend.count(), 3);
    let coded = Request::get(MEETING).field("Accept-Encoding", "br");
    let coded = gate.exchange(&coded).field("etag").unwrap().to_owned();
    assert_eq!(act(&coded).status, 200, "the tag of a coded variant names the same form");
}
