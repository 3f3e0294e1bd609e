//! No value of a body and no secret comes out anywhere (issue 3, item 9): not in an answer, a log at any level, a metric, a
//! page of the admin listener, an error text or what the verbs print.
//!
//! What holds at which level: secrets never appear, not even at `trace`. At our own `trace` (`formgate=trace`, the others as
//! shipped) nothing that a client or an upstream sent appears either. `RUST_LOG=trace` lets the libraries speak, which may
//! quote what they read from the wire (`h2` its frames); of those the test allows none but lines of the libraries themselves.

use super::turn;
use crate::support::backend::answer;
use crate::support::gate::replace;
use crate::support::{Backend, Client, Gate, MEETING, Request, Setup, eventually};
use serde_json::json;

const CANARY: &str = "Canary7Zq";
const SECRET: &str = "Secret9Kx";

fn setup(backend: &Backend) -> Setup {
    Setup::meeting(backend)
        .file("secret", format!("{SECRET}\n"))
        .with(
            "routes/0/upstream/set_headers",
            json!({ "Authorization": "Bearer ${file:secret}", "X-Key": "a ${file:secret} b" }),
        )
        .with("routes/0/upstream/pass_headers", json!(["X-Passed"]))
        .inline_route("other", &json!({ "type": "object", "properties": { "a": { "enum": ["x", "y"] } }, "additionalProperties": false }))
        .with("watch", "50ms")
}

