//! Any text as a form: no panic, no hang; what loads publishes what loads to the same.
#![no_main]

use formgate::form::{CompiledForm, FormOptions, Numbers};
use formgate::lint::{Level, Lint, LintLevels};
use formgate::json::Document;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [flags, text @ ..] = bytes else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let mut lints = LintLevels::default();
    Lint::ALL.iter().for_each(|lint| lints.set(*lint, Level::Allow));
    let options = FormOptions {
        lints,
        annotations: if flags & 1 == 0 { Vec::new() } else { vec!["x-internal".to_owned()] },
        unroll: (flags & 2 != 0).then_some(u32::from(flags >> 4)),
        numbers: if flags & 4 == 0 { Numbers::Exact } else { Numbers::SafeIntegers },
        max_body: 64 * 1024,
    };
    let form = match CompiledForm::compile(text, &options) {
        Ok(form) => form,
        Err(faults) => {
            assert!(!faults.is_empty());
            // Lint findings may differ by place; what is wrong must be said for a place in the text.
            assert!(faults.iter().all(|fault| fault.at <= text.len()));
            return;
        }
    };
    let again = CompiledForm::compile(form.published(), &options).expect("what is published loads");
    assert_eq!(again.published(), form.published());
    assert!(serde_json::from_str::<serde_json::Value>(form.published()).is_ok());
    let mut document = Document::new();
    for body in ["null", "{}", "[]", "\"a\"", "1", "{\"a\":{\"b\":[1,{\"c\":null}]}}", "[[[[1.5]]],\"\",{}]"] {
        let value = document.parse(body.as_bytes()).unwrap();
        let admitted = form.admits(value);
        assert_eq!(again.admits(value), admitted, "{body}");
        assert_eq!(form.mismatch(value).is_none(), admitted, "{body}");
        let _ = form.numbers_safe(value);
    }
});
