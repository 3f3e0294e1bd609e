//! The document as it is served, and its operations as they are called.

use super::URL;
use super::schema::{admits, has_member};
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request, Setup, cases};
use formgate::json::Document;
use serde_json::{Value, json};

const DOCUMENT: &str = "/openapi.json";

fn on(setup: Setup) -> Setup {
    setup.with("public_url", URL).with("surfaces", json!({ "openapi": "on" }))
}

/// All forms of the cases; the one that is no object by its address only.
fn all_cases(backend: &Backend) -> Gate {
    let setup = cases::forms().iter().fold(on(Setup::bare(backend)), |setup, form| setup.case_route(form));
    let scalar = cases::forms().iter().position(|form| form == "note-scalar").unwrap();
    setup.with(&format!("routes/{scalar}/actions"), "none").start()
}

/// nothing is needed to fetch it, and it is cached like a form (P8).
#[test]
fn it_is_served_like_an_arrival() {
    let backend = Backend::agreeing();
    let gate = on(Setup::meeting(&backend)).start();
    let found = gate.get(DOCUMENT);
    assert_eq!((found.status, found.field("content-type")), (200, Some("application/json")));
    assert_eq!(found.field("cache-control"), Some("no-cache"));
    assert_eq!(found.json()["openapi"], "3.1.0");
    let etag = found.field("etag").unwrap().to_owned();

    let head = gate.exchange(&Request::new("HEAD", DOCUMENT));
    assert_eq!((head.status, head.constant_head()), (200, found.constant_head()));
    let fresh = gate.exchange(&Request::get(DOCUMENT).field("If-None-Match", &etag));
    assert_eq!((fresh.status, fresh.body.len()), (304, 0));
    let coded = gate.exchange(&Request::get(DOCUMENT).field("Accept-Encoding", "gzip"));
    assert_eq!(coded.field("content-encoding"), Some("gzip"));
    assert!(coded.body.len() < found.body.len() && coded.field("etag") != Some(&etag));

    // whoever asks, with whatever.
    for request in [
        Request::get(DOCUMENT).field("Authorization", "Bearer of-another"),
        Request::get(DOCUMENT).field("Cookie", "session=1").field("Accept", "text/html"),
        Request::get(&format!("{DOCUMENT}?project=1&token=x")),
        Request::get(DOCUMENT).body(MEETING_BODY).field("Content-Type", "application/json"),
        Request::get(DOCUMENT).host(Some("elsewhere.example")),
    ] {
        let other = gate.exchange(&request);
        assert_eq!((other.status, other.text()), (200, found.text()));
        assert_eq!(other.field("etag"), Some(etag.as_str()));
    }
    // It does nothing, and is not in itself.
    let refused = gate.post(DOCUMENT, "{}");
    assert_eq!((refused.status, refused.field("allow")), (405, Some("GET, HEAD, OPTIONS")));
    assert!(!found.text().contains(DOCUMENT));
    // the admin listener knows no such address, and the public one none of its own.
    assert_eq!(gate.ask_admin("GET", DOCUMENT).status, 404);
    for address in ["/metrics", "/-/reload", "/healthz", "/readyz"] {
        assert_eq!(gate.get(address).status, 404, "{address}");
        assert!(!found.text().contains(address));
    }
    assert!(
        gate.metrics().sum("formgate_requests_total", &[("route", "_openapi"), ("outcome", "arrived")])
            >= 6.0
    );
    backend.untouched();
}

#[test]
fn without_a_word_there_is_none() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    for address in [DOCUMENT, "/actions/call_runtime_tool", "/actions/tool_manifest"] {
        assert_eq!(gate.get(address).status, 404);
        assert_eq!(gate.post(address, "{}").status, 404);
    }
}

/// it follows the routes, whatever is edited.
#[test]
fn it_changes_with_the_routes() {
    let backend = Backend::agreeing();
    let setup = || on(Setup::meeting(&backend)).with("watch", "off");
    let gate = setup().start();
    let mut tags = vec![gate.get(DOCUMENT).field("etag").unwrap().to_owned()];
    let mut step = |setup: &Setup, addresses: &[&str]| {
        for (name, bytes) in &setup.files {
            gate.replace(name, bytes);
        }
        gate.replace("gateway.yaml", setup.text());
        assert_eq!(gate.reload().status, 200);
        let found = gate.get(DOCUMENT);
        let document = found.json();
        let paths: Vec<_> = document["paths"].as_object().unwrap().keys().collect();
        assert_eq!(paths, addresses);
        let tag = found.field("etag").unwrap().to_owned();
        assert!(!tags.contains(&tag), "{tag}");
        tags.push(tag);
    };
    let issue = cases::address("issue-create");
    let both = || setup().case_route("issue-create");
    step(&both(), &[MEETING, &issue]);
    step(&both().with("routes/0/actions", "none"), &[&issue]);
    let tail = ["/actions/call_runtime_tool", "/actions/tool_manifest"];
    step(&both().with("routes/1/actions", "longtail"), &[MEETING, tail[0], tail[1]]);
    step(&both().with("routes/0/summary", "In other words."), &[MEETING, &issue]);
    let mut cut: Value = serde_json::from_slice(&cases::form("issue-create")).unwrap();
    cut["properties"].as_object_mut().unwrap().remove("estimate");
    step(&both().file("forms/issue-create.json", cut.to_string()), &[MEETING, &issue]);

    // A document that cannot be drawn is a configuration that is not taken over.
    gate.replace("gateway.yaml", both().with("routes/0/summary", "x".repeat(301)).text());
    assert_ne!(gate.reload().status, 200);
    assert_eq!(gate.get(DOCUMENT).field("etag"), tags.last().map(String::as_str));
    // Off is gone.
    gate.replace("gateway.yaml", both().with("surfaces/openapi", "off").text());
    assert_eq!((gate.reload().status, gate.get(DOCUMENT).status), (200, 404));
}

