//! Reading and judging a body: our document, beside `serde_json` made to refuse duplicate names.

use std::fmt::{self, Write as _};
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use formgate::form::{CompiledForm, FormOptions, LintLevels, Numbers};
use formgate::gateway::judge;
use formgate::json::Document;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

/// Compiles as a route would.
pub(crate) fn compile(text: &str) -> CompiledForm {
    let options = FormOptions {
        lints: LintLevels::default(),
        annotations: Vec::new(),
        unroll: None,
        numbers: Numbers::Exact,
        max_body: usize::MAX,
    };
    CompiledForm::compile(text, &options).expect("the form is right")
}

/// How large the bodies are, in bytes, and what that is called.
pub(crate) const SIZES: [(usize, &str); 4] =
    [(300, "300 B"), (4 << 10, "4 KB"), (64 << 10, "64 KB"), (1 << 20, "1 MB")];

/// A closed form as a shop would have it.
pub(crate) fn form() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["orders"],
        "additionalProperties": false,
        "properties": {
            "orders": { "type": "array", "minItems": 1, "maxItems": 100_000, "items": { "$ref": "#/$defs/order" } }
        },
        "$defs": { "order": {
            "type": "object",
            "required": ["id", "customer", "status", "quantity", "price"],
            "additionalProperties": false,
            "properties": {
                "id": { "type": "string", "minLength": 1, "maxLength": 40 },
                "customer": { "type": "string", "minLength": 1, "maxLength": 80 },
                "email": { "type": "string", "maxLength": 120 },
                "status": { "enum": ["new", "paid", "packed", "shipped", "returned"] },
                "quantity": { "type": "integer", "minimum": 1, "maximum": 10_000 },
                "price": { "type": "number", "minimum": 0, "maximum": 1_000_000 },
                "express": { "type": "boolean" },
                "note": { "type": ["string", "null"], "maxLength": 500 },
                "tags": { "type": "array", "maxItems": 8, "items": { "type": "string", "maxLength": 20 } }
            }
        } }
    })
}

/// A body that fits the form, of at least half of `size` bytes and at most that.
pub(crate) fn body(size: usize) -> Vec<u8> {
    let mut text = String::from(r#"{"orders":["#);
    for number in 0.. {
        let mut order = String::new();
        let separator = if number == 0 { "" } else { "," };
        let status = ["new", "paid", "packed", "shipped", "returned"][number % 5];
        let note = match number % 4 {
            0 => r#""Leave it with the neighbours, please: the bell is broken.""#,
            1 => r#""Zweite Klingel von oben, \"M\u00fcller\"\n""#,
            2 => r#""Grüße aus Köln""#,
            _ => "null",
        };
        write!(
            order,
            r#"{separator}{{"id":"ord-{number:08}","customer":"Customer number {number}","email":"customer.{number}@example.com","status":"{status}","quantity":{},"price":{}.{:02},"express":{},"note":{note},"tags":["blue","gift","fragile"]}}"#,
            1 + number % 90,
            number % 2_000,
            number % 100,
            number % 3 == 0,
        )
        .expect("a String takes everything");
        if number > 0 && text.len() + order.len() + 2 > size {
            break;
        }
        text += &order;
    }
    text += "]}";
    text.into_bytes()
}

/// Both ways to judge a body. Ours is the gateway's own: the same function an act goes through.
struct Judges {
    ours: CompiledForm,
    theirs: jsonschema::Validator,
    document: Document,
}

impl Judges {
    fn new() -> Self {
        let form = form();
        Self {
            ours: compile(&form.to_string()),
            theirs: jsonschema::options().build(&form).expect("the form is right"),
            document: Document::new(),
        }
    }

    fn parse(&mut self, body: &[u8]) -> bool {
        self.document.parse(black_box(body)).is_ok()
    }

    fn judge(&mut self, body: &[u8]) -> bool {
        judge(&self.ours, usize::MAX, &mut self.document, black_box(body)).is_ok()
    }

    fn judge_with_serde(&self, body: &[u8]) -> bool {
        parse_with_serde(black_box(body)).is_ok_and(|value| self.theirs.is_valid(&value))
    }
}

/// The groups of criterion.
pub(crate) fn measure(criterion: &mut Criterion) {
    let mut judges = Judges::new();
    let mut parsing = criterion.benchmark_group("parse");
    for (size, name) in SIZES {
        let body = body(size);
        parsing.throughput(Throughput::Bytes(body.len() as u64));
        parsing.bench_function(BenchmarkId::new("formgate", name), |b| b.iter(|| judges.parse(&body)));
        parsing.bench_function(BenchmarkId::new("serde", name), |b| {
            b.iter(|| parse_with_serde(black_box(&body)));
        });
    }
    parsing.finish();
    let mut judging = criterion.benchmark_group("parse_validate");
    for (size, name) in SIZES {
        let body = body(size);
        judging.throughput(Throughput::Bytes(body.len() as u64));
        judging.bench_function(BenchmarkId::new("formgate", name), |b| b.iter(|| judges.judge(&body)));
        judging
            .bench_function(BenchmarkId::new("serde", name), |b| b.iter(|| judges.judge_with_serde(&body)));
    }
    judging.finish();
}

/// Prints what share of the time of `serde_json` ours takes: medians of rounds that alternate, so
/// that whatever else the machine does falls on both.
pub(crate) fn compare() {
    let mut judges = Judges::new();
    println!("\nours / serde_json refusing duplicates, medians of alternating rounds");
    println!("{:>8} {:>9} {:>16}", "", "parse", "parse + validate");
    for (size, name) in SIZES {
        let body = body(size);
        assert!(judges.judge(&body) && judges.judge_with_serde(&body), "both accept the {name} body");
        let turns = (1 << 21) / body.len();
        let mut rounds: [Vec<Duration>; 4] = Default::default();
        for _ in 0..15 {
            rounds[0].push(time(turns, || judges.parse(&body)));
            rounds[1].push(time(turns, || parse_with_serde(black_box(&body)).is_ok()));
            rounds[2].push(time(turns, || judges.judge(&body)));
            rounds[3].push(time(turns, || judges.judge_with_serde(&body)));
        }
        let [ours, theirs, our_verdict, their_verdict] = rounds.map(median);
        println!(
            "{name:>8} {:>9.2} {:>16.2}   {:>6.0} MB/s parsed, {:>6.0} MB/s judged",
            ours.as_secs_f64() / theirs.as_secs_f64(),
            our_verdict.as_secs_f64() / their_verdict.as_secs_f64(),
            megabytes_a_second(turns * body.len(), ours),
            megabytes_a_second(turns * body.len(), our_verdict),
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "printed with no decimals")]
fn megabytes_a_second(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

fn time(turns: usize, mut step: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    for _ in 0..turns {
        black_box(step());
    }
    start.elapsed()
}

fn median(mut rounds: Vec<Duration>) -> Duration {
    rounds.sort_unstable();
    rounds[rounds.len() / 2]
}

/// What one would write without formgate.
fn parse_with_serde(body: &[u8]) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = Unique.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Reads a `Value` and refuses a member name twice in one object.
struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value without duplicate names")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(truth.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element_seed(Unique)? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            let value = access.next_value_seed(Unique)?;
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a member name twice"));
            }
        }
        Ok(Value::Object(members))
    }
}
