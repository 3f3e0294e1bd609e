//! `/robots.txt` (RFC 9309): crawlers stay away from what a URL can do (REQUIREMENTS U-18). It binds nobody; what
//! keeps crawlers from acting is in `gateway::attempt`.

use crate::form::Representation;
use crate::gateway::{Own, Route, Sheet};

/// Draws the document. `public` is `public_url`, whose path stands before every address.
pub fn robots<'r>(public: &str, routes: impl Iterator<Item = &'r Route>) -> Sheet {
    let base =
        public.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap_or("");
    let actions = routes.filter(|route| route.get_action.is_some()).map(|route| route.address.as_str());
    let mut text = "User-agent: *\n".to_owned();
    for address in actions.chain(["/r/"]) {
        // These two are operators there (RFC 9309, 2.2.3).
        let path = format!("{base}{address}").replace('*', "%2A").replace('$', "%24");
        text.push_str("Disallow: ");
        text.push_str(&path);
        text.push('\n');
    }
    Sheet {
        own: Own::Robots,
        address: "/robots.txt".to_owned(),
        media_type: "text/plain; charset=utf-8",
        representation: Representation::new(text.into_bytes()),
        lines: "",
        page: None,
    }
}
