//! What an operation may answer: the same few lines for each, because what upstreams answer is
//! theirs, and because whoever imports the document reads every one of them.

use crate::surface::object::Object;

const REFUSED: &str =
    "Refused: the body does not fit the schema, or the service turned it down. Nothing was done.";

/// The responses of an operation that acts.
pub(super) fn of_act(needs_token: bool) -> String {
    let done = Object::text_of(|schema| {
        schema.text("type", "object");
        schema.json("properties", "{}");
    });
    envelope("Done. The body is what the service answered; it may be empty.", &done, needs_token)
}

/// The responses of an operation whose answer is known, by the schema of that answer.
pub(super) fn envelope(done: &str, schema: &str, needs_token: bool) -> String {
    Object::text_of(|responses| {
        responses.object("200", |response| {
            response.text("description", done);
            response.object("content", |content| {
                content.object("application/json", |media| media.json("schema", schema));
            });
        });
        responses.json("204", &empty(REFUSED));
        if needs_token {
            responses.json("401", &empty("The bearer token is missing or not good here. Nothing was done."));
        }
        responses.json("408", &empty("The body came too slowly. Nothing was done."));
        responses.json("429", &empty("Too often. Wait as long as Retry-After says."));
        responses.json("502", &empty("The service failed."));
        responses.json("503", &empty("Not available now. Try again later."));
        responses
            .json("504", &empty("No answer in time: it may have been done. Look before you send it again."));
    })
}

/// A response without a body.
fn empty(description: &str) -> String {
    Object::text_of(|response| response.text("description", description))
}
