//! Values worth trying against a form or two: made from a schema, at the edges of what it or both say.
//!
//! Whether one fits is asked afterwards; a guess may be wrong, so keywords that only exclude are passed over. The
//! same forms give the same values: the random numbers have a fixed seed.

mod chances;
mod text;

use chances::Chances;
use serde_json::{Map, Number, Value as Serde, json};

/// Schemas within each other.
const DEEPEST: u32 = 24;
/// Values within one.
const LARGEST: usize = 3000;
/// Elements of an array that is made.
const LONGEST: usize = 300;

/// What both forms say: the edges of one are worth trying in the other.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    numbers: Vec<f64>,
    lengths: Vec<usize>,
    names: Vec<String>,
    values: Vec<Serde>,
    /// Whether how a number is written may decide.
    written: bool,
}

impl Pool {
    pub(crate) fn of(forms: [&Serde; 2], written: bool) -> Self {
        let mut pool = Self { written, ..Self::default() };
        for form in forms {
            pool.gather(form);
        }
        pool.numbers.sort_by(f64::total_cmp);
        pool.numbers.dedup();
        pool.lengths.sort_unstable();
        pool.lengths.dedup();
        pool.names.sort_unstable();
        pool.names.dedup();
        pool
    }

    fn gather(&mut self, schema: &Serde) {
        match schema {
            Serde::Object(members) => {
                for (keyword, value) in members {
                    match (keyword.as_str(), value) {
                        (
                            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
                            | "maxProperties" | "minContains" | "maxContains",
                            value,
                        ) => {
                            let length = value.as_u64().and_then(|length| usize::try_from(length).ok());
                            self.lengths.extend(length.into_iter().flat_map(|length| [length, length + 1]));
                        }
                        (_, Serde::Number(number)) => self.numbers.extend(number.as_f64()),
                        ("properties", Serde::Object(names)) => self.names.extend(names.keys().cloned()),
                        ("required", Serde::Array(names)) => {
                            let names = names.iter().filter_map(Serde::as_str);
                            self.names.extend(names.map(ToOwned::to_owned));
                        }
                        ("enum", Serde::Array(values)) => self.values.extend(values.iter().cloned()),
                        ("const", value) => self.values.push(value.clone()),
                        _ => {}
                    }
                    self.gather(value);
                }
            }
            Serde::Array(elements) => elements.iter().for_each(|element| self.gather(element)),
            Serde::Null | Serde::Bool(_) | Serde::Number(_) | Serde::String(_) => {}
        }
    }
}

/// Values that may fit a schema: as many as there are tries, or fewer. The first is the plainest: everything as its own
/// schema says first, at its least.
pub(crate) fn values<'s>(
    schema: &'s Serde,
    pool: &'s Pool,
    tries: usize,
) -> impl Iterator<Item = Serde> + 's {
    let mut maker = Maker { root: schema, pool, chances: Chances::first(), left: 0 };
    (0..tries).filter_map(move |number| {
        if number == 1 {
            maker.chances = Chances::by_lot();
        }
        maker.left = LARGEST;
        maker.value(schema, DEEPEST)
    })
}

/// How large a value looks: its text.
pub(crate) fn weight(value: &Serde) -> usize {
    value.to_string().len()
}

/// The value with members and elements taken out as long as `holds`.
pub(crate) fn shrunk(mut value: Serde, mut checks: usize, holds: &mut impl FnMut(&Serde) -> bool) -> Serde {
    loop {
        let smaller = smaller(&value);
        let before = checks;
        let found = smaller.into_iter().find(|smaller| {
            checks = checks.saturating_sub(1);
            checks > 0 && holds(smaller)
        });
        match found {
            Some(smaller) => value = smaller,
            None => return value,
        }
        if checks == 0 || before == checks {
            return value;
        }
    }
}

