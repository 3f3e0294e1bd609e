//! Traces over OTLP: what they say, who decides what is recorded, and that no collector, gone, slow or mad, is felt by a
//! request.

use crate::support::backend::{answer, nobody};
use crate::support::{After, Backend, Gate, MEETING, MEETING_BODY, Request, Setup, eventually, venv};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn collector() -> Backend {
    Backend::answering(answer("200 OK", "Content-Type: application/x-protobuf\r\n", ""))
}

fn setup(backend: &Backend, otlp: &str, sample: impl Into<Value>) -> Setup {
    Setup::meeting(backend).with("traces", json!({ "otlp": otlp, "sample": sample.into() }))
}

fn traced(request: Request, sampled: bool) -> Request {
    request.field("traceparent", &format!("00-{TRACE}-{PARENT}-0{}", u8::from(sampled)))
}

#[track_caller]
fn spans_counted(gate: &Gate, result: &str, many: f64) {
    let until = Instant::now() + Duration::from_mins(1);
    let sum = || gate.metrics().sum("formgate_trace_spans_total", &[("result", result)]);
    while sum() < many {
        assert!(Instant::now() < until, "{result}: {} of {many}", sum());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// All spans that a collector was sent, read by the official decoder; nothing where that cannot be had.
#[track_caller]
fn spans(collector: &Backend) -> Option<Vec<Value>> {
    let python = venv::programs("tests/wire/traces/requirements.txt")?.join("python");
    let mut lines = String::new();
    for seen in collector.seen() {
        assert!(seen.line().starts_with("POST /v1/traces HTTP/1.1"), "{}", seen.head);
        assert_eq!(seen.field("content-type").as_deref(), Some("application/x-protobuf"), "{}", seen.head);
        let hex: Vec<String> = seen.body.iter().map(|byte| format!("{byte:02x}")).collect();
        lines.push_str(&hex.concat());
        lines.push('\n');
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/traces/decode.py");
    let mut decoder = Command::new(python);
    decoder.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut decoder = decoder.spawn().unwrap();
    decoder.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = decoder.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn named<'s>(spans: &'s [Value], name: &str) -> &'s Value {
    let found: Vec<_> = spans.iter().filter(|span| span["name"] == name).collect();
    assert_eq!(found.len(), 1, "{name}: {spans:#?}");
    found[0]
}

#[test]
fn spans_say_what_the_access_line_says_and_lead_on_to_the_upstream() {
    let (backend, collector) = (Backend::agreeing(), collector());
    let gate = setup(&backend, &collector.url(), 1).with("traces/service", "gate-7").start();
    assert_eq!(gate.get(MEETING).status, 200);
    let act = Request::post(MEETING, MEETING_BODY);
    assert_eq!(gate.exchange(&traced(act.clone().field("Idempotency-Key", "k"), false)).status, 200);
    assert_eq!(gate.post(MEETING, r#"{"title":"Canary7Zq"}"#).status, 204);
    let lines = gate.access_lines(3);
    spans_counted(&gate, "sent", 4.0);
    let Some(spans) = spans(&collector) else { return };
    assert_eq!(spans.len(), 4, "{spans:#?}");
    let said = serde_json::to_string(&spans).unwrap();
    assert!(!said.contains("Canary7Zq") && !said.contains("Q3 Planning"), "{said}");

    for span in &spans {
        assert_eq!(span["resource"]["service.name"], "gate-7");
        assert_eq!(span["resource"]["service.version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(span["resource"]["service.instance.id"], spans[0]["resource"]["service.instance.id"]);
        assert_eq!(span["scope"], "formgate");
        let (start, end) = (span["start"].as_u64().unwrap(), span["end"].as_u64().unwrap());
        assert!(start <= end && end - start < 60_000_000_000, "{span}");
    }
    let arrival = named(&spans, "GET meetings_start");
    assert_eq!(arrival["trace"], lines[0]["trace"]);
    assert_eq!((&arrival["parent"], &arrival["flags"]), (&json!(""), &json!(0x101)));
    assert_eq!(arrival["attributes"]["http.response.status_code"], 200);
    assert_eq!(arrival["attributes"]["formgate.outcome"], "arrived");

    let posts: Vec<_> = spans.iter().filter(|span| span["name"] == "POST meetings_start").collect();
    let accepted = posts.iter().find(|span| span["attributes"]["formgate.outcome"] == "accepted").unwrap();
    // The trace is the client's; that it is recorded was decided here.
    assert_eq!((&accepted["trace"], &accepted["parent"]), (&json!(TRACE), &json!(PARENT)));
    assert_eq!(
        (&accepted["kind"], &accepted["flags"], &accepted["status"]),
        (&json!(2), &json!(0x301), &json!(0))
    );
    assert_eq!(accepted["attributes"]["formgate.request_id"], lines[1]["request"]);
    assert_eq!(accepted["attributes"]["http.request.body.size"], lines[1]["bytes_in"]);
    let took = accepted["end"].as_u64().unwrap() - accepted["start"].as_u64().unwrap();
    assert_eq!(Some(took / 1000), lines[1]["took_us"].as_u64());

    let exchange = named(&spans, "upstream meetings_start");
    assert_eq!((&exchange["trace"], &exchange["parent"]), (&json!(TRACE), &accepted["span"]));
    assert_eq!((&exchange["kind"], &exchange["status"]), (&json!(3), &json!(0)));
    assert_eq!(exchange["attributes"]["formgate.upstream.result"], "json");
    assert!(exchange["start"].as_u64() >= accepted["start"].as_u64());
    let sent = format!("00-{TRACE}-{}-01", exchange["span"].as_str().unwrap());
    assert_eq!(backend.only().field("traceparent"), Some(sent));

    let refused = posts.iter().find(|span| span["attributes"]["formgate.outcome"] == "refused").unwrap();
    assert_eq!(refused["attributes"]["formgate.reason"], "form");
    assert_eq!(refused["attributes"]["formgate.schema"], lines[2]["schema"]);
    assert_eq!(refused["attributes"]["formgate.keyword"], lines[2]["keyword"]);
    assert_eq!(refused["status"], 0, "what the client did wrong is no error of ours");
}

#[test]
fn a_failing_upstream_is_an_error_in_both_spans() {
    let (backend, collector) = (Backend::scripted(|_, _| After::Close), collector());
    let gate = setup(&backend, &collector.url(), 1).start();
    assert_eq!(gate.post(MEETING, MEETING_BODY).status, 504);
    spans_counted(&gate, "sent", 2.0);
    let Some(spans) = spans(&collector) else { return };
    for (name, error) in [("POST meetings_start", "unknown"), ("upstream meetings_start", "unknown")] {
        let span = named(&spans, name);
        assert_eq!(
            (&span["status"], &span["attributes"]["error.type"]),
            (&json!(2), &json!(error)),
            "{span}"
        );
    }
}

/// What a stranger's `traceparent` says of recording is not believed, and not passed on.
#[test]
fn only_trusted_proxies_decide_what_is_recorded() {
    for trusted in [true, false] {
        let (backend, collector) = (Backend::agreeing(), collector());
        let mut gate = setup(&backend, &collector.url(), "parent");
        gate = gate.with("trusted_proxies", json!([if trusted { "127.0.0.0/8" } else { "192.0.2.0/24" }]));
        let mut gate = gate.start();
        let act = Request::post(MEETING, MEETING_BODY);
        for sampled in [true, false] {
            assert_eq!(gate.exchange(&traced(act.clone(), sampled)).status, 200);
        }
        assert_eq!(gate.exchange(&act).status, 200);
        gate.access_lines(3);
        assert!(gate.stop().success());
        let flags: Vec<_> = backend.seen().iter().map(|seen| seen.field("traceparent").unwrap()).collect();
        let sampled: Vec<bool> = flags.iter().map(|field| field.ends_with("-01")).collect();
        assert_eq!(sampled, [trusted, false, false], "{flags:?}");
        // Flushed by the stop.
        assert_eq!(collector.count(), usize::from(trusted));
        if let Some(spans) = spans(&collector).filter(|_| trusted) {
            assert_eq!(spans.len(), 2, "{spans:#?}");
        }
    }
}

#[test]
fn without_traces_what_the_client_said_goes_on_as_it_came() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    gate.exchange(&traced(Request::post(MEETING, MEETING_BODY), true));
    let sent = backend.only().field("traceparent").unwrap();
    assert!(sent.starts_with(&format!("00-{TRACE}-")) && sent.ends_with("-01"), "{sent}");
    for result in ["sent", "queue_full", "refused", "unreachable"] {
        assert!(gate.metrics().counts("formgate_trace_spans_total", &[("result", result)], 0));
    }
}

#[test]
fn a_stop_sends_what_waits() {
    let (backend, collector) = (Backend::agreeing(), collector());
    let mut gate = setup(&backend, &collector.url(), 1).start();
    for _ in 0..3 {
        gate.get(MEETING);
    }
    gate.access_lines(3);
    assert!(gate.stop().success());
    if let Some(spans) = spans(&collector) {
        assert_eq!(spans.len(), 3, "{spans:#?}");
    }
}

/// Each costs spans, and no request anything.
#[test]
fn collectors_that_are_gone_slow_or_mad() {
    let backend = Backend::agreeing();
    let gone = format!("http://{}", nobody());
    let refusing = Backend::answering(answer("400 Bad Request", "", "no"));
    let broken = Backend::answering(answer("500 Internal Server Error", "", "no"));
    let garbage = Backend::answering(b"\x16\x03\x01\x02\x00 this is no HTTP \r\n\r\n".to_vec());
    let endless = Backend::scripted(|_, stream| {
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
        After::Close
    });
    let mad = answer("200 OK", "Content-Type: text/html\r\n", "<html>\u{0}\u{7f}all is well</html>");
    let mad = Backend::answering(mad);
    // `partial_success { rejected_spans: 1 }`
    let partial = Backend::answering(answer("200 OK", "", [0x0a, 0x02, 0x08, 0x01]));
    let cases = [
        (gone, "unreachable", 2.0),
        (refusing.url(), "refused", 2.0),
        (broken.url(), "refused", 2.0),
        (garbage.url(), "unreachable", 2.0),
        (endless.url(), "unreachable", 2.0),
        (mad.url(), "sent", 2.0),
        (partial.url(), "refused", 1.0),
    ];
    std::thread::scope(|scope| {
        for (url, result, many) in &cases {
            let backend = &backend;
            scope.spawn(move || {
                let mut gate = setup(backend, url, 1).start();
                assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
                spans_counted(&gate, result, *many);
                assert_eq!(gate.post(MEETING, MEETING_BODY).status, 200);
                let said = gate.log().matches("traces: ").count();
                assert!(said <= 1, "said once, not for every try: {}", gate.log());
                assert!(gate.stop().success());
            });
        }
    });
}

#[test]
fn a_collector_that_is_slow_comes_back_and_is_told_the_rest() {
    let backend = Backend::agreeing();
    let collector = Backend::scripted(|seen, stream| {
        let busy = seen.connection == 0;
        let status = if busy { "503 Service Unavailable" } else { "200 OK" };
        let _ = stream.write_all(&answer(status, "", ""));
        After::Close
    });
    let gate = setup(&backend, &collector.url(), 1).start();
    gate.get(MEETING);
    spans_counted(&gate, "sent", 1.0);
    eventually("it is said", || gate.log().contains("traces: taken again"));
    assert!(gate.metrics().counts("formgate_trace_spans_total", &[("result", "unreachable")], 0));
}

/// A collector that takes connections and says nothing holds one message; the queue is bounded, what is over is
/// counted, and neither requests nor the stop wait.
#[test]
fn a_collector_that_hangs_is_not_waited_for() {
    let backend = Backend::agreeing();
    let collector = Backend::raw(|_, stream| {
        std::thread::sleep(Duration::from_mins(1));
        drop(stream);
    });
    let mut gate = setup(&backend, &collector.url(), 1).with("access_log", "off").start();
    let request = Request::get(MEETING);
    let many = request.bytes().repeat(100);
    let mut client = gate.client();
    for _ in 0..60 {
        client.send(&many);
        for _ in 0..100 {
            assert_eq!(client.receive("GET").status, 200);
        }
    }
    spans_counted(&gate, "queue_full", 1.0);
    drop(client);
    let began = Instant::now();
    assert!(gate.stop().success());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(gate.log().contains("stopped with spans"), "{}", gate.log());
}
