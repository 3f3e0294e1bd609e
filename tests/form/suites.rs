//! The five JSON Schema suites, when the folder is there: no wrong decision, and no refusal
//! without a reason.

use super::{decides, json, lenient};
use formgate::form::{CompiledForm, FormFault};
use std::path::PathBuf;

/// Forms that the suite would load and we refuse, by what our faults say, each with its reason.
const REFUSED: &[(&str, &str)] = &[
    ("format `idn-email` is not checked", "needs the crate's feature `idna`, which is off"),
    ("format `idn-hostname` is not checked", "the same"),
    ("`$schema` below the root", "a form has one dialect (DESIGN 5)"),
    ("`#/examples/0` is not a place where", "an annotation is no place for a schema"),
];

fn is_excepted(faults: &[FormFault], instances: &[serde_json::Value]) -> bool {
    // A form that admits nothing is refused; the suite agrees that nothing fits.
    let nothing = faults.iter().all(|fault| fault.reason.ends_with("admits nothing"));
    nothing && instances.iter().all(|instance| instance["v"] == false)
        || faults.iter().all(|fault| REFUSED.iter().any(|(words, _)| fault.reason.contains(words)))
}

/// Instances that the suite admits and we refuse: a known format is always asserted (DESIGN 5).
fn is_asserted(instance: &serde_json::Value) -> bool {
    instance["d"].as_str().unwrap().ends_with("is only an annotation by default")
}

#[test]
fn no_wrong_decision_in_five_drafts() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/suites");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return;
    }
    let mut wrong = Vec::new();
    for draft in ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"] {
        let suite = json(&folder.join(format!("json-schema.{draft}.json")));
        let (mut loaded, mut decided, mut refused, mut excepted) = (0, 0, 0, 0);
        for case in suite["forms"].as_array().unwrap() {
            let id = case["id"].as_str().unwrap();
            let empty = Vec::new();
            let instances = case["tests"].as_array().unwrap_or(&empty);
            let text = case["form"].as_str().unwrap();
            match (CompiledForm::compile(text, &lenient()), case["load"].as_str().unwrap()) {
                (Ok(_), "refuse") => wrong.push(format!("{id}: loads, {}\n    {text}", case["why"])),
                (Ok(form), _) => {
                    loaded += 1;
                    for instance in instances {
                        let body = instance["i"].as_str().unwrap();
                        if is_asserted(instance) {
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
                (Err(_), "refuse" | "either") => refused += 1,
                (Err(faults), _) if is_excepted(&faults, instances) => excepted += 1,
                (Err(faults), _) => wrong.push(format!("{id}: refused, {faults:#?}\n    {text}")),
            }
        }
        println!(
            "{draft}: {loaded} forms load and decide {decided} instances, {refused} are refused as they should be, {excepted} by exception"
        );
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
