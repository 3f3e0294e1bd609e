//! Ten thousand acts under random faults (issue 3, item 6): no act is seen twice, every outcome is one of the table
//! (DESIGN 4), no connection is used again after a bad answer, one line and one count for each, and the sums agree.

use super::faulty::{Fault, Faulty, body_of, echo, good};
use super::{Random, number, turn};
use crate::support::backend::nobody;
use crate::support::metrics::Metrics;
use crate::support::{Gate, Loss, MEETING, Request, Response, Setup, cases, eventually};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: usize = 24;
const EXCHANGE: Duration = Duration::from_millis(800);

/// Where an act goes; the number of the act decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// To the upstream with faults, of whose two servers one is not there.
    Faulty,
    /// To one that closes before it reads.
    Slammed,
    /// To nobody.
    Refused,
}

impl Way {
    fn of(act: u64) -> Self {
        match act % 50 {
            7 => Self::Slammed,
            8 => Self::Refused,
            _ => Self::Faulty,
        }
    }

    fn target(self) -> &'static str {
        match self {
            Self::Faulty => MEETING,
            Self::Slammed => "/slammed",
            Self::Refused => "/refused",
        }
    }
}

fn start(faulty: &Faulty, slamming: &Faulty) -> Gate {
    let timeouts = json!({ "connect": "1s", "exchange": format!("{}ms", EXCHANGE.as_millis()) });
    let servers = |urls: Vec<String>| json!({ "servers": urls, "timeouts": timeouts });
    let dead = format!("http://{}", nobody());
    let mut setup = Setup::towards(&faulty.url())
        .with("upstreams/backend", servers(vec![faulty.url(), dead.clone()]))
        .with("upstreams/slammed", servers(vec![slamming.url()]))
        .with("upstreams/refused", servers(vec![dead]))
        .file("forms/meeting.json", cases::form("meetings-start"));
    for (name, to, address) in
        [("acts", "backend", MEETING), ("slammed", "slammed", "/slammed"), ("refused", "refused", "/refused")]
    {
        setup = setup.route(json!({
            "address": address, "name": name, "form": "forms/meeting.json",
            "upstream": { "to": to, "path": "/legacy", "pass_headers": ["X-Act"] },
            "consequence": { "max_response": "8KiB" },
        }));
    }
    setup.start()
}

/// What came of one act.
struct Came {
    act: u64,
    response: Response,
    took: Duration,
}

impl Came {
    /// Whether the table allows it; `seen` is whether the upstream saw the head of the act.
    fn allowed(&self, seed: u64, seen: bool) -> bool {
        let status = self.response.status;
        let body = self.response.body.as_slice();
        let whole = status == 200 && body == echo(self.act).as_bytes();
        let empty = status == 200 && body == b"{}";
        let bare = body.is_empty();
        let unknown = status == 504 && bare;
        let unsent = status == 503 && bare;
        match Way::of(self.act) {
            Way::Refused => return unsent && !seen,
            Way::Slammed => return unknown || unsent || empty,
            Way::Faulty => {}
        }
        if !seen {
            // It met a connection that was being closed.
            return unknown || unsent;
        }
        if unknown && self.took >= EXCHANGE {
            return true;
        }
        match Fault::of(seed, self.act) {
            Fault::Good
            | Fault::Closing
            | Fault::IdleClose(_)
            | Fault::UntilClose
            | Fault::Http10
            | Fault::Interim
            | Fault::Trickle
            | Fault::Chunked
            | Fault::Twice => whole,
            Fault::Empty(_)
            | Fault::BrokenChunks(_)
            | Fault::Short
            | Fault::Gzip
            | Fault::EndlessChunks
            | Fault::EndlessLength
            | Fault::NotJson
            // The status line has said what became of it.
            | Fault::Long(_)
            | Fault::TwoLengths => empty,
            Fault::Status(code) => bare && status == face(code),
            Fault::Cut(at, reset) => {
                let (length, head) = (good(self.act).len(), good(self.act).len() - echo(self.act).len());
                let cut = if at == length {
                    whole
                } else if at >= head {
                    empty
                } else {
                    unknown
                };
                // A reset may overtake what was sent before it.
                cut || (reset && (unknown || (at >= head && empty)))
            }
            Fault::Switching => status == 502 && bare,
            Fault::Hang | Fault::EndlessHead | Fault::Junk | Fault::PartRead(..) => unknown,
            Fault::Early(200, reset) => whole || unknown || (reset && empty),
            Fault::Early(code, _) => unknown || (bare && status == face(code)),
        }
    }
}

