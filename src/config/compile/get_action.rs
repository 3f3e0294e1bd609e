//! `get_action` of a route: what may have one at all, and what it must say.

use super::{Compiler, Distinct, given};
use crate::config::field::{Either, Field, Subtree};
use crate::config::inline;
use crate::config::raw::{self, Category};
use crate::config::tree::Mark;
use crate::config::words::{Link, ReceiptWord};
use crate::form::CompiledForm;
use crate::gateway::{Answer, Code, Dropped, GetAction, Guide, Ineligible, Plan, ResultUrl, Template, judge};
use crate::json::Document;
use std::time::Duration;

/// What the rest of the route says.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) form: &'a CompiledForm,
    pub(super) max_body: usize,
    /// `public_url`.
    pub(super) public: Option<&'a str>,
}

const KEEP: (Duration, Duration) = (Duration::from_hours(24), Duration::from_hours(24 * 90));
/// Callers give up after 45 s (REQUIREMENTS A-26).
const LONGEST_WAIT: Duration = Duration::from_secs(40);

impl Compiler<'_> {
    /// `None` where there is none, or where a fault was told.
    pub(super) fn get_action(&self, entry: &raw::Route, around: Around<'_>) -> Option<GetAction> {
        let Field::Given(at, action) = &entry.get_action else { return None };
        let execute = self.may_execute(*at, action);
        if !entry.tokens.is_absent() {
            self.fault_with(
                *at,
                "an address that asks for a token has no GET-Action: a URL brings none, and must not",
                "take `get_action` away; it stays reachable by POST",
            );
        }
        let boundaries =
            self.required(&action.boundaries, *at, "boundaries", "\"Anyone may …; it does not …\"");
        let review = self.required(&action.review_url, *at, "review_url", "https://example.org/review/{key}");
        let rejected = self.required(&action.rejected_url, *at, "rejected_url", "https://example.org/help");
        if around.public.is_none() {
            self.fault_with(
                *at,
                "a GET-Action answers with absolute URLs, and `public_url` is missing",
                "add `public_url: \"https://api.example.com\"`",
            );
        }
        let public = around.public?;
        if !is_safe(public, public) {
            self.fault(
                *at,
                "a GET-Action's receipts are at `public_url`, which must be https (or this machine's own)",
            );
        }
        for (at, link) in [&action.review_url, &action.rejected_url].into_iter().filter_map(placed) {
            self.link(at, link, public);
        }
        if let Some((at, link)) = placed(&action.rejected_url)
            && link.0.contains('{')
        {
            self.fault(at, "`rejected_url` is the same for everyone: a rejected key is not shown");
        }
        let result = self.result_url(*at, &action.result_url, public);
        let keep = self.time(&action.keep, KEEP.0);
        if let Some(at) = action.keep.mark()
            && !(KEEP.0..=KEEP.1).contains(&keep)
        {
            self.fault(at, "a key is remembered for 24h to 2160h: a link may be opened again a day later");
        }
        let wait = self.time(&action.wait, Duration::from_secs(10));
        if let Some(at) = action.wait.mark()
            && wait > LONGEST_WAIT
        {
            self.fault(at, "must be at most 40s: callers give up after 45s");
        }
        let dropped = match &action.drop_parameters {
            Field::Absent | Field::Wrong(_) => vec![Dropped::read("utm_*")],
            Field::Given(..) => {
                given(&action.drop_parameters).map(|(_, name)| Dropped::read(&name.0)).collect()
            }
        };
        let plan = self.plan(*at, around.form, dropped)?;
        let example = self.example(*at, entry, action, &plan, around);
        Some(GetAction {
            plan,
            execute: execute?,
            result: result?,
            review: Template::new(&review?.0),
            rejected: Answer::new(Code::Rejected, &rejected?.0),
            receipts: format!("{public}/r/"),
            keep,
            wait,
            guide: Guide { label: label(entry), boundaries: boundaries?.0.clone(), example: example? },
        })
    }

    /// Labels of two routes must differ, whether they were written or made.
    pub(super) fn claim_label(&self, labels: &mut Distinct, entry: &raw::Route) {
        if let Field::Given(at, action) = &entry.get_action {
            labels.claim(self, action.label.mark().unwrap_or(*at), "the label", &label(entry));
        }
    }

    /// `execute`, if what it needs is said (REQUIREMENTS U-15, U-16, B-32).
    fn may_execute(&self, at: Mark, action: &raw::GetAction) -> Option<bool> {
        let execute = action.execute.given().copied().unwrap_or(false);
        let category = *self.required(&action.category, at, "category", "coordination")?;
        let category_at = action.category.mark().unwrap_or(at);
        match category {
            Category::Payment | Category::Account | Category::Destructive | Category::Regulated => {
                self.fault_with(
                    category_at,
                    "an act of this category has no GET-Action: a URL can be opened by anyone and anything",
                    "take `get_action` away; it stays reachable by POST",
                );
                return None;
            }
            Category::Publication if execute => {
                self.fault_with(
                    category_at,
                    "nothing is published by opening a URL",
                    "take `execute: true` away: a person decides",
                );
                return None;
            }
            Category::Publication
            | Category::Coordination
            | Category::Registration
            | Category::Review
            | Category::Feedback => {}
        }
        if !execute {
            return Some(false);
        }
        let execute_at = action.execute.mark().unwrap_or(at);
        let idempotent = action.idempotent.given() == Some(&true);
        if !idempotent && !matches!(action.idempotent, Field::Wrong(_)) {
            self.fault_with(
                execute_at,
                "`execute` needs an act that does no harm when it is done twice",
                "add `idempotent: true` if it is",
            );
        }
        let consent = match action.consent {
            Field::Given(_, raw::Consent::Public) => true,
            Field::Wrong(_) => false,
            Field::Absent => {
                let reason = "`execute` needs consent that whoever opens the URL does it";
                self.fault_with(execute_at, reason, "add `consent: public` if it is open to everyone");
                false
            }
        };
        (idempotent && consent).then_some(true)
    }

    fn plan(&self, at: Mark, form: &CompiledForm, dropped: Vec<Dropped>) -> Option<Plan> {
        Plan::of(form, dropped)
            .map_err(|reasons| {
                for Ineligible { pointer, reason } in reasons {
                    let place =
                        if pointer.is_empty() { "its root".to_owned() } else { format!("`{pointer}`") };
                    self.fault(
                        at,
                        format!("a query cannot spell the values of this form: {place}: {reason}"),
                    );
                }
            })
            .ok()
    }

    fn result_url(
        &self,
        at: Mark,
        field: &Field<Either<ReceiptWord, raw::ResultUrl>>,
        public: &str,
    ) -> Option<ResultUrl> {
        let url = match field {
            Field::Absent | Field::Given(_, Either::Scalar(_)) => return Some(ResultUrl::Receipt),
            Field::Wrong(_) => return None,
            Field::Given(_, Either::Mapping(url)) => url,
        };
        let at = field.mark().unwrap_or(at);
        match (&url.pointer, &url.template) {
            (Field::Given(_, pointer), Field::Absent) => {
                self.required(&url.hosts, at, "hosts", "[meet.example]")?;
                let hosts: Vec<_> = given(&url.hosts).map(|(_, host)| host.0.clone()).collect();
                if url.hosts.given().is_some_and(Vec::is_empty) {
                    self.fault(url.hosts.mark().unwrap_or(at), "at least one host is needed");
                }
                Some(ResultUrl::Pointer { pointer: pointer.0.clone(), hosts })
            }
            (Field::Absent, Field::Given(template_at, template)) => {
                if let Some(at) = url.hosts.mark() {
                    self.fault(at, "`hosts` has no effect without `pointer`: a template is your own word");
                }
                self.link(*template_at, template, public);
                Some(ResultUrl::Template(Template::new(&template.0)))
            }
            (Field::Wrong(_), _) | (_, Field::Wrong(_)) => None,
            (Field::Absent, Field::Absent) | (Field::Given(..), Field::Given(..)) => {
                self.fault(at, "say one of `pointer` and `template`, or `receipt`");
                None
            }
        }
    }

    /// A link that clients are sent to: https, or on this gateway.
    fn link(&self, at: Mark, link: &Link, public: &str) {
        if !is_safe(&link.0, public) {
            self.fault(at, "must be https, or at `public_url`");
        }
    }

    /// The query of an example that the route would take.
    fn example(
        &self,
        at: Mark,
        entry: &raw::Route,
        action: &raw::GetAction,
        plan: &Plan,
        around: Around<'_>,
    ) -> Option<String> {
        let (at, body) = match &action.example {
            Field::Given(at, Subtree(root)) => (*at, inline::to_json(self.tree, *root, self.findings)?),
            Field::Wrong(_) => return None,
            Field::Absent => {
                let accepted = entry.examples.given().and_then(|examples| given(&examples.accepted).next());
                let Some((at, body)) = accepted else {
                    self.fault_with(
                        at,
                        "there is no example for `/llms.txt` to show",
                        "add `example: { … }`, or `examples: { accepted: [ … ] }` to the route",
                    );
                    return None;
                };
                (at, body.clone())
            }
        };
        let mut document = Document::new();
        let value = document.parse(body.as_bytes()).ok().and_then(|value| value.as_object());
        let query = value.and_then(|value| plan.spell(value));
        // Read as a client's would be: what is shown must work.
        let works = |query: &String| {
            let asked = plan.read(&format!("{query}&nonce=example-key"));
            asked.is_ok_and(|asked| {
                judge(around.form, around.max_body, &mut Document::new(), &asked.body).is_ok()
            })
        };
        let query = query.filter(works);
        if query.is_none() {
            self.fault(at, "this example cannot be spelled in a query, or would be rejected");
        }
        query
    }
}

