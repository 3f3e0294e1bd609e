//! What importers of GPT Actions take at most, each one below, at, and above.

use super::{document, drawn, faults, loaded, plain, text, warnings};
use crate::support::Setup;
use serde_json::json;

fn many(count: usize) -> Setup {
    (0..count).fold(drawn(), |setup, index| setup.inline_route(&format!("r{index}"), &plain("d")))
}

/// thirty fit; one more is a fault, never left out.
#[test]
fn operations() {
    for (count, fits) in [(29, true), (30, true), (31, false)] {
        if fits {
            assert_eq!(document(&many(count))["paths"].as_object().unwrap().len(), count);
        } else {
            let [(pointer, reason)] = &faults(&many(count))[..] else { panic!("{count}") };
            assert_eq!(pointer, "/surfaces/openapi");
            assert!(reason.contains("31 operations"), "{reason}");
        }
    }
    // The long tail takes two, however long it is.
    let with_tail = |count: usize, tail: usize| {
        (0..tail).fold(many(count), |setup, index| setup.with(&format!("routes/{index}/actions"), "longtail"))
    };
    for (count, tail, fits) in [(33, 4, false), (33, 5, true), (33, 33, true), (30, 1, false), (29, 1, true)]
    {
        // As many as there are beside the tail, and two.
        assert_eq!(loaded(&with_tail(count, tail)).is_ok(), fits, "{count}, {tail}");
    }
    let none = (0..5).fold(many(33), |setup, index| setup.with(&format!("routes/{index}/actions"), "none"));
    assert_eq!(document(&none)["paths"].as_object().unwrap().len(), 28);
}

/// 300 Unicode scalars, whatever they weigh.
#[test]
fn words() {
    for (length, fits) in [(299, true), (300, true), (301, false)] {
        let text: String = "ä𝄞".chars().cycle().take(length).collect();
        for (setup, key) in [
            (
                drawn().inline_route("a", &plain("d")).with("routes/0/context", text.as_str()),
                "/routes/0/context",
            ),
            (drawn().inline_route("a", &plain(&text)), "/routes/0/form"),
            // What the form says of itself is not cut either, whatever the context says.
            (drawn().inline_route("a", &plain(&text)).with("routes/0/context", "Short."), "/routes/0/form"),
            (
                drawn().inline_route("a", &plain("d")).with("routes/0/summary", text.as_str()),
                "/routes/0/summary",
            ),
        ] {
            if fits {
                assert!(loaded(&setup).is_ok(), "{length} {key}");
                continue;
            }
            let [(pointer, reason)] = &faults(&setup)[..] else { panic!("{length} {key}") };
            assert!(pointer == key && reason.contains("301 characters"), "{pointer}: {reason}");
        }
    }
    // With a summary, longer words are for those who read the form.
    let long = "d".repeat(3000);
    let setup = drawn().inline_route("a", &plain(&long)).with("routes/0/context", long.as_str());
    assert_eq!(faults(&setup).len(), 2);
    let setup = setup.with("routes/0/summary", "Short.");
    assert_eq!(document(&setup)["paths"]["/a"]["post"]["description"], "Short.");
    assert_eq!(warnings(&setup), []);
    // A tool of the long tail is told about in a list of its own.
    let tail = drawn().inline_route("a", &plain(&long)).with("routes/0/actions", "longtail");
    assert_eq!(warnings(&tail), []);
}

/// below 800 000 bytes, compact and with a line a value.
#[test]
fn bytes() {
    // Titles are not cut; each byte of one is a byte of the document, however it is printed.
    let of = |last: usize| {
        [200_000, 200_000, 200_000, last].into_iter().zip(0..).fold(drawn(), |setup, (length, index)| {
            let mut form = plain("d");
            form["title"] = "t".repeat(length).into();
            let file = format!("f{index}.json");
            setup.file(&file, form.to_string()).route(json!({
                "address": format!("/r{index}"), "name": format!("r{index}"), "form": file,
                "upstream": { "to": "backend", "path": "/" },
            }))
        })
    };
    let pretty = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        serde_json::to_string_pretty(&value).unwrap().len()
    };
    let around = pretty(&text(&of(1))) - 1;
    assert_eq!(pretty(&text(&of(799_999 - around))), 799_999);
    for last in [800_000 - around, 800_001 - around] {
        let [(pointer, reason)] = &faults(&of(last))[..] else { panic!("{last}") };
        assert_eq!(pointer, "/surfaces/openapi");
        assert!(
            reason.starts_with("with a line a value") && reason.contains(&(around + last).to_string()),
            "{reason}"
        );
    }
    let compact = text(&of(1)).len() - 1;
    for last in [799_999 - compact, 800_000 - compact] {
        let [(_, reason)] = &faults(&of(last))[..] else { panic!("{last}") };
        assert_eq!(reason.starts_with("compact"), last == 800_000 - compact, "{reason}");
    }
}
