//! The series of upstreams' servers. They are drawn from what is known at the moment they are asked for: an act
//! writes no metric of a server, and a server that a reload takes away takes its series along.

use super::families::register;
use crate::gateway::{Condition, Gateway};
use prometheus::{Encoder, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder};
use std::time::Instant;

/// The text format, version 0.0.4. Labels are the names and URLs of the config.
pub fn render(gateway: &Gateway) -> Vec<u8> {
    let mut text = Vec::new();
    let drawn = draw(gateway).and_then(|registry| TextEncoder::new().encode(&registry.gather(), &mut text));
    if let Err(error) = drawn {
        tracing::error!(%error, "metrics of servers could not be written");
    }
    text
}

fn draw(gateway: &Gateway) -> Result<Registry, prometheus::Error> {
    const LABELS: [&str; 2] = ["upstream", "server"];
    type Gauge = fn(&Condition, Instant) -> i64;
    type Count = fn(&Condition) -> u64;
    let gauges: [(&str, &str, Gauge); 6] = [
        (
            "formgate_upstream_server_up",
            "1 while a server gets acts: healthy by its checks, and not ejected.",
            |condition, now| i64::from(condition.is_fit(now)),
        ),
        (
            "formgate_upstream_server_healthy",
            "1 while a server is healthy by its checks, or is not checked.",
            |condition, _| i64::from(condition.is_up()),
        ),
        ("formgate_upstream_server_ejected", "1 while a server is ejected.", |condition, now| {
            i64::from(condition.is_ejected(now))
        }),
        ("formgate_upstream_in_flight", "Acts under way at a server.", |condition, _| {
            i64::from(condition.in_flight())
        }),
        ("formgate_upstream_connections", "Connections open to a server, idle or not.", |condition, _| {
            i64::from(condition.connections())
        }),
        (
            "formgate_upstream_addresses",
            "Addresses that the name of a server is known to have; 0 where it has no name.",
            |condition, _| {
                i64::try_from(condition.addresses().map_or(0, |known| known.len())).unwrap_or(i64::MAX)
            },
        ),
    ];
    let counts: [(&str, &str, Count); 2] = [
        ("formgate_upstream_ejections_total", "How often a server was ejected.", Condition::ejections),
        (
            "formgate_upstream_lookups_failed_total",
            "How often the name of a server had no answer.",
            Condition::lookups_failed,
        ),
    ];
    let (registry, now) = (Registry::new(), Instant::now());
    let servers: Vec<(&str, String, &Condition)> = gateway
        .upstreams()
        .into_iter()
        .flat_map(|upstream| {
            let servers = upstream.servers.iter().enumerate();
            servers
                .map(|(number, server)| (upstream.name.as_str(), server.url(), &**upstream.condition(number)))
        })
        .collect();
    for (name, help, read) in gauges {
        let family = register(&registry, IntGaugeVec::new(Opts::new(name, help), &LABELS))?;
        for (upstream, server, condition) in &servers {
            family.with_label_values(&[*upstream, server]).set(read(condition, now));
        }
    }
    for (name, help, read) in counts {
        let family = register(&registry, IntCounterVec::new(Opts::new(name, help), &LABELS))?;
        for (upstream, server, condition) in &servers {
            family.with_label_values(&[*upstream, server]).inc_by(read(condition));
        }
    }
    Ok(registry)
}
