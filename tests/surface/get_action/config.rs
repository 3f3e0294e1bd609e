//! What a route must say before it has a GET-Action, and which cannot have one: load faults (U-01, U-03, U-10,
//! U-15, U-16, B-31, B-32).

use super::{executes, starts_meetings};
use crate::support::Setup;
use formgate::config::{Fault, load};
use serde_json::{Value, json};

/// What is wrong with a file; none where it loads.
pub(super) fn faults(adjust: impl FnOnce(Setup) -> Setup) -> Vec<Fault> {
    let backend = starts_meetings();
    let setup = adjust(Setup::bare(&backend).with("public_url", "https://api.example.com"));
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in &setup.files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let path = dir.path().join("gateway.yaml");
    std::fs::write(&path, setup.text()).unwrap();
    load(&path).err().map(|refused| refused.faults).unwrap_or_default()
}

/// The meeting's route with one member of its GET-Action changed, or taken away.
fn with(name: &str, value: Value) -> Vec<String> {
    let mut action = executes();
    let members = action.as_object_mut().unwrap();
    if value.is_null() {
        members.remove(name)
    } else {
        members.insert(name.to_owned(), value)
    };
    said(faults(|setup| setup.case_route("meetings-start").with("routes/0/get_action", action)))
}

fn said(faults: Vec<Fault>) -> Vec<String> {
    faults.into_iter().map(|fault| fault.reason).collect()
}

#[track_caller]
fn says(faults: &[String], words: &str) {
    assert!(faults.len() == 1 && faults[0].contains(words), "{words}: {faults:#?}");
}

#[test]
fn what_it_needs_is_a_fault_where_it_is_missing() {
    assert_eq!(with("wait", json!("1s")), [""; 0]);
    says(&with("idempotent", Value::Null), "no harm when it is done twice");
    says(&with("idempotent", json!(false)), "no harm when it is done twice");
    says(&with("consent", Value::Null), "needs consent");
    says(&with("consent", json!("mine")), "expected one of `public`");
    says(&with("category", Value::Null), "`category` is missing");
    says(&with("category", json!("fun")), "expected one of");
    says(&with("boundaries", Value::Null), "`boundaries` is missing");
    says(&with("review_url", Value::Null), "`review_url` is missing");
    says(&with("rejected_url", Value::Null), "`rejected_url` is missing");
    says(&with("example", Value::Null), "no example");
    says(&with("elsewhere", json!(true)), "unknown key");
    let without_url = faults(|setup| {
        let mut setup = setup.case_route("meetings-start").with("routes/0/get_action", executes());
        setup.config.as_object_mut().unwrap().remove("public_url");
        setup
    });
    says(&said(without_url), "`public_url` is missing");
}

#[test]
fn what_may_not_be_opened_cannot_be() {
    for category in ["payment", "account", "destructive", "regulated"] {
        says(&with("category", json!(category)), "has no GET-Action");
        let mut action = executes();
        action["category"] = json!(category);
        action["execute"] = json!(false);
        let told = faults(|setup| setup.case_route("meetings-start").with("routes/0/get_action", action));
        says(&said(told), "has no GET-Action");
    }
    says(&with("category", json!("publication")), "nothing is published by opening a URL");
    let mut action = executes();
    action["category"] = json!("publication");
    action["execute"] = json!(false);
    assert_eq!(
        said(faults(|setup| setup.case_route("meetings-start").with("routes/0/get_action", action))),
        [""; 0]
    );
}

/// U-10: authentication is POST's.
#[test]
fn a_route_that_asks_for_a_token_cannot_be_opened() {
    let told = faults(|setup| {
        setup
            .with("tokens", json!({ "agents": { "class": "act", "sha256": "0123456789abcdef".repeat(4) } }))
            .case_route("meetings-start")
            .with("routes/0/tokens", json!(["agents"]))
            .with("routes/0/get_action", executes())
    });
    says(&said(told), "asks for a token has no GET-Action");
}

#[test]
fn receipts_have_their_addresses_to_themselves() {
    let below = |address: &str, action: bool| {
        said(faults(|setup| {
            let setup = setup.case_route("meetings-start").with("routes/0/address", address);
            if action { setup.with("routes/0/get_action", executes()) } else { setup }
        }))
    };
    says(&below("/r/0123456789abcdef0123456789abcdef", true), "below `/r/` are the gateway's own");
    assert_eq!(below("/r/0123456789abcdef0123456789abcdef", false), [""; 0]);
    assert_eq!(below("/r", true), [""; 0]);
}

