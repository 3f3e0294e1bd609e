//! What is drawn from the forms for clients that do not speak GPT, and what they say read back.
//!
//! Each surface but a route's page ([`page`]) is computed at load from the same routes that are enforced: a [`crate::gateway::Sheet`] that
//! is only read, or a [`crate::gateway::Desk`] where one POST may mean any of several routes. A desk grants
//! nothing that the address does not: [`converse`] finds the route and cuts its body out of what was posted,
//! and from there it is [`Ticket::submit`] as at the address.

mod base64;
pub mod index;
mod llms;
mod mcp;
mod object;
pub mod openapi;
pub mod page;
mod robots;
pub mod tools;

pub use llms::llms;
pub use mcp::Mcp;
pub use robots::robots;

use crate::gateway::{Conversation, Door, Gateway, Head, Outcome, Own, Reply, Ticket};
use crate::reason::{Reason, Rejection};
use bytes::Bytes;

/// What load has drawn for desks: what they answer without a route, and which routes they stand for.
#[derive(Debug, Default)]
pub struct Desks {
    /// Model Context Protocol.
    pub mcp: Option<Mcp>,
    /// The long tail of GPT Actions.
    pub tools: Option<tools::Tools>,
}

/// What follows from what was said at a desk.
#[derive(Debug)]
pub enum Turn<'g> {
    /// Answered from what load computed; no route is concerned.
    Answer(Reply, Outcome),
    /// Turned away before any route was found.
    Refuse(Rejection),
    /// An act on a route.
    Act {
        /// The permission to submit.
        ticket: Ticket<'g>,
        /// Cut out of what was posted: the very bytes.
        body: Bytes,
        /// How its end is told.
        telling: Telling,
    },
    /// A route was found, and takes no act from this client now.
    TurnedAway {
        /// The route's number.
        index: usize,
        /// Why.
        rejection: Rejection,
        /// How that is told.
        telling: Telling,
    },
}

/// How the end of an act is told by the door it came in.
#[derive(Debug)]
pub enum Telling {
    /// As at the address.
    Plainly,
    /// As the result of a tool's call.
    Mcp(mcp::Caller),
}

impl Telling {
    /// For the access line.
    pub fn door(&self) -> Door {
        match self {
            Self::Plainly => Door::Tools,
            Self::Mcp(_) => Door::Mcp,
        }
    }

    /// Bytes that [`Self::tell`] needs beside the answer that it is given, at most.
    pub fn room(&self, reply: &Reply) -> usize {
        match self {
            Self::Plainly => 0,
            Self::Mcp(_) => mcp::room(reply),
        }
    }

    /// The answer of this door, from the one that the address would have given.
    pub fn tell(&self, reply: Reply, outcome: Outcome) -> Reply {
        match self {
            Self::Plainly => reply,
            Self::Mcp(caller) => caller.tell(reply, outcome),
        }
    }
}

/// Reads what was posted to a desk.
pub fn converse<'g>(
    gateway: &'g Gateway,
    desks: &Desks,
    conversation: &Conversation<'g>,
    head: &Head<'_>,
    body: &Bytes,
) -> Turn<'g> {
    match conversation.desk.own {
        Own::Mcp => match &desks.mcp {
            Some(mcp) => mcp.converse(gateway, conversation, head, body),
            None => Turn::Refuse(Reason::NotFound.into()),
        },
        Own::CallTool => tools::call(gateway, head, body),
        Own::ToolManifest => match &desks.tools {
            Some(tools) => tools.list(body),
            None => Turn::Refuse(Reason::NotFound.into()),
        },
        // Only read, never posted to: `Gateway::triage` opens no conversation there.
        Own::OpenApi | Own::Llms | Own::Robots | Own::Index | Own::WellKnown | Own::Receipt => {
            Turn::Refuse(Reason::NotFound.into())
        }
    }
}

/// How one of the gateway's own addresses tells that it does not take a request, from how an address would.
pub fn turn_away(own: Own, reply: Reply, reason: Reason) -> Reply {
    match own {
        Own::Mcp => Mcp::turn_away(reply, reason),
        Own::OpenApi
        | Own::Llms
        | Own::Robots
        | Own::Index
        | Own::WellKnown
        | Own::CallTool
        | Own::ToolManifest
        | Own::Receipt => reply,
    }
}
