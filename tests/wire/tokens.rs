//! Bearer tokens (DESIGN 4, "route has tokens"; A-15, A-16, B-18, B-24, G-01): who brings none of the route's is told 401
//! and nothing else, before a body is read; no token comes out anywhere.

use super::http2::{exchange, open, post, run};
use crate::support::{
    Backend, Client, Gate, MEETING, MEETING_BODY, Request, Response, Setup, cases, eventually,
};
use formgate::gateway::TokenHash;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const AGENT: &str = "fg_act_Canary7ZqAgentsAndOnlyAgents";
const SECOND: &str = "fg_act_Canary7ZqTheNextOneOfAgents";
const OTHER: &str = "fg_act_Canary7ZqOfAnotherRoute0000";
const ONCALL: &str = "fg_op_Canary7ZqOperatorsOnly0000000";
const NOTE: &str = "/api/v2/note-scalar";

fn hash(token: &str) -> String {
    TokenHash::of(token.as_bytes()).hex()
}

fn setup(backend: &Backend) -> Setup {
    let tokens = json!({
        "agents": { "class": "act", "sha256": [hash(AGENT), hash(SECOND)] },
        "others": { "class": "act", "sha256": hash(OTHER) },
        "oncall": { "class": "operator", "sha256": hash(ONCALL) },
    });
    Setup::meeting(backend)
        .case_route("note-scalar")
        .case_route("issue-create")
        .with("tokens", tokens)
        .with("routes/0/tokens", json!(["agents"]))
        .with("routes/1/tokens", json!(["others", "agents"]))
}

fn act() -> Request {
    Request::post(MEETING, MEETING_BODY)
}

fn bearing(token: &str) -> Request {
    act().field("Authorization", &format!("Bearer {token}"))
}

#[track_caller]
fn unauthorized(response: &Response) {
    assert_eq!((response.status, response.body.len()), (401, 0), "{}", response.head);
    assert!(response.field("www-authenticate").unwrap().starts_with("Bearer"), "{}", response.head);
    assert_eq!(response.field("cache-control"), Some("no-store"));
    assert_eq!(response.field("content-length"), Some("0"));
    assert!(response.interim.is_empty(), "a body was asked for: {:?}", response.interim);
}

/// Everything that is no token of the route; the answers cannot be told apart.
fn strangers() -> Vec<Request> {
    let field = |value: &str| act().field("Authorization", value);
    let mut all = vec![
        act(),
        bearing(OTHER),
        bearing(ONCALL),
        bearing(&hash(AGENT)),
        bearing(&AGENT[..AGENT.len() - 1]),
        bearing(&format!("{AGENT}x")),
        bearing(&AGENT.to_uppercase()),
        bearing(AGENT).field("Authorization", &format!("Bearer {AGENT}")),
        bearing(AGENT).field("authorization", "Basic Zm9v"),
        field(AGENT),
        field(&format!("Basic {AGENT}")),
        field(&format!("Bearer\t{AGENT}")),
        field(&format!("Bearer {AGENT}, Bearer {AGENT}")),
        field(&format!("Bearer realm=\"{AGENT}\"")),
        field("Bearer"),
        field(""),
        field(&format!("Bearer {}", "x".repeat(8000))),
        act().field("Proxy-Authorization", &format!("Bearer {AGENT}")),
        act().field("X-Api-Key", AGENT),
        act().field("Cookie", &format!("Authorization=Bearer {AGENT}")),
        Request::post(&format!("{MEETING}?access_token={AGENT}"), MEETING_BODY),
        Request::post(MEETING, format!("access_token={AGENT}"))
            .without("Content-Type")
            .field("Content-Type", "application/x-www-form-urlencoded"),
    ];
    // What would be another refusal is this one first.
    all.extend([
        Request::post(MEETING, "{}"),
        Request::post(MEETING, "{"),
        act().without("Content-Type"),
        act().field("Content-Encoding", "gzip"),
        act().field("If-Match", "\"old\""),
    ]);
    all
}

