//! The document itself: what is in it, and what is said where it cannot be drawn (A-01 to A-37).

use super::schema::{all, bare, has_member, resolved};
use super::{URL, document, drawn, faults, loaded, plain, warnings};
use crate::support::{Setup, cases};
use formgate::gateway::Own;
use serde_json::{Value, json};

/// All forms of the cases; the one that is no object is reached by its address only.
fn all_cases() -> Setup {
    cases::forms().iter().fold(drawn(), |setup, form| {
        let last = setup.config["routes"].as_array().unwrap().len();
        let setup = setup.case_route(form);
        if form == "note-scalar" { setup.with(&format!("routes/{last}/actions"), "none") } else { setup }
    })
}

fn operations(document: &Value) -> Vec<(&str, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths.iter().map(|(address, item)| (address.as_str(), &item["post"])).collect()
}

fn names(members: &Value) -> Vec<&str> {
    members.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn it_has_what_importers_ask_for() {
    let document = document(&all_cases());
    // A-01, A-35, A-37
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"], json!([{ "url": URL }]));
    assert_eq!(document["components"], json!({ "schemas": {} }));
    assert_eq!(document["info"]["title"], "Actions at api.example.com");
    // A-33: nothing refers to anything.
    assert!(!has_member(&document, "$ref"));
    // A-15: no route asks for a token.
    assert_eq!(document.get("security"), None);
    assert_eq!(operations(&document).len(), 8);
    for (address, operation) in operations(&document) {
        // A-06, A-17: one POST each, at the address that the route has anyway.
        assert_eq!(names(&document["paths"][address]), ["post"]);
        let form = cases::forms().into_iter().find(|form| cases::address(form) == address).unwrap();
        // A-04
        assert_eq!(operation["operationId"], form.replace('-', "_").as_str());
        // A-14
        assert_eq!(operation["x-openai-isConsequential"], true);
        assert_eq!(operation["security"], json!([]));
        // A-07
        assert_eq!(operation["requestBody"]["required"], true);
        assert_eq!(names(&operation["requestBody"]["content"]), ["application/json"]);
        // A-13
        let done = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        assert_eq!(done, &json!({ "type": "object", "properties": {} }));
        assert!(operation["responses"].to_string().len() < 1000);
        assert!(operation["responses"]["204"]["description"].as_str().unwrap().contains("Nothing was done"));
        assert!(operation["responses"]["204"].get("content").is_none());
        assert_eq!(names(&operation["responses"]), ["200", "204", "408", "429", "502", "503", "504"]);
        // A-02, A-34
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let form: Value = serde_json::from_slice(&cases::form(&form)).unwrap();
        assert_eq!(bare(schema).to_string(), bare(&resolved(&form, &form)).to_string());
        // A-32
        assert!(all(schema).iter().all(|s| s["type"] != "object" || s["properties"].is_object()));
        assert_eq!(operation["description"], form["description"]);
    }
}

/// A-08: every one, wherever it stands.
#[test]
fn no_text_is_long() {
    fn each(value: &Value, check: &mut impl FnMut(&str)) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, value)| match value {
                Value::String(text) if name == "description" || name == "summary" => check(text),
                other => each(other, check),
            }),
            Value::Array(elements) => elements.iter().for_each(|element| each(element, check)),
            _ => {}
        }
    }
    let long = "A word and another. ".repeat(60);
    let form = json!({
        "type": "object", "description": long, "additionalProperties": false,
        "properties": { "a": { "type": "string", "maxLength": 9, "description": long } },
    });
    let setup = drawn()
        .inline_route("a", &form)
        .with("routes/0/summary", "Short.")
        .inline_route("b", &form)
        .with("routes/1/summary", "Short.")
        .with("routes/1/actions", "longtail");
    let mut count = 0;
    each(&document(&setup), &mut |text| {
        count += 1;
        assert!(text.chars().count() <= 300, "{text}");
    });
    assert!(count > 20);
}

#[test]
fn what_a_route_does_is_told_in_its_own_words() {
    let context = |setup: Setup, text: &str| setup.with("routes/0/context", text);
    let told = |setup: &Setup| document(setup)["paths"]["/a"]["post"]["description"].clone();
    let setup = || drawn().inline_route("a", &plain("By the form."));
    assert_eq!(told(&setup()), "By the form.");
    assert_eq!(told(&context(setup(), "By the context.")), "By the context.");
    assert_eq!(told(&context(setup(), "By the context.").with("routes/0/summary", "Short.")), "Short.");
    let silent = drawn()
        .inline_route("a", &json!({ "type": "object", "additionalProperties": false }))
        .with("lints", json!({ "missing-description": "allow" }));
    assert_eq!(told(&silent), Value::Null);
}

