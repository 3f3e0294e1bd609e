//! The serde mirror of the file: its keys and their documentation, and nothing that runs.
//!
//! `check --schema` draws the file's JSON Schema from these types, so what the doc comments say is what editors
//! show. Everything optional here may still be required by [`super::compile`], which says so with the others.

mod get_action;
mod reload;
mod store;
mod tls;
mod traces;
mod upstream;

pub(super) use get_action::{Category, Consent, GetAction, ResultUrl};
pub(super) use reload::{Reload, Widening};
pub(super) use store::{Rates, Store, WhenDown};
pub(super) use tls::{Tls, UpstreamTls};
pub(super) use traces::Traces;
pub(super) use upstream::{Ejection, Health, Server, Timeouts, Upstream};

use super::field::{Either, Field, Members, OneOrMany, Subtree};
use super::words::{
    AccessLogWord, AdminWord, Filled, GptType, HashWord, HostWord, ListenAddress, MemoryWord, Network,
    NoneWord, Origin, PublicUrl, RateWord, RouteAddress, RouteName, Size, Summary, Switch, Time, TimeOrOff,
    UpstreamPath,
};
use crate::lint::Lint;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// The configuration of a formgate gateway: which addresses speak GPT, which form each accepts, and where accepted
/// bodies go.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "formgate", extend("required" = ["listen", "upstreams", "routes"]))]
pub(super) struct File {
    /// Where clients connect: addresses and ports, with `https://` in front where TLS is spoken. Changing it needs a restart.
    #[schemars(extend("examples" = [["0.0.0.0:8080", "https://0.0.0.0:8443"]]))]
    pub(super) listen: Field<Vec<Field<ListenAddress>>>,
    /// What listeners that begin with `https://` show: TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1.
    pub(super) tls: Field<Tls>,
    /// Metrics, health, snapshot, reload: a loopback address, `unix:/path`, or `off` (the default). A public bind is refused. Changing it needs a restart.
    pub(super) admin: Field<AdminWord>,
    /// How the outside names this gateway, without a slash at the end: `https://api.example.com`.
    pub(super) public_url: Field<PublicUrl>,
    /// Worker threads; one per core when left out. Changing it needs a restart.
    #[schemars(range(min = 1, max = 1024))]
    pub(super) threads: Field<u32>,
    /// Connections open at once over all listeners; one more is closed at once. Default 10000. Changing it needs a restart.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) max_connections: Field<u32>,
    /// Memory for bodies held at once over all requests; beyond it, 503. Default 64MiB. Changing it needs a restart.
    pub(super) inflight_bodies: Field<Size>,
    /// Bytes of a request head, at most. Default 16KiB. Changing it needs a restart.
    pub(super) max_head: Field<Size>,
    /// From the first byte of a request head to its last. Default 10s. Changing it needs a restart.
    pub(super) head_deadline: Field<Time>,
    /// How long a connection may wait between requests. Default 75s. Changing it needs a restart.
    pub(super) keepalive: Field<Time>,
    /// How long a stop waits for requests in flight. Default 30s. Changing it needs a restart.
    pub(super) grace: Field<Time>,
    /// How long a SIGTERM goes on serving before it closes the listeners: until load balancers have looked and `/readyz` has told them. Default none. Changing it needs a restart.
    pub(super) leave: Field<Time>,
    /// One JSON line a request: `stdout` (the default), `off`, or the path of a file, relative to where formgate was started. To rotate it, move it away and send SIGHUP. Changing it needs a restart.
    pub(super) access_log: Field<AccessLogWord>,
    /// Traces of requests, over OTLP. Default none. Changing it needs a restart, but for `sample`.
    pub(super) traces: Field<Traces>,
    /// How often the files are looked at for changes, or `off`. Default 1s. Changing it needs a restart.
    pub(super) watch: Field<TimeOrOff>,
    /// What becomes of a reload that lets more in than before.
    pub(super) reload: Field<Reload>,
    /// Clients that each limiter remembers, at most. Default 65536.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub(super) limiter_keys: Field<u32>,
    /// Where acts that must not be done twice are recorded: `memory` (the default), gone with the process, a file, or a Redis that several instances share. Changing it needs a restart.
    pub(super) store: Field<Either<MemoryWord, Store>>,
    /// Networks of proxies whose `X-Forwarded-For` is believed. Default none.
    pub(super) trusted_proxies: Field<Vec<Field<Network>>>,
    /// Levels of lints, for the file and for all routes.
    #[schemars(schema_with = "lints_of_file")]
    pub(super) lints: Field<Members<Level>>,
    /// Bearer tokens, by a name of your choice. Only their hashes stand here; `formgate token` makes both.
    pub(super) tokens: Field<Members<Token>>,
    /// The backends, by a name of your choice.
    #[schemars(extend("minProperties" = 1))]
    pub(super) upstreams: Field<Members<Upstream>>,
    /// What holds for every route that does not say otherwise.
    pub(super) defaults: Field<Defaults>,
    /// What is drawn from the forms for clients that do not speak GPT.
    pub(super) surfaces: Field<Surfaces>,
    /// The addresses, each with its form.
    #[schemars(length(min = 1))]
    pub(super) routes: Field<Vec<Field<Route>>>,
}

