//! The schema that `check --schema` prints is of the file that is read.

use super::root;
use formgate::config::schema;
use serde_json::Value;

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    jsonschema::options().offline().build(&schema).unwrap()
}

/// The example as JSON. Its scalars mean the same to every reader of YAML, so a plain reader will do.
fn example() -> Value {
    serde_yaml::from_str(&std::fs::read_to_string(root("config/gateway.yaml")).unwrap()).unwrap()
}

#[test]
fn the_example_fits_the_schema() {
    let (validator, example) = (validator(), example());
    let errors: Vec<_> =
        validator.iter_errors(&example).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new());
}

/// What the schema refuses `load` refuses too: unknown keys at every level, what is missing, wrong kinds.
#[test]
fn the_schema_is_closed() {
    let validator = validator();
    for pointer in [
        "",
        "/upstreams/legacy",
        "/upstreams/legacy/timeouts",
        "/defaults",
        "/defaults/limits",
        "/routes/0",
        "/routes/0/upstream",
        "/routes/0/consequence",
        "/routes/0/cors",
        "/routes/0/examples",
        "/routes/0/messages/0",
        "/lints",
    ] {
        let mut example = example();
        example.pointer_mut(pointer).unwrap().as_object_mut().unwrap().insert("colour".into(), "red".into());
        assert!(!validator.is_valid(&example), "{pointer}");
    }
    for (pointer, value) in [
        ("/listen", Value::from("127.0.0.1:8080")),
        ("/max_head", Value::from("16 kB")),
        ("/watch", Value::from(1)),
        ("/routes/0/name", Value::from("Start")),
        ("/routes/0/numbers", Value::from("safe")),
        ("/upstreams/legacy/servers", Value::from("http://a")),
    ] {
        let mut example = example();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        example.pointer_mut(parent).unwrap()[name] = value;
        assert!(!validator.is_valid(&example), "{pointer}");
    }
    for (parent, name) in [
        ("", "listen"),
        ("", "routes"),
        ("/routes/0", "form"),
        ("/routes/0/upstream", "to"),
        ("/routes/0/messages/0", "role"),
    ] {
        let mut example = example();
        example.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
        assert!(!validator.is_valid(&example), "{parent} without {name}");
    }
}

/// Editors show the description of every key.
#[test]
fn every_key_is_described() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let mut open = vec![("#".to_owned(), &schema)];
    let mut keys = 0;
    while let Some((at, node)) = open.pop() {
        let Some(object) = node.as_object() else { continue };
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                assert!(property.get("description").is_some(), "{at}/{name} has no description");
                keys += 1;
                open.push((format!("{at}/{name}"), property));
            }
        }
        for inner in ["$defs"] {
            for (name, definition) in object.get(inner).and_then(Value::as_object).into_iter().flatten() {
                open.push((format!("{at}/{inner}/{name}"), definition));
            }
        }
    }
    assert!(keys > 60, "{keys}");
}
