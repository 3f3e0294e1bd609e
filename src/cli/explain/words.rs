//! What is wrong with a body, in one sentence: where, and what the form wants there. Words of the form, names of
//! members, never a value of the body.

use crate::form::Mismatch;
use crate::gateway::{Route, Unfit};
use crate::json::{Document, Kind, Value};
use crate::reason::Reason;

/// Values of a list that are named.
const LISTED: usize = 12;

/// One sentence, without a full stop.
pub(super) fn sentence(unfit: &Unfit, route: &Route, body: &[u8]) -> String {
    match unfit {
        Unfit::TooLarge => format!("it has more than the {} bytes of `max_body`", route.max_body),
        Unfit::Form(mismatch) => {
            let wanted = wanted(route.form.published(), mismatch, body);
            wanted.map_or_else(|| unfit.words(), |wanted| format!("{} {wanted}", place(mismatch)))
        }
        Unfit::NumberUnsafe => {
            "a number in it is beyond 2^53-1, or written with a point or exponent where an integer is \
                                wanted, and the backend would read it otherwise (`numbers: safe_integers`)"
                .to_owned()
        }
        Unfit::Syntax(_) => unfit.words(),
    }
}

fn place(mismatch: &Mismatch) -> &str {
    if mismatch.instance_pointer.is_empty() { "its root" } else { &mismatch.instance_pointer }
}

/// What the form wants at the place; `None` where its keyword is not found.
fn wanted(form: &str, mismatch: &Mismatch, body: &[u8]) -> Option<String> {
    let (mut of_form, mut of_body) = (Document::new(), Document::new());
    let root = of_form.parse(form.as_bytes()).ok()?;
    let value = root.find(&mismatch.schema_pointer)?;
    let instance = of_body.parse(body).ok().and_then(|body| body.find(&mismatch.instance_pointer));
    let (schema, _) = mismatch.schema_pointer.rsplit_once('/').unwrap_or_default();
    let schema = root.find(schema);
    let text = || match value.kind() {
        Kind::String => value.as_str().unwrap_or_default().to_owned(),
        _ => printed(value),
    };
    Some(match mismatch.keyword.as_str() {
        "type" => format!("must be {}", types(value)),
        "minLength" => format!("must have at least {}", many(&text(), "character")),
        "maxLength" => format!("must have at most {}", many(&text(), "character")),
        "minItems" => format!("must have at least {}", many(&text(), "element")),
        "maxItems" => format!("must have at most {}", many(&text(), "element")),
        "minProperties" => format!("must have at least {}", many(&text(), "member")),
        "maxProperties" => format!("must have at most {}", many(&text(), "member")),
        "minimum" => format!("must be at least {}", text()),
        "maximum" => format!("must be at most {}", text()),
        "exclusiveMinimum" => format!("must be more than {}", text()),
        "exclusiveMaximum" => format!("must be less than {}", text()),
        "multipleOf" => format!("must be a multiple of {}", text()),
        "pattern" => format!("must match `{}`", text()),
        "format" => format!("must be a {}", text()),
        "const" => format!("must be {}", printed(value)),
        "enum" => format!("must be one of {}", list(value)),
        "uniqueItems" => "must not have an element twice".to_owned(),
        "contains" => "must have an element of the kind that `contains` asks for".to_owned(),
        "required" => match missing(value, instance).as_slice() {
            [] => "lacks a member that is required".to_owned(),
            [one] => format!("lacks the member `{one}`"),
            all => format!("lacks the members `{}`", all.join("`, `")),
        },
        "additionalProperties" | "unevaluatedProperties" => {
            format!("has a member that the form does not name; {}", names(schema))
        }
        "falseSchema" => "stands where the form admits nothing".to_owned(),
        "propertyNames" => "has a member whose name does not fit `propertyNames`".to_owned(),
        "dependentRequired" | "dependentSchemas" | "dependencies" => {
            "has a member that asks for another, which is missing or does not fit".to_owned()
        }
        "anyOf" => "fits none of the alternatives".to_owned(),
        "oneOf" => "must fit exactly one of the alternatives".to_owned(),
        "not" => "is what the form excludes by `not`".to_owned(),
        "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" => {
            "has more elements than the form has places for".to_owned()
        }
        "contentEncoding" | "contentMediaType" => format!("must be {} within a string", text()),
        _ => return None,
    })
}

fn printed(value: Value<'_>) -> String {
    match value.kind() {
        Kind::Null => "null".to_owned(),
        Kind::Boolean => (value.as_bool() == Some(true)).to_string(),
        Kind::Number => value.as_number().map(|number| number.text().to_owned()).unwrap_or_default(),
        Kind::String => format!("`{}`", value.as_str().unwrap_or_default()),
        Kind::Array => "an array that the form spells out".to_owned(),
        Kind::Object => "an object that the form spells out".to_owned(),
    }
}

fn many(number: &str, thing: &str) -> String {
    format!("{number} {thing}{}", if number == "1" { "" } else { "s" })
}

