//! One path of the core, so often, for valgrind to count: `instructions NAME`; without a name, the names. See `run`.
//! `instructions 'clock 4 KB'` says how many microseconds judging takes.

#[path = "../core/subject.rs"]
mod subject;

use bytes::Bytes;
use formgate::form::CompiledForm;
use formgate::gateway::Gateway;
use formgate::gateway::judge;
use formgate::json::Document;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use subject::{ADDRESS, SIZES, body, compile, folder, form, gateway, head, parse_with_serde, submit, wide};

/// Turns that are counted, after as many that are not.
const TURNS: u32 = 10;

/// What `run` tells valgrind to count.
#[inline(never)]
fn counted(path: &mut dyn FnMut()) {
    for _ in 0..TURNS {
        path();
    }
}

fn measure(mut path: impl FnMut()) {
    for _ in 0..TURNS {
        path();
    }
    counted(&mut path);
}

/// The paths that bodies of a size take.
const SIZED: [&str; 4] = ["parse", "judge", "serde", "act"];
const OTHERS: [&str; 9] = [
    "judge issue",
    "judge refund",
    "arrival",
    "arrival of 201",
    "stray",
    "refused",
    "compile shop",
    "compile wide",
    "load",
];

const ISSUE: (&str, &str) = (
    include_str!("../../config/forms/issue-create.json"),
    r#"{"project":"WEB","title":"Logout does not log out","body":"Press “log out”, go back: still there.","labels":["bug","security"],"assignee":"ada_l","estimate":2.5}"#,
);
const REFUND: (&str, &str) = (
    include_str!("../../config/forms/payment-refund.json"),
    r#"{"charge":"ch_1A2b3C4d5E6f7G8h","refund":{"kind":"partial","amountMinor":1250,"currency":"EUR"},"reason":"requested_by_customer"}"#,
);

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    if let Some((word, size)) = name.split_once(' ')
        && let Some((bytes, _)) = SIZES.iter().find(|(_, title)| *title == size)
        && let "body" | "clock" = word
    {
        return if word == "body" { print(&body(*bytes)) } else { clock(&body(*bytes)) };
    }
    let sized =
        SIZED.iter().flat_map(|path| SIZES.map(|(bytes, size)| (*path, bytes, format!("{path} {size}"))));
    if let Some((path, bytes, _)) = sized.clone().find(|(.., title)| *title == name) {
        return with_body(path, &body(bytes));
    }
    match name.as_str() {
        "form" => print(form().to_string().as_bytes()),
        "judge issue" => judging(ISSUE),
        "judge refund" => judging(REFUND),
        "arrival" => triage(&gateway(), &head("GET", ADDRESS, 0)),
        "arrival of 201" => {
            let folder = folder(201);
            triage(&load(folder.path()), &head("GET", "/orders-123", 0));
        }
        "stray" => triage(&gateway(), &head("GET", "/nowhere", 0)),
        "refused" => act(
            br#"{"orders":[{"id":"ord-1","customer":"Ada","status":"sold","quantity":1,"price":2}]}"#,
            false,
        ),
        "compile shop" => compiling(&form().to_string()),
        "compile wide" => compiling(&wide(100)),
        "load" => measure(|| drop(black_box(gateway()))),
        _ => {
            println!("turns {TURNS}");
            sized.map(|(.., title)| title).for_each(|title| println!("{title}"));
            for title in OTHERS {
                println!("{title}");
            }
        }
    }
}

fn judging((form, body): (&str, &str)) {
    let (form, mut document) = (compile(form), Document::new());
    measure(|| assert!(judge(&form, usize::MAX, &mut document, black_box(body.as_bytes())).is_ok()));
}

fn with_body(path: &str, body: &[u8]) {
    let mut document = Document::new();
    match path {
        "parse" => measure(|| assert!(document.parse(black_box(body)).is_ok())),
        "judge" => {
            let form = shop();
            measure(|| assert!(judge(&form, usize::MAX, &mut document, black_box(body)).is_ok()));
        }
        "serde" => {
            let validator = jsonschema::options().build(&form()).expect("the form is right");
            measure(|| {
                assert!(parse_with_serde(black_box(body)).is_ok_and(|value| validator.is_valid(&value)));
            });
        }
        _ => act(body, true),
    }
}

fn print(bytes: &[u8]) {
    std::io::stdout().write_all(bytes).expect("it can be printed");
}

/// Microseconds that judging a body takes, for `benches/core/peers`.
fn clock(body: &[u8]) {
    let (form, mut document) = (shop(), Document::new());
    let mut run = |least: Duration| {
        let (start, mut turns) = (Instant::now(), 0_u32);
        while start.elapsed() < least {
            for _ in 0..50 {
                assert!(judge(&form, usize::MAX, &mut document, black_box(body)).is_ok());
            }
            turns += 50;
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(turns)
    };
    run(Duration::from_millis(300));
    println!("{}", run(Duration::from_millis(500)));
}

fn shop() -> CompiledForm {
    compile(&form().to_string())
}

fn load(folder: &Path) -> Gateway {
    formgate::config::load(&folder.join("gateway.yaml")).expect("the file is right").gateway
}

fn triage(gateway: &Gateway, head: &formgate::gateway::Head<'_>) {
    measure(|| drop(black_box(gateway.triage(black_box(head)))));
}

fn act(body: &[u8], fits: bool) {
    let gateway = gateway();
    let head = head("POST", ADDRESS, body.len() as u64);
    let body = Bytes::copy_from_slice(body);
    measure(|| assert_eq!(submit(&gateway, black_box(&head), &body), fits));
}

fn compiling(text: &str) {
    measure(|| drop(black_box(compile(text))));
}
