//! Carrying one operation: its form, small enough and compiled as `check` will compile it, and the examples that it fits.

use super::choose::{NotCarried, Operation};
use super::gather::{Cause, Gathering, Refusal};
use super::ledger::Ledger;
use super::members::{nothing_else, unproven, with_members};
use super::source::{Links, Place, Source};
use super::translate::{Bounds, Translation};
use super::written::{Guess, Written, shortened};
use crate::form::{CompiledForm, FormFault, FormOptions, Numbers};
use crate::json::Document;
use crate::lint::{Lint, LintLevels};

/// Levels that are tried, until the form is small enough.
const LEVELS: &[usize] = &[12, 8, 6, 5, 4, 3, 2];
/// Bytes of a form; the loader takes 256 KiB.
const TEXT: usize = 200_000;
/// Bytes of an example, and how many of a route.
const EXAMPLE: usize = 4096;
const EXAMPLES: usize = 3;

/// What is guessed, and the `max_body` that goes with it: from roomy to tight, until the largest body fits.
const STEPS: &[(Bounds, usize)] = &[
    (Bounds { string: 1000, array: 100, map: 50 }, 64 << 10),
    (Bounds { string: 1000, array: 100, map: 50 }, 256 << 10),
    (Bounds { string: 1000, array: 20, map: 20 }, 256 << 10),
    (Bounds { string: 255, array: 20, map: 20 }, 1 << 20),
    (Bounds { string: 255, array: 10, map: 10 }, 1 << 20),
    (Bounds { string: 100, array: 5, map: 5 }, 1 << 20),
];

/// A form, and what is to be told about it.
#[derive(Debug, Clone)]
pub(super) struct Carried {
    pub(super) form: Written,
    pub(super) guesses: Vec<Guess>,
    /// Members of the path that are held to a pattern which nobody said.
    pub(super) words: Vec<String>,
    pub(super) ledger: Ledger,
    pub(super) max_body: usize,
    /// JSON text of bodies that the source gives as examples, and the form admits.
    pub(super) examples: Vec<String>,
    /// Those that are not: where they stand, and why.
    pub(super) other_examples: Vec<(String, String)>,
}

/// The form of an operation, or why there is none.
pub(super) fn carry<'d>(
    source: &'d Source,
    links: &Links<'d>,
    operation: &Operation<'d>,
) -> Result<Carried, (NotCarried, String)> {
    let translate = |bounds: Bounds, deepest: usize| {
        let gathering = Gathering { links, dialect: source.dialect, ledger: Ledger::default() };
        let mut translation = Translation::new(gathering, bounds, deepest);
        let form = match &operation.body {
            Some(body) => translation.body(body)?,
            None => nothing_else(),
        };
        let members = translation.members(&operation.members)?;
        let form = if members.is_empty() {
            form
        } else {
            let at = operation.body.as_ref().map_or("", |body| &body.at);
            with_members(form, &members).map_err(|reason| Refusal::other(at, reason))?
        };
        let words: Vec<String> =
            members.into_iter().filter(|(_, _, guessed)| *guessed).map(|(name, ..)| name).collect();
        Ok::<_, Refusal>((form, translation.gathering.ledger, words))
    };
    let refused = |refusal: &Refusal| {
        (NotCarried::Schema, format!("{} (at {})", refusal.reason, shown_pointer(&refusal.at)))
    };
    let mut found = None;
    for &deepest in LEVELS {
        match translate(STEPS[0].0, deepest) {
            Ok((form, ledger, words)) if form.compact().len() <= TEXT => {
                found = Some((deepest, form, ledger, words));
                break;
            }
            Ok(_) => {}
            Err(refusal) if matches!(refusal.cause, Cause::Large) => {}
            Err(refusal) => return Err(refused(&refusal)),
        }
    }
    let Some((deepest, mut form, mut ledger, words)) = found else {
        return Err((NotCarried::Schema, format!("its form would be larger than {TEXT} bytes")));
    };
    let told = described(operation);
    let mut fitting = None;
    for (index, &(bounds, max_body)) in STEPS.iter().enumerate() {
        if index > 0 && bounds != STEPS[index - 1].0 {
            (form, ledger, _) = translate(bounds, deepest).map_err(|refusal| refused(&refusal))?;
        }
        let form = with_description(form.clone(), &told);
        let compiled =
            compile(&form.compact(), max_body).map_err(|faults| (NotCarried::Schema, spoken(&faults)))?;
        let fits = compiled.warnings().iter().all(|warning| warning.lint != Some(Lint::LargestBody));
        fitting = Some((form, ledger.clone(), compiled, max_body));
        if fits {
            break;
        }
    }
    let Some((form, mut ledger, compiled, max_body)) = fitting else {
        return Err((NotCarried::Schema, "it has no form".to_owned()));
    };
    if let Some(reason) = unproven(operation, &compiled) {
        return Err((NotCarried::PathParameters, reason));
    }
    let mut examples = Vec::new();
    let mut other_examples = Vec::new();
    for place in &operation.examples {
        ledger.translated(place.at.to_string());
        match example(place, &compiled, max_body) {
            Ok(text) if examples.contains(&text) => {}
            Ok(text) if examples.len() < EXAMPLES => examples.push(text),
            Ok(_) => other_examples.push((place.at.to_string(), format!("{EXAMPLES} are enough"))),
            Err(why) => other_examples.push((place.at.to_string(), why)),
        }
    }
    Ok(Carried { guesses: form.guesses(), form, words, ledger, max_body, examples, other_examples })
}

