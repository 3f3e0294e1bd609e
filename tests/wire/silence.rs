//! A refusal says nothing (P6, G-30, G-31): whatever the reason, the route and the framing, the same bytes.
//! The match in [`after`] and [`producer`] has no wildcard: a new `Reason` breaks the build until it has its row here.

use crate::support::backend::{answer, json};
use crate::support::metrics::Metrics;
use crate::support::{After, Backend, Gate, MEETING, MEETING_BODY, Request, Setup, eventually, padded};
use formgate::json::SyntaxKind;
use formgate::reason::Reason;
use serde_json::json as value;
use std::collections::BTreeMap;
use std::io::Write;

/// The next reason of all, in the order of the enum.
fn after(reason: Option<Reason>) -> Option<Reason> {
    use SyntaxKind as Kind;
    Some(match reason {
        None => Reason::Query,
        Some(Reason::Query) => Reason::MediaType,
        Some(Reason::MediaType) => Reason::ContentCoding,
        Some(Reason::ContentCoding) => Reason::TooLarge,
        Some(Reason::TooLarge) => Reason::Syntax(Kind::Empty),
        Some(Reason::Syntax(kind)) => match kind {
            Kind::Empty => Reason::Syntax(Kind::Encoding),
            Kind::Encoding => Reason::Syntax(Kind::Grammar),
            Kind::Grammar => Reason::Syntax(Kind::Surrogate),
            Kind::Surrogate => Reason::Syntax(Kind::Trailing),
            Kind::Trailing => Reason::Syntax(Kind::Duplicate),
            Kind::Duplicate => Reason::Syntax(Kind::Depth),
            Kind::Depth => Reason::Syntax(Kind::NumberInexact),
            Kind::NumberInexact => Reason::NumberUnsafe,
        },
        Some(Reason::NumberUnsafe) => Reason::Form,
        Some(Reason::Form) => Reason::Parameters,
        Some(Reason::Parameters) => Reason::Secret,
        Some(Reason::Secret) => Reason::Bystander,
        Some(Reason::Bystander) => Reason::Upstream,
        Some(Reason::Upstream) => Reason::Throttled,
        Some(Reason::Throttled) => Reason::Stale,
        Some(Reason::Stale) => Reason::Unauthorized,
        Some(Reason::Unauthorized) => Reason::IdempotencyKey,
        Some(Reason::IdempotencyKey) => Reason::KeyConflict,
        Some(Reason::KeyConflict) => Reason::InProgress,
        Some(Reason::InProgress) => Reason::RecordsFull,
        Some(Reason::RecordsFull) => Reason::RecordsShare,
        Some(Reason::RecordsShare) => Reason::RecordsDown,
        Some(Reason::RecordsDown) => Reason::UpstreamFull,
        Some(Reason::UpstreamFull) => Reason::LimitsDown,
        Some(Reason::LimitsDown) => Reason::Budget,
        Some(Reason::Budget) => Reason::Draining,
        Some(Reason::Draining) => Reason::Deadline,
        Some(Reason::Deadline) => Reason::BodyBroken,
        Some(Reason::BodyBroken) => Reason::Framing,
        Some(Reason::Framing) => Reason::HeadTooLarge,
        Some(Reason::HeadTooLarge) => Reason::Expectation,
        Some(Reason::Expectation) => Reason::NotFound,
        Some(Reason::NotFound) => Reason::Method,
        Some(Reason::Method) => return None,
    })
}

