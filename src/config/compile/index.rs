//! Which addresses the index names, and whether there is one.

use super::{Compiler, Located, given};
use crate::config::field::Field;
use crate::config::raw;
use crate::gateway::{Desk, Own, Sheet};
use crate::surface::index::{Contents, draw, first_sentence};

/// The documents of the index, where it is on; `sheets` and `desks` are what else there is.
pub(super) fn index(
    compiler: &Compiler<'_>,
    file: &raw::File,
    routes: &[Located],
    sheets: &[Sheet],
    desks: &[Desk],
) -> Vec<Sheet> {
    if !Compiler::is_on(file, |surfaces| &surfaces.index, false) {
        for (_, route) in given(&file.routes) {
            // That it is not to be listed holds whatever is turned off.
            if let Field::Given(at, true) = &route.listed {
                let reason = "`listed` has no effect without `surfaces.index`";
                compiler.fault_with(*at, reason, "add `surfaces: { index: on }`, or leave it out");
            }
        }
        return Vec::new();
    }
    let of_sheets = sheets.iter().map(|sheet| (sheet.own, sheet.address.as_str()));
    let of_desks = desks.iter().map(|desk| (desk.own, desk.address.as_str()));
    let links: Vec<_> = of_sheets.chain(of_desks).filter_map(|(own, at)| Some((link(own)?, at))).collect();
    let routes: Vec<_> = routes.iter().map(|located| &located.route).collect();
    let public_url = file.public_url.given().map(|url| url.0.as_str());
    draw(&Contents { routes: &routes, links: &links, public_url }).into()
}

/// What the index says of a route; nothing where it is not to be listed.
pub(super) fn listing(entry: &raw::Route) -> Option<String> {
    match entry.listed {
        Field::Given(_, false) => None,
        Field::Given(_, true) | Field::Absent | Field::Wrong(_) => {
            Some(first_sentence(entry.context.given().map_or("", String::as_str)).to_owned())
        }
    }
}

/// Under which name the index links to it. Robots need no link, and the rest is no place to go to.
fn link(own: Own) -> Option<&'static str> {
    match own {
        Own::OpenApi => Some("openapi"),
        Own::Llms => Some("llms"),
        Own::Mcp => Some("mcp"),
        Own::CallTool => Some("call_runtime_tool"),
        Own::ToolManifest => Some("tool_manifest"),
        Own::Robots | Own::Index | Own::WellKnown | Own::Receipt => None,
    }
}
