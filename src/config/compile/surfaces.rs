//! What is drawn from the forms for clients that do not speak GPT.

use super::index::index;
use super::{Compiler, Located};
use crate::config::field::Field;
use crate::config::raw;
use crate::config::tree::Tree;
use crate::config::words::Switch;
use crate::gateway::{Desk, Limits, Sheet};
use crate::surface::{self, Desks};

/// The gateway's own addresses.
pub(in crate::config) struct Surfaces {
    pub(in crate::config) sheets: Vec<Sheet>,
    pub(in crate::config) desks: Vec<Desk>,
    /// What they allow each client; `defaults.limits`.
    pub(in crate::config) limits: Limits,
    /// What those desks say.
    pub(in crate::config) said: Desks,
}

impl Compiler<'_> {
    /// Draws every surface that is on. `routes` are those that compiled.
    pub(super) fn surfaces(
        &mut self,
        file: &raw::File,
        defaults: &super::route::Defaults<'_>,
        routes: &[Located],
    ) -> Surfaces {
        let mut sheets = Vec::new();
        let opened = routes.iter().any(|located| located.route.get_action.is_some());
        let drawn = || routes.iter().map(|located| &located.route);
        if Self::is_on(file, |surfaces| &surfaces.llms, opened)
            && let Some(public) = self.public_url(file, "`/llms.txt`")
        {
            sheets.push(surface::llms(public, drawn()));
        }
        if Self::is_on(file, |surfaces| &surfaces.robots, opened)
            && let Some(public) = self.public_url(file, "`/robots.txt`")
        {
            sheets.push(surface::robots(public, drawn()));
        }
        let receipts = routes.iter().filter(|located| opened && located.route.address.starts_with("/r/"));
        for located in receipts {
            self.fault_with(
                located.mark,
                "addresses below `/r/` are the gateway's own: receipts of GET-Actions stand there",
                "choose another address",
            );
        }
        let mut desks: Vec<Desk> = Vec::new();
        let mcp = self.mcp(file, routes).map(|(desk, mcp)| {
            desks.push(desk);
            mcp
        });
        let tools = self.draw_actions(file, routes, &mut sheets, &mut desks);
        let listed = index(self, file, routes, &sheets, &desks);
        sheets.extend(listed);
        let own: Vec<&String> = sheets
            .iter()
            .map(|sheet: &Sheet| &sheet.address)
            .chain(desks.iter().map(|desk| &desk.address))
            .collect();
        for (index, address) in own.iter().copied().enumerate() {
            if own[..index].contains(&address) {
                self.fault_with(
                    file.surfaces.mark().unwrap_or(Tree::ROOT),
                    format!("two surfaces would stand at `{address}`"),
                    "choose another address for one of them",
                );
            }
            for located in routes.iter().filter(|located| located.route.address == *address) {
                self.fault_with(
                    located.mark,
                    format!("the address `{address}` is the gateway's own"),
                    "choose another address, or turn that surface off under `surfaces`",
                );
            }
        }
        // Receipts are read under the same rates.
        let limits = if sheets.is_empty() && desks.is_empty() && !opened {
            None
        } else {
            let at = file.surfaces.mark().unwrap_or(Tree::ROOT);
            self.limits(at, &Field::Absent, defaults)
        };
        Surfaces { sheets, desks, limits: limits.unwrap_or_else(Limits::none), said: Desks { mcp, tools } }
    }

    /// Whether a surface is on, where the file says nothing it is `otherwise`.
    pub(super) fn is_on(
        file: &raw::File,
        pick: impl Fn(&raw::Surfaces) -> &Field<Switch>,
        otherwise: bool,
    ) -> bool {
        match file.surfaces.given().map(|surfaces| pick(surfaces).given()) {
            Some(Some(Switch(on))) => *on,
            Some(None) | None => otherwise,
        }
    }

    /// `public_url`, which a surface that shows absolute addresses cannot do without.
    pub(super) fn public_url<'f>(&self, file: &'f raw::File, what: &str) -> Option<&'f str> {
        match &file.public_url {
            Field::Given(_, url) => Some(&url.0),
            Field::Wrong(_) => None,
            Field::Absent => {
                self.fault_with(
                    file.surfaces.mark().unwrap_or(Tree::ROOT),
                    format!("{what} shows absolute addresses, and `public_url` is missing"),
                    "add `public_url: \"https://api.example.com\"`",
                );
                None
            }
        }
    }
}