fn bodies() -> Vec<Vec<u8>> {
    let texts = [
        format!(r#"{{"title":"{CANARY}","displayName":"A"}}"#),
        format!(r#"{{"title":"A","displayName":"B","{CANARY}":1}}"#),
        format!(r#"{{"title":["{CANARY}"],"displayName":"A"}}"#),
        format!(r#"{{"title":"{}{CANARY}","displayName":"A"}}"#, "x".repeat(100)),
        format!(r#"{{"title":"{CANARY}","title":"{CANARY}"}}"#),
        format!(r#"{{"title":"{CANARY}"#),
        format!(r#"{{"title":{CANARY}}}"#),
        format!("\"{CANARY}\\ud800\""),
        CANARY.to_owned(),
        format!("[\"{CANARY}\"] x"),
        format!(r#"{{"a":"{CANARY}"}}"#),
        format!(r#"{{"{CANARY}":{{"{CANARY}":"{CANARY}"}}}}"#),
        "[".repeat(200) + CANARY,
        format!("{CANARY}{}", " ".repeat(70_000)),
    ];
    let mut bodies: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    bodies.push([b"\"\xff".as_slice(), CANARY.as_bytes(), b"\""].concat());
    bodies
}

fn requests() -> Vec<Request> {
    let fit = format!(r#"{{"title":"{CANARY}","displayName":"A"}}"#);
    let names = [
        "Cookie",
        "Authorization",
        "X-Passed",
        "X-Other",
        "Accept",
        "Accept-Encoding",
        "If-Match",
        "If-None-Match",
        "Expect",
        "Content-Type",
        "Content-Encoding",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "Forwarded",
        "traceparent",
        "X-Request-Id",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Upgrade",
        "Origin",
        CANARY,
    ];
    let mut all: Vec<Request> = Vec::new();
    for body in bodies() {
        all.push(Request::post(MEETING, &body));
        all.push(Request::post("/other", &body).chunked(7));
    }
    all.extend(names.map(|name| Request::post(MEETING, &fit).field(name, CANARY)));
    all.extend(names.map(|name| Request::get(MEETING).field(name, CANARY)));
    all.push(Request::post(&format!("{MEETING}?{CANARY}={CANARY}"), &fit));
    all.push(Request::get(&format!("{MEETING}?{CANARY}")));
    all.push(Request::get(&format!("/{CANARY}")));
    all.push(Request::get(&format!("/{CANARY}\u{1}")));
    all.push(Request::new(CANARY, MEETING));
    all.push(Request::get(MEETING).host(Some(&format!("{CANARY}.test"))));
    all.push(Request::get(MEETING).host(Some(&format!("{CANARY} x"))));
    all.push(Request::get(MEETING).version("HTTP/1.1\r\nBroken Canary7Zq: x"));
    all.push(Request::get(MEETING).version("Canary7Zq/1.1"));
    all
}

/// Everything once; gives all that came out anywhere, by place.
fn provoke(gate: &Gate, setup: &Setup) -> Vec<(String, String)> {
    let mut came = Vec::new();
    for (index, request) in requests().iter().enumerate() {
        let mut client = gate.client();
        match client.try_exchange(request) {
            Ok(response) => {
                let body = String::from_utf8_lossy(&response.body).into_owned();
                came.push((format!("answer {index}"), format!("{}{body}", response.head)));
            }
            Err(loss) => panic!("{request:?}: {loss:?}"),
        }
    }
    // Bodies that break off, connections that do.
    for request in requests().iter().step_by(5) {
        let mut client = gate.client();
        let bytes = request.bytes();
        client.send(&bytes[..bytes.len() - 3]);
        client.reset();
    }
    let mut preface = gate.client();
    preface.send(format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{CANARY}{CANARY}").as_bytes());
    let _ = preface.try_receive("GET");
    let host = gate.admin.to_string();
    for route in ["meetings_start", "other", CANARY] {
        for body in bodies() {
            let request = Request::post(&format!("/-/explain/{route}"), body).host(Some(&host));
            let response = Client::connect(gate.admin).exchange(&request);
            came.push((format!("explain {route}"), response.text().to_owned()));
        }
    }
    // A config that is refused, with the secret beside it, and one that cannot be read at all.
    let config = gate.config();
    for broken in [
        setup.text().replace("Bearer ${file:secret}", "Bearer ${file:secret}${file:missing}"),
        setup.text().replace("\"X-Key\"", "\"X Key\""),
        setup.text().replace("a ${file:secret} b", "a ${file:secret} \\u0000"),
        setup.text()[..200].to_owned(),
    ] {
        replace(&config, broken.as_bytes());
        came.push(("reload".into(), gate.reload().text().to_owned()));
        came.push(("readyz".into(), gate.ask_admin("GET", "/readyz").text().to_owned()));
    }
    replace(&gate.dir.path().join("secret"), format!("{SECRET}\n{SECRET}\n").as_bytes());
    replace(&config, setup.text().as_bytes());
    came.push(("reload of a secret of two lines".into(), gate.reload().text().to_owned()));
    replace(&gate.dir.path().join("secret"), format!("{SECRET}2\n").as_bytes());
    came.push(("reload of a new secret".into(), gate.reload().text().to_owned()));
    for page in ["/metrics", "/livez", "/readyz", "/-/snapshot", "/nothing"] {
        came.push((page.into(), gate.ask_admin("GET", page).text().to_owned()));
    }
    came
}

fn run(level: Option<&str>) -> (Vec<(String, String)>, Vec<String>) {
    // What the upstream says is as silent as what the client says.
    let backend = Backend::answering(answer(
        "422 No",
        &format!("X-Why: {CANARY}\r\nContent-Type: text/plain\r\n"),
        CANARY,
    ));
    let setup = setup(&backend);
    let gate = Gate::start_with(&setup, |command| {
        if let Some(level) = level {
            command.env("RUST_LOG", level);
        }
    });
    let came = provoke(&gate, &setup);
    assert!(backend.seen().iter().any(|seen| seen.head.contains(SECRET)), "the secret is used");
    let mut last = 0;
    eventually("the log is written", || {
        let now = gate.written().len();
        std::thread::sleep(std::time::Duration::from_millis(100));
        std::mem::replace(&mut last, now) == now
    });
    let lines = gate.written().lines().map(str::to_owned).collect();
    (came, lines)
}

#[track_caller]
fn silent(came: &[(String, String)], lines: &[String], word: &str, level: &str) {
    for (place, text) in came {
        assert!(!text.contains(word), "{level}: {word} in {place}: {text}");
    }
    let loud: Vec<_> = lines.iter().filter(|line| line.contains(word)).collect();
    assert!(loud.is_empty(), "{level}: {word} in the log: {loud:#?}");
}

#[test]
fn nothing_comes_out_at_the_default_level_or_at_our_own_trace() {
    let _turn = turn();
    let ours = format!("{},formgate=trace", formgate::edge::LOG_FILTER);
    for level in [None, Some(ours.as_str())] {
        let (came, lines) = run(level);
        let name = level.unwrap_or("the default");
        silent(&came, &lines, CANARY, name);
        silent(&came, &lines, SECRET, name);
        println!("canary: {name}: {} texts and {} lines, neither canary nor secret", came.len(), lines.len());
    }
}

#[test]
fn a_secret_comes_out_at_no_level() {
    let _turn = turn();
    let (came, lines) = run(Some("trace"));
    silent(&came, &lines, SECRET, "trace");
    silent(&came, &[], CANARY, "trace");
    let loud: Vec<_> = lines.iter().filter(|line| line.contains(CANARY)).collect();
    let ours: Vec<_> =
        loud.iter().filter(|line| line.contains(" formgate::") || line.starts_with('{')).collect();
    assert!(ours.is_empty(), "our own lines quote a client: {ours:#?}");
    println!("canary: trace: {} lines, {} of the libraries quote a client", lines.len(), loud.len());
    let mut who: Vec<_> = loud.iter().filter_map(|line| line.split_whitespace().nth(2)).collect();
    who.sort_unstable();
    who.dedup();
    println!("canary: {who:?}");
}

/// Bearer tokens at no level either, right or wrong, over HTTP/1 and HTTP/2, on a route and on the admin listener: not even
/// the libraries quote the field they stand in.
#[test]
fn a_token_comes_out_at_no_level() {
    use crate::wire::http2::{exchange, open, post, run};
    let _turn = turn();
    let backend = Backend::agreeing();
    let hash = |token: &str| formgate::gateway::TokenHash::of(token.as_bytes()).hex();
    let [agent, oncall] =
        ["fg_act_", "fg_op_"].map(|prefix| format!("{prefix}{SECRET}OfThirtyTwoCharacters"));
    let tokens = json!({
        "agents": { "class": "act", "sha256": hash(&agent) },
        "oncall": { "class": "operator", "sha256": hash(&oncall) },
    });
    let setup = Setup::meeting(&backend).with("tokens", tokens).with("routes/0/tokens", json!(["agents"]));
    let gate = Gate::start_with(&setup, |command| {
        command.env("RUST_LOG", "trace");
    });
    let body = crate::support::MEETING_BODY;
    let bearing = |token: &str| format!("Bearer {token}");
    let mut came = Vec::new();
    for (token, status) in [(&agent, 200), (&oncall, 401), (&format!("{agent}x"), 401)] {
        let response = gate.exchange(&Request::post(MEETING, body).field("Authorization", &bearing(token)));
        assert_eq!(response.status, status);
        came.push(("answer".to_owned(), response.head));
        run(async {
            let client = open(gate.addr).await;
            let head = post(MEETING).header("authorization", bearing(token));
            let answer = exchange(&client, head, &[body.as_bytes()]).await.unwrap();
            assert_eq!(answer.status, status);
        });
        let page = Request::get("/-/snapshot").host(Some(&gate.admin.to_string()));
        let response = Client::connect(gate.admin).exchange(&page.field("Authorization", &bearing(token)));
        came.push(("snapshot".to_owned(), response.text().to_owned()));
    }
    came.push(("metrics".into(), gate.metrics().text));
    let access = |line: &str| line.starts_with('{');
    eventually("six access lines", || gate.written().lines().filter(|line| access(line)).count() >= 6);
    let lines: Vec<String> = gate.written().lines().map(str::to_owned).collect();
    for word in [SECRET, &hash(&agent), &hash(&oncall)] {
        silent(&came, &lines, word, "trace");
    }
    assert_eq!(lines.iter().filter(|line| access(line) && line.contains(r#""token":"agents""#)).count(), 2);
}
