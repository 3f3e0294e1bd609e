//! Which pairs of method and outcome there can be: a series stands at zero for each of them once its route has series.

use crate::gateway::{Method, Outcome};

/// Which pairs can happen at an address.
pub(super) fn can_happen(method: Method, outcome: Outcome) -> bool {
    match outcome {
        Outcome::Arrived | Outcome::NotModified => matches!(method, Method::Get | Method::Head),
        Outcome::Options => method == Method::Options,
        Outcome::Review => false,
        Outcome::Accepted
        | Outcome::Refused
        | Outcome::Pending
        | Outcome::Stale
        | Outcome::Unauthorized
        | Outcome::Unavailable
        | Outcome::Failed
        | Outcome::Unknown
        | Outcome::Malformed => method == Method::Post,
        Outcome::Throttled => matches!(method, Method::Get | Method::Head | Method::Post),
        Outcome::Stray => method == Method::Other,
        Outcome::Abandoned | Outcome::Internal => method != Method::Other,
    }
}

/// The same where a GET may be an act.
pub(super) fn can_be_opened(method: Method, outcome: Outcome) -> bool {
    match outcome {
        Outcome::Review | Outcome::Refused => matches!(method, Method::Get | Method::Head),
        Outcome::Accepted
        | Outcome::Pending
        | Outcome::Throttled
        | Outcome::Unavailable
        | Outcome::Failed
        | Outcome::Unknown => method == Method::Get,
        Outcome::Arrived
        | Outcome::NotModified
        | Outcome::Options
        | Outcome::Stale
        | Outcome::Unauthorized
        | Outcome::Stray
        | Outcome::Malformed
        | Outcome::Abandoned
        | Outcome::Internal => false,
    }
}

/// The same at one of the gateway's own addresses. What a desk passes on counts at the route.
pub(super) fn can_happen_at_own(method: Method, outcome: Outcome) -> bool {
    match outcome {
        Outcome::NotModified => matches!(method, Method::Get | Method::Head),
        Outcome::Options => method == Method::Options,
        Outcome::Refused | Outcome::Unavailable | Outcome::Malformed => method == Method::Post,
        Outcome::Arrived | Outcome::Throttled => matches!(method, Method::Get | Method::Head | Method::Post),
        Outcome::Stray => method != Method::Options,
        Outcome::Abandoned | Outcome::Internal => method != Method::Other,
        Outcome::Accepted
        | Outcome::Pending
        | Outcome::Stale
        | Outcome::Unauthorized
        | Outcome::Review
        | Outcome::Failed
        | Outcome::Unknown => false,
    }
}