/// One holder of a bearer token.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["class"]))]
pub(super) struct Token {
    /// What it opens: `act` the routes that name it, `operator` what the admin listener has besides health and metrics. Neither opens what the other does.
    pub(super) class: Field<TokenClass>,
    /// SHA-256 of the token; a list while one replaces another.
    pub(super) sha256: Field<OneOrMany<HashWord>>,
    /// A file that holds such hashes, one a line, relative to this file; or a list of files. Looked at for changes.
    pub(super) file: Field<OneOrMany<Filled>>,
}

/// What a token opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum TokenClass {
    Act,
    Operator,
}

/// What holds for every route that does not say otherwise.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Defaults {
    /// Bytes of a body, at most: 1 to 16MiB. Default 64KiB.
    pub(super) max_body: Field<Size>,
    /// From the end of the head to the last byte of the body, in all. Default 10s.
    pub(super) body_deadline: Field<Time>,
    /// Rates per client and route; `none` is no limit and must be said.
    pub(super) limits: Field<Either<NoneWord, Limits>>,
    /// Which declared media types are read: `json` (the default) or `any`.
    pub(super) content_type: Field<ContentType>,
}

/// What is drawn from the forms for clients that do not speak GPT. Their rates are those of `defaults.limits`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Surfaces {
    /// A page for people at each address, for who asks for `text/html`. Default `on`.
    pub(super) pages: Field<Switch>,
    /// The OpenAPI document for GPT Actions, at `/openapi.json`. Default `off`.
    pub(super) openapi: Field<Switch>,
    /// The address below which `call_runtime_tool` and `tool_manifest` are, where a route is `actions: longtail`. Default `/actions`.
    pub(super) tools: Field<RouteAddress>,
    /// `/llms.txt`, for agents that know nothing of this gateway. Default `on` where a route has `get_action`.
    pub(super) llms: Field<Switch>,
    /// `/robots.txt`, which keeps crawlers from GET-Actions. Default `on` where a route has `get_action`.
    pub(super) robots: Field<Switch>,
    /// Model Context Protocol: the routes that say `mcp` are tools there. Default off.
    pub(super) mcp: Field<Mcp>,
    /// `on`: a list of the addresses at `/` and at `/.well-known/gpt.json`. Default `off`.
    pub(super) index: Field<Switch>,
}

/// Where tools are called over the Model Context Protocol (streamable HTTP, without sessions).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["path"]))]
pub(super) struct Mcp {
    /// The address.
    #[schemars(extend("examples" = ["/mcp"]))]
    pub(super) path: Field<RouteAddress>,
    /// Exact origins of pages that may call, besides that of `public_url`; others are turned away with 403.
    pub(super) origins: Field<Vec<Field<Origin>>>,
    /// What clients show as the server's name. Default `formgate`.
    pub(super) name: Field<Filled>,
}

/// Rates per client: `5/s burst 10`, or `none`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Limits {
    /// Fetching the form.
    pub(super) get: Field<RateWord>,
    /// Posting a value.
    pub(super) post: Field<RateWord>,
    /// Posting values that are refused, counted besides `post`.
    pub(super) refused: Field<RateWord>,
}

