//! How one generation differs from the next, route by route: what the forms newly admit and refuse, and what else
//! was changed.

use super::{Actions, Gateway, GetAction, Outbound, Route, Upstream};
use crate::form::{Change, Difference, Excess};

/// What became of one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteDifference {
    /// The route's name; the newer one where it was renamed.
    pub name: String,
    /// By which routes are told apart.
    pub address: String,
    /// What became of it.
    pub change: RouteChange,
}

/// What became of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RouteChange {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is in both.
    Kept {
        /// How its form differs.
        form: Difference,
        /// Keys of the route in which it differs besides, as they stand in the file.
        others: Vec<&'static str>,
    },
}

/// How much is done to tell forms apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scrutiny {
    /// What can be proved: as much as a reload of many routes affords.
    Proof,
    /// Examples are looked for besides, for each form some milliseconds.
    Examples,
}

/// Why a change counts as one that lets more in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Widening {
    /// An address that was not there.
    Address,
    /// The form admits something that it refused, such as this text.
    Form(Option<String>),
    /// Whether it does could not be decided.
    Undecided,
}

impl RouteDifference {
    /// Whether more is let in than before, as far as forms and addresses decide about that; what is undecided counts.
    pub fn widening(&self) -> Option<Widening> {
        match &self.change {
            RouteChange::Added => Some(Widening::Address),
            RouteChange::Removed => None,
            RouteChange::Kept { form, others: _ } => match &form.admits {
                Excess::None => None,
                Excess::Some { example } => Some(Widening::Form(example.clone())),
                Excess::Unknown => Some(Widening::Undecided),
            },
        }
    }
}

impl RouteChange {
    /// What became of the form, in a word or two: for log and admin.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Kept { form, others: _ } => match form.change() {
                Change::Same => "same",
                Change::Widened => "widened",
                Change::Narrowed => "narrowed",
                Change::Both => "widened and narrowed",
                Change::Unknown => "changed",
            },
        }
    }
}

/// All addresses that differ: those that are gone, then the others in the order of the newer file.
pub fn differences(older: &Gateway, newer: &Gateway, scrutiny: Scrutiny) -> Vec<RouteDifference> {
    let told = |route: &Route, change| RouteDifference {
        name: route.name.clone(),
        address: route.address.clone(),
        change,
    };
    let removed = older
        .routes()
        .filter(|route| newer.at(&route.address).is_none())
        .map(|route| told(route, RouteChange::Removed));
    let kept = newer.routes().filter_map(|route| {
        let Some(before) = older.at(&route.address) else {
            return Some(told(route, RouteChange::Added));
        };
        let form = match scrutiny {
            Scrutiny::Proof => before.form.proved(&route.form),
            Scrutiny::Examples => before.form.difference(&route.form),
        };
        let others = others(before, route);
        let differs = form != Difference::SAME || !others.is_empty();
        differs.then(|| told(route, RouteChange::Kept { form, others }))
    });
    removed.chain(kept).collect()
}

/// Keys in which two routes differ besides the form.
fn others(older: &Route, newer: &Route) -> Vec<&'static str> {
    // Taken apart by name: a new field does not build until it is compared.
    let Route {
        name,
        address: _,
        form,
        arrival,
        // Drawn from the form and the rest.
        page: _,
        gpt_type,
        max_body,
        body_deadline,
        content_type,
        limits,
        outbound,
        consequence,
        guard,
        idempotency,
        cors,
        listing,
        tool,
        get_action,
        actions,
    } = older;
    let Outbound { upstream, method, target, set_fields, pass_fields, host } = outbound;
    let Actions { stance, summary, context, consequential } = actions;
    let same_form = form.published() == newer.form.published();
    let same_context = *context == newer.actions.context;
    let to = &newer.outbound;
    [
        ("name", *name == newer.name),
        ("type", *gpt_type == newer.gpt_type),
        ("context", same_context),
        // What is published besides: told where nothing else explains another digest.
        ("messages", !same_form || !same_context || arrival.digest() == newer.arrival.digest()),
        ("upstream.to", same_upstream(upstream, &to.upstream)),
        ("upstream.method", *method == to.method),
        ("upstream.path", target.to_string() == to.target.to_string()),
        ("upstream.set_headers", *set_fields == to.set_fields),
        ("upstream.pass_headers", *pass_fields == to.pass_fields),
        ("upstream.host", *host == to.host),
        ("max_body", *max_body == newer.max_body),
        ("body_deadline", *body_deadline == newer.body_deadline),
        ("content_type", *content_type == newer.content_type),
        ("tokens", *guard == newer.guard),
        ("limits", limits.same_rates(&newer.limits)),
        ("consequence", *consequence == newer.consequence),
        ("idempotency", *idempotency == newer.idempotency),
        ("cors", *cors == newer.cors),
        ("listed", *listing == newer.listing || !same_context),
        ("mcp", *tool == newer.tool),
        ("get_action", same_action(get_action.as_ref(), newer.get_action.as_ref())),
        ("actions", *stance == newer.actions.stance),
        ("summary", *summary == newer.actions.summary),
        ("consequential", *consequential == newer.actions.consequential),
    ]
    .into_iter()
    .filter_map(|(name, same)| (!same).then_some(name))
    .collect()
}

/// Whether two upstreams say the same; what is known of their servers is not theirs.
fn same_upstream(older: &Upstream, newer: &Upstream) -> bool {
    let Upstream { name, servers, fleet, health, resolve, timeouts, keepalive } = older;
    *name == newer.name
        && *servers == newer.servers
        && fleet.balance == newer.fleet.balance
        && fleet.eject == newer.fleet.eject
        && *health == newer.health
        && *resolve == newer.resolve
        && *timeouts == newer.timeouts
        && *keepalive == newer.keepalive
}

/// Whether two GET-Actions say the same, but for what the form says of parameters.
fn same_action(older: Option<&GetAction>, newer: Option<&GetAction>) -> bool {
    let (Some(older), Some(newer)) = (older, newer) else { return older.is_none() && newer.is_none() };
    let GetAction { plan: _, execute, result, review, rejected, receipts, keep, wait, guide } = older;
    *execute == newer.execute
        && *result == newer.result
        && *review == newer.review
        && *rejected == newer.rejected
        && *receipts == newer.receipts
        && *keep == newer.keep
        && *wait == newer.wait
        && *guide == newer.guide
}
