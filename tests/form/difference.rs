//! Two forms against each other: what is claimed about them, held against values.

use super::{lenient, loads};
use fastrand::Rng;
use formgate::form::{Change, CompiledForm, Difference, Excess, FormOptions, Numbers};
use formgate::json::Document;
use serde_json::{Value, json};

/// Whether a form takes a text, numbers included.
fn takes(form: &CompiledForm, text: &str) -> bool {
    let mut document = Document::new();
    let value = document.parse(text.as_bytes()).unwrap();
    form.admits(value) && form.numbers_safe(value)
}

/// A schema over a world so small that a few hundred values tell most of them apart.
fn schema(random: &mut Rng, depth: u32) -> Value {
    let small = |random: &mut Rng| random.i32(-1..4);
    match random.u32(..if depth == 0 { 7 } else { 14 }) {
        0 => json!({ "type": "boolean" }),
        1 => json!({ "type": "integer", "minimum": small(random), "maximum": small(random) + 3 }),
        2 => {
            json!({ "type": "number", "exclusiveMinimum": small(random), "multipleOf": random.choice([1.0, 0.5, 1.5]) })
        }
        3 => json!({ "type": "string", "minLength": random.u32(..3), "maxLength": 2 + random.u32(..3) }),
        4 => {
            json!({ "type": "string", "pattern": random.choice(["^a*$", "^[ab]+$", "^b?a{1,2}$", "b", "^(a|bb)$"]) })
        }
        5 => json!({ "enum": (0..=random.u32(..3)).map(|_| literal(random)).collect::<Vec<_>>() }),
        6 => json!({ "type": random.choice(["null", "string", "number", "integer"]) }),
        7 => {
            let names = ["a", "b", "c"];
            let mut object = json!({ "type": "object", "properties": {} });
            for name in names {
                if random.bool() {
                    object["properties"][name] = schema(random, depth - 1);
                }
            }
            if random.bool() {
                object["additionalProperties"] = json!(false);
            }
            if random.bool() {
                object["required"] = json!([random.choice(names)]);
            }
            if random.u32(..4) == 0 {
                object["minProperties"] = json!(1);
            }
            object
        }
        8 => json!({ "type": "array", "items": schema(random, depth - 1), "maxItems": random.u32(1..4),
                     "minItems": random.u32(..2), "uniqueItems": random.bool() }),
        9 => json!({ "type": "array", "prefixItems": [schema(random, depth - 1)], "items": false }),
        10 => json!({ "anyOf": [schema(random, depth - 1), schema(random, depth - 1)] }),
        11 => json!({ "oneOf": [schema(random, depth - 1), schema(random, depth - 1)] }),
        12 => json!({ "allOf": [schema(random, depth - 1), schema(random, depth - 1)] }),
        _ => json!({ "not": schema(random, depth - 1) }),
    }
}

fn literal(random: &mut Rng) -> Value {
    let known = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2),
        json!(1.5),
        json!(""),
        json!("a"),
        json!("bb"),
        json!([]),
        json!([1]),
        json!({}),
        json!({"a": 1}),
    ];
    known[random.usize(..known.len())].clone()
}

/// The same schema with one thing in it changed.
fn touched(schema_before: &Value, random: &mut Rng) -> Value {
    let mut changed = schema_before.clone();
    let mut places = Vec::new();
    let mut open = vec![(String::new(), schema_before)];
    while let Some((pointer, value)) = open.pop() {
        places.push(pointer.clone());
        match value {
            Value::Object(members) => {
                open.extend(members.iter().map(|(name, member)| (format!("{pointer}/{name}"), member)));
            }
            Value::Array(elements) => open.extend(
                elements.iter().enumerate().map(|(at, element)| (format!("{pointer}/{at}"), element)),
            ),
            _ => {}
        }
    }
    let place = places[random.usize(..places.len())].clone();
    let at = changed.pointer_mut(&place).unwrap();
    *at = match &*at {
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            json!(number.as_i64().unwrap() + if random.bool() { 1 } else { -1 })
        }
        Value::Bool(flag) => json!(!flag),
        Value::Object(_) if place.is_empty() || !place.ends_with("properties") => schema(random, 1),
        other => other.clone(),
    };
    changed
}

/// Everything of a small world, by itself and within arrays and objects.
fn world() -> Vec<String> {
    let plain = [
        "null",
        "true",
        "false",
        "-2",
        "-1",
        "0",
        "0.5",
        "1",
        "1.0",
        "1.5",
        "2",
        "3",
        "4.5",
        "5",
        "6",
        "9007199254740993",
        "\"\"",
        "\"a\"",
        "\"b\"",
        "\"aa\"",
        "\"ab\"",
        "\"bb\"",
        "\"ba\"",
        "\"baa\"",
        "\"aaaa\"",
        "\"bbbbb\"",
        "[]",
        "{}",
    ];
    let mut all: Vec<String> = plain.iter().map(|text| (*text).to_owned()).collect();
    for one in plain {
        all.push(format!("[{one}]"));
        all.push(format!("[{one},{one}]"));
        all.push(format!("[{one},1]"));
        all.push(format!("[1,2,{one}]"));
        all.push(format!("[1,\"a\",null,{one}]"));
        for name in ["a", "b", "c", "d"] {
            all.push(format!("{{\"{name}\":{one}}}"));
            all.push(format!("{{\"{name}\":[{one}]}}"));
            all.push(format!("{{\"a0\":{one},\"{name}\":{one}}}"));
        }
        all.push(format!("{{\"a\":{one},\"b\":1}}"));
        all.push(format!("{{\"a\":{one},\"b\":\"a\",\"c\":null}}"));
        all.push(format!("{{\"a\":{{\"a\":{one}}}}}"));
    }
    all
}