/// Every value that has one member or element less.
fn smaller(value: &Serde) -> Vec<Serde> {
    match value {
        Serde::Object(members) => members
            .iter()
            .flat_map(|(name, member)| {
                let mut without = members.clone();
                without.remove(name);
                let within = smaller(member).into_iter().map(|smaller| {
                    let mut with = members.clone();
                    with.insert(name.clone(), smaller);
                    with
                });
                std::iter::once(without).chain(within).collect::<Vec<_>>()
            })
            .map(Serde::Object)
            .collect(),
        Serde::Array(elements) if elements.len() <= 64 => (0..elements.len())
            .flat_map(|index| {
                let mut without = elements.clone();
                without.remove(index);
                let within = smaller(&elements[index]).into_iter().map(|smaller| {
                    let mut with = elements.clone();
                    with[index] = smaller;
                    with
                });
                std::iter::once(without).chain(within).collect::<Vec<_>>()
            })
            .map(Serde::Array)
            .collect(),
        Serde::Array(_) | Serde::Null | Serde::Bool(_) | Serde::Number(_) | Serde::String(_) => Vec::new(),
    }
}

struct Maker<'s> {
    root: &'s Serde,
    pool: &'s Pool,
    chances: Chances,
    left: usize,
}

impl Maker<'_> {
    fn value(&mut self, schema: &Serde, depth: u32) -> Option<Serde> {
        let depth = depth.checked_sub(1)?;
        self.left = self.left.checked_sub(1)?;
        let members = match schema {
            Serde::Object(members) => members,
            Serde::Bool(false) => return None,
            Serde::Bool(true) | Serde::Null | Serde::Number(_) | Serde::String(_) | Serde::Array(_) => {
                return Some(self.anything());
            }
        };
        if let Some(value) = members.get("const") {
            return Some(value.clone());
        }
        if let Some(Serde::Array(values)) = members.get("enum") {
            return self.pick(values).cloned();
        }
        if let Some(merged) = self.merged(members) {
            return self.value(&Serde::Object(merged), depth);
        }
        let kind = self.kind(members)?;
        match kind {
            "null" => Some(Serde::Null),
            "boolean" => Some(Serde::Bool(self.chances.bool())),
            "string" => self.text(members).map(Serde::String),
            "integer" | "number" => self.number(members, kind == "integer"),
            "array" => self.array(members, depth),
            "object" => self.object(members, depth),
            _ => Some(self.anything()),
        }
    }

    /// The schema with one of what stands in place written into it; `None` where nothing stands in place.
    fn merged(&mut self, members: &Map<String, Serde>) -> Option<Map<String, Serde>> {
        let place = ["$ref", "allOf", "anyOf", "oneOf", "if"];
        let keyword = place.into_iter().find(|keyword| members.contains_key(*keyword))?;
        let mut rest = members.clone();
        let given = rest.remove(keyword)?;
        let more: Vec<Serde> = match (keyword, given) {
            ("$ref", Serde::String(reference)) => {
                let pointer = reference.strip_prefix('#')?;
                vec![self.root.pointer(pointer)?.clone()]
            }
            ("allOf", Serde::Array(all)) => all,
            ("anyOf" | "oneOf", Serde::Array(one)) => vec![self.pick(&one)?.clone()],
            ("if", condition) => {
                let (then, otherwise) = (rest.remove("then"), rest.remove("else"));
                if self.chances.bool() {
                    [Some(condition), then].into_iter().flatten().collect()
                } else {
                    otherwise.into_iter().collect()
                }
            }
            _ => Vec::new(),
        };
        for schema in more {
            match schema {
                Serde::Object(more) => merge(&mut rest, more),
                Serde::Bool(false) => {
                    rest.insert("type".to_owned(), json!([]));
                }
                _ => {}
            }
        }
        Some(rest)
    }

    fn kind<'m>(&mut self, members: &'m Map<String, Serde>) -> Option<&'m str> {
        match members.get("type") {
            Some(Serde::String(kind)) => return Some(kind),
            Some(Serde::Array(kinds)) => return self.pick(kinds)?.as_str(),
            Some(_) | None => {}
        }
        let says = |names: &[&str]| names.iter().any(|name| members.contains_key(*name));
        Some(if says(&["properties", "required", "additionalProperties", "patternProperties"]) {
            "object"
        } else if says(&["items", "prefixItems", "minItems", "maxItems"]) {
            "array"
        } else if says(&["pattern", "format", "minLength", "maxLength"]) {
            "string"
        } else if says(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            "number"
        } else {
            "anything"
        })
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> Option<&'v T> {
        values.get(self.chances.below(values.len()))
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.chances.below(one_in) + 1 == one_in
    }

    fn anything(&mut self) -> Serde {
        let pool = self.pool;
        if !pool.values.is_empty() && self.chance(3) {
            return self.pick(&pool.values).cloned().unwrap_or_default();
        }
        let plain =
            [json!(null), json!(true), json!(0), json!(1.5), json!(""), json!("a"), json!([]), json!({})];
        self.pick(&plain).cloned().unwrap_or_default()
    }

    /// A length from `least` to `most`, at one of its edges or at one that the forms name.
    fn length(&mut self, least: usize, most: Option<usize>, longest: usize) -> Option<usize> {
        let mut lengths = vec![least, most.unwrap_or(least + 1)];
        lengths.extend(self.pool.lengths.iter().copied());
        lengths.extend([0, 1, 2, 3]);
        let fits = |length: &usize| {
            *length >= least && most.is_none_or(|most| *length <= most) && *length <= longest
        };
        lengths.retain(fits);
        self.pick(&lengths).copied()
    }

    fn number(&mut self, members: &Map<String, Serde>, integer: bool) -> Option<Serde> {
        let limit = |name: &str| members.get(name).and_then(Serde::as_f64);
        let divisor = limit("multipleOf");
        let step = divisor.unwrap_or(if integer { 1.0 } else { 0.5 });
        let named = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
        let mut choices: Vec<f64> = named.into_iter().filter_map(limit).collect();
        // What this schema says itself counts more than what stands anywhere.
        choices.extend(choices.clone());
        choices.extend(self.pool.numbers.iter().copied());
        choices.push(0.0);
        let near = *self.pick(&choices)?;
        let mut number = near + step * [0.0, 0.0, 1.0, -1.0, 2.0][self.chances.below(5)];
        if let Some(divisor) = divisor.filter(|divisor| *divisor > 0.0) {
            number = (number / divisor).round() * divisor;
        } else if integer {
            number = number.round();
        }
        if self.pool.written && self.chance(8) {
            return Some(if self.chances.bool() {
                json!(9_007_199_254_740_993_i64)
            } else {
                Serde::Number(Number::from_f64(number)?)
            });
        }
        // Up to 2^53 every integer is itself.
        if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
            #[expect(clippy::cast_possible_truncation, reason = "it is an integer below 2^53")]
            return Some(json!(number as i64));
        }
        Number::from_f64(number).map(Serde::Number)
    }

    fn array(&mut self, members: &Map<String, Serde>, depth: u32) -> Option<Serde> {
        let first =
            members.get("prefixItems").or_else(|| members.get("items").filter(|items| items.is_array()));
        let first = first.and_then(Serde::as_array).map(Vec::as_slice).unwrap_or_default();
        let rest = members.get("items").filter(|items| !items.is_array());
        let rest = rest.or_else(|| members.get("additionalItems"));
        let wanted = members.get("contains");
        let least = count(members, "minItems").unwrap_or(0).max(usize::from(wanted.is_some()));
        let length = self.length(least, count(members, "maxItems"), LONGEST)?;
        let mut elements = Vec::new();
        let unique = members.get("uniqueItems") == Some(&Serde::Bool(true));
        let mut tries = 4 * length + 4;
        while elements.len() < length && tries > 0 {
            tries -= 1;
            let schema = match (first.get(elements.len()), wanted) {
                (Some(schema), _) => Some(schema),
                (None, Some(wanted)) if elements.is_empty() => Some(wanted),
                (None, _) => rest,
            };
            let element = match schema {
                Some(schema) => self.value(schema, depth)?,
                None => self.anything(),
            };
            if !unique || !elements.contains(&element) {
                elements.push(element);
            }
        }
        Some(Serde::Array(elements))
    }

    fn object(&mut self, members: &Map<String, Serde>, depth: u32) -> Option<Serde> {
        let none = Map::new();
        let known = members.get("properties").and_then(Serde::as_object).unwrap_or(&none);
        let patterns = members.get("patternProperties").and_then(Serde::as_object).unwrap_or(&none);
        let others = members.get("additionalProperties").or_else(|| members.get("unevaluatedProperties"));
        let required: Vec<&str> = members
            .get("required")
            .and_then(Serde::as_array)
            .into_iter()
            .flatten()
            .filter_map(Serde::as_str)
            .collect();
        // Nothing that is optional, all of it, or some.
        let one_in = [0, 1, 2, 3][self.chances.below(4)];
        let mut names: Vec<String> = required.iter().map(|name| (*name).to_owned()).collect();
        for name in known.keys().filter(|name| !required.contains(&name.as_str())) {
            if one_in > 0 && self.chance(one_in) {
                names.push(name.clone());
            }
        }
        for pattern in patterns.keys() {
            if self.chances.bool() {
                names.extend(text::of_pattern(pattern, &mut self.chances, &self.pool.lengths));
            }
        }
        let least = count(members, "minProperties").unwrap_or(0);
        if others != Some(&Serde::Bool(false)) && (names.len() < least || self.chance(6)) {
            let pool = self.pool;
            names.push(self.pick(&pool.names).cloned().unwrap_or_else(|| "other".to_owned()));
            names.extend((names.len()..least.min(LONGEST)).map(|number| format!("other{number}")));
        }
        let mut made = Map::new();
        for name in names {
            let value = match known.get(&name).or_else(|| patterns.values().next()).or(others) {
                Some(schema) => self.value(schema, depth),
                None => Some(self.anything()),
            };
            match value {
                Some(value) => {
                    made.insert(name, value);
                }
                None if required.contains(&name.as_str()) => return None,
                None => {}
            }
        }
        Some(Serde::Object(made))
    }

    fn text(&mut self, members: &Map<String, Serde>) -> Option<String> {
        if let Some(format) = members.get("format").and_then(Serde::as_str)
            && let Some(examples) = text::of_format(format)
        {
            return self.pick(examples).map(|text| (*text).to_owned());
        }
        if let Some(pattern) = members.get("pattern").and_then(Serde::as_str) {
            return text::of_pattern(pattern, &mut self.chances, &self.pool.lengths);
        }
        let pool = self.pool;
        if self.chance(6)
            && let Some(text) = self.pick(&pool.values).and_then(Serde::as_str)
        {
            return Some(text.to_owned());
        }
        let least = count(members, "minLength").unwrap_or(0);
        let length = self.length(least, count(members, "maxLength"), text::LONGEST)?;
        Some("a".repeat(length))
    }
}

