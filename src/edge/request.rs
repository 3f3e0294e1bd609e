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
    async fn collect(&mut self, bytes: usize, by: Instant) -> Result<Collected, Reason>;
    /// Reads over it, so that the connection can go on. Whether it can.
    async fn discard(&mut self, bytes: usize, by: Instant) -> bool;
}

/// What to send, and everything that is recorded once it has been sent.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) reply: Reply,
    /// Lines that only this answer has.
    pub(super) lines: String,
    /// The connection cannot go on after it, whatever the client wants.
    pub(super) close: bool,
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

/// What is read over of a body that nobody wants, at most.
const UNWANTED: usize = 64 << 10;
/// And for how long.
const UNWANTED_DEADLINE: Duration = Duration::from_secs(5);

/// Decides about one request. Something unforeseen inside is a 500 and the end of the connection: one
/// request must not take the others along, and is never "forwarded anyway".
pub(super) async fn decide(
    app: &App,
    snapshot: &Snapshot,
    head: &Head<'_>,
    body: &mut impl BodySource,
) -> Decision {
    match unwinding(foresee(app, snapshot, head, body)).await {
        Some(decision) => decision,
        None => Decision { close: true, ..Decision::new(head, head.peer) },
    }
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

async fn foresee(app: &App, snapshot: &Snapshot, head: &Head<'_>, body: &mut impl BodySource) -> Decision {
    let gateway = &snapshot.gateway;
    let mut decision = Decision::new(head, gateway.origin(head).client);
    match gateway.triage(head) {
        Triage::Answer { index, reply, outcome } => {
            decision.index = Some(index);
            decision.reply = reply;
            decision.outcome = outcome;
            decision.close = !body.discard(UNWANTED, decision.began + UNWANTED_DEADLINE).await;
        }
        Triage::Refuse { index, rejection } => {
            decision.index = index;
            decision.refuse(rejection, None);
            let most = index.map_or(UNWANTED, |index| gateway.max_body(index).min(UNWANTED * 16));
            let by = decision.began + UNWANTED_DEADLINE;
            decision.close = !body.discard(most, by).await;
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
        Err(reason) => {
            // Where in the body the input stands now only `collect` knew: nothing may follow.
            decision.refuse(ticket.void(reason), None);
            decision.close = true;
            return;
        }
    };
    let Collected { bytes, hold: _held } = collected;
    decision.bytes_in = bytes.len();
    match ticket.submit(bytes) {
        Err(unfit) => decision.refuse(unfit.reason().into(), unfit.mismatch().cloned()),
        Ok(admitted) => {
            let hold = decision.hold.insert(app.budget.hold());
            let performed = exchange::perform(&app.connector, &admitted, head, &decision.ids, hold);
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
        let meters = self.index.map(|index| snapshot.meters.route(index));
        app.telemetry.record(
            meters,
            &Record {
                time: self.time,
                route,
                method: self.method,
                outcome: self.outcome,
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
