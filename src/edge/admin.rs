//! The admin listener: metrics, health, snapshot, reload, log, explain. Loopback or a unix socket only; with `operator`
//! tokens in the config, all but metrics and health for their holders.
//!
//! A browser on the same machine can reach loopback too: requests whose `Host` is a name (DNS
//! rebinding) or that carry an `Origin` are refused.

use super::connection::{BodyBounds, CLOSE, Connection, HeadBounds, Opening};
use super::head::{FIELDS, Request, read};
use super::listen::Serve;
use super::socket::Socket;
use super::{App, Counted, fleet, log};
use crate::config::Policy;
use crate::gateway::{Reply, RouteChange, judge};
use crate::json::Document;
use crate::live::{Reload, Status};
use crate::reason::Face;
use crate::telemetry::{reload_label, render_servers};
use bytes::Bytes;
use pingora_core::server::ShutdownWatch;
use serde_json::{Value, json};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Connections at once; an operator needs few, and a local program gone wrong gets no more.
const CONNECTIONS: usize = 64;
const BODY_DEADLINE: Duration = Duration::from_secs(10);
/// A body to explain, at most.
const BODY: usize = 16 << 20;
/// All bodies to explain together.
pub(super) const BODIES: usize = 2 * BODY;
const BOUNDS: HeadBounds = HeadBounds {
    bytes: 16 << 10,
    deadline: Duration::from_secs(10),
    idle: Duration::from_mins(1),
    first: false,
};

/// What serves the admin listener.
pub(super) struct Door {
    pub(super) app: Arc<App>,
    /// A unix socket's file says who may come; to loopback comes whoever is on this machine.
    pub(super) by_file: bool,
}

impl Serve for Door {
    async fn serve(self: Arc<Self>, socket: Socket, _peer: IpAddr, _shutdown: ShutdownWatch) {
        let (_counted, open) = Counted::one(&self.app.admin_connections);
        if open <= CONNECTIONS {
            converse(&self.app, socket, self.by_file).await;
        }
    }
}

async fn converse(app: &Arc<App>, socket: Socket, trusted: bool) {
    let mut connection = Connection::new(Box::new(socket));
    loop {
        let Opening::Head(bytes) = connection.next_head(BOUNDS, Instant::now()).await else {
            return;
        };
        let mut room = [const { MaybeUninit::uninit() }; FIELDS];
        let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let Ok(request) = read(&bytes, &mut room, peer, "http") else {
            let _ = connection.respond(&Reply::of(Face::BadRequest), &[CLOSE]).await;
            return connection.linger().await;
        };
        if !admits(app, &request) {
            // Before a body is read, as on the routes (B-24).
            let _ = connection.respond(&Reply::of(Face::Unauthorized), &[CLOSE]).await;
            return connection.linger().await;
        }
        if request.expects_continue && connection.say_continue().await.is_err() {
            return;
        }
        let bounds =
            BodyBounds { bytes: BODY, deadline: Instant::now() + BODY_DEADLINE, budget: &app.admin_budget };
        let Ok(body) = connection.collect(request.framing, &bounds).await else {
            return;
        };
        let reply = answer(app, &request, &body.bytes, trusted).await;
        let closes = request.close || app.is_leaving();
        let lines: &[&[u8]] = if closes { &[CLOSE] } else { &[] };
        if connection.respond(&reply, lines).await.is_err() || closes {
            return;
        }
    }
}

/// Health and metrics are for every program on this machine. The rest is for operators as soon as the config knows
/// any, also through a unix socket.
fn admits(app: &App, request: &Request<'_>) -> bool {
    let head = &request.head;
    let open = matches!((head.method, head.path), ("GET", "/metrics" | "/livez" | "/readyz"));
    open || app.snapshot().gateway.operators.as_ref().is_none_or(|guard| guard.admit(head).is_some())
}

async fn answer(app: &Arc<App>, request: &Request<'_>, body: &Bytes, trusted: bool) -> Reply {
    let head = &request.head;
    if !trusted && (!is_local(head.authority) || head.all("origin").next().is_some()) {
        return text(403, "the admin listener answers programs on this machine, not pages\n");
    }
    match (head.method, head.path) {
        ("GET", "/metrics") => {
            let open = app.connections.load(Ordering::Relaxed);
            app.telemetry.connections.set(i64::try_from(open).unwrap_or(i64::MAX));
            app.telemetry.records.set(i64::try_from(app.records.count()).unwrap_or(i64::MAX));
            app.telemetry.records_down.set(i64::from(app.records.trouble().is_some()));
            let snapshot = app.snapshot();
            let mut metrics = app.telemetry.render(&snapshot.meters);
            metrics.extend(render_servers(&snapshot.gateway));
            reply(200, "text/plain; version=0.0.4; charset=utf-8", metrics)
        }
        ("GET", "/livez") => text(200, "ok\n"),
        ("GET", "/readyz") => readiness(app),
        ("GET", "/-/snapshot") => document(200, &snapshot(app)),
        (_, "/-/log") => log::answer(app, head, body),
        ("POST", "/-/reload") => {
            let live = Arc::clone(&app.live);
            match tokio::task::spawn_blocking(move || live.reload()).await {
                Ok(outcome) => reloaded(&outcome),
                Err(_) => Reply::of(Face::Internal),
            }
        }
        ("POST", path) => match path.strip_prefix("/-/explain/") {
            Some(word) => explain(app, word, body),
            None => text(404, USAGE),
        },
        _ => text(404, USAGE),
    }
}

