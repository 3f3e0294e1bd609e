//! GET-Action: an act asked for by opening a URL, for actors that can do nothing else (DESIGN 8, REQUIREMENTS
//! U-01 to U-26 and B-25 to B-33).
//!
//! A GET is an attempt when its query names the key or a member of the form; any other is an arrival. From the head
//! alone comes an [`Attempt`]: something to tell at once, or a [`Proposal`] for `edge` to look up, record and send.
//! What is told is always an [`Answer`]: two keys. Everything here is pure; the order in which it is used, limiter ▶
//! look-up ▶ validation ▶ record ▶ upstream (U-17), is `edge`'s.

mod answer;
mod bystander;
mod plan;
mod query;
mod receipt;
mod secret;
mod url;

pub use answer::{Answer, Code};
pub use plan::{Ineligible, Parameter, Plan, Scalar};
pub use query::{Asked, Dropped, Flaw, MAX_QUERY};
pub use receipt::receipt;
pub(super) use receipt::receipt_id;
pub use url::{ResultUrl, Template};

use super::act::{self, Ticket};
use super::consequence::{Consequence, UpstreamResult};
use super::head::{ClientKey, Head, Length, Method};
use super::replay::{End, Fingerprint, Found, Holder, Key, ReceiptId, ReplayState, State, Terms};
use super::reply::{Outcome, Reply};
use super::{Gateway, Spot, Triage};
use crate::reason::{Reason, Rejection};
use bytes::Bytes;
use std::time::Duration;

/// The GET-Action of one route. A value of this type is complete and consistent; `config` is what makes it.
#[derive(Debug)]
pub struct GetAction {
    /// How a query becomes a body.
    pub plan: Plan,
    /// Whether the upstream is contacted; else an attempt is validated, recorded and left to a person (B-32).
    pub execute: bool,
    /// Where `ok` leads.
    pub result: ResultUrl,
    /// Where `human_review_required` leads.
    pub review: Template,
    /// What is told instead of any reason.
    pub rejected: Answer,
    /// What a receipt's id is put behind: `https://api.example.com/r/`.
    pub receipts: String,
    /// How long a key is remembered.
    pub keep: Duration,
    /// How long an attempt waits for the first one with its key.
    pub wait: Duration,
    /// What `/llms.txt` says about it.
    pub guide: Guide,
}

/// What an actor that has no form before it is told (U-11, U-12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    /// `openThisUrlToStartAMeeting`: a key that says what to do with its value.
    pub label: String,
    /// What it does and does not do, who may use it: shown first.
    pub boundaries: String,
    /// The query of an example, without a key.
    pub example: String,
}

/// A GET-Action, from its head alone.
#[derive(Debug)]
pub enum Attempt<'g> {
    /// Nothing to look up, nothing to record.
    Told {
        /// The route, for labels.
        index: usize,
        /// To the client, metrics and log.
        told: Told,
        /// To the log.
        trace: Trace,
    },
    /// To be looked up by its key, and maybe done.
    Open(Proposal<'g>),
}

/// What an attempt came to.
#[derive(Debug, Clone)]
pub struct Told {
    /// To the client.
    pub reply: Reply,
    /// To metrics and log.
    pub outcome: Outcome,
    /// To metrics and log, where nothing was done.
    pub reason: Option<Reason>,
    /// What the client was told, to the log.
    pub code: Code,
}

/// What the log says of an attempt: no value of a query (U-19).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// The key's hash.
    pub key: Option<Key>,
    /// Members that were named, in the order of the form.
    pub members: Vec<String>,
}

/// An attempt that could be read.
#[derive(Debug)]
pub struct Proposal<'g> {
    /// The permission to judge its body.
    pub ticket: Ticket<'g>,
    /// The body that its query stands for.
    pub body: Bytes,
    /// Everything else about it.
    pub intent: Intent<'g>,
}

/// What an attempt is about, and the words for whatever becomes of it.
#[derive(Debug)]
pub struct Intent<'g> {
    action: &'g GetAction,
    /// The client's key itself: review URLs may have it.
    text: String,
    key: Key,
    fingerprint: Fingerprint,
    trace: Trace,
}

impl GetAction {
    /// Whether a GET with this query is an attempt and no arrival.
    pub fn is_asked(&self, query: Option<&str>) -> bool {
        query.is_some_and(|query| self.plan.is_named_in(query))
    }

    fn rejected(&self, reason: Reason) -> Told {
        Told {
            reply: self.rejected.reply(),
            outcome: Outcome::Refused,
            reason: Some(reason),
            code: Code::Rejected,
        }
    }

