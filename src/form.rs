//! Forms: JSON Schemas of five drafts, closed to whatever would not be enforced.
//!
//! From text to verdict:
//!
//! 1. `source` reads the text as strictly as a body, and keeps order, offsets and numbers.
//! 2. `dialect` walks it against the table in `keywords`; `shape` and `pattern` look at values.
//! 3. `references` resolves every reference and looks for cycles.
//! 4. `advice` runs the lints; `extent` measures the longest body; `unroll` writes recursion out.
//! 5. `enforced` builds the validator, with numbers decided by `exact`; `witness` looks whether anything fits, with
//!    values from `candidates`, or `compare` asks the algebra, and `barren` says why where nothing does; `difference`
//!    holds two forms against each other, with such values.
//! 6. `glance` sees of most bodies that they fit while they are read, so that neither document nor validator is needed.
//! 7. `representation` makes the bytes that are served; `embed` the text that stands in other documents.
//!
//! The text that is published is the text that was compiled: one value, one digest.

mod advice;
mod barren;
mod candidates;
mod compare;
mod dialect;
mod difference;
mod draft;
mod effort;
mod embed;
mod enforced;
mod exact;
mod examples;
mod extent;
mod glance;
mod keywords;
mod member;
mod pattern;
mod references;
mod representation;
mod shape;
mod source;
mod suggestion;
mod unroll;
mod witness;

pub use difference::{Difference, Excess};
pub use embed::{Embedded, Embedding, Root, shortened};
pub use glance::Seen;
pub use member::{SafeMember, Unproven};
pub use representation::{Representation, Variant, arrival, digest};
/// What documents of others are read into as well: ordered, numbers as written.
pub(crate) use source::{Node, Tree, below};

use crate::json::{Strict, Value};
use crate::lint::{Level, Lint, LintLevels};
use jsonschema::Validator;
use std::sync::OnceLock;

/// What a route asks of its form beyond the schema itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FormOptions {
    /// The level of each lint.
    pub lints: LintLevels,
    /// Keyword names that the route declares to carry no constraint (`annotations:`), e.g.
    /// `x-internal`. They are published as they stand.
    pub annotations: Vec<String>,
    /// Unroll recursive definitions to this depth before publishing and enforcing.
    pub unroll: Option<u32>,
    /// How the backend reads numbers.
    pub numbers: Numbers,
    /// The route's limit on a body in bytes; a form whose largest value exceeds it is linted.
    pub max_body: usize,
}

/// How the backend of a route reads numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Numbers {
    /// JSON Schema's own reading.
    #[default]
    Exact,
    /// Integers beyond 2^53−1 are refused everywhere, and `1.0` or exponents where `type` asks
    /// for `integer`. See [`CompiledForm::numbers_safe`].
    SafeIntegers,
}

/// What a route asks of a form that has nothing of the kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused {
    /// `unroll`, and nothing recurs.
    pub unroll: bool,
    /// Annotations that no schema of it has.
    pub annotations: Vec<String>,
}

/// One thing wrong with a form, or one lint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormFault {
    /// JSON Pointer (RFC 6901) into the form; for faults of an unrolled form, into that.
    pub pointer: String,
    /// Byte offset into the form's text.
    pub at: usize,
    /// What is wrong, in words.
    pub reason: String,
    /// What to write instead.
    pub suggestion: Option<String>,
    /// The lint it comes from; `None` when nothing can lower it.
    pub lint: Option<Lint>,
}

/// A form that exists is enforceable, and what it publishes is what it enforces.
#[derive(Debug)]
pub struct CompiledForm {
    published: String,
    warnings: Vec<FormFault>,
    /// What tells of most bodies while they are read that they fit.
    plan: Option<glance::Plan>,
    validator: Validator<Strict>,
    /// Whether its references are counted: see `effort`.
    counted: bool,
    /// What tells why a value does not fit.
    teller: Teller,
    /// Only where numbers must be safe: the same form, `integer` as the backend reads it.
    safe: Option<Validator<Strict>>,
    /// For the algebra, which knows the standard keywords only; made when it is asked for.
    standard: OnceLock<serde_json::Value>,
    /// Whether all numbers of the form came into `standard` unrounded.
    rounded: bool,
    places: Vec<(String, String)>,
    /// Whether it may admit a number where no `type` says `integer`.
    loose: bool,
    unused: Unused,
}

