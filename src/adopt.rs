//! Adopting an API that exists: routes and forms from its OpenAPI document, or from requests that were recorded.
//!
//! One step a file:
//!
//! 1. `source` reads a document of OpenAPI 3.0, 3.1 or Swagger 2.0, and follows its references.
//! 2. `choose` looks at each operation: is there a JSON body to make a form of?
//! 3. `gather` brings together what a schema says through `$ref` and `allOf`, as a `whole`.
//! 4. `translate` writes that as draft 2020-12, closed and bounded; `alternatives` does so for `anyOf` and `oneOf`.
//! 5. `carry` makes it small enough, compiles it as `check` will, and holds the examples against it.
//! 6. `gateway` writes the YAML, with what was guessed and left out beside each route; `report` tells all of it.
//!
//! Two things hold. A form admits nothing that the schema of the source does not admit (as a request: `readOnly`
//! members are not sent; by `discriminator`, where there is one). And nothing is dropped silently: the `ledger` knows what
//! became of every keyword that was read.
//!
//! From traffic, `recorded` reads the requests, `infer` draws the form that admits them all.

mod alternatives;
mod carry;
mod choose;
mod gateway;
mod gather;
mod infer;
mod inferred;
mod ledger;
mod members;
mod naming;
mod object;
mod openapi;
mod ordered;
mod recorded;
mod report;
mod server;
mod source;
mod starter;
mod traffic;
mod translate;
mod verbatim;
mod whole;
mod written;

pub use choose::NotCarried;
pub use openapi::from_openapi;
pub use recorded::Format;
pub use report::Report;
pub use source::Unreadable;
pub use starter::starter;
pub use traffic::{Recording, from_traffic};
pub use written::Guess;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Operations by `operationId`, or as `POST /path`; all that can be carried where there is none.
    pub operations: Vec<String>,
    /// Whether parameters of a path become members of the form, from which the gateway fills the path.
    pub path_members: bool,
}

/// Files to be written, and what is to be told.
#[derive(Debug)]
pub struct Adoption {
    /// Paths relative to the folder of `gateway.yaml`, which is the first, and the text of each.
    pub files: Vec<(String, String)>,
    /// What was carried, guessed and not carried.
    pub report: Report,
}

/// Why nothing comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// The source cannot be read.
    Unreadable(Unreadable),
    /// No operation is called so.
    UnknownOperations(Vec<String>),
}
