//! The page for people on the wire: who gets it, and what it carries (G-11, G-12, G-13, G-42, B-13).

use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request, Response, Setup};
use sha2::{Digest, Sha256};

const HTML: &str = "text/html; charset=utf-8";

fn asked(gate: &Gate, accept: &str) -> Response {
    gate.exchange(&Request::get(MEETING).field("Accept", accept))
}

/// Both are at one address; which one comes is said by `Accept` alone.
#[test]
fn the_page_comes_to_who_names_it() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("routes/0/type", "meeting").start();
    let json = gate.get(MEETING);
    assert_eq!(json.field("content-type"), Some("application/json"));
    let page = asked(&gate, "text/html");
    assert_eq!((page.status, page.field("content-type")), (200, Some(HTML)));
    assert!(page.text().starts_with("<!doctype html>"), "{}", page.text());
    for accept in [
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
        "TEXT/HTML",
        "text/html;q=0.001",
        "application/json, text/html",
        "application/json;q=0.5, text/html;q=0.5",
        "*/*;q=0.1, text/html;q=0.2",
        "text/html; charset=utf-8",
        "foo/bar;x=\",\", text/html",
    ] {
        let response = asked(&gate, accept);
        assert_eq!(response.constant_head(), page.constant_head(), "{accept}");
        assert_eq!(response.body, page.body, "{accept}");
    }
    for accept in [
        "*/*",
        "text/*",
        "text/plain, text/*;q=0.9",
        "application/xhtml+xml",
        "application/xml",
        "image/png",
        "",
        "text/html;q=0",
        "text/html;q=0.0",
        "text/html;q=1.5",
        "text/html;q=x",
        "text/html;level=1",
        "text/html;q=0.5, */*",
        "text/html;q=0.5, application/*;q=0.6",
        "text/html;q=0.9, application/json",
        "text/html, text/html;q=0",
        "text/html/x",
        "foo/bar;x=\",text/html,\"",
        "foo/bar;x=\",text/html",
        "text / html",
    ] {
        let response = asked(&gate, accept);
        assert_eq!(response.constant_head(), json.constant_head(), "{accept}");
        assert_eq!(response.body, json.body, "{accept}");
    }
    // Two fields are one list (RFC 9110, 5.3).
    let two = Request::get(MEETING).field("Accept", "application/json;q=0.9").field("Accept", "text/html");
    assert_eq!(gate.exchange(&two).body, page.body);
    let two =
        Request::get(MEETING).field("Accept", "text/html;q=0.8").field("Accept", "application/json;q=0.9");
    assert_eq!(gate.exchange(&two).body, json.body);
    // A refusal is the same, whoever asks.
    let refused = gate.exchange(&Request::post(MEETING, "{").field("Accept", "text/html"));
    assert_eq!((refused.status, refused.body.len()), (204, 0));
    assert_eq!(gate.exchange(&Request::get("/elsewhere").field("Accept", "text/html")).status, 404);
    backend.untouched();
}

/// The two never stand in for one another in a cache.
#[test]
fn each_representation_has_its_own_tag() {
    let backend = Backend::agreeing();
    let meeting = || Setup::meeting(&backend);
    let [few, many] = [meeting(), meeting().crowded()].map(|setup| tags(&setup.start()));
    // Whether they are made at load or when they are asked for.
    assert_eq!(few, many);
    // Whoever has read a page elsewhere, behind the same balancer, has read the form.
    for tag in few {
        let gate = meeting().crowded().start();
        let act = Request::post(MEETING, MEETING_BODY).field("If-Match", &tag);
        assert_eq!(gate.exchange(&act).status, 200, "{tag}");
    }
}

/// The tags of the JSON and of the page in each coding, each looked at.
fn tags(gate: &Gate) -> Vec<String> {
    let (json, page) = (gate.get(MEETING), asked(gate, "text/html"));
    let tag = |response: &Response| response.field("etag").unwrap().to_owned();
    assert_ne!(tag(&json), tag(&page));
    for response in [&json, &page] {
        assert_eq!(response.field("vary"), Some("Accept, Accept-Encoding"));
        assert_eq!(response.field("cache-control"), Some("no-cache"));
    }
    let mut seen = vec![tag(&json)];
    for coding in ["identity", "gzip", "br", "zstd"] {
        let request = |method| {
            Request::new(method, MEETING).field("Accept", "text/html").field("Accept-Encoding", coding)
        };
        let found = gate.exchange(&request("GET"));
        assert_eq!(found.field("content-encoding").unwrap_or("identity"), coding);
        let head = gate.exchange(&request("HEAD"));
        assert_eq!((head.constant_head(), head.body.len()), (found.constant_head(), 0));
        assert!(!seen.contains(&tag(&found)), "{coding}");
        seen.push(tag(&found));
        let fresh = gate.exchange(&request("GET").field("If-None-Match", &tag(&found)));
        assert_eq!((fresh.status, fresh.body.len(), tag(&fresh)), (304, 0, tag(&found)), "{coding}");
        // The tag of the JSON is no tag of the page, and the other way round.
        let other = gate.exchange(&request("GET").field("If-None-Match", &tag(&json)));
        assert_eq!(other.status, 200, "{coding}");
        let other = gate.exchange(&Request::get(MEETING).field("If-None-Match", &tag(&found)));
        assert_eq!((other.status, &other.body), (200, &json.body), "{coding}");
        // Either tells that the form is the one that was read.
        let act = Request::post(MEETING, MEETING_BODY).field("If-Match", &tag(&found));
        assert_eq!(gate.exchange(&act).status, 200, "{coding}");
    }
    let act = Request::post(MEETING, MEETING_BODY).field("If-Match", &tag(&json));
    assert_eq!(gate.exchange(&act).status, 200);
    let stale = Request::post(MEETING, MEETING_BODY).field("If-Match", "\"stale\"");
    assert_eq!(gate.exchange(&stale).status, 412);
    seen
}

