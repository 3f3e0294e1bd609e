//! Any bytes as a message to the MCP desk: what is forwarded of a call are the very bytes of its arguments, for the tool
//! that it names; an answer is one JSON-RPC answer, to whoever asked.
#![no_main]

use formgate::config::{Loaded, load};
use formgate::gateway::{Field, Head, Length, Outcome, Reply, Triage};
use formgate::surface::{Turn, converse};
use libfuzzer_sys::fuzz_target;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;

const GATEWAY: &str = r#"
listen: ["127.0.0.1:0"]
admin: "127.0.0.1:0"
upstreams: { api: { servers: ["http://127.0.0.1:1"] } }
defaults: { limits: none }
surfaces: { mcp: { path: /mcp, origins: ["https://app.example"] } }
routes:
  - { address: /a, name: note, mcp: true, context: Notes., idempotency: optional, upstream: { to: api, path: /a },
      form: { type: object, properties: { text: { type: string, maxLength: 99 }, "n": { type: number } }, additionalProperties: false } }
  - { address: /b, name: tree, mcp: true, context: Trees., upstream: { to: api, path: /b },
      form: { type: object, maxProperties: 9, propertyNames: { maxLength: 9 }, additionalProperties: { type: [array, "null"], maxItems: 9, items: { type: boolean } } } }
  - { address: /c, name: hidden, context: No tool., upstream: { to: api, path: /c }, form: { type: object, additionalProperties: false } }
"#;

