//! Upstreams that hang before they say anything, and those that say far more than they seem to (issue 3, item 6).

use super::process::{MIB, mib, peak, rss_before};
use super::turn;
use crate::support::backend::{answer, json};
use crate::support::{Backend, MEETING, MEETING_BODY, Setup};
use serde_json::json as value;
use socket2::{Domain, Socket, Type};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A server that does not get as far as accepting: its queue is full, and the kernel lets further connects hang.
struct Hanging {
    addr: SocketAddr,
    _listener: Socket,
    _queued: Vec<TcpStream>,
}

impl Hanging {
    fn new() -> Self {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
        listener.listen(0).unwrap();
        let addr = listener.local_addr().unwrap().as_socket().unwrap();
        let mut queued = Vec::new();
        while let Ok(stream) = TcpStream::connect_timeout(&addr, Duration::from_millis(200)) {
            queued.push(stream);
            assert!(queued.len() < 100, "the queue is never full");
        }
        Self { addr, _listener: listener, _queued: queued }
    }
}

/// A connect that hangs is given up in its time; nothing was sent, so the next server may be tried, once.
#[test]
fn a_connect_that_hangs_is_given_up() {
    let _turn = turn();
    let (hanging, backend) = (Hanging::new(), Backend::agreeing());
    let connect = Duration::from_millis(400);
    let url = format!("http://{}", hanging.addr);
    let setup = |servers: serde_json::Value| {
        Setup::meeting(&backend)
            .with("upstreams/backend/servers", servers)
            .with("upstreams/backend/timeouts/connect", "400ms")
            .start()
    };
    let alone = setup(value!([url]));
    let began = Instant::now();
    let response = alone.post(MEETING, MEETING_BODY);
    let took = began.elapsed();
    assert_eq!((response.status, response.body.len()), (503, 0));
    assert!(took >= connect && took < connect + Duration::from_secs(1), "{took:?}");
    let line = &alone.access_lines(1)[0];
    assert_eq!(
        (&line["outcome"], &line["upstream"]),
        (&value!("unavailable"), &value!("not_sent")),
        "{line}"
    );
    assert_eq!(alone.get(MEETING).status, 200);

    let beside = setup(value!([url, backend.url()]));
    let began = Instant::now();
    for _ in 0..6 {
        assert_eq!(beside.post(MEETING, MEETING_BODY).status, 200);
    }
    println!("upstream: six acts with one of two servers hanging: {:.1?}", began.elapsed());
    assert!(began.elapsed() < 6 * connect + Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(backend.count(), 6);
    // Many at once wait side by side, and arrivals do not wait at all.
    std::thread::scope(|scope| {
        let began = Instant::now();
        let acts: Vec<_> =
            (0..40).map(|_| scope.spawn(|| alone.post(MEETING, MEETING_BODY).status)).collect();
        assert_eq!(alone.get(MEETING).status, 200);
        assert!(began.elapsed() < connect, "an arrival waited {:?}", began.elapsed());
        assert!(acts.into_iter().all(|act| act.join().unwrap() == 503));
        assert!(began.elapsed() < connect + Duration::from_secs(2), "{:?}", began.elapsed());
    });
}

/// Compressed bombs: nothing is ever unpacked, so what a byte might become costs nothing. The act happened: 200 and `{}`.
#[test]
fn compressed_bombs_stay_small() {
    let _turn = turn();
    let zeros = vec![b'0'; 1 << 20];
    let many = 256;
    let gzip = {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        (0..many).for_each(|_| out.write_all(&zeros).unwrap());
        out.finish().unwrap()
    };
    let zstd = {
        let mut out = zstd::Encoder::new(Vec::new(), 3).unwrap();
        (0..many).for_each(|_| out.write_all(&zeros).unwrap());
        out.finish().unwrap()
    };
    // A bomb in a bomb: what unpacks once is another.
    let nested = {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        out.write_all(&gzip).unwrap();
        out.finish().unwrap()
    };
    println!(
        "upstream: {many} MiB packed into {} (gzip), {} (zstd), {} (twice) bytes",
        gzip.len(),
        zstd.len(),
        nested.len()
    );
    let chunked = |coding: &str, body: &[u8]| {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{coding}\r\n{:x}\r\n", body.len());
        [head.as_bytes(), body, b"\r\n0\r\n\r\n"].concat()
    };
    let fields = |coding: &str| format!("Content-Type: application/json\r\nContent-Encoding: {coding}\r\n");
    let bombs = [
        ("gzip", answer("200 OK", &fields("gzip"), &gzip)),
        ("zstd", answer("200 OK", &fields("zstd"), &zstd)),
        ("twice", answer("200 OK", &fields("gzip, gzip"), &nested)),
        ("said to be plain", answer("200 OK", "Content-Type: application/json\r\n", &gzip)),
        ("chunked", chunked("Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n", &gzip)),
        ("in the transfer", chunked("Transfer-Encoding: gzip, chunked\r\n", &gzip)),
        ("of a refusal", answer("422 No", &fields("gzip"), &gzip)),
    ];
    for text in [false, true] {
        for (what, bytes) in &bombs {
            let backend = Backend::answering(bytes.clone());
            let gate =
                Setup::meeting(&backend).with("routes/0/consequence", value!({ "text": text })).start();
            gate.get(MEETING);
            let before = rss_before(gate.pid());
            let began = Instant::now();
            let response = gate.post(MEETING, MEETING_BODY);
            let (took, grown) = (began.elapsed(), peak(gate.pid()).saturating_sub(before));
            let expected = if *what == "of a refusal" { (204, "") } else { (200, "{}") };
            assert_eq!((response.status, response.text()), expected, "{what}, text: {text}");
            assert!(
                grown < 16 * MIB && took < Duration::from_secs(2),
                "{what}: +{:.1} MiB, {took:?}",
                mib(grown)
            );
            assert_eq!(backend.count(), 1);
        }
    }
    let good = Backend::answering(json("{}"));
    assert_eq!(Setup::meeting(&good).start().post(MEETING, MEETING_BODY).status, 200);
}
