//! Upstreams that misbehave beyond the table: endless, idle-closed, many at once (P5, P9, P11; issue 2, item 4).
//! Ten thousand acts under random faults are issue 3's.

use crate::support::backend::{answer, json};
use crate::support::{After, Backend, MEETING, MEETING_BODY, Request, Setup, eventually};
use std::io::Write;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(3);

/// What never ends is cut at its bound, and the next act does not meet the rest of it.
#[test]
fn endless_answers_are_bounded() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let starts = [
        (
            format!("{head}Transfer-Encoding: chunked\r\n\r\n"),
            "10000\r\n{}\r\n".replace("{}", &"x".repeat(0x10000)),
            [200, 200],
        ),
        (format!("{head}Content-Length: 99999999999\r\n\r\n"), "x".repeat(65_536), [200, 200]),
        (format!("{head}X-Long: "), "x".repeat(65_536), [502, 504]),
        (head.to_owned(), "X-More: x\r\n".repeat(6000), [502, 504]),
        (String::new(), "HTTP/1.1 102 Processing\r\n\r\n".repeat(2000), [502, 504]),
        (
            format!("{head}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n"),
            "X-Trailer: x\r\n".repeat(5000),
            [200, 200],
        ),
        (
            format!("{head}Transfer-Encoding: chunked\r\n\r\n"),
            format!("2;x={}", "x".repeat(65_536)),
            [200, 200],
        ),
    ];
    for (start, more, statuses) in starts {
        let what = format!("{:?} then {:?}", &start[..start.len().min(120)], &more[..20]);
        let backend = Backend::scripted(move |_, stream| {
            let _ = stream.set_write_timeout(Some(Duration::from_secs(5)));
            if stream.write_all(start.as_bytes()).is_ok() {
                while stream.write_all(more.as_bytes()).is_ok() {}
            }
            After::Close
        });
        let gate = Setup::meeting(&backend)
            .with("threads", 1)
            .with("upstreams/backend/timeouts/exchange", "2s")
            .start();
        for count in 1..=2 {
            let began = Instant::now();
            let response = gate.post(MEETING, MEETING_BODY);
            assert!(statuses.contains(&response.status), "{what}: {}", response.status);
            assert!(response.status != 200 || response.body == b"{}", "{what}: {:?}", response.text());
            assert!(began.elapsed() < SOON, "{what}: {:?}", began.elapsed());
            let seen = backend.seen();
            assert_eq!(
                (seen.len(), seen[count - 1].nth),
                (count, 0),
                "{what}: sent again, or a connection kept"
            );
        }
    }
}

/// A connection that the backend has closed while it lay idle is not used: nothing is lost.
#[test]
fn a_connection_closed_while_idle_is_not_used() {
    let backend = Backend::scripted(|_, stream| {
        let _ = stream.write_all(&json("{}"));
        std::thread::sleep(Duration::from_millis(30));
        After::Close
    });
    let gate = Setup::meeting(&backend).with("threads", 1).start();
    for count in 1..=5 {
        assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
        assert_eq!(backend.count(), count);
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Kept where the answer allows it, and only there.
#[test]
fn connections_are_kept_only_where_the_answer_allows() {
    let cases = [
        (json("{}"), true),
        (answer("204 No Content", "", "").into_iter().collect(), true),
        (answer("422 No", "", "because"), true),
        (answer("200 OK", "Connection: close\r\nContent-Type: application/json\r\n", "{}"), false),
        (answer("200 OK", "Connection: x, Close\r\n", ""), false),
        (b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".to_vec(), false),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n".to_vec(), true),
    ];
    for (bytes, kept) in cases {
        let what = String::from_utf8_lossy(&bytes).into_owned();
        let backend = Backend::answering(bytes);
        let gate = Setup::meeting(&backend).with("threads", 1).start();
        for _ in 0..3 {
            assert!(matches!(gate.post(MEETING, MEETING_BODY).status, 200 | 204), "{what}");
        }
        assert_eq!((backend.count(), backend.connections()), (3, if kept { 1 } else { 3 }), "{what}");
    }
}

/// Idle connections to the backend are bounded and grow old.
#[test]
fn idle_upstream_connections_grow_old() {
    let backend = Backend::agreeing();
    let gate =
        Setup::meeting(&backend).with("threads", 1).with("upstreams/backend/timeouts/idle", "100ms").start();
    for _ in 0..3 {
        assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
        std::thread::sleep(Duration::from_millis(250));
    }
    assert_eq!((backend.count(), backend.connections()), (3, 3));
}

/// Many acts at once: each is sent once, and each client gets the answer to its own.
#[test]
fn acts_at_once_do_not_mix() {
    let backend = Backend::scripted(|seen, stream| {
        std::thread::sleep(Duration::from_millis(u64::try_from(seen.body.len() % 7).unwrap()));
        if stream.write_all(&json(&seen.body)).is_ok() { After::Keep } else { After::Close }
    });
    let gate = Setup::meeting(&backend).start();
    let (threads, rounds) = (12, 25);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let gate = &gate;
            scope.spawn(move || {
                let mut client = gate.client();
                for round in 0..rounds {
                    let body = format!(
                        r#"{{"title":"{thread}-{round}","displayName":"{}"}}"#,
                        "A".repeat(1 + round)
                    );
                    let response = client.exchange(&Request::post(MEETING, &body));
                    assert_eq!((response.status, response.text()), (200, body.as_str()));
                    assert_eq!(client.exchange(&Request::post(MEETING, "{}")).status, 204);
                }
            });
        }
    });
    let all: std::collections::HashSet<_> = backend.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!((all.len(), backend.count(), backend.stray()), (threads * rounds, threads * rounds, 0));
    let lines = gate.access_lines(2 * threads * rounds);
    let count = |outcome: &str| lines.iter().filter(|line| line["outcome"] == outcome).count();
    assert_eq!((count("accepted"), count("refused")), (threads * rounds, threads * rounds));
    let accepted = [("route", "meetings_start"), ("outcome", "accepted")];
    eventually("the counts add up", || {
        gate.metrics().counts("formgate_requests_total", &accepted, threads * rounds)
    });
}

/// Turns go round the servers of an upstream.
#[test]
fn servers_are_used_in_turn() {
    let backends = [Backend::agreeing(), Backend::agreeing(), Backend::agreeing()];
    let servers: Vec<String> = backends.iter().map(Backend::url).collect();
    let gate = Setup::meeting(&backends[0]).with("upstreams/backend/servers", servers).start();
    for _ in 0..12 {
        assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
    }
    assert_eq!(backends.iter().map(Backend::count).collect::<Vec<_>>(), [4, 4, 4]);
    for backend in &backends {
        assert_eq!(backend.seen()[0].field("host"), Some(backend.addr.to_string()), "each gets its own name");
    }
}
