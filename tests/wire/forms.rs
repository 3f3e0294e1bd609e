//! Every body of `tests/cases/forms` through the gateway: accepted and forwarded byte for byte, or the one refusal
//! with the backend untouched (G-06, G-14, G-18, G-19, G-22, G-23, G-25, G-26, G-35; P3 to P5).

use crate::support::{Backend, Client, Gate, Request, Response, Setup, cases};

fn all_forms(backend: &Backend) -> Gate {
    cases::forms().iter().fold(Setup::bare(backend), |setup, form| setup.case_route(form)).start()
}

/// As one length, as one chunk, as chunks of seven bytes.
fn spellings(form: &str, body: &[u8]) -> [Request; 3] {
    let act = Request::post(&cases::address(form), body);
    [act.clone(), act.clone().chunked(usize::MAX), act.chunked(7)]
}

/// On a kept connection where the gateway kept it.
fn exchange(gate: &Gate, kept: &mut Client, request: &Request) -> Response {
    kept.try_exchange(request).unwrap_or_else(|_| {
        *kept = gate.client();
        kept.exchange(request)
    })
}

#[test]
fn every_accepted_body_reaches_the_backend_byte_for_byte() {
    let backend = Backend::agreeing();
    let gate = all_forms(&backend);
    let mut kept = gate.client();
    let mut count = 0;
    for form in cases::forms() {
        for (name, body) in cases::bodies(&form, "accept") {
            for request in spellings(&form, &body) {
                let response = exchange(&gate, &mut kept, &request);
                assert_eq!(response.status, 200, "{form}/{name}");
                assert_eq!(response.text(), r#"{"ok":true}"#, "{form}/{name}");
                count += 1;
                let seen = backend.seen();
                assert_eq!(seen.len(), count, "{form}/{name}: sent once");
                let last = &seen[count - 1];
                assert_eq!(last.body, body, "{form}/{name}: changed on its way");
                assert_eq!(last.line(), format!("POST /legacy/{form} HTTP/1.1"));
                assert_eq!(last.field("content-length").unwrap(), body.len().to_string());
            }
        }
    }
    assert_eq!((count, backend.stray()), (180, 0));
}

#[test]
fn every_rejected_body_is_the_one_refusal_and_the_backend_untouched() {
    let backend = Backend::agreeing();
    let gate = all_forms(&backend);
    let mut kept = gate.client();
    let mut heads = std::collections::BTreeMap::<String, Vec<String>>::new();
    let mut wrong = Vec::new();
    let mut count = 0;
    for form in cases::forms() {
        for (name, body) in cases::bodies(&form, "reject") {
            for request in spellings(&form, &body) {
                let response = exchange(&gate, &mut kept, &request);
                count += 1;
                if response.status != 204 {
                    wrong.push(format!("{form}/{name}: {}", response.status));
                }
                assert!(response.body.is_empty());
                heads.entry(response.constant_head()).or_default().push(format!("{form}/{name}"));
            }
        }
    }
    assert_eq!(count, 272 * 3);
    assert!(wrong.is_empty(), "{wrong:#?}");
    backend.untouched();
    let few = heads.iter().map(|(head, names)| (head, names.len(), &names[0])).collect::<Vec<_>>();
    assert_eq!(heads.len(), 1, "refusals that can be told apart: {few:#?}");
}

/// `edge/`: where the cases leave a choice, DESIGN 6 decides: numbers are exact.
#[test]
fn edge_bodies_are_decided_by_exact_numbers() {
    let backend = Backend::agreeing();
    let gate = all_forms(&backend);
    let bodies = cases::bodies("review-request", "edge");
    assert_eq!(bodies.len(), 2);
    for (name, body) in bodies {
        // 2.00000000000000000001 is not 2; 0.00000002e8 is.
        let status = if name.starts_with("e01") { 204 } else { 200 };
        let response = gate.post(&cases::address("review-request"), &body);
        assert_eq!(response.status, status, "{name}: {}", String::from_utf8_lossy(&body));
    }
    assert!(backend.only().body.ends_with(b"0.00000002e8}"));
}

/// G-05, G-20, G-34, G-36: neither prose, nor who says it made the body, nor any other field changes what is accepted.
#[test]
fn nothing_but_the_form_decides() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend)
        .with("routes/0/context", "Also accepts admin:true, and anything that says \"validated\".")
        .start();
    let address = cases::address("meetings-start");
    let fit = r#"{"title":"A","displayName":"B"}"#;
    let unfit = r#"{"title":"A","displayName":"B","admin":true}"#;
    let long = "z".repeat(8000);
    let claims = [
        ("GPT-Actor", "strict-runtime; validated"),
        ("GPT-Actor", long.as_str()),
        ("GPT-Actor", ""),
        ("X-Validated", "true"),
        ("X-Skip-Validation", "1"),
        ("Authorization", "Bearer admin"),
        ("X-HTTP-Method-Override", "GET"),
        ("Prefer", "handling=lenient"),
        ("Cookie", "admin=1"),
    ];
    for (name, value) in claims {
        for (body, status) in [(fit, 200), (unfit, 204)] {
            let response = gate.exchange(&Request::post(&address, body).field(name, value));
            assert_eq!(response.status, status, "{name}: {value}");
        }
    }
    let twice = Request::post(&address, unfit).field("GPT-Actor", "a").field("GPT-Actor", "b");
    assert_eq!(gate.exchange(&twice).status, 204);
    assert_eq!(backend.count(), claims.len());
}
