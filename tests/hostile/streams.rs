//! Memory over many HTTP/2 streams (issue 3, item 7): a stream is a request like any other to the budget.

use super::process::{KIB, MIB, mib, peak, rss_before};
use super::turn;
use crate::support::{Backend, MEETING, MEETING_BODY, Setup, eventually, padded};
use crate::wire::http2::{exchange, open, post, run};
use bytes::Bytes;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 20;
const STREAMS: usize = 60;

/// Twelve hundred bodies that stop before their end, sixty to a connection: the budget holds, those beyond it are told so at
/// once, arrivals and acts go on, and all is given back.
#[test]
fn stalled_streams_stay_within_the_budget() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let budget = 8 * MIB;
    let gate = Setup::meeting(&backend)
        .with("inflight_bodies", "8MiB")
        .with("access_log", "off")
        .with("defaults/body_deadline", "60s")
        .start();
    for _ in 0..50 {
        gate.post(MEETING, MEETING_BODY);
    }
    let before = rss_before(gate.pid());
    let body = padded(MEETING_BODY, 40_000);
    run(async {
        let mut stalled = tokio::task::JoinSet::new();
        for _ in 0..CONNECTIONS {
            let client = open(gate.addr).await;
            for _ in 0..STREAMS {
                let (client, body) = (client.clone(), body.clone());
                stalled.spawn(async move {
                    let mut ready = client.ready().await.unwrap();
                    let head = post(MEETING).body(()).unwrap();
                    let (response, mut stream) = ready.send_request(head, false).unwrap();
                    let _ = stream.send_data(Bytes::from(body), false);
                    // A body that has not ended has one answer: there is no memory for it.
                    let answer = tokio::time::timeout(Duration::from_millis(2500), response).await;
                    (answer.ok().and_then(Result::ok).map(|head| head.status().as_u16()), stream)
                });
            }
        }
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let held = gate.metrics().sum("formgate_inflight_body_bytes", &[]);
        let began = Instant::now();
        assert_eq!(gate.get(MEETING).status, 200);
        let other = open(gate.addr).await;
        let act = exchange(&other, post(MEETING), &[MEETING_BODY.as_bytes()]).await.unwrap().status;
        assert!(matches!(act, 200 | 503), "{act}");
        assert!(began.elapsed() < Duration::from_secs(2), "a good client waited {:?}", began.elapsed());
        let all = stalled.join_all().await;
        let turned_away = all.iter().filter(|(status, _)| *status == Some(503)).count();
        let waiting = all.iter().filter(|(status, _)| status.is_none()).count();
        println!(
            "streams: {} stalled bodies of 40 kB: {held} bytes held, {turned_away} turned away",
            all.len()
        );
        assert_eq!(turned_away + waiting, CONNECTIONS * STREAMS);
        assert!(turned_away > 0 && held > 0.0);
        assert!(held <= 8.0 * 1024.0 * 1024.0, "{held}");
        drop(all);
    });
    eventually("the budget is free again", || gate.metrics().counts("formgate_inflight_body_bytes", &[], 0));
    let grown = peak(gate.pid()).saturating_sub(before);
    // What a connection's window lets wait in it comes on top, and what streams themselves cost.
    let allowed =
        budget + 64 * MIB + (CONNECTIONS * 64) as u64 * KIB + (CONNECTIONS * STREAMS * 16) as u64 * KIB;
    println!("streams: +{:.1} MiB of {:.1} allowed", mib(grown), mib(allowed));
    assert!(grown <= allowed, "+{:.1} MiB", mib(grown));
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
}
