//! MCP: the routes that are marked as tools, called by clients of the Model Context Protocol over its streamable HTTP
//! transport, without sessions and without streams.
//!
//! One POST brings one message and gets one answer. Three revisions are spoken (2025-06-18, 2025-11-25, 2026-07-28);
//! `revision` tells which one a message speaks, `message` reads JSON-RPC, `tool` draws the list at load, `answer` has every
//! word that is said. Nothing is kept between two messages, so a client may turn to any gateway of the same config.
//!
//! What a tool is given is cut out of the body as it stands and goes the way of every act: the ticket of its route, the
//! form, the upstream. A call grants nothing that the address does not.

mod answer;
mod message;
mod revision;
mod tool;

use super::{Telling, Turn};
use crate::gateway::{Conversation, Gateway, Head, Outcome, Reply, Route, with_document};
use crate::json::{Document, Object};
use crate::reason::Reason;
use answer::{Ending, Objection};
use bytes::Bytes;
use message::{Call, NoMessage};
use revision::Era;
use std::collections::HashMap;

/// What surrounds the arguments of a call, at most: names, ids and metadata.
const ENVELOPE: usize = 16 << 10;

/// Everything that can be answered without a route, computed at load.
#[derive(Debug)]
pub struct Mcp {
    /// Name to number of route.
    tools: HashMap<String, usize>,
    /// Bytes of a message, at most.
    limit: usize,
    handshake: Told,
    stateless: Told,
    /// The result of `server/discover`.
    discovered: Bytes,
    /// What follows the revision in the result of `initialize`.
    introduced: Bytes,
}

/// What is told in one era.
#[derive(Debug)]
struct Told {
    /// What every result begins with.
    opening: Bytes,
    /// The whole result of `tools/list`.
    list: Bytes,
}

/// What a message comes to.
#[derive(Debug)]
enum Asked {
    /// It is answered from what load has computed.
    Told(Reply, Outcome),
    /// The tool of a route is called.
    Call {
        /// The number of the route.
        index: usize,
        /// The arguments, cut out of the message.
        arguments: Bytes,
        /// Who wants the answer, and how.
        caller: Caller,
    },
}

/// What the answer to a call needs of the message that asked.
#[derive(Debug)]
pub struct Caller {
    /// As written.
    id: Bytes,
    /// What a result begins with, in the era of the message.
    opening: Bytes,
    /// Lines for the page that asks; mostly none.
    lines: String,
}

