//! One request, from its head to its record. Both protocols come through here: what differs is where
//! a body is read from, and that is a [`BodySource`].

use super::budget::Hold;
use super::connection::Collected;
use super::{App, Stray, exchange};
use crate::form::Mismatch;
use crate::gateway::{Head, Ids, Method, Outcome, Reply, Ticket, Triage};
use crate::live::Snapshot;
use crate::reason::{Face, Reason, Rejection};
use crate::telemetry::{Record, STRAY, UpstreamRecord};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};

/// Where the body of one request comes from.
pub(super) trait BodySource {
    /// Reads all of it: at most so many bytes, by then.
    async fn collect(&mut self, bytes: usize, by: Instant) -> Result<Collected, Uncollected>;
    /// Reads over it, at most so many bytes, by then; a longer one is left where it is.
    async fn discard(&mut self, bytes: usize, by: Instant) -> Result<End, Reason>;
    /// Whether it can still be read over once the answer is out.
    const OUTLIVES_ANSWER: bool;
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
    index: Option<usize>,
    outcome: Outcome,
    reason: Option<Reason>,
    mismatch: Option<Mismatch>,
    upstream: Option<UpstreamRecord>,
    bytes_in: usize,
    ids: Ids,
    method: Method,
    client: IpAddr,
    time: SystemTime,
    began: Instant,
    /// Memory of an upstream's answer, held until the client has it.
    hold: Option<Hold>,
}

/// What is read over of a body that nobody wants, at most, whatever the route: all refusals of bodies up to
/// this length look alike, to the connection too (P6).
pub(super) const UNWANTED: usize = 1 << 20;
/// For how long, where no route says.
const UNWANTED_DEADLINE: Duration = Duration::from_secs(10);

/// Decides about one request. Something unforeseen inside is a 500 and the end of the connection: one
/// request must not take the others along, and is never "forwarded anyway".
pub(super) async fn decide(
    app: &App,
    snapshot: &Snapshot,
    head: &Head<'_>,
    body: &mut impl BodySource,
) -> Decision {
    if let Some(decision) = unwinding(proceed(app, snapshot, head, body)).await {
        return decision;
    }
    let gateway = &snapshot.gateway;
    let index = gateway.index(head.path);
    Decision { close: true, index, ..Decision::new(head, gateway.origin(head).client) }
}

/// Runs a future to its end, or to its panic.
async fn unwinding<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|context| {
        // What the future borrowed is not looked at again but by its own `Drop`s.
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Ready(outcome)) => Poll::Ready(Some(outcome)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(None),
        }
    })
    .await
}

/// Triage, and what it asks for.
async fn proceed<B: BodySource>(app: &App, snapshot: &Snapshot, head: &Head<'_>, body: &mut B) -> Decision {
    let gateway = &snapshot.gateway;
    let mut decision = Decision::new(head, gateway.origin(head).client);
    match gateway.triage(head) {
        Triage::Answer { index, reply, outcome } => {
            decision.index = Some(index);
            decision.reply = reply;
            decision.outcome = outcome;
            decision.read_over(body, UNWANTED_DEADLINE).await;
        }
        Triage::Refuse { index, rejection } => {
            decision.index = index;
            decision.refuse(rejection, None);
            let too_large = rejection.reason == Reason::TooLarge;
            let deadline = index.map_or(UNWANTED_DEADLINE, |index| gateway.body_deadline(index));
            if too_large && B::OUTLIVES_ANSWER {
                // What announces itself as too long need not be sent to be told so (B-5).
                decision.unread = Some(decision.began + deadline);
            } else {
                decision.read_over(body, deadline).await;
            }
        }
        Triage::Collect(ticket) => {
            decision.index = Some(ticket.index());
            act(app, &mut decision, head, ticket, body).await;
        }
    }
    if let (Some(index), Method::Post) = (decision.index, decision.method) {
        decision.lines.push_str(&gateway.cors_lines(index, head));
    }
    decision
}

