//! The index (DESIGN 8; B-20, G-41): a list of addresses for who knows only the host, off unless it is turned on.

use super::told;
use crate::support::gate::replace;
use crate::support::{Backend, Gate, MEETING, Request, Setup, eventually};
use serde_json::{Value, json};

const WELL_KNOWN: &str = "/.well-known/gpt.json";

fn small() -> Value {
    json!({ "type": "object", "description": "A form's own words.", "additionalProperties": false })
}

fn setup(backend: &Backend) -> Setup {
    Setup::meeting(backend)
        .inline_route("purge", &small())
        .inline_route("secret", &small())
        .with("routes/0/type", "meeting")
        .with("routes/0/context", "Starts a \"meeting\". It ends by itself.")
        .with("routes/2/listed", false)
        .with("routes/2/context", "Not for everyone.")
        .with("surfaces", json!({ "index": "on" }))
}

#[test]
fn it_is_off_unless_it_is_turned_on() {
    let backend = Backend::agreeing();
    for surfaces in [json!({}), json!({ "index": "off" })] {
        let gate = setup(&backend).with("surfaces", surfaces).start();
        assert_eq!(gate.get("/").status, 404);
        assert_eq!(gate.get(WELL_KNOWN).status, 404);
    }
}

/// Names, addresses, types and one sentence each: no form, nothing of backends, nothing of what is not listed.
#[test]
fn it_lists_the_addresses_by_name() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).start();
    let list = gate.get("/");
    assert_eq!(list.status, 200);
    assert_eq!(list.field("content-type"), Some("application/json"));
    assert_eq!(
        list.text(),
        concat!(
            r#"{"addresses":[{"name":"meetings_start","address":"/api/v2/meetings/start","type":"meeting","#,
            r#""about":"Starts a \"meeting\"."},{"name":"purge","address":"/purge"}],"links":{}}"#
        )
    );
    assert_eq!(gate.get(WELL_KNOWN).body, list.body, "programs read the same");
    let backend_url = backend.addr.to_string();
    for never in ["\"s\"", "properties", "legacy", "secret", "Not for everyone", &backend_url] {
        assert!(!list.text().contains(never), "{never}");
    }
    backend.untouched();
}

/// G-41: an address has one form, with the index or without, and no form has an address in it.
#[test]
fn what_an_address_publishes_does_not_know_of_it() {
    let backend = Backend::agreeing();
    let with = setup(&backend).start().get(MEETING);
    let without = setup(&backend).with("surfaces", json!({})).start().get(MEETING);
    assert_eq!(with.body, without.body);
    assert!(!with.text().contains("/purge"));
}

#[test]
fn absolute_addresses_and_other_doors_are_named_where_they_are_known() {
    let backend = Backend::agreeing();
    let mcp = json!({ "index": "on", "mcp": { "path": "/tools/mcp" } });
    let gate = setup(&backend)
        .with("surfaces", mcp)
        .with("routes/1/mcp", true)
        .with("public_url", "https://api.example.com/v1")
        .start();
    let list = gate.get(WELL_KNOWN).json();
    assert_eq!(list["addresses"][1]["url"], "https://api.example.com/v1/purge");
    assert_eq!(list["links"]["mcp"], "https://api.example.com/v1/tools/mcp");
    assert!(
        list["links"]
            .as_object()
            .unwrap()
            .values()
            .all(|link| { link.as_str().unwrap().starts_with("https://api.example.com/v1/") })
    );
}

