//! What is measured: a form as a shop would have it, bodies that fit it, the gateway that serves it, and what one
//! would write without formgate. Shared with `benches/instructions`.

use bytes::Bytes;
use std::fmt::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr};

use formgate::config;
use formgate::form::{CompiledForm, FormOptions, Numbers};
use formgate::gateway::{Field, Gateway, Head, Length, Triage};
use formgate::lint::LintLevels;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

/// Compiles as a route would.
pub(crate) fn compile(text: &str) -> CompiledForm {
    let options = FormOptions {
        lints: LintLevels::default(),
        annotations: Vec::new(),
        unroll: None,
        numbers: Numbers::Exact,
        max_body: usize::MAX,
    };
    CompiledForm::compile(text, &options).expect("the form is right")
}

/// How large the bodies are, in bytes, and what that is called.
pub(crate) const SIZES: [(usize, &str); 4] =
    [(300, "300 B"), (4 << 10, "4 KB"), (64 << 10, "64 KB"), (1 << 20, "1 MB")];

/// A closed form as a shop would have it.
pub(crate) fn form() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["orders"],
        "additionalProperties": false,
        "properties": {
            "orders": { "type": "array", "minItems": 1, "maxItems": 100_000, "items": { "$ref": "#/$defs/order" } }
        },
        "$defs": { "order": {
            "type": "object",
            "required": ["id", "customer", "status", "quantity", "price"],
            "additionalProperties": false,
            "properties": {
                "id": { "type": "string", "minLength": 1, "maxLength": 40 },
                "customer": { "type": "string", "minLength": 1, "maxLength": 80 },
                "email": { "type": "string", "maxLength": 120 },
                "status": { "enum": ["new", "paid", "packed", "shipped", "returned"] },
                "quantity": { "type": "integer", "minimum": 1, "maximum": 10_000 },
                "price": { "type": "number", "minimum": 0, "maximum": 1_000_000 },
                "express": { "type": "boolean" },
                "note": { "type": ["string", "null"], "maxLength": 500 },
                "tags": { "type": "array", "maxItems": 8, "items": { "type": "string", "maxLength": 20 } }
            }
        } }
    })
}

/// A body that fits the form, of at least half of `size` bytes and at most that.
pub(crate) fn body(size: usize) -> Vec<u8> {
    let mut text = String::from(r#"{"orders":["#);
    for number in 0.. {
        let mut order = String::new();
        let separator = if number == 0 { "" } else { "," };
        let status = ["new", "paid", "packed", "shipped", "returned"][number % 5];
        let note = match number % 4 {
            0 => r#""Leave it with the neighbours, please: the bell is broken.""#,
            1 => r#""Zweite Klingel von oben, \"M\u00fcller\"\n""#,
            2 => r#""Grüße aus Köln""#,
            _ => "null",
        };
        write!(
            order,
            r#"{separator}{{"id":"ord-{number:08}","customer":"Customer number {number}","email":"customer.{number}@example.com","status":"{status}","quantity":{},"price":{}.{:02},"express":{},"note":{note},"tags":["blue","gift","fragile"]}}"#,
            1 + number % 90,
            number % 2_000,
            number % 100,
            number % 3 == 0,
        )
        .expect("a String takes everything");
        if number > 0 && text.len() + order.len() + 2 > size {
            break;
        }
        text += &order;
    }
    text += "]}";
    text.into_bytes()
}

/// Where the gateway's one route is.
pub(crate) const ADDRESS: &str = "/orders";

/// One route with the form of the other groups, made as `serve` makes it.
pub(crate) fn gateway() -> Gateway {
    let folder = folder(1);
    config::load(&folder.path().join("gateway.yaml")).expect("the file is right").gateway
}

/// A folder with a `gateway.yaml` of so many routes, no two forms alike.
pub(crate) fn folder(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write =
        |name: &str, text: String| std::fs::write(folder.path().join(name), text).expect("it can be written");
    let routes: Vec<_> = (0..count)
        .map(|number| {
            let mut form = form();
            let mut address = ADDRESS.to_owned();
            if number > 0 {
                form["title"] = format!("Orders of warehouse {number}").into();
                address = format!("{ADDRESS}-{number}");
            }
            write(&format!("{number}.json"), form.to_string());
            json!({
                "address": address,
                "name": format!("orders_{number}"),
                "form": format!("{number}.json"),
                "max_body": "2MiB",
                "limits": "none",
                "upstream": { "to": "shop", "path": "/orders" }
            })
        })
        .collect();
    let file = json!({
        "listen": ["127.0.0.1:0"],
        "upstreams": { "shop": { "servers": ["http://127.0.0.1:9"] } },
        "lints": { "largest-body": "allow", "missing-description": "allow" },
        "routes": routes
    });
    write("gateway.yaml", file.to_string());
    folder
}

/// A usual head.
pub(crate) fn head<'a>(method: &'a str, path: &'a str, length: u64) -> Head<'a> {
    Head {
        method,
        path,
        query: None,
        fields: &FIELDS,
        length: Length::Known(length),
        peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
        scheme: "http",
        authority: "api.example.com",
    }
}

/// The fields of a usual head.
pub(crate) const FIELDS: [Field<'static>; 5] = [
    Field { name: "Host", value: b"api.example.com" },
    Field { name: "User-Agent", value: b"an agent of some kind/1.0" },
    Field { name: "Accept", value: b"*/*" },
    Field { name: "Accept-Encoding", value: b"gzip, br;q=0.9, zstd" },
    Field { name: "Content-Type", value: b"application/json" },
];

/// An act from its head to the permission to forward it.
pub(crate) fn submit(gateway: &Gateway, head: &Head<'_>, body: &Bytes) -> bool {
    let Triage::Collect(ticket) = gateway.triage(head) else { return false };
    ticket.submit(body.clone()).is_ok()
}

/// A closed object of so many members.
pub(crate) fn wide(members: usize) -> String {
    let properties: Map<_, _> = (0..members)
        .map(|n| {
            (format!("member{n}"), json!({ "type": "string", "maxLength": n + 1, "pattern": "^[a-z]*$" }))
        })
        .collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false }).to_string()
}

/// What one would write without formgate.
pub(crate) fn parse_with_serde(body: &[u8]) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = Unique.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Reads a `Value` and refuses a member name twice in one object.
struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value without duplicate names")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(truth.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element_seed(Unique)? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            let value = access.next_value_seed(Unique)?;
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a member name twice"));
            }
        }
        Ok(Value::Object(members))
    }
}