    /// Over its rate.
    fn throttled(&self, rejection: Rejection) -> Told {
        let reply = self.rejected.throttled(rejection.retry_seconds());
        Told { reply, outcome: Outcome::Throttled, ..self.rejected(rejection.reason) }
    }
}

impl Gateway {
    /// Decides about an attempt from its head alone; the caller has found that it is one.
    pub(super) fn attempt<'g>(&'g self, index: usize, action: &'g GetAction, head: &Head<'_>) -> Triage<'g> {
        let place = &self.places[index];
        let route = &place.route;
        let origin = self.origin(head);
        let client = ClientKey::of(origin.client);
        let tell = |told: Told, trace| {
            let told = if head.verb() == Method::Head { told.without_body() } else { told };
            Triage::Attempt(Attempt::Told { index, told, trace })
        };
        let looks = bystander::only_looks(head);
        // Who only looks takes from the rate of those who look; who may act, from the other (U-17).
        let rate = if looks {
            act::throttle_arrival(&route.limits, client)
        } else {
            act::throttle(&route.limits, client)
        };
        if let Err(rejection) = rate {
            return tell(action.throttled(rejection), Trace::default());
        }
        // A body beside the query could be meant to be part of it (U-20).
        let asked = match head.length {
            Length::Known(0) => action.plan.read(head.query.unwrap_or_default()),
            Length::Known(_) | Length::Unknown => Err(Flaw::Body),
        };
        let asked = match asked {
            Ok(asked) => asked,
            Err(flaw) => {
                if !looks {
                    route.limits.note_refused(client);
                }
                return tell(action.rejected(flaw.reason()), Trace::default());
            }
        };
        let Asked { key: text, body, members } = asked;
        let key = Key::of(&format!("get_action {}", route.name), text.as_bytes());
        let name = |member: usize| action.plan.parameters()[member].name.clone();
        let trace = Trace { key: Some(key), members: members.into_iter().map(name).collect() };
        let intent = Intent { action, text, key, fingerprint: Fingerprint::of(&body), trace };
        if looks {
            let told = intent.review(Outcome::Review, Some(Reason::Bystander));
            return tell(told, intent.trace);
        }
        let (departure, public) = (&place.departure, self.public.as_ref());
        let ticket = Ticket { index, route, departure, client, origin, public, key: None, stale: false };
        Triage::Attempt(Attempt::Open(Proposal { ticket, body, intent }))
    }
}

impl Gateway {
    /// What an attempt is told when deciding about it has come to no end: it keeps its two keys, and nobody is told
    /// that nothing was done. `None` for everything else.
    pub fn unforeseen(&self, head: &Head<'_>) -> Option<Told> {
        let Some(Spot::Route(index)) = self.spot(head.path) else { return None };
        let action = self.places[index].route.get_action.as_ref()?;
        if head.verb() != Method::Get || !action.is_asked(head.query) {
            return None;
        }
        let asked = action.plan.read(head.query?);
        // Without a key there was nothing that could have been done.
        let answer = asked.map_or_else(
            |_| action.rejected.clone(),
            |asked| Answer::new(Code::Review, &action.review.with(&asked.key)),
        );
        Some(Told { reply: answer.reply(), outcome: Outcome::Internal, reason: None, code: answer.code })
    }
}

impl Told {
    /// For HEAD.
    fn without_body(self) -> Self {
        Self { reply: Reply { body: Bytes::new(), ..self.reply }, ..self }
    }
}