/// one verdict, whoever asks for it: the operation, the address, and a reader of the document alone.
#[test]
fn an_operation_decides_as_its_schema_says() {
    let backend = Backend::agreeing();
    let gate = all_cases(&backend);
    let document = gate.get(DOCUMENT).json();
    assert!(!has_member(&document, "$ref"));
    let server = document["servers"][0]["url"].as_str().unwrap();
    let (mut operations, mut sent) = (0, 0);
    for form in cases::forms().iter().filter(|form| *form != "note-scalar") {
        let id = form.replace('-', "_");
        let paths = document["paths"].as_object().unwrap();
        let (path, item) = paths.iter().find(|(_, item)| item["post"]["operationId"] == id.as_str()).unwrap();
        let schema = &item["post"]["requestBody"]["content"]["application/json"]["schema"];
        // The server has no path of its own here: the operation's is the address.
        assert_eq!((server, path.as_str()), (URL, cases::address(form).as_str()));
        operations += 1;
        for (kind, fits) in [("accept", true), ("reject", false)] {
            for (file, body) in cases::bodies(form, kind) {
                let answer = gate.post(path, &body);
                assert_eq!(answer.status, if fits { 200 } else { 204 }, "{form}/{kind}/{file}");
                // a hint, and no more: nobody was asked here.
                if Document::new().parse(&body).is_ok() {
                    assert_eq!(
                        admits(schema, &serde_json::from_slice(&body).unwrap()),
                        fits,
                        "{form}/{file}"
                    );
                }
                if fits {
                    sent += 1;
                    assert_eq!(backend.seen().last().unwrap().body, body, "{form}/{file}");
                }
                assert_eq!(backend.count(), sent, "{form}/{kind}/{file}");
            }
        }
    }
    assert_eq!(operations, 8);
    assert!(sent > 30, "{sent}");
}

/// the member that hosts fill in themselves is one like any other: carried, judged, and nothing of it fetched.
#[test]
fn files_of_a_conversation_are_data() {
    let link = json!({ "type": "string", "maxLength": 500, "pattern": "^https://files\\.example/[a-z]+$" });
    let file = json!({
        "type": "object", "required": ["download_link"], "additionalProperties": false,
        "properties": { "name": { "type": "string", "maxLength": 80 }, "id": { "type": "string", "maxLength": 80 },
                        "mime_type": { "type": "string", "maxLength": 80 }, "download_link": link },
    });
    let form = json!({
        "type": "object", "description": "Takes files.", "required": ["openaiFileIdRefs"], "additionalProperties": false,
        "properties": { "openaiFileIdRefs": { "type": "array", "minItems": 1, "maxItems": 10, "items": file } },
    });
    let backend = Backend::agreeing();
    let gate = on(Setup::bare(&backend)).inline_route("take_files", &form).start();
    let document = gate.get(DOCUMENT).json();
    let schema =
        &document["paths"]["/take_files"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(schema, &form);
    let one = json!({ "name": "a.txt", "id": "file-1", "mime_type": "text/plain", "download_link": "https://files.example/a" });
    let body = |files: Value| json!({ "openaiFileIdRefs": files }).to_string();
    assert_eq!(gate.post("/take_files", body(json!([one]))).status, 200);
    let elsewhere = json!({ "download_link": "http://169.254.169.254/" });
    for files in
        [json!([]), json!(["file-1"]), json!([elsewhere]), json!([{ "id": "a" }]), json!(vec![one; 11])]
    {
        assert_eq!(gate.post("/take_files", body(files)).status, 204);
    }
    backend.only();
}

/// what actions cannot send is never asked for, and what makes them wait is said.
#[test]
fn nothing_is_needed_but_a_body() {
    let backend = Backend::agreeing();
    let gate = on(Setup::meeting(&backend))
        .with("defaults/limits", json!({ "get": "none", "post": "1/m burst 1", "refused": "none" }))
        .start();
    let bare = Request::post(MEETING, MEETING_BODY).field("User-Agent", "Mozilla/5.0; ChatGPT-User/1.0");
    assert_eq!(gate.exchange(&bare).status, 200);
    let throttled = gate.exchange(&bare);
    assert_eq!(throttled.status, 429);
    assert!(throttled.field("retry-after").unwrap().parse::<u32>().unwrap() > 0);
    backend.only();
}
