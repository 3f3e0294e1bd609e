//! A form as text for people: every keyword that constrains is said.
//!
//! References are links: a definition is written once, however often it is used, so the text is no longer than
//! the form calls for, and recursion needs no care.

use super::paper::Paper;
use super::terms;
use crate::hex;
use crate::json::{Kind, Value, pointer, schema};

/// Bytes of documentation, about: what is behind is left out, and that is said.
const LIMIT: usize = 24 << 10;
/// Characters of one description.
const TEXT: usize = 1200;
/// Definitions beyond these are left out.
const DEFINITIONS: usize = 100;

/// The documentation of a form.
pub(super) fn of(form: Value<'_>) -> Paper {
    let mut writer = Writer { paper: Paper::new(LIMIT), form, definitions: Vec::new() };
    writer.schema(form);
    writer.definitions();
    if writer.paper.is_cut() {
        writer.paper.markup(
            "<p class=\"note\">This text is cut: the form is long. All of it is in the JSON at this address, \
             which is what counts.</p>",
        );
    }
    writer.paper
}

struct Writer<'d> {
    paper: Paper,
    form: Value<'d>,
    /// References that were met, in order, with what they point at.
    definitions: Vec<(String, Value<'d>)>,
}

impl<'d> Writer<'d> {
    fn definitions(&mut self) {
        let mut next = 0;
        // Writing one may meet more.
        while let Some((reference, schema)) = self.definitions.get(next).cloned() {
            if next == 0 {
                self.paper.markup("<h3>Definitions</h3>");
            }
            if self.paper.is_full() {
                return;
            }
            self.paper.markup("<div class=\"def\" id=\"d").number(next).markup("\"><p class=\"label\">");
            self.paper.code(&name_of(&reference)).markup("</p><div class=\"nest\">");
            self.schema(schema);
            self.paper.markup("</div></div>");
            next += 1;
        }
    }

    /// Recursion is bounded by the form's own depth.
    fn schema(&mut self, schema: Value<'d>) {
        if self.paper.is_full() {
            return;
        }
        let says_nothing = schema.as_object().is_some_and(|object| object.is_empty());
        match schema.as_bool().or_else(|| says_nothing.then_some(true)) {
            Some(true) => {
                self.paper.markup("<p class=\"type\">any value</p>");
                return;
            }
            Some(false) => {
                self.paper.markup("<p class=\"type\">nothing: no value fits</p>");
                return;
            }
            None => {}
        }
        self.summary(schema);
        for name in ["title", "description"] {
            if let Some(text) = schema::text(schema, name).filter(|text| !text.is_empty()) {
                self.paper.markup("<p class=\"text\">").short(text, TEXT).markup("</p>");
            }
        }
        self.members(schema);
        self.elements(schema);
        self.combined(schema);
    }

    /// One line: the reference, the type, the bounds.
    fn summary(&mut self, schema: Value<'d>) {
        let references = ["$ref", "$dynamicRef", "$recursiveRef"];
        let named = references.into_iter().filter_map(|keyword| schema::text(schema, keyword));
        let mut begun = false;
        for reference in named {
            self.paper.markup(if begun { " · " } else { "<p class=\"type\">" });
            begun = true;
            self.reference(reference);
        }
        terms::write(schema, |paper_part| {
            self.paper.markup(if begun { " · " } else { "<p class=\"type\">" });
            begun = true;
            paper_part(&mut self.paper);
        });
        if begun {
            self.paper.markup("</p>");
        }
    }

    fn reference(&mut self, reference: &str) {
        if reference == "#" {
            self.paper.markup("<a href=\"#doc\">this form again</a>");
            return;
        }
        let known = self.definitions.iter().position(|(met, _)| met == reference);
        let place = known.or_else(|| {
            let target = terms::find(self.form, reference)?;
            self.definitions.push((reference.to_owned(), target));
            Some(self.definitions.len() - 1)
        });
        let name = name_of(reference);
        match place.filter(|place| *place < DEFINITIONS) {
            Some(place) => {
                self.paper.markup("see <a href=\"#d").number(place).markup("\">").code(&name).markup("</a>");
            }
            None => {
                self.paper.markup("as ").code(reference).markup(" says, in the JSON");
            }
        }
    }

