//! HTTP/2 by prior knowledge, frame by frame (issue 3, item 5): malformed requests are no acts, a value never becomes a
//! line at the upstream, and floods are bounded in memory while good clients are served.
//!
//! `h2spec` is in no registry that this machine reaches (Debian, crates.io, npm, PyPI): its sections on malformed requests
//! and frames are rewritten here as far as they can let something through or bring something down.

use super::frames::{
    CONTINUATION, Came, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PRIORITY, PUSH_PROMISE, RST_STREAM,
    Raw, SETTINGS, WINDOW_UPDATE, fields, frame,
};
use super::process::{MIB, mib, peak, rss_before};
use super::{number, turn};
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Setup};
use std::time::{Duration, Instant};

type Field = (&'static [u8], &'static [u8]);

const SOON: Duration = Duration::from_secs(3);
const PATH: Field = (b":path", MEETING.as_bytes());
const HEAD: [Field; 4] =
    [(b":method", b"POST"), (b":scheme", b"http"), (b":authority", b"formgate.test"), PATH];
const JSON: Field = (b"content-type", b"application/json");

/// What may come of a request.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// An act.
    Done,
    /// No act: answered with a refusal, or the stream or the connection is ended.
    Not,
}

fn send(raw: &mut Raw, list: &[Field], body: &[u8]) -> Came {
    let flags = if body.is_empty() { END_HEADERS | END_STREAM } else { END_HEADERS };
    raw.send(&frame(HEADERS, flags, 1, &fields(list)));
    if !body.is_empty() {
        raw.send(&frame(DATA, END_STREAM, 1, body));
    }
    raw.until(1, SOON)
}

/// The head of an act with something else in the place of one field, and more behind it.
fn with(replaced: &[u8], by: Option<&'static [u8]>, more: &[Field]) -> Vec<Field> {
    let mut list: Vec<Field> = HEAD
        .iter()
        .filter_map(
            |(name, value)| {
                if *name == replaced { by.map(|by| (*name, by)) } else { Some((*name, *value)) }
            },
        )
        .collect();
    list.push(JSON);
    list.extend_from_slice(more);
    list
}