/// A-16: a token of another route or class, or none: 401, and the backend is not touched.
#[test]
fn only_its_own_tokens_open_a_route() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).start();
    let mut heads = std::collections::BTreeSet::new();
    for request in strangers() {
        let response = gate.exchange(&request);
        unauthorized(&response);
        heads.insert(response.constant_head());
    }
    assert_eq!(heads.len(), 1, "refusals that can be told apart: {heads:#?}");
    backend.untouched();
    let good = [
        bearing(AGENT),
        bearing(SECOND),
        act().field("authorization", &format!("bEARER {AGENT}")),
        act().field("Authorization", &format!("Bearer   {AGENT}")),
    ];
    for (index, request) in good.iter().enumerate() {
        assert_eq!(gate.exchange(request).status, 200);
        let seen = backend.seen();
        assert_eq!(seen.len(), index + 1);
        assert!(!seen[index].head.contains("Canary7Zq"), "the token went on: {}", seen[index].head);
    }
    // Both tokens of the second route open it; the third has none and is open to all.
    for token in [AGENT, SECOND, OTHER] {
        let request = Request::post(NOTE, "\"x\"").field("Authorization", &format!("Bearer {token}"));
        assert_eq!(gate.exchange(&request).status, 200, "{token}");
    }
    let (_, body) = cases::bodies("issue-create", "accept").remove(0);
    let open = Request::post("/api/v2/issue-create", body);
    for request in [open.clone(), open.field("Authorization", "Bearer of nothing")] {
        assert_eq!(gate.exchange(&request).status, 200);
    }
    // A token grants nothing but the address.
    assert_eq!(
        gate.exchange(&Request::post(MEETING, "{}").field("Authorization", &format!("Bearer {AGENT}")))
            .status,
        204
    );
}

/// G-01, A-24: the form is for everyone, and the same whoever asks.
#[test]
fn an_arrival_needs_no_token_and_shows_none() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).start();
    let plain = gate.get(MEETING);
    assert_eq!(plain.status, 200);
    for token in [AGENT, OTHER, ONCALL, "wrong"] {
        let response =
            gate.exchange(&Request::get(MEETING).field("Authorization", &format!("Bearer {token}")));
        assert_eq!((response.constant_head(), &response.body), (plain.constant_head(), &plain.body));
    }
    backend.untouched();
}

/// 401 comes before any of the body: nobody is asked for it, nobody waits for it, and what does come is read over.
#[test]
fn a_stranger_is_turned_away_before_the_body() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).with("defaults/body_deadline", "5s").start();
    let announced = [
        act().field("Expect", "100-continue").bytes(),
        Request::post(MEETING, vec![b' '; 60_000]).bytes(),
        act().chunked(10).bytes(),
        Request::post(MEETING, vec![b' '; 5_000_000]).bytes(),
    ];
    for bytes in announced {
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let mut client = gate.client();
        let began = Instant::now();
        client.send(&bytes[..head]);
        unauthorized(&client.receive("POST"));
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
    // The body that follows is no request, and the connection goes on.
    for request in [act(), act().chunked(7)] {
        let mut client = gate.client();
        for _ in 0..3 {
            unauthorized(&client.exchange(&request));
        }
        assert_eq!(client.exchange(&bearing(AGENT)).status, 200);
    }
    assert_eq!(backend.count(), 2);
}

