//! One act: judged, sent on once, and told.

use super::replay::{self, Keyed};
use super::request::Decision;
use super::{App, exchange};
use crate::gateway::{Admitted, Consequence, Head, Terms, Ticket};
use crate::reason::Reason;
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
    match ticket.submit(body) {
        Err(unfit) => decision.refuse(unfit.reason().into(), unfit.mismatch().cloned()),
        Ok(admitted) => {
            if let Some(terms) = admitted.terms() {
                // In a box: acts without a key do not carry its room around.
                return Box::pin(act_once(app, decision, head, &admitted, &terms)).await;
            }
            let hold = decision.hold.insert(app.budget.hold());
            let performed = exchange::perform(app, &admitted, head, &decision.ids, hold).await;
            decision.conclude(performed.0, Some(performed.1));
        }
    }
}

/// Sends on what was admitted if nobody has yet, under its key.
async fn act_once(
    app: &App,
    decision: &mut Decision,
    head: &Head<'_>,
    admitted: &Admitted<'_>,
    terms: &Terms,
) {
    let hold = decision.hold.insert(app.budget.hold());
    let ids = &decision.ids;
    let perform = async |_| {
        let (consequence, upstream) = exchange::perform(app, admitted, head, ids, hold).await;
        let end = consequence.end();
        ((consequence, upstream), end)
    };
    let keyed = replay::keyed(&app.records, terms, perform).await;
    decision.replay = Some(keyed.state());
    let turn_away = |reason| admitted.turn_away(reason);
    match keyed {
        Keyed::Performed((consequence, upstream)) => decision.conclude(consequence, Some(upstream)),
        Keyed::Done(stored) => decision.conclude(admitted.recall(stored), None),
        Keyed::Unknown => decision.conclude(Consequence::nobody_knows(), None),
        Keyed::Pending => decision.refuse(turn_away(Reason::InProgress), None),
        Keyed::Conflict => decision.refuse(turn_away(Reason::KeyConflict), None),
        Keyed::Full => decision.refuse(turn_away(Reason::RecordsFull), None),
        Keyed::Down => decision.refuse(turn_away(Reason::RecordsDown), None),
    }
}

impl Decision {
    fn conclude(&mut self, consequence: Consequence, upstream: Option<UpstreamRecord>) {
        let Consequence { reply, outcome, result: _, reason } = consequence;
        self.reply = reply;
        self.outcome = outcome;
        self.reason = reason;
        self.upstream = upstream;
    }
}
