//! Choosing: the operations of a document, each either one whose body can become a form, or left with the reason.

use super::source::{Dialect, Links, Place, Source};
use crate::form::Node;
use std::collections::HashSet;

const METHODS: &[&str] = &["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// An operation that may be carried.
#[derive(Debug, Clone)]
pub(super) struct Operation<'d> {
    pub(super) named: Named,
    pub(super) summary: String,
    pub(super) description: String,
    /// The schema of its JSON body; `None` where only its path says anything.
    pub(super) body: Option<Place<'d>>,
    /// Parameters of its path, each with its schema, that become members of the form.
    pub(super) members: Vec<(String, Place<'d>)>,
    /// Whole bodies that the document gives as examples.
    pub(super) examples: Vec<Place<'d>>,
    /// Names of the security schemes, any of which opens it.
    pub(super) security: Vec<String>,
    /// Its own servers, or else those of its path.
    pub(super) servers: Option<Place<'d>>,
    /// Optional parameters, which are left out, and whatever else is not carried: what, and why.
    pub(super) left_out: Vec<(String, String)>,
}

/// How an operation is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// In upper case.
    pub(super) method: String,
    pub(super) path: String,
    pub(super) id: Option<String>,
    pub(super) line: usize,
}

/// Why an operation is not carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotCarried {
    /// It reads: a GPT address takes an act.
    Reads,
    /// Its path has parameters.
    PathParameters,
    /// It requires a query parameter, a header or a cookie.
    RequiredParameters,
    /// It takes no body.
    NoBody,
    /// Its body is not JSON.
    MediaType,
    /// It is deprecated.
    Deprecated,
    /// It was not asked for.
    NotAskedFor,
    /// Its schema cannot be carried.
    Schema,
    /// Its bodies cannot be read.
    Unreadable,
}

impl NotCarried {
    /// A word for it, in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::PathParameters => "path_parameters",
            Self::RequiredParameters => "required_parameters",
            Self::NoBody => "no_body",
            Self::MediaType => "media_type",
            Self::Deprecated => "deprecated",
            Self::NotAskedFor => "not_asked_for",
            Self::Schema => "schema",
            Self::Unreadable => "unreadable",
        }
    }
}

pub(super) type Chosen<'d> = Result<Operation<'d>, (Named, NotCarried, String)>;

/// Every operation of the document, in its order.
pub(super) fn choose<'d>(
    source: &'d Source,
    links: &Links<'d>,
    wanted: &[String],
    path_members: bool,
) -> Vec<Chosen<'d>> {
    let Some(paths) = source.root().member("paths") else { return Vec::new() };
    let mut chosen = Vec::new();
    for (path, item) in paths.members() {
        if !path.starts_with('/') {
            continue;
        }
        let Ok(item) = links.through(item) else { continue };
        for (method, operation) in item.members().filter(|(name, _)| METHODS.contains(name)) {
            let named = Named {
                method: method.to_ascii_uppercase(),
                path: path.to_owned(),
                id: operation.node.get("operationId").and_then(Node::as_text).map(str::to_owned),
                line: source.line(operation.node.at),
            };
            let choosing =
                Choosing { source, links, asked: is_wanted(&named, wanted), item: &item, path_members };
            let outcome = choosing.operation(&named, &operation, wanted.is_empty());
            chosen.push(outcome.map_err(|(kind, reason)| (named, kind, reason)));
        }
    }
    chosen
}

fn is_wanted(named: &Named, wanted: &[String]) -> bool {
    wanted
        .iter()
        .any(|word| named.id.as_ref() == Some(word) || *word == format!("{} {}", named.method, named.path))
}

/// Words that ask for operations that are not there.
pub(super) fn unknown<'w>(chosen: &[Chosen<'_>], wanted: &'w [String]) -> Vec<&'w str> {
    let named = |outcome: &Chosen<'_>| match outcome {
        Ok(operation) => operation.named.clone(),
        Err((named, ..)) => named.clone(),
    };
    let known: Vec<Named> = chosen.iter().map(named).collect();
    let is_known = |word: &&String| known.iter().any(|named| is_wanted(named, std::slice::from_ref(*word)));
    wanted.iter().filter(|word| !is_known(word)).map(String::as_str).collect()
}

struct Choosing<'d, 'c> {
    source: &'d Source,
    links: &'c Links<'d>,
    /// Named by the one who runs it.
    asked: bool,
    item: &'c Place<'d>,
    path_members: bool,
}