/// What tells why a value does not fit.
#[derive(Debug)]
enum Teller {
    /// The validator that decides.
    Same,
    /// One that does not gather the errors of alternatives.
    Apart(Box<Validator<Strict>>),
    /// Nothing at a bounded price.
    None,
}

/// The first thing about a value that the form does not admit. Never carries the value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mismatch {
    /// JSON Pointer into the form, ending in the keyword that refused.
    pub schema_pointer: String,
    /// That keyword; `falseSchema` where the schema is `false`.
    pub keyword: String,
    /// JSON Pointer into the body. Names come from the client: for `explain` only, never for logs or labels.
    pub instance_pointer: String,
}

/// How many places of a form are told apart by metrics.
pub const PLACES: usize = 64;

/// How a newer form relates to an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Both admit the same values.
    Same,
    /// The newer refuses nothing that fitted; it admits more, as far as could be decided.
    Widened,
    /// The newer admits nothing new; it refuses some, as far as could be decided.
    Narrowed,
    /// Some fit no longer, others do now.
    Both,
    /// The containment could not be decided.
    Unknown,
}

/// Whether a form may name this `format` (draft 2020-12).
pub(crate) fn checks_format(name: &str) -> bool {
    draft::Draft::Twenty.checks_format(name)
}

/// Whether any draft has a keyword of this name.
pub(crate) fn is_keyword(name: &str) -> bool {
    keywords::is_keyword(name)
}

/// Characters of the longest text that a pattern admits, where it has an end; or why a form may not have it.
pub(crate) fn pattern_extent(text: &str) -> Result<Option<u64>, &'static str> {
    let reading = pattern::read(text).map_err(|fault| fault.reason)?;
    if !enforced::compiles(text) {
        return Err("the pattern is too large for the engine");
    }
    Ok(reading.longest.filter(|_| reading.anchored))
}

impl CompiledForm {
    /// Compiles a form from its JSON text, or says everything that is wrong with it, in the order
    /// of the text.
    pub fn compile(text: &str, options: &FormOptions) -> Result<Self, Vec<FormFault>> {
        let mut faults = Vec::new();
        dialect::check_annotations(&options.annotations, &mut faults);
        let mut warnings = Vec::new();
        let compiled = match read(text, options, &mut warnings) {
            Ok(compiled) => Some(compiled),
            Err(found) => {
                faults.extend(found);
                None
            }
        };
        let mut kept = Vec::new();
        for finding in warnings {
            let level = finding.lint.map_or(Level::Deny, |lint| options.lints.of(lint));
            match level {
                Level::Allow => {}
                Level::Warn => kept.push(finding),
                Level::Deny => faults.push(finding),
            }
        }
        kept.sort_by(|a, b| a.at.cmp(&b.at).then_with(|| a.pointer.cmp(&b.pointer)));
        faults.sort_by(|a, b| a.at.cmp(&b.at).then_with(|| a.pointer.cmp(&b.pointer)));
        match compiled {
            Some(form) if faults.is_empty() => Ok(Self { warnings: kept, ..form }),
            _ => Err(faults),
        }
    }

    /// The JSON text of `s` as published: compact, members in the order of the source, strings and
    /// numbers as written.
    pub fn published(&self) -> &str {
        &self.published
    }

    /// Where a [`Mismatch`] can be: pointer and the keyword there, in the order of the text; each pointer once, the first
    /// [`PLACES`] of them.
    pub fn places(&self) -> &[(String, String)] {
        &self.places
    }

    /// Lints at level `warn`.
    pub fn warnings(&self) -> &[FormFault] {
        &self.warnings
    }

    /// What the route asks for in vain.
    pub fn unused(&self) -> &Unused {
        &self.unused
    }

    /// The one question. Linear, no allocation that grows with the body, no panic.
    ///
    /// Where alternatives can multiply along references (lint `repeated-work`), a value that would
    /// take more than 16 references a byte is refused instead.
    pub fn admits(&self, value: Value<'_>) -> bool {
        self.asked(&self.validator, value)
    }

