//! The form at work: for every shipped route it is filled in, sent, and the backend has what the editor showed.

use super::driver::{Scripts, browse};
use super::fill::fill;
use super::{TOKEN, form_of, routes, shipped};
use crate::support::{Backend, MEETING, MEETING_BODY, Setup, backend};
use serde_json::{Value, json};

const ENTER: &str = "\u{e007}";
const TAB: &str = "\u{e004}";

/// G-11, G-42: the page at the same address, and its form sends what the JSON beside it shows, for each
/// accepted example of each route.
#[test]
fn every_shipped_form_is_filled_in_and_sent() {
    let backend = Backend::agreeing();
    let setup = shipped(&backend);
    let (routes, files) = (routes(&setup.config), setup.files.clone());
    let gate = setup.start();
    browse(Scripts::Run, |browser| {
        let mut sent = 0;
        for route in &routes {
            let address = route["address"].as_str().unwrap();
            let form = form_of(&files, route);
            for example in route["examples"]["accepted"].as_array().unwrap() {
                let value: Value = serde_json::from_str(example.as_str().unwrap()).unwrap();
                browser.open(&format!("http://{}{address}", gate.addr));
                browser.css("#send");
                fill(browser, &form, &value);
                let shown = browser.text("#editor");
                assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value, "{address}");
                if route["tokens"].is_array() {
                    browser.send_keys(&browser.css("#token"), TOKEN);
                }
                browser.click(&browser.css("#send"));
                browser.wait("document.querySelector('#status')");
                assert_eq!(browser.text("#status"), "200", "{address}");
                assert_eq!(
                    serde_json::from_str::<Value>(&browser.text("#body")).unwrap(),
                    json!({ "ok": true })
                );
                let seen = backend.seen();
                sent += 1;
                assert_eq!(seen.len(), sent, "{address}");
                assert_eq!(seen[sent - 1].body, shown.as_bytes(), "{address}");
                assert_eq!(seen[sent - 1].field("content-type").as_deref(), Some("application/json"));
                assert_eq!(browser.complaints(), [""; 0], "{address}");
            }
        }
        assert!(sent >= routes.len() && routes.len() >= 9, "{sent} sent");
    });
}

/// Whoever has no mouse gets through: Tab from the top, typing, Enter.
#[test]
fn a_keyboard_is_enough() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}{MEETING}", gate.addr));
        browser.css("#send");
        let focused =
            || browser.look("return document.activeElement.labels?.[0]?.innerText || ''", &json!([]));
        for (label, text) in [("title", "Q3 Planning"), ("displayName", "Agent Alpha")] {
            for _ in 0..10 {
                if focused().as_str().unwrap().starts_with(label) {
                    break;
                }
                browser.press(TAB);
            }
            assert!(
                focused().as_str().unwrap().starts_with(label),
                "{label} is never reached: {}",
                focused()
            );
            browser.press(text);
        }
        browser.press(ENTER);
        browser.wait("document.querySelector('#status')");
        assert_eq!(browser.text("#status"), "200");
        assert!(browser.text("[role=status][aria-live]").starts_with("Done"), "it is said aloud, too");
    });
    if super::driver::is_installed() {
        let sent: Value = serde_json::from_slice(&backend.only().body).unwrap();
        assert_eq!(sent, serde_json::from_str::<Value>(MEETING_BODY).unwrap());
    }
}

