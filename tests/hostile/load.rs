//! What holds while the machine is being exhausted (issue 3, item 7): memory stays within what the config says plus a
//! stated constant, good clients are served meanwhile, limits hold.

use super::process::{KIB, MIB, mib, peak, rss, threads};
use super::{number, turn};
use crate::support::backend::json;
use crate::support::{
    After, Backend, Client, Gate, MEETING, MEETING_BODY, Request, Setup, eventually, padded,
};
use serde_json::json as value;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What the process may grow by beyond its budgets, whatever is thrown at it: buffers of workers, the log's queue (8 MiB),
/// and what the allocator takes from the system ahead of need, in steps of about 20 MiB
/// (with `MIMALLOC_PURGE_DELAY=0`, half of it).
const CONSTANT: u64 = 64 * MIB;
/// What one connection may cost beside its body, its kernel part not counted.
const CONNECTION: u64 = 12 * KIB;

#[track_caller]
fn served(gate: &Gate, what: &str) {
    let began = Instant::now();
    assert_eq!(gate.get(MEETING).status, 200, "{what}");
    assert!(matches!(gate.post(MEETING, MEETING_BODY).status, 200), "{what}");
    assert!(began.elapsed() < Duration::from_secs(2), "{what}: a good client waited {:?}", began.elapsed());
}

#[track_caller]
fn within(gate: &Gate, before: u64, budget: u64, what: &str) {
    let grown = peak(gate.pid()).saturating_sub(before);
    println!("load: {what}: +{:.1} MiB of {:.1} allowed", mib(grown), mib(budget + CONSTANT));
    assert!(grown <= budget + CONSTANT, "{what}: +{:.1} MiB", mib(grown));
}

fn warm(setup: Setup) -> (Gate, u64) {
    let gate = setup.with("max_connections", 19_000).with("access_log", "off").start();
    for _ in 0..50 {
        gate.get(MEETING);
        gate.post(MEETING, MEETING_BODY);
    }
    let before = rss(gate.pid());
    (gate, before)
}

/// Silent from the start, after an arrival, and after an act at the limit: a connection that waits costs little.
#[test]
fn idle_connections_are_cheap() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let many = number("IDLE_CONNECTIONS", 2000);
    let large = Request::post(MEETING, padded(MEETING_BODY, 256 << 10));
    let kinds: [(&str, u64, Option<Request>); 3] = [
        ("silent", many, None),
        ("after an arrival", many, Some(Request::get(MEETING))),
        ("after an act at the limit of 256 KiB", many / 5, Some(large)),
    ];
    for (kind, many, request) in kinds {
        let setup = Setup::meeting(&backend).with("keepalive", "10m").with("head_deadline", "10m");
        let (gate, before) = warm(setup.with("routes/0/max_body", "256KiB"));
        let idle: Vec<Client> = (0..many)
            .map(|_| {
                let mut client = gate.client();
                if let Some(request) = &request {
                    assert_eq!(client.exchange(request).status, 200);
                }
                client
            })
            .collect();
        let open = f64::from(u32::try_from(many).unwrap());
        eventually("all are open", || gate.metrics().sum("formgate_connections", &[]) >= open);
        served(&gate, kind);
        let each = rss(gate.pid()).saturating_sub(before) / many;
        println!("load: {each} bytes each, {} threads", threads(gate.pid()));
        within(&gate, before, many * CONNECTION, &format!("{many} connections {kind}"));
        drop(idle);
    }
}

/// A thousand bodies that stop half way: the budget holds, arrivals go on, and all is given back.
#[test]
fn slow_bodies_stay_within_the_budget() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let budget = 16 * MIB;
    let (gate, before) =
        warm(Setup::meeting(&backend).with("inflight_bodies", "16MiB").with("defaults/body_deadline", "60s"));
    for request in [
        Request::post(MEETING, padded(MEETING_BODY, 60_000)),
        Request::post(MEETING, padded(MEETING_BODY, 60_000)).chunked(60_000),
    ] {
        let bytes = request.bytes();
        let mut slow: Vec<Client> = (0..1000)
            .map(|_| {
                let mut client = gate.client();
                client.send(&bytes[..bytes.len() - 100]);
                client
            })
            .collect();
        std::thread::sleep(Duration::from_millis(300));
        let began = Instant::now();
        assert_eq!(gate.get(MEETING).status, 200);
        let act = gate.post(MEETING, MEETING_BODY).status;
        assert!(matches!(act, 200 | 503), "{act}");
        assert!(began.elapsed() < Duration::from_secs(2), "a good client waited {:?}", began.elapsed());
        let held = gate.metrics().sum("formgate_inflight_body_bytes", &[]);
        let refused = slow
            .iter_mut()
            .filter_map(|client| {
                let _ = client.stream.set_read_timeout(Some(Duration::from_millis(1)));
                client.try_receive("POST").ok()
            })
            .inspect(|response| assert_eq!(response.status, 503))
            .count();
        println!("load: 1000 slow bodies: {held} bytes held, {refused} turned away");
        assert!(refused > 0 && held > 0.0);
        // Each connection may hold one read beyond its body.
        within(&gate, before, budget + 1000 * CONNECTION, "1000 slow bodies of 60 kB, budget 16 MiB");
        drop(slow);
        eventually("the budget is free again", || {
            gate.metrics().counts("formgate_inflight_body_bytes", &[], 0)
        });
        served(&gate, "afterwards");
    }
}