#[test]
fn what_a_route_says_of_itself_is_in_the_document() {
    let setup =
        drawn().inline_route("a", &plain("A")).inline_route("b", &plain("B")).inline_route("c", &plain("C"));
    let marked = setup
        .with("routes/0/consequential", false)
        .with("routes/1/actions", "none")
        .with("routes/2/actions", "direct");
    let document = document(&marked);
    assert_eq!(names(&document["paths"]), ["/a", "/c"]);
    assert_eq!(document["paths"]["/a"]["post"]["x-openai-isConsequential"], false);
    assert_eq!(document["paths"]["/c"]["post"]["x-openai-isConsequential"], true);
}

#[test]
fn the_long_tail_is_two_operations() {
    let tail = |setup: Setup| {
        setup
            .with("routes/1/actions", "longtail")
            .with("routes/2/actions", "longtail")
            .with("routes/1/consequential", false)
    };
    let setup = || {
        tail(
            drawn()
                .inline_route("a", &plain("A"))
                .inline_route("b", &plain("B"))
                .inline_route("c", &plain("C")),
        )
    };
    let drawn = document(&setup());
    assert_eq!(names(&drawn["paths"]), ["/a", "/actions/call_runtime_tool", "/actions/tool_manifest"]);
    let call = &drawn["paths"]["/actions/call_runtime_tool"]["post"];
    assert_eq!(
        (&call["operationId"], &call["x-openai-isConsequential"]),
        (&json!("call_runtime_tool"), &json!(true))
    );
    let schema = &call["requestBody"]["content"]["application/json"]["schema"];
    // A-18: exactly these two, and a closed enumeration.
    assert_eq!(schema["properties"]["tool"]["enum"], json!(["b", "c"]));
    assert_eq!(names(&schema["properties"]), ["tool", "arguments"]);
    assert_eq!(
        (&schema["required"], &schema["additionalProperties"]),
        (&json!(["tool", "arguments"]), &json!(false))
    );
    assert_eq!(schema["properties"]["arguments"]["properties"], json!({}));
    let manifest = &drawn["paths"]["/actions/tool_manifest"]["post"];
    assert_eq!(
        (&manifest["operationId"], &manifest["x-openai-isConsequential"]),
        (&json!("tool_manifest"), &json!(false))
    );

    // None of it asks a person where no tool does.
    let quiet = document(&setup().with("routes/2/consequential", false));
    assert_eq!(quiet["paths"]["/actions/call_runtime_tool"]["post"]["x-openai-isConsequential"], false);
    let elsewhere = document(&setup().with("surfaces/tools", "/agents/tools/"));
    assert_eq!(names(&elsewhere["paths"])[1], "/agents/tools/call_runtime_tool");
    // Without a tail there are no desks.
    let without = loaded(&super::drawn().inline_route("a", &plain("A"))).unwrap().gateway;
    assert_eq!(without.own().collect::<Vec<_>>(), [Own::OpenApi]);
}

/// A-15, A-16: a token is asked for exactly where the route asks for one.
#[test]
fn tokens_are_asked_for_where_a_route_has_them() {
    let hash = "d057ba4e200952edd26fef91a40b64ad1b80adeca3ae2ec019093ddf64647ea2";
    let setup = || {
        ["a", "b", "c", "d"]
            .into_iter()
            .fold(drawn(), |setup, name| setup.inline_route(name, &plain(name)))
            .with("tokens", json!({ "agents": { "class": "act", "sha256": hash } }))
            .with("routes/0/tokens", json!(["agents"]))
            .with("routes/2/actions", "longtail")
            .with("routes/3/actions", "longtail")
    };
    let bearer = json!([{ "bearerAuth": [] }]);
    let security = |document: &Value, path: &str| document["paths"][path]["post"]["security"].clone();
    let call = "/actions/call_runtime_tool";
    let one = document(&setup());
    assert_eq!(
        one["components"]["securitySchemes"],
        json!({ "bearerAuth": { "type": "http", "scheme": "bearer" } })
    );
    assert_eq!(one["security"], bearer);
    assert_eq!(
        (security(&one, "/a"), security(&one, "/b"), security(&one, call)),
        (bearer.clone(), json!([]), json!([]))
    );
    let statuses = |path: &str| names(&one["paths"][path]["post"]["responses"]).contains(&"401");
    assert!(statuses("/a") && !statuses("/b") && !statuses(call));
    // Some of the long tail, all of it.
    let some = document(&setup().with("routes/2/tokens", json!(["agents"])));
    assert_eq!(security(&some, call), json!([{}, { "bearerAuth": [] }]));
    let every = document(
        &setup().with("routes/2/tokens", json!(["agents"])).with("routes/3/tokens", json!(["agents"])),
    );
    assert_eq!((security(&every, call), security(&every, "/actions/tool_manifest")), (bearer, json!([])));
    // Neither the hash nor the name is anyone's business.
    assert!(!one.to_string().contains(hash) && !one.to_string().contains("agents"));
}