    fn members(&mut self, schema: Value<'d>) {
        let named = schema::members(schema, "properties");
        let patterns = schema::members(schema, "patternProperties");
        let required: Vec<&str> = schema::names(schema, "required").collect();
        let unlisted: Vec<&str> =
            required.iter().copied().filter(|name| named.iter().all(|(known, _)| known != name)).collect();
        if !(named.is_empty() && patterns.is_empty() && unlisted.is_empty()) {
            self.paper.markup("<dl class=\"members\">");
            for (name, member) in named {
                if self.paper.is_full() {
                    break;
                }
                self.paper.markup("<div><dt>").code(name);
                let is_required = required.contains(&name);
                self.paper.markup(if is_required {
                    "<span class=\"mark required\">required</span>"
                } else {
                    "<span class=\"mark\">optional</span>"
                });
                self.paper.markup("</dt><dd>");
                self.schema(member);
                self.paper.markup("</dd></div>");
            }
            for (pattern, member) in patterns {
                if self.paper.is_full() {
                    break;
                }
                self.paper.markup("<div><dt>Names that match ").code(pattern).markup("</dt><dd>");
                self.schema(member);
                self.paper.markup("</dd></div>");
            }
            for name in unlisted {
                if self.paper.is_full() {
                    break;
                }
                self.paper.markup("<div><dt>").code(name);
                self.paper.markup("<span class=\"mark required\">required</span></dt><dd></dd></div>");
            }
            self.paper.markup("</dl>");
        }
        for (keyword, label) in [
            ("additionalProperties", "Every other member"),
            ("unevaluatedProperties", "Every other member"),
            ("propertyNames", "Every member name"),
        ] {
            match schema::get(schema, keyword) {
                Some(rest) if rest.as_bool() == Some(false) => {
                    self.paper.markup("<p class=\"soft\">No other members.</p>");
                }
                Some(rest) => self.nested(label, rest),
                None => {}
            }
        }
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            for (name, then) in schema::members(schema, keyword) {
                if self.paper.is_full() {
                    return;
                }
                self.paper.markup("<p class=\"label\">Where ").code(name);
                if then.kind() == Kind::Array {
                    self.paper.markup(" is given, these are required: ");
                    self.paper.code(&terms::printed(then)).markup("</p>");
                } else {
                    self.paper.markup(" is given, also</p><div class=\"nest\">");
                    self.schema(then);
                    self.paper.markup("</div>");
                }
            }
        }
    }

    fn elements(&mut self, schema: Value<'d>) {
        let items = schema::get(schema, "items");
        let positions = match items {
            Some(items) if items.kind() == Kind::Array => schema::elements(schema, "items"),
            Some(_) | None => schema::elements(schema, "prefixItems"),
        };
        self.alternatives("In this order", positions);
        if let Some(items) = items.filter(|items| items.kind() != Kind::Array) {
            self.nested("Each element", items);
        }
        for (keyword, label) in [
            ("additionalItems", "Each element behind these"),
            ("unevaluatedItems", "Each other element"),
            ("contains", "With an element such as"),
        ] {
            if let Some(inner) = schema::get(schema, keyword) {
                self.nested(label, inner);
            }
        }
    }

    fn combined(&mut self, schema: Value<'d>) {
        for (keyword, label) in
            [("anyOf", "Any of these"), ("oneOf", "Exactly one of these"), ("allOf", "All of these")]
        {
            self.alternatives(label, schema::elements(schema, keyword));
        }
        for (keyword, label) in
            [("not", "But not"), ("if", "If it is"), ("then", "then also"), ("else", "otherwise also")]
        {
            if let Some(inner) = schema::get(schema, keyword) {
                self.nested(label, inner);
            }
        }
    }

    fn nested(&mut self, label: &'static str, schema: Value<'d>) {
        if self.paper.is_full() {
            return;
        }
        self.paper.markup("<p class=\"label\">").markup(label).markup("</p><div class=\"nest\">");
        self.schema(schema);
        self.paper.markup("</div>");
    }

    fn alternatives(&mut self, label: &'static str, schemas: Vec<Value<'d>>) {
        if schemas.is_empty() || self.paper.is_full() {
            return;
        }
        self.paper.markup("<p class=\"label\">").markup(label).markup("</p><ol class=\"alts\">");
        for schema in schemas {
            if self.paper.is_full() {
                break;
            }
            self.paper.markup("<li>");
            self.schema(schema);
            self.paper.markup("</li>");
        }
        self.paper.markup("</ol>");
    }
}

/// The last part of a reference.
fn name_of(reference: &str) -> String {
    let decoded = hex::percent_decoded(reference).unwrap_or_else(|| reference.to_owned());
    let last = decoded.rsplit(['/', '#']).next().unwrap_or_default();
    pointer::unescaped(last).into_owned()
}