/// Bodies at the limit from many clients at once.
#[test]
fn bodies_at_the_limit_stay_within_the_budget() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let (gate, before) =
        warm(Setup::meeting(&backend).with("routes/0/max_body", "1MiB").with("inflight_bodies", "8MiB"));
    let bytes = Request::post(MEETING, padded(MEETING_BODY, 1 << 20)).bytes();
    let until = Instant::now() + Duration::from_secs(2);
    let (mut done, mut busy) = (0, 0);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..number("BODY_CLIENTS", 24))
            .map(|_| {
                scope.spawn(|| {
                    let (mut done, mut busy) = (0, 0);
                    while Instant::now() < until {
                        let mut client = gate.client();
                        client.send(&bytes);
                        match client.try_receive("POST").map(|response| response.status) {
                            Ok(200) => done += 1,
                            Ok(503) => busy += 1,
                            other => panic!("{other:?}"),
                        }
                    }
                    (done, busy)
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(gate.get(MEETING).status, 200);
        for worker in workers {
            let (more, turned) = worker.join().unwrap();
            done += more;
            busy += turned;
        }
    });
    assert!(done > 0);
    println!("load: bodies of 1 MiB from 24 clients: {done} done, {busy} turned away");
    within(&gate, before, 8 * MIB, "bodies of 1 MiB from 24 clients, budget 8 MiB");
    served(&gate, "afterwards");
}

/// Answers that nobody fetches: what upstreams say is read from the network, too (P9).
#[test]
fn answers_that_nobody_fetches_stay_within_the_budget() {
    let _turn = turn();
    let long = json(format!("\"{}\"", "x".repeat(4 << 20)));
    let backend = Backend::scripted(move |seen, stream| {
        let large = seen.field("x-forwarded-host").as_deref() == Some("large.test");
        let bytes = if large { long.clone() } else { json("{}") };
        if stream.write_all(&bytes).is_ok() { After::Keep } else { After::Close }
    });
    let (gate, before) = warm(
        Setup::meeting(&backend)
            .with("inflight_bodies", "8MiB")
            .with("routes/0/consequence/max_response", "5MiB"),
    );
    let act = Request::post(MEETING, MEETING_BODY).host(Some("large.test")).bytes();
    let waiting: Vec<TcpStream> = (0..60)
        .map(|_| {
            let client = gate.client();
            // Little room at our end, so that most of the answer stays at the gate.
            let _ = socket2::SockRef::from(&client.stream).set_recv_buffer_size(4096);
            let mut stream = client.stream;
            stream.write_all(&act).unwrap();
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(gate.get(MEETING).status, 200);
    let act = gate.post(MEETING, MEETING_BODY).status;
    assert!(matches!(act, 200 | 503), "{act}");
    println!("load: +{:.1} MiB while they wait", mib(rss(gate.pid()).saturating_sub(before)));
    // What two workers need while they read and parse one of them comes on top.
    let (budget, working) = (8 * MIB, 2 * 3 * 5 * MIB);
    within(&gate, before, budget + working, "60 answers of 4 MiB that nobody fetches, budget 8 MiB");
    drop(waiting);
    eventually("good clients are served", || gate.post(MEETING, MEETING_BODY).status == 200);
}

/// The request of a flood with this number.
type Make = fn(u64) -> Request;

/// One request each from ever new addresses, for ever new paths, refused in ever new ways.
#[test]
fn floods_of_what_is_new_are_bounded() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let limits = value!({ "get": "50/s burst 100", "post": "5/s burst 10", "refused": "1/s burst 20" });
    let (gate, before) = warm(
        Setup::meeting(&backend)
            .with("trusted_proxies", value!(["127.0.0.1"]))
            .with("routes/0/limits", limits)
            .with("limiter_keys", 10_000),
    );
    let many = number("FLOOD", 20_000);
    let floods: [(&str, Make, &[u16]); 4] = [
        (
            "addresses",
            |n| {
                Request::get(MEETING)
                    .field("X-Forwarded-For", &format!("2001:db8:{:x}:{:x}::1", n >> 16, n & 0xffff))
            },
            &[200, 429],
        ),
        (
            "acts of new addresses",
            |n| {
                Request::post(MEETING, "{}")
                    .field("X-Forwarded-For", &format!("10.{}.{}.{}", n >> 16, n >> 8 & 255, n & 255))
            },
            &[204, 429],
        ),
        ("paths", |n| Request::get(&format!("/{n:x}/{}", "p".repeat(100))), &[404]),
        ("refusals", |n| Request::post(MEETING, format!("{{\"{n}\":{n}}}")), &[204, 429]),
    ];
    for (what, make, statuses) in floods {
        let mut client = gate.client();
        let began = Instant::now();
        for start in (0..many).step_by(100) {
            let bytes: Vec<u8> = (start..start + 100).flat_map(|n| make(n).bytes()).collect();
            client.send(&bytes);
            for _ in 0..100 {
                let status = client.receive("GET").status;
                assert!(statuses.contains(&status), "{what}: {status}");
            }
        }
        println!("load: {many} {what} in {:.1?}", began.elapsed());
        let good = Request::post(MEETING, MEETING_BODY).field("X-Forwarded-For", "198.51.100.7");
        assert!(matches!(gate.exchange(&good).status, 200 | 429), "{what}");
        let keys = gate.metrics().sum("formgate_limiter_keys", &[]);
        assert!(keys <= 31_000.0, "{keys} clients remembered");
    }
    within(&gate, before, 3 * 10_000 * 128, "floods of what is new");
}

/// Clients that ask and ask and never read: each holds one answer at the gate, not all that it asked for.
#[test]
fn clients_that_never_read_hold_one_answer_each() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let (gate, before) = warm(Setup::meeting(&backend));
    let many = [Request::get(MEETING), Request::post(MEETING, MEETING_BODY), Request::get("/x")];
    let bytes: Vec<u8> = many.iter().cycle().take(300).flat_map(Request::bytes).collect();
    let deaf: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = gate.client().stream;
            let _ = socket2::SockRef::from(&stream).set_recv_buffer_size(4096);
            let _ = stream.set_write_timeout(Some(Duration::from_millis(5)));
            while stream.write_all(&bytes).is_ok() {}
            stream
        })
        .collect();
    served(&gate, "meanwhile");
    within(&gate, before, 200 * CONNECTION, "200 clients that never read");
    drop(deaf);
    served(&gate, "afterwards");
}

