//! What the upstream answers and what the client may see of it: the upstream table of `tests/cases/http.json`
//! and DESIGN 4 (G-29, G-32, B-1; P7).

use crate::support::backend::{answer, json};
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Response, Setup};

const JSON: &str = "Content-Type: application/json\r\n";

/// One act against a backend that answers with these bytes; it must have been sent exactly once.
#[track_caller]
fn act_on(answer: impl Into<Vec<u8>>) -> Response {
    let answer = answer.into();
    let (backend, gate) = start(answer.clone());
    let response = gate.post(MEETING, MEETING_BODY);
    assert_eq!(backend.only().body, MEETING_BODY.as_bytes());
    // Whatever came back, the next act is served.
    assert_eq!(
        gate.post(MEETING, MEETING_BODY).status,
        response.status,
        "{:?}",
        String::from_utf8_lossy(&answer)
    );
    assert_eq!(backend.count(), 2);
    response
}

fn start(answer: Vec<u8>) -> (Backend, Gate) {
    let backend = Backend::answering(answer);
    let gate = Setup::meeting(&backend).start();
    (backend, gate)
}

#[track_caller]
fn is(response: &Response, status: u16, body: &str) {
    assert_eq!((response.status, response.text()), (status, body), "{}", response.head);
    let mut names = response.names();
    names.retain(|name| name != "connection" && name != "retry-after");
    let mut allowed = vec!["cache-control", "content-length", "content-type", "date", "x-request-id"];
    if body.is_empty() {
        allowed.retain(|name| *name != "content-type" && (*name != "content-length" || status != 204));
    }
    assert_eq!(names, allowed, "{}", response.head);
    assert_eq!(response.field("cache-control"), Some("no-store"));
    if !body.is_empty() {
        assert_eq!(response.field("content-type"), Some("application/json"));
    }
}

const BODY: &str = "{\"id\": 7,\n \"link\":\"https://meet.example/\\u00e9\", \"n\":1.50 }\r\n";

#[test]
fn success_with_json_is_200_with_the_same_bytes() {
    for status in ["200 OK", "201 Created", "202 Accepted", "203 X", "206 Partial Content", "299 ?"] {
        is(&act_on(answer(status, JSON, BODY)), 200, BODY);
    }
    for media in [
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/problem+json",
        "application/vnd.api+json",
    ] {
        is(&act_on(answer("200 OK", &format!("Content-Type: {media}\r\n"), BODY)), 200, BODY);
    }
    for scalar in ["null", "0", "\"x\"", "[]", "true", " {} "] {
        is(&act_on(json(scalar)), 200, scalar);
    }
}

