//! Translating: what was gathered, written as a schema of draft 2020-12 that is closed and bounded.
//!
//! What is written admits nothing that the source does not admit: every step leaves as much room or less. A member that
//! cannot be carried is left out where it is optional, and takes the schema around it with it where it is required.

use super::gather::{Cause, Gathering, Refusal};
use super::source::Place;
use super::whole::{Kinds, Whole, Words};
use super::written::{Written, nice, shortened};

/// How often a schema may stand within itself.
const ROUNDS: usize = 2;
/// Schemas in one form.
const MOST: usize = 12_000;
/// Characters of a description of a part.
const DESCRIPTION: usize = 1000;

/// The bounds that are guessed where the source says none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Characters of a string.
    pub(super) string: u64,
    /// Elements of an array.
    pub(super) array: u64,
    /// Members of a map.
    pub(super) map: u64,
}

pub(super) struct Translation<'d, 'g> {
    pub(super) gathering: Gathering<'d, 'g>,
    pub(super) bounds: Bounds,
    /// Members and elements within each other.
    pub(super) deepest: usize,
    written: usize,
}

/// Where a schema stands: the references that were followed to come here, how deep, and whether it must be.
#[derive(Clone, Copy)]
pub(super) struct Stand<'t> {
    pub(super) trail: &'t [usize],
    pub(super) depth: usize,
    pub(super) must: bool,
}

impl<'d, 'g> Translation<'d, 'g> {
    pub(super) fn new(gathering: Gathering<'d, 'g>, bounds: Bounds, deepest: usize) -> Self {
        Self { gathering, bounds, deepest, written: 0 }
    }

    /// The form of a body.
    pub(super) fn body(&mut self, place: &Place<'d>) -> Result<Written, Refusal> {
        let whole = self.gathering.all(&place.at, std::slice::from_ref(place))?;
        self.schema(whole, Stand { trail: &[], depth: 0, must: false })
    }

    /// A value that must be there: a parameter.
    pub(super) fn parameter(&mut self, place: &Place<'d>) -> Result<Written, Refusal> {
        let whole = self.gathering.all(&place.at, std::slice::from_ref(place))?;
        self.schema(whole, Stand { trail: &[], depth: 1, must: true })
    }

    pub(super) fn schema(&mut self, whole: Whole<'d>, stand: Stand<'_>) -> Result<Written, Refusal> {
        let at = whole.at.clone();
        self.written += 1;
        if self.written > MOST {
            return Err(Refusal::new(&at, format!("more than {MOST} schemas"), Cause::Large));
        }
        if stand.depth > self.deepest {
            return Err(Refusal::new(&at, format!("deeper than {} levels", self.deepest), Cause::Deep));
        }
        let again = |target: &usize| stand.trail.iter().filter(|known| *known == target).count() >= ROUNDS;
        if whole.through.iter().any(again) {
            return Err(Refusal::new(&at, "it refers to itself", Cause::Deep));
        }
        let mut trail = stand.trail.to_vec();
        trail.extend(&whole.through);
        let stand = Stand { trail: &trail, ..stand };
        if whole.alternatives.is_empty() { self.plain(whole, stand) } else { self.alternatives(whole, stand) }
    }

    fn plain(&mut self, mut whole: Whole<'d>, stand: Stand<'_>) -> Result<Written, Refusal> {
        let words = whole.take_words();
        let kinds = whole.meant();
        if kinds.is_empty() || kinds == Kinds::ALL {
            if kinds == Kinds::ALL || whole.values.is_none() && !whole.typed {
                return self.any_value(&whole, &words, stand);
            }
            let listed = whole.values.is_some();
            let reason = if listed { "no value of its `enum` fits it" } else { "no value fits it" };
            return Err(Refusal::other(&whole.at, reason));
        }
        self.enter_unused(&whole, kinds);
        let mut out = described(&words);
        if let Some(values) = &whole.values {
            listed(values, kinds, &whole.at, &mut out)?;
            self.scalars(&whole, kinds, false, &mut out)?;
        } else {
            let names = kinds.names();
            out.put("type", if let [one] = names[..] { Written::text(one) } else { Written::texts(names) });
            self.scalars(&whole, kinds, true, &mut out)?;
            if kinds.has(Kinds::OBJECT) {
                self.object(&whole, stand, &mut out)?;
            }
            if kinds.has(Kinds::ARRAY) {
                self.array(&whole, stand, &mut out)?;
            }
        }
        for (keyword, value) in whole.verbatim.iter().flatten() {
            if out.get(keyword).is_some() {
                return Err(Refusal::other(&whole.at, format!("`{keyword}` twice")));
            }
            out.put(keyword, value.clone());
        }
        self.default(&words, kinds, whole.values.as_deref(), &mut out);
        Ok(out)
    }

