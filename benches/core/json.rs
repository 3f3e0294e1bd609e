//! Reading and judging a body: our document, beside `serde_json` made to refuse duplicate names.

use super::subject::{SIZES, body, compile, form, parse_with_serde};
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use formgate::form::CompiledForm;
use formgate::gateway::judge;
use formgate::json::Document;

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
