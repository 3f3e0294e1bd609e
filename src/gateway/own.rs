//! The addresses that are the gateway's own: documents drawn at load, and desks, where one POST may mean
//! any of several routes.

use super::Gateway;
use super::act::Ticket;
use super::arrival::Arrival;
use super::head::{ClientKey, Head, Length, Method};
use super::reply::Outcome;
use super::{Cors, Due, Limits, Page, Triage};
use crate::every::every;
use crate::form::Representation;
use crate::media::is_json_utf8;
use crate::reason::{Allow, Reason, Rejection};
use bytes::Bytes;
use std::time::Duration;

/// What is at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spot {
    /// A route, by its number.
    Route(usize),
    /// One of the gateway's own.
    Own(Own),
}

/// One of the gateway's own addresses. Each has a label of its own in metrics and log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Own {
    /// `/openapi.json`
    OpenApi,
    /// `/llms.txt`
    Llms,
    /// `/robots.txt`
    Robots,
    /// `/`
    Index,
    /// Below `/.well-known/`.
    WellKnown,
    /// Model Context Protocol.
    Mcp,
    /// `call_runtime_tool`
    CallTool,
    /// `tool_manifest`
    ToolManifest,
    /// What became of a GET-Action: `/r/…`
    Receipt,
}

/// By which door an act came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Door {
    /// POST to the address itself; everything that is no act counts here too.
    #[default]
    Address,
    /// A GET-Action.
    GetAction,
    /// `call_runtime_tool`
    Tools,
    /// Model Context Protocol.
    Mcp,
}

/// A document of the gateway's own, computed at load and served like an arrival.
#[derive(Debug)]
pub struct Sheet {
    /// Which.
    pub own: Own,
    /// The exact path.
    pub address: String,
    /// `Content-Type`.
    pub media_type: &'static str,
    /// The bytes.
    pub representation: Representation,
    /// More field lines, each ended by CRLF.
    pub lines: &'static str,
    /// The same for people, where there is a page.
    pub page: Option<Page>,
}

/// An address where one POST may mean any of several routes: its body says which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Desk {
    /// Which.
    pub own: Own,
    /// The exact path.
    pub address: String,
    /// Bytes of a body, at most.
    pub max_body: usize,
    /// From the end of the head to the last byte of the body.
    pub body_deadline: Duration,
    /// Origins whose pages may post and read the answer.
    pub cors: Option<Cors>,
}

/// What stands at one of the gateway's own addresses.
#[derive(Debug)]
pub(super) enum Standing {
    Sheet(Box<Arrival>),
    Desk(Desk),
    /// Each below `/r/` is asked of what is remembered.
    Receipts,
}

/// The permission to read the body of a POST to a desk.
#[derive(Debug, Clone, Copy)]
pub struct Conversation<'g> {
    /// The desk.
    pub desk: &'g Desk,
    limits: &'g Limits,
    client: ClientKey,
}

impl Own {
    every![OpenApi, Llms, Robots, Index, WellKnown, Mcp, CallTool, ToolManifest, Receipt];
}

impl<'g> Conversation<'g> {
    /// What it still has to be taken of, where several instances count together.
    pub fn due(&self) -> Option<Due<'g>> {
        self.limits.due(self.client)
    }

    /// Counts what was said at the desk against the client, if it is refused by this rejection.
    pub fn note(&self, rejection: &Rejection) {
        self.limits.note(self.client, rejection);
    }

    /// What was said at the desk is refused, for whatever reason: it is counted against the client.
    pub fn note_refused(&self) {
        self.limits.note_refused(self.client);
    }
}

impl Gateway {
    /// What the gateway's own addresses allow each client.
    pub fn limit_own(&mut self, limits: Limits) {
        self.own_limits = limits;
    }

    /// Serves a document. Its address must be free (`config` has checked it).
    pub fn put_sheet(&mut self, sheet: Sheet) {
        let Sheet { own, address, media_type, representation, lines, page } = sheet;
        self.by_address.insert(address, Spot::Own(own));
        let arrival = Arrival::of_sheet(representation, media_type, lines, page);
        self.own.insert(own, Standing::Sheet(Box::new(arrival)));
    }

    /// Opens a desk. Its address must be free (`config` has checked it).
    pub fn open_desk(&mut self, desk: Desk) {
        self.by_address.insert(desk.address.clone(), Spot::Own(desk.own));
        self.own.insert(desk.own, Standing::Desk(desk));
    }

