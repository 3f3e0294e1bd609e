//! From a head that may act to the permission to reach an upstream.
//!
//! [`Ticket`] is the permission to read a body, [`Admitted`] the permission to send it. Only
//! [`Ticket::submit`] makes the second out of the first.

use super::balance::{Balance, HashBy, hash};
use super::departure::Departure;
use super::head::{ClientKey, Head, Length, Origin, PublicName};
use super::judge::{Unfit, admitted, follow_to, judge, with_document};
use super::replay::Key;
use super::route::{ContentTypeRule, Route};
use super::{Due, Limits};
use crate::form::Mismatch;
use crate::json::{Kind, Value};
use crate::media::is_json_utf8;
use crate::reason::{Reason, Rejection};
use bytes::Bytes;
use std::time::Duration;

/// The permission to read the body of one act.
#[derive(Debug)]
pub struct Ticket<'g> {
    pub(super) index: usize,
    pub(super) route: &'g Route,
    pub(super) departure: &'g Departure,
    pub(super) client: ClientKey,
    pub(super) origin: Origin,
    pub(super) public: Option<&'g PublicName>,
    /// `Idempotency-Key`, where the route takes one and one was given at its address.
    pub(super) key: Option<Key>,
    /// `If-Match` names another form than the one that is published now.
    pub(super) stale: bool,
}

/// The permission to reach an upstream, once: a ticket, and a body that its form admits.
#[derive(Debug)]
pub struct Admitted<'g> {
    pub(super) ticket: Ticket<'g>,
    body: Bytes,
    /// Path and query, where they are not the same for every act.
    pub(super) target: Option<Vec<u8>>,
    affinity: u64,
}

impl<'g> Ticket<'g> {
    /// The route, for labels.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Bytes of the body, at most.
    pub fn limit(&self) -> usize {
        self.route.max_body
    }

    /// From now to the last byte of the body.
    pub fn deadline(&self) -> Duration {
        self.route.body_deadline
    }

    /// What it still has to be taken of before anything is done, where several instances count together.
    pub fn due(&self) -> Option<Due<'g>> {
        self.route.limits.due(self.client)
    }

    /// Whether it was meant for another form than the one that is published now (`If-Match`). Asked where the act has a key
    /// and nothing is recorded under it: who repeats gets the same answer also when the form has changed since.
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Strict parse, then the form: the same value that is published (GPT draft, "Verification").
    pub fn submit(self, body: Bytes) -> Result<Admitted<'g>, Unfit> {
        let Route { form, max_body, outbound, .. } = self.route;
        let judged = with_document(|document| {
            if !self.looks_into_body() {
                return judge(form, *max_body, document, &body).map(|()| (None, self.affinity(None)));
            }
            let value = admitted(form, *max_body, document, &body)?;
            let target = match outbound.target.fixed() {
                Some(_) => None,
                // Proven at load; were it not so all the same, nothing is sent.
                None => Some(outbound.target.fill(value).ok_or_else(|| Unfit::Form(Mismatch::default()))?),
            };
            Ok((target, self.affinity(Some(value))))
        });
        match judged {
            Ok((target, affinity)) => Ok(Admitted { ticket: self, body, target, affinity }),
            Err(unfit) => {
                self.route.limits.note_refused(self.client);
                Err(unfit)
            }
        }
    }

    /// Whether members of the body decide where it goes.
    fn looks_into_body(&self) -> bool {
        let outbound = &self.route.outbound;
        outbound.target.fixed().is_none()
            || matches!(outbound.upstream.fleet.balance, Balance::Hash(HashBy::Member(_)))
    }

    /// What acts that belong together have in common, where that decides about their server.
    fn affinity(&self, value: Option<Value<'_>>) -> u64 {
        match &self.route.outbound.upstream.fleet.balance {
            Balance::RoundRobin | Balance::LeastInFlight => 0,
            Balance::Hash(HashBy::Client) => self.client.hash(),
            Balance::Hash(HashBy::Member(pointer)) => {
                // By its value, not by how it is written: 1.0 is 1, "\u0061" is "a".
                let found =
                    value.and_then(|value| follow_to(value, pointer)).and_then(|found| match found.kind() {
                        Kind::String => found.as_str().map(|text| hash(text.as_bytes())),
                        Kind::Number => {
                            found.as_number()?.decimal().as_i64().map(|number| hash(&number.to_le_bytes()))
                        }
                        Kind::Boolean => found.as_bool().map(|value| hash(&[u8::from(value)])),
                        Kind::Null | Kind::Array | Kind::Object => None,
                    });
                found.unwrap_or_else(|| self.client.hash())
            }
        }
    }

    /// The act is not performed, for this reason.
    pub fn turn_away(&self, reason: Reason) -> Rejection {
        let rejection = Rejection::from(reason);
        self.route.limits.note(self.client, &rejection);
        rejection
    }
}

/// Rates, before anything of the request is read further (U-17, G-40).
pub(super) fn throttle(limits: &Limits, client: ClientKey) -> Result<(), Rejection> {
    if let Some(limiter) = &limits.post {
        limiter.take(client).map_err(Rejection::throttled)?;
    }
    if let Some(limiter) = &limits.refused {
        limiter.peek(client).map_err(Rejection::throttled)?;
    }
    Ok(())
}

/// The rate of those who only look.
pub(super) fn throttle_arrival(limits: &Limits, client: ClientKey) -> Result<(), Rejection> {
    limits.get.as_ref().map_or(Ok(()), |limiter| limiter.take(client).map_err(Rejection::throttled))
}

/// What the head alone decides about an act.
pub(super) fn gate(route: &Route, head: &Head<'_>) -> Result<(), Reason> {
    // First, for it is answered at once: what else is wrong with the head does not show in how long that takes.
    match head.length {
        Length::Known(length) if length > route.max_body as u64 => {
            return Err(Reason::TooLarge);
        }
        Length::Known(_) | Length::Unknown => {}
    }
    // A body's reader may merge the query into it: nothing beside the body may speak (B-3).
    if head.query.is_some() {
        return Err(Reason::Query);
    }
    match route.content_type {
        ContentTypeRule::Any => {}
        ContentTypeRule::Json => {
            if !head.only("content-type").is_some_and(is_json_utf8) {
                return Err(Reason::MediaType);
            }
        }
    }
    only_identity(head)
}

/// A body is read as it is, never decoded (B-7).
pub(super) fn only_identity(head: &Head<'_>) -> Result<(), Reason> {
    let identity = |coding: &[u8]| coding.trim_ascii().eq_ignore_ascii_case(b"identity");
    if head.all("content-encoding").all(identity) { Ok(()) } else { Err(Reason::ContentCoding) }
}

impl<'g> Admitted<'g> {
    /// What it was made of.
    pub fn ticket(&self) -> &Ticket<'g> {
        &self.ticket
    }

    /// What acts that belong together have in common, for [`super::Fleet::round`].
    pub fn affinity(&self) -> u64 {
        self.affinity
    }

    /// The very bytes of the client.
    pub fn body(&self) -> &Bytes {
        &self.body
    }
}
