//! A GET-Action: looked up, validated, recorded, sent once, remembered (REQUIREMENTS U-17). Its decisions are
//! `gateway::attempt`'s.

use super::replay::{self, Keyed};
use super::request::{BodySource, Decision, UNWANTED_DEADLINE};
use super::{App, exchange};
use crate::gateway::{
    Admitted, Attempt, Door, Gateway, Head, Intent, Outcome, Own, Proposal, ReceiptId, ReplayState, Spot,
    Told, Trace, receipt,
};
use crate::reason::Reason;
use crate::store::Down;
use crate::telemetry::AttemptRecord;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Answers an attempt, whatever comes of it, with its two keys.
pub(super) async fn answer(
    app: &App,
    decision: &mut Decision,
    head: &Head<'_>,
    attempt: Attempt<'_>,
    body: &mut impl BodySource,
) {
    decision.door = Door::GetAction;
    match attempt {
        Attempt::Told { index, told, trace } => {
            decision.spot = Some(Spot::Route(index));
            decision.told(told, None, trace);
            decision.read_over(body, UNWANTED_DEADLINE).await;
        }
        Attempt::Open(proposal) => {
            decision.spot = Some(Spot::Route(proposal.ticket.index()));
            decision.bytes_in = proposal.body.len();
            open(app, decision, head, proposal).await;
        }
    }
}

/// The key comes before the form: who repeats gets the same answer, also when the form has changed since.
async fn open(app: &App, decision: &mut Decision, head: &Head<'_>, proposal: Proposal<'_>) {
    let Proposal { ticket, body, intent } = proposal;
    if let Err(rejection) = app.pay(ticket.due()).await {
        return decision.told(intent.turned_away(rejection), None, intent.into_trace());
    }
    let mut terms = intent.terms(&ticket);
    if app.is_draining() {
        terms.wait = Duration::ZERO;
    }
    let Ok(found) = replay::look_up(&app.records, &terms).await else {
        // It may have been done: nobody is told to go on, and nobody that nothing happened.
        let told = intent.review(Outcome::Unavailable, Some(Reason::RecordsDown));
        return decision.told(told, Some(ReplayState::Down), intent.into_trace());
    };
    let known = found.as_ref().and_then(|found| intent.known(found));
    let (told, state) = match known {
        Some((told, state)) => {
            if let Some(reason) = told.reason {
                ticket.turn_away(reason);
            }
            (told, Some(state))
        }
        // Waited for, and still under way: whatever the form says by now.
        None if found.is_some() => (intent.pending(), Some(ReplayState::Pending)),
        None if app.is_draining() => (intent.rejected(Reason::Draining), None),
        None => match ticket.submit(body) {
            Err(unfit) => {
                decision.mismatch = unfit.mismatch().cloned();
                (intent.rejected(unfit.reason()), None)
            }
            Ok(admitted) => {
                let (told, state) = perform(app, decision, head, &admitted, &intent).await;
                (told, Some(state))
            }
        },
    };
    decision.told(told, state, intent.into_trace());
}

/// Does what is to be done, once for the key.
async fn perform(
    app: &App,
    decision: &mut Decision,
    head: &Head<'_>,
    admitted: &Admitted<'_>,
    intent: &Intent<'_>,
) -> (Told, ReplayState) {
    let Decision { hold, ids, .. } = decision;
    let act = async |receipt| {
        if !intent.executes() {
            let (told, end) = intent.recorded();
            return ((told, None), end);
        }
        let hold = hold.insert(app.budget.hold());
        let (consequence, upstream) = exchange::perform(app, admitted, head, ids, hold).await;
        let (told, end) = intent.conclude(&consequence, upstream.status, receipt);
        ((told, Some(upstream)), end)
    };
    let keyed = replay::keyed(&app.records, &intent.terms(admitted.ticket()), act).await;
    let state = keyed.state();
    let turned_away = |reason| {
        admitted.ticket().turn_away(reason);
        intent.rejected(reason)
    };
    let told = match keyed {
        Keyed::Performed((told, upstream)) => {
            decision.upstream = upstream;
            told
        }
        Keyed::Done(kept) => intent.replayed(&kept),
        Keyed::Pending => intent.pending(),
        Keyed::Unknown => intent.unknown(),
        Keyed::Conflict => turned_away(Reason::KeyConflict),
        Keyed::Full => turned_away(Reason::RecordsFull),
        Keyed::Crowded => turned_away(Reason::RecordsShare),
        Keyed::Down => turned_away(Reason::RecordsDown),
    };
    (told, state)
}

/// What is told of an attempt that deciding about has come to no end; other requests keep their plain 500.
pub(super) fn unforeseen(gateway: &Gateway, head: &Head<'_>, mut decision: Decision) -> Decision {
    // Were this what is broken, it is a plain 500, too.
    if let Ok(Some(told)) = catch_unwind(AssertUnwindSafe(|| gateway.unforeseen(head))) {
        decision.door = Door::GetAction;
        decision.told(told, None, Trace::default());
    }
    decision
}

/// Answers with what is remembered under the name of a receipt.
pub(super) async fn show_receipt(app: &App, decision: &mut Decision, head: &Head<'_>, id: ReceiptId) {
    decision.spot = Some(Spot::Own(Own::Receipt));
    match app.records.receipt(id).await {
        Err(Down) => decision.refuse(Reason::RecordsDown.into(), None),
        Ok(found) => match found.and_then(|found| receipt(&found, head)) {
            None => decision.refuse(Reason::NotFound.into(), None),
            Some(reply) => {
                decision.reply = reply;
                decision.outcome = Outcome::Arrived;
            }
        },
    }
}

impl Decision {
    fn told(&mut self, told: Told, replay: Option<ReplayState>, trace: Trace) {
        let Told { reply, outcome, reason, code } = told;
        self.reply = reply;
        self.outcome = outcome;
        self.reason = reason;
        self.replay = replay;
        self.attempt = Some(AttemptRecord { code, trace });
    }
}