async fn act(
    app: &App,
    decision: &mut Decision,
    head: &Head<'_>,
    ticket: Ticket<'_>,
    body: &mut impl BodySource,
) {
    if app.is_draining() {
        decision.refuse(Reason::Draining.into(), None);
        decision.close = true;
        return;
    }
    let by = decision.began + ticket.deadline();
    let collected = match body.collect(ticket.limit(), by).await {
        Ok(collected) => collected,
        Err(Uncollected { reason, end }) => {
            decision.refuse(ticket.void(reason), None);
            decision.close = end == End::Lost;
            return;
        }
    };
    let Collected { bytes, hold: _held } = collected;
    decision.bytes_in = bytes.len();
    match ticket.submit(bytes) {
        Err(unfit) => decision.refuse(unfit.reason().into(), unfit.mismatch().cloned()),
        Ok(admitted) => {
            let hold = decision.hold.insert(app.budget.hold());
            let performed = exchange::perform(app, &admitted, head, &decision.ids, hold);
            let (consequence, upstream) = performed.await;
            decision.reply = consequence.reply;
            decision.outcome = consequence.outcome;
            decision.reason = consequence.reason;
            decision.upstream = Some(upstream);
        }
    }
}

impl Decision {
    fn new(head: &Head<'_>, client: IpAddr) -> Self {
        Self {
            // What it stays if deciding comes to no end.
            reply: Reply::of(Face::Internal),
            lines: String::new(),
            close: false,
            unread: None,
            index: None,
            outcome: Outcome::Internal,
            reason: None,
            mismatch: None,
            upstream: None,
            bytes_in: 0,
            ids: Ids::of(head, || fastrand::u64(..)),
            method: head.verb(),
            client,
            time: SystemTime::now(),
            began: Instant::now(),
            hold: None,
        }
    }

    /// A head that could not be read, or read in only one way.
    pub(super) fn stray(stray: Stray, peer: IpAddr) -> Self {
        let head = Head::nothing(peer);
        let mut decision = Self::new(&head, peer);
        decision.refuse(stray.reason().into(), None);
        decision.close = true;
        decision
    }

    /// A body that is not wanted is read like one that is: broken or late, it ends the same way.
    async fn read_over(&mut self, body: &mut impl BodySource, deadline: Duration) {
        match body.discard(UNWANTED, self.began + deadline).await {
            Ok(end) => self.close = end == End::Lost,
            Err(reason) => {
                self.refuse(reason.into(), None);
                self.close = true;
            }
        }
    }

    fn refuse(&mut self, rejection: Rejection, mismatch: Option<Mismatch>) {
        let face = rejection.face();
        self.reply = Reply::of(face);
        self.outcome = Outcome::of(face);
        self.reason = Some(rejection.reason);
        self.mismatch = mismatch;
    }

    /// Whether the answer names the request: acts do. An arrival is the same bytes for everyone (P8).
    pub(super) fn names_request(&self) -> bool {
        match self.method {
            Method::Post => true,
            Method::Get | Method::Head | Method::Options | Method::Other => false,
        }
    }

    pub(super) fn request_id(&self) -> &[u8] {
        self.ids.request.as_bytes()
    }

    /// One line, one count; after the answer was sent, or could not be.
    pub(super) fn record(&self, app: &App, snapshot: &Snapshot, head: &Head<'_>, sent: bool) {
        let route = self.index.map_or(STRAY, |index| snapshot.gateway.name(index));
        // Nothing was sent on, and nobody was there to be told.
        let abandoned = !sent && self.upstream.is_none() && self.index.is_some();
        let meters = self.index.map(|index| snapshot.meters.route(index));
        app.telemetry.record(
            meters,
            &Record {
                time: self.time,
                route,
                method: self.method,
                outcome: if abandoned { Outcome::Abandoned } else { self.outcome },
                reason: self.reason,
                mismatch: self.mismatch.as_ref(),
                status: if sent { self.reply.status } else { 0 },
                bytes_in: self.bytes_in,
                bytes_out: if sent { self.reply.body.len() } else { 0 },
                took: self.began.elapsed(),
                upstream: self.upstream,
                client: self.client,
                actor: head.all("gpt-actor").next(),
                ids: &self.ids,
            },
        );
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
        assert_eq!(unwinding::<()>(panics).await, None);
        assert_eq!(unwinding(async { 7 }).await, Some(7));
    }
}
