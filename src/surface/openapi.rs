//! The OpenAPI 3.1.0 document for GPT Actions, drawn from the routes at load (DESIGN 8).
//!
//! One POST operation for each route marked `direct`, at the address that the route has anyway:
//! its body is the form itself, with its references written out ([`crate::form::Embedding`]). The
//! long tail is behind two operations more, which [`super::tools`] answers. The document grants
//! nothing: whoever follows it comes through the same door as everybody else.
//!
//! What an importer would cut, or choke on, is a fault here: nothing is left out silently.

mod responses;

pub use super::object::pretty;

use super::object::{Object, array};
use crate::form::{Embedded, Embedding, Root, digest};
use crate::gateway::{Route, Stance};
use crate::json::quoted;
use std::net::Ipv4Addr;

/// Where the document is.
pub const ADDRESS: &str = "/openapi.json";
/// Operations in one document, at most: importers take no more (A-05).
pub const OPERATIONS: usize = 30;
/// Unicode scalars of a description, at most (A-08).
pub const TEXT: usize = 300;
/// The document stays below so many bytes, compact and pretty (A-12).
pub const BYTES: usize = 800_000;
/// What one call may carry (A-27).
const CALL: usize = 100_000;

/// What is wrong with a document, or could be better, and where to change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The route, by its place among those given; none where it is about all of them.
    pub route: Option<usize>,
    /// The key of the file that it is about.
    pub key: Key,
    /// One sentence, without a full stop.
    pub reason: String,
    /// What to write instead.
    pub suggestion: String,
}

/// The keys of the file that a fault can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// `surfaces.openapi`
    OpenApi,
    /// `public_url`
    PublicUrl,
    /// `form`, of a route
    Form,
    /// `context`, of a route
    Context,
    /// `name`, of a route
    Name,
    /// `max_body`, of a route
    MaxBody,
    /// `idempotency`, of a route
    Idempotency,
}

/// A document that an importer takes.
#[derive(Debug)]
pub struct Drawn {
    /// JSON text, compact.
    pub text: String,
    /// What importers may not like.
    pub warnings: Vec<Fault>,
}

/// Draws the document, or says everything that is wrong with it.
///
/// `public_url` is absolute and has no slash at its end. `tools` is the address that the two
/// operations of the long tail stand below.
pub fn draw(routes: &[&Route], public_url: &str, tools: &str) -> Result<Drawn, Vec<Fault>> {
    let mut drawing = Drawing { paths: Vec::new(), faults: Vec::new(), warnings: Vec::new() };
    drawing.server(public_url);
    for (index, route) in routes.iter().enumerate() {
        match route.actions.stance {
            Stance::Direct => drawing.direct(index, route),
            Stance::Longtail => drawing.longtail(index, route),
            Stance::None => {}
        }
    }
    let longtail: Vec<&Route> = routes.iter().copied().filter(|route| is_longtail(route)).collect();
    if !longtail.is_empty() {
        drawing.tools(&longtail, tools);
        let list = super::tools::manifest(routes).len();
        if list > CALL {
            let reason =
                format!("the list of tools has {list} bytes; an answer to an action has less than {CALL}");
            drawing.warn(None, Key::OpenApi, reason, "fewer routes, or smaller forms, in the long tail");
        }
    }
    let operations = drawing.paths.len();
    if operations > OPERATIONS {
        drawing.fault(
            None,
            Key::OpenApi,
            format!("the document would have {operations} operations; importers take {OPERATIONS}"),
            "mark routes as `actions: longtail`, which share two operations, or as `actions: none`",
        );
    }
    let tokens = routes.iter().any(|route| route.actions.stance != Stance::None && needs_token(route));
    let text = document(public_url, &drawing.paths, tokens);
    for (bytes, how) in [(text.len(), "compact"), (pretty(&text).len(), "with a line a value")] {
        if bytes >= BYTES {
            drawing.fault(
                None,
                Key::OpenApi,
                format!("{how}, the document would have {bytes} bytes; importers take less than {BYTES}"),
                "mark the routes with the largest forms as `actions: longtail` or `actions: none`",
            );
            break;
        }
    }
    if drawing.faults.is_empty() {
        Ok(Drawn { text, warnings: drawing.warnings })
    } else {
        Err(drawing.faults)
    }
}

/// Whether a route is of the long tail.
pub(super) fn is_longtail(route: &Route) -> bool {
    match route.actions.stance {
        Stance::Longtail => true,
        Stance::Direct | Stance::None => false,
    }
}

/// Whether an act on the route needs a bearer token.
fn needs_token(route: &Route) -> bool {
    route.guard.is_some()
}

