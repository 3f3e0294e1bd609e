//! One request, from its head to its record. Both protocols come through here: what differs is where
//! a body is read from, and that is a [`BodySource`].

use super::act::act;
use super::budget::Hold;
use super::connection::Collected;
use super::{App, Stray, attempt};
use crate::form::Mismatch;
use crate::gateway::{
    Attempt, Conversation, Door, Gateway, Head, Ids, Length, Method, Outcome, ReceiptId, ReplayState, Reply,
    Spot, Ticket, Triage,
};
use crate::live::Snapshot;
use crate::reason::{Face, Reason, Rejection};
use crate::surface::{self, Turn};
use crate::telemetry::{AttemptRecord, Record, UpstreamRecord, spot_label};
use bytes::Bytes;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Where the body of one request comes from.
pub(super) trait BodySource {
    /// Reads all of it: at most so many bytes, by then.
    async fn collect(&mut self, bytes: usize, by: Instant) -> Result<Collected, Uncollected>;
    /// Reads over it, at most so many bytes, by then; a longer one is left where it is.
    async fn discard(&mut self, bytes: usize, by: Instant) -> Result<End, Reason>;
}

/// Where the input stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// At the end of the body: another request may follow.
    Reached,
    /// Somewhere inside: nothing may follow.
    Lost,
}

/// A body that could not be collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Uncollected {
    pub(super) reason: Reason,
    pub(super) end: End,
}

impl From<Reason> for Uncollected {
    fn from(reason: Reason) -> Self {
        Self { reason, end: End::Lost }
    }
}

/// What to send, and everything that is recorded once it has been sent.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) reply: Reply,
    /// Lines that only this answer has.
    pub(super) lines: String,
    /// The connection cannot go on after it, whatever the client wants.
    pub(super) close: bool,
    /// The body is to be read over once the answer is out, until then.
    pub(super) unread: Option<Instant>,
    pub(super) spot: Option<Spot>,
    pub(super) door: Door,
    pub(super) outcome: Outcome,
    pub(super) reason: Option<Reason>,
    pub(super) mismatch: Option<Mismatch>,
    /// Of a GET-Action.
    pub(super) attempt: Option<AttemptRecord>,
    pub(super) upstream: Option<UpstreamRecord>,
    pub(super) replay: Option<ReplayState>,
    pub(super) bytes_in: usize,
    pub(super) ids: Ids,
    method: Method,
    client: IpAddr,
    began: Instant,
    /// Memory of an upstream's answer, held until the client has it.
    pub(super) hold: Option<Hold>,
}

/// What is read over of a body that nobody wants, at most, whatever the route: all refusals of bodies up to
/// this length look alike, to the connection too (P6).
pub(super) const UNWANTED: usize = 1 << 20;
/// For how long, where no route says.
pub(super) const UNWANTED_DEADLINE: Duration = Duration::from_secs(10);

/// What is left to do about a request once its head has been judged.
enum Open<'g> {
    /// Read over a body that nobody wants, within this time.
    ReadOver(Duration),
    Receipt(ReceiptId),
    Attempt(Attempt<'g>),
    Collect(Ticket<'g>),
    Converse(Conversation<'g>),
}

/// Decides about one request. Something unforeseen inside is a 500 and the end of the connection: one
/// request must not take the others along, and is never "forwarded anyway".
pub(super) async fn decide(
    app: &App,
    snapshot: &Snapshot,
    head: &Head<'_>,
    body: &mut impl BodySource,
) -> Decision {
    let gateway = &snapshot.gateway;
    let decided = match catch_unwind(AssertUnwindSafe(|| begin(gateway, head))) {
        Ok((decision, None)) => Some(decision),
        // On the heap, and only while it lasts: most requests are arrivals, and are done with.
        Ok((decision, Some(open))) => {
            unwinding(Box::pin(proceed(app, snapshot, head, body, decision, open))).await
        }
        Err(_) => None,
    };
    let Some(mut decision) = decided else {
        let spot = gateway.spot(head.path);
        let none = Decision { close: true, spot, ..Decision::of(gateway, head) };
        return attempt::unforeseen(gateway, head, none);
    };
    if let (Some(Spot::Route(index)), Method::Post, Door::Address) =
        (decision.spot, decision.method, decision.door)
    {
        decision.lines.push_str(&gateway.cors_lines(index, head));
    }
    decision
}

/// Runs a future to its end, or to its panic.
async fn unwinding<T>(mut future: impl Future<Output = T> + Unpin) -> Option<T> {
    std::future::poll_fn(|context| {
        // What the future borrowed is not looked at again but by its own `Drop`s.
        match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut future).poll(context))) {
            Ok(Poll::Ready(outcome)) => Poll::Ready(Some(outcome)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(None),
        }
    })
    .await
}

