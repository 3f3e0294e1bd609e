//! The five JSON Schema suites, when the folder is there: no wrong decision, no refusal without a
//! reason that names what would not be enforced, and no keyword that still loads once misspelled.

use super::{decides, json, lenient};
use formgate::form::{CompiledForm, FormFault};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Forms that the suite would load and we refuse, by what our faults say, each with its reason.
const REFUSED: &[(&str, &str)] = &[
    ("format `idn-email` is not checked", "the crate checks it with its feature `idna` only: 25 crates more"),
    ("format `idn-hostname` is not checked", "as above"),
    ("`$schema` below the root", "a form has one dialect (DESIGN 5)"),
    ("`#/examples/0` is not a place where", "an annotation is no place for a schema"),
];

/// The exception a refusal falls under.
fn exception(faults: &[FormFault], instances: &[Value]) -> Option<&'static str> {
    // A form that admits nothing is refused (DESIGN 5); the suite agrees that nothing fits.
    let nothing = faults.iter().all(|fault| fault.reason.ends_with("admits nothing"));
    if nothing && instances.iter().all(|instance| instance["v"] == false) {
        return Some("the form admits nothing");
    }
    let excepted = |fault: &FormFault| REFUSED.iter().find(|(words, _)| fault.reason.contains(words));
    let first = excepted(faults.first()?)?;
    faults.iter().all(|fault| excepted(fault).is_some()).then_some(first.0)
}

/// Instances that the suite admits and we refuse: a known format is always asserted (DESIGN 5).
fn is_asserted(instance: &Value) -> bool {
    instance["d"].as_str().unwrap().ends_with("is only an annotation by default")
}

const DRAFTS: [&str; 5] = ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"];

/// The forms of one draft, when the folder is there.
fn suite(draft: &str) -> Option<Vec<Value>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/suites");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return None;
    }
    Some(json(&folder.join(format!("json-schema.{draft}.json")))["forms"].as_array().unwrap().clone())
}

/// Whether the faults name what the suite says would not be enforced, at its place where it gives one.
fn names_why(faults: &[FormFault], why: &Value) -> bool {
    let why = why.as_array().unwrap().iter().filter_map(Value::as_str);
    let mut named = why.map(|why| match why.split_once(": ") {
        Some((pointer, _)) if pointer.starts_with('/') => {
            faults.iter().any(|fault| fault.pointer.replace("~1", "/").replace("~0", "~") == pointer)
        }
        Some(_) | None => faults.iter().any(|fault| {
            let keyword = fault.pointer.rsplit('/').next().unwrap_or_default();
            ["$ref", "$dynamicRef", "$recursiveRef", "$schema"].contains(&keyword)
        }),
    });
    named.any(|named| named)
}