/// B-18: a token is counted, wherever its holders are; a stranger by address, and a holder does not wait for strangers.
#[test]
fn tokens_have_rates_of_their_own() {
    let backend = Backend::agreeing();
    let limits = json!({ "get": "none", "post": "1/m burst 4", "refused": "1/m burst 2" });
    let gate =
        setup(&backend).with("defaults/limits", limits).with("trusted_proxies", json!(["127.0.0.1"])).start();
    let from =
        |address: &str, request: Request| gate.exchange(&request.field("X-Forwarded-For", address)).status;
    let strangers: Vec<u16> = (0..4).map(|_| from("203.0.113.1", act())).collect();
    assert_eq!(strangers, [401, 401, 429, 429]);
    let holders: Vec<u16> = (1..=6)
        .map(|n| from(&format!("203.0.113.{n}"), bearing(if n % 2 == 0 { AGENT } else { SECOND })))
        .collect();
    assert_eq!(
        holders,
        [200, 200, 200, 200, 429, 429],
        "one allowance, two tokens of one name, six addresses"
    );
    let note = |token: &str| Request::post(NOTE, "\"x\"").field("Authorization", &format!("Bearer {token}"));
    assert_eq!(from("203.0.113.1", note(OTHER)), 200, "another holder has its own");
    assert_eq!(from("203.0.113.9", note(AGENT)), 200, "another route has its own");
    // What a holder sends that is refused is counted against the holder.
    let unfit =
        |address| from(address, Request::post(NOTE, "{}").field("Authorization", &format!("Bearer {OTHER}")));
    assert_eq!([unfit("198.51.100.1"), unfit("198.51.100.2"), unfit("198.51.100.3")], [204, 204, 429]);
}

/// B-18 at a desk, too: a holder is counted there as such, wherever it is, and a stranger by address; the token opens
/// nothing but what it opens at the address.
#[test]
fn desks_count_holders_apart() {
    let backend = Backend::agreeing();
    let gate = setup(&backend)
        .with("defaults/limits", json!({ "get": "none", "post": "1/m burst 3", "refused": "none" }))
        .with("routes/0/limits", "none")
        .with("routes/0/mcp", true)
        .with("surfaces", json!({ "mcp": { "path": "/mcp" } }))
        .with("trusted_proxies", json!(["127.0.0.1"]))
        .start();
    let say = |address: &str, token: &str, body: String| {
        let request = Request::post("/mcp", body)
            .field("Accept", "application/json, text/event-stream")
            .field("MCP-Protocol-Version", "2025-11-25")
            .field("Authorization", &format!("Bearer {token}"))
            .field("X-Forwarded-For", address);
        gate.exchange(&request).status
    };
    let ping = || r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned();
    let call = || {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"meetings_start","arguments":{MEETING_BODY}}}}}"#
        )
    };
    let strangers: Vec<u16> = (0..4).map(|_| say("203.0.113.1", "nobodys", ping())).collect();
    assert_eq!(strangers, [200, 200, 200, 429]);
    let holders =
        [("203.0.113.1", AGENT), ("203.0.113.2", SECOND), ("203.0.113.3", AGENT), ("203.0.113.4", AGENT)];
    assert_eq!(holders.map(|(address, token)| say(address, token, call())), [200, 200, 200, 429]);
    assert_eq!(say("203.0.113.1", OTHER, call()), 401, "counted as a holder, and of another route");
    assert_eq!(say("203.0.113.5", ONCALL, ping()), 200, "an operator is a stranger here");
    assert_eq!(backend.count(), 3);
}