impl Mcp {
    /// `name` is what the gateway is called; a route without a tool is left out.
    pub fn new<'r>(name: &str, routes: impl Iterator<Item = &'r Route>) -> Self {
        let mut tools = HashMap::new();
        let (mut list, mut largest) = (String::new(), 0);
        for (index, route) in routes.enumerate() {
            let Some(tool) = &route.tool else { continue };
            tool::draw(&route.name, tool, route.form.published(), &mut list);
            largest = largest.max(route.max_body);
            tools.insert(route.name.clone(), index);
        }
        let server = tool::server(name, &list);
        let capabilities = "\"capabilities\":{\"tools\":{}}";
        let instructions = tool::instructions();
        let stateless = format!(
            "{{\"resultType\":\"complete\",\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{server}}},"
        );
        // The list is the same for everyone, and a reload may change it.
        let cache = "\"ttlMs\":60000,\"cacheScope\":\"public\"";
        Self {
            tools,
            limit: largest + ENVELOPE,
            discovered: Bytes::from(format!(
                "{stateless}\"supportedVersions\":{},{capabilities},\"instructions\":{instructions},{cache}}}",
                answer::supported()
            )),
            introduced: Bytes::from(format!(
                "\",{capabilities},\"serverInfo\":{server},\"instructions\":{instructions}}}"
            )),
            handshake: Told {
                opening: Bytes::from_static(b"{"),
                list: Bytes::from(format!("{{\"tools\":[{list}]}}")),
            },
            stateless: Told {
                list: Bytes::from(format!("{stateless}\"tools\":[{list}],{cache}}}")),
                opening: Bytes::from(stateless),
            },
        }
    }

    /// Bytes of a message, at most.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Hears one message. A page of another origin is turned away whatever it says (DNS rebinding).
    ///
    /// `Accept` is not looked at: clients must take JSON, and get it.
    pub(super) fn converse<'g>(
        &self,
        gateway: &'g Gateway,
        conversation: &Conversation<'g>,
        head: &Head<'_>,
        body: &Bytes,
    ) -> Turn<'g> {
        let cors = conversation.desk.cors.as_ref();
        let admitted = cors.map_or(head.all("origin").next().is_none(), |cors| cors.admits(head));
        let lines = cors.map(|cors| cors.lines(head)).unwrap_or_default();
        let asked = if admitted {
            with_document(|document| self.read(head, body, document))
        } else {
            objected(&Objection::Origin, None)
        };
        match asked {
            Asked::Told(reply, outcome) => {
                if outcome == Outcome::Malformed {
                    conversation.note_refused();
                }
                Turn::Answer(reply.with_lines(&lines), outcome)
            }
            Asked::Call { index, arguments, caller } => {
                let telling = Telling::Mcp(Caller { lines, ..caller });
                match gateway.ticket(index, head) {
                    Ok(ticket) => Turn::Act { ticket, body: arguments, telling },
                    Err(rejection) => Turn::TurnedAway { index, rejection, telling },
                }
            }
        }
    }

    /// What is wrong with a request that is not heard at all, in the words of the protocol where it has them.
    pub(super) fn turn_away(reply: Reply, reason: Reason) -> Reply {
        let objection = match reason {
            Reason::MediaType | Reason::ContentCoding => Objection::MediaType,
            Reason::TooLarge => Objection::TooLarge,
            Reason::Query => Objection::Query,
            Reason::Syntax(_)
            | Reason::NumberUnsafe
            | Reason::Form
            | Reason::Parameters
            | Reason::Secret
            | Reason::Bystander
            | Reason::Upstream
            | Reason::UpstreamFull
            | Reason::Throttled
            | Reason::Stale
            | Reason::Unauthorized
            | Reason::IdempotencyKey
            | Reason::KeyConflict
            | Reason::InProgress
            | Reason::RecordsFull
            | Reason::RecordsShare
            | Reason::RecordsDown
            | Reason::LimitsDown
            | Reason::Budget
            | Reason::Draining
            | Reason::Deadline
            | Reason::BodyBroken
            | Reason::Framing
            | Reason::HeadTooLarge
            | Reason::Expectation
            | Reason::NotFound
            | Reason::Method => return reply,
        };
        objection.reply(None)
    }

    /// Reads a message and answers it, or says which route is to act.
    fn read(&self, head: &Head<'_>, body: &Bytes, document: &mut Document) -> Asked {
        let Ok(value) = document.parse(body) else { return objected(&Objection::Syntax, None) };
        let (id, call) = match message::read(value, body) {
            Ok(message) => message,
            Err(NoMessage(id)) => return objected(&Objection::NoMessage, id.and_then(|id| body.get(id))),
        };
        let Some(id) = id.map(|id| body.slice(id)) else { return notified(head, &call) };
        self.request(head, &call, body, &id).unwrap_or_else(|objection| objected(&objection, Some(&id)))
    }

    fn request(
        &self,
        head: &Head<'_>,
        call: &Call<'_>,
        body: &Bytes,
        id: &Bytes,
    ) -> Result<Asked, Objection> {
        let era = revision::era(head, call)?;
        let told = |result: &[&[u8]]| Ok(Asked::Told(answer::result(id, result, ""), Outcome::Arrived));
        match call.method {
            "tools/call" => self.call(era, call.params, body, id),
            "tools/list" => match call.params.and_then(|params| params.get("cursor")) {
                None => told(&[&self.told(era).list]),
                Some(cursor) if cursor.as_str().is_some() => Err(Objection::Cursor),
                Some(_) => Err(Objection::Params),
            },
            other => match era {
                Era::Handshake => match other {
                    "initialize" => {
                        let asked = call.params.and_then(|params| params.get("protocolVersion"));
                        let asked = asked.and_then(|version| version.as_str()).ok_or(Objection::Params)?;
                        let spoken = revision::negotiate(asked).as_bytes();
                        told(&[b"{\"protocolVersion\":\"", spoken, &self.introduced])
                    }
                    "ping" => told(&[b"{}"]),
                    _ => Err(Objection::Method(era)),
                },
                Era::Stateless => match other {
                    "server/discover" => told(&[&self.discovered]),
                    _ => Err(Objection::Method(era)),
                },
            },
        }
    }

    fn call(
        &self,
        era: Era,
        params: Option<Object<'_>>,
        body: &Bytes,
        id: &Bytes,
    ) -> Result<Asked, Objection> {
        let params = params.ok_or(Objection::Params)?;
        let name = params.get("name").and_then(|name| name.as_str()).ok_or(Objection::Params)?;
        let arguments = match params.get("arguments") {
            None => Bytes::from_static(b"{}"),
            Some(arguments) if arguments.as_object().is_some() => body.slice(arguments.span()),
            Some(_) => return Err(Objection::Params),
        };
        let index = *self.tools.get(name).ok_or(Objection::NoTool)?;
        let opening = self.told(era).opening.clone();
        Ok(Asked::Call { index, arguments, caller: Caller { id: id.clone(), opening, lines: String::new() } })
    }

    fn told(&self, era: Era) -> &Told {
        match era {
            Era::Handshake => &self.handshake,
            Era::Stateless => &self.stateless,
        }
    }
}

impl Caller {
    /// The answer to the call, from what the address would have answered. Of an upstream's words it has only those about an
    /// act that was done; a refusal is one sentence, whoever refused. Where it is not the call that was turned away but the
    /// request, HTTP has the word for it, and it stands.
    pub(super) fn tell(&self, reply: Reply, outcome: Outcome) -> Reply {
        match Ending::of(outcome) {
            Ending::Done => self.result(&answer::done(&reply.body)),
            Ending::Told(sentence) => {
                // Only where waiting can help.
                let nothing_done = matches!(outcome, Outcome::Throttled | Outcome::Unavailable);
                let told = self.result(answer::told(sentence).as_bytes());
                match reply.retry_after.filter(|_| nothing_done) {
                    Some(seconds) => told.after(seconds),
                    None => told,
                }
            }
            Ending::Elsewhere => reply.with_lines(&self.lines),
        }
    }

    fn result(&self, rest: &[u8]) -> Reply {
        answer::result(&self.id, &[&self.opening, rest], &self.lines)
    }
}

/// Notifications tell this server nothing that it would keep: taken, as long as they are of a revision that it speaks.
fn notified(head: &Head<'_>, call: &Call<'_>) -> Asked {
    match revision::era(head, call) {
        Ok(Era::Handshake | Era::Stateless) => Asked::Told(answer::taken(), Outcome::Arrived),
        Err(objection) => objected(&objection, None),
    }
}

fn objected(objection: &Objection, id: Option<&[u8]>) -> Asked {
    Asked::Told(objection.reply(id), Outcome::Malformed)
}

/// Bytes of a result that hands on this answer, at most: as it is and as text, where a character may become two.
pub(super) fn room(reply: &Reply) -> usize {
    3 * reply.body.len()
}