#[test]
fn malformed_requests_are_no_acts() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("keepalive", "3s").with("routes/0/body_deadline", "1s").start();
    let none = |more: &[Field]| with(b"", None, more);
    let first = |field: Field| [&[field], none(&[]).as_slice()].concat();
    let cases: Vec<(&str, Vec<Field>, Fate)> = vec![
        ("plain", none(&[]), Fate::Done),
        ("its length", none(&[(b"content-length", b"51")]), Fate::Done),
        ("a longer length", none(&[(b"content-length", b"52")]), Fate::Not),
        ("a shorter length", none(&[(b"content-length", b"50")]), Fate::Not),
        ("a length of zero", none(&[(b"content-length", b"0")]), Fate::Not),
        ("two lengths", none(&[(b"content-length", b"51"), (b"content-length", b"0")]), Fate::Not),
        ("a length that is none", none(&[(b"content-length", b"+51")]), Fate::Not),
        ("a list of lengths", none(&[(b"content-length", b"51, 51")]), Fate::Not),
        ("transfer-encoding", none(&[(b"transfer-encoding", b"chunked")]), Fate::Not),
        ("connection", none(&[(b"connection", b"close")]), Fate::Not),
        ("keep-alive", none(&[(b"keep-alive", b"x")]), Fate::Not),
        ("proxy-connection", none(&[(b"proxy-connection", b"x")]), Fate::Not),
        ("upgrade", none(&[(b"upgrade", b"h2c")]), Fate::Not),
        ("te: gzip", none(&[(b"te", b"gzip")]), Fate::Not),
        ("te: trailers", none(&[(b"te", b"trailers")]), Fate::Done),
        ("no :method", with(b":method", None, &[]), Fate::Not),
        ("no :path", with(b":path", None, &[]), Fate::Not),
        ("no :scheme", with(b":scheme", None, &[]), Fate::Not),
        ("an empty :path", with(b":path", Some(b""), &[]), Fate::Not),
        ("an empty :method", with(b":method", Some(b""), &[]), Fate::Not),
        (":path twice", first((b":path", b"/other")), Fate::Not),
        (":method twice", first((b":method", b"GET")), Fate::Not),
        (":path at the end", none(&[(b":path", b"/other")]), Fate::Not),
        (":status", first((b":status", b"200")), Fate::Not),
        (":unknown", first((b":unknown", b"x")), Fate::Not),
        (":protocol", first((b":protocol", b"websocket")), Fate::Not),
        ("a name in capitals", none(&[(b"X-A", b"x")]), Fate::Not),
        ("a name with a space", none(&[(b"x a", b"x")]), Fate::Not),
        ("a name with a colon", none(&[(b"x:a", b"x")]), Fate::Not),
        ("a name with a line end", none(&[(b"x\r\na", b"x")]), Fate::Not),
        ("no name", none(&[(b"", b"x")]), Fate::Not),
        ("a value with a line end", none(&[(b"x-pass", b"x\r\nX-Evil: 1")]), Fate::Not),
        ("a value with LF", none(&[(b"x-pass", b"x\nX-Evil: 1")]), Fate::Not),
        ("a value with NUL", none(&[(b"x-pass", b"x\0y")]), Fate::Not),
        (
            ":method with a line end",
            with(b":method", Some(b"POST / HTTP/1.1\r\nX-Evil: 1\r\n"), &[]),
            Fate::Not,
        ),
        (":path with a line end", with(b":path", Some(b"/ HTTP/1.1\r\nX-Evil: 1\r\n"), &[]), Fate::Not),
        (":path with a space", with(b":path", Some(b"/api/v2/meetings/start x"), &[]), Fate::Not),
        // The crate `http` cuts a fragment off before anybody can see it: it reaches no one, here or behind.
        (":path with a fragment", with(b":path", Some(b"/api/v2/meetings/start#x"), &[]), Fate::Done),
        (":path with a query", with(b":path", Some(b"/api/v2/meetings/start?x"), &[]), Fate::Not),
        (":path without a slash", with(b":path", Some(b"api/v2/meetings/start"), &[]), Fate::Not),
        (":path of dots", with(b":path", Some(b"/api/v2/../v2/meetings/start"), &[]), Fate::Not),
        (":path as a URL", with(b":path", Some(b"http://evil.test/api/v2/meetings/start"), &[]), Fate::Not),
        (":authority with a line end", with(b":authority", Some(b"a\r\nX-Evil: 1"), &[]), Fate::Not),
        (":authority with a space", with(b":authority", Some(b"a b"), &[]), Fate::Not),
        (":authority with a user", with(b":authority", Some(b"user@formgate.test"), &[]), Fate::Not),
        ("a host that differs", none(&[(b"host", b"evil.test")]), Fate::Not),
        ("two hosts", none(&[(b"host", b"formgate.test"), (b"host", b"evil.test")]), Fate::Not),
        (":scheme with a line end", with(b":scheme", Some(b"http\r\nX-Evil: 1"), &[]), Fate::Not),
        ("CONNECT", vec![(b":method", b"CONNECT"), (b":authority", b"formgate.test:80"), JSON], Fate::Not),
    ];
    let (mut wrong, mut acts) = (Vec::new(), 0);
    for (what, list, fate) in &cases {
        let mut raw = Raw::open(gate.addr);
        let came = send(&mut raw, list, MEETING_BODY.as_bytes());
        let now = backend.count();
        let done = now - acts;
        acts = now;
        let fine = match fate {
            Fate::Done => done == 1 && came.status(1) == Some(200),
            Fate::Not => {
                done == 0 && (came.refused(1) || came.statuses.iter().any(|(_, status)| *status != Some(200)))
            }
        };
        if !fine {
            wrong.push(format!("{what}: {done} acts, {came:?}"));
        }
    }
    for seen in backend.seen() {
        let head = seen.head.to_ascii_lowercase();
        if head.contains("x-evil") || head.contains("evil.test") || seen.body != MEETING_BODY.as_bytes() {
            wrong.push(format!("the upstream saw {}", seen.head));
        }
    }
    println!("http2: {} requests, {acts} acts", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
}