/// It is served like every document: only read, kept by its tag, and not for search engines.
#[test]
fn it_is_only_read() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).start();
    for address in ["/", WELL_KNOWN] {
        let found = gate.get(address);
        let tag = found.field("etag").unwrap().to_owned();
        assert_eq!(found.field("x-robots-tag"), Some("noindex, nofollow"));
        let again = gate.exchange(&Request::get(address).field("If-None-Match", &tag));
        assert_eq!((again.status, again.body.len()), (304, 0));
        let head = gate.exchange(&Request::new("HEAD", address));
        assert_eq!(head.field("content-length"), Some(found.body.len().to_string().as_str()));
        for method in ["POST", "DELETE"] {
            let refused = gate.exchange(&Request::new(method, address));
            assert_eq!((refused.status, refused.field("allow")), (405, Some("GET, HEAD, OPTIONS")));
        }
    }
    assert_eq!(gate.get("/.well-known/").status, 404);
    backend.untouched();
}

/// A person gets a page where they ask for one by name; nothing of the configuration becomes markup in it.
#[test]
fn people_get_a_page() {
    let backend = Backend::agreeing();
    let hostile = "\"><script>alert(1)</script> & <b>bold</b>";
    let gate = setup(&backend)
        .with("routes/0/context", hostile)
        .with("surfaces/mcp", json!({ "path": "/tools/mcp" }))
        .with("routes/1/mcp", true)
        .start();
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let page = gate.exchange(&Request::get("/").field("Accept", browser));
    assert_eq!(page.status, 200);
    assert_eq!(page.field("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.field("x-robots-tag"), Some("noindex, nofollow"));
    let policy = page.field("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!page.text().contains("<script") && !page.text().contains("<b>"), "{}", page.text());
    assert!(page.text().contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    for there in
        ["href=\"./api/v2/meetings/start\"", "href=\"./purge\"", "./.well-known/gpt.json", "/tools/mcp"]
    {
        assert!(page.text().contains(there), "{there}: {}", page.text());
    }
    assert!(!page.text().contains("secret"));
    for accept in ["application/json", "*/*", "text/*", "text/html;q=0"] {
        let list = gate.exchange(&Request::get("/").field("Accept", accept));
        assert_eq!(list.field("content-type"), Some("application/json"), "{accept}");
        assert_ne!(list.field("etag"), page.field("etag"));
        assert_eq!(list.field("vary"), Some("Accept, Accept-Encoding"));
    }
    let machine = gate.exchange(&Request::get(WELL_KNOWN).field("Accept", browser));
    assert_eq!(machine.field("content-type"), Some("application/json"), "programs know what they get");
}

fn names(gate: &Gate) -> Vec<Value> {
    let list = gate.get("/").json();
    list["addresses"].as_array().unwrap().iter().map(|entry| entry["name"].clone()).collect()
}

#[test]
fn a_reload_changes_it() {
    let backend = Backend::agreeing();
    let gate = setup(&backend).with("watch", "50ms").start();
    assert_eq!(names(&gate), ["meetings_start", "purge"]);
    let after =
        setup(&backend).with("watch", "50ms").with("routes/2/listed", true).with("routes/1/listed", false);
    replace(&gate.config(), after.text().as_bytes());
    eventually("the other list", || names(&gate) == ["meetings_start", "secret"]);
    let off = setup(&backend).with("watch", "50ms").with("surfaces", json!({}));
    replace(&gate.config(), off.text().as_bytes());
    eventually("it is gone", || gate.get("/").status == 404);
}

#[test]
fn what_load_refuses() {
    let backend = Backend::agreeing();
    assert_eq!(told(&setup(&backend)), "");
    for (setup, words) in [
        (setup(&backend).with("routes/1/address", "/"), "the address `/` is the gateway's own"),
        (setup(&backend).with("routes/1/address", WELL_KNOWN), "is the gateway's own"),
        (
            setup(&backend).with("surfaces/mcp", json!({ "path": "/" })).with("routes/1/mcp", true),
            "two surfaces would stand at `/`",
        ),
        (setup(&backend).with("surfaces/index", "maybe"), "/surfaces/index"),
        (setup(&backend).with("routes/0/listed", "no"), "/routes/0/listed"),
    ] {
        let faults = told(&setup);
        assert!(faults.contains(words), "{words}: {faults:?}");
    }
}
