//! `anyOf` and `oneOf`: each alternative together with what stands around it, as one of an `anyOf`.
//!
//! For a `oneOf` that takes a proof that no value fits two of them in the *source*, which is wider than what is written.
//! Where two can be told apart by what they require, the member that would make a value fit both is left out of one.

use super::gather::{Cause, Refusal};
use super::source::Place;
use super::translate::{Stand, Translation, described};
use super::whole::{Alternatives, Kinds, Rule, Whole};
use super::written::Written;
use std::collections::HashSet;

/// Members looked through within each other, to tell alternatives apart.
const DEEPEST: usize = 3;

impl<'d> Translation<'d, '_> {
    pub(super) fn alternatives(
        &mut self,
        mut whole: Whole<'d>,
        stand: Stand<'_>,
    ) -> Result<Written, Refusal> {
        let set = whole.alternatives.remove(0);
        let words = whole.take_words();
        let mut each = Vec::new();
        for (index, place) in set.of.iter().enumerate() {
            let mut alternative = whole.clone();
            alternative.at = place.at.to_string();
            self.gathering.gather(place, &mut alternative)?;
            if let Some((member, values)) = &set.told_by {
                alternative.properties.entry(member).only = values.get(index).cloned();
                alternative.require(member);
            }
            each.push(alternative);
        }
        if set.one && set.told_by.is_none() && each.len() > 1 {
            match self.told_apart(&mut each, &set) {
                Ok(()) => {}
                Err(overlap) => {
                    return match self.exactly(&whole, &each, &set)? {
                        Some(schema) => Ok(with_words(described(&words), schema)),
                        None => Err(overlap),
                    };
                }
            }
        }
        let (mut kept, mut met) = (Vec::new(), HashSet::new());
        let mut first = None;
        let mut refused = Vec::new();
        for alternative in each {
            let at = alternative.at.clone();
            match self.schema(alternative, stand.optional()) {
                Ok(schema) => {
                    kept.extend(flatten(schema).into_iter().filter(|schema| met.insert(schema.clone())));
                }
                Err(refusal) if refusal.cause == Cause::Large => return Err(refusal),
                Err(refusal) => {
                    refused.push((at, refusal.clone()));
                    first.get_or_insert(refusal);
                }
            }
        }
        if kept.is_empty() {
            let refusal = first.unwrap_or_else(|| Refusal::other(&set.at, "no alternative"));
            let anything = matches!(refusal.cause, Cause::Anything | Cause::AnyObject | Cause::AnyArray);
            if stand.is_must() && anything {
                whole.alternatives.clear();
                return self.schema(whole, stand);
            }
            return Err(refusal);
        }
        for (at, refusal) in refused {
            self.leave_out(at, &refusal);
        }
        let kept = with_null(kept);
        let mut out = described(&words);
        if kept.len() == 1 {
            out = with_words(out, kept.into_iter().next().unwrap_or(Written::Null));
        } else {
            out.put("anyOf", Written::Array(kept));
        }
        if let Some((at, _)) = words.default {
            self.gathering.ledger.dropped(at, "the default of alternatives");
        }
        Ok(out)
    }

    /// Makes sure that what one alternative of a `oneOf` admits, none of the others does in the source.
    fn told_apart(&mut self, each: &mut [Whole<'d>], set: &Alternatives<'d>) -> Result<(), Refusal> {
        for own in 0..each.len() {
            for other in 0..each.len() {
                if own == other || self.apart(&each[own], &each[other], DEEPEST)? {
                    continue;
                }
                // A member that only the other one requires: whoever sends it means the other.
                let (mine, theirs) = (&each[own], &each[other]);
                let tells = |name: &&String| !mine.requires(name) && mine.properties.has(name);
                let Some(telling) = theirs.required.names().find(tells).cloned() else {
                    let reason = format!(
                        "the alternatives {} and {} of a `oneOf` overlap: which one counts cannot be said",
                        own + 1,
                        other + 1
                    );
                    return Err(Refusal::other(&set.at, reason));
                };
                let why = format!(
                    "`{telling}` left out of alternative {}: `oneOf` takes it for {}",
                    own + 1,
                    other + 1
                );
                self.gathering.ledger.dropped(mine.at.clone(), why);
                each[own].properties.remove(&telling);
            }
        }
        Ok(())
    }

    /// Whether nothing that will be written for one schema fits the other in the source.
    fn apart(&mut self, own: &Whole<'d>, other: &Whole<'d>, left: usize) -> Result<bool, Refusal> {
        let common =
            own.meant().and(if other.typed || other.values.is_some() { other.meant() } else { Kinds::ALL });
        if common.is_empty() {
            return Ok(!own.meant().is_empty());
        }
        if let (Some(own), Some(other)) = (&own.values, &other.values)
            && own.iter().collect::<HashSet<_>>().is_disjoint(&other.iter().collect())
        {
            return Ok(true);
        }
        if common != Kinds::OBJECT || left == 0 {
            return Ok(false);
        }
        for name in other.required.names() {
            if !own.properties.has(name) && !own.requires(name) && !is_map(own) {
                // It must not be `readOnly`: then a request need not send it.
                let places: &[Place<'d>] =
                    other.properties.get(name).map(|property| &*property.places).unwrap_or_default();
                if !self.gathering.all(&other.at, places)?.read_only {
                    return Ok(true);
                }
            }
        }
        for name in own.required.names() {
            let closed = other.closings.iter().any(|closing| {
                matches!(closing.rule, Rule::None)
                    && !closing.patterned
                    && !closing.own.contains(name.as_str())
            });
            let mine = self.member(own, name)?;
            if mine.read_only {
                continue;
            }
            if closed {
                return Ok(true);
            }
            if other.properties.has(name) {
                let theirs = self.member(other, name)?;
                if self.apart(&mine, &theirs, left - 1)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn member(&mut self, whole: &Whole<'d>, name: &str) -> Result<Whole<'d>, Refusal> {
        let property = whole.properties.get(name);
        let places: &[Place<'d>] = property.map(|property| property.places.as_slice()).unwrap_or_default();
        let mut member = self.gathering.all(&whole.at, places)?;
        if let Some(only) = property.and_then(|property| property.only.as_ref()) {
            member.list(only.iter().map(Written::text).collect());
        }
        Ok(member)
    }

    /// A `oneOf` of strings, numbers and such, as it is: what is guessed stands around it, not within.
    fn exactly(
        &mut self,
        around: &Whole<'d>,
        each: &[Whole<'d>],
        set: &Alternatives<'d>,
    ) -> Result<Option<Written>, Refusal> {
        let nested = |whole: &Whole<'d>| !whole.alternatives.is_empty() || !whole.verbatim.is_empty();
        let scalar = |whole: &Whole<'d>| {
            (whole.typed || whole.values.is_some()) && !whole.meant().has(Kinds::OBJECT.or(Kinds::ARRAY))
        };
        if nested(around) || !each.iter().all(|whole| scalar(whole) && !nested(whole)) {
            return Ok(None);
        }
        let kinds = each.iter().map(Whole::meant).fold(Kinds::NONE, Kinds::or);
        let mut outer = Whole::at(&set.at);
        outer.hold_to(kinds);
        let mut out = Written::Object(Vec::new());
        let names = kinds.names();
        out.put("type", if let [one] = names[..] { Written::text(one) } else { Written::texts(names) });
        self.scalars(&outer, kinds, true, &mut out)?;
        let mut alternatives = Vec::new();
        for whole in each {
            let kinds = whole.meant();
            let mut schema = Written::Object(Vec::new());
            if let Some(values) = &whole.values {
                schema.put("enum", Written::Array(values.clone()));
            }
            let names = kinds.names();
            schema
                .put("type", if let [one] = names[..] { Written::text(one) } else { Written::texts(names) });
            self.scalars(whole, kinds, false, &mut schema)?;
            alternatives.push(schema);
        }
        out.put("oneOf", Written::Array(alternatives));
        Ok(Some(out))
    }
}

/// The words of what stands around go before those of a schema that stands alone.
fn with_words(words: Written, schema: Written) -> Written {
    let Written::Object(members) = schema else { return schema };
    let mut out = words;
    for (name, value) in members {
        if out.get(&name).is_none() {
            out.put(&name, value);
        }
    }
    out
}

/// An alternative that is nothing but alternatives is as good as they are.
fn flatten(schema: Written) -> Vec<Written> {
    match schema {
        Written::Object(mut members) if members.len() == 1 && members[0].0 == "anyOf" => {
            match members.remove(0).1 {
                Written::Array(schemas) => schemas,
                other => vec![other],
            }
        }
        schema => vec![schema],
    }
}

/// `null` as an alternative of one other goes into its `type`.
fn with_null(kept: Vec<Written>) -> Vec<Written> {
    let is_null = |schema: &Written| {
        schema.get("type").and_then(Written::as_text) == Some("null")
            && schema
                .members()
                .iter()
                .all(|(name, _)| matches!(name.as_str(), "type" | "title" | "description"))
    };
    let [first, second] = &kept[..] else { return kept };
    let other = match (is_null(first), is_null(second)) {
        (false, true) => first,
        (true, false) => second,
        _ => return kept,
    };
    let Written::Object(members) = other else { return kept };
    let plain =
        ["anyOf", "oneOf", "allOf", "not", "if", "const"].iter().all(|name| other.get(name).is_none());
    if !plain || other.get("type").is_none() && other.get("enum").is_none() {
        return kept;
    }
    let members = members
        .iter()
        .map(|(name, value)| {
            let value = match (name.as_str(), value) {
                ("type", Written::Text(kind)) => Written::texts([kind.as_str(), "null"]),
                ("type" | "enum", Written::Array(values)) => {
                    let null = if name == "type" { Written::text("null") } else { Written::Null };
                    let mut values = values.clone();
                    if !values.contains(&null) {
                        values.push(null);
                    }
                    Written::Array(values)
                }
                _ => value.clone(),
            };
            (name.clone(), value)
        })
        .collect();
    vec![Written::Object(members)]
}

fn is_map(whole: &Whole<'_>) -> bool {
    whole.properties.is_empty() || !whole.patterned.is_empty()
}