#[test]
fn links_are_https_without_a_password_and_results_at_listed_hosts() {
    says(&with("review_url", json!("http://example.org/review/{key}")), "must be https");
    says(&with("review_url", json!("https://user:pw@example.org/")), "without a password");
    says(&with("review_url", json!("/review/{key}")), "expected an absolute URL");
    says(&with("review_url", json!("https://example.org/{nonce}")), "only `{key}`");
    says(&with("rejected_url", json!("https://example.org/{key}")), "the same for everyone");
    says(&with("result_url", json!({ "template": "http://example.org/{key}" })), "must be https");
    says(&with("result_url", json!({ "pointer": "/joinUrl" })), "`hosts` is missing");
    says(&with("result_url", json!({ "pointer": "/joinUrl", "hosts": [] })), "at least one host");
    says(&with("result_url", json!({ "pointer": "joinUrl", "hosts": ["meet.example"] })), "JSON Pointer");
    says(
        &with("result_url", json!({ "pointer": "/a", "hosts": ["https://meet.example"] })),
        "expected a host",
    );
    says(
        &with("result_url", json!({ "template": "https://e.example/", "hosts": ["e.example"] })),
        "has no effect without `pointer`",
    );
    says(&with("result_url", json!({})), "one of `pointer` and `template`");
    says(&with("result_url", json!("nowhere")), "expected `receipt`");
    assert_eq!(with("result_url", json!("receipt")), [""; 0]);
    assert_eq!(with("result_url", json!({ "template": "https://example.org/m/{key}" })), [""; 0]);
}

#[test]
fn times_labels_and_examples_are_looked_at() {
    says(&with("keep", json!("23h")), "24h to 2160h");
    says(&with("keep", json!("2161h")), "24h to 2160h");
    says(&with("wait", json!("41s")), "at most 40s");
    says(&with("label", json!("open this")), "a label says");
    says(&with("example", json!({ "title": "" })), "cannot be spelled");
    says(&with("example", json!({ "title": "a", "displayName": "Bearer abc" })), "cannot be spelled");
    says(&with("example", json!({ "title": "a", "displayName": "b", "other": 1 })), "cannot be spelled");
    says(&with("drop_parameters", json!(["*"])), "the name of a parameter");
    says(&with("drop_parameters", json!(["ti*"])), "takes away");
    let two = faults(|setup| {
        let setup = setup.case_route("meetings-start").case_route("review-request");
        let mut other = super::reviews("https://example.org/{key}", &json!({ "subject": "handoff" }));
        other["label"] = json!("openThisUrlToMeetingsStart");
        setup.with("routes/0/get_action", executes()).with("routes/1/get_action", other)
    });
    says(&said(two), "the label `openThisUrlToMeetingsStart` is used twice");
}

/// Members that look like secrets, and everything else that a flat query cannot say, with its place.
#[test]
fn ineligible_forms_say_why() {
    let text = json!({ "type": "string", "maxLength": 9 });
    for (member, schema, words) in [
        ("api_key", text.clone(), "looks like a secret"),
        ("userPassword", text.clone(), "looks like a secret"),
        ("nonce", text.clone(), "carries the key"),
        ("idempotency_key", text.clone(), "carries the key"),
        ("utm_x", text.clone(), "takes away"),
        ("a.b", text.clone(), "readers of queries nest it"),
        ("a[]", text.clone(), "readers of queries nest it"),
        ("a", json!({ "type": ["string", "null"], "maxLength": 9 }), "`null` has no spelling"),
        ("a", json!({ "type": ["string", "integer"], "maxLength": 9 }), "more than one type"),
        ("a", json!({ "type": "array", "items": text.clone(), "maxItems": 2 }), "`array` has no spelling"),
        ("a", json!({ "enum": ["1", 1] }), "more than one type"),
        ("a", json!({ "anyOf": [text.clone()] }), "no `type`"),
        ("a", json!({ "const": null }), "`null` has no spelling"),
    ] {
        let form =
            json!({ "type": "object", "properties": { member: schema }, "additionalProperties": false });
        let mut action = executes();
        action["example"] = json!({});
        let told =
            said(faults(|setup| setup.inline_route("other", &form).with("routes/0/get_action", action)));
        says(&told, words);
    }
    let scalars = json!({
        "type": "object",
        "properties": {
            "a": { "$ref": "#/$defs/text" }, "b": { "enum": [1, 2.5] }, "c": { "const": true }, "d": { "type": ["integer"] },
        },
        "additionalProperties": false,
        "$defs": { "text": text },
    });
    let mut action = executes();
    action["example"] = json!({ "a": "x", "b": 2.5, "c": true, "d": -1 });
    let told =
        said(faults(|setup| setup.inline_route("other", &scalars).with("routes/0/get_action", action)));
    assert_eq!(told, [""; 0]);
}
