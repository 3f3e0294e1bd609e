//! Keys over HTTP/2 (B-30, P5): streams of one connection that bring one key do one act, and a stream that is reset in
//! the middle takes nothing back.

use super::http2::{exchange, open, post, run};
use crate::support::backend::json;
use crate::support::{After, Backend, Gate, MEETING, MEETING_BODY, Setup};
use bytes::Bytes;
use std::io::Write;
use std::time::Duration;

fn slow() -> (Backend, Gate) {
    let backend = Backend::scripted(|seen, stream| {
        std::thread::sleep(Duration::from_millis(300));
        let told = json(format!("{{\"connection\":{},\"nth\":{}}}", seen.connection, seen.nth));
        if stream.write_all(&told).is_ok() { After::Keep } else { After::Close }
    });
    let gate = Setup::meeting(&backend).with("routes/0/idempotency", "required").start();
    (backend, gate)
}

#[test]
fn streams_with_one_key_do_one_act() {
    let (backend, gate) = slow();
    run(async {
        let client = open(gate.addr).await;
        let streams: Vec<_> = (0..16)
            .map(|_| {
                let client = client.clone();
                let request = post(MEETING).header("idempotency-key", "one");
                tokio::spawn(async move { exchange(&client, request, &[MEETING_BODY.as_bytes()]).await })
            })
            .collect();
        let (mut answers, mut replayed) = (Vec::new(), 0);
        for stream in streams {
            let answer = stream.await.unwrap().unwrap();
            assert_eq!(answer.status, 200);
            replayed += usize::from(answer.field("idempotency-replayed") == Some("true"));
            answers.push(answer.body);
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]));
        assert_eq!(replayed, 15);
        let missing = exchange(&client, post(MEETING), &[MEETING_BODY.as_bytes()]).await.unwrap();
        assert_eq!((missing.status, missing.body.len()), (400, 0));
    });
    assert_eq!(backend.count(), 1);
}

#[test]
fn a_stream_that_is_reset_takes_nothing_back() {
    let (backend, gate) = slow();
    run(async {
        let mut client = open(gate.addr).await.ready().await.unwrap();
        let request = post(MEETING).header("idempotency-key", "reset").body(()).unwrap();
        let (response, mut stream) = client.send_request(request, false).unwrap();
        stream.send_data(Bytes::from_static(MEETING_BODY.as_bytes()), true).unwrap();
        while backend.count() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stream.send_reset(h2::Reason::CANCEL);
        drop(response);
        // Its answer, or that nobody knows: never a second act.
        let request = post(MEETING).header("idempotency-key", "reset");
        let again = exchange(&client, request, &[MEETING_BODY.as_bytes()]).await.unwrap();
        assert!([200, 504].contains(&again.status), "{}", again.status);
        println!("keys: after a reset stream the same key is answered {}", again.status);
    });
    assert_eq!(backend.count(), 1);
}
