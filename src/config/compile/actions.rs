//! GPT Actions: how each route is reached, the document that says so, and the desks of the long tail.

use super::{Compiler, Located, given};
use crate::config::field::Field;
use crate::config::raw;
use crate::config::tree::{Mark, Tree};
use crate::form::Representation;
use crate::gateway::{Actions, Desk, Own, Route, Sheet, Stance};
use crate::lint::Lint;
use crate::surface::openapi::{self, Drawn, Fault, Key};
use crate::surface::tools::{self, Tools};

/// Where the desks of the long tail are when it is not said.
const TOOLS: &str = "/actions";

impl Compiler<'_> {
    /// How one route is reached. `usual` is how, where it does not say.
    pub(super) fn actions(&self, entry: &raw::Route, usual: Stance) -> Actions {
        let stance = match entry.actions.given() {
            Some(raw::Actions::Direct) => Stance::Direct,
            Some(raw::Actions::Longtail) => Stance::Longtail,
            Some(raw::Actions::None) => Stance::None,
            None => usual,
        };
        let reached = [Stance::Direct, Stance::Longtail].contains(&stance);
        if let (Field::Given(at, _), true, Stance::None) = (&entry.actions, reached, usual) {
            let reason = "`actions` has no effect without `surfaces.openapi`";
            self.fault_with(*at, reason, "add `surfaces: { openapi: on }`, or leave it out");
        }
        if let (Field::Given(at, _), false) = (&entry.consequential, reached) {
            let reason =
                "`consequential` has no effect: no operation of an OpenAPI document reaches this route";
            self.fault_with(*at, reason, "leave it out");
        }
        Actions {
            stance,
            summary: entry.summary.given().map(|summary| summary.0.clone()),
            context: entry.context.given().cloned().unwrap_or_default(),
            consequential: entry.consequential.given().copied().unwrap_or(true),
        }
    }

    /// The OpenAPI document over all routes that are right, and where the long tail is called.
    pub(super) fn draw_actions(
        &self,
        file: &raw::File,
        routes: &[Located],
        sheets: &mut Vec<Sheet>,
        desks: &mut Vec<Desk>,
    ) -> Option<Tools> {
        if !Self::is_on(file, |surfaces| &surfaces.openapi, false) {
            self.refuse_lonely_tools(file, "without `surfaces.openapi`");
            return None;
        }
        let public_url = self.public_url(file, "the OpenAPI document")?;
        let said = file.surfaces.given().and_then(|surfaces| surfaces.tools.given());
        let prefix = said.map_or(TOOLS, |address| address.0.trim_end_matches('/'));
        let all: Vec<&Route> = routes.iter().map(|located| &located.route).collect();
        match openapi::draw(&all, public_url, prefix) {
            Ok(Drawn { text, warnings }) => {
                for warning in &warnings {
                    let at = place(file, routes, warning);
                    self.warn(at, Lint::Actions, &warning.reason, &warning.suggestion);
                }
                sheets.push(Sheet {
                    own: Own::OpenApi,
                    address: openapi::ADDRESS.to_owned(),
                    media_type: "application/json",
                    representation: Representation::new(text.into_bytes()),
                    lines: "",
                    page: None,
                });
            }
            Err(faults) => {
                for fault in &faults {
                    self.fault_with(place(file, routes, fault), &fault.reason, &fault.suggestion);
                }
            }
        }
        let Some((tools, both)) = tools::tools(&all, prefix) else {
            // Unless one would be, were it not wrong: that has been told.
            if given(&file.routes).count() == routes.len() {
                self.refuse_lonely_tools(file, "without a route that says `actions: longtail`");
            }
            return None;
        };
        desks.extend(both);
        Some(tools)
    }

    /// An address below which nothing is.
    fn refuse_lonely_tools(&self, file: &raw::File, why: &str) {
        if let Some(Field::Given(at, _)) = file.surfaces.given().map(|surfaces| &surfaces.tools) {
            self.fault_with(*at, format!("`tools` has no effect {why}"), "leave it out");
        }
    }
}

/// Where in the file the thing is that a fault is about.
fn place(file: &raw::File, routes: &[Located], fault: &Fault) -> Mark {
    let found = fault.route.and_then(|index| routes.get(index));
    let entry =
        |located: &Located| given(&file.routes).find(|(at, _)| *at == located.mark).map(|(_, entry)| entry);
    let (own, around) = match found {
        Some(located) => {
            let key = |entry: &raw::Route| match fault.key {
                Key::Form => entry.form.mark(),
                Key::Context => entry.context.mark(),
                Key::Name => entry.name.mark(),
                Key::MaxBody => entry.max_body.mark(),
                Key::Idempotency => entry.idempotency.mark(),
                Key::OpenApi | Key::PublicUrl => None,
            };
            (entry(located).and_then(key), located.mark)
        }
        None if fault.key == Key::PublicUrl => (file.public_url.mark(), Tree::ROOT),
        None => (file.surfaces.given().and_then(|surfaces| surfaces.openapi.mark()), Tree::ROOT),
    };
    own.unwrap_or(around)
}
