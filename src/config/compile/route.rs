//! The routes.

use super::ahead::Made;
use super::get_action::Around;
use super::index::listing;
use super::page::page;
use super::token::Holder;
use super::upstream::Backend;
use super::{Compiler, Distinct, Located, given};
use crate::config::field::{Either, Field};
use crate::config::raw;
use crate::config::tree::{Mark, Tree};
use crate::config::words::{Filled, NoneWord, RateWord};
use crate::form::{CompiledForm, FormOptions, Numbers, arrival};
use crate::gateway::{ConsequenceRule, ContentTypeRule, Cors, Limits, Route, Stance};
use crate::json::quoted;
use crate::lint::Lint;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// Bytes that a body may be allowed to have.
const BODY: RangeInclusive<usize> = 1..=16 << 20;

/// Where a route stands, and what it need not do by itself.
struct Start {
    at: Mark,
    made: Option<Made>,
}

/// What routes fall back to.
pub(super) struct Defaults<'f> {
    max_body: usize,
    body_deadline: Duration,
    content_type: raw::ContentType,
    limits: &'f Field<Either<NoneWord, raw::Limits>>,
    limiter_keys: usize,
    /// `public_url`.
    public: Option<&'f str>,
    pages: bool,
    stance: Stance,
}

impl Compiler<'_> {
    pub(super) fn defaults<'f>(&self, file: &'f raw::File) -> Defaults<'f> {
        const NOTHING: raw::Defaults = raw::Defaults {
            max_body: Field::Absent,
            body_deadline: Field::Absent,
            limits: Field::Absent,
            content_type: Field::Absent,
        };
        let given = file.defaults.given().unwrap_or(&NOTHING);
        Defaults {
            max_body: self.size(&given.max_body, BODY, 64 << 10),
            body_deadline: self.time(&given.body_deadline, Duration::from_secs(10)),
            content_type: given.content_type.given().copied().unwrap_or(raw::ContentType::Json),
            limits: &given.limits,
            public: file.public_url.given().map(|url| url.0.as_str()),
            limiter_keys: self.number(&file.limiter_keys, 1..=10_000_000, 65_536) as usize,
            pages: Self::is_on(file, |surfaces| &surfaces.pages, true),
            stance: if Self::is_on(file, |surfaces| &surfaces.openapi, false) {
                Stance::Direct
            } else {
                Stance::None
            },
        }
    }

    pub(super) fn routes(
        &mut self,
        file: &raw::File,
        defaults: &Defaults<'_>,
        backends: &[Backend],
        holders: &[Holder],
    ) -> Vec<Located> {
        let Some(list) = self.required(&file.routes, Tree::ROOT, "routes", "[ … ]") else {
            return Vec::new();
        };
        if list.is_empty()
            && let Some(at) = file.routes.mark()
        {
            self.fault(at, "at least one route is needed");
        }
        let mut ahead = self.ahead(&file.routes, defaults);
        let (mut addresses, mut names) = (Distinct::default(), Distinct::default());
        let mut labels = Distinct::default();
        let mut routes = Vec::new();
        for (at, entry) in given(&file.routes) {
            if let Field::Given(at, address) = &entry.address {
                addresses.claim(self, *at, "the address", &address.0);
            }
            if let Field::Given(at, name) = &entry.name {
                names.claim(self, *at, "the name", &name.0);
            }
            self.claim_label(&mut labels, entry);
            let start = Start { at, made: ahead.remove(&at) };
            let route = self.route(entry, defaults, backends, holders, start);
            routes.extend(route.map(|mut route| {
                route.page = defaults.pages.then(|| page(&route, entry, defaults.public));
                Located { mark: at, route }
            }));
        }
        routes
    }

    fn route(
        &mut self,
        entry: &raw::Route,
        defaults: &Defaults<'_>,
        backends: &[Backend],
        holders: &[Holder],
        start: Start,
    ) -> Option<Route> {
        let at = start.at;
        let address = self.required(&entry.address, at, "address", "/api/v1/…");
        let name = self.required(&entry.name, at, "name", "snake_case");
        self.required(&entry.form, at, "form", "forms/….json");
        self.required(&entry.upstream, at, "upstream", "{ to: …, path: /… }");
        let max_body = self.max_body(entry, defaults);
        let options = self.form_options(entry, max_body);
        let (compiled, drawn) = match start.made {
            Some(Ok((form, arrival))) => (Some(Ok(form)), Some(arrival)),
            Some(Err(faults)) => (Some(Err(faults)), None),
            None => (None, None),
        };
        let form = self.form(&entry.form, &options, compiled);
        let outbound = self.outbound(&entry.upstream, backends, form.as_deref());
        let guard = self.guard(entry, holders);
        let limits = self.limits(at, &entry.limits, defaults);
        let consequence = self.consequence(entry.consequence.given());
        let messages = self.messages(&entry.messages);
        let idempotency = self.idempotency(&entry.idempotency);
        let cors = self.cors(&entry.cors);
        let body_deadline = self.time(&entry.body_deadline, defaults.body_deadline);
        let actions = self.actions(entry, defaults.stance);
        // Everything above has said what it had to say.
        let form = form?;
        self.warn_of_form_keys(entry, &form);
        if let Some(examples) = entry.examples.given() {
            self.examples(examples, &form, max_body);
        }
        let tool = self.tool(entry, &form);
        let get_action = self.get_action(entry, Around { form: &form, max_body, public: defaults.public });
        let context = entry.context.given().map_or("", String::as_str);
        Some(Route {
            name: name?.0.clone(),
            address: address?.0.clone(),
            arrival: drawn.unwrap_or_else(|| Arc::new(arrival(context, &messages, &form))),
            page: None,
            form,
            gpt_type: entry.gpt_type.given().map(|gpt_type| gpt_type.0.clone()),
            max_body,
            body_deadline,
            content_type: match entry.content_type.given().copied().unwrap_or(defaults.content_type) {
                raw::ContentType::Json => ContentTypeRule::Json,
                raw::ContentType::Any => ContentTypeRule::Any,
            },
            limits: limits?,
            outbound: outbound?,
            consequence,
            guard,
            idempotency,
            cors,
            listing: listing(entry),
            tool,
            get_action,
            actions,
        })
    }

    /// Keys about something that the form does not have.
    fn warn_of_form_keys(&self, entry: &raw::Route, form: &CompiledForm) {
        if let (Field::Given(at, _), true) = (&entry.unroll, form.unused().unroll) {
            self.warn(
                *at,
                Lint::UnusedUnroll,
                "`unroll` has no effect: nothing in the form recurs",
                "remove it",
            );
        }
        for (at, Filled(name)) in given(&entry.annotations) {
            if form.unused().annotations.contains(name) {
                let reason = format!("`{}` has no effect: the form does not have it", name.escape_debug());
                self.warn(at, Lint::UnusedAnnotation, reason, "remove it");
            }
        }
    }

    /// A bound on what limiters remember, where there is none.
    pub(super) fn warn_of_limiter_keys(&self, file: &raw::File) {
        let Field::Given(at, _) = &file.limiter_keys else { return };
        if !Self::limits_rates(file) {
            let reason = "`limiter_keys` has no effect: no rate is limited";
            self.warn(*at, Lint::UnusedLimiterKeys, reason, "remove it, or say a rate under `limits`");
        }
    }

    /// Whether some rate is limited somewhere in the file.
    pub(super) fn limits_rates(file: &raw::File) -> bool {
        let mut fields = given(&file.routes)
            .map(|(_, route)| &route.limits)
            .chain(file.defaults.given().map(|defaults| &defaults.limits));
        let counts = |field: &Field<Either<NoneWord, raw::Limits>>| match field {
            Field::Absent | Field::Given(_, Either::Scalar(_)) => false,
            // What is wrong may be meant to be a rate.
            Field::Wrong(_) => true,
            Field::Given(_, Either::Mapping(limits)) => [&limits.get, &limits.post, &limits.refused]
                .iter()
                .any(|rate| !matches!(rate, Field::Absent | Field::Given(_, RateWord(None)))),
        };
        fields.any(counts)
    }

    pub(super) fn max_body(&self, entry: &raw::Route, defaults: &Defaults<'_>) -> usize {
        self.size(&entry.max_body, BODY, defaults.max_body)
    }

    pub(super) fn form_options(&self, entry: &raw::Route, max_body: usize) -> FormOptions {
        FormOptions {
            lints: self.lint_levels(&entry.lints, Lint::is_of_form),
            annotations: given(&entry.annotations).map(|(_, name)| name.0.clone()).collect(),
            unroll: match entry.unroll {
                Field::Absent => None,
                Field::Given(..) | Field::Wrong(_) => Some(self.number(&entry.unroll, 1..=32, 1)),
            },
            numbers: match entry.numbers.given() {
                None | Some(raw::Numbers::Exact) => Numbers::Exact,
                Some(raw::Numbers::SafeIntegers) => Numbers::SafeIntegers,
            },
            max_body,
        }
    }

    /// What the route says, else what `defaults` says, for each of the three; silence is a fault.
    pub(super) fn limits(
        &self,
        at: Mark,
        own: &Field<Either<NoneWord, raw::Limits>>,
        defaults: &Defaults<'_>,
    ) -> Option<Limits> {
        type Pick = fn(&raw::Limits) -> &Field<RateWord>;
        let kinds: [(&str, Pick); 3] =
            [("get", |l| &l.get), ("post", |l| &l.post), ("refused", |l| &l.refused)];
        let mut missing = Vec::new();
        let [get, post, refused] = kinds.map(|(kind, pick)| {
            let said = said(own, pick).or_else(|| said(defaults.limits, pick));
            if said.is_none() {
                missing.push(format!("`{kind}`"));
            }
            said.and_then(|RateWord(rate)| rate)
        });
        if missing.is_empty() {
            return Some(Limits::new(get, post, refused, defaults.limiter_keys));
        }
        self.fault_with(
            own.mark().unwrap_or(at),
            format!("no limit is said for {}", missing.join(", ")),
            "`limits: { get: 50/s burst 100, post: 5/s burst 10, refused: 1/s burst 20 }` here or under `defaults`; \
             say `none` explicitly",
        );
        None
    }

    fn consequence(&self, entry: Option<&raw::Consequence>) -> ConsequenceRule {
        let nothing = raw::Consequence::default();
        let entry = entry.unwrap_or(&nothing);
        ConsequenceRule {
            max_response: self.size(&entry.max_response, 2..=16 << 20, 1 << 20),
            redirect_is_success: entry.redirect_is_success.given().copied().unwrap_or(false),
            text: entry.text.given().copied().unwrap_or(false),
            pass_fields: self.answer_fields(&entry.pass_headers),
        }
    }

    /// The JSON text of `m` (GPT draft: every element has `role` and `content`).
    pub(super) fn messages(&self, list: &Field<Vec<Field<raw::Message>>>) -> String {
        let mut elements = Vec::new();
        for (at, message) in given(list) {
            let role = self.required(&message.role, at, "role", "system");
            let content = self.required(&message.content, at, "content", "…");
            if let (Some(role), Some(content)) = (role, content) {
                let (role, content) = (quoted(&role.0), quoted(content));
                elements.push(format!("{{\"role\":{role},\"content\":{content}}}"));
            }
        }
        format!("[{}]", elements.join(","))
    }

    fn cors(&self, field: &Field<raw::Cors>) -> Option<Cors> {
        let Field::Given(at, entry) = field else { return None };
        let listed = self.required(&entry.origins, *at, "origins", "[\"https://app.example\"]")?;
        let origins: Vec<_> = given(&entry.origins).map(|(_, origin)| origin.0.clone()).collect();
        if listed.is_empty() {
            self.fault(*at, "at least one origin is needed");
        }
        if origins.len() > 1 && origins.iter().any(|origin| origin == "*") {
            self.fault(*at, "`*` stands alone: beside it, other origins mean nothing");
        }
        Some(Cors { origins })
    }
}

/// What is said about one kind: nothing, `none`, or a rate. What is wrong has been reported and counts as said.
fn said(
    field: &Field<Either<NoneWord, raw::Limits>>,
    pick: impl Fn(&raw::Limits) -> &Field<RateWord>,
) -> Option<RateWord> {
    match field {
        Field::Absent => None,
        Field::Wrong(_) | Field::Given(_, Either::Scalar(_)) => Some(RateWord(None)),
        Field::Given(_, Either::Mapping(limits)) => match pick(limits) {
            Field::Absent => None,
            Field::Wrong(_) => Some(RateWord(None)),
            Field::Given(_, rate) => Some(rate.clone()),
        },
    }
}
