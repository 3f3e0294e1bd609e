//! The page of a route.

use super::given;
use crate::config::raw;
use crate::config::stock::Stock;
use crate::gateway::{Page, Route};
use crate::surface::page::{Subject, draw};

/// Draws it, once the rest of the route is right.
pub(super) fn page(route: &Route, entry: &raw::Route, public_url: Option<&str>, earlier: &Stock) -> Page {
    let messages: Vec<(&str, &str)> = given(&entry.messages)
        .filter_map(|(_, message)| {
            Some((message.role.given()?.0.as_str(), message.content.given()?.as_str()))
        })
        .collect();
    let examples = entry.examples.given().map(|examples| given(&examples.accepted));
    let accepted: Vec<&str> = examples.into_iter().flatten().map(|(_, body)| body.as_str()).collect();
    let known = |digest: &str| earlier.page(digest);
    draw(&Subject { route, messages: &messages, accepted: &accepted, public_url }, known)
}