/// DESIGN 4, for statuses that are no success.
fn face(status: u16) -> u16 {
    match status {
        400 | 404 | 409 | 410 | 412 | 422 => 204,
        408 | 425 | 429 => 429,
        503 | 504 => status,
        _ => 502,
    }
}

fn drive(gate: &Gate, next: &AtomicU64, acts: u64, came: &Mutex<Vec<Came>>) {
    let mut client = gate.client();
    loop {
        let act = next.fetch_add(1, Ordering::SeqCst);
        if act >= acts {
            return;
        }
        let mut random = Random(act);
        let mut request = Request::post(Way::of(act).target(), body_of(act)).field("X-Act", &act.to_string());
        if random.below(4) == 0 {
            request = request.chunked(1 + random.index(30_000));
        }
        let began = Instant::now();
        let response = client.try_exchange(&request);
        let took = began.elapsed();
        match response {
            Ok(response) => came.lock().unwrap().push(Came { act, response, took }),
            // The gate owes an answer to every act.
            Err(loss) => panic!("act {act} ({:?}) lost: {loss:?}", Way::of(act)),
        }
        // Some leave after each act, some stay.
        if random.below(20) == 0 {
            client = gate.client();
        }
    }
}

fn sum(metrics: &Metrics, outcome: &str) -> usize {
    let all = ["acts", "slammed", "refused"]
        .map(|route| metrics.sum("formgate_requests_total", &[("route", route), ("outcome", outcome)]));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are small whole numbers"
    )]
    let total = all.iter().sum::<f64>() as usize;
    total
}

#[test]
fn ten_thousand_acts_under_random_faults() {
    let _turn = turn();
    let acts = number("FAULT_ACTS", 10_000);
    let seed = number("FAULT_SEED", 20_261_130);
    println!("faults: FAULT_SEED={seed} FAULT_ACTS={acts}");
    let (faulty, slamming) = (Faulty::new(seed), Faulty::slamming());
    let gate = start(&faulty, &slamming);
    let (next, came) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| drive(&gate, &next, acts, &came));
        }
    });
    let took = began.elapsed();
    let came = came.into_inner().unwrap();
    let total = usize::try_from(acts).unwrap();
    assert_eq!(came.len(), total);

    let seen = faulty.log.seen.lock().unwrap().clone();
    let twice: Vec<_> = seen.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "acts seen more than once: {twice:?}");
    let wrong: Vec<_> = came
        .iter()
        .filter(|came| !came.allowed(seed, seen.contains_key(&came.act)))
        .map(|came| {
            let Came { act, response, took } = came;
            let (status, body) = (response.status, String::from_utf8_lossy(&response.body));
            let fault = Fault::of(seed, *act);
            format!("act {act} {fault:?} seen {}: {status} {body:?} {took:?}", seen.contains_key(act))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} outcomes off the table:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    assert_eq!(faulty.log.reused.load(Ordering::SeqCst), 0, "connections used again after a bad answer");
    assert_eq!(faulty.log.changed.load(Ordering::SeqCst), 0, "bodies changed on their way");
    accounts(&gate, &came, &seen);
    let faulty_way = came.iter().map(|came| came.act).filter(|act| Way::of(*act) == Way::Faulty);
    let (seen_ones, unseen): (Vec<_>, Vec<_>) = faulty_way.partition(|act| seen.contains_key(act));
    let closing =
        seen_ones.iter().filter(|act| matches!(Fault::of(seed, **act), Fault::IdleClose(_))).count();
    assert!(
        unseen.len() <= closing,
        "{} acts never came, {closing} connections were closed idle",
        unseen.len()
    );
    println!(
        "faults: {total} acts in {took:.1?}, {} seen once, {} met a closing connection, {} upstream connections",
        seen.len(),
        unseen.len(),
        faulty.log.connections.load(Ordering::SeqCst)
    );
}

