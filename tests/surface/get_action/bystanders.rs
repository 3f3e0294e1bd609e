//! Nobody acts by looking: prefetchers, crawlers, unfurlers, parts of pages, HEAD, Range; and rates come first
//! (U-15, U-17, B-33).

use super::{MEMBERS, code, meeting, opening, starts_meetings, told};
use crate::support::{MEETING, Request};
use serde_json::json;

const QUERY: &str = "title=Q3+Planning&displayName=Agent+Alpha&idempotency_key=agent_seq_040";

fn looks() -> Vec<(&'static str, &'static str)> {
    let mut looks = vec![
        ("Sec-Purpose", "prefetch"),
        ("Sec-Purpose", "prefetch;prerender"),
        ("Sec-Purpose", "prefetch;anonymous-client-ip"),
        ("Purpose", "prefetch"),
        ("X-Moz", "prefetch"),
        ("X-Purpose", "preview"),
        ("X-Purpose", "PREVIEW"),
        ("Range", "bytes=0-1"),
    ];
    for destination in
        ["image", "script", "style", "iframe", "embed", "audio", "report", "serviceworker", "", "x"]
    {
        looks.push(("Sec-Fetch-Dest", destination));
    }
    for agent in [
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        "OAI-SearchBot/1.0; +https://openai.com/searchbot",
        "ClaudeBot/1.0; +claudebot@anthropic.com",
        "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
        "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
        "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
        "Twitterbot/1.0",
        "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
        "TelegramBot (like TwitterBot)",
        "WhatsApp/2.23.20.0",
        "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
        "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5",
        "mozilla/5.0 (compatible; GOOGLEBOT/2.1)",
    ] {
        looks.push(("User-Agent", agent));
    }
    looks
}

#[test]
fn whoever_only_looks_never_acts_and_leaves_no_record() {
    let backend = starts_meetings();
    let gate = meeting(&backend).start();
    for (name, value) in looks() {
        let response = gate.exchange(&opening(QUERY).field(name, value));
        let (code, url) = told(&response);
        assert_eq!(code, "human_review_required", "{name}: {value}");
        assert_eq!(url, "https://example.org/review/agent_seq_040");
    }
    let plain = gate.exchange(&opening(QUERY).field("Range", "bytes=0-1"));
    let head = gate.exchange(&Request::new("HEAD", &format!("{MEETING}?{QUERY}")));
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.field("content-length"), plain.field("content-length"), "HEAD says what a look says");
    backend.untouched();
    let lines = gate.access_lines(looks().len() + 2);
    assert!(
        lines.iter().all(|line| line["reason"] == "bystander" && line["outcome"] == "review"),
        "{lines:#?}"
    );
    assert!(lines.iter().all(|line| line.get("replay").is_none()), "nothing was looked up: {lines:#?}");
    // Another body under that key: had one of them been recorded, it would be rejected.
    assert_eq!(code(&gate, "title=b&displayName=c&idempotency_key=agent_seq_040"), "ok");
    // And what has been done is not told to them either.
    let response = gate.exchange(
        &opening("title=b&displayName=c&idempotency_key=agent_seq_040").field("Purpose", "prefetch"),
    );
    assert_eq!(told(&response).0, "human_review_required");
    assert_eq!(backend.count(), 1);
}

#[test]
fn navigations_programs_and_agents_of_users_act() {
    let backend = starts_meetings();
    let gate = meeting(&backend).start();
    let fields = [
        ("Sec-Fetch-Dest", "document"),
        ("Sec-Fetch-Dest", "empty"),
        ("User-Agent", "curl/8.5.0"),
        ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
        (
            "User-Agent",
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
        ),
        ("Accept", "text/html"),
        ("If-None-Match", "*"),
    ];
    for (number, (name, value)) in fields.into_iter().enumerate() {
        let query = format!("{MEMBERS}&nonce=agent_seq_05{number}");
        let response = gate.exchange(&opening(&query).field(name, value));
        assert_eq!(told(&response).0, "ok", "{name}: {value}");
    }
    assert_eq!(backend.count(), fields.len());
}

/// A body beside the query could be meant to be part of it (U-20).
#[test]
fn a_body_is_rejected() {
    let backend = starts_meetings();
    let gate = meeting(&backend).start();
    let mut client = gate.client();
    for request in
        [opening(QUERY).field("Content-Length", "2").raw().body("{}"), opening(QUERY).body("{}").chunked(1)]
    {
        assert_eq!(told(&client.exchange(&request)).0, "rejected");
    }
    assert_eq!(told(&client.exchange(&opening(QUERY))).0, "ok", "the connection goes on");
    assert_eq!(backend.count(), 1);
}

/// U-06: the same two keys at 429. Attempts take from the rate of acts, looks from that of looks.
#[test]
fn rates_come_first() {
    let backend = starts_meetings();
    let limits = json!({ "get": "1/m burst 3", "post": "1/m burst 2", "refused": "none" });
    let gate = meeting(&backend).with("routes/0/limits", limits).start();
    let attempt = |number: usize| gate.exchange(&opening(&format!("{MEMBERS}&nonce=agent_seq_06{number}")));
    assert_eq!((attempt(0).status, attempt(1).status), (200, 200));
    for number in [0, 2] {
        let throttled = attempt(number);
        assert_eq!(throttled.status, 429);
        assert_eq!(told(&throttled).0, "rejected");
        assert!(throttled.field("retry-after").unwrap().parse::<u32>().unwrap() > 0);
    }
    assert_eq!(backend.count(), 2);
    let look = || gate.exchange(&opening(QUERY).field("Purpose", "prefetch"));
    assert_eq!((look().status, look().status, look().status, look().status), (200, 200, 200, 429));
    assert_eq!(told(&look()).0, "rejected");

    let limits = json!({ "get": "none", "post": "none", "refused": "1/m burst 2" });
    let gate = meeting(&backend).with("routes/0/limits", limits).start();
    for status in [200, 200, 429] {
        let refused = gate.exchange(&opening("title=a"));
        assert_eq!(
            (refused.status, told(&refused).0.as_str()),
            (status, "rejected"),
            "rejections are counted"
        );
    }
}
