//! What hostile input costs: about in proportion to its size. Timed, so the bounds are generous.

use std::fmt::Write as _;
use std::time::Duration;

use formgate::json::{Document, SyntaxKind, Value};

use crate::support::clock::{best as least, in_turn};

/// Holds the time of `step` at 16 times an input to at most 80 times: caches, the allocator and a
/// logarithm may take their share, and quadratic cost would be at 256 times.
///
/// The best of many rounds of processor time, because what else the machine does can only add; and no
/// more rounds than it takes.
fn assert_modest(name: &str, base: usize, make: impl Fn(usize) -> String, step: impl Fn(&[u8])) {
    const FLOOR: Duration = Duration::from_micros(20);
    let _turn = in_turn();
    let texts = [make(base), make(base * 16)];
    let mut best = [Duration::MAX; 2];
    for _ in 0..40 {
        for (best, text) in best.iter_mut().zip(&texts) {
            *best = least(1, || step(text.as_bytes())).min(*best);
        }
        if best[1] <= best[0].max(FLOOR) * 40 {
            break;
        }
    }
    println!("{name}: {best:?}");
    assert!(best[1] <= best[0].max(FLOOR) * 80, "{name}: {best:?}");
}

fn parse(bytes: &[u8]) {
    let _ = Document::new().parse(bytes).map(|value| value.kind());
}

fn is_unique(bytes: &[u8]) {
    /// Every array of a document, each asked on its own, as a recursive form would.
    fn ask(value: Value<'_>) {
        if let Some(array) = value.as_array() {
            std::hint::black_box(array.is_unique());
            array.elements().for_each(ask);
        }
    }
    ask(Document::new().parse(bytes).unwrap());
}

fn object(count: usize, name: impl Fn(usize) -> String) -> String {
    let members: Vec<_> = (0..count).map(|number| format!("\"{}\":0", name(number))).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn many_names() {
    assert_modest("numbered names", 2_000, |count| object(count, |number| format!("{number}")), parse);
    assert_modest(
        "long common prefixes",
        100,
        |count| object(count, |number| format!("{}{number:08}", "a".repeat(200))),
        parse,
    );
    assert_modest(
        "names alike at both ends",
        2_000,
        |count| object(count, |number| format!("aaaaaaaa{number:08}aaaaaaaa")),
        parse,
    );
    assert_modest("escaped names", 1_000, |count| object(count, |number| format!("\\u0061{number}")), parse);
    assert_modest(
        "one name",
        2_000,
        |count| object(count, |_| "a".to_owned()),
        |bytes| {
            assert_eq!(super::fault_of(bytes), Some(SyntaxKind::Duplicate));
        },
    );
    assert_modest(
        "middling objects",
        100,
        |count| {
            format!(
                "[{}0]",
                (object(16, |number| format!("a{}b", char::from(b'a' + u8::try_from(number).unwrap())))
                    + ",")
                    .repeat(count)
            )
        },
        parse,
    );
}

#[test]
fn many_brackets() {
    assert_modest("open brackets", 50_000, |count| "[".repeat(count), parse);
    assert_modest("white space", 50_000, |count| " ".repeat(count), parse);
    assert_modest("digits", 50_000, |count| "1".repeat(count), parse);
    assert_modest("zeros", 50_000, |count| format!("0.{}1", "0".repeat(count)), parse);
    assert_modest("exponent digits", 50_000, |count| format!("1e{}", "9".repeat(count)), parse);
    assert_modest("escapes", 20_000, |count| format!("\"{}\"", "\\n".repeat(count)), parse);
}

#[test]
fn nested_arrays_held_to_be_unique() {
    assert_modest("empty arrays", 5_000, |count| format!("[{}[]]", "[],".repeat(count)), is_unique);
    assert_modest(
        "numbers",
        2_000,
        |count| {
            let mut text = "[0".to_owned();
            (1..count).for_each(|number| write!(text, ",{number}").unwrap());
            text + "]"
        },
        is_unique,
    );
    assert_modest(
        "strings of one length",
        2_000,
        |count| {
            let mut text = "[0".to_owned();
            (1..count).for_each(|number| write!(text, ",\"{number:08}\"").unwrap());
            text + "]"
        },
        is_unique,
    );
    // Every level beside another of its size, so that all of it is looked into at every level.
    assert_modest(
        "twins",
        256,
        |count| {
            let mut text = "[]".to_owned();
            for level in 0..count.ilog2() {
                text = format!("[{text},{text},{level}]");
            }
            text
        },
        is_unique,
    );
    // One large element below many levels of small ones.
    assert_modest(
        "a long way down",
        2_000,
        |count| {
            let wide = format!("[{}[]]", "[0],".repeat(count));
            let mut text = wide.clone();
            for _ in 0..100 {
                text = format!("[0,1,2,3,4,5,6,7,8,{text}]");
            }
            text
        },
        is_unique,
    );
    // Different in their last part only.
    assert_modest(
        "alike up to the end",
        300,
        |count| {
            let elements: Vec<_> = (0..count)
                .map(|number| format!("[[0,1,2,3,4,5,6,7],{{\"a\":[{number:05}1]}}]").replace("[0", "[10"))
                .collect();
            format!("[{}]", elements.join(","))
        },
        is_unique,
    );
}
