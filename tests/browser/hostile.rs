//! What comes from the configuration never becomes markup, and never runs.

use super::driver::{Browser, Scripts, browse};
use super::fill::fill;
use crate::support::{Backend, Setup};
use serde_json::{Map, Value, json};

const EVIL: [&str; 10] = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    "\"><svg onload=document.title='owned'>",
    "' onfocus='document.title=1' autofocus='",
    "</title></style></textarea></code></pre><b>bold</b>",
    "<!--<script>",
    "]]>&lt;b&gt;&amp;",
    "__proto__",
    "constructor",
    "$(document.title)`touch /tmp/owned`'; echo owned '",
];

/// A form that says each of these wherever text may stand.
fn form() -> Value {
    let mut properties = Map::new();
    for (nth, evil) in EVIL.iter().enumerate() {
        let schema = match nth % 4 {
            0 => {
                json!({ "type": "string", "maxLength": 100, "title": evil, "description": evil, "examples": [evil] })
            }
            1 => json!({ "type": "string", "enum": [evil, "plain"], "description": evil }),
            2 => json!({ "anyOf": [
                { "type": "object", "title": evil, "properties": { *evil: { "const": evil } }, "required": [evil], "additionalProperties": false },
                { "type": "null", "description": evil },
            ] }),
            _ => {
                json!({ "type": "array", "maxItems": 3, "items": { "enum": [evil] }, "uniqueItems": true, "default": [evil] })
            }
        };
        properties.insert((*evil).to_owned(), schema);
    }
    let required: Vec<&str> = EVIL.to_vec();
    json!({
        "type": "object", "title": EVIL.join(" "), "description": EVIL.join("\n"),
        "properties": properties, "required": required, "additionalProperties": false,
    })
}

fn value() -> Value {
    let members = EVIL.iter().enumerate().map(|(nth, evil)| {
        let value = match nth % 4 {
            0 | 1 => json!(evil),
            2 => json!({ *evil: evil }),
            _ => json!([evil]),
        };
        ((*evil).to_owned(), value)
    });
    Value::Object(members.collect())
}

fn gate(backend: &Backend) -> crate::support::Gate {
    Setup::bare(backend)
        .inline_route("evil", &form())
        .with("routes/0/context", EVIL.join("\n"))
        .with("routes/0/type", "\"><b>'x'</b>")
        .with("routes/0/messages", json!([{ "role": EVIL[0], "content": EVIL.join(" ") }]))
        .with("routes/0/examples", json!({ "accepted": [value().to_string()] }))
        .start()
}

#[track_caller]
fn untouched(browser: &Browser) {
    let found = browser.look(
        "return [document.title, document.scripts.length,
            document.querySelectorAll('img, svg, b:not(.address b), [autofocus], [onerror], [onload], [onfocus]').length,
            document.querySelectorAll('style').length, ({}).polluted === undefined]",
        &json!([]),
    );
    assert_eq!(found, json!(["evil", 2, 0, 1, true]));
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Neither in the HTML nor in what the script draws, and it is sent as it was meant.
#[test]
fn nothing_becomes_markup() {
    let backend = Backend::agreeing();
    let gate = gate(&backend);
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}/evil", gate.addr));
        browser.css("#send");
        untouched(browser);
        fill(browser, &form(), &value());
        untouched(browser);
        let shown = browser.text("#editor");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value());
        browser.click(&browser.css("#send"));
        browser.wait("document.querySelector('#status')");
        assert_eq!(browser.text("#status"), "200");
        assert_eq!(backend.only().body, shown.as_bytes());
        // What is shown is the text itself.
        assert_eq!(browser.text(".lead"), EVIL.join("\n"));
        untouched(browser);
    });
}

/// An answer is text, too.
#[test]
fn answers_do_not_become_markup() {
    let body = json!({ "html": EVIL }).to_string();
    let backend = Backend::answering(crate::support::backend::json(&body));
    let gate = gate(&backend);
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}/evil", gate.addr));
        let editor = browser.css("#editor");
        browser.clear(&editor);
        browser.send_keys(&editor, &value().to_string());
        browser.click(&browser.css("#send"));
        browser.wait("document.querySelector('#body')");
        assert_eq!(serde_json::from_str::<Value>(&browser.text("#body")).unwrap()["html"], json!(EVIL));
        untouched(browser);
    });
}

/// The policy is what it says: a script that came in all the same would not run.
#[test]
fn the_policy_holds() {
    let backend = Backend::agreeing();
    let gate = gate(&backend);
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}/evil", gate.addr));
        browser.css("#send");
        let refused = browser.look(
            "const script = document.createElement('script');
             let trusted = true;
             try { script.textContent = 'document.title = 1'; } catch { trusted = false; }
             script.append('document.title = 1');
             try { document.body.append(script); } catch { /* also refused */ }
             let markup = true;
             try { document.body.innerHTML += '<img src=x>'; } catch { markup = false; }
             return [document.title, trusted, markup]",
            &json!([]),
        );
        assert_eq!(refused, json!(["evil", false, false]));
    });
}
