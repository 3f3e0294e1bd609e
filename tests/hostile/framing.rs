//! Request smuggling and desynchronisation over raw sockets (issue 3, item 5). The catalogue is data:
//! `tests/cases/hostile/*.http`; how it is read is told in the README beside this file.
//!
//! Each case is sent as it stands, and again byte by byte: where packets end must not change what is said.

use super::catalogue::{Case, Ending, catalogue};
use super::turn;
use crate::support::{Backend, Client, Gate, Loss, MEETING, MEETING_BODY, Request, Setup, eventually};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(3);
/// Longer cases are sent whole only.
const BYTEWISE: usize = 4096;

/// What a smuggled act would carry.
pub(super) const SMUGGLED: &str = r#"{"title":"SMUGGLED","displayName":"X"}"#;

fn gate(backend: &Backend) -> Gate {
    Setup::meeting(backend).with("max_head", "16KiB").with("head_deadline", "3s").start()
}

/// Sends one case and gives what is wrong with what came of it.
fn run(gate: &Gate, backend: &Backend, case: &Case, bytewise: bool) -> Result<usize, String> {
    let before = backend.count();
    let mut client = gate.client();
    for piece in &case.pieces {
        if bytewise {
            // What a closed connection no longer takes needs no sending.
            let _ = client.send_pieces(piece.chunks(1), Duration::ZERO);
        } else {
            client.send_pieces([piece.as_slice()], Duration::from_millis(5));
        }
    }
    if case.finishes {
        client.finish();
    }
    let mut answered = 0;
    for (index, status) in case.statuses.iter().enumerate() {
        let response =
            client.try_receive("POST").map_err(|loss| format!("answer {index}: {loss:?}, not {status}"))?;
        if response.status != *status {
            return Err(format!("answer {index}: {}, not {status}", response.status));
        }
        if response.status >= 400 && !response.body.is_empty() {
            return Err(format!("answer {index} explains itself: {}", response.text()));
        }
        answered += 1;
    }
    match case.ending {
        Ending::Close if !client.closes_within(SOON) => return Err("left open".into()),
        Ending::Close => {}
        Ending::Open | Ending::Early => {
            // Byte by byte, the answer may come before the first byte of the body.
            let may_close = matches!(case.ending, Ending::Early) && bytewise;
            match goes_on(&mut client)? {
                true => answered += 1,
                false if may_close => {}
                false => return Err("the connection did not go on".into()),
            }
        }
    }
    let seen = backend.seen().split_off(before);
    let bodies: Vec<_> = seen.iter().map(|seen| String::from_utf8_lossy(&seen.body).into_owned()).collect();
    if bodies != case.acts {
        return Err(format!("the upstream saw {bodies:?}, not {:?}", case.acts));
    }
    for seen in seen {
        let length = seen.field("content-length");
        if seen.line() != "POST /legacy/meetings-start HTTP/1.1"
            || length != Some(seen.body.len().to_string())
            || seen.fields().iter().filter(|(name, _)| name == "content-length").count() != 1
            || seen.field("transfer-encoding").is_some()
            || seen.field("host") != Some(backend.addr.to_string())
        {
            return Err(format!("the upstream saw\n{}", seen.head));
        }
    }
    Ok(answered)
}

/// Whether the connection goes on; then the next request is answered as itself: nothing is left of those before.
fn goes_on(client: &mut Client) -> Result<bool, String> {
    if client.leftover() > 0 {
        return Err("more came than was asked for".into());
    }
    let next = match client.try_exchange(&Request::new("OPTIONS", MEETING)) {
        Ok(next) => next,
        Err(Loss::Closed(0) | Loss::Reset) => return Ok(false),
        Err(loss) => return Err(format!("the connection did not go on: {loss:?}")),
    };
    if next.status == 204 && next.field("allow").is_some() && client.leftover() == 0 {
        Ok(true)
    } else {
        Err(format!("the next request was answered\n{}", next.head))
    }
}

#[test]
fn no_byte_of_a_second_request_is_ever_taken_as_one() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let gate = gate(&backend);
    let (mut wrong, mut cases, mut requests, mut reads) = (Vec::new(), 0, 0, 0);
    for (file, of_file) in catalogue() {
        for case in of_file {
            cases += 1;
            let length: usize = case.pieces.iter().map(Vec::len).sum();
            for bytewise in [false, true] {
                if bytewise && length > BYTEWISE {
                    continue;
                }
                reads += 1;
                match run(&gate, &backend, &case, bytewise) {
                    Ok(answered) => requests += answered,
                    Err(fault) => {
                        wrong.push(format!("{file}: {} (bytewise: {bytewise}): {fault}", case.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {reads} went wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(backend.stray(), 0, "bytes at the backend that are no request");
    println!("framing: {cases} cases, sent {reads} times, {requests} answers, {} acts", backend.count());
    assert!(cases >= 150, "the catalogue has shrunk: {cases}");
    // Answered or cut: each is one line and one count, and nothing was counted that was not a request.
    eventually("lines and counts agree", || {
        gate.metrics().counts("formgate_requests_total", &[], gate.access().len())
    });
    let lines = gate.access();
    assert_eq!(lines.iter().filter(|line| line["status"] != 0).count(), requests);
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
}

/// Who waits for 100 and is refused may send the body all the same: it could as well be a request, and is neither.
#[test]
fn what_follows_a_refusal_without_100_is_nobodys_request() {
    let backend = Backend::agreeing();
    let gate = gate(&backend);
    let act = Request::post(MEETING, MEETING_BODY).bytes();
    for (head, status) in [
        (Request::new("POST", "/elsewhere"), 404),
        (Request::new("GET", MEETING), 200),
        (Request::new("POST", "/elsewhere").field("Content-Type", "application/json"), 404),
    ] {
        let head = head.raw().field("Expect", "100-continue").field("Content-Length", &act.len().to_string());
        let mut client = gate.client();
        client.send(&head.bytes());
        assert_eq!(client.receive(&head.method).status, status);
        client.send(&act);
        assert!(client.closes_within(SOON), "{status}: left open");
    }
    assert_eq!(backend.count(), 0);
}