fn placed(field: &Field<Link>) -> Option<(Mark, &Link)> {
    match field {
        Field::Given(at, link) => Some((*at, link)),
        Field::Absent | Field::Wrong(_) => None,
    }
}

/// `openThisUrlTo…`, as written or from the route's name.
fn label(entry: &raw::Route) -> String {
    let written = entry.get_action.given().and_then(|action| action.label.given());
    let name = entry.name.given().map_or("", |name| name.0.as_str());
    written.map_or_else(|| label_of(name), |label| label.0.clone())
}

/// `start_meeting`: `openThisUrlToStartMeeting` (U-11).
fn label_of(name: &str) -> String {
    let words = name.split('_').filter_map(|word| {
        let first = word.chars().next()?;
        Some(first.to_ascii_uppercase().to_string() + &word[first.len_utf8()..])
    });
    "openThisUrlTo".to_owned() + &words.collect::<String>()
}

/// Whether clients may be sent there: https, or this gateway's own http where that is this machine.
fn is_safe(url: &str, public: &str) -> bool {
    if url.starts_with("https://") {
        return true;
    }
    let Some((_, rest)) = public.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority
        .rsplit_once(':')
        .filter(|(_, port)| !port.ends_with(']'))
        .map_or(authority, |(host, _)| host);
    let own = url == public || url.strip_prefix(public).is_some_and(|rest| rest.starts_with('/'));
    own && matches!(host, "127.0.0.1" | "[::1]" | "localhost")
}

#[cfg(test)]
mod tests {
    use super::{is_safe, label_of};

    #[test]
    fn labels_are_made_of_names() {
        assert_eq!(label_of("start_meeting"), "openThisUrlToStartMeeting");
        assert_eq!(label_of("x"), "openThisUrlToX");
    }

    #[test]
    fn links_are_https_or_our_own() {
        let own = "http://127.0.0.1:8080";
        for (url, public) in [
            ("https://example.org/x", "https://api.example.com"),
            ("http://127.0.0.1:8080/x", own),
            ("http://[::1]:8080/x", "http://[::1]:8080"),
            ("http://localhost/x", "http://localhost"),
        ] {
            assert!(is_safe(url, public), "{url} {public}");
        }
        for (url, public) in [
            ("http://example.org/x", "https://api.example.com"),
            ("http://api.example.com/x", "http://api.example.com"),
            ("http://127.0.0.1:80801/x", own),
            ("http://127.0.0.1:8080.evil.example/x", own),
        ] {
            assert!(!is_safe(url, public), "{url} {public}");
        }
    }
}
