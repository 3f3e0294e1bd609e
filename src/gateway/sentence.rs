//! What is wrong with a body, in one sentence: where, and what the form wants there. Words of the form, names of
//! members, never a value of the body.

use super::judge::Unfit;
use crate::form::{CompiledForm, Mismatch};
use crate::json::{Document, Kind, Value};

/// Values of a list that are named.
const LISTED: usize = 12;

/// One sentence, without a full stop.
pub fn sentence(unfit: &Unfit, form: &CompiledForm, max_body: usize, body: &[u8]) -> String {
    match unfit {
        Unfit::TooLarge => format!("it has more than the {max_body} bytes of `max_body`"),
        Unfit::Form(mismatch) => {
            let wanted = wanted(form.published(), mismatch, body);
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
