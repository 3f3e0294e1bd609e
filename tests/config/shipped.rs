//! `config/` is what users copy: it loads without a word.

use super::root;
use formgate::config::{AccessLog, AdminAddress, load};
use std::time::Duration;

#[test]
fn the_example_loads_without_a_word() {
    let loaded = load(&root("config/gateway.yaml")).unwrap();
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.gateway.routes().len(), 9);
    // The YAML, one secret, eight forms; one form is inline.
    assert_eq!(loaded.files.len(), 10);
    assert_eq!(loaded.files[0], root("config/gateway.yaml"));
    assert_eq!(loaded.gateway.digest.len(), 32);
    let settings = loaded.settings;
    assert_eq!(
        settings.listen.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["http://127.0.0.1:8080"]
    );
    assert_eq!(settings.admin, Some(AdminAddress::Tcp("127.0.0.1:9901".parse().unwrap())));
    assert_eq!(settings.access_log, AccessLog::Stdout);
    assert_eq!((settings.max_head, settings.inflight_bodies), (16 << 10, 64 << 20));
    assert_eq!(settings.watch, Some(Duration::from_secs(1)));
}

/// What the example writes out are the values that hold when nothing is written.
#[test]
fn the_example_shows_the_defaults() {
    let shown = load(&root("config/gateway.yaml")).unwrap().settings;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gateway.yaml");
    std::fs::write(
        &path,
        "listen: ['127.0.0.1:8080']\n\
         upstreams: { legacy: { servers: ['http://127.0.0.1:18081'] } }\n\
         routes: [{ address: /a, name: a, limits: none, form: { type: string, maxLength: 3, description: d },\n\
         upstream: { to: legacy, path: /a } }]\n",
    )
    .unwrap();
    let defaults = load(&path).unwrap().settings;
    assert_eq!(shown.differences(&defaults), ["admin"]);
}

#[test]
fn what_a_route_says_is_what_it_gets() {
    let loaded = load(&root("config/gateway.yaml")).unwrap();
    let route = loaded.gateway.at("/api/v2/meetings/start").unwrap();
    assert_eq!(route.name, "start_meeting");
    assert_eq!(route.gpt_type.as_deref(), Some("meeting"));
    assert_eq!(route.max_body, 64 << 10);
    assert_eq!(route.outbound.target.fixed(), Some("/meetings"));
    assert_eq!(route.outbound.pass_fields, ["accept-language"]);
    assert_eq!(route.consequence.pass_fields, ["location"]);
    let published = std::str::from_utf8(&route.arrival.identity().bytes).unwrap().to_owned();
    assert!(published.starts_with(
        r#"{"p":"Starts a meeting and answers with a public join link.","m":[{"role":"system","content":"#
    ));

    let route = loaded.gateway.at("/api/v2/payments/refund").unwrap();
    assert_eq!(route.max_body, 4 << 10);
    assert!(route.guard.is_some() && loaded.gateway.operators.is_none());
    let route = loaded.gateway.at("/api/v2/text/publish").unwrap();
    assert_eq!(
        (route.outbound.method, route.outbound.target.fixed()),
        ("PUT", Some("/texts/front-page?draft=0"))
    );
    // The order of members is kept from YAML to the wire.
    let route = loaded.gateway.at("/api/v2/notes/pin").unwrap();
    assert_eq!(
        route.form.published(),
        r#"{"type":"string","minLength":1,"maxLength":280,"description":"One line for the notice board, as plain text."}"#
    );
    assert!(loaded.gateway.at("/api/v2/meetings/start/").is_none());
}

#[test]
fn the_digest_follows_content_and_not_place() {
    let load_copy = |change: bool| {
        let dir = tempfile::tempdir().unwrap();
        for entry in ["gateway.yaml", "secrets/legacy-token"].into_iter().map(str::to_owned).chain(forms()) {
            let to = dir.path().join(&entry);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            let mut bytes = std::fs::read(root("config").join(&entry)).unwrap();
            if change && entry.ends_with("cache-purge.json") {
                bytes.push(b'\n');
            }
            std::fs::write(to, bytes).unwrap();
        }
        load(&dir.path().join("gateway.yaml")).unwrap().gateway.digest
    };
    let here = load(&root("config/gateway.yaml")).unwrap().gateway.digest;
    assert_eq!(load_copy(false), here);
    assert_ne!(load_copy(true), here);
}

fn forms() -> Vec<String> {
    let entries = std::fs::read_dir(root("config/forms")).unwrap();
    entries.map(|entry| format!("forms/{}", entry.unwrap().file_name().display())).collect()
}