/// 100 a second and 50 at once are 100 a second and 50 at once.
#[test]
fn limits_hold_within_one_percent() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .with("access_log", "off")
        .with("routes/0/limits", value!({ "get": "100/s burst 50", "post": "none", "refused": "none" }))
        .start();
    let mut client = gate.client();
    let time = Duration::from_secs(number("LIMIT_SECONDS", 5));
    let (began, mut passed, mut asked) = (Instant::now(), 0_u32, 0);
    let mut last = began;
    while began.elapsed() < time {
        asked += 1;
        if client.exchange(&Request::get(MEETING)).status == 200 {
            passed += 1;
            last = Instant::now();
        }
    }
    let expected = 50.0 + 100.0 * (last - began).as_secs_f64();
    let off = (f64::from(passed) - expected) / expected;
    println!(
        "load: 100/s burst 50 over {time:?}: {passed} of {asked} passed, {expected:.1} expected, {:+.2} %",
        off * 100.0
    );
    assert!(off.abs() <= 0.01, "{passed} passed, {expected:.1} expected");
}

/// No descriptor left: no crash, no busy loop, and served again as soon as there are some.
#[test]
fn out_of_descriptors_is_not_out_of_order() {
    let _turn = turn();
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("keepalive", "10m").start();
    served(&gate, "at first");
    let limit = super::process::descriptors(gate.pid()) + 20;
    let set = std::process::Command::new("prlimit")
        .args(["--pid", &gate.pid().to_string(), &format!("--nofile={limit}:{limit}")])
        .status();
    assert!(set.is_ok_and(|status| status.success()), "prlimit (util-linux) is on every Debian");
    let many: Vec<_> = (0..60).map(|_| gate.client()).collect();
    std::thread::sleep(Duration::from_millis(300));
    let spent = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", gate.pid())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = spent();
    std::thread::sleep(Duration::from_secs(1));
    let ticks = spent() - before;
    drop(many);
    eventually("served again", || {
        Client::try_connect(gate.addr)
            .ok()
            .and_then(|mut client| client.try_exchange(&Request::post(MEETING, MEETING_BODY)).ok())
            .is_some_and(|response| response.status == 200)
    });
    println!(
        "load: without descriptors: {ticks} ticks of CPU in a second, {} lines on stderr",
        gate.log().lines().count()
    );
    assert!(ticks < 50, "a busy loop: {ticks} ticks of a hundred");
    assert!(gate.log().lines().count() < 500, "a flood of lines");
}
