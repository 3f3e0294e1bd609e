//! Where accepted bodies go, and which fields go along, either way.

use super::upstream::Backend;
use super::{Compiler, given, members};
use crate::config::fault::nearest;
use crate::config::field::{Field, Members};
use crate::config::files::MAX_SECRET;
use crate::config::raw;
use crate::config::tree::Mark;
use crate::config::words::Filled;
use crate::form::{CompiledForm, Unproven};
use crate::gateway::{ForwardedField, Outbound};
use crate::lint::Lint;
use std::collections::BTreeMap;

/// Fields that frame a message or belong to one connection: never configured, either way.
const FRAMING: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Fields that the gateway writes into every request.
const OURS_IN_REQUEST: [&str; 8] = [
    "accept",
    "accept-encoding",
    "content-encoding",
    "content-type",
    "host",
    "traceparent",
    "user-agent",
    "x-request-id",
];

/// Fields that the gateway writes into every answer, or that would not be true of its body.
const OURS_IN_ANSWER: [&str; 7] = [
    "cache-control",
    "content-encoding",
    "content-range",
    "content-type",
    "date",
    "retry-after",
    "x-request-id",
];

/// Fields whose value is a secret by their meaning.
const SECRET: [&str; 6] =
    ["authorization", "cookie", "x-api-key", "api-key", "x-auth-token", "x-access-token"];