/// What is typed as JSON is what is sent, byte for byte, whatever it is; the fields follow where they can.
#[test]
fn the_editor_is_what_is_sent() {
    let backend = Backend::agreeing();
    let form = json!({
        "type": "object", "description": "d", "additionalProperties": false,
        "properties": {
            "count": { "type": "integer" },
            "ratio": { "type": "number" },
            "note": { "type": "string", "maxLength": 300 },
            "list": { "type": "array", "maxItems": 4, "items": { "type": "integer" } },
            "any": {},
        },
    });
    let gate = Setup::bare(&backend).inline_route("numbers", &form).start();
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}/numbers", gate.addr));
        let editor = browser.css("#editor");
        let bodies = [
            r#"{"count":9007199254740993,"ratio":0.30000000000000001,"list":[1e1,-0,18446744073709551617]}"#,
            r#" { "note" : "one\ntwo \u00e9 \ud83d\ude00" , "any" : { "__proto__" : [ null , true ] } } "#,
            "{\"note\":\"Zoë 😀\",\"count\":10}",
            r#"{"2":1}"#,
            "{\"count\":",
            "",
        ];
        for (nth, body) in bodies.into_iter().enumerate() {
            browser.clear(&editor);
            // Chromedriver types no character beyond the basic plane: those are pasted, as people do.
            browser.look(
                "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))",
                &json!([editor.to_json(), body]),
            );
            browser.click(&browser.css("#send"));
            browser.wait("document.querySelector('#status') && !document.querySelector('#send').hasAttribute('aria-disabled')");
            if nth < 3 {
                assert_eq!(browser.text("#status"), "200", "{body}");
                assert_eq!(backend.seen()[nth].body, body.as_bytes());
            } else {
                assert_eq!(browser.text("#status"), "204", "{body}");
                assert!(browser.text("#answer").contains("Nothing happened"), "{}", browser.text("#answer"));
            }
            if nth == 0 {
                let shown = |path: &str| browser.text(&format!("[data-at='{path}'] input"));
                assert_eq!(
                    (shown("/count"), shown("/ratio"), shown("/list/2")),
                    ("9007199254740993".into(), "0.30000000000000001".into(), "18446744073709551617".into())
                );
                // From the fields back: nothing is rounded, and a row that goes takes only itself along.
                browser.click(&browser.css("[data-at='/list'] li:nth-child(2) button"));
                let text = browser.text("#editor");
                assert_eq!(
                    text.split_whitespace().collect::<String>(),
                    r#"{"count":9007199254740993,"ratio":0.30000000000000001,"list":[1e1,18446744073709551617]}"#
                );
            }
        }
        assert_eq!(backend.count(), 3);
        assert_eq!(browser.complaints(), [""; 0]);
    });
}

/// A page that was loaded under another form does not act on it.
#[test]
fn a_form_that_has_changed_since_is_said_to_have() {
    let backend = Backend::agreeing();
    let setup = Setup::meeting(&backend);
    let changed = setup
        .text()
        .replace("\"name\": \"meetings_start\"", "\"name\": \"meetings_start\", \"context\": \"New.\"");
    let gate = setup.start();
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}{MEETING}", gate.addr));
        let editor = browser.css("#editor");
        browser.clear(&editor);
        browser.send_keys(&editor, MEETING_BODY);
        gate.replace("gateway.yaml", &changed);
        assert_eq!(gate.reload().status, 200);
        browser.click(&browser.css("#send"));
        browser.wait("document.querySelector('#status')");
        assert_eq!(browser.text("#status"), "412");
        assert!(browser.text("#answer").contains("load the page again"));
        backend.untouched();
        browser.open(&format!("http://{}{MEETING}", gate.addr));
        assert_eq!(browser.text(".lead"), "New.");
        assert_eq!(browser.complaints(), [""; 0]);
    });
}

