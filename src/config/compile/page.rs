//! The page of a route.

use super::given;
use crate::config::raw;
use crate::gateway::{Page, Route};
use crate::surface::page::{LINES, Subject, draw};

/// What draws it, once the rest of the route is right.
pub(super) fn page(route: &Route, entry: &raw::Route, public_url: Option<&str>) -> Page {
    let messages = given(&entry.messages)
        .filter_map(|(_, message)| Some((message.role.given()?.0.clone(), message.content.given()?.clone())));
    let examples = entry.examples.given().map(|examples| given(&examples.accepted));
    let accepted = examples.into_iter().flatten().map(|(_, body)| body.clone());
    let subject = Subject::of(route, messages.collect(), accepted.collect(), public_url);
    Page { lines: &LINES, draw: Box::new(move || draw(&subject)) }
}
