//! One act: judged, sent on once, and told.

use super::replay::{self, Keyed};
use super::request::Decision;
use super::{App, exchange};
use crate::gateway::{Consequence, Head, Terms, Ticket};
use crate::reason::Reason;
use crate::store::Down;
use crate::telemetry::UpstreamRecord;
use bytes::Bytes;

/// Judges a body, and sends it on if it fits.
pub(super) async fn act(
    app: &App,
    decision: &mut Decision,
    head: &Head<'_>,
    ticket: Ticket<'_>,
    body: Bytes,
) {
    if let Some(terms) = ticket.terms(&body) {
        // In a box: acts without a key do not carry its room around.
        return Box::pin(act_once(app, decision, head, ticket, body, &terms)).await;
    }
    match ticket.submit(body) {
        Err(unfit) => decision.refuse(unfit.reason().into(), unfit.mismatch().cloned()),
        Ok(admitted) => {
            let hold = decision.hold.insert(app.budget.hold());
            let performed = exchange::perform(app, &admitted, head, &decision.ids, hold).await;
            decision.conclude(performed.0, Some(performed.1));
        }
    }
}

/// The same under a key: only if nobody has yet. The key comes before the form and `If-Match`, so that who repeats gets
/// the same answer also when the form has changed since.
async fn act_once(
    app: &App,
    decision: &mut Decision,
    head: &Head<'_>,
    ticket: Ticket<'_>,
    body: Bytes,
    terms: &Terms,
) {
    let known = match replay::look_up(&app.records, terms).await {
        // It may have been done: nobody is told of the form or of the body that nothing happened.
        Err(Down) => Some(Keyed::Down),
        Ok(Some(found)) if found.fingerprint == terms.fingerprint => Some(Keyed::of(found)),
        Ok(Some(_)) if ticket.is_stale() => Some(Keyed::Conflict),
        Ok(Some(_) | None) => None,
    };
    if let Some(known) = known {
        decision.replay = Some(known.state());
        return decision.end(&ticket, known, |_, ()| {});
    }
    if ticket.is_stale() {
        return decision.refuse(ticket.turn_away(Reason::Stale), None);
    }
    let admitted = match ticket.submit(body) {
        Ok(admitted) => admitted,
        Err(unfit) => return decision.refuse(unfit.reason().into(), unfit.mismatch().cloned()),
    };
    let hold = decision.hold.insert(app.budget.hold());
    let ids = &decision.ids;
    let perform = async |_| {
        let (consequence, upstream) = exchange::perform(app, &admitted, head, ids, hold).await;
        let end = consequence.end();
        ((consequence, upstream), end)
    };
    let keyed = replay::keyed(&app.records, terms, perform).await;
    decision.replay = Some(keyed.state());
    decision.end(admitted.ticket(), keyed, |decision, (consequence, upstream)| {
        decision.conclude(consequence, Some(upstream));
    });
}

impl Decision {
    /// How an act with a key ends.
    fn end<T>(&mut self, ticket: &Ticket<'_>, keyed: Keyed<T>, performed: impl FnOnce(&mut Self, T)) {
        match keyed {
            Keyed::Performed(outcome) => performed(self, outcome),
            Keyed::Done(stored) => self.conclude(ticket.recall(stored), None),
            Keyed::Unknown => self.conclude(Consequence::nobody_knows(), None),
            Keyed::Pending => self.refuse(ticket.turn_away(Reason::InProgress), None),
            Keyed::Conflict => self.refuse(ticket.turn_away(Reason::KeyConflict), None),
            Keyed::Crowded => self.refuse(ticket.turn_away(Reason::RecordsShare), None),
            Keyed::Full => self.refuse(ticket.turn_away(Reason::RecordsFull), None),
            Keyed::Down => self.refuse(ticket.turn_away(Reason::RecordsDown), None),
        }
    }

    fn conclude(&mut self, consequence: Consequence, upstream: Option<UpstreamRecord>) {
        let Consequence { reply, outcome, result: _, reason } = consequence;
        self.reply = reply;
        self.outcome = outcome;
        self.reason = reason;
        self.upstream = upstream;
    }
}