/// Nothing is claimed that a value contradicts; an example does what it is an example of.
fn hold(older: &CompiledForm, newer: &CompiledForm, world: &[String], what: &str) -> Difference {
    let difference = older.difference(newer);
    let proved = older.proved(newer);
    for (excess, proof, one, other) in [
        (&difference.admits, &proved.admits, newer, older),
        (&difference.refuses, &proved.refuses, older, newer),
    ] {
        match excess {
            Excess::None => {
                let against = world.iter().find(|text| takes(one, text) && !takes(other, text));
                assert_eq!(against, None, "{what}");
            }
            Excess::Some { example: Some(text) } => {
                assert!(takes(one, text) && !takes(other, text), "{what}: {text} is no example");
                assert_ne!(*proof, Excess::None, "{what}: {text} contradicts the algebra");
            }
            Excess::Some { example: None } | Excess::Unknown => {}
        }
    }
    assert_eq!(older.proved(newer).change(), proved.change(), "{what}");
    difference
}

/// Random pairs: related by one change, or not at all. `DIFFERENCES=20000` tries more.
#[test]
fn no_claim_is_contradicted_by_a_value() {
    let pairs: usize = std::env::var("DIFFERENCES").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let (world, mut random) = (world(), Rng::with_seed(20));
    let (mut told, mut unknown, mut shown, mut some) = (0, 0, 0, 0);
    while told < pairs {
        let first = schema(&mut random, 2);
        let second = if random.u32(..4) == 0 { schema(&mut random, 2) } else { touched(&first, &mut random) };
        let safe = random.u32(..5) == 0;
        let options =
            FormOptions { numbers: if safe { Numbers::SafeIntegers } else { Numbers::Exact }, ..lenient() };
        let compile =
            |schema: &Value, options: &FormOptions| CompiledForm::compile(&schema.to_string(), options).ok();
        let (Some(older), Some(newer)) = (compile(&first, &lenient()), compile(&second, &options)) else {
            continue;
        };
        told += 1;
        let difference = hold(&older, &newer, &world, &format!("{first}\n{second}\nsafe: {safe}"));
        if safe && let Some(older) = compile(&first, &options) {
            hold(&older, &newer, &world, &format!("{first}\n{second}\nboth safe"));
        }
        for excess in [difference.admits, difference.refuses] {
            match excess {
                Excess::None => {}
                Excess::Some { example } => {
                    some += 1;
                    shown += u32::from(example.is_some());
                }
                Excess::Unknown => unknown += 1,
            }
        }
    }
    println!(
        "{told} pairs: {some} directions in which more fits, {shown} with an example, {unknown} undecided"
    );
    assert!(shown * 10 > some * 9, "{shown} of {some} have an example");
}

#[test]
fn examples_are_small_and_at_the_edge() {
    let form = |most: u32, more: &str| {
        loads(&format!(
            r#"{{"type":"object","properties":{{"title":{{"type":"string","minLength":1,"maxLength":{most}}},
            "kind":{{"enum":["a","b"{more}]}},"id":{{"type":"string","pattern":"^[A-Z]{{3}}-[0-9]+$"}}}},
            "required":["title"],"additionalProperties":false}}"#
        ))
    };
    let example = |excess: Excess| match excess {
        Excess::Some { example: Some(text) } => text,
        Excess::Some { example: None } | Excess::None | Excess::Unknown => panic!("{excess:?}"),
    };
    let longer = form(8, "").difference(&form(9, ""));
    assert_eq!(
        (longer.change(), example(longer.admits)),
        (Change::Widened, r#"{"title":"aaaaaaaaa"}"#.to_owned())
    );
    let more = form(8, "").difference(&form(8, r#","c""#));
    let more = example(more.admits);
    assert!(more.starts_with(r#"{"kind":"c","title":""#) && more.len() == 24, "{more}");
    let both = form(8, r#","c""#).difference(&form(9, ""));
    assert_eq!(both.change(), Change::Both);
    let refused = example(both.refuses);
    assert!(refused.starts_with(r#"{"kind":"c","title":""#) && refused.len() == 24, "{refused}");
    // Where the algebra sees rounded numbers only, a value decides.
    let finer = loads(r#"{"maximum":0.3}"#).difference(&loads(r#"{"maximum":0.30000000000000001}"#));
    assert_eq!(finer.change(), Change::Unknown);
}

/// How a backend reads numbers is part of what is admitted.
#[test]
fn safe_integers_narrow() {
    let safe = |text: &str| {
        CompiledForm::compile(text, &FormOptions { numbers: Numbers::SafeIntegers, ..lenient() }).unwrap()
    };
    let text = r#"{"type":"integer"}"#;
    let narrowed = loads(text).difference(&safe(text));
    assert_eq!((narrowed.change(), &narrowed.admits), (Change::Narrowed, &Excess::None));
    let widened = safe(text).difference(&loads(text));
    assert!(matches!(widened.admits, Excess::Some { example: Some(_) }), "{widened:?}");
    // The same values, told apart by how `1.0` is read.
    let loose = safe(text).difference(&safe(r#"{"type":"number","multipleOf":1}"#));
    assert_ne!(loose.admits, Excess::None);
    let closed = |most: u32| safe(&format!(r#"{{"type":"integer","minimum":0,"maximum":{most}}}"#));
    assert_eq!(closed(9).difference(&closed(7)).admits, Excess::None);
}