/// A-23
#[test]
fn the_version_is_that_of_all_the_rest() {
    let version = |setup: &Setup| document(setup)["info"]["version"].as_str().unwrap().to_owned();
    let one = || drawn().inline_route("a", &plain("A"));
    let first = version(&one());
    assert_eq!(first.len(), 32);
    assert_eq!(version(&one()), first);
    for changed in [
        drawn().inline_route("a", &plain("B")),
        one().with("public_url", "https://b.example"),
        one().with("routes/0/consequential", false),
        one().inline_route("b", &plain("B")),
    ] {
        assert_ne!(version(&changed), first);
    }
    // What is not in the document does not change it.
    assert_eq!(version(&one().inline_route("b", &plain("B")).with("routes/1/actions", "none")), first);
}

/// A-36
#[test]
fn an_action_takes_an_object() {
    let text = json!({ "type": "string", "maxLength": 3, "description": "d" });
    let choice = json!({ "description": "d", "anyOf": [plain("a"), plain("b")] });
    for actions in ["direct", "longtail"] {
        let setup = drawn().inline_route("a", &text).with("routes/0/actions", actions);
        let [(pointer, reason)] = &faults(&setup)[..] else { panic!("{actions}") };
        assert_eq!(pointer, "/routes/0/form");
        assert!(reason.contains("not said to be an object"), "{reason}");
    }
    assert_eq!(
        names(&document(&drawn().inline_route("a", &text).with("routes/0/actions", "none"))["paths"]),
        [""; 0]
    );

    let setup = drawn().inline_route("a", &choice);
    let [(pointer, reason)] = &warnings(&setup)[..] else { panic!() };
    assert_eq!(pointer, "/routes/0/form");
    assert!(reason.contains("alternatives"), "{reason}");
    assert_eq!(warnings(&setup.with("routes/0/actions", "longtail")), []);
}

/// What the form may not be, and how its fault is told: at the route, with the place in the form.
#[test]
fn what_the_document_cannot_carry_is_a_fault() {
    let tree = json!({
        "type": "object", "description": "d", "additionalProperties": false,
        "properties": { "children": { "type": "array", "maxItems": 3, "items": { "$ref": "#" } } },
    });
    let setup = || {
        drawn().inline_route("a", &tree).with(
            "lints",
            json!({ "unbounded-recursion": "allow", "largest-body": "allow", "repeated-work": "allow" }),
        )
    };
    let [(pointer, reason)] = &faults(&setup())[..] else { panic!() };
    assert_eq!(pointer, "/routes/0/form");
    assert!(reason.contains("refers to itself"), "{reason}");
    assert!(!has_member(&document(&setup().with("routes/0/unroll", 3)), "$ref"));
    assert_eq!(names(&document(&setup().with("routes/0/actions", "none"))["paths"]), [""; 0]);

    let old = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "description": "d",
        "dependencies": { "a": ["b"] }, "properties": { "a": true, "b": true }, "additionalProperties": false,
    });
    let [(_, reason)] = &faults(&drawn().inline_route("a", &old))[..] else { panic!() };
    assert!(reason.contains("at /dependencies") && reason.contains("2020-12"), "{reason}");
}

#[test]
fn what_would_have_no_effect_is_a_fault() {
    let off = |setup: Setup| setup.with("surfaces", json!({}));
    let one = || drawn().inline_route("a", &plain("A"));
    for (setup, place) in [
        (off(one()).with("routes/0/actions", "direct"), "/routes/0/actions"),
        (off(one()).with("routes/0/actions", "longtail"), "/routes/0/actions"),
        (off(one()).with("routes/0/consequential", false), "/routes/0/consequential"),
        (
            one().with("routes/0/actions", "none").with("routes/0/consequential", true),
            "/routes/0/consequential",
        ),
    ] {
        let found = faults(&setup);
        assert_eq!((found.len(), found[0].0.as_str()), (1, place), "{found:?}");
    }
    assert_eq!(warnings(&off(one()).with("routes/0/actions", "none")), []);
}