    /// The bytes of a document, in no coding.
    pub fn sheet(&self, own: Own) -> Option<&Bytes> {
        match self.own.get(&own)? {
            Standing::Sheet(arrival) => Some(arrival.bytes()),
            Standing::Desk(_) | Standing::Receipts => None,
        }
    }

    /// Those that this generation has.
    pub fn own(&self) -> impl Iterator<Item = Own> {
        Own::ALL.into_iter().filter(|own| self.own.contains_key(own))
    }

    /// The permission to read a body for route number `index`, asked for at a desk: the rates of the route
    /// hold as they do at its address.
    pub fn ticket(&self, index: usize, head: &Head<'_>) -> Result<Ticket<'_>, Rejection> {
        let ticket = self.places[index].ticket(self, index, head)?;
        Ok(Ticket { key: super::idempotency::key(ticket.route, head)?, ..ticket })
    }

    pub(super) fn triage_own<'g>(&'g self, own: Own, head: &Head<'_>) -> Triage<'g> {
        let spot = Some(Spot::Own(own));
        let refuse = |rejection| Triage::Refuse { spot, rejection };
        let Some(standing) = self.own.get(&own) else {
            return refuse(Reason::NotFound.into());
        };
        let client = self.holder(head).unwrap_or_else(|| ClientKey::of(self.origin(head).client));
        match (standing, head.verb()) {
            (Standing::Sheet(arrival), verb @ (Method::Get | Method::Head)) => {
                if let Err(rejection) = super::act::throttle_arrival(&self.own_limits, client) {
                    return refuse(rejection);
                }
                let (reply, outcome) = arrival.answer(head, verb == Method::Get);
                Triage::Answer { spot: Spot::Own(own), reply, outcome }
            }
            (Standing::Receipts, Method::Get | Method::Head) => {
                if let Err(rejection) = super::act::throttle_arrival(&self.own_limits, client) {
                    return refuse(rejection);
                }
                match super::attempt::receipt_id(head.path) {
                    Some(id) => Triage::Receipt(id),
                    None => refuse(Reason::NotFound.into()),
                }
            }
            (Standing::Desk(desk), Method::Post) => match self.hear(desk, client, head) {
                Ok(conversation) => Triage::Converse(conversation),
                Err(rejection) => refuse(rejection),
            },
            (standing, Method::Options) => {
                let reply = super::arrival::options(standing.allow(), &standing.preflight(head));
                Triage::Answer { spot: Spot::Own(own), reply, outcome: Outcome::Options }
            }
            (standing, Method::Get | Method::Head | Method::Post | Method::Other) => {
                refuse(Rejection::method(standing.allow()))
            }
        }
    }

    /// What the head alone decides about a POST to a desk.
    fn hear<'g>(
        &'g self,
        desk: &'g Desk,
        client: ClientKey,
        head: &Head<'_>,
    ) -> Result<Conversation<'g>, Rejection> {
        let conversation = Conversation { desk, limits: &self.own_limits, client };
        super::act::throttle(&self.own_limits, client)?;
        let fits = || {
            match head.length {
                Length::Known(length) if length > desk.max_body as u64 => return Err(Reason::TooLarge),
                Length::Known(_) | Length::Unknown => {}
            }
            if head.query.is_some() {
                return Err(Reason::Query);
            }
            if !head.only("content-type").is_some_and(is_json_utf8) {
                return Err(Reason::MediaType);
            }
            super::act::only_identity(head)
        };
        fits().map_err(|reason| {
            let rejection = Rejection::from(reason);
            conversation.note(&rejection);
            rejection
        })?;
        Ok(conversation)
    }

    /// How long a body at this spot may take.
    pub fn body_deadline(&self, spot: Spot) -> Option<Duration> {
        match spot {
            Spot::Route(index) => Some(self.places[index].route.body_deadline),
            Spot::Own(own) => match self.own.get(&own)? {
                Standing::Desk(desk) => Some(desk.body_deadline),
                Standing::Sheet(_) | Standing::Receipts => None,
            },
        }
    }
}

impl Standing {
    /// What a page is told that asks before it posts.
    fn preflight(&self, head: &Head<'_>) -> String {
        match self {
            Self::Desk(Desk { cors: Some(cors), .. }) => cors.lines(head) + Cors::desk_lines(),
            Self::Desk(Desk { cors: None, .. }) | Self::Sheet(_) | Self::Receipts => String::new(),
        }
    }

    fn allow(&self) -> Allow {
        match self {
            Self::Sheet(_) | Self::Receipts => Allow::Sheet,
            Self::Desk(_) => Allow::Desk,
        }
    }
}
