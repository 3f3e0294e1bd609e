//! HTTP/2 by prior knowledge: the same decisions, the same answers, the same silence (DESIGN 3, 4; P4 to P6, P8, P9).

use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request as Http1, Setup, cases, padded};
use bytes::Bytes;
use h2::client::SendRequest;
use http::{HeaderMap, Request};
use std::io::Read;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub(crate) struct Answer {
    pub(crate) status: u16,
    fields: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|value| value.to_str().unwrap())
    }

    /// The fields that do not differ in every response.
    fn constant(&self) -> Vec<(String, String)> {
        let all =
            self.fields.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let mut constant: Vec<_> = all.filter(|(name, _)| name != "date" && name != "x-request-id").collect();
        constant.sort();
        constant
    }
}

pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limited = async { tokio::time::timeout(Duration::from_secs(20), work).await.expect("stuck") };
    runtime.block_on(limited)
}

pub(crate) async fn open(to: SocketAddr) -> SendRequest<Bytes> {
    let stream = tokio::net::TcpStream::connect(to).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    client
}

pub(crate) fn request(method: &str, target: &str) -> http::request::Builder {
    Request::builder().method(method).uri(format!("http://formgate.test{target}"))
}

pub(crate) fn post(target: &str) -> http::request::Builder {
    request("POST", target).header("content-type", "application/json")
}

/// One stream; the body in pieces, each a DATA frame or more.
pub(crate) async fn exchange(
    client: &SendRequest<Bytes>,
    request: http::request::Builder,
    pieces: &[&[u8]],
) -> Result<Answer, h2::Error> {
    let mut client = client.clone().ready().await?;
    let (response, mut stream) = client.send_request(request.body(()).unwrap(), pieces.is_empty())?;
    for (index, piece) in pieces.iter().enumerate() {
        // A refusal may come, and the stream end, before all is sent.
        if stream.send_data(Bytes::copy_from_slice(piece), index + 1 == pieces.len()).is_err() {
            break;
        }
    }
    let (head, mut body) = response.await?.into_parts();
    let mut bytes = Vec::new();
    while let Some(data) = body.data().await {
        let data = data?;
        body.flow_control().release_capacity(data.len())?;
        bytes.extend_from_slice(&data);
    }
    Ok(Answer { status: head.status.as_u16(), fields: head.headers, body: bytes })
}

fn meeting(backend: &Backend) -> Gate {
    Setup::meeting(backend).with("routes/0/body_deadline", "700ms").start()
}

#[test]
fn arrivals_are_the_same_over_both_protocols() {
    let backend = Backend::agreeing();
    let gate = meeting(&backend);
    let old = gate.get(MEETING);
    run(async {
        let client = open(gate.addr).await;
        for target in [MEETING.to_owned(), format!("{MEETING}?utm_source=x")] {
            let new = exchange(&client, request("GET", &target), &[]).await.unwrap();
            assert_eq!((new.status, &new.body), (200, &old.body));
            for name in ["content-type", "content-length", "etag", "vary", "cache-control"] {
                assert_eq!(new.field(name), old.field(name), "{name}");
            }
            assert_eq!(new.fields.len(), old.fields.len(), "{:?}", new.fields);
        }
        let head = exchange(&client, request("HEAD", MEETING), &[]).await.unwrap();
        assert_eq!((head.status, head.body.len()), (200, 0));
        let etag = old.field("etag").unwrap();
        let fresh =
            exchange(&client, request("GET", MEETING).header("if-none-match", etag), &[]).await.unwrap();
        assert_eq!(fresh.status, 304);
        assert_eq!(exchange(&client, request("GET", "/elsewhere"), &[]).await.unwrap().status, 404);
        let wrong = exchange(&client, request("DELETE", MEETING), &[]).await.unwrap();
        assert_eq!((wrong.status, wrong.field("allow")), (405, Some("GET, HEAD, POST, OPTIONS")));
    });
    backend.untouched();
}

