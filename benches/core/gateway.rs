//! Decisions about a head, and compiling a form: triage of arrivals, acts and strays; an act from its head
//! to the permission to forward it.

use super::subject::{ADDRESS, SIZES, body, compile, gateway, head, submit, wide};
use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput};
use std::hint::black_box;

/// The groups of criterion.
pub(crate) fn measure(criterion: &mut Criterion) {
    let gateway = gateway();
    let mut triage = criterion.benchmark_group("triage");
    for (name, head) in [
        ("arrival", head("GET", ADDRESS, 0)),
        ("act", head("POST", ADDRESS, 300)),
        ("stray", head("GET", "/nowhere", 0)),
    ] {
        triage.bench_function(name, |b| b.iter(|| gateway.triage(black_box(&head))));
    }
    triage.finish();

    let mut act = criterion.benchmark_group("act");
    for (size, name) in SIZES {
        let body = Bytes::from(body(size));
        let head = head("POST", ADDRESS, body.len() as u64);
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