/// Frames out of place end a stream or the connection, and nothing else.
#[test]
fn frames_out_of_place_bring_nothing_down() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("keepalive", "2s").with("head_deadline", "2s").start();
    let head = fields(&[&HEAD[..], &[JSON]].concat());
    let open = frame(HEADERS, END_HEADERS, 1, &head);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("DATA on stream 0", frame(DATA, 0, 0, b"x")),
        ("HEADERS on stream 0", frame(HEADERS, END_HEADERS, 0, &head)),
        ("HEADERS on an even stream", frame(HEADERS, END_HEADERS, 2, &head)),
        ("DATA on an idle stream", frame(DATA, END_STREAM, 5, b"x")),
        ("CONTINUATION from nowhere", frame(CONTINUATION, END_HEADERS, 1, &head)),
        (
            "a frame between HEADERS and CONTINUATION",
            [frame(HEADERS, 0, 1, &head), frame(PING, 0, 0, &[0; 8])].concat(),
        ),
        ("PUSH_PROMISE of a client", frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2])),
        ("PING of 7 bytes", frame(PING, 0, 0, &[0; 7])),
        ("SETTINGS of 5 bytes", frame(SETTINGS, 0, 0, &[0; 5])),
        ("SETTINGS with a window over the limit", frame(SETTINGS, 0, 0, &[0, 4, 0xff, 0xff, 0xff, 0xff])),
        ("WINDOW_UPDATE of zero", frame(WINDOW_UPDATE, 0, 0, &[0; 4])),
        ("WINDOW_UPDATE over the limit", frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]).repeat(2)),
        ("RST_STREAM of an idle stream", frame(RST_STREAM, 0, 7, &[0, 0, 0, 8])),
        ("PRIORITY on itself", frame(PRIORITY, 0, 1, &[0, 0, 0, 1, 0])),
        ("a frame of 1 MiB", frame(DATA, 0, 1, &vec![0; 1 << 20])),
        ("padding longer than the frame", [open.clone(), frame(DATA, 8, 1, &[200, 1])].concat()),
        ("an index beyond the table", frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0xff, 0xff, 0xff, 0x7f])),
        ("an integer without end", frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0xff; 60])),
        (
            "DATA after the end",
            [frame(HEADERS, END_HEADERS | END_STREAM, 1, &head), frame(DATA, END_STREAM, 1, b"x")].concat(),
        ),
        ("HEADERS twice", [open.clone(), frame(HEADERS, END_HEADERS, 1, &head)].concat()),
        (
            "an act cut by a reset",
            [
                open.clone(),
                frame(DATA, 0, 1, MEETING_BODY.as_bytes()),
                frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]),
            ]
            .concat(),
        ),
        ("an unknown frame", frame(0x42, 0xff, 9, b"x")),
        ("HTTP/1 behind the preface", b"POST / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec()),
    ];
    for (what, bytes) in &cases {
        let mut raw = Raw::open(gate.addr);
        raw.send(bytes);
        let came = raw.until(0, Duration::from_millis(150));
        assert!(came.status(1) != Some(200), "{what}: {came:?}");
        let began = Instant::now();
        assert_eq!(gate.get(MEETING).status, 200, "{what}");
        assert!(began.elapsed() < Duration::from_secs(1), "{what}");
    }
    assert_eq!(backend.count(), 0, "an act came of it");
    println!("http2: {} odd frames, no act", cases.len());
}

/// A head that stops, or goes on for ever, ends with its connection when its time is over, whatever the connection did
/// before; one that is slow but whole in time is served.
#[test]
fn heads_that_never_end_meet_their_deadline() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("head_deadline", "600ms").with("keepalive", "30s").start();
    let head = fields(&[&HEAD[..], &[JSON]].concat());
    let get = fields(&[(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a"), PATH]);
    let ways: [(&str, Vec<u8>, Vec<u8>); 4] = [
        ("no CONTINUATION", frame(HEADERS, 0, 3, &head), Vec::new()),
        ("a frame cut short", frame(HEADERS, END_HEADERS, 3, &head)[..20].to_vec(), Vec::new()),
        ("a byte now and then", frame(HEADERS, 0, 3, &head), b"\0".to_vec()),
        ("empty CONTINUATION now and then", frame(HEADERS, 0, 3, &head), frame(CONTINUATION, 0, 3, b"")),
    ];
    for (what, begun, more) in ways {
        let mut raw = Raw::open(gate.addr);
        raw.send(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &get));
        assert_eq!(raw.until(1, SOON).status(1), Some(200), "{what}");
        raw.send(&begun);
        let start = Instant::now();
        while start.elapsed() < SOON {
            let came = raw.until(0, Duration::from_millis(100));
            if came.closed || !raw.send(&more) {
                break;
            }
        }
        let took = start.elapsed();
        println!("http2: a head with {what} ended after {took:.1?}");
        assert!((Duration::from_millis(400)..Duration::from_secs(2)).contains(&took), "{what}: {took:?}");
    }
    let mut slow = Raw::open(gate.addr);
    let wire = frame(HEADERS, END_HEADERS | END_STREAM, 1, &get);
    for piece in wire.chunks(wire.len().div_ceil(4)) {
        slow.send(piece);
        std::thread::sleep(Duration::from_millis(80));
    }
    assert_eq!(slow.until(1, SOON).status(1), Some(200));
    backend.untouched();
}

/// Sends `flood` until the gate has had enough, or all is sent; good clients are served meanwhile, memory is bounded.
#[track_caller]
fn flood(gate: &Gate, what: &str, pieces: impl Iterator<Item = Vec<u8>>) {
    let before = rss_before(gate.pid());
    let began = Instant::now();
    let mut raw = Raw::open(gate.addr);
    let (mut sent, mut over) = (0, false);
    for (index, piece) in pieces.enumerate() {
        sent += piece.len();
        if !raw.send(&piece) {
            over = true;
            break;
        }
        if index % 20 == 0 {
            let came = raw.until(0, Duration::from_millis(1));
            if came.goaway || came.closed {
                over = true;
                break;
            }
        }
        if began.elapsed() > Duration::from_secs(4) {
            break;
        }
    }
    let good = Instant::now();
    assert_eq!(gate.get(MEETING).status, 200, "{what}");
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200, "{what}");
    let good = good.elapsed();
    let grown = peak(gate.pid()).saturating_sub(before);
    println!(
        "http2: {what}: {sent} bytes in {:.1?}, cut off: {over}, +{:.1} MiB, good clients {good:.1?}",
        began.elapsed(),
        mib(grown)
    );
    assert!(good < Duration::from_secs(2), "{what}: good clients waited {good:?}");
    assert!(grown < 48 * MIB, "{what}: +{:.1} MiB", mib(grown));
}