/// The tag of a page goes with the form: a page that was read before a change is not current after it.
#[test]
fn a_change_of_the_form_changes_both_tags() {
    let backend = Backend::agreeing();
    let setup = Setup::meeting(&backend);
    let form = String::from_utf8(setup.files[0].1.clone()).unwrap();
    let gate = setup.start();
    let before = [gate.get(MEETING), asked(&gate, "text/html")];
    gate.replace("forms/meetings-start.json", form.replace("240", "241"));
    assert_eq!(gate.reload().status, 200);
    for (old, new) in before.iter().zip([gate.get(MEETING), asked(&gate, "text/html")]) {
        let tag = old.field("etag").unwrap();
        assert_ne!(Some(tag), new.field("etag"));
        let act = Request::post(MEETING, MEETING_BODY).field("If-Match", tag);
        assert_eq!(gate.exchange(&act).status, 412);
        let act = Request::post(MEETING, MEETING_BODY).field("If-Match", new.field("etag").unwrap());
        assert_eq!(gate.exchange(&act).status, 200);
    }
}

/// The policy names the one style and the one script of this page, and allows nothing else.
#[test]
fn the_policy_is_strict_and_true() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("routes/0/type", "meeting").start();
    let page = asked(&gate, "text/html");
    let html = page.text();
    let inside = |open: &str, close: &str| {
        let (_, rest) = html.rsplit_once(open).unwrap();
        rest.split_once(close).unwrap().0
    };
    let (script, style) = (inside("<script>", "</script>"), inside("<style>", "</style>"));
    let policy = page.field("content-security-policy").unwrap();
    let parts: Vec<_> = policy.split("; ").collect();
    let hashed = |directive: &str, text: &str| {
        let part = parts.iter().find(|part| part.starts_with(directive)).unwrap();
        let digest = part[directive.len()..]
            .strip_prefix(" 'sha256-")
            .and_then(|rest| rest.strip_suffix('\''))
            .unwrap();
        assert_eq!(decoded(digest), Sha256::digest(text.as_bytes()).to_vec(), "{directive}");
    };
    hashed("script-src", script);
    hashed("style-src", style);
    let fixed: Vec<_> = parts.iter().filter(|part| !part.contains("sha256")).copied().collect();
    assert_eq!(
        fixed,
        [
            "default-src 'none'",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    );
    assert_eq!(page.field("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.field("referrer-policy"), Some("no-referrer"));
    assert_eq!(page.field("gpt-type"), Some("meeting"));
    for outside in ["src=", "href=\"http", "@import", "url(", "<link", "<img", "style=\"", " on"] {
        let markup = html.replace(script, "").replace(style, "");
        let tags = markup.split('<').skip(1).map(|tag| tag.split('>').next().unwrap_or(""));
        assert!(tags.into_iter().all(|tag| !format!("<{tag}").contains(outside)), "{outside}");
        assert!(outside == " on" || outside == "src=" || !style.contains(outside), "{outside}");
    }
    // The JSON has none of it: its head is what it was.
    assert_eq!(gate.get(MEETING).field("content-security-policy"), None);
}

/// Without pages, everyone gets the JSON, and `text/html` is nothing special.
#[test]
fn pages_can_be_turned_off() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("surfaces", serde_json::json!({ "pages": "off" })).start();
    let (json, html) = (gate.get(MEETING), asked(&gate, "text/html"));
    assert_eq!(json.field("content-type"), Some("application/json"));
    assert_eq!((html.constant_head(), html.body), (json.constant_head(), json.body));
    backend.untouched();
}

/// RFC 4648, 4.
fn decoded(text: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.trim_end_matches('=').chars() {
        bits = bits << 6 | u32::try_from(letters.find(letter).unwrap()).unwrap();
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 255).unwrap());
        }
    }
    bytes
}