/// Compiles a form as the loader does where nothing else is said.
pub(super) fn compile(text: &str, max_body: usize) -> Result<CompiledForm, Vec<FormFault>> {
    let options = FormOptions {
        lints: LintLevels::default(),
        annotations: Vec::new(),
        unroll: None,
        numbers: Numbers::Exact,
        max_body,
    };
    CompiledForm::compile(text, &options)
}

fn spoken(faults: &[FormFault]) -> String {
    let mut words: Vec<String> = faults
        .iter()
        .take(3)
        .map(|fault| format!("{} (at {} of the form)", fault.reason, fault.pointer))
        .collect();
    if faults.len() > 3 {
        words.push(format!("and {} more", faults.len() - 3));
    }
    words.join("; ")
}

/// What the operation is, for a form that does not say it itself.
fn described(operation: &Operation<'_>) -> String {
    let said = [&operation.description, &operation.summary].into_iter().find(|text| !text.trim().is_empty());
    match said {
        Some(text) => shortened(text, 300),
        None => format!("{} {}", operation.named.method, operation.named.path),
    }
}

/// The description goes first: it is read first.
fn with_description(form: Written, text: &str) -> Written {
    if form.get("description").is_some() {
        return form;
    }
    let Written::Object(members) = form else { return form };
    let first = ("description".to_owned(), Written::text(text));
    Written::Object(std::iter::once(first).chain(members).collect())
}

fn example(place: &Place<'_>, form: &CompiledForm, max_body: usize) -> Result<String, String> {
    let mut text = Written::of(place.node).compact();
    let mut document = Document::new();
    // Some documents quote their examples.
    if let Some(quoted) = place.node.as_text()
        && Document::new().parse(quoted.as_bytes()).is_ok_and(|value| value.as_object().is_some())
    {
        quoted.trim().clone_into(&mut text);
    }
    if text.len() > EXAMPLE.min(max_body) {
        return Err(format!("longer than {EXAMPLE} bytes"));
    }
    let value = document.parse(text.as_bytes()).map_err(|fault| fault.to_string())?;
    match form.check(value) {
        Ok(()) => Ok(text),
        Err(mismatch) => Err(format!(
            "the form does not admit it: `{}` at {} of the form, {} of the example",
            mismatch.keyword,
            shown_pointer(&mismatch.schema_pointer),
            shown_pointer(&mismatch.instance_pointer)
        )),
    }
}

fn shown_pointer(pointer: &str) -> &str {
    if pointer.is_empty() { "the root" } else { pointer }
}
