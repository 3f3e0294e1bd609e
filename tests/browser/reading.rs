//! The page without its script, and how long it may be.

use super::driver::{Scripts, browse};
use super::{TOKEN, form_of, routes, shipped};
use crate::support::{Backend, Gate, Request, Response, Setup};
use serde_json::{Map, Value, json};
use std::process::Command;

/// Bytes of a page, at most, whatever the form.
const MOST: usize = 60_000;

fn page(gate: &Gate, address: &str) -> Response {
    gate.exchange(&Request::get(address).field("Accept", "text/html"))
}

/// Everything there is to read is in the document: the context, the members, the curl line.
#[test]
fn it_reads_without_script() {
    let backend = Backend::agreeing();
    let setup = shipped(&backend);
    let (routes, files) = (routes(&setup.config), setup.files.clone());
    let gate = setup.start();
    browse(Scripts::Blocked, |browser| {
        for route in &routes {
            browser.open(&format!("http://{}{}", gate.addr, route["address"].as_str().unwrap()));
            assert_eq!(browser.text("h1"), route["name"].as_str().unwrap());
            assert_eq!(browser.text(".lead"), route["context"].as_str().unwrap());
            assert_eq!(browser.look("return document.querySelectorAll('form').length", &json!([])), 0);
            assert!(browser.text("#act").contains("needs JavaScript"));
            let shown = browser.look("return document.getElementById('doc').innerText", &json!([]));
            for word in told(&form_of(&files, route)) {
                assert!(shown.as_str().unwrap().contains(&word), "{word} is not in {shown}");
            }
            assert_eq!(browser.complaints(), [""; 0]);
        }
    });
}

/// What documentation must say of a form: names, descriptions, enum values, patterns, bounds.
fn told(schema: &Value) -> Vec<String> {
    let mut words = Vec::new();
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members {
                match keyword.as_str() {
                    "properties" => words.extend(value.as_object().unwrap().keys().cloned()),
                    "description" | "pattern" => words.push(value.as_str().unwrap().to_owned()),
                    "enum" => words.extend(value.as_array().unwrap().iter().map(Value::to_string)),
                    "const" | "minimum" | "maximum" | "multipleOf" | "minLength" | "maxLength"
                    | "minItems" | "maxItems" => {
                        words.push(value.to_string());
                    }
                    _ => {}
                }
                words.extend(told(value));
            }
        }
        Value::Array(elements) => words.extend(elements.iter().flat_map(told)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    words
}

/// The curl line as it stands on the page, put into a shell, does the act.
#[test]
fn the_curl_line_works_as_it_stands() {
    let backend = Backend::agreeing();
    let mut setup = shipped(&backend);
    setup.config.as_object_mut().unwrap().remove("public_url");
    let evil = "it's $HOME `id` \\ \"x\" !! <b> &amp; \u{202e}";
    let form = json!({ "type": "string", "maxLength": 100, "description": "d" });
    let setup = setup.route(json!({
        "address": "/o'clock/$HOME;(x)", "name": "evil", "form": form, "limits": "none",
        "upstream": { "to": "legacy", "path": "/evil" },
        "examples": { "accepted": [Value::from(evil).to_string()] },
    }));
    let routes = routes(&setup.config);
    let gate = setup.start();
    for (nth, route) in routes.iter().enumerate() {
        let page = page(&gate, route["address"].as_str().unwrap());
        let html = page.text();
        let line = html.split_once("<code id=\"curl\">").unwrap().1.split_once("</code>").unwrap().0;
        let line =
            line.replace("&#39;", "'").replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
        let line = line.replace("&amp;", "&");
        let ran = Command::new("sh")
            .args(["-c", &line])
            .env("TOKEN", TOKEN)
            .env("ORIGIN", format!("http://{}", gate.addr))
            .output()
            .unwrap();
        let answer = String::from_utf8_lossy(&ran.stdout);
        assert!(answer.starts_with("HTTP/1.1 200"), "{line}\n{answer}");
        let seen = backend.seen();
        assert_eq!(seen.len(), nth + 1, "{line}");
        let sent: Value = serde_json::from_slice(&seen[nth].body).unwrap();
        let example = route["examples"]["accepted"][0].as_str().unwrap();
        assert_eq!(sent, serde_json::from_str::<Value>(example).unwrap());
    }
}

/// Under 60 KB for every shipped form; compressed, far less.
#[test]
fn shipped_pages_are_small() {
    let backend = Backend::agreeing();
    let setup = shipped(&backend);
    let routes = routes(&setup.config);
    let gate = setup.start();
    for route in &routes {
        let address = route["address"].as_str().unwrap();
        let plain = page(&gate, address).body.len();
        let accept = Request::get(address).field("Accept", "text/html");
        let coded = gate.exchange(&accept.field("Accept-Encoding", "zstd, br, gzip")).body.len();
        println!("{address}: {plain} bytes, {coded} coded");
        assert!(plain < MOST && coded < MOST / 3, "{address}: {plain} bytes, {coded} coded");
    }
}

/// A form far larger than a page, which the script reads from the JSON of the address, passing over the member
/// `digest` that the draft does not know (G-07): the page stays a page, says that it is cut, and still works.
#[test]
fn a_giant_form_is_cut_and_still_works() {
    let backend = Backend::agreeing();
    let member = |nth: usize| {
        let words = format!("Member number {nth}, which says little in many words. ").repeat(2);
        (format!("member{nth}"), json!({ "type": "string", "maxLength": 10, "description": words }))
    };
    let form = json!({
        "type": "object", "description": "A giant.", "properties": (0..400).map(member).collect::<Map<_, _>>(),
        "additionalProperties": false,
    });
    let gate = Setup::bare(&backend)
        .file("giant.json", form.to_string())
        .inline_route("giant", &json!({}))
        .with("routes/0/form", "giant.json")
        .with("routes/0/context", "x".repeat(50_000))
        .with("routes/0/messages", json!([{ "role": "user", "content": "y".repeat(50_000) }]))
        .with("routes/0/lints", json!({ "largest-body": "allow" }))
        .start();
    let response = page(&gate, "/giant");
    println!("a form of {} bytes: a page of {}", form.to_string().len(), response.body.len());
    assert!(response.body.len() < MOST, "{}", response.body.len());
    assert!(response.text().contains("This text is cut"));
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}/giant", gate.addr));
        let last = browser.css("[data-at='/member399'] input");
        browser.send_keys(&last, "here");
        browser.click(&browser.css("#send"));
        browser.wait("document.querySelector('#status')");
        assert_eq!(browser.text("#status"), "200");
        assert_eq!(backend.only().body, browser.text("#editor").as_bytes());
        assert_eq!(browser.complaints(), [""; 0]);
    });
}