    /// What a schema says about types that it does not admit says nothing.
    fn enter_unused(&mut self, whole: &Whole<'d>, kinds: Kinds) {
        let members = whole.properties.iter().flat_map(|(_, property)| &property.places);
        let rules = whole.closings.iter().map(|closing| closing.at.clone());
        let objects = members.chain(&whole.names).chain(whole.patterned.iter().map(|(_, place)| place));
        let objects: Vec<String> = objects.map(|place| place.at.to_string()).chain(rules).collect();
        let arrays =
            whole.items.iter().chain(&whole.prefix).chain(whole.contains.iter().map(|(place, _)| place));
        let arrays: Vec<String> = arrays.map(|place| place.at.to_string()).collect();
        for (kind, unused) in [(Kinds::OBJECT, objects), (Kinds::ARRAY, arrays)] {
            if !kinds.has(kind) || whole.values.is_some() {
                for at in unused {
                    let why = "left out: its schema does not admit the type that this is about";
                    self.gathering.ledger.dropped(at, why);
                }
            }
        }
    }

    /// Where any value would fit: what a model can be asked for, if something must stand there.
    fn any_value(&mut self, whole: &Whole<'d>, words: &Words, stand: Stand<'_>) -> Result<Written, Refusal> {
        if !stand.must || !whole.verbatim.is_empty() {
            return Err(Refusal::new(&whole.at, "any value would fit it", Cause::Anything));
        }
        let mut out = described(words);
        self.put_scalars_of_any_kind(&mut out);
        Ok(out)
    }

    fn put_scalars_of_any_kind(&self, out: &mut Written) {
        out.put("type", Written::texts(["string", "number", "boolean", "null"]));
        out.put("maxLength", Written::guess(&self.bounds.string));
    }

    fn default(&mut self, words: &Words, kinds: Kinds, values: Option<&[Written]>, out: &mut Written) {
        let Some((at, default)) = &words.default else { return };
        let fits = kinds.has(Kinds::of(default)) && values.is_none_or(|values| values.contains(default));
        if fits {
            out.put("default", default.clone());
        } else {
            self.gathering.ledger.dropped(at.clone(), "the default does not fit its own schema");
        }
    }

    /// What is said about numbers and strings; with `guess`, what is not said is bounded all the same.
    pub(super) fn scalars(
        &mut self,
        whole: &Whole<'d>,
        kinds: Kinds,
        guess: bool,
        out: &mut Written,
    ) -> Result<(), Refusal> {
        let mut more = Vec::new();
        if kinds.has(Kinds::STRING) {
            self.string(whole, guess, out, &mut more)?;
        }
        if kinds.has(Kinds::NUMERIC) {
            let whole_numbers = guess && !kinds.has(Kinds::NUMERIC.without(Kinds::INTEGER));
            for (limit, names, safe) in [
                (&whole.low, ["minimum", "exclusiveMinimum"], "-9007199254740991"),
                (&whole.high, ["maximum", "exclusiveMaximum"], "9007199254740991"),
            ] {
                match limit {
                    Some(limit) => out.put(names[usize::from(limit.open)], Written::number(&limit.text)),
                    None if whole_numbers => out.put(names[0], Written::guess(&safe)),
                    None => {}
                }
            }
            for (index, divisor) in whole.multiples.names().enumerate() {
                let divisor = Written::number(divisor);
                if index == 0 {
                    out.put("multipleOf", divisor);
                } else {
                    more.push(Written::Object(vec![("multipleOf".to_owned(), divisor)]));
                }
            }
        }
        if !more.is_empty() {
            out.put("allOf", Written::Array(more));
        }
        Ok(())
    }

    fn string(
        &mut self,
        whole: &Whole<'d>,
        guess: bool,
        out: &mut Written,
        more: &mut Vec<Written>,
    ) -> Result<(), Refusal> {
        if whole.formats.has("binary") {
            return Err(Refusal::other(&whole.at, "bytes cannot be in a JSON body (`format: binary`)"));
        }
        let mut ends = false;
        for (index, (pattern, at)) in whole.patterns.iter().enumerate() {
            let extent = crate::form::pattern_extent(pattern)
                .map_err(|reason| Refusal::other(at, format!("its pattern cannot be enforced: {reason}")))?;
            ends |= extent.is_some();
            let pattern = Written::text(pattern);
            if index == 0 {
                out.put("pattern", pattern);
            } else {
                more.push(Written::Object(vec![("pattern".to_owned(), pattern)]));
            }
        }
        for (index, format) in whole.formats.names().enumerate() {
            let format = Written::text(format);
            if index == 0 {
                out.put("format", format);
            } else {
                more.push(Written::Object(vec![("format".to_owned(), format)]));
            }
        }
        if whole.min_length > 0 {
            out.put("minLength", Written::number(&whole.min_length));
        }
        let window = whole.formats.names().filter_map(|format| window(format)).min();
        match (whole.max_length, window) {
            (Some(most), _) => out.put("maxLength", Written::number(&most)),
            (None, _) if !guess || ends => {}
            (None, Some(0)) => {}
            (None, Some(window)) => out.put("maxLength", Written::guess(&window.max(whole.min_length))),
            (None, None) => {
                let most = self.bounds.string.max(nice(whole.min_length));
                out.put("maxLength", Written::guess(&most));
            }
        }
        Ok(())
    }