fn types(value: Value<'_>) -> String {
    let article = |name: &str| match name {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {name}"),
        other => format!("a {other}"),
    };
    let names = elements(value).into_iter().chain(Some(value)).filter_map(|name| name.as_str());
    names.map(article).collect::<Vec<_>>().join(" or ")
}

fn list(value: Value<'_>) -> String {
    let all = elements(value);
    let mut text = all.iter().take(LISTED).map(|value| printed(*value)).collect::<Vec<_>>().join(", ");
    if all.len() > LISTED {
        text = format!("{} values: {text}, …", all.len());
    }
    text
}

fn elements(value: Value<'_>) -> Vec<Value<'_>> {
    value.as_array().map(|array| array.elements().collect()).unwrap_or_default()
}

/// Names that are required and not there.
fn missing<'d>(required: Value<'d>, instance: Option<Value<'_>>) -> Vec<&'d str> {
    let object = instance.and_then(|instance| instance.as_object());
    let there = |name: &str| object.as_ref().is_some_and(|object| object.get(name).is_some());
    elements(required).into_iter().filter_map(|name| name.as_str()).filter(|name| !there(name)).collect()
}

/// The members that a schema names.
fn names(schema: Option<Value<'_>>) -> String {
    let known = schema.and_then(|schema| schema.as_object()?.get("properties")?.as_object());
    let names: Vec<&str> =
        known.map(|known| known.members().map(|(name, _)| name).take(LISTED).collect()).unwrap_or_default();
    if names.is_empty() { "it names none".to_owned() } else { format!("it names `{}`", names.join("`, `")) }
}

/// What a reason means and who mends it: for the reasons that no body shows, too.
pub(super) fn of_reason(reason: Reason) -> String {
    let said = match reason {
        Reason::Query => "a POST with a query: acts have none. The client mends it",
        Reason::MediaType => {
            "no `Content-Type: application/json`, or two, or another charset than UTF-8. The client mends it; \
             `content_type: any` reads what is declared otherwise"
        }
        Reason::ContentCoding => "a compressed body: it must come as it is. The client mends it",
        Reason::TooLarge => {
            "more bytes than `max_body`. The form may admit more than fits: `check` warns of that"
        }
        Reason::Syntax(kind) => return format!("{kind}. The client that writes the JSON mends it"),
        Reason::NumberUnsafe => {
            "a number that the backend would not read as written (`numbers: safe_integers`). The actor mends it"
        }
        Reason::Form => {
            "JSON that the form does not admit; `explain ADDRESS BODY` says where. The actor mends it, or the form asks \
             for the wrong thing"
        }
        Reason::Parameters => {
            "a GET-Action whose query is no clear act. The agent mends it, or whoever wrote its link"
        }
        Reason::Secret => {
            "a GET-Action with what looks like a secret in its query. Whoever wrote the link mends it"
        }
        Reason::Bystander => {
            "a crawler, a prefetcher or a link preview opened a GET-Action. Nothing is wrong"
        }
        Reason::Upstream => {
            "the backend said 400, 404, 409, 410, 412 or 422. Mostly the actor mends it; if it is often, the form is \
             wider than the backend"
        }
        Reason::Throttled => "more than the rate under `limits`. The client waits as `Retry-After` says",
        Reason::Stale => {
            "`If-Match` names a form that is no longer current. The client fetches the form again"
        }
        Reason::Unauthorized => "no token that opens the route. Whoever holds the tokens mends it",
        Reason::IdempotencyKey => {
            "no `Idempotency-Key` where one is required, or not one key. The client mends it"
        }
        Reason::KeyConflict => {
            "an `Idempotency-Key` that was used for another body. The client takes a new key"
        }
        Reason::InProgress => "the first act with this key is still under way. The client comes again",
        Reason::RecordsFull => {
            "no room for the record of a new key: raise `store: { max_records, max_bytes }`"
        }
        Reason::RecordsShare => {
            "one client has as many records as it may. The client waits until its keys are forgotten"
        }
        Reason::UpstreamFull => {
            "every server of the upstream has its `max_in_flight`: raise it, or lower rates"
        }
        Reason::LimitsDown => "the rates that several instances share cannot be asked: look at the store",
        Reason::RecordsDown => "the records cannot be reached: look at the file of `store` and its disk",
        Reason::Budget => "no memory left for bodies in flight: raise `inflight_bodies`, or lower rates",
        Reason::Draining => "the gateway is stopping. The client comes again",
        Reason::Deadline => "the head or body took longer than `head_deadline` or `body_deadline`",
        Reason::BodyBroken => "the client went away, or broke the framing, within the body",
        Reason::Framing => {
            "a head that two readers could read differently. The client mends it, or a proxy on the way"
        }
        Reason::HeadTooLarge => "a head of more than `max_head`, or of more than 96 fields",
        Reason::Expectation => "`Expect` with something else than `100-continue`. The client mends it",
        Reason::NotFound => "no route has this address: paths match exactly",
        Reason::Method => "a method that the address does not have; `Allow` names those that it has",
    };
    said.to_owned()
}
