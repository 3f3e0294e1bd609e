//! Names for metrics and log. The only place where a [`Reason`] becomes text.

use super::shared::{StoreAsk, StoreError};
use super::{Handshake, ReloadResult, STRAY};
use crate::gateway::{Door, Gateway, Method, Outcome, Own, ReplayState, Spot, UpstreamResult};
use crate::json::SyntaxKind;
use crate::reason::Reason;

/// Whom a reason can befall: where its series stands at zero before it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Befalls {
    /// Requests to an address.
    Route,
    /// Requests that reach no address.
    Stray,
    Both,
}

/// Declares the one table of reasons. Its lines are the arms of an exhaustive match and the elements of the
/// list that series are made from: a reason without a line does not build, and none can have only half of one.
macro_rules! reasons {
    ($($reason:ident $(($kind:ident))? is $label:literal for $befalls:ident;)*) => {
        /// `reason` label and log field.
        pub fn reason_label(reason: Reason) -> &'static str {
            match reason {
                $(Reason::$reason $((SyntaxKind::$kind))? => $label,)*
            }
        }

        const REASONS: &[(Reason, Befalls)] =
            &[$((Reason::$reason $((SyntaxKind::$kind))?, Befalls::$befalls),)*];
    };
}

reasons! {
    Query is "query" for Route;
    MediaType is "media_type" for Route;
    ContentCoding is "content_coding" for Route;
    TooLarge is "too_large" for Route;
    Syntax(Empty) is "empty" for Route;
    Syntax(Encoding) is "encoding" for Route;
    Syntax(Grammar) is "grammar" for Route;
    Syntax(Surrogate) is "surrogate" for Route;
    Syntax(Trailing) is "trailing" for Route;
    Syntax(Duplicate) is "duplicate" for Route;
    Syntax(Depth) is "depth" for Route;
    Syntax(NumberInexact) is "number_inexact" for Route;
    NumberUnsafe is "number_unsafe" for Route;
    Form is "form" for Route;
    Parameters is "parameters" for Route;
    Secret is "secret" for Route;
    Bystander is "bystander" for Route;
    Upstream is "upstream" for Route;
    Throttled is "throttled" for Route;
    Stale is "stale" for Route;
    Unauthorized is "unauthorized" for Route;
    IdempotencyKey is "idempotency_key" for Route;
    KeyConflict is "key_conflict" for Route;
    InProgress is "in_progress" for Route;
    RecordsFull is "records_full" for Route;
    RecordsShare is "records_share" for Route;
    RecordsDown is "records_down" for Route;
    UpstreamFull is "upstream_full" for Route;
    LimitsDown is "limits_down" for Route;
    Budget is "budget" for Route;
    Draining is "draining" for Route;
    Deadline is "deadline" for Both;
    BodyBroken is "body_broken" for Route;
    Framing is "framing" for Both;
    HeadTooLarge is "head_too_large" for Stray;
    Expectation is "expectation" for Stray;
    NotFound is "not_found" for Stray;
    Method is "method" for Route;
}

/// Every reason there is.
pub fn reasons() -> impl Iterator<Item = Reason> {
    REASONS.iter().map(|(reason, _)| *reason)
}

/// Every reason that can befall a request to a route, or to one of the gateway's own addresses.
pub(super) fn route_reasons() -> impl Iterator<Item = Reason> {
    befalling(Befalls::Stray)
}

/// Every reason of a request that reaches no route.
pub(super) fn stray_reasons() -> impl Iterator<Item = Reason> {
    befalling(Befalls::Route)
}

/// All but those that befall only the others.
fn befalling(others: Befalls) -> impl Iterator<Item = Reason> {
    REASONS.iter().filter(move |(_, befalls)| *befalls != others).map(|(reason, _)| *reason)
}

/// `route` label and log field.
pub fn spot_label(gateway: &Gateway, spot: Option<Spot>) -> &str {
    match spot {
        None => STRAY,
        Some(Spot::Route(index)) => gateway.name(index),
        Some(Spot::Own(own)) => own_label(own),
    }
}

/// `route` label and log field of the gateway's own addresses. No route's name starts with `_`.
pub(super) fn own_label(own: Own) -> &'static str {
    match own {
        Own::OpenApi => "_openapi",
        Own::Llms => "_llms",
        Own::Robots => "_robots",
        Own::Index => "_index",
        Own::WellKnown => "_well_known",
        Own::Mcp => "_mcp",
        Own::CallTool => "_call_tool",
        Own::ToolManifest => "_tool_manifest",
        Own::Receipt => "_receipt",
    }
}

/// `ask` label.
pub(super) fn store_ask_label(ask: StoreAsk) -> &'static str {
    match ask {
        StoreAsk::Find => "find",
        StoreAsk::Begin => "begin",
        StoreAsk::Finish => "finish",
        StoreAsk::Receipt => "receipt",
        StoreAsk::Take => "take",
        StoreAsk::Note => "note",
    }
}