/// The line says whose token it was, by name. Neither token nor hash comes out anywhere.
#[test]
fn the_line_names_the_holder_and_nothing_shows_the_token() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).file("oncall", "").start();
    let cases = [
        (bearing(AGENT), "accepted", json!("agents")),
        (bearing(SECOND), "accepted", json!("agents")),
        (
            Request::post(MEETING, "{").field("Authorization", &format!("Bearer {AGENT}")),
            "refused",
            json!("agents"),
        ),
        (bearing(AGENT).without("Content-Type"), "refused", json!("agents")),
        (bearing(OTHER), "unauthorized", Value::Null),
        (bearing(ONCALL), "unauthorized", Value::Null),
        (act(), "unauthorized", Value::Null),
        (Request::get(MEETING).field("Authorization", &format!("Bearer {AGENT}")), "arrived", Value::Null),
    ];
    for (index, (request, outcome, token)) in cases.iter().enumerate() {
        gate.exchange(request);
        let line = &gate.access_lines(index + 1)[index];
        assert_eq!((&line["outcome"], &line["token"]), (&json!(outcome), token), "{line}");
        assert_eq!(line["reason"] == "unauthorized", *outcome == "unauthorized", "{line}");
    }
    let labels = [("route", "meetings_start"), ("reason", "unauthorized")];
    eventually("they are counted", || gate.metrics().counts("formgate_refusals_total", &labels, 3));
    // A config that is refused for its tokens, the token itself among them.
    let mut pages = Vec::new();
    for (path, value) in [
        ("tokens/agents/sha256", json!(AGENT)),
        ("tokens/agents/sha256", json!([hash(AGENT), hash(OTHER)])),
        ("routes/0/tokens", json!([AGENT])),
        ("tokens/others/file", json!("token")),
        ("tokens/agents", json!(AGENT)),
    ] {
        gate.replace("token", format!("{AGENT}\n"));
        gate.replace("gateway.yaml", setup(&backend).with(path, value).text());
        let reload = admin(&gate, "POST", "/-/reload", ONCALL);
        assert_eq!(reload.status, 422, "{path}: {}", reload.text());
        pages.push(reload);
    }
    pages.extend(["/metrics", "/readyz", "/-/snapshot"].map(|page| admin(&gate, "GET", page, ONCALL)));
    let all = pages.iter().map(|page| page.text().to_owned()).chain([gate.written()]);
    for text in all {
        for secret in ["Canary7Zq", &hash(AGENT), &hash(OTHER), &hash(ONCALL)] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

fn admin(gate: &Gate, method: &str, target: &str, token: &str) -> Response {
    let request = Request::new(method, target).host(Some(&gate.admin.to_string()));
    Client::connect(gate.admin).exchange(&request.field("Authorization", &format!("Bearer {token}")))
}

/// A new hash opens, a removed one does not, with the next reload; a file that holds hashes is looked at like a secret.
#[test]
fn tokens_come_and_go_while_it_runs() {
    let backend = Backend::agreeing();
    let setup = || {
        setup(&backend)
            .with("watch", "50ms")
            .with("tokens/agents", json!({ "class": "act", "file": "secrets/agents.sha256" }))
            .file("secrets/agents.sha256", format!("{}  agents\n", hash(AGENT)))
    };
    let gate = setup().start();
    let statuses = || [AGENT, SECOND].map(|token| gate.exchange(&bearing(token)).status);
    assert_eq!(statuses(), [200, 401]);
    for (hashes, expected) in [
        (format!("{}\n\n{}\n", hash(AGENT), hash(SECOND)), [200, 200]),
        (hash(SECOND).to_uppercase(), [401, 200]),
        (hash(AGENT), [200, 401]),
    ] {
        gate.replace("secrets/agents.sha256", &hashes);
        eventually("the watch has seen it", || statuses() == expected);
    }
    // A file without a hash changes nothing.
    gate.replace("secrets/agents.sha256", "");
    eventually("it is refused", || gate.metrics().counts("formgate_config_refused", &[], 1));
    assert_eq!(statuses(), [200, 401]);
    gate.replace("secrets/agents.sha256", hash(AGENT));
    eventually("it is well again", || gate.metrics().counts("formgate_config_refused", &[], 0));
    // Another name on the route: its holder comes in, the former does not.
    gate.replace("gateway.yaml", setup().with("routes/0/tokens", json!(["others"])).text());
    eventually("the route is another's", || {
        gate.exchange(&bearing(OTHER)).status == 200 && statuses() == [401, 401]
    });
    let mut open = setup();
    open.config["routes"][0].as_object_mut().unwrap().remove("tokens");
    gate.replace("gateway.yaml", open.text());
    eventually("the route is open", || gate.exchange(&act()).status == 200);
}

/// The other class: what the admin listener has besides health and metrics, and no route.
#[test]
fn operators_open_the_admin_listener_and_nothing_else() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).start();
    for page in ["/metrics", "/livez", "/readyz"] {
        assert_eq!(gate.ask_admin("GET", page).status, 200, "{page}");
    }
    let guarded = [
        ("GET", "/-/snapshot", 200),
        ("POST", "/-/reload", 200),
        ("POST", "/-/explain/meetings_start", 200),
        ("GET", "/-/nothing", 404),
    ];
    for (method, target, status) in guarded {
        unauthorized(&gate.ask_admin(method, target));
        for token in [AGENT, OTHER, "", "wrong", &hash(ONCALL)] {
            unauthorized(&admin(&gate, method, target, token));
        }
        assert_eq!(admin(&gate, method, target, ONCALL).status, status, "{target}");
    }
    // Nor is a body read for it.
    let host = gate.admin.to_string();
    let large = Request::post("/-/explain/meetings_start", vec![b' '; 1 << 20]).host(Some(&host));
    let bytes = large.field("Expect", "100-continue").bytes();
    let mut client = Client::connect(gate.admin);
    client.send(&bytes[..bytes.len() - (1 << 20)]);
    unauthorized(&client.receive("POST"));
    // The operators' file is read again like any other: without operators all is as it was.
    let mut open = setup(&backend);
    open.config["tokens"].as_object_mut().unwrap().remove("oncall");
    gate.replace("gateway.yaml", open.text());
    assert_eq!(admin(&gate, "POST", "/-/reload", ONCALL).status, 200);
    assert_eq!(gate.ask_admin("GET", "/-/snapshot").status, 200);
}