/// What brings a reason about.
enum Producer {
    /// Acts that are refused with 204 for it.
    Refused(Vec<Request>),
    /// Its face is another one; proved where the text says.
    Elsewhere(&'static str),
}

fn producer(reason: Reason) -> Producer {
    let act = |body: &[u8]| Request::post(MEETING, body);
    let fit = || Request::post(MEETING, MEETING_BODY);
    let title = |text: &str| act(format!(r#"{{"title":{text},"displayName":"A"}}"#).as_bytes());
    Producer::Refused(match reason {
        Reason::Query => vec![
            Request::post(&format!("{MEETING}?"), MEETING_BODY),
            Request::post(&format!("{MEETING}?title=Other&admin=1"), MEETING_BODY),
        ],
        Reason::MediaType => vec![
            fit().without("Content-Type"),
            fit().without("Content-Type").field("Content-Type", "text/plain"),
            fit().without("Content-Type").field("Content-Type", ""),
            fit().without("Content-Type").field("Content-Type", "application/json; charset=utf-16"),
            fit().without("Content-Type").field("Content-Type", "application/json, application/json"),
            fit().field("Content-Type", "application/json"),
        ],
        Reason::ContentCoding => vec![
            fit().field("Content-Encoding", "gzip"),
            fit().field("Content-Encoding", "identity, gzip"),
            fit().field("Content-Encoding", "identity").field("Content-Encoding", "br"),
        ],
        Reason::TooLarge => {
            let over = padded(MEETING_BODY, 65_537);
            vec![act(&over), act(&over).chunked(4096), act(&over).chunked(usize::MAX)]
        }
        Reason::Syntax(kind) => match kind {
            SyntaxKind::Empty => vec![act(b""), act(b"").chunked(1), act(b" \r\n\t")],
            SyntaxKind::Encoding => {
                vec![act(b"\xff"), act(b"\xef\xbb\xbf{}"), act(b"{\"title\":\"\xc0\xaf\"}")]
            }
            SyntaxKind::Grammar => {
                vec![act(b"{"), act(b"{'a':1}"), act(b"[1,]"), act(b"\"\x01\""), act(b"nul")]
            }
            SyntaxKind::Surrogate => vec![title(r#""\ud800""#), title(r#""\ude00\ud83d""#)],
            SyntaxKind::Trailing => {
                vec![act(b"{} {}"), act(format!("{MEETING_BODY}x").as_bytes()), act(b"1\0")]
            }
            SyntaxKind::Duplicate => vec![
                act(br#"{"title":"A","title":"A","displayName":"B"}"#),
                act(br#"{"title":"A","\u0074itle":"A","displayName":"B"}"#),
            ],
            SyntaxKind::Depth => vec![act("[".repeat(129).as_bytes()), act("[".repeat(60_000).as_bytes())],
            SyntaxKind::NumberInexact => vec![title(&"9".repeat(65)), title("1e401"), title("1e-401")],
        },
        Reason::NumberUnsafe => vec![
            Request::post("/safe", r#"{"n":9007199254740993}"#),
            Request::post("/safe", r#"{"n":1.0}"#),
            Request::post("/safe", r#"{"n":1e1}"#),
        ],
        Reason::Form => {
            vec![act(b"{}"), act(b"null"), title("\"\""), title("7"), Request::post("/safe", "[]")]
        }
        Reason::Upstream => {
            [400, 404, 409, 410, 412, 422].map(|status| title(&format!("\"status {status}\""))).to_vec()
        }
        Reason::Parameters | Reason::Secret | Reason::Bystander => {
            return Producer::Elsewhere("two keys: surface::get_action");
        }
        Reason::Throttled => return Producer::Elsewhere("429: wire::limits"),
        Reason::Stale => return Producer::Elsewhere("412: wire::framing, wire::table"),
        Reason::Unauthorized => return Producer::Elsewhere("401: wire::tokens"),
        Reason::IdempotencyKey => return Producer::Elsewhere("400: surface::idempotency"),
        // `gate` has used the key for another body.
        Reason::KeyConflict => vec![fit().field("Idempotency-Key", "used")],
        Reason::InProgress => return Producer::Elsewhere("409: surface::idempotency"),
        Reason::RecordsFull => return Producer::Elsewhere("503: surface::idempotency"),
        Reason::RecordsShare => return Producer::Elsewhere("503: instances::share"),
        Reason::RecordsDown => return Producer::Elsewhere("503: surface::idempotency_file"),
        Reason::UpstreamFull => return Producer::Elsewhere("503: upstreams::limits"),
        Reason::LimitsDown => return Producer::Elsewhere("503: instances::down"),
        Reason::Budget => return Producer::Elsewhere("503: wire::limits"),
        Reason::Draining => return Producer::Elsewhere("503: wire::stop"),
        Reason::Deadline => return Producer::Elsewhere("408: wire::deadlines"),
        Reason::BodyBroken | Reason::Framing => return Producer::Elsewhere("400: wire::framing"),
        Reason::HeadTooLarge => return Producer::Elsewhere("431: wire::framing"),
        Reason::Expectation => return Producer::Elsewhere("417: wire::framing"),
        Reason::NotFound => return Producer::Elsewhere("404: wire::table"),
        Reason::Method => return Producer::Elsewhere("405: wire::table"),
    })
}

fn reasons() -> Vec<Reason> {
    std::iter::successors(after(None), |reason| after(Some(*reason))).collect()
}

/// A backend that refuses with the status the title names.
fn refusing() -> Backend {
    Backend::scripted(|seen, stream| {
        let body = String::from_utf8_lossy(&seen.body).into_owned();
        let bytes = match body.split_once("status ") {
            Some((_, rest)) => answer(&format!("{} No", &rest[..3]), "X-Why: secret\r\n", "because"),
            None => json("{}"),
        };
        if stream.write_all(&bytes).is_ok() { After::Keep } else { After::Close }
    })
}

fn gate(backend: &Backend) -> Gate {
    let safe = value!({
        "description": "A number.",
        "type": "object",
        "properties": { "n": { "type": "integer" } },
        "required": ["n"],
        "additionalProperties": false,
    });
    let gate = Setup::meeting(backend)
        .inline_route("safe", &safe)
        .with("routes/0/idempotency", "optional")
        .with("routes/1/numbers", "safe_integers")
        .start();
    let other = r#"{"title":"Other","displayName":"A"}"#;
    let first = gate.exchange(&Request::post(MEETING, other).field("Idempotency-Key", "used"));
    assert_eq!(first.status, 200);
    gate
}

/// The reason that was counted since `before`: exactly one, once.
#[track_caller]
fn counted(gate: &Gate, before: &Metrics, what: &str) -> String {
    let mut changed = Vec::new();
    eventually(&format!("{what} is counted"), || {
        changed = gate.metrics().changed(before, "formgate_refusals_total");
        !changed.is_empty()
    });
    assert_eq!(changed.len(), 1, "{what}: {changed:?}");
    assert!((changed[0].1 - 1.0).abs() < f64::EPSILON, "{what}: counted {changed:?}");
    changed[0].0["reason"].clone()
}

#[test]
fn all_refusals_are_byte_identical_and_each_reason_is_counted_apart() {
    let backend = refusing();
    let gate = gate(&backend);
    let mut heads = BTreeMap::<String, Vec<String>>::new();
    let mut labels = BTreeMap::<String, String>::new();
    for reason in reasons() {
        let requests = match producer(reason) {
            Producer::Refused(requests) => requests,
            Producer::Elsewhere(_) => continue,
        };
        for (index, request) in requests.iter().enumerate() {
            let what = format!("{reason:?} {index}");
            let (metrics, acts) = (gate.metrics(), backend.count());
            let response = gate.exchange(request);
            assert_eq!(response.status, 204, "{what}");
            assert!(response.body.is_empty(), "{what}");
            let label = counted(&gate, &metrics, &what);
            let other = labels.insert(label.clone(), format!("{reason:?}"));
            assert!(
                other.is_none_or(|other| other == format!("{reason:?}")),
                "{what}: {label} is of another reason"
            );
            assert_eq!(backend.count() - acts, usize::from(reason == Reason::Upstream), "{what}");
            heads.entry(response.constant_head()).or_default().push(what);
        }
        let of_reason = labels.values().filter(|have| **have == format!("{reason:?}")).count();
        assert_eq!(of_reason, 1, "{reason:?} has several labels: {labels:?}");
    }
    assert_eq!(heads.len(), 1, "refusals that can be told apart: {heads:#?}");
}

/// The same on one connection that none of them ends: what becomes of it tells no reason either.
#[test]
fn refusals_on_a_kept_connection_are_byte_identical() {
    let backend = refusing();
    let gate = gate(&backend);
    let mut client = gate.client();
    let mut heads = BTreeMap::<String, Vec<String>>::new();
    for reason in reasons() {
        let Producer::Refused(requests) = producer(reason) else { continue };
        for request in &requests {
            let response = client.exchange(request);
            heads.entry(response.constant_head()).or_default().push(format!("{reason:?}"));
        }
    }
    assert_eq!(heads.len(), 1, "refusals that can be told apart: {heads:#?}");
}

/// Each reason that another file proves names it; and the enum is whole.
#[test]
fn every_reason_has_a_row() {
    let all = reasons();
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
    for reason in all {
        match producer(reason) {
            Producer::Refused(requests) => assert!(!requests.is_empty(), "{reason:?}"),
            Producer::Elsewhere(place) => assert!(place.contains("::"), "{reason:?}"),
        }
    }
}