impl<'d> Choosing<'d, '_> {
    fn operation(
        &self,
        named: &Named,
        operation: &Place<'d>,
        all: bool,
    ) -> Result<Operation<'d>, (NotCarried, String)> {
        if !["POST", "PUT", "PATCH", "DELETE"].contains(&named.method.as_str()) {
            return Err((NotCarried::Reads, "it reads: a GPT address takes an act".to_owned()));
        }
        if !all && !self.asked {
            return Err((NotCarried::NotAskedFor, "`--operation` names others".to_owned()));
        }
        if operation.node.get("deprecated").and_then(Node::as_bool) == Some(true) && !self.asked {
            let reason = "it is deprecated; `--operation` carries it all the same".to_owned();
            return Err((NotCarried::Deprecated, reason));
        }
        let mut left_out = Vec::new();
        let parameters = self.parameters(operation, &mut left_out)?;
        let members = self.members(named, &parameters)?;
        let (body, examples) = match self.body(operation, &parameters, &mut left_out) {
            Ok((body, examples)) => (Some(body), examples),
            Err((NotCarried::NoBody, _)) if !members.is_empty() => (None, Vec::new()),
            Err(other) => return Err(other),
        };
        let text =
            |name: &str| operation.node.get(name).and_then(Node::as_text).unwrap_or_default().to_owned();
        Ok(Operation {
            named: named.clone(),
            summary: text("summary"),
            description: text("description"),
            body,
            members,
            examples,
            security: self.security(operation),
            servers: operation.member("servers").or_else(|| self.item.member("servers")),
            left_out,
        })
    }

    /// The parameters that stand in the path, if they are to be members.
    fn members(
        &self,
        named: &Named,
        parameters: &[Place<'d>],
    ) -> Result<Vec<(String, Place<'d>)>, (NotCarried, String)> {
        if !named.path.contains('{') {
            return Ok(Vec::new());
        }
        if !self.path_members {
            let reason =
                "its path has parameters; `--path-members` makes them members of the form".to_owned();
            return Err((NotCarried::PathParameters, reason));
        }
        let mut members = Vec::new();
        for parameter in parameters {
            let text = |name: &str| parameter.node.get(name).and_then(Node::as_text).unwrap_or_default();
            if text("in") != "path" || !named.path.contains(&format!("{{{}}}", text("name"))) {
                continue;
            }
            // In Swagger 2.0 the parameter is its own schema.
            let schema = match self.source.dialect {
                Dialect::Two => parameter.member("type").map(|_| parameter.clone()),
                Dialect::Zero | Dialect::One => parameter.member("schema"),
            };
            members.extend(schema.map(|schema| (text("name").to_owned(), schema)));
        }
        if members.len() != named.path.matches('{').count() {
            let reason = "its path has parameters that are declared nowhere".to_owned();
            return Err((NotCarried::PathParameters, reason));
        }
        Ok(members)
    }

    /// Those of the operation and of its path; optional ones in query, head and cookies are left out.
    fn parameters(
        &self,
        operation: &Place<'d>,
        left_out: &mut Vec<(String, String)>,
    ) -> Result<Vec<Place<'d>>, (NotCarried, String)> {
        let own = operation.member("parameters");
        let shared = self.item.member("parameters");
        let mut known = HashSet::new();
        let mut kept = Vec::new();
        for parameter in own.iter().chain(&shared).flat_map(Place::elements) {
            let parameter =
                self.links.through(parameter).map_err(|reason| (NotCarried::Unreadable, reason))?;
            let text = |name: &str| parameter.node.get(name).and_then(Node::as_text).unwrap_or_default();
            let (name, stands) = (text("name").to_owned(), text("in").to_owned());
            if !known.insert((name.clone(), stands.clone())) {
                continue;
            }
            let required = parameter.node.get("required").and_then(Node::as_bool) == Some(true);
            match stands.as_str() {
                // Ignored there: the media type and authorization are said elsewhere (OpenAPI, Parameter Object).
                "header"
                    if ["accept", "content-type", "authorization"]
                        .iter()
                        .any(|field| name.eq_ignore_ascii_case(field)) => {}
                "query" | "header" | "cookie" | "querystring" if required => {
                    let reason =
                        format!("it requires the {stands} parameter `{name}`, and only a body is carried");
                    return Err((NotCarried::RequiredParameters, reason));
                }
                "query" | "header" | "cookie" | "querystring" => {
                    left_out.push((
                        format!("{stands} parameter `{name}`"),
                        "optional; only the body is carried".to_owned(),
                    ));
                }
                _ => kept.push(parameter),
            }
        }
        Ok(kept)
    }

    fn body(
        &self,
        operation: &Place<'d>,
        parameters: &[Place<'d>],
        left_out: &mut Vec<(String, String)>,
    ) -> Result<(Place<'d>, Vec<Place<'d>>), (NotCarried, String)> {
        let none = || (NotCarried::NoBody, "it takes no body: there is nothing to put in a form".to_owned());
        if self.source.dialect == Dialect::Two {
            return self.body_of_two(operation, parameters);
        }
        let body = operation.member("requestBody").ok_or_else(none)?;
        let body = self.links.through(body).map_err(|reason| (NotCarried::Unreadable, reason))?;
        let content = body.member("content").ok_or_else(none)?;
        let kinds: Vec<(&str, Place<'d>)> = content.members().collect();
        let json = kinds.iter().filter(|(kind, _)| rank(kind).is_some()).min_by_key(|(kind, _)| rank(kind));
        let Some((kind, media)) = json else {
            let listed = kinds.iter().map(|(kind, _)| format!("`{kind}`")).collect::<Vec<_>>().join(", ");
            return Err((
                NotCarried::MediaType,
                format!("its body is {listed}; the gateway sends `application/json`"),
            ));
        };
        for (other, _) in kinds.iter().filter(|(other, _)| other != kind) {
            left_out.push((format!("body as `{other}`"), format!("`{kind}` is carried")));
        }
        let schema = media
            .member("schema")
            .ok_or_else(|| (NotCarried::NoBody, "its body has no schema".to_owned()))?;
        let mut examples: Vec<Place<'d>> = media.member("example").into_iter().collect();
        for (_, example) in media.member("examples").iter().flat_map(Place::members) {
            if let Ok(example) = self.links.through(example) {
                examples.extend(example.member("value"));
            }
        }
        examples.extend(self.of_schema(&schema));
        Ok((schema, examples))
    }

    fn body_of_two(
        &self,
        operation: &Place<'d>,
        parameters: &[Place<'d>],
    ) -> Result<(Place<'d>, Vec<Place<'d>>), (NotCarried, String)> {
        let stands = |parameter: &&Place<'d>, kind: &str| {
            parameter.node.get("in").and_then(Node::as_text) == Some(kind)
        };
        if parameters.iter().any(|parameter| stands(&parameter, "formData")) {
            return Err((
                NotCarried::MediaType,
                "its body is form data; the gateway sends `application/json`".to_owned(),
            ));
        }
        let body = parameters.iter().find(|parameter| stands(parameter, "body"));
        let body = body.ok_or_else(|| {
            (NotCarried::NoBody, "it takes no body: there is nothing to put in a form".to_owned())
        })?;
        let root = self.source.root();
        let consumes = operation.member("consumes").or_else(|| root.member("consumes"));
        let kinds: Vec<&str> =
            consumes.iter().flat_map(|consumes| consumes.node.elements()).filter_map(Node::as_text).collect();
        if !kinds.is_empty() && kinds.iter().all(|kind| rank(kind).is_none()) {
            let listed = kinds.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ");
            return Err((
                NotCarried::MediaType,
                format!("its body is {listed}; the gateway sends `application/json`"),
            ));
        }
        let schema =
            body.member("schema").ok_or_else(|| (NotCarried::NoBody, "its body has no schema".to_owned()))?;
        let examples = self.of_schema(&schema);
        Ok((schema, examples))
    }

    /// `example` and `examples` of the schema of the body itself.
    fn of_schema(&self, schema: &Place<'d>) -> Vec<Place<'d>> {
        let Ok(schema) = self.links.through(schema.clone()) else { return Vec::new() };
        let several = schema.member("examples").filter(|several| several.node.is_array());
        schema.member("example").into_iter().chain(several.iter().flat_map(Place::elements)).collect()
    }

    fn security(&self, operation: &Place<'d>) -> Vec<String> {
        let root = self.source.root();
        let said = operation.member("security").or_else(|| root.member("security"));
        let requirements: Vec<Place<'d>> = said.iter().flat_map(Place::elements).collect();
        if requirements.iter().any(|requirement| requirement.node.members().is_empty()) {
            return Vec::new();
        }
        let mut met = HashSet::new();
        let names = requirements.iter().flat_map(|requirement| requirement.node.members());
        names.map(|(name, _)| name.clone()).filter(|name| met.insert(name.clone())).collect()
    }
}

/// How near a media type is to what the gateway sends; `None` where it is something else.
fn rank(kind: &str) -> Option<u8> {
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/json" => Some(0),
        "*/*" | "application/*" => Some(1),
        _ => None,
    }
}
