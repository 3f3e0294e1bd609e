//! Reload: every way it comes about, and a bad file changes nothing but a metric and `/readyz` (P2, P11; B-15; DESIGN 7).

use crate::support::gate::replace;
use crate::support::metrics::Metrics;
use crate::support::{Backend, Gate, Request, Setup, eventually};
use serde_json::json;
use std::path::Path;

const FORM: &str = "forms/flip.json";
const ADDRESS: &str = "/flip";

/// A closed object with one member.
pub(super) fn form(member: &str) -> Vec<u8> {
    let form = json!({
        "description": format!("One {member}."),
        "type": "object",
        "properties": { member: { "type": "integer", "minimum": 0, "maximum": 9 } },
        "required": [member],
        "additionalProperties": false,
    });
    form.to_string().into_bytes()
}

fn flip(backend: &Backend, watch: &str) -> Setup {
    Setup::bare(backend)
        .route(json!({
            "address": ADDRESS,
            "name": "flip",
            "form": FORM,
            "upstream": { "to": "backend", "path": "/legacy" },
        }))
        .file(FORM, form("a"))
        .with("watch", watch)
}

/// Which member the gate wants now; what is served and what is enforced must agree.
fn member(gate: &Gate) -> String {
    let mut client = gate.client();
    let before = client.exchange(&Request::get(ADDRESS));
    let verdicts = ["a", "b"]
        .map(|member| client.exchange(&Request::post(ADDRESS, format!("{{\"{member}\":1}}"))).status);
    let after = client.exchange(&Request::get(ADDRESS));
    let wanted = before.json()["s"]["required"][0].as_str().unwrap().to_owned();
    if before.body == after.body {
        assert_eq!(verdicts, if wanted == "a" { [200, 204] } else { [204, 200] }, "served {wanted}");
    }
    wanted
}

#[track_caller]
fn becomes(gate: &Gate, wanted: &str, how: &str) {
    eventually(how, || member(gate) == wanted);
    assert_eq!(member(gate), wanted, "{how}");
}

#[test]
fn a_renamed_file_is_noticed() {
    let backend = Backend::agreeing();
    let gate = flip(&backend, "50ms").start();
    becomes(&gate, "a", "start");
    gate.replace(FORM, form("b"));
    becomes(&gate, "b", "rename");
    gate.replace(FORM, form("a"));
    becomes(&gate, "a", "rename back");
}

#[test]
fn a_file_written_in_place_is_noticed() {
    let backend = Backend::agreeing();
    let gate = flip(&backend, "50ms").start();
    let path = gate.dir.path().join(FORM);
    std::fs::write(&path, form("b")).unwrap();
    becomes(&gate, "b", "in place");
    // The same length and maybe the same second: content decides, not only time and size.
    std::fs::write(&path, form("a")).unwrap();
    becomes(&gate, "a", "in place, the same length");
}

#[test]
fn the_config_itself_is_watched() {
    let backend = Backend::agreeing();
    let setup = flip(&backend, "50ms");
    let gate = setup.start();
    let again = flip(&backend, "50ms").with("routes/0/context", "new words");
    replace(&gate.config(), again.text().as_bytes());
    eventually("the new context", || gate.get(ADDRESS).json()["p"] == "new words");
}

/// As Kubernetes mounts a `ConfigMap`: `flip.json -> ..data/flip.json`, `..data -> ..1`, and `..data` is renamed over.
#[test]
fn a_symlink_flip_is_noticed() {
    use std::os::unix::fs::symlink;
    let backend = Backend::agreeing();
    let gate = flip(&backend, "50ms").start();
    let dir = gate.dir.path().join("forms");
    let generation = |name: &str, member: &str| {
        std::fs::create_dir(dir.join(name)).unwrap();
        std::fs::write(dir.join(name).join("flip.json"), form(member)).unwrap();
        symlink(name, dir.join("..data_tmp")).unwrap();
        std::fs::rename(dir.join("..data_tmp"), dir.join("..data")).unwrap();
    };
    generation("..1", "a");
    symlink(Path::new("..data/flip.json"), dir.join("link")).unwrap();
    std::fs::rename(dir.join("link"), dir.join("flip.json")).unwrap();
    becomes(&gate, "a", "links in place of the file");
    generation("..2", "b");
    becomes(&gate, "b", "flip");
    std::fs::remove_dir_all(dir.join("..1")).unwrap();
    generation("..3", "a");
    becomes(&gate, "a", "flip again");
}

#[test]
fn sighup_and_the_admin_page_reload() {
    let backend = Backend::agreeing();
    let mut gate = flip(&backend, "off").start();
    gate.replace(FORM, form("b"));
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(member(&gate), "a", "nothing is watched");
    gate.signal("HUP");
    becomes(&gate, "b", "SIGHUP");
    assert!(gate.is_running());
    gate.replace(FORM, form("a"));
    let response = gate.reload();
    assert!((200..300).contains(&response.status), "{} {}", response.head, response.text());
    assert_eq!(member(&gate), "a", "the answer to a reload comes after the swap");
}

fn reloads(metrics: &Metrics) -> f64 {
    metrics.sum("formgate_reloads_total", &[])
}