fn count(members: &Map<String, Serde>, name: &str) -> Option<usize> {
    members.get(name)?.as_u64().and_then(|count| usize::try_from(count).ok())
}

/// Writes one schema into another; where both bound the same, the tighter bound mostly wins.
fn merge(into: &mut Map<String, Serde>, from: Map<String, Serde>) {
    for (keyword, value) in from {
        let merged = match (into.remove(&keyword), value) {
            (None, value) => value,
            (Some(Serde::Object(mut old)), Serde::Object(new)) if keyword == "properties" => {
                for (name, schema) in new {
                    let schema = match old.remove(&name) {
                        Some(older) => json!({ "allOf": [older, schema] }),
                        None => schema,
                    };
                    old.insert(name, schema);
                }
                Serde::Object(old)
            }
            (Some(Serde::Array(mut old)), Serde::Array(new)) if keyword != "type" && keyword != "enum" => {
                old.extend(new);
                Serde::Array(old)
            }
            (Some(old), new) if keyword == "type" => {
                let names = |value: &Serde| match value {
                    Serde::Array(names) => names.clone(),
                    other => vec![other.clone()],
                };
                let (old, new) = (names(&old), names(&new));
                new.into_iter().filter(|name| old.contains(name)).collect()
            }
            (Some(Serde::Number(old)), Serde::Number(new)) => {
                let larger = old.as_f64() > new.as_f64();
                let keep_larger = keyword.contains("min") || keyword.contains("Min");
                Serde::Number(if larger == keep_larger { old } else { new })
            }
            (Some(_), new) => new,
        };
        into.insert(keyword, merged);
    }
}
