//! One access line and one count a request, reasons only inward, values never (DESIGN 9; P6, P9, P12; G-31, G-33, G-35).

use crate::support::{Backend, MEETING, MEETING_BODY, Request, Setup, eventually};
use serde_json::{Value, json};

const CANARY: &str = "Canary7Zq";

/// Requests of every kind, with the outcome and reason that the line must give.
fn requests() -> Vec<(Request, &'static str, Option<&'static str>, u16)> {
    let fit = || Request::post(MEETING, MEETING_BODY);
    vec![
        (Request::get(MEETING), "arrived", None, 200),
        (Request::new("HEAD", MEETING), "arrived", None, 200),
        (Request::get(MEETING).field("If-None-Match", "*"), "not_modified", None, 304),
        (Request::new("OPTIONS", MEETING), "options", None, 204),
        (fit(), "accepted", None, 200),
        (fit().chunked(7), "accepted", None, 200),
        (Request::post(MEETING, "{}"), "refused", Some("form"), 204),
        (Request::post(MEETING, "{"), "refused", Some("grammar"), 204),
        (Request::post(&format!("{MEETING}?x=1"), MEETING_BODY), "refused", Some("query"), 204),
        (fit().without("Content-Type"), "refused", Some("media_type"), 204),
        (fit().field("If-Match", "\"old\""), "stale", Some("stale"), 412),
        (fit().field("Expect", "x"), "malformed", Some("expectation"), 417),
        (Request::new("DELETE", MEETING), "stray", Some("method"), 405),
        (Request::get("/elsewhere"), "stray", Some("not_found"), 404),
        (fit().field("Content-Length", "3, 4").raw(), "malformed", Some("framing"), 400),
    ]
}

#[test]
fn exactly_one_line_and_one_count_for_each_request() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let requests = requests();
    let mut ids = std::collections::HashSet::new();
    for (index, (request, outcome, reason, status)) in requests.iter().enumerate() {
        let before = gate.metrics();
        let response = gate.exchange(&request.clone().field("GPT-Actor", "claude"));
        assert_eq!(response.status, *status, "{outcome} {reason:?}");
        let lines = gate.access_lines(index + 1);
        let line = &lines[index];
        let what = format!("{outcome} {reason:?}: {line}");
        assert_eq!(line["outcome"], *outcome, "{what}");
        assert_eq!(line["reason"], json!(reason), "{what}");
        assert_eq!(line["status"], *status, "{what}");
        assert_eq!(line["client"], "127.0.0.1", "{what}");
        // An arrival is the same bytes for everyone (P8): only acts are told their number.
        let told = response.field("x-request-id");
        assert!(told.is_none_or(|told| line["request"] == told), "{what}");
        assert!(
            told.is_some() || *outcome == "malformed" || line["method"] != "POST",
            "{what}: not told its number"
        );
        assert!(ids.insert(line["request"].to_string()), "an id twice: {what}");
        assert_eq!(line["bytes_out"], response.body.len(), "{what}");
        assert!(line["time"].is_string() && line["took_us"].is_u64() && line["trace"].is_string(), "{what}");
        assert_eq!(line["upstream_status"].is_u64(), *outcome == "accepted", "{what}");
        let counted = |before: &crate::support::metrics::Metrics, name: &str| {
            gate.metrics().changed(before, name).iter().map(|(_, by)| *by).sum::<f64>()
        };
        eventually("the count", || counted(&before, "formgate_requests_total") >= 1.0);
        assert!(
            (counted(&before, "formgate_requests_total") - 1.0).abs() < 0.1,
            "{what}: counted more than once"
        );
        let refusals = counted(&before, "formgate_refusals_total");
        assert!(
            (refusals - f64::from(u8::from(reason.is_some()))).abs() < 0.1,
            "{what}: {refusals} refusals"
        );
    }
}