    /// Whether a body is one strict JSON value that fits, its numbers safe: what a look shows while reading it, at a
    /// fraction of the price of [`crate::json::Document::parse`] and [`Self::check`]. It never contradicts them.
    pub fn glance(&self, body: &[u8]) -> Seen {
        self.plan.as_ref().map_or(Seen::Unsure, |plan| plan.see(body))
    }

    fn asked(&self, validator: &Validator<Strict>, value: Value<'_>) -> bool {
        if !self.counted {
            return validator.is_valid(value);
        }
        effort::within(self.references(value), || validator.is_valid(value)) == Some(true)
    }

    fn standard(&self) -> &serde_json::Value {
        self.standard.get_or_init(|| {
            let root = Node::parse(&self.published).ok();
            let draft = root.as_ref().and_then(|root| dialect::draft_of(root).ok());
            // It was read and had a draft when it was compiled.
            root.zip(draft).map_or(true.into(), |(root, draft)| enforced::standard(draft, root.to_serde()))
        })
    }

    /// How many references may be followed for a value, where they are counted.
    fn references(&self, value: Value<'_>) -> u64 {
        if self.counted { 4096 + 16 * value.span().len() as u64 } else { u64::MAX }
    }

    /// Why not, for metrics, log and `explain`. `None` when it is admitted.
    ///
    /// About as dear as [`Self::admits`]. Where it cannot be told at that price, the root is named.
    pub fn mismatch(&self, value: Value<'_>) -> Option<Mismatch> {
        self.check(value).err()
    }

    /// [`Self::admits`], and [`Self::mismatch`] where it does not.
    pub fn check(&self, value: Value<'_>) -> Result<(), Mismatch> {
        if self.admits(value) { Ok(()) } else { Err(self.tell(value)) }
    }

    /// Why a value does not fit of which that is known.
    pub fn tell(&self, value: Value<'_>) -> Mismatch {
        let validator = match &self.teller {
            Teller::Same => Some(&self.validator),
            Teller::Apart(validator) => Some(&**validator),
            Teller::None => None,
        };
        let found = validator.and_then(|validator| {
            effort::within(self.references(value), || {
                enforced::mismatch(validator, || self.standard(), value)
            })
        });
        // Were the two to disagree, the verdict stands.
        found.flatten().unwrap_or_else(|| Mismatch {
            schema_pointer: String::new(),
            keyword: "$ref".to_owned(),
            instance_pointer: String::new(),
        })
    }

    /// Under [`Numbers::SafeIntegers`], whether the backend reads every number of an admitted
    /// value as it was meant: no integer beyond ±(2^53−1) anywhere, and where `type` asks for
    /// `integer`, one written without point and exponent. Always true under [`Numbers::Exact`].
    pub fn numbers_safe(&self, value: Value<'_>) -> bool {
        self.safe.as_ref().is_none_or(|safe| exact::all_safe(value) && self.asked(safe, value))
    }
}

