//! The decisions, pure and synchronous. This file is the table of contents.
//!
//! A request goes through [`Gateway::triage`]: resolve ▶ throttle ▶ answer, or gate the head and
//! hand out a [`Ticket`]. [`Ticket::submit`] makes an [`Admitted`] of a body that the form admits;
//! [`Admitted::head`] is what leaves for the upstream, [`Admitted::conclude`] what the client may
//! see of what came back. Two ways lead there besides: an [`Attempt`] brings its body in its query (GET-Action), and
//! a [`Conversation`] is a POST to a [`Desk`], whose body says which route is meant; [`Gateway::ticket`] is where it
//! goes on.
//!
//! A place is a route with what is computed of it once: its arrival (what GET answers) and
//! its departure (the head that an act leaves under).

mod act;
mod arrival;
mod attempt;
mod balance;
mod condition;
mod consequence;
mod departure;
mod difference;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod head;
mod idempotency;
mod ids;
mod judge;
mod limit;
mod outbound;
mod own;
mod path;
mod replay;
mod reply;
mod route;
mod sentence;
mod token;
mod tool;

pub use act::{Admitted, Ticket};
pub use attempt::{
    Answer, Asked, Attempt, Code, Dropped, Flaw, GetAction, Guide, Ineligible, Intent, MAX_QUERY, Parameter,
    Plan, Proposal, ResultUrl, Scalar, Template, Told, Trace, receipt,
};
pub use balance::{
    Balance, Ejection, Exhausted, Experience, Fleet, HashBy, HealthCheck, MOST_SERVERS, Round, Seat, Streak,
};
pub use condition::{Condition, Lease, Open, Telling};
pub use consequence::{Consequence, ConsequenceRule, Exchange, Received, UpstreamResult};
pub use difference::{RouteChange, RouteDifference, Scrutiny, Widening, differences};
pub use head::{ClientKey, Field, Head, Length, Method, Origin, PublicName};
pub use idempotency::Idempotency;
pub use ids::{Hex, Ids, Recorded, Sampling};
pub use judge::{Unfit, judge, with_document};
pub use limit::{Account, Due, Ledger, Limiter, Limits};
pub use outbound::{ForwardedField, Outbound, Server, Timeouts, Upstream};
pub use own::{Conversation, Desk, Door, Own, Sheet, Spot};
pub use path::{PathPattern, PathTemplate, Piece};
pub use replay::{Begun, End, Fingerprint, Found, Holder, Key, ReceiptId, ReplayState, State, Terms};
pub use reply::{Outcome, Reply};
pub use route::{Actions, ContentTypeRule, Cors, Page, Route, Stance};
pub use sentence::sentence;
pub use token::{Guard, LONGEST as LONGEST_TOKEN, Token, TokenHash};
pub use tool::{Hints, Tool};

use crate::reason::{Reason, Rejection};
use crate::tls::Certificates;
use arrival::Arrival;
use attempt::receipt_id;
use departure::Departure;
use own::Standing;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// One immutable generation: everything that decides about requests.
#[derive(Debug)]
pub struct Gateway {
    /// `trusted_proxies`: peers whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<ipnet::IpNet>,
    /// Hex digest over every file read; what `/readyz` and `formgate_snapshot_info` show.
    pub digest: String,
    /// `public_url`.
    pub public: Option<PublicName>,
    /// Which requests are traced.
    pub sampling: Sampling,
    /// Who may ask the admin listener for more than health and metrics; everyone who reaches it where there is none.
    pub operators: Option<Guard>,
    /// What listeners that speak TLS show.
    pub certificates: Option<Certificates>,
    /// Each certificate of the file, by the name of its own, and its last second since 1970.
    pub expiries: Vec<(String, u64)>,
    holders: Option<Guard>,
    /// In the order of the file.
    places: Vec<Place>,
    own: HashMap<Own, Standing>,
    own_limits: Limits,
    by_address: HashMap<String, Spot, foldhash::fast::RandomState>,
}

/// Of so few routes everything that GET answers is computed at load, and all series exist from the start. Of more, what is
/// not asked of each is left until it is.
pub const FEW: usize = 64;

/// What the rates of the gateway's own addresses are counted under. No route is called so.
const OWN: &str = "_own";

/// A route with what is computed of it once.
#[derive(Debug)]
struct Place {
    route: Route,
    arrival: Arrival,
    departure: Departure,
}

