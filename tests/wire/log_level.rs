//! `/-/log`: how much is said can be changed while the process runs, for a time, by operators only.

use crate::support::{Backend, Client, Gate, Request, Response, Setup, eventually};
use formgate::gateway::TokenHash;
use serde_json::json;

#[track_caller]
fn ask(gate: &Gate, request: &Request) -> Response {
    let host = gate.admin.to_string();
    Client::connect(gate.admin).exchange(&request.clone().host(Some(&host)))
}

fn put(filter: impl AsRef<[u8]>) -> Request {
    Request::new("PUT", "/-/log").body(filter)
}

/// How often it was said that a reload found nothing.
fn said(gate: &Gate) -> usize {
    gate.reload();
    std::thread::sleep(std::time::Duration::from_millis(100));
    gate.log().matches("reload: nothing changed").count()
}

#[test]
fn what_is_said_changes_and_comes_back() {
    let gate = Setup::meeting(&Backend::agreeing()).start();
    let at_first = ask(&gate, &Request::get("/-/log")).json();
    assert_eq!((&at_first["filter"], &at_first["until"]), (&at_first["default"], &json!(null)));
    assert_eq!(said(&gate), 1);
    let quiet = ask(&gate, &put("error"));
    assert_eq!((quiet.status, &quiet.json()["filter"]), (200, &json!("error")), "{}", quiet.text());
    assert_eq!(said(&gate), 1, "it is not said any more");
    ask(&gate, &put("formgate::live=info\n"));
    assert_eq!(said(&gate), 2);
    let back = ask(&gate, &Request::new("DELETE", "/-/log"));
    assert_eq!(back.json()["filter"], at_first["filter"]);
    assert_eq!(said(&gate), 3);

    let timed = ask(&gate, &Request::new("PUT", "/-/log?for=1s").body("off"));
    assert!(timed.json()["until"].is_string(), "{}", timed.text());
    eventually("the time is over", || {
        ask(&gate, &Request::get("/-/log")).json()["filter"] == at_first["filter"]
    });
    assert!(said(&gate) >= 4);
    assert!(gate.log().contains("log: the filter has changed"));
}

#[test]
fn what_cannot_be_a_filter_changes_nothing() {
    let gate = Setup::meeting(&Backend::agreeing()).start();
    let before = ask(&gate, &Request::get("/-/log")).text().to_owned();
    let long = "debug,".repeat(20_000);
    for bad in ["", "loud", "pingora_core=trace", "h2=debug", "debug,[x]=info", "\u{0}", long.as_str()] {
        let answer = ask(&gate, &put(bad));
        assert_eq!(answer.status, 422, "{bad:.20}");
        assert!(answer.json()["error"].as_str().unwrap().len() < 400, "{}", answer.text());
    }
    assert_eq!(ask(&gate, &put([0xff, 0xfe])).status, 422);
    for query in ["for=", "for=0s", "for=48h", "for=never", "while=1s"] {
        let answer = ask(&gate, &Request::new("PUT", &format!("/-/log?{query}")).body("debug"));
        assert_eq!(answer.status, 422, "{query}");
    }
    assert_eq!(ask(&gate, &Request::new("PATCH", "/-/log")).status, 405);
    assert_eq!(ask(&gate, &Request::get("/-/log")).text(), before);
}

#[test]
fn where_there_are_operators_only_they_may() {
    const ONCALL: &str = "fg_op_LogLevel0000000000000000000000";
    let tokens =
        json!({ "oncall": { "class": "operator", "sha256": TokenHash::of(ONCALL.as_bytes()).hex() } });
    let gate = Setup::meeting(&Backend::agreeing()).with("tokens", tokens).start();
    for request in [Request::get("/-/log"), put("debug"), Request::new("DELETE", "/-/log")] {
        assert_eq!(ask(&gate, &request).status, 401);
        assert_eq!(ask(&gate, &request.field("Authorization", &format!("Bearer {ONCALL}"))).status, 200);
    }
}