struct Drawing {
    /// Addresses, and what stands there.
    paths: Vec<(String, String)>,
    faults: Vec<Fault>,
    warnings: Vec<Fault>,
}

impl Drawing {
    fn fault(&mut self, route: Option<usize>, key: Key, reason: impl Into<String>, suggestion: &str) {
        self.faults.push(Fault { route, key, reason: reason.into(), suggestion: suggestion.to_owned() });
    }

    fn warn(&mut self, route: Option<usize>, key: Key, reason: impl Into<String>, suggestion: &str) {
        self.warnings.push(Fault { route, key, reason: reason.into(), suggestion: suggestion.to_owned() });
    }

    /// Importers fetch over the open network: https, but for what is tried on one's own machine.
    fn server(&mut self, public_url: &str) {
        let Some(rest) = public_url.strip_prefix("http://") else { return };
        let host = rest.split(['/', ':']).next().unwrap_or_default();
        let is_loopback = host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback());
        let own = is_loopback || host == "localhost" || rest.starts_with("[::1]");
        if !own {
            let reason = "importers of the OpenAPI document take https only";
            self.warn(
                None,
                Key::PublicUrl,
                reason,
                "the https address that a proxy in front of this gateway has",
            );
        }
    }

    fn direct(&mut self, index: usize, route: &Route) {
        self.common(index, route);
        // With a summary, what is longer is for other readers; without one it would have to be cut.
        if route.actions.summary.is_none() {
            let own = [(Key::Context, &route.actions.context), (Key::Form, &route.form.description())];
            for (key, text) in own {
                if is_long(text) {
                    let reason = format!(
                        "what the operation says of itself has {} characters; operations take {TEXT}",
                        text.chars().count()
                    );
                    self.fault(Some(index), key, reason, "`summary: \"…\"`, which says it in fewer words");
                }
            }
        }
        let Some(Embedded { text: schema, root }) = self.embed(index, route) else { return };
        match root {
            Root::Object => {}
            Root::Alternatives => self.warn(
                Some(index),
                Key::Form,
                "its root is a choice of alternatives, which some importers of OpenAPI refuse or leave empty",
                "one object with its members at the root, or `actions: longtail`",
            ),
            Root::Other => self.fault(
                Some(index),
                Key::Form,
                "its root is not said to be an object, and an action takes its arguments as one",
                "`\"type\": \"object\"` with the value in a member, or `actions: none`",
            ),
        }
        let operation = operation(&Operation {
            name: &route.name,
            text: &route.says(),
            consequential: route.actions.consequential,
            security: if needs_token(route) { Security::Bearer } else { Security::None },
            schema: &schema,
            responses: &responses::of_act(needs_token(route)),
        });
        self.paths.push((route.address.clone(), operation));
    }

    /// A tool is called with an object too, and what it takes is told by `tool_manifest`.
    fn longtail(&mut self, index: usize, route: &Route) {
        self.common(index, route);
        let Some(Embedded { root: Root::Other, .. }) = self.embed(index, route) else { return };
        self.fault(
            Some(index),
            Key::Form,
            "its root is not said to be an object, and `arguments` of a tool are one",
            "`\"type\": \"object\"` with the value in a member, or `actions: none`",
        );
    }

    fn common(&mut self, index: usize, route: &Route) {
        if [super::tools::CALL, super::tools::MANIFEST].contains(&route.name.as_str()) {
            let reason = format!("`{}` is the name of an operation of the gateway's own", route.name);
            self.fault(Some(index), Key::Name, reason, "another name, or `actions: none`");
        }
        if route.idempotency.as_ref().is_some_and(|idempotency| idempotency.required) {
            let reason =
                "acts on it need the field `Idempotency-Key`, and actions send no fields of their own";
            self.fault(Some(index), Key::Idempotency, reason, "`idempotency: optional`, or `actions: none`");
        }
        if route.max_body > CALL {
            let reason = format!("an action carries less than {CALL} characters");
            self.warn(Some(index), Key::MaxBody, reason, "`max_body: 97KiB` or less, or `actions: none`");
        }
    }

    fn embed(&mut self, index: usize, route: &Route) -> Option<Embedded> {
        match route.form.embedded(Embedding { description: TEXT, text: BYTES }) {
            Ok(embedded) => Some(embedded),
            Err(fault) => {
                let place = if fault.pointer.is_empty() { "its root" } else { fault.pointer.as_str() };
                let reason = format!("the OpenAPI document cannot carry it: at {place}, {}", fault.reason);
                let other = fault.suggestion.map(|suggestion| suggestion + ", or ").unwrap_or_default();
                self.fault(Some(index), Key::Form, reason, &format!("{other}`actions: none`"));
                None
            }
        }
    }

    fn tools(&mut self, routes: &[&Route], prefix: &str) {
        let security = match (routes.iter().all(|r| needs_token(r)), routes.iter().any(|r| needs_token(r))) {
            (true, _) => Security::Bearer,
            (false, true) => Security::Either,
            (false, false) => Security::None,
        };
        let names: Vec<String> = routes.iter().map(|route| quoted(&route.name)).collect();
        let call = operation(&Operation {
            name: super::tools::CALL,
            text: "Calls one of the further tools. tool_manifest tells their names, what each does and the JSON Schema of its arguments; ask it first.",
            consequential: routes.iter().any(|route| route.actions.consequential),
            security,
            schema: &call_schema(&array(names)),
            responses: &responses::of_act(security != Security::None),
        });
        let manifest = operation(&Operation {
            name: super::tools::MANIFEST,
            text: "Lists the further tools that call_runtime_tool can call, each with what it does and the JSON Schema of its arguments. Does nothing.",
            consequential: false,
            security: Security::None,
            schema: NO_ARGUMENTS,
            responses: &responses::envelope("The tools.", MANIFEST_SCHEMA, false),
        });
        self.paths.push((format!("{prefix}/{}", super::tools::CALL), call));
        self.paths.push((format!("{prefix}/{}", super::tools::MANIFEST), manifest));
    }
}