/// What to do about a request, from its head alone.
#[derive(Debug)]
pub enum Triage<'g> {
    /// Answer with bytes that were not computed for this request.
    Answer {
        /// Where, for labels.
        spot: Spot,
        /// What is answered.
        reply: Reply,
        /// What is counted.
        outcome: Outcome,
    },
    /// Refuse without a look at the body.
    Refuse {
        /// Where, for labels; none where nothing is.
        spot: Option<Spot>,
        /// Why.
        rejection: Rejection,
    },
    /// Read the body.
    Collect(Ticket<'g>),
    /// Read the body, which says which of several routes is meant.
    Converse(Conversation<'g>),
    /// A GET-Action: its body is there already.
    Attempt(Attempt<'g>),
    /// Tell what became of a GET-Action.
    Receipt(ReceiptId),
}

impl Gateway {
    /// `routes` must have distinct names and addresses (`config` has checked it).
    pub fn new(routes: Vec<Route>, trusted_proxies: Vec<ipnet::IpNet>, digest: String) -> Self {
        let spots = (0..).map(Spot::Route);
        let receipts = routes.iter().any(|route| route.get_action.is_some());
        let by_address = routes.iter().map(|route| route.address.clone()).zip(spots).collect();
        let holders = Self::guard_of(&routes);
        let few = routes.len() <= FEW;
        let place = |mut route: Route| {
            let arrival = Arrival::new(&mut route);
            if few {
                arrival.complete();
            }
            Place { arrival, departure: Departure::new(&route), route }
        };
        let places = routes.into_iter().map(place).collect();
        Self {
            trusted_proxies,
            digest,
            public: None,
            sampling: Sampling::Off,
            operators: None,
            certificates: None,
            expiries: Vec::new(),
            holders,
            places,
            own: receipts.then_some((Own::Receipt, Standing::Receipts)).into_iter().collect(),
            own_limits: Limits::none(),
            by_address,
        }
    }

    /// In the order of the file; an index here is the index in a [`Triage`].
    pub fn routes(&self) -> impl ExactSizeIterator<Item = &Route> {
        self.places.iter().map(|place| &place.route)
    }

    /// The route at exactly this address.
    pub fn at(&self, address: &str) -> Option<&Route> {
        match self.spot(address)? {
            Spot::Route(index) => Some(&self.places[index].route),
            Spot::Own(_) => None,
        }
    }

    /// The route of this name, or else at this address: what an operator calls it by.
    pub fn called(&self, word: &str) -> Option<&Route> {
        self.routes().find(|route| route.name == word).or_else(|| self.at(word))
    }

    /// The backends that routes go to, each once.
    pub fn upstreams(&self) -> Vec<&Arc<Upstream>> {
        let mut known = HashSet::new();
        let upstreams = self.routes().map(|route| &route.outbound.upstream);
        upstreams.filter(|upstream| known.insert(upstream.name.as_str())).collect()
    }

    /// Takes over what `older` remembers of clients, for each route that keeps its name and rates, what it knows of the
    /// servers that stay, and what listeners cannot do without.
    pub fn inherit(&mut self, older: &Self) {
        self.inherit_upstreams(older);
        self.own_limits.inherit(&older.own_limits);
        // Listeners change at a restart only: those that speak TLS go on with what they had.
        if self.certificates.is_none() {
            self.certificates.clone_from(&older.certificates);
        }
        let older: HashMap<&str, &Limits> =
            older.routes().map(|route| (route.name.as_str(), &route.limits)).collect();
        for place in &mut self.places {
            if let Some(older) = older.get(place.route.name.as_str()) {
                place.route.limits.inherit(older);
            }
        }
    }

    fn inherit_upstreams(&mut self, older: &Self) {
        let older: HashMap<&str, &Arc<Upstream>> =
            older.upstreams().into_iter().map(|upstream| (upstream.name.as_str(), upstream)).collect();
        let kept = self.upstreams().into_iter().filter_map(|own| {
            let mut own = Upstream::clone(own);
            own.inherit(older.get(own.name.as_str())?);
            Some((own.name.clone(), Arc::new(own)))
        });
        let kept: HashMap<String, Arc<Upstream>> = kept.collect();
        for place in &mut self.places {
            if let Some(upstream) = kept.get(&place.route.outbound.upstream.name) {
                place.route.outbound.upstream = Arc::clone(upstream);
            }
        }
    }

    /// What acts use up of their rates is counted together with other instances.
    pub fn share_rates(&mut self, ledger: &Arc<dyn Ledger>) {
        self.own_limits.share(OWN, ledger);
        for place in &mut self.places {
            let Route { name, limits, .. } = &mut place.route;
            limits.share(name, ledger);
        }
    }

    /// All rates, with the name that each is counted under: those of the routes, and what the gateway's own addresses share.
    pub fn limits(&self) -> impl Iterator<Item = (&str, &Limits)> {
        let own = (!self.own.is_empty()).then_some((OWN, &self.own_limits));
        self.routes().map(|route| (route.name.as_str(), &route.limits)).chain(own)
    }

    /// Decides from the head alone.
    pub fn triage<'g>(&'g self, head: &Head<'_>) -> Triage<'g> {
        match self.spot(head.path) {
            None => Triage::Refuse { spot: None, rejection: Reason::NotFound.into() },
            Some(Spot::Route(index)) => self.triage_route(index, head),
            Some(Spot::Own(own)) => self.triage_own(own, head),
        }
    }

    fn triage_route<'g>(&'g self, index: usize, head: &Head<'_>) -> Triage<'g> {
        let (place, spot) = (&self.places[index], Spot::Route(index));
        let refuse = |rejection| Triage::Refuse { spot: Some(spot), rejection };
        match head.verb() {
            verb @ (Method::Get | Method::Head) => {
                if let Some(action) =
                    place.route.get_action.as_ref().filter(|action| action.is_asked(head.query))
                {
                    return self.attempt(index, action, head);
                }
                let client = ClientKey::of(self.origin(head).client);
                if let Err(rejection) = act::throttle_arrival(&place.route.limits, client) {
                    return refuse(rejection);
                }
                let (reply, outcome) = place.arrival.answer(head, verb == Method::Get);
                Triage::Answer { spot, reply, outcome }
            }
            Method::Options => {
                let reply = place.arrival.options().with_lines(&place.route.cors_lines(head));
                Triage::Answer { spot, reply, outcome: Outcome::Options }
            }
            Method::Post => match place.admit_head(self, index, head) {
                Ok(ticket) => Triage::Collect(ticket),
                Err(rejection) => refuse(rejection),
            },
            Method::Other => refuse(Reason::Method.into()),
        }
    }

    /// What is at exactly this address.
    pub fn spot(&self, address: &str) -> Option<Spot> {
        let receipt = || receipt_id(address).filter(|_| self.own.contains_key(&Own::Receipt));
        self.by_address.get(address).copied().or_else(|| receipt().map(|_| Spot::Own(Own::Receipt)))
    }

    /// Whether all series exist from the start: see [`FEW`].
    pub fn has_few(&self) -> bool {
        self.places.len() <= FEW
    }

    /// Route number `index`.
    pub fn route(&self, index: usize) -> &Route {
        &self.places[index].route
    }

    /// The name of route number `index`.
    pub fn name(&self, index: usize) -> &str {
        &self.places[index].route.name
    }

    /// Lines that every answer to this act carries for the page that asks; mostly none.
    pub fn cors_lines(&self, index: usize, head: &Head<'_>) -> String {
        self.places[index].route.cors_lines(head)
    }
}

impl Place {
    fn admit_head<'g>(
        &'g self,
        gateway: &'g Gateway,
        index: usize,
        head: &Head<'_>,
    ) -> Result<Ticket<'g>, Rejection> {
        let ticket = self.ticket(gateway, index, head)?;
        act::gate(ticket.route, head).map_err(|reason| ticket.turn_away(reason))?;
        let (key, stale) = (idempotency::key(ticket.route, head)?, !self.arrival.is_current(head));
        // Under a key it is asked first what became of it.
        if stale && key.is_none() {
            return Err(Reason::Stale.into());
        }
        Ok(Ticket { key, stale, ..ticket })
    }

    /// The permission to read a body, where the client has an act left.
    fn ticket<'g>(
        &'g self,
        gateway: &'g Gateway,
        index: usize,
        head: &Head<'_>,
    ) -> Result<Ticket<'g>, Rejection> {
        let (route, origin) = (&self.route, gateway.origin(head));
        let client = token::identify(route, head, ClientKey::of(origin.client))?;
        let (departure, public) = (&self.departure, gateway.public.as_ref());
        Ok(Ticket { index, route, departure, client, origin, public, key: None, stale: false })
    }
}

impl Route {
    fn cors_lines(&self, head: &Head<'_>) -> String {
        self.cors.as_ref().map(|cors| cors.lines(head)).unwrap_or_default()
    }
}