/// What the head alone decides, and what it leaves open.
fn begin<'g>(gateway: &'g Gateway, head: &Head<'_>) -> (Decision, Option<Open<'g>>) {
    let mut decision = Decision::of(gateway, head);
    let bare = head.length == Length::Known(0);
    let open = match gateway.triage(head) {
        Triage::Answer { spot, reply, outcome } => {
            decision.spot = Some(spot);
            decision.reply = reply;
            decision.outcome = outcome;
            (!bare).then_some(Open::ReadOver(UNWANTED_DEADLINE))
        }
        Triage::Refuse { spot, rejection } => {
            decision.spot = spot;
            decision.turn_away(rejection);
            let at_once = [Reason::TooLarge, Reason::Unauthorized].contains(&rejection.reason);
            let deadline = spot.and_then(|spot| gateway.body_deadline(spot)).unwrap_or(UNWANTED_DEADLINE);
            if at_once {
                // What announces itself as too long need not be sent to be told so (B-5), nor what is nobody's (B-24).
                decision.unread = Some(decision.began + deadline);
            }
            (!bare && !at_once).then_some(Open::ReadOver(deadline))
        }
        Triage::Receipt(id) => Some(Open::Receipt(id)),
        Triage::Attempt(attempt) => Some(Open::Attempt(attempt)),
        Triage::Collect(ticket) => Some(Open::Collect(ticket)),
        Triage::Converse(conversation) => Some(Open::Converse(conversation)),
    };
    (decision, open)
}

/// What the head has left open.
async fn proceed(
    app: &App,
    snapshot: &Snapshot,
    head: &Head<'_>,
    body: &mut impl BodySource,
    mut decision: Decision,
    open: Open<'_>,
) -> Decision {
    match open {
        Open::ReadOver(deadline) => decision.read_over(body, deadline).await,
        Open::Receipt(id) => {
            Box::pin(attempt::show_receipt(app, &mut decision, head, id)).await;
            decision.read_over(body, UNWANTED_DEADLINE).await;
        }
        // Those that are rare have a room of their own: acts do not carry it around.
        Open::Attempt(attempt) => {
            Box::pin(attempt::answer(app, &mut decision, head, attempt, body)).await;
        }
        Open::Collect(ticket) => {
            decision.spot = Some(Spot::Route(ticket.index()));
            if let Err(rejection) = app.pay(ticket.due()).await {
                decision.refuse(rejection, None);
                return decision.over(body, ticket.deadline()).await;
            }
            match decision.collect(app, body, ticket.limit(), ticket.deadline()).await {
                Err(reason) => decision.refuse(ticket.turn_away(reason), None),
                Ok(Collected { bytes, hold: _held }) => {
                    act(app, &mut decision, head, ticket, bytes).await;
                }
            }
        }
        Open::Converse(conversation) => {
            decision.spot = Some(Spot::Own(conversation.desk.own));
            let desk = conversation.desk;
            if let Err(rejection) = app.pay(conversation.due()).await {
                decision.turn_away(rejection);
                return decision.over(body, desk.body_deadline).await;
            }
            match decision.collect(app, body, desk.max_body, desk.body_deadline).await {
                Err(reason) => {
                    let rejection = Rejection::from(reason);
                    conversation.note(&rejection);
                    decision.turn_away(rejection);
                }
                Ok(Collected { bytes, hold: _held }) => {
                    Box::pin(converse(app, &mut decision, snapshot, head, &conversation, &bytes)).await;
                }
            }
        }
    }
    decision
}

/// A POST to a desk: its body says what it means.
async fn converse(
    app: &App,
    decision: &mut Decision,
    snapshot: &Snapshot,
    head: &Head<'_>,
    conversation: &Conversation<'_>,
    said: &Bytes,
) {
    match surface::converse(&snapshot.gateway, &snapshot.desks, conversation, head, said) {
        Turn::Answer(reply, outcome) => {
            // Made for this one: whoever does not read it holds it.
            if decision.hold.insert(app.budget.hold()).grow_to(reply.body.len()).is_err() {
                return decision.turn_away(Reason::Budget.into());
            }
            decision.reply = reply;
            decision.outcome = outcome;
        }
        Turn::Refuse(rejection) => {
            conversation.note(&rejection);
            decision.turn_away(rejection);
        }
        Turn::Act { ticket, body, telling } => {
            decision.spot = Some(Spot::Route(ticket.index()));
            decision.door = telling.door();
            match app.pay(ticket.due()).await {
                Ok(()) => act(app, decision, head, ticket, body).await,
                Err(rejection) => decision.refuse(rejection, None),
            }
            decision.tell(app, &telling);
        }
        Turn::TurnedAway { index, rejection, telling } => {
            decision.spot = Some(Spot::Route(index));
            decision.door = telling.door();
            decision.refuse(rejection, None);
            decision.tell(app, &telling);
        }
    }
}

impl Decision {
    fn of(gateway: &Gateway, head: &Head<'_>) -> Self {
        let origin = gateway.origin(head);
        Self::new(head.verb(), origin.client, gateway.ids(head, &origin, || fastrand::u64(..)))
    }

    fn new(method: Method, client: IpAddr, ids: Ids) -> Self {
        Self {
            // What it stays if deciding comes to no end.
            reply: Reply::of(Face::Internal),
            lines: String::new(),
            close: false,
            unread: None,
            spot: None,
            door: Door::Address,
            outcome: Outcome::Internal,
            reason: None,
            mismatch: None,
            attempt: None,
            upstream: None,
            replay: None,
            bytes_in: 0,
            ids,
            method,
            client,
            began: Instant::now(),
            hold: None,
        }
    }

