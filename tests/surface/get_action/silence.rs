//! No value of a query comes out anywhere: not in an answer, a log at any of our levels, a metric, an admin page
//! (U-14, U-19). Names of members and the key's hash are all that is told.

use super::{MEMBERS, meeting, opening, starts_meetings, told};
use crate::support::{Gate, MEETING, eventually};

const CANARY: &str = "Canary7Zq";

fn queries() -> Vec<String> {
    vec![
        format!("title={CANARY}&displayName={CANARY}&nonce=agent_seq_200"),
        format!("title={CANARY}&displayName={CANARY}&nonce=agent_seq_200"),
        format!("title={CANARY}x&displayName={CANARY}&nonce=agent_seq_200"),
        format!("title={MEMBERS}&nonce={CANARY}"),
        format!("title={CANARY}&displayName=a"),
        format!("title=a&displayName=b&{CANARY}=1&nonce=agent_seq_201"),
        format!("title=a&displayName=b&nonce={CANARY}%20{CANARY}"),
        format!("title=a&displayName=b&token={CANARY}&nonce=agent_seq_202"),
        format!("title=Bearer+{CANARY}&displayName=b&nonce=agent_seq_203"),
        format!("title={}{CANARY}&displayName=b&nonce=agent_seq_204", "x".repeat(90)),
        format!("title=a&displayName=b&durationMinutes={CANARY}&nonce=agent_seq_205"),
        format!("title=%FF{CANARY}&displayName=b&nonce=agent_seq_206"),
        format!("title=a&displayName=b&utm_source={CANARY}&nonce=agent_seq_207"),
        format!("title=a&title={CANARY}&nonce=agent_seq_208"),
        format!("title={CANARY}{}&nonce=agent_seq_209", "x".repeat(9000)),
        format!("{CANARY}={CANARY}"),
    ]
}

fn written(gate: &Gate) -> String {
    let mut last = 0;
    eventually("the log is written", || {
        let now = gate.written().len();
        std::thread::sleep(std::time::Duration::from_millis(100));
        std::mem::replace(&mut last, now) == now
    });
    gate.written()
}

#[test]
fn values_of_queries_come_out_nowhere() {
    let ours = format!("{},formgate=trace", formgate::edge::LOG_FILTER);
    for level in [None, Some(ours.as_str())] {
        let backend = starts_meetings();
        let gate = Gate::start_with(&meeting(&backend), |command| {
            if let Some(level) = level {
                command.env("RUST_LOG", level);
            }
        });
        let mut count = 0;
        for query in queries() {
            let looked = opening(&query).field("Purpose", "prefetch").field("Referer", CANARY);
            for request in [opening(&query), looked] {
                let response = gate.exchange(&request);
                count += 1;
                if query.starts_with(CANARY) {
                    continue;
                }
                let (_, url) = told(&response);
                // A review's URL has the client's own key, as the operator wants it; nothing else comes back.
                let said = format!("{}{}", response.head, response.text()).replace(&url, "");
                assert!(!said.contains(CANARY), "{query}: {said}");
                assert!(
                    !url.contains(CANARY) || url == format!("https://example.org/review/{CANARY}"),
                    "{url}"
                );
            }
        }
        let text = written(&gate);
        let loud: Vec<_> =
            text.lines().filter(|line| line.contains(CANARY) || line.contains("agent_seq")).collect();
        assert!(loud.is_empty(), "{loud:#?}");
        for page in ["/metrics", "/readyz", "/-/snapshot"] {
            let shown = gate.ask_admin("GET", page);
            assert!(!shown.text().contains(CANARY) && !shown.text().contains("agent_seq"), "{page}");
        }
        println!("get_action: {count} requests, {} lines, no value in any", text.lines().count());
    }
}

/// U-19: what a line says.
#[test]
fn a_line_has_the_code_the_names_and_the_hash_of_the_key() {
    let backend = starts_meetings();
    let gate = meeting(&backend).start();
    let query = "displayName=Agent+Alpha&recording=true&title=Q3&idempotency_key=agent_seq_210";
    // On one connection: a line is written after its answer, and before the next one's.
    let mut client = gate.client();
    for (query, code) in
        [(query, "ok"), (query, "ok"), ("title=Q3&other=1&idempotency_key=agent_seq_211", "rejected")]
    {
        assert_eq!(told(&client.exchange(&opening(query))).0, code);
    }
    let lines = gate.access_lines(3);
    let fields = ["route", "method", "door", "outcome", "code", "replay", "status"];
    let of = |line: usize| fields.map(|name| lines[line][name].as_str().unwrap_or("").to_owned());
    assert_eq!(of(0), ["meetings_start", "GET", "get_action", "accepted", "ok", "fresh", ""]);
    assert_eq!(of(1), ["meetings_start", "GET", "get_action", "accepted", "ok", "done", ""]);
    assert_eq!(of(2), ["meetings_start", "GET", "get_action", "refused", "rejected", "", ""]);
    assert_eq!(lines[0]["members"], serde_json::json!(["title", "displayName", "recording"]));
    assert_eq!(lines[0]["upstream"], "json");
    assert_eq!(lines[1].get("upstream"), None);
    assert_eq!(lines[2]["members"], serde_json::json!([]), "names that are not the form's are the client's");
    let key = lines[0]["key"].as_str().unwrap();
    assert!(key.len() == 64 && lines[1]["key"] == key, "{key}");
    let metrics = gate.metrics();
    let route = ("route", "meetings_start");
    for (outcome, many) in [("accepted", 2), ("refused", 1), ("review", 0)] {
        let labels = [route, ("method", "GET"), ("outcome", outcome)];
        assert!(metrics.counts("formgate_requests_total", &labels, many), "{outcome}");
    }
    for (state, many) in
        [("fresh", 1), ("done", 1), ("pending", 0), ("unknown", 0), ("conflict", 0), ("full", 0), ("down", 0)]
    {
        assert!(metrics.counts("formgate_replays_total", &[route, ("state", state)], many), "{state}");
    }
    assert!(metrics.counts("formgate_refusals_total", &[route, ("reason", "parameters")], 1));
    // An answer to an act names the request, as that to a POST does; an arrival does not.
    assert!(gate.exchange(&opening(query)).field("x-request-id").is_some());
    assert_eq!(gate.get(MEETING).field("x-request-id"), None);
}
