//! The page without its script, and how long it may be.

use super::driver::{Scripts, browse};
use super::{TOKEN, form_of, routes, shipped};
use crate::support::{Backend, Gate, Request, Response, Setup};
use serde_json::{Map, Value, json};
use std::process::Command;

/// Bytes of a page of a form as people write them, at most.
const USUAL: usize = 60_000;
/// Bytes of a page, at most, whatever the form.
const MOST: usize = 128 << 10;

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

/// The curl line as it stands on the page, put into a shell.
#[track_caller]
fn run(gate: &Gate, address: &str) -> String {
    let page = page(gate, address);
    let line = page.text().split_once("<code id=\"curl\">").unwrap().1.split_once("</code>").unwrap().0;
    let line = line.replace("&#39;", "'").replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
    let here = format!("http://{}", gate.addr);
    // The shipped `public_url` is a port that a test does not have.
    let line = line.replace("&amp;", "&").replace("http://127.0.0.1:8080", &here);
    let ran =
        Command::new("sh").args(["-c", &line]).env("TOKEN", TOKEN).env("ORIGIN", here).output().unwrap();
    format!("{line}\n{}", String::from_utf8_lossy(&ran.stdout))
}

/// It does the act of the first example, on every shipped route.
#[test]
fn the_curl_line_works_as_it_stands() {
    let backend = Backend::agreeing();
    let setup = shipped(&backend);
    let routes = routes(&setup.config);
    let gate = setup.start();
    for (nth, route) in routes.iter().enumerate() {
        let answer = run(&gate, route["address"].as_str().unwrap());
        assert!(answer.contains("\nHTTP/1.1 200"), "{answer}");
        let seen = backend.seen();
        assert_eq!(seen.len(), nth + 1, "{answer}");
        let sent: Value = serde_json::from_slice(&seen[nth].body).unwrap();
        let example = route["examples"]["accepted"][0].as_str().unwrap();
        assert_eq!(sent, serde_json::from_str::<Value>(example).unwrap());
    }
}

/// Nothing in an address or an example is anything to a shell; a key is made where one is required.
#[test]
fn the_curl_line_is_safe_to_paste() {
    let backend = Backend::agreeing();
    let evil = "it's $HOME `id` \\ \"x\" !! <b> &amp; @file \u{202e}";
    let address = "/o'clock/$HOME;(x)&";
    let gate = Setup::bare(&backend)
        .inline_route("evil", &json!({ "type": "string", "maxLength": 100, "description": "d" }))
        .with("routes/0/address", address)
        .with("routes/0/idempotency", "required")
        .with("routes/0/examples", json!({ "accepted": [Value::from(evil).to_string()] }))
        .start();
    let answer = run(&gate, address);
    assert!(answer.contains("\nHTTP/1.1 200"), "{answer}");
    assert_eq!(serde_json::from_slice::<Value>(&backend.only().body).unwrap(), evil);
}

/// Where the route gives no example, one is made from the form, if the form admits it.
#[test]
fn an_example_is_made_where_none_is_given() {
    let backend = Backend::agreeing();
    let forms = [
        json!({ "type": "object", "additionalProperties": false, "required": ["a", "b", "c", "d"], "properties": {
            "a": { "type": "string", "minLength": 6, "maxLength": 9 },
            "b": { "type": "integer", "minimum": 7, "maximum": 9 },
            "c": { "$ref": "#/$defs/c%7E0d" },
            "d": { "type": "string", "format": "email", "maxLength": 40 },
        }, "$defs": { "c~d": { "type": "array", "items": { "enum": ["x", "y"] }, "minItems": 2, "maxItems": 3 } } }),
        json!({ "anyOf": [{ "type": "null" }, { "type": "boolean" }] }),
        json!({ "type": "string", "pattern": "^[0-9]{4}$" }),
    ];
    let mut setup = Setup::bare(&backend);
    for (nth, form) in forms.iter().enumerate() {
        let mut form = form.clone();
        form["description"] = "d".into();
        setup = setup.inline_route(&format!("form{nth}"), &form);
    }
    let gate = setup.start();
    for nth in 0..2 {
        let answer = run(&gate, &format!("/form{nth}"));
        assert!(answer.contains("\nHTTP/1.1 200"), "{answer}");
    }
    let bodies: Vec<String> =
        backend.seen().iter().map(|seen| String::from_utf8_lossy(&seen.body).into()).collect();
    assert_eq!(bodies, [r#"{"a":"textxx","b":7,"c":["x","x"],"d":"ada@example.com"}"#, "null"]);
    // A pattern is not guessed at: the line says where the value goes.
    assert!(page(&gate, "/form2").text().contains("--data-binary @value.json"));
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
        assert!(plain < USUAL && coded < USUAL / 3, "{address}: {plain} bytes, {coded} coded");
    }
}

/// A form far larger than a page, which the script reads from the JSON of the address, passing over the member
/// `digest` that the draft does not know (G-07): the page stays a page, says that it is cut, and still works.
#[test]
fn a_giant_form_is_cut_and_still_works() {
    let backend = Backend::agreeing();
    let member = |nth: usize| {
        let words = format!("Member number {nth}, which says 'little' in many words. ").repeat(2);
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
        .with("routes/0/context", "'".repeat(50_000))
        .with("routes/0/messages", vec![json!({ "role": "user", "content": "'".repeat(50_000) }); 20])
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
