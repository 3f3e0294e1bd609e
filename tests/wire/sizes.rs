//! Bodies of every size, framed and cut in every way: byte-identical at the backend or refused, never stuck
//! (G-22 to G-24, P5, P9; issue 2, "What it must reach").

use crate::support::{Backend, Gate, Request, Setup};
use serde_json::json;
use std::time::Duration;

const SMALL: usize = 70_000;
const LARGE: usize = 8 << 20;

/// A form of one digit: whitespace around it makes a fit body of any length from 1.
fn digits(backend: &Backend) -> Gate {
    let digit = json!({ "description": "A digit.", "type": "integer", "minimum": 0, "maximum": 9 });
    Setup::bare(backend)
        .inline_route("small", &digit)
        .inline_route("large", &digit)
        .with("routes/0/max_body", SMALL.to_string())
        .with("routes/1/max_body", "8MiB")
        .start()
}

/// A digit among white space that differs at every place, so that a shift or a swap shows.
fn body(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_u32;
    let mut body: Vec<u8> = (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            b" \n\t\r"[(state % 4) as usize]
        })
        .collect();
    if length > 0 {
        body[length / 2] = b'7';
    }
    body
}

#[test]
fn sizes_around_every_boundary() {
    let backend = Backend::agreeing();
    let gate = digits(&backend);
    let mut count = 0;
    for length in
        [0, 1, 2, 4095, 4096, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, SMALL - 1, SMALL, SMALL + 1]
    {
        let body = body(length);
        let act = Request::post("/small", &body);
        for request in
            [act.clone(), act.clone().chunked(usize::MAX), act.clone().chunked(1000), act.chunked(65_536)]
        {
            let response = gate.exchange(&request);
            let fits = (1..=SMALL).contains(&length);
            assert_eq!(response.status, if fits { 200 } else { 204 }, "{length}");
            count += usize::from(fits);
            let seen = backend.seen();
            assert_eq!(seen.len(), count, "{length}");
            assert!(!fits || seen[count - 1].body == body, "{length}: changed on its way");
        }
    }
    assert_eq!(backend.stray(), 0);
}

#[test]
fn eight_mebibytes_and_one_byte_more() {
    let backend = Backend::agreeing();
    let gate = digits(&backend);
    let fit = body(LARGE);
    for request in [Request::post("/large", &fit), Request::post("/large", &fit).chunked(65_537)] {
        assert_eq!(gate.exchange(&request).status, 200);
    }
    let over = body(LARGE + 1);
    for request in [Request::post("/large", &over), Request::post("/large", &over).chunked(1 << 20)] {
        assert_eq!(gate.exchange(&request).status, 204);
    }
    let seen = backend.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|seen| seen.body == fit), "changed on its way");
}

/// A limit is of the body, not of its framing: 60 000 chunks of one byte are 60 000 bytes.
#[test]
fn tiny_chunks_are_joined() {
    let backend = Backend::agreeing();
    let gate = digits(&backend);
    let body = body(60_000);
    assert_eq!(gate.exchange(&Request::post("/small", &body).chunked(1)).status, 200);
    assert!(backend.only().body == body);
}

/// A body announced as too long is refused before it is sent.
#[test]
fn a_length_over_the_limit_is_refused_before_the_body() {
    let backend = Backend::agreeing();
    let gate = digits(&backend);
    // Beyond 18 digits a length is no number that everybody reads alike: malformed.
    for (length, status) in
        [("70001", 204), ("4294967296", 204), ("999999999999999999", 204), ("18446744073709551615", 400)]
    {
        let mut client = gate.client();
        let head = Request::post("/small", "").raw().field("Content-Length", length).head();
        client.send(&head);
        assert_eq!(client.receive("POST").status, status, "{length}");
    }
    backend.untouched();
}

/// One packet a byte, head and body.
#[test]
fn byte_by_byte() {
    let backend = Backend::agreeing();
    let gate = digits(&backend);
    let body = body(40);
    for request in [Request::post("/small", &body), Request::post("/small", &body).chunked(9)] {
        let mut client = gate.client();
        let bytes = request.bytes();
        client.send_pieces(bytes.chunks(1), Duration::from_micros(300));
        assert_eq!(client.receive("POST").status, 200);
    }
    assert!(backend.seen().iter().all(|seen| seen.body == body));
    assert_eq!(backend.count(), 2);
}

/// Two packets, cut at every place there is: inside the head, its terminator, a chunk size, a line end, the body.
#[test]
fn cut_at_every_place() {
    let backend = Backend::agreeing();
    let gate = digits(&backend);
    let body = body(30);
    let mut count = 0;
    for request in [Request::post("/small", &body), Request::post("/small", &body).chunked(16)] {
        let bytes = request.bytes();
        let mut client = gate.client();
        for cut in 1..bytes.len() {
            let (first, second) = bytes.split_at(cut);
            client.send_pieces([first, second], Duration::from_millis(1));
            let response = client.try_receive("POST");
            assert_eq!(response.map(|response| response.status), Ok(200), "cut at {cut}");
            count += 1;
        }
    }
    let seen = backend.seen();
    assert_eq!(seen.len(), count);
    assert!(seen.iter().all(|seen| seen.body == body));
}

/// Several acts in one packet are several acts, answered in order.
#[test]
fn pipelined_acts_are_each_done_once_in_order() {
    let backend = Backend::scripted(|seen, stream| {
        use std::io::Write;
        let _ = stream.write_all(&crate::support::backend::json(&seen.body));
        crate::support::After::Keep
    });
    let gate = digits(&backend);
    let bodies: Vec<Vec<u8>> = (0..8).map(|n| format!(" {n}").into_bytes()).collect();
    let bytes: Vec<u8> = bodies.iter().flat_map(|body| Request::post("/small", body).bytes()).collect();
    let mut client = gate.client();
    client.send(&bytes);
    for body in &bodies {
        let response = client.receive("POST");
        assert_eq!((response.status, &response.body), (200, body));
    }
    let seen: Vec<_> = backend.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!(seen, bodies);
}

/// A refused body on a kept connection is never taken for the next request.
#[test]
fn the_rest_of_a_refused_body_is_no_request() {
    let backend = Backend::agreeing();
    let gate = digits(&backend);
    let inner = Request::post("/small", "7").bytes();
    let mut over = body(SMALL - inner.len());
    over.extend_from_slice(&inner);
    over.extend_from_slice(&inner);
    for request in [
        Request::post("/small", &over),
        Request::post("/small", &over).chunked(50_000),
        Request::new("PUT", "/small").body(&over),
    ] {
        let mut client = gate.client();
        client.send(&request.bytes());
        client.send(&Request::get("/small").bytes());
        let first = client.receive(&request.method);
        assert!(matches!(first.status, 204 | 405));
        match client.try_receive("GET") {
            Ok(second) => assert_eq!(second.status, 200),
            Err(loss) => assert!(!matches!(loss, crate::support::Loss::Timeout), "stuck"),
        }
        assert_eq!(client.leftover(), 0);
    }
    backend.untouched();
}