/// P7: 204 means refused and only that.
#[test]
fn success_without_content_is_200_and_an_empty_object() {
    is(&act_on("HTTP/1.1 204 No Content\r\n\r\n"), 200, "{}");
    is(&act_on("HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n"), 200, "{}");
    is(&act_on(answer("200 OK", "", "")), 200, "{}");
    is(&act_on(answer("201 Created", JSON, "")), 200, "{}");
    is(&act_on(answer("200 OK", JSON, " \r\n")), 200, "{}");
    is(&act_on("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 200, "{}");
}

#[test]
fn success_that_cannot_be_shown_is_200_and_an_empty_object() {
    is(&act_on(answer("200 OK", "Content-Type: text/html\r\n", "<p>done</p>")), 200, "{}");
    for broken in ["{", "{} {}", "{\"a\":1,}", "\u{feff}{}", "nul"] {
        is(&act_on(json(broken)), 200, "{}");
    }
    is(&act_on(json(b"\"\xff\"")), 200, "{}");
    for coding in ["gzip", "br", "identity, gzip", "x"] {
        is(&act_on(answer("200 OK", &format!("{JSON}Content-Encoding: {coding}\r\n"), BODY)), 200, "{}");
    }
    is(&act_on(answer("200 OK", &format!("{JSON}Content-Encoding: identity\r\n"), BODY)), 200, BODY);
}

#[test]
fn text_is_embedded_where_the_route_says_so() {
    let backend =
        Backend::answering(answer("200 OK", "Content-Type: text/plain\r\n", "saved \"7\"\n\u{1F600}"));
    let gate = Setup::meeting(&backend).with("routes/0/consequence/text", true).start();
    let response = gate.post(MEETING, MEETING_BODY);
    assert_eq!(response.json(), serde_json::json!({ "text": "saved \"7\"\n\u{1F600}" }));
    is(&response, 200, response.text());
}

#[test]
fn chunked_answers_are_joined() {
    let head = format!("HTTP/1.1 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n");
    is(
        &act_on(format!("{head}3\r\n{{\"a\r\n4;x=\"y\"\r\n\":1}}\r\n0\r\nX-Trailer: 1\r\n\r\n")),
        200,
        "{\"a\":1}",
    );
    is(&act_on(format!("{head}0007\r\n{{\"a\":1}}\r\n0\r\n\r\n")), 200, "{\"a\":1}");
}

/// An answer over the cap is never cut: the act happened, `{}` says so.
#[test]
fn an_answer_over_the_cap_is_200_and_an_empty_object() {
    let long = format!("\"{}\"", "x".repeat(3000));
    let chunked = format!(
        "HTTP/1.1 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
        long.len()
    );
    for answer in [json(&long), chunked.into_bytes()] {
        let backend = Backend::answering(answer);
        let gate = Setup::meeting(&backend).with("routes/0/consequence/max_response", "2KiB").start();
        is(&gate.post(MEETING, MEETING_BODY), 200, "{}");
        assert_eq!(backend.count(), 1);
        let gate = Setup::meeting(&backend).with("routes/0/consequence/max_response", "3002").start();
        is(&gate.post(MEETING, MEETING_BODY), 200, &long);
    }
}

#[test]
fn redirects_are_never_followed() {
    let elsewhere = Backend::agreeing();
    let location = format!("Location: {}/next\r\n", elsewhere.url());
    for status in
        ["300 X", "301 Moved Permanently", "302 Found", "303 See Other", "304 Not Modified", "307 X", "308 X"]
    {
        let response = act_on(if status.starts_with("304") {
            format!("HTTP/1.1 {status}\r\n\r\n").into()
        } else {
            answer(status, &location, "")
        });
        is(&response, 502, "");
    }
    let backend = Backend::answering(answer("303 See Other", &location, "moved"));
    let gate = Setup::meeting(&backend).with("routes/0/consequence/redirect_is_success", true).start();
    is(&gate.post(MEETING, MEETING_BODY), 200, "{}");
    elsewhere.untouched();
}

/// What the upstream refuses is refused; its words are dropped.
#[test]
fn refusals_of_the_upstream_are_204() {
    for status in [400, 404, 409, 410, 412, 422] {
        is(&act_on(answer(&format!("{status} No"), JSON, "{\"why\":\"secret\"}")), 204, "");
    }
}

#[test]
fn faults_of_the_gateways_own_credentials_or_config_are_502() {
    for status in [401, 402, 403, 405, 406, 407, 411, 413, 414, 415, 417, 418, 421, 426, 431, 451, 499] {
        is(&act_on(answer(&format!("{status} No"), "WWW-Authenticate: Basic\r\n", "x")), 502, "");
    }
}

#[test]
fn back_pressure_is_429() {
    for status in [408, 425, 429] {
        let response = act_on(answer(&format!("{status} Slow"), "Retry-After: 7\r\n", "x"));
        is(&response, 429, "");
        assert_eq!(response.field("retry-after"), Some("7"), "{status}");
        for odd in [
            "",
            "Retry-After: Wed, 21 Oct 2035 07:28:00 GMT\r\n",
            "Retry-After: 99999999999999999999\r\n",
            "Retry-After: -1\r\n",
        ] {
            let response = act_on(answer(&format!("{status} Slow"), odd, "x"));
            let seconds: u32 = response.field("retry-after").unwrap().parse().unwrap();
            assert!((1..=3600).contains(&seconds), "{odd:?}: {seconds}");
        }
    }
}

#[test]
fn faults_of_the_upstream_are_told_apart() {
    for (status, face) in
        [(500, 502), (501, 502), (502, 502), (503, 503), (504, 504), (505, 502), (511, 502), (599, 502)]
    {
        is(&act_on(answer(&format!("{status} Oh"), JSON, "{\"stack\":\"trace\"}")), face, "");
    }
}

#[test]
fn interim_answers_are_swallowed() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    is(&act_on([interim.as_bytes(), &json(BODY)].concat()), 200, BODY);
}

/// A 101, asked for or not, opens no tunnel.
#[test]
fn an_upgrade_of_the_upstream_is_502() {
    is(
        &act_on(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nraw bytes",
        ),
        502,
        "",
    );
}

/// Nothing of the upstream's head passes.
#[test]
fn the_upstreams_fields_are_dropped() {
    let fields = "Set-Cookie: a=b\r\nServer: x\r\nX-Powered-By: y\r\nWWW-Authenticate: Basic\r\nLink: </a>\r\nRefresh: 1\r\n\
        Access-Control-Allow-Origin: *\r\nContent-Location: /a\r\nETag: \"u\"\r\nLocation: /b\r\nContent-Language: fr\r\n\
        Cache-Control: public\r\nX-Request-Id: theirs\r\nVary: *\r\nWarning: 199 - x\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
        Keep-Alive: timeout=5\r\n";
    let response = act_on(answer("201 Created", &format!("{JSON}{fields}"), BODY));
    is(&response, 200, BODY);
    assert_ne!(response.field("x-request-id"), Some("theirs"));
    assert!(!response.field("date").unwrap().contains("1970"));
}

/// Fields the route lists pass.
#[test]
fn listed_fields_of_the_upstream_pass() {
    let backend =
        Backend::answering(answer("201 Created", &format!("{JSON}X-Ticket: 7\r\nX-Other: 8\r\n"), BODY));
    let gate = Setup::meeting(&backend)
        .with("routes/0/consequence/pass_headers", serde_json::json!(["X-Ticket"]))
        .start();
    let response = gate.post(MEETING, MEETING_BODY);
    assert_eq!(
        (response.status, response.field("x-ticket"), response.field("x-other")),
        (200, Some("7"), None)
    );
}
