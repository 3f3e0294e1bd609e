//! `/llms.txt`, `/robots.txt` and receipts (U-08, U-09, U-11 to U-13, U-18, U-21, B-31).

use super::{MEMBERS, executes, meeting, open, reviews, starts_meetings};
use crate::support::{Backend, Gate, MEETING, Request, Setup, eventually};
use serde_json::{Value, json};

fn both(backend: &Backend) -> Setup {
    meeting(backend)
        .with("routes/0/context", "Starts a meeting.\nAnd answers\twith a link.")
        .with("routes/0/get_action/label", "openThisUrlToStartAMeeting")
        .case_route("review-request")
        .with(
            "routes/1/get_action",
            reviews("https://example.org/review/{key}", &json!({ "subject": "a & b" })),
        )
        .case_route("issue-create")
}

#[test]
fn llms_says_boundaries_first_then_the_url_then_the_post() {
    let backend = starts_meetings();
    let gate = both(&backend).start();
    let response = gate.get("/llms.txt");
    assert_eq!(response.status, 200, "{}", response.head);
    assert_eq!(response.field("content-type"), Some("text/plain; charset=utf-8"));
    assert!(response.field("etag").is_some());
    let text = response.text();
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not in\n{text}"));
    // U-12: consent and security before anything that can be copied; U-11: a literal key, GET before POST.
    let order = [
        "Boundaries first:",
        "No passwords, tokens",
        "### meetings_start",
        "Boundaries: Starts a public meeting.",
        "openThisUrlToStartAMeeting:",
        "GET https://api.example.com/api/v2/meetings/start?title=Q3+Planning&displayName=Agent+Alpha&idempotency_key=",
        "POST https://api.example.com/api/v2/meetings/start\n",
        "\"code\": \"ok\", \"url\": \"https://meet.example/",
        "### review_request",
        "openThisUrlToReviewRequest:",
        "GET https://api.example.com/api/v2/review-request?subject=a+%26+b&idempotency_key=",
        "\"code\": \"human_review_required\"",
        "## Every address",
        "Starts a meeting. And answers with a link.",
        "issue_create (POST only): https://api.example.com/api/v2/issue-create",
    ];
    let places: Vec<_> = order.iter().map(|what| place(what)).collect();
    assert!(places.is_sorted(), "{places:?}\n{text}");
    // U-21: nothing says to try until it works.
    assert!(text.contains("Do not try again") && text.contains("there is nothing to try"));
    assert_eq!(
        gate.exchange(&Request::get("/llms.txt").field("If-None-Match", response.field("etag").unwrap()))
            .status,
        304
    );
    assert_eq!(gate.post("/llms.txt", "{}").status, 405);
}

/// What collects links and opens them as they stand acts nowhere (U-15): the key in them is none.
#[test]
fn links_copied_as_they_stand_are_rejected_and_with_a_key_they_work() {
    let backend = starts_meetings();
    let gate = both(&backend).start();
    let text = gate.get("/llms.txt").text().to_owned();
    let links: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix("GET https://api.example.com")).collect();
    assert_eq!(links.len(), 2);
    for (link, code) in links.iter().zip(["ok", "human_review_required"]) {
        assert_eq!(super::told(&gate.get(link)).0, "rejected", "{link}");
        let own = link.replace("{your_key}", "a-key-of-my-own");
        assert_eq!(super::told(&gate.get(&own)).0, code, "{own}");
    }
    assert_eq!(backend.count(), 1);
}

#[test]
fn robots_are_kept_from_what_a_url_can_do() {
    let backend = starts_meetings();
    let gate = both(&backend).with("public_url", "https://api.example.com/base").start();
    let response = gate.get("/robots.txt");
    assert_eq!(
        response.text(),
        "User-agent: *\nDisallow: /base/api/v2/meetings/start\nDisallow: /base/api/v2/review-request\nDisallow: /base/r/\n"
    );
    assert_eq!(response.field("content-type"), Some("text/plain; charset=utf-8"));
}

