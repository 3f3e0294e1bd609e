//! The words of upstreams: how servers are chosen and named, and where at them an act goes.

use super::{WordVisitor, check_path};
use crate::gateway::{Balance, HashBy, PathPattern, Piece, Server};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer};
use std::borrow::Cow;

word!(text
    /// `round_robin` or `least_in_flight`.
    BalanceWord(Balance) by |text| match text {
        "round_robin" => Ok(Balance::RoundRobin),
        "least_in_flight" => Ok(Balance::LeastInFlight),
        _ => Err("expected `round_robin`, `least_in_flight`, or `{ hash: client }`".to_owned()),
    },
    { "enum": ["round_robin", "least_in_flight"] });
word!(text
    /// `client`, or a JSON Pointer into the body.
    HashKey(HashBy) by |text| {
        if text == "client" {
            Ok(HashBy::Client)
        } else if text.starts_with('/') {
            Ok(HashBy::Member(text.to_owned()))
        } else {
            Err("expected `client`, or a JSON Pointer to a member of the body, `/tenant`".to_owned())
        }
    },
    { "type": "string", "pattern": "^(client|/.*)$", "examples": ["client", "/tenant"] });

/// The longest path that a unix socket can have (`sun_path`, without its end).
const LONGEST_SOCKET: usize = 107;

pub(super) fn parse_socket(path: &str) -> Result<Server, String> {
    if !path.starts_with('/') || path.ends_with('/') || path.contains('\0') {
        return Err("a unix socket needs an absolute path, `unix:/run/app.sock`".to_owned());
    }
    if path.len() > LONGEST_SOCKET {
        return Err(format!("the path of a unix socket has {LONGEST_SOCKET} bytes at most"));
    }
    Ok(Server { host: "localhost".to_owned(), port: 80, tls: None, socket: Some(path.to_owned()) })
}

/// `/orders/{/order_id}/refunds?by={/clerk}`: a path and query, with members of the body in it.
pub(super) fn parse_target(text: &str) -> Result<PathPattern, String> {
    let mut pieces = Vec::new();
    // What is checked has a letter where a member will stand.
    let (mut whole, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((pointer, behind)) = after.split_once('}') else {
            return Err("has a `{` without its `}`".to_owned());
        };
        if !pointer.starts_with('/') || pointer.contains('{') {
            return Err(format!(
                "has `{{{0}}}`, which is no JSON Pointer: write `{{/{0}}}`",
                pointer.escape_debug()
            ));
        }
        if before.is_empty() && !pieces.is_empty() {
            return Err("has two members side by side: nobody could tell where one ends".to_owned());
        }
        whole.push_str(before);
        whole.push('m');
        if !before.is_empty() {
            pieces.push(Piece::Literal(before.to_owned()));
        }
        pieces.push(Piece::Member(pointer.to_owned()));
        rest = behind;
    }
    whole.push_str(rest);
    check_path(&whole, true)?;
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Literal(rest.to_owned()));
    }
    Ok(PathPattern(pieces))
}
