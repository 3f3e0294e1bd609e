//! Every case of `tests/cases/forms/*/getaction.json` against the real binary: the code, and what the backend saw.

use super::{executes, file, reviews, starts_meetings, told};
use crate::support::{Request, Setup, cases};
use serde_json::json;

/// The three forms that a query can spell, at the addresses of the specification's seeds (U-02, U-09: the same path).
fn gate(backend: &crate::support::Backend) -> crate::support::Gate {
    let actions = [
        ("meetings-start", executes()),
        (
            "registrations-request",
            reviews("https://example.org/review/registrations/{key}", &json!({ "displayName": "Ada" })),
        ),
        (
            "review-request",
            reviews("https://example.org/review/{key}", &json!({ "subject": "agent handoff" })),
        ),
    ];
    let mut setup = Setup::bare(backend).with("public_url", "https://api.example.com");
    for (index, (form, action)) in actions.into_iter().enumerate() {
        let path = file(form)["path"].clone();
        setup = setup
            .case_route(form)
            .with(&format!("routes/{index}/address"), path)
            .with(&format!("routes/{index}/get_action"), action);
    }
    setup.start()
}

#[test]
fn every_case_gets_its_code_and_the_backend_its_body() {
    let backend = starts_meetings();
    let gate = gate(&backend);
    let mut count = 0;
    for form in ["meetings-start", "registrations-request", "review-request"] {
        let file = file(form);
        assert_eq!(file["eligible"], true);
        let path = file["path"].as_str().unwrap();
        for case in file["cases"].as_array().unwrap() {
            count += 1;
            let expected = case["code"].as_str().unwrap();
            let mut query = case["query"].as_str().unwrap().to_owned();
            if expected == "ok" {
                // Cases share a key; each is to be the first with its own.
                query = query.replace("agent_req_001", &format!("agent_req_001.{count}"));
            }
            let before = backend.count();
            let response = gate.exchange(&Request::get(&format!("{path}?{query}")));
            let (code, url) = told(&response);
            assert_eq!(code, expected, "{case}");
            assert_eq!(response.status, 200, "B-28: {case}");
            if let Some(part) = case["url_must_contain"].as_str() {
                assert!(url.contains(part), "{url}: {case}");
            }
            match expected {
                "ok" => {
                    let seen = backend.seen();
                    assert_eq!(seen.len(), before + 1, "{case}");
                    let body = String::from_utf8(seen.last().unwrap().body.clone()).unwrap();
                    assert_eq!(body, case["body"].to_string(), "U-09: {case}");
                    assert!(
                        !seen.last().unwrap().head.contains("agent_req"),
                        "nothing of the query but the body"
                    );
                    assert_eq!(
                        seen.last().unwrap().field("content-type").as_deref(),
                        Some("application/json")
                    );
                    assert!(url.starts_with("https://meet.example/"), "{url}");
                }
                _ => assert_eq!(backend.count(), before, "nothing is sent: {case}"),
            }
        }
    }
    assert!(count >= 59, "{count} cases");
    println!("get_action: {count} cases");
}

/// The others are load faults, whatever else is said (U-16).
#[test]
fn forms_that_a_query_cannot_spell_do_not_load() {
    let mut count = 0;
    for form in cases::forms() {
        let file = file(&form);
        if file["eligible"] == true {
            continue;
        }
        count += 1;
        let category = if form == "cache-purge" { "destructive" } else { "coordination" };
        let mut action = executes();
        action["category"] = category.into();
        action.as_object_mut().unwrap().remove("example");
        let why = super::config::faults(|setup| setup.case_route(&form).with("routes/0/get_action", action));
        let about = why.iter().filter(|fault| {
            fault.pointer.starts_with("/routes/0/get_action")
                && (fault.reason.contains("query cannot spell") || fault.reason.contains("category"))
        });
        assert!(about.count() > 0, "{form}: {why:#?}");
    }
    assert_eq!(count, 6);
}