#[test]
fn floods_are_bounded() {
    let _turn = turn();
    let many = u32::try_from(number("H2_FLOOD", 20_000)).unwrap();
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("access_log", "off").with("head_deadline", "3s").start();
    let head = fields(&[&HEAD[..], &[JSON]].concat());
    let get = fields(&[(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a"), PATH]);
    let batch = 100;
    flood(
        &gate,
        "rapid reset",
        (0..many / batch).map(|n| {
            let one = |at: u32| {
                let stream = (n * batch + at) * 2 + 1;
                [frame(HEADERS, END_HEADERS, stream, &head), frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])]
                    .concat()
            };
            (0..batch).flat_map(one).collect()
        }),
    );
    flood(
        &gate,
        "requests whose answers nobody reads",
        (0..many / batch).map(|n| {
            (0..batch)
                .flat_map(|at| frame(HEADERS, END_HEADERS | END_STREAM, (n * batch + at) * 2 + 1, &get))
                .collect()
        }),
    );
    flood(
        &gate,
        "streams that stall",
        (0..many / batch).map(|n| {
            (0..batch).flat_map(|at| frame(HEADERS, END_HEADERS, (n * batch + at) * 2 + 1, &head)).collect()
        }),
    );
    let piece = fields(&[(b"x-long", &[b'x'; 4000])]);
    flood(
        &gate,
        "CONTINUATION",
        (0..many).map(|n| match n {
            0 => frame(HEADERS, 0, 1, &head),
            _ => frame(CONTINUATION, 0, 1, &piece),
        }),
    );
    flood(
        &gate,
        "empty CONTINUATION",
        (0..many / batch).map(|n| match n {
            0 => frame(HEADERS, 0, 1, &head),
            _ => frame(CONTINUATION, 0, 1, b"").repeat(batch as usize),
        }),
    );
    flood(&gate, "PING", (0..many / batch).map(|_| frame(PING, 0, 0, &[7; 8]).repeat(batch as usize)));
    flood(
        &gate,
        "SETTINGS",
        (0..many / batch).map(|_| frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]).repeat(batch as usize)),
    );
    flood(
        &gate,
        "PRIORITY",
        (0..many / batch).map(|_| frame(PRIORITY, 0, 3, &[0, 0, 0, 1, 9]).repeat(batch as usize)),
    );
    flood(
        &gate,
        "empty DATA",
        (0..many / batch).map(|n| match n {
            0 => frame(HEADERS, END_HEADERS, 1, &head),
            _ => frame(DATA, 0, 1, b"").repeat(batch as usize),
        }),
    );
    flood(
        &gate,
        "WINDOW_UPDATE",
        (0..many / batch).map(|_| frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]).repeat(batch as usize)),
    );
    // One field that is named again and again: small on the wire, large in memory.
    let mut bomb = vec![0x40, 1, b'x', 0x7f, 0x81, 0x1e];
    bomb.extend_from_slice(&[b'y'; 4000]);
    let again = [get.clone(), bomb, vec![0xbe; 12_000]].concat();
    flood(
        &gate,
        "an HPACK bomb",
        (0..20).map(|n| frame(HEADERS, END_HEADERS | END_STREAM, n * 2 + 1, &again)),
    );
}
