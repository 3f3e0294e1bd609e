//! The five drafts of JSON Schema that a form may be written in.

use super::source::Node;
use super::{FormFault, examples};

/// A draft; later ones compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Four,
    Six,
    Seven,
    Nineteen,
    Twenty,
}

impl Draft {
    /// The draft a `$schema` names: either scheme, with or without the empty fragment.
    pub(crate) fn named(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let path = uri
            .strip_prefix("https://json-schema.org/")
            .or_else(|| uri.strip_prefix("http://json-schema.org/"))?;
        match path {
            "draft-04/schema" => Some(Self::Four),
            "draft-06/schema" => Some(Self::Six),
            "draft-07/schema" => Some(Self::Seven),
            "draft/2019-09/schema" => Some(Self::Nineteen),
            "draft/2020-12/schema" => Some(Self::Twenty),
            _ => None,
        }
    }

    pub(crate) fn uri(self) -> &'static str {
        match self {
            Self::Four => "http://json-schema.org/draft-04/schema#",
            Self::Six => "http://json-schema.org/draft-06/schema#",
            Self::Seven => "http://json-schema.org/draft-07/schema#",
            Self::Nineteen => "https://json-schema.org/draft/2019-09/schema",
            Self::Twenty => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Four => "draft 04",
            Self::Six => "draft 06",
            Self::Seven => "draft 07",
            Self::Nineteen => "draft 2019-09",
            Self::Twenty => "draft 2020-12",
        }
    }

    /// Where definitions are kept.
    pub(crate) fn definitions(self) -> &'static str {
        if self >= Self::Nineteen { "$defs" } else { "definitions" }
    }

    /// Whether a schema with `$ref` is that reference and nothing else.
    pub(crate) fn reference_stands_alone(self) -> bool {
        self <= Self::Seven
    }

    pub(crate) fn crate_draft(self) -> jsonschema::Draft {
        match self {
            Self::Four => jsonschema::Draft::Draft4,
            Self::Six => jsonschema::Draft::Draft6,
            Self::Seven => jsonschema::Draft::Draft7,
            Self::Nineteen => jsonschema::Draft::Draft201909,
            Self::Twenty => jsonschema::Draft::Draft202012,
        }
    }

    /// The validator of schemas of this draft.
    pub(crate) fn meta_validator(self) -> jsonschema::meta::MetaValidator<'static> {
        match self {
            Self::Four => jsonschema::draft4::meta::validator(),
            Self::Six => jsonschema::draft6::meta::validator(),
            Self::Seven => jsonschema::draft7::meta::validator(),
            Self::Nineteen => jsonschema::draft201909::meta::validator(),
            Self::Twenty => jsonschema::draft202012::meta::validator(),
        }
    }

    /// Whether the validator asserts a `format` of this name: the crate's built-in ones without
    /// its feature `idna` (`idn-email`, `idn-hostname` would pass unchecked).
    pub(crate) fn checks_format(self, name: &str) -> bool {
        match name {
            "date" | "date-time" | "email" | "hostname" | "ipv4" | "ipv6" | "regex" | "time" | "uri" => true,
            "json-pointer" | "uri-reference" | "uri-template" => self >= Self::Six,
            "iri" | "iri-reference" | "relative-json-pointer" => self >= Self::Seven,
            "duration" | "uuid" => self >= Self::Nineteen,
            _ => false,
        }
    }

    /// Every format of the draft, for suggestions.
    pub(crate) fn formats(self) -> impl Iterator<Item = &'static str> {
        FORMATS.iter().copied().filter(move |name| self.checks_format(name))
    }
}

const FORMATS: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// What the draft's own meta-schema says, where the walk has not said something already.
pub(crate) fn meta_faults(
    root: &Node,
    document: &serde_json::Value,
    draft: Draft,
    known: &[FormFault],
) -> Vec<FormFault> {
    let mut found: Vec<FormFault> = Vec::new();
    for error in draft.meta_validator().iter_errors(document) {
        let pointer = error.instance_path().as_str().to_owned();
        let covered =
            |other: &FormFault| other.pointer.starts_with(&pointer) || pointer.starts_with(&other.pointer);
        if known.iter().any(covered) || found.iter().any(covered) {
            continue;
        }
        found.push(FormFault {
            at: examples::place(root, &pointer),
            reason: format!("the meta-schema of {} refuses it: {error}", draft.name()),
            pointer,
            suggestion: None,
            lint: None,
        });
    }
    found
}
