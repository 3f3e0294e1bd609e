//! An act is sent once, whatever becomes of the connection (P5, G-32, B-17): no retry after the first byte, 504 and
//! the outcome `unknown`; only a failed connect may be tried again.

use crate::support::backend::{json, nobody, read_request, reset};
use crate::support::{After, Backend, Gate, MEETING, MEETING_BODY, PATIENCE, Request, Setup, eventually};
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One act whose outcome nobody knows.
#[track_caller]
fn unknown(gate: &Gate) {
    let response = gate.post(MEETING, MEETING_BODY);
    assert_eq!((response.status, response.body.len()), (504, 0), "{}", response.head);
    let labels = [("route", "meetings_start"), ("outcome", "unknown")];
    eventually("the outcome is counted as unknown", || {
        gate.metrics().sum("formgate_requests_total", &labels) >= 1.0
    });
}

/// Workers keep upstream connections each for itself; with one worker the next act gets the kept one.
fn one_worker(backend: &Backend) -> Gate {
    Setup::meeting(backend).with("threads", 1).start()
}

/// The one that costs money: a kept connection dies after it has taken the whole act.
#[test]
fn a_kept_connection_that_dies_after_the_act_saw_it_once() {
    for after in [After::Close, After::Reset] {
        let backend = Backend::scripted(move |seen, stream| {
            if seen.nth == 0 && seen.connection == 0 {
                let _ = stream.write_all(&json("{}"));
                return After::Keep;
            }
            after
        });
        let gate = one_worker(&backend);
        assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
        unknown(&gate);
        let seen = backend.seen();
        assert_eq!(seen.len(), 2, "{after:?}: sent again");
        assert_eq!((seen[1].connection, seen[1].nth), (0, 1), "the connection was reused");
        assert_eq!((backend.connections(), backend.stray()), (1, 0), "{after:?}");
    }
}

#[test]
fn a_new_connection_that_dies_after_the_act_saw_it_once() {
    for after in [After::Close, After::Reset] {
        let backend = Backend::scripted(move |_, _| after);
        let gate = Setup::meeting(&backend).start();
        unknown(&gate);
        assert_eq!(backend.count(), 1, "{after:?}");
    }
}