impl Compiler<'_> {
    pub(super) fn outbound(
        &mut self,
        field: &Field<raw::Outbound>,
        backends: &[Backend],
        form: Option<&CompiledForm>,
    ) -> Option<Outbound> {
        let Field::Given(at, entry) = field else { return None };
        let to = self.required(&entry.to, *at, "to", "name-of-an-upstream");
        let path = self.required(&entry.path, *at, "path", "/meetings");
        let backend = to.and_then(|to| self.backend(entry.to.mark().unwrap_or(*at), &to.0, backends));
        let set_fields = self.fixed_fields(&entry.set_headers, &OURS_IN_REQUEST);
        let pass_fields = self.pass_fields(&entry.pass_headers, &OURS_IN_REQUEST);
        for (at, name) in given(&entry.pass_headers) {
            if set_fields.iter().any(|set| set.name.eq_ignore_ascii_case(&name.0)) {
                self.fault(
                    at,
                    format!("`{}` is set and passed; it would be sent twice", name.0.escape_debug()),
                );
            }
        }
        let target = path.zip(form).and_then(|(path, form)| {
            let at = entry.path.mark().unwrap_or(*at);
            let told = |Unproven { reason, suggestion }| self.fault_with(at, reason, suggestion);
            path.0.prove(form).map_err(|faults| faults.into_iter().for_each(told)).ok()
        });
        let backend = backend?;
        Some(Outbound {
            upstream: backend.upstream.clone()?,
            method: match entry.method.given() {
                None | Some(raw::Method::Post) => "POST",
                Some(raw::Method::Put) => "PUT",
                Some(raw::Method::Patch) => "PATCH",
                Some(raw::Method::Delete) => "DELETE",
            },
            target: target?,
            set_fields,
            pass_fields,
            host: entry.host.given().map(|host| host.0.clone()).or_else(|| backend.host.clone()),
        })
    }

    fn backend<'b>(&self, at: Mark, name: &str, backends: &'b [Backend]) -> Option<&'b Backend> {
        let found = backends.iter().find(|backend| backend.name == name);
        if let Some(backend) = found {
            backend.used.set(true);
        } else if !backends.is_empty() {
            // Where there are none, that has been told.
            let known = || backends.iter().map(|backend| backend.name.as_str());
            let suggestion = match nearest(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known upstreams: {}", known().collect::<Vec<_>>().join(", ")),
            };
            self.fault_with(at, format!("unknown upstream `{}`", name.escape_debug()), suggestion);
        }
        found
    }

    /// Fields with a value of the file's; not those of `ours`.
    pub(super) fn fixed_fields(
        &mut self,
        field: &Field<Members<String>>,
        ours: &[&str],
    ) -> Vec<ForwardedField> {
        let mut seen = BTreeMap::new();
        let mut fields = Vec::new();
        for (name, at, template) in members(field) {
            let named = self.field_name(name.mark, &name.text, ours);
            if seen.insert(name.text.to_ascii_lowercase(), at).is_some() {
                self.fault(name.mark, "the same field twice; names are compared without regard to case");
            }
            let lower = name.text.to_ascii_lowercase();
            if SECRET.contains(&lower.as_str()) && !template.contains("${") {
                self.fault_with(
                    at,
                    "a secret is never written in the file",
                    "put it into a file of its own and name that: `${file:/run/secrets/token}`",
                );
            }
            if let (true, Some(value)) = (named, self.fill(at, template)) {
                fields.push(ForwardedField { name: name.text.clone(), value });
            }
        }
        fields
    }

    /// Puts the contents of files where `${file:…}` stands. No fault here shows what a file holds.
    fn fill(&mut self, at: Mark, template: &str) -> Option<String> {
        let mut value = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("${") {
            value.push_str(before);
            let Some((inside, behind)) = after.split_once('}') else {
                self.fault(at, "`${` without its `}`");
                return None;
            };
            let Some(path) = inside.strip_prefix("file:").filter(|path| !path.is_empty()) else {
                self.fault_with(
                    at,
                    "only `${file:…}` is read; the environment is not",
                    "write the value into a file: `${file:/run/secrets/token}`",
                );
                return None;
            };
            let secret = self.secret(at, path)?;
            if secret.contains(['\n', '\r']) {
                self.fault(
                    at,
                    format!("{path} has more than one line: a field value is one line of printable ASCII"),
                );
                return None;
            }
            value.push_str(&secret);
            rest = behind;
        }
        value.push_str(rest);
        let printable = value.bytes().all(|b| b == b'\t' || (b' '..=b'~').contains(&b));
        if !printable {
            self.fault(at, "a field value is printable ASCII: no line break, no control character");
            return None;
        }
        if value.trim().len() != value.len() || value.is_empty() {
            self.fault(at, "a field value is not empty and does not start or end with white space");
            return None;
        }
        Some(value)
    }

    /// The text of a file, without the line break at its end.
    pub(super) fn secret(&mut self, at: Mark, path: &str) -> Option<String> {
        let bytes = match self.files.read(path, MAX_SECRET) {
            Ok(bytes) => bytes,
            Err(reason) => {
                self.fault_with(at, reason, self.files.help(path));
                return None;
            }
        };
        if self.files.is_written_by_all(path) {
            self.warn(
                at,
                Lint::WritableSecret,
                format!("every user of this machine may write to {path}"),
                "chmod 640, or 600",
            );
        }
        let Ok(text) = std::str::from_utf8(&bytes) else {
            self.fault(at, format!("{path} is not text"));
            return None;
        };
        // Editors and `echo` end a file with a line break that nobody means.
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            self.fault(at, format!("{path} is empty"));
            return None;
        }
        Some(text.to_owned())
    }

    /// Names of client or upstream fields that pass, lower case.
    pub(super) fn pass_fields(&self, list: &Field<Vec<Field<Filled>>>, ours: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (at, Filled(name)) in given(list) {
            let lower = name.to_ascii_lowercase();
            if !self.field_name(at, name, ours) {
                continue;
            }
            if names.contains(&lower) {
                self.fault(at, "the same field twice; names are compared without regard to case");
            } else {
                names.push(lower);
            }
        }
        names
    }

    pub(super) fn answer_fields(&self, list: &Field<Vec<Field<Filled>>>) -> Vec<String> {
        self.pass_fields(list, &OURS_IN_ANSWER)
    }

    /// Whether a field of this name may be configured; says why not.
    fn field_name(&self, at: Mark, name: &str, ours: &[&str]) -> bool {
        let lower = name.to_ascii_lowercase();
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(token) {
            self.fault(at, "not a field name: letters, digits and `-`");
        } else if lower == "host" && ours.contains(&"host") {
            self.fault_with(at, "`Host` is not set among the fields", "use `upstream.host`");
        } else if FRAMING.contains(&lower.as_str()) || lower.starts_with("proxy-") {
            self.fault(
                at,
                format!("`{name}` frames the message or belongs to one connection; it is the gateway's"),
            );
        } else if ours.contains(&lower.as_str()) || lower.starts_with("x-forwarded-") {
            self.fault(at, format!("`{name}` is written by the gateway"));
        } else {
            return true;
        }
        false
    }
}