const USAGE: &str = "GET /metrics  GET /livez  GET /readyz  GET /-/snapshot  POST /-/reload  \
                     GET, PUT or DELETE /-/log  \
                     POST /-/explain/ROUTE with a body; ROUTE is a name or an address\n";

/// A literal address or `localhost`, with or without a port: not a name, which someone else may make point
/// here.
fn is_local(authority: &str) -> bool {
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.split_once(':').map_or(authority, |(host, _)| host),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok()
}

/// 200 while there is a generation to serve and no stop was asked for. Refused files do not make the
/// gateway unready: what it serves is good; nor do records that cannot be reached: only acts that need them are
/// turned away; nor do servers that are down, unless the config says so: forms are still fetched. All are told, for
/// alerts and people.
fn readiness(app: &App) -> Reply {
    let Status { digest, since, refused, needs_restart, files: _ } = app.live.status();
    let refused = refused.map(|refused| {
        json!({
            "since": humantime::format_rfc3339_seconds(refused.since).to_string(),
            "faults": refused.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    });
    let records = app.records.trouble().map(|trouble| {
        json!({
            "since": humantime::format_rfc3339_seconds(trouble.since).to_string(),
            "cause": trouble.cause,
        })
    });
    let limits = app.rates.as_ref().and_then(|rates| Some((rates.trouble()?, rates.when_down())));
    let limits = limits.map(|(trouble, when_down)| {
        json!({
            "since": humantime::format_rfc3339_seconds(trouble.since).to_string(),
            "cause": trouble.cause,
            "meanwhile": match when_down {
                Policy::Refuse => "refuse",
                Policy::Local => "local",
            },
        })
    });
    let (reachable, degraded) = fleet::readiness(&app.snapshot().gateway);
    let ready = reachable && !app.is_leaving();
    document(
        if ready { 200 } else { 503 },
        &json!({
            "ready": ready,
            "digest": digest,
            "since": humantime::format_rfc3339_seconds(since).to_string(),
            "refused": refused,
            "needs_restart": needs_restart,
            "records_down": records,
            "degraded": degraded,
            "limits_down": limits,
            "store_warnings": app.records.warnings(),
        }),
    )
}

fn snapshot(app: &App) -> Value {
    let snapshot = app.snapshot();
    let routes = snapshot.gateway.routes().map(|route| {
        json!({
            "name": route.name,
            "address": route.address,
            "digest": route.arrival.digest(),
            "max_body": route.max_body,
            "upstream": route.outbound.upstream.name,
            "method": route.outbound.method,
            "target": route.outbound.target.to_string(),
        })
    });
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "digest": snapshot.gateway.digest,
        "routes": routes.collect::<Vec<_>>(),
        "upstreams": fleet::upstreams(&snapshot.gateway),
    })
}

fn reloaded(outcome: &Reload) -> Reply {
    let result = reload_label(outcome.result());
    match outcome {
        Reload::Unchanged => document(200, &json!({ "result": result })),
        Reload::Published { digest, changes, needs_restart } => {
            let others = changes.iter().filter_map(|route| match &route.change {
                RouteChange::Kept { form: _, others } if !others.is_empty() => {
                    Some((route.name.clone(), json!(others)))
                }
                RouteChange::Added | RouteChange::Removed | RouteChange::Kept { .. } => None,
            });
            let others: serde_json::Map<String, Value> = others.collect();
            let changes = changes.iter().map(|route| (route.name.clone(), route.change.name().into()));
            let changes: serde_json::Map<String, Value> = changes.collect();
            document(
                200,
                &json!({
                    "result": result,
                    "digest": digest,
                    "changes": changes,
                    "others": others,
                    "needs_restart": needs_restart,
                }),
            )
        }
        Reload::Refused(faults) => {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            document(422, &json!({ "result": result, "faults": faults }))
        }
    }
}

/// Why a body is refused, for the operator. No value of the body is in it.
fn explain(app: &App, word: &str, body: &Bytes) -> Reply {
    let snapshot = app.snapshot();
    // `/-/explain` before an address is as good as `/-/explain/` before it.
    let found = snapshot.gateway.called(word).or_else(|| snapshot.gateway.at(&format!("/{word}")));
    let Some(route) = found else {
        return document(404, &json!({ "error": "no route of this name, and none at this address" }));
    };
    let Err(unfit) = judge(&route.form, route.max_body, &mut Document::new(), body) else {
        return document(200, &json!({ "admitted": true }));
    };
    let (place, mismatch) = (unfit.place(body), unfit.mismatch());
    document(
        200,
        &json!({
            "admitted": false,
            "reason": crate::telemetry::reason_label(unfit.reason()),
            "line": place.map(|(line, _)| line),
            "column": place.map(|(_, column)| column),
            "schema": mismatch.map(|mismatch| mismatch.schema_pointer.as_str()),
            "keyword": mismatch.map(|mismatch| mismatch.keyword.as_str()),
            "instance": mismatch.map(|mismatch| mismatch.instance_pointer.as_str()),
        }),
    )
}

pub(super) fn document(status: u16, value: &Value) -> Reply {
    reply(status, "application/json", format!("{value:#}\n").into_bytes())
}

pub(super) fn text(status: u16, text: &'static str) -> Reply {
    reply(status, "text/plain; charset=utf-8", text.as_bytes().to_vec())
}

fn reply(status: u16, media_type: &str, body: Vec<u8>) -> Reply {
    let length = body.len();
    let lines = format!(
        "Content-Type: {media_type}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\n"
    );
    Reply::whole(status, lines, Bytes::from(body))
}