impl Intent<'_> {
    /// What it is known by.
    pub fn key(&self) -> Key {
        self.key
    }

    /// Under which terms it is done once. `ticket` is that of its proposal.
    pub fn terms(&self, ticket: &Ticket<'_>) -> Terms {
        let Self { action, key, fingerprint, .. } = *self;
        let holder = Holder::of(ticket.client);
        Terms { key, fingerprint, holder, lease: ticket.lease(), keep: action.keep, wait: action.wait }
    }

    /// Whether the upstream is to be contacted.
    pub fn executes(&self) -> bool {
        self.action.execute
    }

    /// To the log.
    pub fn into_trace(self) -> Trace {
        self.trace
    }

    /// Nothing was done: over a rate, or the rate cannot be asked.
    pub fn turned_away(&self, rejection: Rejection) -> Told {
        if rejection.reason == Reason::Throttled {
            return self.action.throttled(rejection);
        }
        Told { outcome: Outcome::Unavailable, ..self.action.rejected(rejection.reason) }
    }

    /// Nothing was done.
    pub fn rejected(&self, reason: Reason) -> Told {
        self.action.rejected(reason)
    }

    /// A person goes on from here.
    pub fn review(&self, outcome: Outcome, reason: Option<Reason>) -> Told {
        let answer = self.review_answer();
        Told { reply: answer.reply(), outcome, reason, code: answer.code }
    }

    fn review_answer(&self) -> Answer {
        Answer::new(Code::Review, &self.action.review.with(&self.text))
    }

    /// What the record of this key says: the same body gets the same answer, another one is rejected (B-30). `None`
    /// while the first attempt is under way.
    pub fn known(&self, found: &Found) -> Option<(Told, ReplayState)> {
        if found.fingerprint != self.fingerprint {
            return Some((self.rejected(Reason::KeyConflict), ReplayState::Conflict));
        }
        match &found.state {
            State::Done(kept) => Some((self.replayed(kept), ReplayState::Done)),
            State::Unknown => Some((self.unknown(), ReplayState::Unknown)),
            State::Pending => None,
        }
    }

    /// The answer that was kept, once more.
    pub fn replayed(&self, kept: &Bytes) -> Told {
        // Kept by a later version that writes it otherwise: it was done, and we cannot say how it ended.
        let Some(answer) = Answer::of_kept(kept) else { return self.unknown() };
        let (outcome, reason) = match answer.code {
            Code::Ok => (Outcome::Accepted, None),
            Code::Review => (Outcome::Review, None),
            Code::Rejected => (Outcome::Refused, Some(Reason::Upstream)),
        };
        Told { reply: answer.reply(), outcome, reason, code: answer.code }
    }

    /// Nobody knows what became of the first attempt.
    pub fn unknown(&self) -> Told {
        self.review(Outcome::Unknown, None)
    }

    /// The first attempt is still under way, after all the waiting.
    pub fn pending(&self) -> Told {
        self.review(Outcome::Pending, Some(Reason::InProgress))
    }

    /// Validated and recorded; the upstream is not contacted (`execute: false`).
    pub fn recorded(&self) -> (Told, End) {
        (self.review(Outcome::Review, None), End::Done(self.review_answer().kept()))
    }

    /// What the client is told about the upstream's answer, and what becomes of the key (REQUIREMENTS B-1, third
    /// column). `status` is the upstream's.
    pub fn conclude(
        &self,
        consequence: &Consequence,
        status: Option<u16>,
        receipt: ReceiptId,
    ) -> (Told, End) {
        let Consequence { reply, outcome, result, reason } = consequence;
        let (answer, end) = match result {
            UpstreamResult::Json
            | UpstreamResult::Empty
            | UpstreamResult::Text
            | UpstreamResult::NotJson
            | UpstreamResult::Encoded
            | UpstreamResult::Broken
            | UpstreamResult::TooLarge
            | UpstreamResult::Redirected => {
                // 202: the upstream has taken it on, and somebody or something is still to decide.
                let answer =
                    if status == Some(202) { self.review_answer() } else { self.done(&reply.body, receipt) };
                let kept = answer.kept();
                (answer, End::Done(kept))
            }
            // The upstream has judged this act; the same one again would be a second.
            UpstreamResult::Refused => (self.action.rejected.clone(), End::Done(self.action.rejected.kept())),
            UpstreamResult::Misconfigured => {
                let answer = self.review_answer();
                let kept = answer.kept();
                (answer, End::Done(kept))
            }
            UpstreamResult::Failed | UpstreamResult::Unknown => (self.review_answer(), End::Unknown),
            // Nothing was done, and the same URL may be opened again.
            UpstreamResult::Throttled | UpstreamResult::NotSent | UpstreamResult::Full => {
                (self.action.rejected.clone(), End::Forget)
            }
        };
        let throttled = *result == UpstreamResult::Throttled;
        let sent = if throttled { answer.throttled(reply.retry_after.unwrap_or(1)) } else { answer.reply() };
        (Told { reply: sent, outcome: *outcome, reason: *reason, code: answer.code }, end)
    }

    /// Where `ok` leads: what the upstream says if it may, else what the operator says, else the receipt (B-31).
    fn done(&self, body: &[u8], receipt: ReceiptId) -> Answer {
        let url = match &self.action.result {
            ResultUrl::Pointer { pointer, hosts } => url::found(body, pointer, hosts),
            ResultUrl::Template(template) => Some(template.with(&self.text)),
            ResultUrl::Receipt => None,
        };
        let url = url.unwrap_or_else(|| format!("{}{receipt}", self.action.receipts));
        Answer::new(Code::Ok, &url)
    }
}