/// On where a route has a GET-Action, off where none has or where the file says so.
#[test]
fn they_are_there_where_they_are_wanted() {
    let backend = starts_meetings();
    let status = |gate: &Gate| {
        ["/llms.txt", "/robots.txt", "/r/00000000000000000000000000000000"].map(|path| gate.get(path).status)
    };
    assert_eq!(status(&meeting(&backend).start()), [200, 200, 404]);
    assert_eq!(status(&Setup::meeting(&backend).start()), [404, 404, 404]);
    let off = json!({ "llms": "off", "robots": "off" });
    assert_eq!(status(&meeting(&backend).with("surfaces", off).start()), [404, 404, 404]);
    let on = Setup::meeting(&backend)
        .with("public_url", "https://api.example.com")
        .with("surfaces", json!({ "llms": "on", "robots": "on" }));
    let gate = on.start();
    assert_eq!(status(&gate), [200, 200, 404]);
    assert!(!gate.get("/llms.txt").text().contains("can only open URLs"));
    assert_eq!(gate.get("/robots.txt").text(), "User-agent: *\nDisallow: /r/\n");
    let faults = super::config::faults(|setup| {
        setup
            .inline_route("x", &json!({ "type": "null" }))
            .with("routes/0/address", "/llms.txt")
            .with("surfaces", json!({ "llms": "on" }))
    });
    assert!(faults[0].reason.contains("is the gateway's own"), "{faults:#?}");
}

/// A receipt says code and time, to whoever has its name, and nothing else.
#[test]
fn receipts_say_code_and_time() {
    let backend = starts_meetings();
    let mut action = executes();
    action["result_url"] = json!("receipt");
    let gate = meeting(&backend).with("routes/0/get_action", action).start();
    let (code, url) = open(&gate, &format!("{MEMBERS}&nonce=agent_seq_300"));
    assert_eq!(code, "ok");
    let path = url.strip_prefix("https://api.example.com").unwrap();
    let receipt = gate.get(path);
    assert_eq!(receipt.status, 200, "{}", receipt.head);
    let value: Value = receipt.json();
    assert_eq!(value.as_object().unwrap().keys().collect::<Vec<_>>(), ["code", "time"]);
    assert_eq!(value["code"], "ok");
    let time = value["time"].as_str().unwrap();
    assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
    let page =
        gate.exchange(&Request::get(path).field("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"));
    assert_eq!((page.status, page.field("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("<h1>ok</h1>") && page.text().contains(time), "{}", page.text());
    assert!(page.field("content-security-policy").unwrap().starts_with("default-src 'none'"));
    assert_eq!((page.field("vary"), page.field("cache-control")), (Some("Accept"), Some("no-store")));
    assert_eq!(receipt.field("cache-control"), Some("no-store"));
    assert_eq!(receipt.field("x-robots-tag"), Some("noindex, nofollow"));
    let head = gate.exchange(&Request::new("HEAD", path));
    assert_eq!((head.status, head.field("content-length")), (200, receipt.field("content-length")));
    // Nothing else is there: no other name, spelling or method, with or without a query.
    assert_eq!(gate.get(&format!("{path}?x=1")).status, 200);
    for other in [
        "/r/",
        "/r",
        "/r/0",
        &path.to_uppercase(),
        &format!("{path}0"),
        &path[..34],
        "/r/00000000000000000000000000000000",
    ] {
        let response = gate.get(other);
        assert_eq!((response.status, response.body.len()), (404, 0), "{other}");
    }
    assert_eq!(gate.post(path, "{}").status, 405);
    assert_eq!(gate.get(MEETING).status, 200);
    let labels = [("route", "_receipt"), ("outcome", "arrived")];
    eventually("four are counted", || gate.metrics().counts("formgate_requests_total", &labels, 4));
}