/// The backend gets the token only where the route says so; a page may send it where the route says so.
#[test]
fn what_a_route_says_of_the_field_holds() {
    let backend = Backend::agreeing();
    let gate = setup(&backend)
        .with("routes/0/upstream/pass_headers", json!(["Authorization"]))
        .with("routes/0/cors", json!({ "origins": ["https://app.example"] }))
        .with("routes/2/cors", json!({ "origins": ["*"] }))
        .start();
    assert_eq!(gate.exchange(&bearing(AGENT)).status, 200);
    assert_eq!(backend.only().field("authorization"), Some(format!("Bearer {AGENT}")));
    assert!(gate.log().contains("the backend is sent the token"), "{}", gate.log());
    let page = |request: Request| gate.exchange(&request.field("Origin", "https://app.example"));
    let allowed = |target: &str| {
        page(Request::new("OPTIONS", target)).field("access-control-allow-headers").unwrap().to_owned()
    };
    assert!(allowed(MEETING).contains("authorization"));
    assert!(!allowed("/api/v2/issue-create").contains("authorization"));
    let refused = page(act());
    unauthorized(&refused);
    assert_eq!(refused.field("access-control-allow-origin"), Some("https://app.example"));
}

/// The same over HTTP/2: 401 at once, also when the body never comes; other streams go on.
#[test]
fn streams_are_asked_like_connections() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).with("defaults/body_deadline", "2s").start();
    run(async {
        let client = open(gate.addr).await;
        let body = MEETING_BODY.as_bytes();
        let bearing = |token: &str| post(MEETING).header("authorization", format!("Bearer {token}"));
        for request in [
            post(MEETING),
            bearing(OTHER),
            bearing(ONCALL),
            bearing(AGENT).header("authorization", format!("Bearer {AGENT}")),
        ] {
            let answer = exchange(&client, request, &[body]).await.unwrap();
            assert_eq!((answer.status, answer.body.len()), (401, 0));
            assert!(answer.field("www-authenticate").unwrap().starts_with("Bearer"));
        }
        let began = Instant::now();
        let mut ready = client.clone().ready().await.unwrap();
        let (response, stream) = ready.send_request(post(MEETING).body(()).unwrap(), false).unwrap();
        assert_eq!(response.await.unwrap().status(), 401);
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        backend.untouched();
        assert_eq!(exchange(&client, bearing(AGENT), &[body]).await.unwrap().status, 200);
        drop(stream);
    });
    assert!(!backend.only().head.contains("Canary7Zq"));
    let lines = gate.access_lines(6);
    assert_eq!(lines.iter().filter(|line| line["outcome"] == "unauthorized").count(), 5);
}