static LOADED: LazyLock<Loaded> = LazyLock::new(|| {
    let dir = std::env::temp_dir().join(format!("formgate-fuzz-mcp-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("gateway.yaml"), GATEWAY).unwrap();
    let loaded = load(&dir.join("gateway.yaml")).unwrap_or_else(|refused| panic!("{:#?}", refused.faults));
    std::fs::remove_dir_all(&dir).unwrap();
    loaded
});

/// JSON by serde: no name twice. Numbers as doubles, which is enough to tell values apart here.
#[derive(Debug, PartialEq, Clone)]
enum Other {
    Plain(serde_json::Value),
    List(Vec<Other>),
    Object(BTreeMap<String, Other>),
}

impl<'de> Deserialize<'de> for Other {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Other;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_unit<E: Error>(self) -> Result<Other, E> {
                Ok(Other::Plain(serde_json::Value::Null))
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Other, E> {
                Ok(Other::Plain(value.into()))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Other, E> {
                Ok(Other::Plain(value.into()))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Other, E> {
                Ok(Other::Plain(value.into()))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Other, E> {
                Ok(Other::Plain(value.into()))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Other, E> {
                Ok(Other::Plain(value.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Other, A::Error> {
                let mut out = Vec::new();
                while let Some(element) = list.next_element()? {
                    out.push(element);
                }
                Ok(Other::List(out))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Other, A::Error> {
                let mut out = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, Other>()? {
                    if out.insert(name, value).is_some() {
                        return Err(A::Error::custom("twice"));
                    }
                }
                Ok(Other::Object(out))
            }
        }
        from.deserialize_any(Any)
    }
}

impl Other {
    fn get(&self, name: &str) -> Option<&Self> {
        if let Self::Object(members) = self { members.get(name) } else { None }
    }

    fn text(&self) -> Option<&str> {
        if let Self::Plain(value) = self { value.as_str() } else { None }
    }
}

/// One answer: to this id, if there is one.
fn told(reply: &Reply, id: Option<&Other>) {
    let lines = std::str::from_utf8(&reply.lines).expect("fields are ASCII");
    let known = ["Content-Type: ", "Content-Length: ", "Cache-Control: ", "Retry-After: ", "Access-Control-", "Vary: "];
    assert!(lines.ends_with("\r\n") && lines.split_terminator("\r\n").all(|line| {
        known.iter().any(|name| line.starts_with(name)) && line.chars().all(|c| c.is_ascii_graphic() || c == ' ')
    }), "{lines:?}");
    assert!(lines.contains(&format!("Content-Length: {}\r\n", reply.body.len())), "{lines:?}");
    if reply.body.is_empty() {
        assert_eq!(reply.status, 202);
        return;
    }
    let answer: Other = serde_json::from_slice(&reply.body).expect("one strict JSON value");
    assert_eq!(answer.get("jsonrpc").and_then(Other::text), Some("2.0"));
    assert!(answer.get("result").is_some() != answer.get("error").is_some());
    assert!(answer.get("id").is_none_or(|told| Some(told) == id), "an answer to something else");
    assert!(answer.get("result").is_none() || (reply.status == 200 && answer.get("id").is_some()));
}

fuzz_target!(|input: &[u8]| {
    let Some((flags, rest)) = input.split_first() else { return };
    let Some(at) = rest.iter().position(|byte| *byte == b'\n') else { return };
    let (version, body) = (rest[..at].trim_ascii(), bytes::Bytes::copy_from_slice(&rest[at + 1..]));
    let other: Option<Other> = serde_json::from_slice(&body).ok();
    let said = |name: &str| other.as_ref().and_then(|other| other.get(name));
    let inside = |name: &str| said("params").and_then(|params| params.get(name));
    let mirrored = |value: Option<&Other>| value.and_then(Other::text).unwrap_or("none").to_owned();
    let (method, name) = (mirrored(said("method")), mirrored(inside("name")));
    let mut fields = vec![Field { name: "Content-Type", value: b"application/json" }];
    let more: [(&'static str, &[u8]); 5] = [
        ("MCP-Protocol-Version", version), ("Mcp-Method", method.as_bytes()), ("Mcp-Name", name.as_bytes()),
        ("Origin", b"https://app.example"), ("Idempotency-Key", version),
    ];
    fields.extend(more.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1).map(|(_, &(name, value))| Field { name, value }));
    let length = Length::Known(body.len() as u64);
    let head = Head { method: "POST", path: "/mcp", fields: &fields, length, ..Head::nothing(IpAddr::V4(Ipv4Addr::LOCALHOST)) };
    let Triage::Converse(conversation) = LOADED.gateway.triage(&head) else { panic!("it is heard") };
    let id = said("id");
    match converse(&LOADED.gateway, &LOADED.desks, &conversation, &head, &body) {
        Turn::Answer(reply, outcome) => {
            assert!(matches!(outcome, Outcome::Arrived | Outcome::Malformed));
            assert_eq!(outcome == Outcome::Arrived, reply.status == 202 || !String::from_utf8_lossy(&reply.body).contains("\"error\":{\"code\""));
            told(&reply, id);
        }
        Turn::Refuse(rejection) => panic!("{rejection:?}"),
        // The one thing that a route turns away here is a key that is none.
        Turn::TurnedAway { .. } => assert!(flags & 16 != 0 && formgate::gateway::fuzzing::idempotency_key(version).is_none()),
        Turn::Act { ticket, body: arguments, telling } => {
            let whole = other.as_ref().expect("one strict JSON value");
            assert_eq!((method.as_str(), LOADED.gateway.name(ticket.index())), ("tools/call", name.as_str()));
            assert!(name == "note" || name == "tree", "{name} is no tool");
            assert!(id.is_some_and(|id| matches!(id, Other::Plain(value) if value.is_string() || value.is_number())));
            match inside("arguments") {
                None => assert_eq!(&arguments[..], b"{}"),
                Some(meant) => {
                    assert_eq!(serde_json::from_slice::<Other>(&arguments).as_ref().ok(), Some(meant));
                    // Cut out where they stand: with something else there, that is what the arguments are.
                    let at = arguments.as_ptr() as usize - body.as_ptr() as usize;
                    let spliced = [&body[..at], b"[\"other\"]", &body[at + arguments.len()..]].concat();
                    let mut spliced: Other = serde_json::from_slice(&spliced).expect("still JSON");
                    let Other::Object(members) = &mut spliced else { panic!("an object") };
                    let Some(Other::Object(params)) = members.get_mut("params") else { panic!("an object") };
                    let cut = params.insert("arguments".to_owned(), meant.clone());
                    assert_eq!(cut, Some(Other::List(vec![Other::Plain("other".into())])));
                    assert_eq!(&spliced, whole);
                }
            }
            if let Ok(admitted) = ticket.submit(arguments.clone()) {
                assert_eq!(admitted.body(), &arguments);
            }
            for outcome in [Outcome::Accepted, Outcome::Refused, Outcome::Unavailable] {
                let reply = telling.tell(Reply::consequence(arguments.clone(), ""), outcome);
                told(&reply, id);
                assert!(serde_json::from_slice::<Other>(&reply.body).is_ok_and(|answer| answer.get("id").is_some()));
            }
        }
    }
});
