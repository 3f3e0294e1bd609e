//! Routes as tools, and where they are called.

use super::{Compiler, Located, given};
use crate::config::field::{Either, Field};
use crate::config::raw;
use crate::form::CompiledForm;
use crate::gateway::{Cors, Desk, Hints, Own, PublicName, Tool};
use crate::json::Document;
use crate::surface::Mcp;

impl Compiler<'_> {
    /// The address where tools are called, and what it says, where `surfaces.mcp` is given.
    pub(super) fn mcp(&self, file: &raw::File, routes: &[Located]) -> Option<(Desk, Mcp)> {
        let (at, entry) = match file.surfaces.given().map(|surfaces| &surfaces.mcp) {
            Some(Field::Given(at, entry)) => (at, entry),
            Some(Field::Wrong(_)) => return None,
            None if file.surfaces.mark().is_some() => return None,
            Some(Field::Absent) | None => {
                self.refuse_tools(file);
                return None;
            }
        };
        let path = self.required(&entry.path, *at, "path", "/mcp");
        let mut origins = Vec::new();
        for (at, origin) in given(&entry.origins) {
            if origin.0 == "*" {
                self.fault_with(
                    at,
                    "`*` would let every page that someone looks at call the tools",
                    "name the origins, `[\"https://app.example\"]`",
                );
            }
            origins.push(origin.0.clone());
        }
        if let Some(PublicName { scheme, authority }) =
            file.public_url.given().and_then(|url| PublicName::of(&url.0))
        {
            origins.push(format!("{scheme}://{authority}"));
        }
        let tools = || routes.iter().map(|located| &located.route).filter(|route| route.tool.is_some());
        let Some(body_deadline) = tools().map(|route| route.body_deadline).max() else {
            // Unless one would be, were it not wrong: that has been told.
            let marked = given(&file.routes).any(|(_, route)| match &route.mcp {
                Field::Given(_, Either::Scalar(true) | Either::Mapping(_)) | Field::Wrong(_) => true,
                Field::Given(_, Either::Scalar(false)) | Field::Absent => false,
            });
            if !marked {
                self.fault_with(*at, "no route is a tool", "mark one, `mcp: true`");
            }
            return None;
        };
        for located in routes.iter().filter(|located| located.route.tool.is_some()) {
            if located.route.idempotency.is_some_and(|idempotency| idempotency.required) {
                self.fault_with(
                    located.mark,
                    "each act asks for an idempotency key, and a tool's call has none",
                    "take `mcp` away, or let the key be optional",
                );
            }
        }
        let name = entry.name.given().map_or("formgate", |name| &name.0);
        let mcp = Mcp::new(name, routes.iter().map(|located| &located.route));
        let desk = Desk {
            own: Own::Mcp,
            address: path?.0.clone(),
            max_body: mcp.limit(),
            body_deadline,
            cors: Some(Cors { origins }),
        };
        Some((desk, mcp))
    }

    /// A route that is marked as a tool is none where tools cannot be called.
    fn refuse_tools(&self, file: &raw::File) {
        for (_, route) in given(&file.routes) {
            match &route.mcp {
                Field::Given(at, Either::Scalar(true) | Either::Mapping(_)) => self.fault_with(
                    *at,
                    "`mcp` has no effect without `surfaces.mcp`",
                    "add `surfaces: { mcp: { path: /mcp } }`, or leave it out",
                ),
                Field::Given(_, Either::Scalar(false)) | Field::Absent | Field::Wrong(_) => {}
            }
        }
    }

    /// The tool that a route is, if it is one.
    pub(super) fn tool(&self, entry: &raw::Route, form: &CompiledForm) -> Option<Tool> {
        let nothing = raw::Tool::default();
        let (at, given) = match &entry.mcp {
            Field::Absent | Field::Wrong(_) | Field::Given(_, Either::Scalar(false)) => return None,
            Field::Given(at, Either::Scalar(true)) => (*at, &nothing),
            Field::Given(at, Either::Mapping(given)) => (*at, given),
        };
        let mut document = Document::new();
        let root = document.parse(form.published().as_bytes()).ok().and_then(|form| form.as_object());
        let says = |name: &str| root.and_then(|form| form.get(name)).and_then(|value| value.as_str());
        if says("type") != Some("object") {
            self.fault_with(
                at,
                "a tool takes an object, and the form does not say `\"type\":\"object\"` at its root",
                "say so in the form, or take `mcp` away",
            );
        }
        let said = |field: &Field<bool>| field.given().copied();
        let read_only = said(&given.read_only).unwrap_or(Hints::CAUTIOUS.read_only);
        if let (true, Field::Given(at, true)) = (read_only, &given.destructive) {
            self.fault(*at, "what is `read_only` is not `destructive`");
        }
        let context = entry.context.given().map(String::as_str);
        let description = match entry.summary.given() {
            Some(summary) => summary.0.clone(),
            None => both(context, says("description")),
        };
        if description.is_empty() {
            self.fault_with(
                at,
                "a model would not know what the tool does",
                "add `context` or `summary` to the route, or `description` to the form's root",
            );
        }
        Some(Tool {
            title: given.title.given().map(|title| title.0.clone()),
            description,
            hints: Hints {
                read_only,
                destructive: said(&given.destructive).unwrap_or(!read_only),
                idempotent: said(&given.idempotent).unwrap_or(Hints::CAUTIOUS.idempotent),
                open_world: said(&given.open_world).unwrap_or(Hints::CAUTIOUS.open_world),
            },
        })
    }
}

/// What the route says and what its form says, a line each.
fn both(context: Option<&str>, description: Option<&str>) -> String {
    let said = [context, description].into_iter().flatten().map(str::trim).filter(|text| !text.is_empty());
    said.collect::<Vec<_>>().join("\n")
}
