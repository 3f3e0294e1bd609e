//! Decisions about a head, and compiling a form: triage of arrivals, acts and strays; an act from its head
//! to the permission to forward it.

use super::json::{SIZES, body, compile, form};
use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput};
use formgate::config;
use formgate::gateway::{Field, Gateway, Head, Length, Triage};
use serde_json::json;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};

const ADDRESS: &str = "/orders";

/// One route with the form of the other groups, made as `serve` makes it.
fn gateway() -> Gateway {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("form.json"), form().to_string()).expect("it can be written");
    let file = json!({
        "listen": ["127.0.0.1:0"],
        "upstreams": { "shop": { "servers": ["http://127.0.0.1:9"] } },
        "lints": { "largest-body": "allow", "missing-description": "allow" },
        "routes": [{
            "address": ADDRESS,
            "name": "orders",
            "form": "form.json",
            "max_body": "2MiB",
            "limits": "none",
            "upstream": { "to": "shop", "path": "/orders" }
        }]
    });
    let path = folder.path().join("gateway.yaml");
    std::fs::write(&path, file.to_string()).expect("it can be written");
    config::load(&path).expect("the file is right").gateway
}

fn head<'a>(method: &'a str, path: &'a str, fields: &'a [Field<'a>], length: u64) -> Head<'a> {
    Head {
        method,
        path,
        query: None,
        fields,
        length: Length::Known(length),
        peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
        scheme: "http",
        authority: "api.example.com",
    }
}

/// The groups of criterion.
pub(crate) fn measure(criterion: &mut Criterion) {
    let gateway = gateway();
    let fields = [
        Field { name: "Host", value: b"api.example.com" },
        Field { name: "User-Agent", value: b"an agent of some kind/1.0" },
        Field { name: "Accept", value: b"*/*" },
        Field { name: "Accept-Encoding", value: b"gzip, br;q=0.9, zstd" },
        Field { name: "Content-Type", value: b"application/json" },
    ];
    let mut triage = criterion.benchmark_group("triage");
    for (name, head) in [
        ("arrival", head("GET", ADDRESS, &fields, 0)),
        ("act", head("POST", ADDRESS, &fields, 300)),
        ("stray", head("GET", "/nowhere", &fields, 0)),
    ] {
        triage.bench_function(name, |b| b.iter(|| gateway.triage(black_box(&head))));
    }
    triage.finish();

    let mut act = criterion.benchmark_group("act");
    for (size, name) in SIZES {
        let body = Bytes::from(body(size));
        let head = head("POST", ADDRESS, &fields, body.len() as u64);
        assert!(submit(&gateway, &head, &body), "the {name} body fits");
        act.throughput(Throughput::Bytes(body.len() as u64));
        act.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| submit(&gateway, black_box(&head), &body));
        });
    }
    act.finish();

    let mut compiling = criterion.benchmark_group("compile");
    for members in [10, 100, 1000] {
        let text = wide(members);
        compiling.throughput(Throughput::Bytes(text.len() as u64));
        compiling.bench_function(BenchmarkId::new("members", members), |b| {
            b.iter(|| compile(black_box(&text)));
        });
    }
    compiling.finish();
}

/// An act from its head to the permission to forward it.
fn submit(gateway: &Gateway, head: &Head<'_>, body: &Bytes) -> bool {
    match gateway.triage(head) {
        Triage::Collect(ticket) => ticket.submit(body.clone()).is_ok(),
        Triage::Answer { .. }
        | Triage::Refuse { .. }
        | Triage::Converse(_)
        | Triage::Attempt(_)
        | Triage::Receipt(_) => false,
    }
}

/// A closed object of so many members.
fn wide(members: usize) -> String {
    let properties: serde_json::Map<_, _> = (0..members)
        .map(|n| {
            (format!("member{n}"), json!({ "type": "string", "maxLength": n + 1, "pattern": "^[a-z]*$" }))
        })
        .collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false }).to_string()
}