/// A form mismatch is located in the form, never in the body.
#[test]
fn a_form_mismatch_names_schema_pointer_and_keyword() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let cases = [
        (r#"{"title":"","displayName":"A"}"#, "minLength", "/properties/title/minLength"),
        (r#"{"title":"A"}"#, "required", "/required"),
        (
            r#"{"title":"A","displayName":"B","durationMinutes":4}"#,
            "minimum",
            "/properties/durationMinutes/minimum",
        ),
        (
            r#"{"title":"A","displayName":"B","secretMember":4}"#,
            "additionalProperties",
            "/additionalProperties",
        ),
    ];
    for (index, (body, keyword, pointer)) in cases.iter().enumerate() {
        assert_eq!(gate.post(MEETING, body).status, 204);
        let lines = gate.access_lines(index + 1);
        assert_eq!(
            (&lines[index]["keyword"], &lines[index]["schema"]),
            (&json!(keyword), &json!(pointer)),
            "{body}"
        );
    }
    assert!(!gate.written().contains("secretMember"), "a member name of a body in the log");
}

/// No value of a body, a query, a head field or an upstream's answer comes out anywhere.
#[test]
fn a_canary_is_never_seen_again() {
    let backend = Backend::answering(crate::support::backend::answer(
        "422 No",
        &format!("X-Why: {CANARY}\r\nContent-Type: text/plain\r\n"),
        CANARY,
    ));
    let gate = Setup::meeting(&backend).start();
    let in_body = format!(r#"{{"title":"{CANARY}","displayName":"A"}}"#);
    let fields = [
        "Cookie",
        "Authorization",
        "X-Other",
        "Accept",
        "Accept-Encoding",
        "If-Match",
        "Expect",
        "Content-Type",
        "X-Forwarded-For",
        "traceparent",
    ];
    let mut requests = vec![
        Request::post(MEETING, &in_body),
        Request::post(MEETING, in_body.replace("title", "other")),
        Request::post(MEETING, format!("{{\"{CANARY}\":1,\"{CANARY}\":2}}")),
        Request::post(MEETING, format!("\"{CANARY}")),
        Request::post(MEETING, format!("{CANARY}{}", " ".repeat(70_000))),
        Request::post(&format!("{MEETING}?{CANARY}=1"), &in_body),
        Request::get(&format!("{MEETING}?{CANARY}")),
        Request::get(&format!("/{CANARY}")),
        Request::new(CANARY, MEETING),
        Request::get(MEETING).version("HTTP/1.1\r\nBroken Canary7Zq: x"),
    ];
    requests.extend(fields.map(|name| Request::post(MEETING, &in_body).field(name, CANARY)));
    requests.extend(fields.map(|name| Request::get(MEETING).field(name, CANARY)));
    let mut count = 0;
    for request in &requests {
        let mut client = gate.client();
        match client.try_exchange(request) {
            Ok(response) => assert!(
                !response.head.contains(CANARY) && !response.text().contains(CANARY),
                "{}",
                response.head
            ),
            Err(loss) => panic!("{request:?}: {loss:?}"),
        }
        count += 1;
    }
    gate.access_lines(count);
    assert!(!gate.metrics().text.contains(CANARY), "in the metrics");
    for page in ["/readyz", "/livez", "/-/snapshot"] {
        assert!(!gate.ask_admin("GET", page).text().contains(CANARY), "in {page}");
    }
    let written = gate.written();
    assert!(!written.contains(CANARY), "in the log:\n{written}");
}

/// G-33: the actor is recorded, capped and escaped; it never breaks a line (log injection) and is never a label.
#[test]
fn an_actor_is_recorded_capped_and_escaped() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let long = "y".repeat(8000);
    let actors = ["claude", "a\"b\\c", "\u{1b}[31m red", long.as_str(), "\u{1F600}", "{\"outcome\":\"x\"}"];
    for (index, actor) in actors.iter().enumerate() {
        let response = gate.exchange(&Request::get(MEETING).field("GPT-Actor", actor));
        if actor.contains('\u{1b}') && response.status == 400 {
            assert_eq!(gate.access_lines(index + 1)[index]["outcome"], "malformed");
            continue;
        }
        assert_eq!(response.status, 200, "{actor}");
        let lines = gate.access_lines(index + 1);
        let seen = lines[index]["actor"].as_str().unwrap();
        assert!(seen.len() <= 512 && !seen.chars().any(char::is_control), "{seen:?}");
        assert_eq!(lines[index]["outcome"], "arrived");
    }
    assert!(!gate.metrics().text.contains("claude"));
    let plain = gate.get(MEETING);
    assert_eq!(plain.status, 200);
    let lines = gate.access_lines(actors.len() + 1);
    assert!(lines[actors.len()]["actor"].is_null());
}

/// All series exist at zero from the start (DESIGN 9).
#[test]
fn all_series_exist_from_the_start() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let metrics = gate.metrics();
    let names = [
        "formgate_requests_total",
        "formgate_refusals_total",
        "formgate_request_seconds_count",
        "formgate_upstream_seconds_count",
        "formgate_body_bytes_count",
        "formgate_inflight_body_bytes",
        "formgate_reloads_total",
        "formgate_snapshot_info",
        "formgate_snapshot_timestamp_seconds",
    ];
    for name in names {
        assert!(metrics.has(name), "{name} in\n{}", metrics.text);
    }
    let before = metrics.series.len();
    for (request, ..) in requests() {
        let _ = gate.client().try_exchange(&request);
    }
    gate.access_lines(requests().len());
    let after = gate.metrics();
    let new: Vec<_> = after.series.keys().filter(|key| !metrics.series.contains_key(*key)).collect();
    assert_eq!((after.series.len(), new.len()), (before, 0), "{new:?}");
}

/// The admin pages: live, ready, the published digest; the public listener has none of them (A-17).
#[test]
fn admin_pages_are_on_the_admin_listener_only() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    assert_eq!(gate.ask_admin("GET", "/livez").status, 200);
    let ready = gate.ask_admin("GET", "/readyz");
    assert_eq!(ready.status, 200);
    let snapshot: Value = gate.ask_admin("GET", "/-/snapshot").json();
    let info = gate.metrics();
    let digests: Vec<_> = info
        .series
        .iter()
        .filter(|((name, _), value)| name == "formgate_snapshot_info" && **value > 0.5)
        .collect();
    assert_eq!(digests.len(), 1);
    let digest = &digests[0].0.1["digest"];
    assert!(ready.text().contains(digest.as_str()), "{}", ready.text());
    assert!(snapshot.to_string().contains(digest.as_str()), "{snapshot}");
    for page in [
        "/metrics",
        "/livez",
        "/readyz",
        "/-/snapshot",
        "/-/reload",
        "/-/explain/meetings_start",
        "/openapi.json",
    ] {
        assert_eq!(gate.get(page).status, 404, "{page}");
        assert_eq!(gate.post(page, MEETING_BODY).status, 404, "{page}");
    }
    assert_eq!(gate.ask_admin("GET", MEETING).status, 404);
    // By its name and by its address, and both say the same.
    let asked = |word: &str| gate.ask_admin("POST", &format!("/-/explain/{word}")).json();
    let said = asked("meetings_start");
    assert_eq!(said["admitted"], false);
    assert_eq!([asked(MEETING), asked(MEETING.trim_start_matches('/'))], [said.clone(), said]);
    assert_eq!(gate.ask_admin("POST", "/-/explain/nobody").status, 404);
    assert!(matches!(gate.ask_admin("GET", "/-/reload").status, 404 | 405), "a GET reloads nothing");
    backend.untouched();
}