/// Part of an answer is no answer.
#[test]
fn an_answer_that_breaks_off_is_unknown() {
    let whole = String::from_utf8(json(r#"{"ok":true}"#)).unwrap();
    for cut in [1, 8, 12, 17, 40, whole.len() - 12] {
        let part = whole.as_bytes()[..cut].to_vec();
        let backend = Backend::scripted(move |_, stream| {
            let _ = stream.write_all(&part);
            After::Close
        });
        let gate = Setup::meeting(&backend).start();
        unknown(&gate);
        assert_eq!(backend.count(), 1, "cut at {cut}");
    }
}

/// A success whose body breaks off is a success that cannot be shown: the status said that the act happened.
#[test]
fn a_success_whose_body_breaks_off_is_200_and_an_empty_object() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let broken = [
        format!("{head}Content-Length: 50\r\n\r\n{{\"ok\":"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n5\r\n{{\"ok\""),
        format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{{}}\r\n0\r\n\r\n"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}0\r\n\r\n"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{{}}"),
    ];
    for answer in broken {
        let bytes = answer.clone().into_bytes();
        let backend = Backend::scripted(move |_, stream| {
            let _ = stream.write_all(&bytes);
            After::Close
        });
        let gate = Setup::meeting(&backend).start();
        let response = gate.post(MEETING, MEETING_BODY);
        assert_eq!((response.status, response.text()), (200, "{}"), "{answer:?}");
        assert_eq!(backend.count(), 1, "{answer:?}");
    }
}

/// What is not HTTP, or framed two ways, is not believed, and its connection not used again.
#[test]
fn a_malformed_answer_is_never_shown_and_its_connection_never_kept() {
    let malformed = [
        "SSH-2.0-OpenSSH_9.9\r\n\r\n",
        "HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/2 200\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nBad Name: x\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\n\r\n\0\0\0\0",
    ];
    for answer in malformed {
        let backend = Backend::scripted(move |_, stream| {
            let _ = stream.write_all(answer.as_bytes());
            std::thread::sleep(Duration::from_millis(100));
            After::Close
        });
        let gate = one_worker(&backend);
        for _ in 0..2 {
            let response = gate.post(MEETING, MEETING_BODY);
            let fine = response.status == 504
                || response.status == 502
                || (response.status == 200 && response.body == b"{}");
            assert!(fine, "{answer:?}: {} {:?}", response.status, response.text());
        }
        let seen = backend.seen();
        assert_eq!(seen.len(), 2, "{answer:?}");
        assert_ne!(seen[0].connection, seen[1].connection, "{answer:?}: kept");
    }
}

/// Bytes behind an answer are nobody's answer: the next act must not get them.
#[test]
fn a_second_answer_is_never_given_to_the_next_act() {
    let backend = Backend::scripted(|seen, stream| {
        let own = json(format!("{{\"nth\":{}}}", seen.nth + 10 * seen.connection));
        let _ = stream.write_all(&[own.as_slice(), &json(r#"{"stolen":true}"#)].concat());
        After::Keep
    });
    let gate = one_worker(&backend);
    for _ in 0..4 {
        let response = gate.post(MEETING, MEETING_BODY);
        assert_eq!(response.status, 200);
        assert!(!response.text().contains("stolen"), "{}", response.text());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(backend.seen().iter().all(|seen| seen.nth == 0), "a connection with bytes left over was kept");
}

/// A backend that answers an act and, when told that the client has its answer, spoils the connection; and that tells when
/// this lies at the gateway. Nothing here waits for a time: of an act that is sent before that, nobody could say that what
/// came is not its answer.
fn spoiling(spoil: fn(&mut TcpStream)) -> (Backend, Sender<()>, Receiver<()>) {
    let (had, has_answer) = channel();
    let (sent, lies_there) = channel();
    let has_answer = Mutex::new(has_answer);
    let backend = Backend::scripted(move |_, stream| {
        let _ = stream.write_all(&json(r#"{"ok":true}"#));
        if has_answer.lock().unwrap().recv_timeout(PATIENCE).is_ok() {
            spoil(stream);
            eventually("what was sent lies at the gateway", || has_arrived(stream));
            let _ = sent.send(());
        }
        After::Keep
    });
    (backend, had, lies_there)
}

fn speak(stream: &mut TcpStream) {
    let _ = stream.write_all(&json(r#"{"stolen":true}"#));
}

fn close(stream: &mut TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
}

/// The same for an answer that comes before it is asked for, on a connection that lies idle.
#[test]
fn an_answer_out_of_turn_is_never_given_to_the_next_act() {
    let (backend, had, lies_there) = spoiling(speak);
    let gate = one_worker(&backend);
    for _ in 0..3 {
        let response = gate.post(MEETING, MEETING_BODY);
        assert_eq!((response.status, response.text()), (200, r#"{"ok":true}"#));
        had.send(()).unwrap();
        lies_there.recv_timeout(PATIENCE).unwrap();
    }
    assert_eq!(backend.count(), 3);
    assert!(backend.seen().iter().all(|seen| seen.nth == 0), "a connection with bytes left over was used");
}

/// A task may do so much before others have their turn, and what it asks then seems to have to wait. A client that
/// fills that with requests in one write must not make a connection look idle that is closed or has been spoken on.
#[test]
fn a_busy_client_does_not_make_a_spent_connection_look_idle() {
    for (spoil, how) in [(close as fn(&mut TcpStream), "closed"), (speak, "spoken on")] {
        let (backend, had, lies_there) = spoiling(spoil);
        let gate = one_worker(&backend);
        let arrival = Request::get(MEETING).bytes();
        let act = Request::post(MEETING, MEETING_BODY).bytes();
        for before in 120..=132 {
            let mut client = gate.client();
            assert!(client.send(&[arrival.repeat(before), act.clone()].concat()));
            for _ in 0..before {
                assert_eq!(client.receive("GET").status, 200);
            }
            let response = client.receive("POST");
            let answer = (response.status, response.text());
            assert_eq!(answer, (200, r#"{"ok":true}"#), "behind {before}, {how}");
            had.send(()).unwrap();
            lies_there.recv_timeout(PATIENCE).unwrap();
        }
        assert!(backend.seen().iter().all(|seen| seen.nth == 0), "a spent connection was used");
    }
}

/// Whether what was written has come to the other end of a connection on this machine, read or not. The kernel's table
/// (proc(5), `/proc/net/tcp`) has what is not acknowledged yet; a connection that is gone has nothing on its way.
fn has_arrived(stream: &TcpStream) -> bool {
    let (Ok(own), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) else { return true };
    let hex = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) => format!("{:08X}:{:04X}", u32::from_ne_bytes(ip.octets()), address.port()),
        IpAddr::V6(_) => panic!("backends listen on IPv4"),
    };
    let ends = format!(" {} {} ", hex(own), hex(peer));
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let line = table.lines().find_map(|line| line.split_once(&ends));
    // Behind the ends: the state, then `tx_queue:rx_queue`.
    line.is_none_or(|(_, rest)| rest.split(' ').nth(1).unwrap().starts_with("00000000:"))
}

/// Nothing listens: nothing was sent, 503, and the next try may succeed.
#[test]
fn a_refused_connect_is_503() {
    let gate = Setup::towards(&format!("http://{}", nobody())).case_route("meetings-start").start();
    let response = gate.post(MEETING, MEETING_BODY);
    assert_eq!((response.status, response.body.len()), (503, 0));
    let seconds: u32 = response.field("retry-after").unwrap().parse().unwrap();
    assert!(seconds >= 1);
}

/// A failed connect goes on to the next server; the act is sent once.
#[test]
fn a_failed_connect_is_tried_at_the_next_server() {
    let backend = Backend::agreeing();
    let dead = format!("http://{}", nobody());
    let gate = Setup::meeting(&backend)
        .with("upstreams/backend/servers", serde_json::json!([dead, backend.url()]))
        .start();
    for count in 1..=4 {
        assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
        assert_eq!(backend.count(), count);
    }
}

/// A name that does not resolve is like a server that is not there.
#[test]
fn an_unknown_name_is_503() {
    let gate = Setup::towards("http://nobody.invalid:80").case_route("meetings-start").start();
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 503);
}

#[test]
fn a_hanging_backend_is_504_in_time_and_saw_the_act_once() {
    let backend = Backend::scripted(|_, _| {
        std::thread::sleep(Duration::from_secs(3));
        After::Close
    });
    let gate = Setup::meeting(&backend).with("upstreams/backend/timeouts/exchange", "300ms").start();
    let start = Instant::now();
    unknown(&gate);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(backend.count(), 1);
}

/// The deadline is of the whole exchange: a byte now and then does not extend it.
#[test]
fn a_trickling_backend_meets_the_deadline_of_the_exchange() {
    let backend = Backend::scripted(|_, stream| {
        let trickle = json(r#"{"ok":true}"#);
        let sent = trickle.chunks(1).all(|byte| {
            std::thread::sleep(Duration::from_millis(60));
            stream.write_all(byte).is_ok()
        });
        if sent { After::Keep } else { After::Close }
    });
    let gate = Setup::meeting(&backend).with("upstreams/backend/timeouts/exchange", "400ms").start();
    let start = Instant::now();
    unknown(&gate);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(backend.count(), 1);
}

/// An answer before the body was read is an answer; nothing is sent again.
#[test]
fn an_early_answer_is_an_answer() {
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    let backend = Backend::raw(move |_, mut stream| {
        count.fetch_add(1, Ordering::SeqCst);
        let _ = stream.write_all(&json(r#"{"early":true}"#));
        let _ = read_request(&mut stream, &mut Vec::new());
    });
    let gate = Setup::meeting(&backend).start();
    let response = gate.post(MEETING, MEETING_BODY);
    assert!(matches!(response.status, 200 | 502 | 504), "{}", response.head);
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

/// A backend that resets before it has read: never more than once on the wire, and never answered as done.
#[test]
fn a_reset_before_the_act_was_read_is_not_success() {
    let heads = Arc::new(Mutex::new(0));
    let seen = heads.clone();
    let backend = Backend::raw(move |_, mut stream| {
        let mut byte = [0; 1];
        if matches!(stream.read(&mut byte), Ok(1)) {
            *seen.lock().unwrap() += 1;
        }
        reset(&stream);
    });
    let gate = Setup::meeting(&backend).start();
    unknown(&gate);
    assert_eq!(*heads.lock().unwrap(), 1);
}

/// The client leaves: the act is finished all the same, once, and counted.
#[test]
fn a_client_that_leaves_does_not_undo_the_act() {
    let backend = Backend::scripted(|_, stream| {
        std::thread::sleep(Duration::from_millis(150));
        if stream.write_all(&json("{}")).is_ok() { After::Keep } else { After::Close }
    });
    let gate = one_worker(&backend);
    let mut half = gate.client();
    half.send(&Request::post(MEETING, MEETING_BODY).bytes());
    half.finish();
    assert_eq!(half.receive("POST").status, 200, "a half-closed client still reads");
    let mut gone = gate.client();
    gone.send(&Request::post(MEETING, MEETING_BODY).bytes());
    eventually("the second act is sent", || backend.count() == 2);
    gone.reset();
    let lines = gate.access_lines(2);
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (backend.count(), backend.connections()),
        (2, 1),
        "the answer was read to its end and the connection kept"
    );
}

/// An idle connection goes when its time is over, not only when the next act looks for one.
#[test]
fn idle_connections_end_by_themselves() {
    let (ended, told) = channel();
    let backend = Backend::raw(move |_, mut stream| {
        let mut pending = Vec::new();
        if read_request(&mut stream, &mut pending).is_some() {
            stream.write_all(&json("{}")).unwrap();
            // Until the other end closes.
            let _ = stream.read(&mut [0]);
            let _ = ended.send(());
        }
    });
    let gate = Setup::meeting(&backend).with("upstreams/backend/timeouts/idle", "500ms").start();
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
    told.recv_timeout(Duration::from_secs(5)).expect("the connection is closed");
}