/// `kind` label.
pub(super) fn store_error_label(error: StoreError) -> &'static str {
    match error {
        StoreError::Timeout => "timeout",
        StoreError::Connection => "connection",
        StoreError::Refused => "refused",
        StoreError::Down => "down",
    }
}

/// `door` log field.
pub(super) fn door_label(door: Door) -> &'static str {
    match door {
        Door::Address => "address",
        Door::GetAction => "get_action",
        Door::Tools => "tools",
        Door::Mcp => "mcp",
    }
}

/// `state` label of replays, and log field.
pub(super) fn replay_label(state: ReplayState) -> &'static str {
    match state {
        ReplayState::Fresh => "fresh",
        ReplayState::Done => "done",
        ReplayState::Pending => "pending",
        ReplayState::Unknown => "unknown",
        ReplayState::Conflict => "conflict",
        ReplayState::Full => "full",
        ReplayState::Crowded => "crowded",
        ReplayState::Down => "down",
    }
}

/// `result` label of reloads, and what the admin listener answers.
pub fn reload_label(result: ReloadResult) -> &'static str {
    match result {
        ReloadResult::Published => "published",
        ReloadResult::Unchanged => "unchanged",
        ReloadResult::Refused => "refused",
    }
}

/// `result` label of handshakes.
pub(super) fn handshake_label(handshake: Handshake) -> &'static str {
    match handshake {
        Handshake::Done => "done",
        Handshake::Resumed => "resumed",
        Handshake::Incompatible => "incompatible",
        Handshake::Rejected => "rejected",
        Handshake::Malformed => "malformed",
        Handshake::Clear => "clear",
        Handshake::Deadline => "deadline",
        Handshake::Cut => "cut",
    }
}

/// `method` label and log field.
pub(super) fn method_label(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Options => "OPTIONS",
        Method::Other => "other",
    }
}

/// `outcome` label and log field.
pub(super) fn outcome_label(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Arrived => "arrived",
        Outcome::NotModified => "not_modified",
        Outcome::Options => "options",
        Outcome::Accepted => "accepted",
        Outcome::Review => "review",
        Outcome::Refused => "refused",
        Outcome::Throttled => "throttled",
        Outcome::Pending => "pending",
        Outcome::Stale => "stale",
        Outcome::Unauthorized => "unauthorized",
        Outcome::Stray => "stray",
        Outcome::Malformed => "malformed",
        Outcome::Unavailable => "unavailable",
        Outcome::Failed => "failed",
        Outcome::Unknown => "unknown",
        Outcome::Abandoned => "abandoned",
        Outcome::Internal => "internal",
    }
}

/// `result` label and log field.
pub(super) fn result_label(result: UpstreamResult) -> &'static str {
    match result {
        UpstreamResult::Json => "json",
        UpstreamResult::Empty => "empty",
        UpstreamResult::Text => "text",
        UpstreamResult::NotJson => "not_json",
        UpstreamResult::Encoded => "encoded",
        UpstreamResult::Broken => "broken",
        UpstreamResult::TooLarge => "too_large",
        UpstreamResult::Redirected => "redirected",
        UpstreamResult::Refused => "refused",
        UpstreamResult::Misconfigured => "misconfigured",
        UpstreamResult::Throttled => "throttled",
        UpstreamResult::Failed => "failed",
        UpstreamResult::NotSent => "not_sent",
        UpstreamResult::Full => "full",
        UpstreamResult::Unknown => "unknown",
    }
}

/// What became of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanResult {
    /// The collector has it.
    Sent,
    /// The queue was full: the collector is slower than requests come.
    QueueFull,
    /// The collector would not have it.
    Refused,
    /// The collector could not be reached, again and again.
    Unreachable,
}

/// `result` label of spans.
pub(super) fn span_label(result: SpanResult) -> &'static str {
    match result {
        SpanResult::Sent => "sent",
        SpanResult::QueueFull => "queue_full",
        SpanResult::Refused => "refused",
        SpanResult::Unreachable => "unreachable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_reasons_share_a_label_or_a_line() {
        let labels: HashSet<_> = REASONS.iter().map(|(reason, _)| reason_label(*reason)).collect();
        let reasons: HashSet<_> = REASONS.iter().map(|(reason, _)| *reason).collect();
        assert_eq!((labels.len(), reasons.len()), (REASONS.len(), REASONS.len()));
        assert!(route_reasons().chain(stray_reasons()).all(|reason| reasons.contains(&reason)));
        assert!(!route_reasons().any(|reason| reason == Reason::NotFound));
        assert!(stray_reasons().any(|reason| reason == Reason::Framing));
    }
}
