//! Objects: their members, each carried or left out, and nothing besides; or maps, whose members have no names of their own.

use super::gather::{Cause, Refusal};
use super::source::Place;
use super::translate::{Stand, Translation};
use super::whole::{Kinds, Rule, Whole};
use super::written::{Written, nice};

impl<'d> Translation<'d, '_> {
    pub(super) fn object(
        &mut self,
        whole: &Whole<'d>,
        stand: Stand<'_>,
        out: &mut Written,
    ) -> Result<(), Refusal> {
        let mut members = Vec::new();
        let mut required: Vec<&str> = Vec::new();
        let mut left_out = 0;
        for name in whole.required.names() {
            if !whole.properties.has(name) && whole.patterned.is_empty() {
                // Declared nowhere: whatever the schemas of other members say, they say about this one.
                match self.undeclared(whole, name, stand)? {
                    Some(schema) => members.push((name.clone(), schema)),
                    None => {
                        return Err(Refusal::other(
                            &whole.at,
                            format!("`{name}` is required, and no value fits it"),
                        ));
                    }
                }
                required.push(name);
            }
        }
        for (name, property) in whole.properties.iter() {
            let must = whole.requires(name);
            let pointer =
                property.places.first().map_or_else(|| whole.at.clone(), |place| place.at.to_string());
            let written = self.property(whole, name, Stand { depth: stand.depth + 1, must, ..stand });
            match written {
                Ok(Some(schema)) => {
                    members.push((name.clone(), schema));
                    if must {
                        required.push(name);
                    }
                }
                Ok(None) => {
                    let why = "`readOnly`: a request does not send it";
                    self.gathering.ledger.dropped(pointer, why);
                }
                Err(refusal) if !must && refusal.cause != Cause::Large => {
                    left_out += 1;
                    self.leave_out(pointer, &refusal);
                }
                Err(refusal) => return Err(refusal),
            }
        }
        let declares = !whole.properties.is_empty() || !members.is_empty();
        if members.is_empty() && left_out > 0 && stand.depth == 0 {
            return Err(Refusal::other(&whole.at, "none of its members can be carried"));
        }
        if members.is_empty() && left_out > 0 && !stand.must {
            return Err(Refusal::other(&whole.at, "none of its members can be carried"));
        }
        if !declares && self.map(whole, stand, out)? {
            return Ok(());
        }
        for closing in whole.closings.iter().filter(|closing| !matches!(closing.rule, Rule::None)) {
            let why = "left out: a form is closed, and takes only members that are declared";
            self.gathering.ledger.dropped(closing.at.clone(), why);
        }
        if declares {
            for (_, place) in &whole.patterned {
                let why = "left out: beside members with names, those that go by a pattern";
                self.gathering.ledger.dropped(place.at.to_string(), why);
            }
        }
        let many = members.len() as u64;
        out.put("properties", Written::Object(members));
        if !required.is_empty() {
            out.put("required", Written::texts(required));
        }
        if whole.min_properties > many {
            return Err(Refusal::other(&whole.at, "`minProperties` asks for more members than are declared"));
        }
        if whole.min_properties > 0 {
            out.put("minProperties", Written::number(&whole.min_properties));
        }
        if let Some(most) = whole.max_properties.filter(|most| *most < many) {
            out.put("maxProperties", Written::number(&most));
        }
        let dependent: Vec<(String, Written)> = whole
            .dependent
            .iter()
            .map(|(name, names)| (name.clone(), Written::texts(names.clone())))
            .collect();
        if !dependent.is_empty() {
            out.put("dependentRequired", Written::Object(dependent));
        }
        if let [names] = &whole.names[..] {
            let names = self.gathering.all(&names.at, std::slice::from_ref(names))?;
            let names = self.schema(names, Stand { must: true, ..stand })?;
            out.put("propertyNames", names);
        } else if !whole.names.is_empty() {
            return Err(Refusal::other(&whole.at, "`propertyNames` twice"));
        }
        out.put("additionalProperties", Written::Boolean(false));
        Ok(())
    }

    /// A member that is required and declared nowhere.
    fn undeclared(
        &mut self,
        whole: &Whole<'d>,
        name: &str,
        stand: Stand<'_>,
    ) -> Result<Option<Written>, Refusal> {
        let mut places = Vec::new();
        for closing in &whole.closings {
            match &closing.rule {
                Rule::None => return Ok(None),
                Rule::Any => {}
                Rule::Each(place) => places.push(place.clone()),
            }
        }
        let at = format!("{}/required/{name}", whole.at);
        let member = self.gathering.all(&at, &places)?;
        self.schema(member, Stand { depth: stand.depth + 1, must: true, ..stand }).map(Some)
    }

    /// A declared member; `None` where it is `readOnly`.
    fn property(
        &mut self,
        whole: &Whole<'d>,
        name: &str,
        stand: Stand<'_>,
    ) -> Result<Option<Written>, Refusal> {
        let Some(property) = whole.properties.get(name) else {
            return Ok(None);
        };
        let mut places = property.places.clone();
        for closing in &whole.closings {
            if closing.own.contains(name) || closing.patterned {
                continue;
            }
            match &closing.rule {
                Rule::Any => {}
                Rule::Each(place) => places.push(place.clone()),
                Rule::None => {
                    return Err(Refusal::other(
                        &whole.at,
                        format!("one part of `allOf` is closed to `{name}`"),
                    ));
                }
            }
        }
        let at = places.first().map_or(whole.at.as_str(), |place| &place.at).to_owned();
        let mut member = self.gathering.all(&at, &places)?;
        if member.read_only {
            return Ok(None);
        }
        if let Some(only) = &property.only {
            member.hold_to(Kinds::STRING);
            member.list(only.iter().map(Written::text).collect());
        }
        self.schema(member, stand).map(Some)
    }

    /// An object whose members have no names of their own; whether it is one.
    fn map(&mut self, whole: &Whole<'d>, stand: Stand<'_>, out: &mut Written) -> Result<bool, Refusal> {
        let inner = Stand { depth: stand.depth + 1, ..stand };
        if !whole.patterned.is_empty() {
            let mut patterns = Vec::new();
            for (pattern, place) in &whole.patterned {
                crate::form::pattern_extent(pattern).map_err(|reason| {
                    Refusal::other(&place.at, format!("its pattern cannot be enforced: {reason}"))
                })?;
                let value = self.gathering.all(&place.at, std::slice::from_ref(place))?;
                patterns.push((pattern.clone(), self.schema(value, inner)?));
            }
            out.put("patternProperties", Written::Object(patterns));
            out.put("additionalProperties", Written::Boolean(false));
        } else if whole.closings.iter().any(|closing| matches!(closing.rule, Rule::None)) {
            return Ok(false);
        } else {
            let places: Vec<Place<'d>> = whole
                .closings
                .iter()
                .filter_map(
                    |closing| if let Rule::Each(place) = &closing.rule { Some(place.clone()) } else { None },
                )
                .collect();
            if places.is_empty() && !stand.must {
                return Err(Refusal::new(&whole.at, "any object would fit it", Cause::AnyObject));
            }
            let at = places.first().map_or(whole.at.as_str(), |place| &place.at).to_owned();
            let value = self.gathering.all(&at, &places)?;
            let value = self.schema(value, inner)?;
            out.put("additionalProperties", value);
        }
        self.put_names(whole, stand, out)?;
        if whole.min_properties > 0 {
            out.put("minProperties", Written::number(&whole.min_properties));
        }
        match whole.max_properties {
            Some(most) => out.put("maxProperties", Written::number(&most)),
            None => {
                out.put("maxProperties", Written::guess(&self.bounds.map.max(nice(whole.min_properties))));
            }
        }
        Ok(true)
    }

    fn put_names(&mut self, whole: &Whole<'d>, stand: Stand<'_>, out: &mut Written) -> Result<(), Refusal> {
        let names = match &whole.names[..] {
            [] => {
                let mut names = Written::Object(Vec::new());
                names.put("type", Written::text("string"));
                names.put("maxLength", Written::guess(&100));
                names
            }
            places => {
                let mut names = self.gathering.all(&places[0].at, places)?;
                names.hold_to(Kinds::STRING);
                self.schema(names, Stand { must: true, ..stand })?
            }
        };
        out.put("propertyNames", names);
        Ok(())
    }
}