    /// A head that could not be read, or read in only one way.
    pub(super) fn stray(stray: Stray, peer: IpAddr) -> Self {
        let mut decision = Self::new(Method::Other, peer, Ids::fresh(|| fastrand::u64(..)));
        decision.refuse(stray.reason().into(), None);
        decision.close = true;
        decision
    }

    /// Reads a body that may be acted on, or says why it could not be had.
    async fn collect(
        &mut self,
        app: &App,
        body: &mut impl BodySource,
        bytes: usize,
        deadline: Duration,
    ) -> Result<Collected, Reason> {
        if app.is_draining() {
            self.close = true;
            return Err(Reason::Draining);
        }
        match body.collect(bytes, self.began + deadline).await {
            Ok(collected) => {
                self.bytes_in = collected.bytes.len();
                Ok(collected)
            }
            Err(Uncollected { reason, end }) => {
                self.close = end == End::Lost;
                Err(reason)
            }
        }
    }

    /// A refusal before any route was found: the gateway's own addresses have words of their own for some.
    fn turn_away(&mut self, rejection: Rejection) {
        self.refuse(rejection, None);
        if let Some(Spot::Own(own)) = self.spot {
            let reply = std::mem::replace(&mut self.reply, Reply::of(Face::Internal));
            self.reply = surface::turn_away(own, reply, rejection.reason);
        }
    }

    /// Turns the answer of the address into that of the door the act came in by.
    fn tell(&mut self, app: &App, telling: &surface::Telling) {
        let mut reply = std::mem::replace(&mut self.reply, Reply::of(Face::Internal));
        let hold = self.hold.get_or_insert_with(|| app.budget.hold());
        if hold.grow_by(telling.room(&reply)).is_err() {
            // The act was done, and there is no memory to say more about it: as an answer over the cap.
            reply.body = Bytes::from_static(b"{}");
        }
        self.reply = telling.tell(reply, self.outcome);
    }

    /// The same, where that is all that is left to do.
    async fn over(mut self, body: &mut impl BodySource, deadline: Duration) -> Self {
        self.read_over(body, deadline).await;
        self
    }

    /// A body that is not wanted is read like one that is: broken or late, it ends the same way.
    pub(super) async fn read_over(&mut self, body: &mut impl BodySource, deadline: Duration) {
        match body.discard(UNWANTED, self.began + deadline).await {
            Ok(end) => self.close = end == End::Lost,
            Err(reason) => {
                self.refuse(reason.into(), None);
                self.close = true;
            }
        }
    }

    pub(super) fn refuse(&mut self, rejection: Rejection, mismatch: Option<Mismatch>) {
        let face = rejection.face();
        self.reply = Reply::of(face);
        self.outcome = Outcome::of(face);
        self.reason = Some(rejection.reason);
        self.mismatch = mismatch;
    }

    /// Whether the answer names the request: acts do. An arrival is the same bytes for everyone (P8).
    pub(super) fn names_request(&self) -> bool {
        match (self.door, self.method) {
            (Door::GetAction | Door::Tools | Door::Mcp, _) | (Door::Address, Method::Post) => true,
            (Door::Address, Method::Get | Method::Head | Method::Options | Method::Other) => false,
        }
    }

    pub(super) fn request_id(&self) -> &[u8] {
        self.ids.request.as_bytes()
    }

    /// One line, one count; after the answer was sent, or could not be. And when that was.
    pub(super) fn record(&self, app: &App, snapshot: &Snapshot, head: &Head<'_>, sent: bool) -> Instant {
        let ended = Instant::now();
        // Nothing was sent on, and nobody was there to be told.
        let abandoned = !sent && self.upstream.is_none() && self.spot.is_some();
        let meters = self.spot.and_then(|spot| snapshot.meters.at(&snapshot.gateway, spot));
        app.telemetry.record(
            meters,
            &Record {
                route: spot_label(&snapshot.gateway, self.spot),
                door: self.door,
                method: self.method,
                outcome: if abandoned { Outcome::Abandoned } else { self.outcome },
                reason: self.reason,
                mismatch: self.mismatch.as_ref(),
                attempt: self.attempt.as_ref(),
                status: if sent { self.reply.status } else { 0 },
                bytes_in: self.bytes_in,
                bytes_out: if sent { self.reply.body.len() } else { 0 },
                took: ended - self.began,
                upstream: self.upstream,
                replay: self.replay,
                client: self.client,
                token: self.spot.and_then(|spot| snapshot.gateway.token_name(spot, head)),
                actor: head.all("gpt-actor").next(),
                ids: &self.ids,
            },
        );
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::unwinding;

    #[tokio::test]
    async fn a_panic_ends_one_future_and_nothing_else() {
        let panics = async {
            tokio::task::yield_now().await;
            panic!("on purpose");
        };
        assert_eq!(unwinding::<()>(Box::pin(panics)).await, None);
        assert_eq!(unwinding(Box::pin(async { 7 })).await, Some(7));
    }
}