/// All faults are reported, the snapshot stays, the metric and `/readyz` say so; mending it heals.
#[test]
fn a_bad_file_changes_nothing_but_a_metric_and_readyz() {
    let backend = Backend::agreeing();
    let gate = flip(&backend, "off").start();
    let first = gate.get(ADDRESS);
    let digest = gate.ask_admin("GET", "/readyz").text().to_owned();
    let bad = [
        ("{", "half a file"),
        ("", "an empty file"),
        (r#"{"type":"object","maxlength":3}"#, "an unknown keyword"),
        (r#"{"type":"strin"}"#, "an unknown type"),
        (r##"{"$ref":"#/$defs/none"}"##, "a dangling reference"),
        ("true", "a boolean form"),
    ];
    for (text, what) in bad {
        let before = gate.metrics();
        gate.replace(FORM, text);
        let response = gate.reload();
        assert!((400..500).contains(&response.status), "{what}: {}", response.head);
        assert!(
            response.text().contains("flip.json"),
            "{what}: the faults name the file: {}",
            response.text()
        );
        let after = gate.metrics();
        let changed = after.changed(&before, "formgate_reloads_total");
        assert_eq!((changed.len(), reloads(&after) - reloads(&before)), (1, 1.0), "{what}: {changed:?}");
        assert_eq!(after.changed(&before, "formgate_snapshot_info"), [], "{what}");
        let now = gate.get(ADDRESS);
        assert_eq!((now.constant_head(), &now.body), (first.constant_head(), &first.body), "{what}");
        assert_eq!(member(&gate), "a", "{what}");
        let ready = gate.ask_admin("GET", "/readyz");
        assert_eq!(ready.status, 200, "{what}: the old snapshot serves");
        assert!(ready.text().contains("flip.json") && ready.text() != digest, "{what}: {}", ready.text());
    }
    gate.replace(FORM, form("b"));
    assert!((200..300).contains(&gate.reload().status));
    assert_eq!(member(&gate), "b");
    assert!(!gate.ask_admin("GET", "/readyz").text().contains("flip.json"), "healed");
}

/// A file that goes away, and one that a route names and that is not there.
#[test]
fn a_missing_file_is_a_bad_file() {
    let backend = Backend::agreeing();
    let gate = flip(&backend, "50ms").start();
    std::fs::remove_file(gate.dir.path().join(FORM)).unwrap();
    eventually("the fault is shown", || gate.ask_admin("GET", "/readyz").text().contains("flip.json"));
    assert_eq!(member(&gate), "a");
    std::fs::write(gate.dir.path().join(FORM), form("b")).unwrap();
    becomes(&gate, "b", "it comes back");
}

/// The same files again: nothing happens, not even a new generation.
#[test]
fn the_same_files_are_nothing_new() {
    let backend = Backend::agreeing();
    let gate = flip(&backend, "off").start();
    let before = gate.metrics();
    gate.replace(FORM, form("a"));
    assert!((200..300).contains(&gate.reload().status));
    let after = gate.metrics();
    assert_eq!(after.changed(&before, "formgate_snapshot_info"), []);
    assert_eq!(after.changed(&before, "formgate_snapshot_timestamp_seconds"), []);
}

/// What cannot change live is reported, and everything runs on.
#[test]
fn a_changed_listener_needs_a_restart_and_says_so() {
    let backend = Backend::agreeing();
    let gate = flip(&backend, "off").start();
    let again = flip(&backend, "off").with("listen", json!(["127.0.0.1:1"]));
    replace(&gate.config(), again.text().as_bytes());
    let response = gate.reload();
    let said = format!("{} {} {}", response.text(), gate.ask_admin("GET", "/readyz").text(), gate.log());
    assert!(said.to_lowercase().contains("restart"), "{said}");
    assert_eq!(member(&gate), "a");
}

/// Routes come and go with a reload; an act in flight ends in the generation that it began in.
#[test]
fn routes_come_and_go() {
    let backend = Backend::agreeing();
    let gate = flip(&backend, "off").start();
    assert_eq!(gate.get("/other").status, 404);
    let with = flip(&backend, "off").inline_route("other", &json!({ "description": "x", "type": "null" }));
    replace(&gate.config(), with.text().as_bytes());
    assert!((200..300).contains(&gate.reload().status));
    assert_eq!(gate.post("/other", "null").status, 200);
    assert!(
        gate.metrics()
            .series
            .keys()
            .any(|(_, labels)| labels.get("route").is_some_and(|route| route == "other"))
    );
    replace(&gate.config(), flip(&backend, "off").text().as_bytes());
    assert!((200..300).contains(&gate.reload().status));
    assert_eq!(gate.get("/other").status, 404);
}

/// What a reload has changed is said in its answer: of the form, and of what else the route says. The page shows one that
/// has the same members.
#[test]
fn the_answer_says_which_other_keys_have_changed() {
    let backend = Backend::agreeing();
    let setup = flip(&backend, "off");
    let changed =
        flip(&backend, "off").with("routes/0/upstream/path", "/elsewhere").with("routes/0/max_body", "1KiB");
    let gate = setup.start();
    gate.replace("gateway.yaml", changed.text());
    let answer = gate.reload().json();
    assert_eq!(answer["result"], "published", "{answer}");
    assert_eq!(answer["changes"], json!({ "flip": "same" }), "{answer}");
    assert_eq!(answer["others"], json!({ "flip": ["upstream.path", "max_body"] }), "{answer}");

    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operating.md")).unwrap();
    let (_, block) = page.split_once("/-/reload`, after").unwrap().1.split_once("```json\n").unwrap();
    let shown: serde_json::Value = serde_json::from_str(block.split_once("```").unwrap().0).unwrap();
    let members = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(members(&shown), members(&answer));
    for member in ["changes", "others"] {
        assert!(
            page.contains(&format!("`{member}` has ")),
            "docs/operating.md does not say what `{member}` is"
        );
    }
}
