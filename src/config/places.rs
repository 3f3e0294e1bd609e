//! Where keys stand, read from the schema of the mirror: for whoever wrote one in the wrong place, or a value of the
//! wrong kind.

use super::raw;
use serde_json::Value;
use std::sync::LazyLock;

/// Places named of one key, at most.
const TOLD: usize = 4;
/// Keys within each other, at most: nothing in the file recurs.
const DEEPEST: usize = 12;

/// A step on the way to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    /// An element of a list.
    Element,
    /// A member whose name is the operator's.
    Entry,
}

struct Place {
    /// What the key is a member of.
    within: Vec<Step>,
    key: String,
    /// One of a closed list of words.
    is_word: bool,
    /// What to write there, as an example.
    example: Option<String>,
}

static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| {
    let schema = schemars::schema_for!(raw::File).to_value();
    let mut places = Vec::new();
    gather(&schema, &schema, &mut Vec::new(), &mut places);
    places
});

fn gather(root: &Value, schema: &Value, way: &mut Vec<Step>, places: &mut Vec<Place>) {
    if way.len() > DEEPEST {
        return;
    }
    let schema = resolved(root, schema);
    for alternative in schema["anyOf"].as_array().into_iter().flatten() {
        gather(root, alternative, way, places);
    }
    for (key, value) in schema["properties"].as_object().into_iter().flatten() {
        let example = example(root, value);
        let is_word = resolved(root, value)["enum"].is_array();
        let place = Place { within: way.clone(), key: key.clone(), is_word, example };
        // Of alternatives, the first says it.
        if !places.iter().any(|other| other.key == place.key && other.within == place.within) {
            places.push(place);
        }
        way.push(Step::Key(key.clone()));
        gather(root, value, way, places);
        way.pop();
    }
    for (keyword, step) in [("items", Step::Element), ("additionalProperties", Step::Entry)] {
        if schema[keyword].is_object() {
            way.push(step);
            gather(root, &schema[keyword], way, places);
            way.pop();
        }
    }
}

fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let target = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
    target.and_then(|target| root.pointer(target)).unwrap_or(schema)
}

/// What may stand there, in YAML: an example of the key's own, or a mapping with what is required in it.
fn example(root: &Value, schema: &Value) -> Option<String> {
    let own = |schema: &Value| schema["examples"].get(0).map(Value::to_string);
    if let Some(example) = own(schema) {
        return Some(example);
    }
    let resolved = resolved(root, schema);
    let alternatives =
        resolved["anyOf"].as_array().into_iter().flatten().map(|one| self::resolved(root, one));
    let object = std::iter::once(resolved).chain(alternatives).find(|one| one["properties"].is_object())?;
    let required = object["required"].as_array()?.iter().filter_map(Value::as_str);
    let members = required.map(|key| {
        let value = example_of_member(root, &object["properties"][key]);
        format!("{key}: {value}")
    });
    Some(format!("{{ {} }}", members.collect::<Vec<_>>().join(", ")))
}

fn example_of_member(root: &Value, schema: &Value) -> String {
    let resolved = resolved(root, schema);
    let one = [schema, resolved].iter().find_map(|one| one["examples"].get(0));
    one.map_or_else(
        || "…".to_owned(),
        |example| match example {
            Value::String(text)
                if text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b)) =>
            {
                text.clone()
            }
            other => other.to_string(),
        },
    )
}

/// Whether a pointer into a file leads there.
fn leads(pointer: &[&str], way: &[Step]) -> bool {
    pointer.len() == way.len()
        && pointer.iter().zip(way).all(|(token, step)| match step {
            Step::Key(key) => key == token,
            Step::Element | Step::Entry => true,
        })
}

fn tokens(pointer: &str) -> Vec<&str> {
    pointer.split('/').skip(1).collect()
}

/// Where a key that is unknown at a place stands, if it stands anywhere: below that place if it can be.
pub(super) fn elsewhere(key: &str, pointer: &str) -> Option<String> {
    let here = tokens(pointer);
    let is_below = |place: &&&Place| place.within.get(..here.len()).is_some_and(|start| leads(&here, start));
    let depth = |place: &&Place| place.within.iter().filter(|step| matches!(step, Step::Key(_))).count();
    let all: Vec<&Place> = PLACES.iter().filter(|place| place.key == key).collect();
    let below: Vec<&Place> = all.iter().filter(is_below).copied().collect();
    let meant = if below.is_empty() { all } else { below };
    let nearest = meant.iter().map(depth).min()?;
    // One word of a few is seldom what was meant where there is a key of this name that says more.
    let says_more = meant.iter().any(|place| depth(place) == nearest && !place.is_word);
    let mut words: Vec<String> = Vec::new();
    for place in meant.into_iter().filter(|place| depth(place) == nearest && place.is_word != says_more) {
        let word = word(&place.within);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.truncate(TOLD);
    let last = words.pop()?;
    let all = if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) };
    Some(format!("`{key}` stands {all}"))
}

fn word(within: &[Step]) -> String {
    match within {
        [] => "at the top of the file".to_owned(),
        [.., Step::Key(key)] => format!("under `{key}`"),
        [Step::Key(key), Step::Element] if key == "routes" => "on a route".to_owned(),
        [.., Step::Key(key), Step::Element | Step::Entry] => format!("on an entry of `{key}`"),
        [.., Step::Element | Step::Entry] => "on an entry".to_owned(),
    }
}

/// What may stand at a place, with its key: `health: { path: /healthz }`.
pub(super) fn example_at(pointer: &str) -> Option<String> {
    let here = tokens(pointer);
    let (key, within) = here.split_last()?;
    let place = PLACES.iter().find(|place| place.key == *key && leads(within, &place.within))?;
    place.example.as_ref().map(|example| format!("`{key}: {example}`"))
}

#[cfg(test)]
mod tests {
    use super::{elsewhere, example_at};

    #[test]
    fn a_key_is_sent_where_it_stands() {
        for (key, pointer, words) in [
            ("limits", "", Some("`limits` stands under `defaults` or on a route")),
            ("set_headers", "/routes/0", Some("`set_headers` stands under `upstream`")),
            ("path", "/routes/0", Some("`path` stands under `upstream`")),
            ("timeouts", "/routes/3", Some("`timeouts` stands on an entry of `upstreams`")),
            ("timeouts", "/routes/3/upstream", Some("`timeouts` stands on an entry of `upstreams`")),
            ("sha256", "/routes/3", Some("`sha256` stands on an entry of `tokens`")),
            ("watch", "/defaults", Some("`watch` stands at the top of the file")),
            ("nonsense", "/routes/0", None),
        ] {
            assert_eq!(elsewhere(key, pointer).as_deref(), words, "{key} at {pointer}");
        }
    }

    #[test]
    fn a_value_of_the_wrong_kind_gets_an_example() {
        assert_eq!(example_at("/upstreams/crm/health").as_deref(), Some("`health: { path: /healthz }`"));
        assert_eq!(
            example_at("/listen").as_deref(),
            Some(r#"`listen: ["0.0.0.0:8080","https://0.0.0.0:8443"]`"#)
        );
        assert_eq!(example_at("/defaults"), None);
    }
}