/// One line and one count for each; what was sent, seen and unknown adds up.
fn accounts(gate: &Gate, came: &[Came], seen: &HashMap<u64, usize>) {
    let total = came.len();
    eventually("the counts add up", || gate.metrics().counts("formgate_requests_total", &[], total));
    let lines: HashMap<String, Value> = gate
        .access_lines(total)
        .into_iter()
        .map(|line| (line["request"].as_str().unwrap().to_owned(), line))
        .collect();
    assert_eq!(lines.len(), total, "ids twice");
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    let (mut told, mut happened, mut unknown_seen) = (0, 0, 0);
    for came in came {
        let id = came.response.field("x-request-id").unwrap();
        let line = &lines[id];
        assert_eq!(line["status"], came.response.status, "{line}");
        assert_eq!(line["method"], "POST");
        let outcome = line["outcome"].as_str().unwrap();
        *outcomes.entry(outcome.to_owned()).or_default() += 1;
        if Way::of(came.act) == Way::Faulty && seen.contains_key(&came.act) {
            match outcome {
                "unknown" => unknown_seen += 1,
                "unavailable" => panic!("reported as not sent, and seen: act {} {line}", came.act),
                _ => told += 1,
            }
            happened += 1;
        }
    }
    assert_eq!(happened, seen.len());
    assert_eq!(told + unknown_seen, seen.len(), "seen = told + unknown");
    let metrics = gate.metrics();
    for (outcome, count) in &outcomes {
        assert_eq!(sum(&metrics, outcome), *count, "{outcome}");
    }
    let results: f64 = metrics.sum("formgate_upstream_results_total", &[]);
    assert!(
        (results - f64::from(u32::try_from(total).unwrap())).abs() < 0.5,
        "{results} results of {total} acts"
    );
    assert!(metrics.counts("formgate_inflight_body_bytes", &[], 0));
    println!("faults: {outcomes:?}, seen {} = told {told} + unknown {unknown_seen}", seen.len());
}

/// A reset or an end at each byte of each kind of answer.
#[test]
fn an_answer_cut_at_each_byte() {
    let _turn = turn();
    let answers = [
        String::from_utf8(good(1)).unwrap(),
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n".into(),
        "HTTP/1.1 422 No\r\nContent-Length: 3\r\n\r\nwhy".into(),
    ];
    let cuts = std::sync::Arc::new(Mutex::new((0, 0, false)));
    let told = cuts.clone();
    let backend = crate::support::Backend::scripted({
        let answers = answers.clone();
        move |_, stream| {
            let (which, at, reset) = *told.lock().unwrap();
            let _ = std::io::Write::write_all(stream, &answers[which].as_bytes()[..at]);
            if reset { crate::support::After::Reset } else { crate::support::After::Close }
        }
    });
    let gate = Setup::meeting(&backend).with("threads", 1).start();
    let (mut client, mut acts) = (gate.client(), 0);
    for (which, answer) in answers.iter().enumerate() {
        let head = answer.rfind("\r\n\r\n2").or(answer.find("\r\n\r\n")).unwrap() + 4;
        for at in 0..=answer.len() {
            for reset in [false, true] {
                *cuts.lock().unwrap() = (which, at, reset);
                let response = match client.try_exchange(&Request::post(MEETING, body_of(1))) {
                    Ok(response) => response,
                    Err(loss @ (Loss::Closed(_) | Loss::Reset | Loss::Timeout | Loss::Malformed(_))) => {
                        panic!("answer {which} cut at {at}: {loss:?}")
                    }
                };
                acts += 1;
                let what = format!("answer {which} cut at {at}, reset {reset}: {}", response.head);
                let known = if which == 2 { 204 } else { 200 };
                let fine = if at < head { response.status == 504 } else { response.status == known }
                    || (reset && response.status == 504);
                assert!(fine, "{what}");
                assert!(response.status != 200 || at == answer.len() || response.body == b"{}", "{what}");
                assert_eq!(backend.count(), acts, "{what}");
            }
        }
    }
    println!("cuts: {acts} acts, each seen once");
}