/// One address: its form, and everything that holds for acts on it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["address", "name", "form", "upstream"]))]
pub(super) struct Route {
    /// The path, matched exactly as it stands on the wire.
    #[schemars(extend("examples" = ["/api/v2/meetings/start"]))]
    pub(super) address: Field<RouteAddress>,
    /// `snake_case`: metric label, log field, operation name.
    #[schemars(extend("examples" = ["start_meeting"]))]
    pub(super) name: Field<RouteName>,
    /// Sent as `GPT-Type`.
    #[serde(rename = "type")]
    pub(super) gpt_type: Field<GptType>,
    /// `p`: what an actor should know before it acts. Empty when left out.
    pub(super) context: Field<String>,
    /// `m`: messages that come with the form. Empty when left out.
    pub(super) messages: Field<Vec<Field<Message>>>,
    /// `s`: the path of a JSON Schema file, relative to this file; or the schema itself.
    pub(super) form: Field<Either<Filled, Subtree>>,
    /// Where accepted bodies go.
    pub(super) upstream: Field<Outbound>,
    /// Bytes of a body, at most: 1 to 16MiB.
    pub(super) max_body: Field<Size>,
    /// From the end of the head to the last byte of the body, in all.
    pub(super) body_deadline: Field<Time>,
    /// Names under `tokens`, of class `act`: an act must bring one of these as `Authorization: Bearer`, or is answered 401. Fetching the form stays open to everyone.
    #[schemars(length(min = 1))]
    pub(super) tokens: Field<Vec<Field<Filled>>>,
    /// Rates per client, or per token where there are `tokens`; what is left out comes from `defaults.limits`.
    pub(super) limits: Field<Either<NoneWord, Limits>>,
    /// Which declared media types are read. `any` lets pages of other sites post without asking; the body is judged all the same.
    pub(super) content_type: Field<ContentType>,
    /// Keywords of the form that carry no constraint, such as `x-internal`.
    pub(super) annotations: Field<Vec<Field<Filled>>>,
    /// Publish and enforce recursive definitions unrolled to this depth.
    #[schemars(range(min = 1, max = 32))]
    pub(super) unroll: Field<u32>,
    /// How numbers are read: `exact` (the default), or `safe_integers` for a backend that rounds beyond 2^53 or refuses `1.0` for an integer.
    pub(super) numbers: Field<Numbers>,
    /// Levels of the lints that are about its form, for this route.
    #[schemars(schema_with = "lints_of_route")]
    pub(super) lints: Field<Members<Level>>,
    /// What the client may see of what the upstream answered.
    pub(super) consequence: Field<Consequence>,
    /// Whether acts may bring an `Idempotency-Key`, and be done once for each: `optional`, `required`, or a mapping.
    pub(super) idempotency: Field<Either<KeyRule, Idempotency>>,
    /// Which pages of other origins may read answers.
    pub(super) cors: Field<Cors>,
    /// Bodies that the form must accept, and must refuse. Checked at load.
    pub(super) examples: Field<Examples>,
    /// What a GET with members in its query means, for actors that can only open URLs.
    pub(super) get_action: Field<GetAction>,
    /// What it does, in at most 300 characters, for the OpenAPI document and lists of tools. Needed where `context` or the form's description is longer.
    pub(super) summary: Field<Summary>,
    /// How GPT Actions reach it: `direct`, an operation of its own in the OpenAPI document; `longtail`, as a tool behind `call_runtime_tool`; or `none`. Default `direct` where there is an OpenAPI document.
    pub(super) actions: Field<Actions>,
    /// Whether a client of the OpenAPI document should ask a person each time (`x-openai-isConsequential`): a hint, never authority. Default true.
    pub(super) consequential: Field<bool>,
    /// Whether the index names it. Default true.
    pub(super) listed: Field<bool>,
    /// The route is a tool over MCP: `true`, or what clients may show of it. Needs `surfaces.mcp`.
    pub(super) mcp: Field<Either<bool, Tool>>,
}

/// How GPT Actions reach a route.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Actions {
    Direct,
    Longtail,
    None,
}

/// What MCP clients may show of a tool before they let a model call it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Tool {
    /// For people; the name is for programs.
    pub(super) title: Field<Filled>,
    /// A call changes nothing. Default false.
    pub(super) read_only: Field<bool>,
    /// A call may take away or overwrite. Default true, unless it is `read_only`.
    pub(super) destructive: Field<bool>,
    /// The same call again changes nothing more. Default false.
    pub(super) idempotent: Field<bool>,
    /// A call may reach things outside the backend. Default true.
    pub(super) open_world: Field<bool>,
}