#[test]
fn no_wrong_decision_in_five_drafts() {
    let mut wrong = Vec::new();
    for draft in DRAFTS {
        let Some(forms) = suite(draft) else { return };
        let (mut loaded, mut decided, mut asserted, mut refused) = (0, 0, 0, 0);
        let mut excepted: BTreeMap<&str, usize> = BTreeMap::new();
        for case in &forms {
            let id = case["id"].as_str().unwrap();
            let instances = case["tests"].as_array().map(Vec::as_slice).unwrap_or_default();
            let text = case["form"].as_str().unwrap();
            match (CompiledForm::compile(text, &lenient()), case["load"].as_str().unwrap()) {
                (Ok(_), "refuse") => wrong.push(format!("{id}: loads, {}\n    {text}", case["why"])),
                (Ok(form), _) => {
                    loaded += 1;
                    for instance in instances {
                        let body = instance["i"].as_str().unwrap();
                        if is_asserted(instance) {
                            asserted += 1;
                            assert!(!decides(&form, body.as_bytes()), "{id}");
                            continue;
                        }
                        decided += 1;
                        if Some(decides(&form, body.as_bytes())) != instance["v"].as_bool() {
                            wrong.push(format!(
                                "{id}: {} decided wrong\n    {body}\n    {text}",
                                instance["d"]
                            ));
                        }
                    }
                }
                (Err(faults), "refuse") => {
                    refused += 1;
                    if !names_why(&faults, &case["why"]) {
                        wrong.push(format!("{id}: {} is not named: {faults:#?}\n    {text}", case["why"]));
                    }
                }
                (Err(_), "either") => refused += 1,
                (Err(faults), _) => match exception(&faults, instances) {
                    Some(words) => *excepted.entry(words).or_default() += 1,
                    None => wrong.push(format!("{id}: refused, {faults:#?}\n    {text}")),
                },
            }
        }
        println!(
            "{draft}: {} forms, {loaded} load and decide {decided} instances (and {asserted} by a format that \
             the suite only annotates), {refused} are refused as they should be; exceptions {excepted:?}",
            forms.len()
        );
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Every keyword of every draft; what a slip may also come to.
const KEYWORDS: &str = "$schema id $id $anchor $recursiveAnchor $dynamicAnchor definitions $defs $ref \
    $recursiveRef $dynamicRef type enum const allOf anyOf oneOf not if then else multipleOf minimum maximum \
    exclusiveMinimum exclusiveMaximum minLength maxLength pattern format contentEncoding contentMediaType \
    items additionalItems prefixItems unevaluatedItems contains minContains maxContains minItems maxItems \
    uniqueItems properties patternProperties additionalProperties unevaluatedProperties propertyNames required \
    minProperties maxProperties dependencies dependentRequired dependentSchemas title description default \
    $comment examples readOnly writeOnly deprecated";

/// Calls with a copy of the form for each keyword in it and each slip: the keyword, the slip, the copy.
///
/// Which members hold schemas is said here once more, apart from the table that is under test.
fn mutations(whole: &Value, see: &mut dyn FnMut(&str, &str, Value)) {
    fn schema(whole: &Value, pointer: &str, see: &mut dyn FnMut(&str, &str, Value)) {
        let Some(Value::Object(members)) = whole.pointer(pointer) else { return };
        for (nth, (name, value)) in members.iter().enumerate() {
            for slip in slips(name, nth + pointer.len()) {
                let renamed: Map<String, Value> = members
                    .iter()
                    .map(|(other, value)| {
                        (if other == name { slip.clone() } else { other.clone() }, value.clone())
                    })
                    .collect();
                let mut copy = whole.clone();
                *copy.pointer_mut(pointer).unwrap() = Value::Object(renamed);
                see(name, &slip, copy);
            }
            let here = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            match name.as_str() {
                "items"
                | "additionalItems"
                | "unevaluatedItems"
                | "contains"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames"
                | "not"
                | "if"
                | "then"
                | "else"
                | "allOf"
                | "anyOf"
                | "oneOf"
                | "prefixItems" => {
                    schema(whole, &here, see);
                    let count = value.as_array().map_or(0, Vec::len);
                    (0..count).for_each(|index| schema(whole, &format!("{here}/{index}"), see));
                }
                "properties" | "patternProperties" | "definitions" | "$defs" | "dependencies"
                | "dependentSchemas" => {
                    for name in value.as_object().into_iter().flat_map(Map::keys) {
                        schema(whole, &format!("{here}/{}", name.replace('~', "~0").replace('/', "~1")), see);
                    }
                }
                _ => {}
            }
        }
    }
    schema(whole, "", see);
}

/// Misspelled, transposed, in another case; at a place in the word that `nth` chooses.
fn slips(word: &str, nth: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let at = nth % letters.len();
    let mut dropped = letters.clone();
    dropped.remove(at);
    let mut doubled = letters.clone();
    doubled.insert(at, letters[at]);
    let mut swapped = letters.clone();
    let at = nth % (letters.len() - 1);
    swapped.swap(at, at + 1);
    let title = word.char_indices().map(|(at, c)| if at == 0 { c.to_ascii_uppercase() } else { c }).collect();
    let mut words: Vec<String> =
        [dropped, doubled, swapped].map(|letters| letters.into_iter().collect()).to_vec();
    words.extend([word.to_lowercase(), word.to_uppercase(), title]);
    words.sort();
    words.dedup();
    words.retain(|other| other != word);
    words
}

#[test]
fn no_keyword_of_a_suite_loads_misspelled() {
    let draft = |draft: &str| {
        let (mut keywords, mut tried, mut another, mut wrong) = (0, 0, 0, Vec::new());
        for case in suite(draft)? {
            let text = case["form"].as_str().unwrap();
            // A form with numbers that a double does not hold, or with a name twice, is no longer itself.
            let Ok(whole) = serde_json::from_str::<Value>(text) else { continue };
            if CompiledForm::compile(text, &lenient()).is_err()
                || CompiledForm::compile(&whole.to_string(), &lenient()).is_err()
            {
                continue;
            }
            let mut last = String::new();
            mutations(&whole, &mut |keyword, slip, copy| {
                if last != keyword {
                    keyword.clone_into(&mut last);
                    keywords += 1;
                }
                tried += 1;
                match CompiledForm::compile(&copy.to_string(), &lenient()) {
                    Ok(_) if KEYWORDS.split_whitespace().any(|other| other == slip) => another += 1,
                    Ok(_) => wrong.push(format!("{}: {keyword} as {slip} loads: {copy}", case["id"])),
                    Err(faults) => assert!(!faults.is_empty()),
                }
            });
        }
        println!("{draft}: {keywords} keywords, {tried} slips, {another} of them another keyword that loads");
        Some(wrong)
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let drafts = DRAFTS.map(|name| scope.spawn(move || draft(name)));
        drafts.into_iter().filter_map(|thread| thread.join().unwrap()).flatten().collect()
    });
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