#[test]
fn what_stands_in_the_way_of_others_is_a_fault() {
    let mut without = drawn().inline_route("a", &plain("A"));
    without.config.as_object_mut().unwrap().remove("public_url");
    let found = faults(&without);
    assert!(found.len() == 1 && found[0].1.contains("`public_url` is missing"), "{found:?}");

    // A-29: an action cannot send the field.
    for actions in ["direct", "longtail"] {
        let keyed = drawn().inline_route("a", &plain("A")).with("routes/0/actions", actions);
        assert_eq!(warnings(&keyed), []);
        let [(pointer, reason)] = &faults(&keyed.with("routes/0/idempotency", "required"))[..] else {
            panic!()
        };
        assert_eq!(pointer, "/routes/0/idempotency");
        assert!(reason.contains("`Idempotency-Key`"), "{reason}");
    }
    for name in ["call_runtime_tool", "tool_manifest"] {
        let [(pointer, reason)] = &faults(&drawn().inline_route(name, &plain("A")))[..] else { panic!() };
        assert_eq!(pointer, "/routes/0/name");
        assert!(reason.contains("the gateway's own"), "{reason}");
        // Nobody reaches it by that name here.
        loaded(&drawn().inline_route(name, &plain("A")).with("routes/0/actions", "none")).unwrap();
    }
    let tail = drawn().inline_route("a", &plain("A")).with("routes/0/actions", "longtail");
    for (setup, address) in
        [(drawn().inline_route("a", &plain("A")), "/openapi.json"), (tail, "/actions/tool_manifest")]
    {
        let found = faults(&setup.with("routes/0/address", address));
        assert!(found.len() == 1 && found[0].1.contains(address), "{found:?}");
    }
    let twice = drawn().inline_route("a", &plain("A")).with("routes/0/mcp", true);
    let found = faults(&twice.with("surfaces/mcp", json!({ "path": "/openapi.json" })));
    assert!(found.len() == 1 && found[0].1.contains("two surfaces"), "{found:?}");
    // As readers of YAML 1.1 write `on`.
    assert_eq!(
        names(&document(&drawn().inline_route("a", &plain("A")).with("surfaces/openapi", true))["paths"]),
        ["/a"]
    );
}

/// A-25, A-26, A-27, A-37
#[test]
fn what_importers_may_not_take_is_warned_of() {
    let one = || drawn().inline_route("a", &plain("A"));
    for (url, warned) in [
        ("http://api.example.com", true),
        ("http://127.0.0.1.example.com", true),
        ("https://api.example.com", false),
        ("http://127.0.0.1:8080", false),
        ("http://localhost:8080/base", false),
        ("http://[::1]:8080", false),
    ] {
        let found = warnings(&one().with("public_url", url));
        assert_eq!(found.len(), usize::from(warned), "{url}: {found:?}");
        assert!(found.iter().all(|(pointer, _)| pointer == "/public_url"));
        assert_eq!(document(&one().with("public_url", url))["servers"][0]["url"], url);
    }
    assert_eq!(
        document(&one().with("public_url", "https://a.example/b/"))["servers"][0]["url"],
        "https://a.example/b"
    );
    for (time, warned) in [("40s", false), ("41s", true)] {
        let found = warnings(&one().with("upstreams/backend/timeouts/exchange", time));
        assert_eq!(found.len(), usize::from(warned), "{time}: {found:?}");
    }
    for (bytes, warned) in [(99_999, false), (100_000, false), (100_001, true)] {
        let found = warnings(&one().with("routes/0/max_body", bytes));
        assert_eq!(found.len(), usize::from(warned), "{bytes}: {found:?}");
        assert!(found.iter().all(|(pointer, _)| pointer == "/routes/0/max_body"));
    }
    assert_eq!(warnings(&one().with("routes/0/max_body", 100_001).with("routes/0/actions", "none")), []);
    // So does an answer: the list of tools is one.
    let listing = |length: usize| {
        let mut form = plain("d");
        form["title"] = "t".repeat(length).into();
        drawn().inline_route("a", &form).with("routes/0/actions", "longtail")
    };
    let around = r#"{"tools":[{"name":"a","description":"d","form":}]}"#.len()
        + plain("d").to_string().len()
        + r#","title":"""#.len();
    for (bytes, warned) in [(99_999, false), (100_000, false), (100_001, true)] {
        let found = warnings(&listing(bytes - around));
        assert_eq!(found.len(), usize::from(warned), "{bytes}: {found:?}");
        assert!(found.iter().all(|(_, reason)| reason.contains("100001 bytes")), "{found:?}");
    }
}