/// One element of `m`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["role", "content"]))]
pub(super) struct Message {
    /// `system`, `user`, `assistant`, …
    pub(super) role: Field<Filled>,
    /// The text.
    pub(super) content: Field<String>,
}

/// Where accepted bodies go, and under which head.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["to", "path"]))]
pub(super) struct Outbound {
    /// A name under `upstreams`.
    pub(super) to: Field<Filled>,
    /// Default `POST`.
    pub(super) method: Field<Method>,
    /// Path and query at the upstream. `{/order_id}` stands for a member of the body, where the form bounds that to safe characters.
    #[schemars(extend("examples" = ["/meetings", "/orders/{/order_id}/refunds"]))]
    pub(super) path: Field<UpstreamPath>,
    /// `Host` sent, when it is neither the server's own nor the upstream's.
    pub(super) host: Field<HostWord>,
    /// Fields set by the gateway. `${file:/run/secrets/token}` stands for the content of that file.
    #[schemars(extend("examples" = [{"Authorization": "Bearer ${file:/run/secrets/token}"}]))]
    pub(super) set_headers: Field<Members<String>>,
    /// Fields of the client that pass. Nothing passes that is not named here.
    pub(super) pass_headers: Field<Vec<Field<Filled>>>,
}

/// What the client may see of what the upstream answered.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Consequence {
    /// Bytes of the upstream's body, at most; beyond it the client gets `{}`. Default 1MiB, at most 16MiB.
    pub(super) max_response: Field<Size>,
    /// A redirect is how this backend says success (POST, then redirect to GET). Never followed.
    pub(super) redirect_is_success: Field<bool>,
    /// Text that is not JSON reaches the client as `{"text":…}`; without it, as `{}`.
    pub(super) text: Field<bool>,
    /// Fields of the upstream that pass to the client.
    pub(super) pass_headers: Field<Vec<Field<Filled>>>,
}

/// Acts that are known by a key: who repeats one gets the first answer again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Idempotency {
    /// Whether an act must bring a key. Default `optional`.
    pub(super) key: Field<KeyRule>,
    /// How long a key is remembered: 1m to 366 days. Default 24h.
    pub(super) keep: Field<Time>,
    /// How long a repeated act waits for the first, at most 60s, before it is told to come again (409). Default 5s.
    pub(super) wait: Field<Time>,
}

/// Whether an act must bring a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum KeyRule {
    Optional,
    Required,
}

/// Cross-origin reads, never with credentials.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["origins"]))]
pub(super) struct Cors {
    /// Exact origins, or the single entry `*`.
    #[schemars(length(min = 1))]
    pub(super) origins: Field<Vec<Field<Origin>>>,
}

/// Bodies as JSON text, checked against the form at load.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Examples {
    /// Bodies that the form must accept.
    #[schemars(extend("examples" = [["{\"title\":\"Q3\"}"]]))]
    pub(super) accepted: Field<Vec<Field<String>>>,
    /// Bodies that the form must refuse.
    pub(super) refused: Field<Vec<Field<String>>>,
}

/// Which declared media types are read as JSON.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum ContentType {
    Json,
    Any,
}

/// How numbers of a body are read.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Numbers {
    Exact,
    SafeIntegers,
}

/// The method towards the upstream.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
pub(super) enum Method {
    Post,
    Put,
    Patch,
    Delete,
}

/// The level of a lint.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Level {
    Allow,
    Warn,
    Deny,
}

fn lints_of_file(generator: &mut SchemaGenerator) -> Schema {
    lints_schema(generator, |_| true)
}

fn lints_of_route(generator: &mut SchemaGenerator) -> Schema {
    lints_schema(generator, Lint::is_of_form)
}

/// Lint names are closed, so editors complete them too, and say what each means.
fn lints_schema(generator: &mut SchemaGenerator, can: fn(Lint) -> bool) -> Schema {
    let level = generator.subschema_for::<Level>();
    let member = |lint: Lint| {
        let mut level = level.clone();
        level.insert("description".to_owned(), lint.meaning().into());
        (lint.name().to_owned(), level.to_value())
    };
    let lints: serde_json::Map<_, _> =
        Lint::ALL.iter().copied().filter(|lint| can(*lint)).map(member).collect();
    json_schema!({ "type": "object", "properties": lints, "additionalProperties": false })
}
