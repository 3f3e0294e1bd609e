//! Names for metrics and log. The only place where a [`Reason`] becomes text.

use crate::gateway::{Method, Outcome, UpstreamResult};
use crate::json::SyntaxKind;
use crate::reason::Reason;

/// `reason` label and log field.
pub fn reason_label(reason: Reason) -> &'static str {
    match reason {
        Reason::Query => "query",
        Reason::MediaType => "media_type",
        Reason::ContentCoding => "content_coding",
        Reason::TooLarge => "too_large",
        Reason::Syntax(SyntaxKind::Empty) => "empty",
        Reason::Syntax(SyntaxKind::Encoding) => "encoding",
        Reason::Syntax(SyntaxKind::Grammar) => "grammar",
        Reason::Syntax(SyntaxKind::Surrogate) => "surrogate",
        Reason::Syntax(SyntaxKind::Trailing) => "trailing",
        Reason::Syntax(SyntaxKind::Duplicate) => "duplicate",
        Reason::Syntax(SyntaxKind::Depth) => "depth",
        Reason::Syntax(SyntaxKind::NumberInexact) => "number_inexact",
        Reason::NumberUnsafe => "number_unsafe",
        Reason::Form => "form",
        Reason::Upstream => "upstream",
        Reason::Throttled => "throttled",
        Reason::Stale => "stale",
        Reason::Budget => "budget",
        Reason::Draining => "draining",
        Reason::Deadline => "deadline",
        Reason::BodyBroken => "body_broken",
        Reason::Framing => "framing",
        Reason::HeadTooLarge => "head_too_large",
        Reason::Expectation => "expectation",
        Reason::NotFound => "not_found",
        Reason::Method => "method",
    }
}

/// Every reason that can befall a request to a route.
pub(super) const ROUTE_REASONS: [Reason; 23] = [
    Reason::Framing,
    Reason::Query,
    Reason::MediaType,
    Reason::ContentCoding,
    Reason::TooLarge,
    Reason::Syntax(SyntaxKind::Empty),
    Reason::Syntax(SyntaxKind::Encoding),
    Reason::Syntax(SyntaxKind::Grammar),
    Reason::Syntax(SyntaxKind::Surrogate),
    Reason::Syntax(SyntaxKind::Trailing),
    Reason::Syntax(SyntaxKind::Duplicate),
    Reason::Syntax(SyntaxKind::Depth),
    Reason::Syntax(SyntaxKind::NumberInexact),
    Reason::NumberUnsafe,
    Reason::Form,
    Reason::Upstream,
    Reason::Throttled,
    Reason::Stale,
    Reason::Budget,
    Reason::Draining,
    Reason::Deadline,
    Reason::BodyBroken,
    Reason::Method,
];

/// Every reason of a request that reaches no route.
pub(super) const STRAY_REASONS: [Reason; 5] =
    [Reason::NotFound, Reason::Framing, Reason::HeadTooLarge, Reason::Deadline, Reason::Expectation];

/// `method` label and log field.
pub fn method_label(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Options => "OPTIONS",
        Method::Other => "other",
    }
}

/// `outcome` label and log field.
pub fn outcome_label(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Arrived => "arrived",
        Outcome::NotModified => "not_modified",
        Outcome::Options => "options",
        Outcome::Accepted => "accepted",
        Outcome::Refused => "refused",
        Outcome::Throttled => "throttled",
        Outcome::Stale => "stale",
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
pub fn result_label(result: UpstreamResult) -> &'static str {
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
        UpstreamResult::Unknown => "unknown",
    }
}
