//! Every verdict of `cases/load`.

use super::{cases, decides, json, lenient, read, usual};
use formgate::form::CompiledForm;
use formgate::lint::{Level, Lint};

/// The lint that each warned or denied case is about.
const LINTS: &[(&str, Lint)] = &[
    ("r19_self_recursive", Lint::UnboundedRecursion),
    ("r20_mutual_recursive", Lint::UnboundedRecursion),
    ("r24_open_object", Lint::OpenObject),
    ("r25_open_nested", Lint::OpenObject),
    ("r26_unbounded_string", Lint::UnboundedString),
    ("r27_unbounded_array", Lint::UnboundedArray),
    ("r28_oneOf", Lint::OneOf),
    ("r38_method_member", Lint::FrameworkMember),
    ("r40_pattern_no_anchor", Lint::UnanchoredPattern),
];

#[test]
fn every_case_has_its_verdict() {
    let index = json(&cases("load/INDEX.json"));
    let index = index.as_object().unwrap();
    for (name, case) in index {
        let text = read(&cases(&format!("load/{name}.json")));
        let body = case["body"].as_str().unwrap().as_bytes();
        let about = LINTS.iter().find(|(case, _)| case == name).map(|(_, lint)| *lint);
        match (case["expect"].as_str().unwrap(), CompiledForm::compile(&text, &usual())) {
            ("refuse", Err(faults)) => {
                assert!(faults.iter().any(|fault| fault.lint.is_none()), "{name}: {faults:#?}");
            }
            ("deny", Err(faults)) => {
                assert!(faults.iter().all(|fault| fault.lint == about), "{name}: {faults:#?}");
                let lowered = CompiledForm::compile(&text, &lenient()).unwrap();
                assert!(decides(&lowered, body), "{name}");
            }
            ("warn", Ok(form)) => {
                let warned = form.warnings().iter().any(|fault| fault.lint == about);
                assert!(about.is_some() && warned, "{name}: {:#?}", form.warnings());
                let mut strict = usual();
                strict.lints.set(about.unwrap(), Level::Deny);
                let denied = CompiledForm::compile(&text, &strict).unwrap_err();
                assert!(denied.iter().all(|fault| fault.lint == about), "{name}: {denied:#?}");
            }
            ("load", Ok(form)) => {
                let fits = ["r33_draft4_dialect", "r39_multipleOf_cent"].contains(&name.as_str());
                assert_eq!(decides(&form, body), fits, "{name}");
            }
            (expected, found) => panic!("{name}: expected {expected}, found {found:#?}"),
        }
    }
}