/// Reads one text: its faults, or the form. What lints find goes to `findings` either way.
fn read(
    text: &str,
    options: &FormOptions,
    findings: &mut Vec<FormFault>,
) -> Result<CompiledForm, Vec<FormFault>> {
    let root = Node::parse(text).map_err(|fault| vec![fault])?;
    if !root.is_object() {
        let reason = "a form is a JSON object: `s` is defined as one".to_owned();
        return Err(vec![FormFault {
            pointer: String::new(),
            at: root.at,
            reason,
            suggestion: root
                .as_bool()
                .map(|open| if open { "`{}` admits anything" } else { barren::AWAY }.to_owned()),
            lint: None,
        }]);
    }
    let draft = dialect::draft_of(&root).map_err(|fault| vec![fault])?;
    let document = root.to_serde();
    let mut chart = dialect::walk(&root, draft, &options.annotations);
    let mut faults = std::mem::take(&mut chart.faults);
    faults.extend(draft::meta_faults(&root, &document, draft, &faults));
    let graph = match references::resolve(&chart, &document) {
        Ok(graph) => graph,
        Err(found) => {
            faults.extend(found);
            return Err(faults);
        }
    };
    if let Some(fault) = effort::too_deep(&chart, &graph) {
        faults.push(fault);
        return Err(faults);
    }
    let unrolling = options.unroll.is_some();
    findings.extend(
        advice::find(&chart, &graph)
            .into_iter()
            .filter(|finding| !(unrolling && finding.lint == Some(Lint::UnboundedRecursion))),
    );
    if !faults.is_empty() {
        return Err(faults);
    }
    if let Some(levels) = options.unroll
        && let Some(unrolled) = unroll::unroll(&chart, &graph, levels)?
    {
        let once = FormOptions { unroll: None, ..options.clone() };
        // Findings about single places were made on the text that has offsets.
        let mut again = Vec::new();
        let form = read(&unrolled, &once, &mut again)
            .map_err(|faults| faults.into_iter().map(in_unrolled).collect::<Vec<_>>())?;
        findings.extend(again.into_iter().filter(|finding| {
            matches!(finding.lint, Some(Lint::LargestBody | Lint::UnboundedRecursion | Lint::RepeatedWork))
        }));
        return Ok(form);
    }
    findings.extend(advice::largest_body(&chart, &graph, options.max_body));
    let looks = effort::looks(&chart, &graph);
    findings.extend(advice::repeated_work(&chart, looks));
    finish(text, &chart, &graph, document, effort::is_much(looks), options)
}

/// Builds what enforces a form that has no fault in its text.
fn finish(
    text: &str,
    chart: &dialect::Chart<'_>,
    graph: &references::Graph,
    whole: serde_json::Value,
    counted: bool,
    options: &FormOptions,
) -> Result<CompiledForm, Vec<FormFault>> {
    let root = chart.places[0].node;
    let fault = |pointer: String, reason: String| {
        vec![FormFault { at: examples::place(root, &pointer), pointer, reason, suggestion: None, lint: None }]
    };
    let document = enforced::document(chart, Numbers::Exact, counted);
    let validator = enforced::build(&document)
        .map_err(|(pointer, reason)| fault(pointer, format!("the validator refuses it: {reason}")))?;
    let safe = match options.numbers {
        Numbers::Exact => None,
        Numbers::SafeIntegers => {
            let document = enforced::document(chart, Numbers::SafeIntegers, counted);
            let validator = enforced::build(&document)
                .map_err(|(pointer, reason)| fault(pointer, format!("the validator refuses it: {reason}")))?;
            Some(validator)
        }
    };
    let teller = if !enforced::has_alternatives(chart) {
        Teller::Same
    } else if let Some(document) = enforced::told(chart, graph, counted) {
        enforced::build(&document).map_or(Teller::None, |validator| Teller::Apart(Box::new(validator)))
    } else if counted {
        Teller::None
    } else {
        Teller::Same
    };
    let rounded = root.is_rounded();
    let standard = enforced::standard(chart.draft, whole);
    // A value that is tried may take long where references are counted.
    let is_made = || !counted && witness::is_made(&standard, &validator);
    let found = rounded || witness::is_in_sight(chart, graph) || is_made();
    debug_assert!(!found || rounded || !compare::admits_nothing(&standard), "{standard}");
    if !found && compare::admits_nothing(&standard) {
        return Err(vec![barren::fault(chart, graph)]);
    }
    let form = CompiledForm {
        published: source::compact(text),
        warnings: Vec::new(),
        plan: if counted { None } else { glance::plan(chart, graph) },
        validator,
        counted,
        teller,
        safe,
        standard: OnceLock::new(),
        rounded,
        places: enforced::places(chart),
        loose: exact::is_loose(chart),
        unused: Unused {
            unroll: options.unroll.is_some(),
            annotations: dialect::unused(chart, &options.annotations),
        },
    };
    let faults = examples::in_form(chart, &document);
    if faults.is_empty() { Ok(form) } else { Err(faults) }
}

/// A fault of the unrolled text, whose offsets nobody can look up.
fn in_unrolled(fault: FormFault) -> FormFault {
    FormFault { at: 0, reason: format!("in the unrolled form: {}", fault.reason), ..fault }
}
