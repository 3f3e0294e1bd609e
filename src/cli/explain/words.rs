//! What a reason means and who mends it: for the reasons that no body shows, too.

use crate::reason::Reason;

/// In one sentence, without a full stop.
pub(super) fn of_reason(reason: Reason) -> String {
    let said = match reason {
        Reason::Query => "a POST with a query: acts have none. The client mends it",
        Reason::MediaType => {
            "no `Content-Type: application/json`, or two, or another charset than UTF-8. The client mends it; \
             `content_type: any` reads what is declared otherwise"
        }
        Reason::ContentCoding => "a compressed body: it must come as it is. The client mends it",
        Reason::TooLarge => {
            "more bytes than `max_body`. The form may admit more than fits: `check` warns of that"
        }
        Reason::Syntax(kind) => return format!("{kind}. The client that writes the JSON mends it"),
        Reason::NumberUnsafe => {
            "a number that the backend would not read as written (`numbers: safe_integers`). The actor mends it"
        }
        Reason::Form => {
            "JSON that the form does not admit; `explain ADDRESS BODY` says where. The actor mends it, or the form asks \
             for the wrong thing"
        }
        Reason::Parameters => {
            "a GET-Action whose query is no clear act. The agent mends it, or whoever wrote its link"
        }
        Reason::Secret => {
            "a GET-Action with what looks like a secret in its query. Whoever wrote the link mends it"
        }
        Reason::Bystander => {
            "a crawler, a prefetcher or a link preview opened a GET-Action. Nothing is wrong"
        }
        Reason::Upstream => {
            "the backend said 400, 404, 409, 410, 412 or 422. Mostly the actor mends it; if it is often, the form is \
             wider than the backend"
        }
        Reason::Throttled => "more than the rate under `limits`. The client waits as `Retry-After` says",
        Reason::Stale => {
            "`If-Match` names a form that is no longer current. The client fetches the form again"
        }
        Reason::Unauthorized => "no token that opens the route. Whoever holds the tokens mends it",
        Reason::IdempotencyKey => {
            "no `Idempotency-Key` where one is required, or not one key. The client mends it"
        }
        Reason::KeyConflict => {
            "an `Idempotency-Key` that was used for another body. The client takes a new key"
        }
        Reason::InProgress => "the first act with this key is still under way. The client comes again",
        Reason::RecordsFull => {
            "no room for the record of a new key: raise `store: { max_records, max_bytes }`"
        }
        Reason::RecordsShare => {
            "one client has as many records as it may. The client waits until its keys are forgotten"
        }
        Reason::UpstreamFull => {
            "every server of the upstream has its `max_in_flight`: raise it, or lower rates"
        }
        Reason::LimitsDown => {
            "the rates that several instances share cannot be asked: `limits_down` in `/readyz` has the cause. Bring Redis back"
        }
        Reason::RecordsDown => {
            "the records cannot be reached: `records_down` in `/readyz` has the cause. Make room on the disk of `store`, or bring Redis back"
        }
        Reason::Budget => "no memory left for bodies in flight: raise `inflight_bodies`, or lower rates",
        Reason::Draining => "the gateway is stopping. The client comes again",
        Reason::Deadline => "the head or body took longer than `head_deadline` or `body_deadline`",
        Reason::BodyBroken => "the client went away, or broke the framing, within the body",
        Reason::Framing => {
            "a head that two readers could read differently. The client mends it, or a proxy on the way"
        }
        Reason::HeadTooLarge => "a head of more than `max_head`, or of more than 96 fields",
        Reason::Expectation => "`Expect` with something else than `100-continue`. The client mends it",
        Reason::NotFound => "no route has this address: paths match exactly",
        Reason::Method => "a method that the address does not have; `Allow` names those that it has",
    };
    said.to_owned()
}
