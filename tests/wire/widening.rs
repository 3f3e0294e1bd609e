//! `reload: { widening: refuse }`: a reload that lets more in is refused like a broken file (P2).

use crate::support::gate::replace;
use crate::support::{Backend, Gate, Setup};
use serde_json::{Value, json};

fn form(most: u32) -> Value {
    json!({ "description": "A word.", "type": "string", "maxLength": most })
}

fn setup(backend: &Backend, most: u32, widening: &str) -> Setup {
    let setup = Setup::bare(backend).inline_route("word", &form(most)).with("watch", "off");
    setup.with("reload", json!({ "widening": widening }))
}

/// Puts a config in place and reloads: the status of the answer.
fn turn(gate: &Gate, setup: &Setup) -> u16 {
    replace(&gate.config(), setup.text().as_bytes());
    gate.reload().status
}

fn admits(gate: &Gate, length: usize) -> bool {
    match gate.post("/word", format!("\"{}\"", "a".repeat(length))).status {
        200 => true,
        204 => false,
        other => panic!("{other}"),
    }
}

#[test]
fn a_wider_form_is_refused_and_everything_says_so() {
    let backend = Backend::agreeing();
    let gate = setup(&backend, 5, "refuse").start();
    let before = gate.get("/word");
    assert_eq!(turn(&gate, &setup(&backend, 9, "refuse")), 422);
    assert!(admits(&gate, 5) && !admits(&gate, 9));
    assert_eq!(gate.get("/word").body, before.body);
    let ready = gate.ask_admin("GET", "/readyz");
    assert_eq!(ready.status, 200);
    assert!(
        ready.text().contains("word: the form newly admits") && ready.text().contains("widening: allow"),
        "{}",
        ready.text()
    );
    assert!(gate.metrics().counts("formgate_config_refused", &[], 1));
    assert!(gate.metrics().counts("formgate_reloads_total", &[("result", "refused")], 1));
    // Narrower is taken over, and heals.
    assert_eq!(turn(&gate, &setup(&backend, 4, "refuse")), 200);
    assert!(admits(&gate, 4) && !admits(&gate, 5));
    assert!(gate.metrics().counts("formgate_config_refused", &[], 0));
    // So is what was there before: it is wider than what is there now.
    assert_eq!(turn(&gate, &setup(&backend, 5, "refuse")), 422);
    // And a new address, which takes what nobody took.
    let more = setup(&backend, 4, "refuse").inline_route("other", &form(2));
    assert_eq!(turn(&gate, &more), 422);
    assert_eq!(gate.get("/other").status, 404);
}

/// The file that widens cannot allow itself to; first the permission, then the form.
#[test]
fn the_stricter_of_both_files_counts() {
    let backend = Backend::agreeing();
    let gate = setup(&backend, 5, "refuse").start();
    assert_eq!(turn(&gate, &setup(&backend, 9, "allow")), 422);
    assert_eq!(turn(&gate, &setup(&backend, 5, "allow")), 200);
    assert_eq!(turn(&gate, &setup(&backend, 9, "refuse")), 422, "the newer file is the stricter one");
    assert_eq!(turn(&gate, &setup(&backend, 9, "allow")), 200);
    assert!(admits(&gate, 9));
    // `warn` takes it over and says so.
    assert_eq!(turn(&gate, &setup(&backend, 12, "warn")), 200);
    assert!(gate.log().contains("word: the form newly admits"), "{}", gate.log());
    assert!(admits(&gate, 12));
}

/// What cannot be decided is taken for wider.
#[test]
fn undecided_is_refused() {
    let backend = Backend::agreeing();
    let with = |text: &str| {
        Setup::bare(&backend)
            .route(json!({ "address": "/n", "name": "n", "form": "forms/n.json", "upstream": { "to": "backend", "path": "/" } }))
            .file("forms/n.json", format!("{{\"description\":\"x\",\"type\":\"number\",\"minimum\":0,\"maximum\":{text}}}"))
            .with("watch", "off")
            .with("reload", json!({ "widening": "refuse" }))
    };
    let gate = with("0.3").start();
    gate.replace("forms/n.json", with("0.30000000000000001").files[0].1.clone());
    let response = gate.reload();
    assert_eq!(response.status, 422);
    assert!(response.text().contains("could not be decided"), "{}", response.text());
}