    fn array(&mut self, whole: &Whole<'d>, stand: Stand<'_>, out: &mut Written) -> Result<(), Refusal> {
        let inner = Stand { depth: stand.depth + 1, ..stand };
        let mut prefix = Vec::new();
        for place in &whole.prefix {
            let element = self.gathering.all(&place.at, std::slice::from_ref(place))?;
            prefix.push(self.schema(element, Stand { must: true, ..inner })?);
        }
        let most = whole.max_items.unwrap_or(u64::MAX);
        let fixed = prefix.len() as u64;
        if !prefix.is_empty() {
            out.put("prefixItems", Written::Array(prefix));
        }
        let mut closed = false;
        if whole.items.is_empty() {
            if fixed > 0 {
                closed = true;
                out.put("items", Written::Boolean(false));
            } else if stand.must {
                let mut scalars = Written::Object(Vec::new());
                self.put_scalars_of_any_kind(&mut scalars);
                out.put("items", scalars);
            } else {
                return Err(Refusal::new(&whole.at, "any array would fit it", Cause::AnyArray));
            }
        } else {
            let element = self.gathering.all(&whole.items[0].at, &whole.items)?;
            match self.schema(element, inner) {
                Ok(items) => out.put("items", items),
                // An array that must be there may still be empty.
                Err(refusal)
                    if stand.must && whole.min_items == 0 && fixed == 0 && refusal.cause != Cause::Large =>
                {
                    self.leave_out(whole.items[0].at.to_string(), &refusal);
                    out.put("maxItems", Written::number(&0));
                    return Ok(());
                }
                Err(refusal) => return Err(refusal),
            }
        }
        if let [(place, least)] = &whole.contains[..] {
            let element = self.gathering.all(&place.at, std::slice::from_ref(place))?;
            let contains = self.schema(element, inner)?;
            out.put("contains", contains);
            if let Some(least) = least {
                out.put("minContains", Written::number(&least));
            }
        } else if !whole.contains.is_empty() {
            return Err(Refusal::other(&whole.at, "`contains` twice"));
        }
        if whole.min_items > 0 {
            out.put("minItems", Written::number(&whole.min_items));
        }
        if most != u64::MAX {
            out.put("maxItems", Written::number(&most));
        } else if closed {
            out.put("maxItems", Written::number(&fixed));
        } else {
            out.put("maxItems", Written::guess(&self.bounds.array.max(nice(whole.min_items)).max(fixed)));
        }
        if whole.unique {
            out.put("uniqueItems", Written::Boolean(true));
        }
        Ok(())
    }

    pub(super) fn leave_out(&mut self, pointer: String, refusal: &Refusal) {
        let why = if refusal.at == pointer {
            format!("left out: {}", refusal.reason)
        } else {
            format!("left out: {} ({})", refusal.reason, refusal.at)
        };
        self.gathering.ledger.dropped(pointer, why);
    }
}

impl Stand<'_> {
    pub(super) fn is_must(self) -> bool {
        self.must
    }

    pub(super) fn optional(self) -> Self {
        Self { must: false, ..self }
    }
}

/// `title` and `description`, and whether it is deprecated.
pub(super) fn described(words: &Words) -> Written {
    let mut out = Written::Object(Vec::new());
    if let Some(title) = words.title.as_deref().filter(|title| !title.trim().is_empty()) {
        out.put("title", Written::text(shortened(title, 200)));
    }
    if let Some(text) = words.description.as_deref().filter(|text| !text.trim().is_empty()) {
        out.put("description", Written::text(shortened(text, DESCRIPTION)));
    }
    if words.deprecated {
        out.put("deprecated", Written::Boolean(true));
    }
    out
}

/// `enum`, or `const` for one value.
fn listed(values: &[Written], kinds: Kinds, at: &str, out: &mut Written) -> Result<(), Refusal> {
    let kept: Vec<Written> = values.iter().filter(|value| kinds.has(Kinds::of(value))).cloned().collect();
    if kept.iter().any(|value| matches!(value, Written::Array(_) | Written::Object(_))) {
        return Err(Refusal::other(at, "an `enum` with arrays or objects in it"));
    }
    match &kept[..] {
        [] => return Err(Refusal::other(at, "no value of its `enum` fits it")),
        [one] => out.put("const", one.clone()),
        _ => out.put("enum", Written::Array(kept)),
    }
    Ok(())
}

/// The longest that values of a format are; 0 where the format bounds them itself.
fn window(format: &str) -> Option<u64> {
    match format {
        "date" | "uuid" | "ipv4" | "ipv6" | "hostname" => Some(0),
        "date-time" | "time" | "duration" => Some(64),
        "email" => Some(254),
        "uri" | "uri-reference" | "iri" | "iri-reference" | "uri-template" => Some(2000),
        _ => None,
    }
}
