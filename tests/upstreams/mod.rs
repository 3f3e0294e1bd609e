//! Several servers behind one address (issue 6, item 2): how acts are spread, what is left out and comes back, names
//! that change, sockets that are files, and members of the body in a path.

mod balance;
mod eject;
mod health;
mod limits;
mod path;
mod proof;
mod resolve;
mod server;
mod shipped;
mod socket;
mod storm;
mod tells;

use crate::support::{Backend, Setup};
use serde_json::{Value, json};
use server::Server;

/// A form of two members, so that acts differ.
fn form() -> Value {
    json!({
        "description": "An order.",
        "type": "object",
        "properties": {
            "n": { "type": "integer", "minimum": 0, "maximum": 1_000_000 },
            "tenant": { "type": "string", "pattern": "^[a-z0-9]{1,20}$" },
        },
        "required": ["n", "tenant"],
        "additionalProperties": false,
    })
}

fn body(n: usize, tenant: &str) -> String {
    format!(r#"{{"n":{n},"tenant":"{tenant}"}}"#)
}

/// One route, `/order`, to these servers.
fn setup(servers: &[&Server]) -> Setup {
    // Replaced at once: the setup wants one to begin with.
    let nobody = Backend::agreeing();
    let urls: Vec<String> = servers.iter().map(|server| server.url()).collect();
    Setup::bare(&nobody).inline_route("order", &form()).with("upstreams/backend/servers", urls)
}

/// Starts so many.
fn servers<const N: usize>() -> [Server; N] {
    std::array::from_fn(|_| Server::start())
}

/// The series of one server.
fn series(server: &str) -> [(&'static str, &str); 2] {
    [("upstream", "backend"), ("server", server)]
}