#[test]
fn every_body_of_a_form_is_decided_as_over_http_1() {
    let backend = Backend::agreeing();
    let gate = meeting(&backend);
    run(async {
        let client = open(gate.addr).await;
        let mut silence = std::collections::HashSet::new();
        for (name, body) in cases::bodies("meetings-start", "reject") {
            let answer = exchange(&client, post(MEETING), &[&body])
                .await
                .unwrap_or_else(|fault| panic!("{name}: {fault}"));
            assert_eq!((answer.status, answer.body.len()), (204, 0), "{name}");
            silence.insert(answer.constant());
        }
        for odd in [
            request("POST", MEETING),
            post(&format!("{MEETING}?x=1")),
            post(MEETING).header("content-encoding", "gzip"),
        ] {
            let answer = exchange(&client, odd, &[MEETING_BODY.as_bytes()]).await.unwrap();
            assert_eq!(answer.status, 204);
            silence.insert(answer.constant());
        }
        assert_eq!(silence.len(), 1, "refusals that can be told apart: {silence:#?}");
        backend.untouched();
        for (name, body) in cases::bodies("meetings-start", "accept") {
            let pieces: Vec<&[u8]> = body.chunks(7).collect();
            let answer = exchange(&client, post(MEETING), &pieces).await.unwrap();
            assert_eq!((answer.status, answer.body.as_slice()), (200, &br#"{"ok":true}"#[..]), "{name}");
            let seen = backend.seen().pop().unwrap();
            assert_eq!(seen.body, body, "{name}: changed on its way");
            assert_eq!(seen.field("content-length").unwrap(), body.len().to_string());
            assert_eq!(seen.field("x-forwarded-host").as_deref(), Some("formgate.test"));
        }
    });
    assert_eq!(backend.count(), cases::bodies("meetings-start", "accept").len());
}

/// Sizes, announced and not; a length that is a lie never makes an act.
#[test]
fn sizes_and_lengths_are_held_to() {
    let backend = Backend::agreeing();
    let gate = meeting(&backend);
    run(async {
        let client = open(gate.addr).await;
        for (length, status) in [(65_535, 200), (65_536, 200), (65_537, 204), (300_000, 204)] {
            let body = padded(MEETING_BODY, length);
            for announced in [true, false] {
                let head =
                    if announced { post(MEETING).header("content-length", length) } else { post(MEETING) };
                let answer = exchange(&client, head, &[&body]).await;
                // The stream of a refused body may be reset once its answer is complete; never before.
                assert_eq!(
                    answer.map(|answer| answer.status).unwrap(),
                    status,
                    "{length} announced: {announced}"
                );
            }
        }
        let acts = backend.count();
        for lie in ["10", "5000", "-1", "x"] {
            let head = post(MEETING).header("content-length", lie);
            let answer = exchange(&client, head, &[MEETING_BODY.as_bytes()]).await;
            assert!(
                answer.as_ref().map_or(true, |answer| answer.status >= 204),
                "{lie}: {}",
                answer.unwrap().status
            );
        }
        assert_eq!(backend.count(), acts, "a lie about the length became an act");
        let after = open(gate.addr).await;
        assert_eq!(exchange(&after, post(MEETING), &[MEETING_BODY.as_bytes()]).await.unwrap().status, 200);
    });
    assert!(backend.seen().iter().all(|seen| seen.body.len() <= 65_536));
}

/// One expectation is understood, in any case of its letters; every other is 417, as over HTTP/1 (RFC 9110, 10.1.1).
#[test]
fn expectations_are_read_as_over_http_1() {
    let backend = Backend::agreeing();
    let gate = meeting(&backend);
    run(async {
        for (expected, status) in
            [("100-continue", 200), ("100-Continue", 200), ("", 417), ("100-continue, more", 417)]
        {
            let client = open(gate.addr).await;
            let head = post(MEETING).header("expect", expected);
            let answer = exchange(&client, head, &[MEETING_BODY.as_bytes()]).await.unwrap();
            assert_eq!(answer.status, status, "{expected:?}");
        }
    });
    assert_eq!(backend.count(), 2);
}

/// A body that stops coming meets its deadline; other streams of the connection are served meanwhile.
#[test]
fn a_stalled_stream_meets_its_deadline_alone() {
    let backend = Backend::agreeing();
    let gate = meeting(&backend);
    run(async {
        let client = open(gate.addr).await;
        let mut ready = client.clone().ready().await.unwrap();
        let (response, mut stream) = ready.send_request(post(MEETING).body(()).unwrap(), false).unwrap();
        stream.send_data(Bytes::from_static(b"{\"title\":"), false).unwrap();
        let start = Instant::now();
        for _ in 0..5 {
            assert_eq!(
                exchange(&client, post(MEETING), &[MEETING_BODY.as_bytes()]).await.unwrap().status,
                200
            );
        }
        assert_eq!(response.await.unwrap().status().as_u16(), 408);
        assert!(start.elapsed() < Duration::from_secs(3));
    });
    assert_eq!(backend.count(), 5);
}

/// A stream that is reset in its body is no act; one line and one count for each stream all the same.
#[test]
fn each_stream_is_one_line_and_a_reset_one_is_no_act() {
    let backend = Backend::agreeing();
    let gate = meeting(&backend);
    run(async {
        let client = open(gate.addr).await;
        let mut ready = client.clone().ready().await.unwrap();
        let (response, mut stream) = ready.send_request(post(MEETING).body(()).unwrap(), false).unwrap();
        stream.send_data(Bytes::from_static(MEETING_BODY.as_bytes()), false).unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        stream.send_reset(h2::Reason::CANCEL);
        drop(response);
        assert_eq!(exchange(&client, request("GET", MEETING), &[]).await.unwrap().status, 200);
        assert_eq!(exchange(&client, post(MEETING), &[MEETING_BODY.as_bytes()]).await.unwrap().status, 200);
    });
    let lines = gate.access_lines(3);
    let count = |outcome: &str| lines.iter().filter(|line| line["outcome"] == outcome).count();
    assert_eq!((count("arrived"), count("accepted")), (1, 1), "{lines:#?}");
    assert_eq!(backend.only().body, MEETING_BODY.as_bytes());
}

/// Many streams at once, good and bad, each decided by itself.
#[test]
fn streams_do_not_mix() {
    let backend = Backend::scripted(|seen, stream| {
        use std::io::Write;
        let _ = stream.write_all(&crate::support::backend::json(&seen.body));
        crate::support::After::Keep
    });
    let gate = meeting(&backend);
    run(async {
        let client = open(gate.addr).await;
        let mut streams = tokio::task::JoinSet::new();
        for n in 0..60 {
            let client = client.clone();
            streams.spawn(async move {
                let body = if n % 3 == 0 {
                    format!("{{\"n\":{n}}}")
                } else {
                    format!("{{\"title\":\"{n}\",\"displayName\":\"A\"}}")
                };
                let answer = exchange(&client, post(MEETING), &[body.as_bytes()]).await.unwrap();
                let expected = if n % 3 == 0 { (204, Vec::new()) } else { (200, body.into_bytes()) };
                assert_eq!((answer.status, answer.body), expected, "{n}");
            });
        }
        while let Some(done) = streams.join_next().await {
            done.unwrap();
        }
    });
    assert_eq!(backend.count(), 40);
}

/// A head over `max_head` is refused as over HTTP/1, and costs no more memory.
#[test]
fn a_head_over_the_limit_is_refused() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("max_head", "16KiB").start();
    run(async {
        let client = open(gate.addr).await;
        let long = "x".repeat(60_000);
        let answer = exchange(&client, request("GET", MEETING).header("x-long", &long), &[]).await;
        assert!(answer.as_ref().map_or(true, |answer| answer.status == 431), "{}", answer.unwrap().status);
    });
    assert_eq!(gate.get(MEETING).status, 200);
}

/// An idle HTTP/2 connection holds up no stop.
#[test]
fn an_idle_connection_does_not_hold_up_a_stop() {
    let backend = Backend::agreeing();
    let mut gate = Setup::meeting(&backend).with("grace", "10s").start();
    run(async {
        let client = open(gate.addr).await;
        assert_eq!(exchange(&client, request("GET", MEETING), &[]).await.unwrap().status, 200);
        let start = Instant::now();
        gate.signal("TERM");
        while start.elapsed() < Duration::from_secs(4) && gate.is_running() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(!gate.is_running(), "still running after {:?}", start.elapsed());
    });
}

/// The preface and then nothing: the connection does not live for ever.
#[test]
fn a_silent_connection_is_closed() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("keepalive", "300ms").with("head_deadline", "300ms").start();
    for opening in [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], b"PRI * HT"] {
        let mut client = gate.client();
        client.send(opening);
        let start = Instant::now();
        // Frames of the server's own may come; then the end.
        while matches!(client.stream.read(&mut [0; 1024]), Ok(count) if count > 0) {}
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
    assert_eq!(gate.exchange(&Http1::get(MEETING)).status, 200);
}