fn is_long(text: &str) -> bool {
    text.chars().nth(TEXT).is_some()
}

/// How an operation is asked for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Security {
    None,
    Bearer,
    /// Some of what it reaches asks for one.
    Either,
}

impl Security {
    fn json(self) -> &'static str {
        match self {
            Self::None => "[]",
            Self::Bearer => r#"[{"bearerAuth":[]}]"#,
            Self::Either => r#"[{},{"bearerAuth":[]}]"#,
        }
    }
}

struct Operation<'o> {
    name: &'o str,
    text: &'o str,
    consequential: bool,
    security: Security,
    schema: &'o str,
    responses: &'o str,
}

/// What stands at an address: one POST.
fn operation(operation: &Operation<'_>) -> String {
    let Operation { name, text, consequential, security, schema, responses } = operation;
    Object::text_of(|item| {
        item.object("post", |post| {
            post.text("operationId", name);
            if !text.is_empty() {
                post.text("description", text);
            }
            post.flag("x-openai-isConsequential", *consequential);
            post.json("security", security.json());
            post.object("requestBody", |body| {
                body.flag("required", true);
                body.object("content", |content| {
                    content.object("application/json", |media| media.json("schema", schema));
                });
            });
            post.json("responses", responses);
        });
    })
}

const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;

const MANIFEST_SCHEMA: &str = r#"{"type":"object","properties":{"tools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},"form":{"type":"object","properties":{}}}}}}}"#;

/// What a call of a tool carries, and nothing else. The arguments are open here and closed by the
/// form of each tool: a union of all of them is what the long tail is there to avoid.
fn call_schema(names: &str) -> String {
    Object::text_of(|schema| {
        schema.text("type", "object");
        schema.object("properties", |properties| {
            properties.object("tool", |tool| {
                tool.text("type", "string");
                tool.json("enum", names);
                tool.text("description", "The name of the tool.");
            });
            properties.object("arguments", |arguments| {
                arguments.text("type", "object");
                arguments.json("properties", "{}");
                arguments.text("description", "What the form of the tool asks for.");
            });
        });
        schema.json("required", r#"["tool","arguments"]"#);
        schema.flag("additionalProperties", false);
    })
}

/// The whole document. Its version is the digest of all the rest (A-23): whoever keeps a copy can
/// tell whether it is still this one.
fn document(public_url: &str, paths: &[(String, String)], tokens: bool) -> String {
    let with = |version: &str| {
        Object::text_of(|root| {
            root.text("openapi", "3.1.0");
            root.object("info", |info| {
                info.text("title", &format!("Actions at {}", host(public_url)));
                info.text("version", version);
            });
            root.json("servers", &array([Object::text_of(|server| server.text("url", public_url))]));
            if tokens {
                root.json("security", Security::Bearer.json());
            }
            root.object("paths", |all| {
                for (address, item) in paths {
                    all.json(address, item);
                }
            });
            root.object("components", |components| {
                components.json("schemas", "{}");
                if tokens {
                    components.json("securitySchemes", r#"{"bearerAuth":{"type":"http","scheme":"bearer"}}"#);
                }
            });
        })
    };
    with(&digest(with("").as_bytes()))
}

fn host(public_url: &str) -> &str {
    let rest = public_url.split_once("://").map_or(public_url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}
