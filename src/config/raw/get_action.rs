//! `get_action` of a route.

use crate::config::field::{Either, Field, Subtree};
use crate::config::words::{Filled, Label, Link, Parameter, Pointer, ReceiptWord, Time, WebHost};
use schemars::JsonSchema;
use serde::Deserialize;

/// What a GET with members in its query means, for actors that can only open URLs. Everyone who sees such a URL can
/// open it: only for acts that anyone may do, and that may be done again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["category", "boundaries", "review_url", "rejected_url"]))]
pub(in crate::config) struct GetAction {
    /// Send it to the upstream. Without it (the default) an attempt is validated, recorded and left to a person. Needs `idempotent: true` and `consent: public`.
    pub(in crate::config) execute: Field<bool>,
    /// Doing it twice does no harm: a person may open the same link under two keys.
    pub(in crate::config) idempotent: Field<bool>,
    /// Who has agreed that opening a URL does it.
    pub(in crate::config) consent: Field<Consent>,
    /// What kind of act it is. `publication` cannot execute; `payment`, `account`, `destructive` and `regulated` cannot have a GET-Action at all.
    pub(in crate::config) category: Field<Category>,
    /// The key under which `/llms.txt` lists it. Default made from the name: `openThisUrlToStartMeeting`.
    #[schemars(extend("examples" = ["openThisUrlToStartAMeeting"]))]
    pub(in crate::config) label: Field<Label>,
    /// What it does and does not do, and who may use it, in one or two sentences. Shown before anything that can be copied.
    pub(in crate::config) boundaries: Field<Filled>,
    /// Members of an example. Default the first of `examples.accepted`.
    pub(in crate::config) example: Field<Subtree>,
    /// Where `ok` leads: `receipt` (the default), a URL in the upstream's answer, or a template.
    pub(in crate::config) result_url: Field<Either<ReceiptWord, ResultUrl>>,
    /// Where `human_review_required` leads; `{key}` stands for the client's key.
    #[schemars(extend("examples" = ["https://example.org/review/{key}"]))]
    pub(in crate::config) review_url: Field<Link>,
    /// Where `rejected` leads: a page that says how to do it right, the same for whatever reason.
    pub(in crate::config) rejected_url: Field<Link>,
    /// How long a key is remembered: 24h (the default) to 2160h.
    pub(in crate::config) keep: Field<Time>,
    /// How long an attempt waits for the first one with its key before it is told `human_review_required`. Default 10s, at most 40s.
    pub(in crate::config) wait: Field<Time>,
    /// Parameters that others add to links, taken away before anything is read. Default `utm_*`.
    pub(in crate::config) drop_parameters: Field<Vec<Field<Parameter>>>,
}

/// Where `ok` leads.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct ResultUrl {
    /// JSON Pointer to a URL in the upstream's answer: https, at one of `hosts`. Where there is none, the receipt.
    #[schemars(extend("examples" = ["/joinUrl"]))]
    pub(in crate::config) pointer: Field<Pointer>,
    /// Hosts that URL may have, with a port where it has one.
    #[schemars(length(min = 1))]
    pub(in crate::config) hosts: Field<Vec<Field<WebHost>>>,
    /// A URL; `{key}` stands for the client's key.
    pub(in crate::config) template: Field<Link>,
}

/// Who has agreed that opening a URL does it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(in crate::config) enum Consent {
    /// The act is open to everyone.
    Public,
}

/// What kind of act it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(in crate::config) enum Category {
    /// Meetings, bookings, requests for something that can be taken back.
    Coordination,
    /// Asking to take part.
    Registration,
    /// Asking a person to look at something.
    Review,
    /// Telling something to whoever asked to be told.
    Feedback,
    /// Making something public.
    Publication,
    /// Money.
    Payment,
    /// Accounts, and what they may do.
    Account,
    /// What cannot be taken back.
    Destructive,
    /// Health, law, finance.
    Regulated,
}