/// Each answer that can come says what it means for the act.
#[test]
fn answers_say_what_became_of_it() {
    let answers = [
        ("500 Oops", "502", "may have been done"),
        ("422 No", "204", "Nothing happened"),
        ("503 Later", "503", "Most likely nothing was done"),
        ("429 Slow", "429", "Too often"),
        ("204 No Content", "200", "Done"),
    ];
    let nth = std::sync::atomic::AtomicUsize::new(0);
    let backend = Backend::scripted(move |_, stream| {
        let (status, ..) = answers[nth.fetch_add(1, std::sync::atomic::Ordering::SeqCst)];
        let bytes = if status.starts_with("204") {
            format!("HTTP/1.1 {status}\r\n\r\n").into_bytes()
        } else {
            backend::answer(status, "", "")
        };
        std::io::Write::write_all(stream, &bytes).unwrap();
        crate::support::After::Keep
    });
    let gate = Setup::meeting(&backend).start();
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}{MEETING}", gate.addr));
        let editor = browser.css("#editor");
        browser.clear(&editor);
        browser.send_keys(&editor, MEETING_BODY);
        for (upstream, status, words) in answers {
            browser.click(&browser.css("#send"));
            browser.wait("document.querySelector('#status') && !document.querySelector('#send').hasAttribute('aria-disabled')");
            assert_eq!(browser.text("#status"), status, "{upstream}");
            assert!(browser.text("#answer").contains(words), "{upstream}: {}", browser.text("#answer"));
        }
    });
}

/// Where acts have keys, the page sends one; it stays while nobody knows what became of the act, so that sending
/// again does nothing twice.
#[test]
fn sending_again_does_nothing_twice() {
    let other = r#"{"title":"Q4","displayName":"Ada"}"#;
    let backend = Backend::scripted(move |seen, stream| {
        // The first act is done, and its answer lost.
        if seen.connection == 0 {
            return crate::support::After::Close;
        }
        assert_eq!(seen.body, other.as_bytes(), "a second act");
        std::io::Write::write_all(stream, &backend::json(b"{}")).unwrap();
        crate::support::After::Keep
    });
    let gate = Setup::meeting(&backend).with("routes/0/idempotency", "required").start();
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}{MEETING}", gate.addr));
        let editor = browser.css("#editor");
        browser.clear(&editor);
        browser.send_keys(&editor, MEETING_BODY);
        let send = || {
            browser.click(&browser.css("#send"));
            browser.wait("document.querySelector('#status') && !document.querySelector('#send').hasAttribute('aria-disabled')");
            browser.text("#status")
        };
        for _ in 0..2 {
            assert_eq!(send(), "504");
            assert!(browser.text("#answer").contains("may have happened"), "{}", browser.text("#answer"));
        }
        // Something else in between is another act, and leaves the first one what it is.
        for (text, status) in [(other, "200"), (MEETING_BODY, "504")] {
            browser.clear(&editor);
            browser.send_keys(&editor, text);
            assert_eq!(send(), status, "{text}");
        }
        assert_eq!(backend.count(), 2);
        assert_eq!(browser.complaints(), [""; 0]);
    });
}

/// What cannot fit is said beside its field before anything is sent, in words and for screen readers.
#[test]
fn fields_say_what_they_miss() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    browse(Scripts::Run, |browser| {
        browser.open(&format!("http://{}{MEETING}", gate.addr));
        let field = |name: &str| format!("[data-at='/{name}'] input");
        let said = |name: &str| {
            let script = "const c = document.querySelector(arguments[0]);
                return c.getAttribute('aria-invalid') === 'true'
                    ? document.getElementById(c.getAttribute('aria-describedby').split(' ').pop()).innerText : ''";
            browser.look(script, &json!([field(name)])).as_str().unwrap().to_owned()
        };
        for (name, text, complaint) in [
            ("durationMinutes", "4", "too small"),
            ("durationMinutes", "241", "too large"),
            ("durationMinutes", "5.5", "not a whole number"),
            ("durationMinutes", "five", "not a number"),
            ("durationMinutes", "30", ""),
            ("title", "Q3", ""),
        ] {
            let control = browser.css(&field(name));
            browser.clear(&control);
            browser.send_keys(&control, &format!("{text}{TAB}"));
            assert!(
                said(name).contains(complaint) && said(name).is_empty() == complaint.is_empty(),
                "{text}: {}",
                said(name)
            );
        }
        browser.click(&browser.css("#send"));
        browser.wait("document.querySelector('#status')");
        assert_eq!(browser.text("#status"), "204");
        assert!(said("displayName").contains("too short"), "{}", said("displayName"));
        backend.untouched();
    });
}
