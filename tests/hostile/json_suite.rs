//! nst/JSONTestSuite through the real gateway, on a form that admits anything.

use crate::json::suite::{Expect, cases};
use crate::support::{Backend, Request, Setup};
use serde_json::json;

#[test]
fn every_case_through_the_wire() {
    let Some(cases) = cases() else { return };
    let backend = Backend::agreeing();
    let gate = Setup::bare(&backend)
        .inline_route("anything", &json!({"description": "Anything that is JSON."}))
        .with("defaults/max_body", "1MiB")
        .start();
    let is_accepted = |expect: &Expect| match expect {
        Expect::Accept | Expect::Decided(None) => true,
        Expect::Reject | Expect::Decided(Some(_)) => false,
    };
    let (accepted, refused): (Vec<_>, Vec<_>) = cases.iter().partition(|case| is_accepted(&case.expect));
    // Refused, all of them on one connection: what is refused does not disturb what comes behind it.
    let mut client = gate.client();
    for case in &refused {
        let response = client.exchange(&Request::post("/anything", &case.body));
        assert_eq!((response.status, response.body.len()), (204, 0), "{}: {}", case.id, response.head);
    }
    backend.untouched();
    // Accepted: what is at the backend is what was sent, byte for byte and once.
    for (nth, case) in accepted.iter().enumerate() {
        let request = Request::post("/anything", &case.body);
        // Every other one in chunks.
        let request = if nth % 2 == 0 { request } else { request.chunked(3) };
        let response = client.exchange(&request);
        assert_eq!(response.status, 200, "{}: {}", case.id, response.head);
        let seen = backend.seen();
        assert_eq!(seen.len(), nth + 1, "{}", case.id);
        assert_eq!(seen[nth].body, case.body, "{}", case.id);
    }
    assert_eq!(backend.stray(), 0);
    println!(
        "nst/JSONTestSuite through the gateway: {} cases, {} refused, {} accepted; {} of them were ours to decide",
        cases.len(),
        refused.len(),
        accepted.len(),
        cases.iter().filter(|case| matches!(case.expect, Expect::Decided(_))).count()
    );
}
