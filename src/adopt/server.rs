//! Where the API is: from `servers`, or `host` and `basePath` of Swagger 2.0.

use super::choose::Operation;
use super::source::{Dialect, Source};
use super::written::one_line;
use crate::config::check_server;
use crate::form::Node;

/// What stands in the file where the document says nothing that can be used.
const PLACEHOLDER: &str = "http://127.0.0.1:8081";

/// One upstream of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    /// Its name under `upstreams`.
    pub(super) name: String,
    /// As it is written.
    pub(super) url: String,
    /// What is to be decided, where the document says something else or nothing.
    pub(super) remark: Option<String>,
    /// What the document says, to find it again.
    said: String,
}

/// The servers that operations of a document go to, each once.
#[derive(Debug, Default)]
pub(super) struct Servers(pub(super) Vec<Server>);

impl Servers {
    /// The upstream of an operation, and what stands before its path.
    pub(super) fn of(&mut self, source: &Source, operation: &Operation<'_>) -> (String, String) {
        let url = match (&operation.servers, source.dialect) {
            (_, Dialect::Two) => of_two(source),
            (Some(own), _) => first(own.node),
            (None, _) => source.root.get("servers").map_or_else(String::new, first),
        };
        let (origin, base) = split(&url);
        let name = self.named(&origin);
        let has_user = url.split_once("://").is_some_and(|(_, rest)| authority(rest).0.contains('@'));
        if let Some(server) = self.0.iter_mut().find(|server| has_user && server.name == name) {
            let remark = "the source's URL names a user, who is not carried: `set_headers` sets one";
            server.remark.get_or_insert_with(|| remark.to_owned());
        }
        (name, base)
    }

    /// The upstream of an origin, `https://api.example.com`, or of none that is known.
    pub(super) fn named(&mut self, origin: &str) -> String {
        if let Some(known) = self.0.iter().find(|server| server.said == origin) {
            return known.name.clone();
        }
        let name = if self.0.is_empty() { "api".to_owned() } else { format!("api_{}", self.0.len() + 1) };
        let (url, remark) = if origin.is_empty() {
            (PLACEHOLDER.to_owned(), Some("no server is said".to_owned()))
        } else if let Err(reason) = check_server(origin) {
            let remark = format!("the source says {}: {reason}", one_line(origin));
            (PLACEHOLDER.to_owned(), Some(remark))
        } else {
            (origin.to_owned(), None)
        };
        self.0.push(Server { name: name.clone(), url, remark, said: origin.to_owned() });
        name
    }
}

/// The first of a list of servers, its variables at their defaults.
fn first(servers: &Node) -> String {
    let Some(server) = servers.elements().first() else { return String::new() };
    let mut url = server.get("url").and_then(Node::as_text).unwrap_or_default().to_owned();
    for (name, variable) in server.get("variables").map(Node::members).unwrap_or_default() {
        let default = variable.get("default").and_then(|node| node.as_text().or_else(|| node.as_number()));
        url = url.replace(&format!("{{{name}}}"), default.unwrap_or_default());
    }
    url
}

fn of_two(source: &Source) -> String {
    let text = |name: &str| source.root.get(name).and_then(Node::as_text).unwrap_or_default();
    let schemes: Vec<&str> = source
        .root
        .get("schemes")
        .map(Node::elements)
        .unwrap_or_default()
        .iter()
        .filter_map(Node::as_text)
        .collect();
    let scheme = if schemes.is_empty() || schemes.contains(&"https") { "https" } else { "http" };
    let base = text("basePath");
    if text("host").is_empty() { base.to_owned() } else { format!("{scheme}://{}{base}", text("host")) }
}

/// Scheme and authority, and the path behind them without a slash at its end.
pub(super) fn split(url: &str) -> (String, String) {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (origin, path) = match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = authority(rest);
            // User and password are no part of a server.
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            (format!("{}://{}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase()), path)
        }
        None => (String::new(), if url.starts_with('/') { url } else { "" }),
    };
    (origin, path.trim_end_matches('/').to_owned())
}

/// What stands behind `//`, and the path behind that.
fn authority(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}
