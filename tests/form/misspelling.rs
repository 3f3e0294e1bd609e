//! No misspelled keyword loads: two letters swapped, one dropped, the case changed.

use super::{lenient, refused};
use formgate::form::CompiledForm;

/// A schema of every draft that uses many keywords rightly.
const FORMS: &[&str] = &[
    r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"t","description":"d","type":"object","properties":{"a":{"type":"string","minLength":1,"maxLength":9,"pattern":"^a+$","format":"uri"},"b":{"type":"array","prefixItems":[{"const":1}],"items":{"enum":[2]},"contains":{"minimum":1},"minContains":1,"maxContains":2,"minItems":1,"maxItems":4,"uniqueItems":true},"c":{"$ref":"#/$defs/n"}},"patternProperties":{"^x":{"multipleOf":2}},"propertyNames":{"maxLength":9},"required":["a"],"minProperties":1,"maxProperties":5,"additionalProperties":false,"dependentRequired":{"a":["b"]},"dependentSchemas":{"b":{"required":["c"]}},"allOf":[{"anyOf":[{"not":{"type":"null"}}]}],"if":{"required":["b"]},"then":{"required":["c"]},"else":true,"$defs":{"n":{"$anchor":"n","type":"number","exclusiveMinimum":0,"exclusiveMaximum":9,"default":1,"examples":[1],"deprecated":true,"readOnly":true}}}"##,
    r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string","contentEncoding":"base64"},"b":{"type":"array","items":[{"const":1}],"additionalItems":false}},"dependencies":{"a":["b"]},"definitions":{"x":{"$comment":"c"}}}"#,
    r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"number","minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":true,"oneOf":[{"enum":[2]}]}"#,
];

/// Each way to misspell a word by one slip.
fn misspelled(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut words = vec![word.to_lowercase(), word.to_uppercase(), format!("{word}s")];
    for at in 0..letters.len() {
        let mut dropped = letters.clone();
        dropped.remove(at);
        words.push(dropped.into_iter().collect());
        if at + 1 < letters.len() {
            let mut swapped = letters.clone();
            swapped.swap(at, at + 1);
            words.push(swapped.into_iter().collect());
        }
        let mut cased = letters.clone();
        cased[at] = if cased[at].is_uppercase() {
            cased[at].to_ascii_lowercase()
        } else {
            cased[at].to_ascii_uppercase()
        };
        words.push(cased.into_iter().collect());
    }
    words.retain(|other| other != word);
    words
}

#[test]
fn no_misspelled_keyword_loads() {
    // Member names of the form's own values, and what a slip turns into another keyword.
    let names = ["a", "b", "c", "n", "x", "^x"];
    let mut tried = 0;
    for form in FORMS {
        CompiledForm::compile(form, &lenient()).unwrap_or_else(|faults| panic!("{form}\n{faults:#?}"));
        for part in form.split("\":").filter_map(|part| part.rsplit('"').next()) {
            if names.contains(&part) {
                continue;
            }
            let Some(at) = form.find(&format!("\"{part}\":")).map(|at| at + 1) else { continue };
            for wrong in misspelled(part) {
                let text = format!("{}{wrong}{}", &form[..at], &form[at + part.len()..]);
                let faults = refused(&text);
                assert!(
                    faults
                        .iter()
                        .any(|fault| fault.pointer.ends_with(&wrong) || fault.reason.contains("twice")),
                    "{part} as {wrong}: {faults:#?}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}
