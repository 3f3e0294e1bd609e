//! One address: its form and everything that holds for acts on it.

use super::head::Head;
use super::{ConsequenceRule, GetAction, Guard, Idempotency, Limits, Outbound, Tool};
use crate::form::{CompiledForm, Representation};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// One address. A value of this type is complete and consistent; `config` is what makes it.
#[derive(Debug)]
pub struct Route {
    /// `^[a-z][a-z0-9_]{0,63}$`: metric label, log field, operation name.
    pub name: String,
    /// The exact path, as it stands on the wire.
    pub address: String,
    /// What is enforced; `arrival` publishes it.
    pub form: Arc<CompiledForm>,
    /// What GET answers (GPT draft, "Arrival").
    pub arrival: Arc<Representation>,
    /// What GET answers to who asks for `text/html`; `None` is the JSON for everyone. The gateway takes it.
    pub page: Option<Page>,
    /// `GPT-Type`, a field value that needs no escaping.
    pub gpt_type: Option<String>,
    /// Bytes of a body, at most.
    pub max_body: usize,
    /// From the end of the head to the last byte of the body, in all.
    pub body_deadline: Duration,
    /// Which declared media types are read.
    pub content_type: ContentTypeRule,
    /// Rates per client.
    pub limits: Limits,
    /// Where an admitted body goes, and under which head.
    pub outbound: Outbound,
    /// What the client may see of what came back.
    pub consequence: ConsequenceRule,
    /// Who may act; everyone where there is none.
    pub guard: Option<Guard>,
    /// Whether acts may be known by a key, and be done once for each.
    pub idempotency: Option<Idempotency>,
    /// Origins whose pages may act and read the answer.
    pub cors: Option<Cors>,
    /// What the index says of it; none where it is not to be listed.
    pub listing: Option<String>,
    /// How it is called over MCP, where it is.
    pub tool: Option<Tool>,
    /// What a GET with members in its query means.
    pub get_action: Option<GetAction>,
    /// How GPT Actions reach it.
    pub actions: Actions,
}

impl Route {
    /// What it does, in words: its summary, else its context, else what its form says. May be empty.
    pub fn says(&self) -> String {
        match (&self.actions.summary, self.actions.context.as_str()) {
            (Some(summary), _) => summary.clone(),
            (None, "") => self.form.description(),
            (None, context) => context.to_owned(),
        }
    }
}

/// How GPT Actions reach a route (DESIGN 8). Grants nothing that the address does not.
#[derive(Debug, Clone)]
pub struct Actions {
    /// By which operation.
    pub stance: Stance,
    /// What it does, in at most 300 characters, where `context` is longer than that.
    pub summary: Option<String>,
    /// `p`: what an actor should know before it acts. May be empty.
    pub context: String,
    /// Whether the client should ask a person each time: a hint, never authority.
    pub consequential: bool,
}

/// By which operation GPT Actions reach a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stance {
    /// One of its own.
    Direct,
    /// The one that all of the long tail share.
    Longtail,
    /// None.
    None,
}

impl Route {
    /// Whether some act on it is recorded.
    pub fn keeps_records(&self) -> bool {
        self.idempotency.is_some() || self.get_action.is_some()
    }
}

/// The page for people at an address: another representation of what is there (G-11).
///
/// Of many routes it is drawn when somebody first asks for it, or when the tag of an `If-Match` may be its: it is some forty
/// times as long as its arrival.
pub struct Page {
    /// Field lines that only the page carries, each ended by CRLF.
    pub lines: &'static str,
    /// Draws it. It must change whenever the arrival does: its tag stands for the form too.
    pub draw: Box<dyn FnOnce() -> Representation + Send + Sync>,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("lines", &self.lines).finish_non_exhaustive()
    }
}

/// Which declared media types are read as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContentTypeRule {
    /// `application/json`, charset absent or utf-8.
    #[default]
    Json,
    /// Whatever is declared, or nothing.
    Any,
}

/// Cross-origin reads (Fetch standard). Never with credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cors {
    /// Exact origins, `https://app.example`; or the single entry `*`.
    pub origins: Vec<String>,
}

impl Cors {
    /// What a preflight is told, but for the origin.
    pub(super) fn preflight_lines(route: &Route) -> String {
        // `*` does not stand for it (Fetch, 4.9).
        let authorization = if route.guard.is_some() { ", authorization" } else { "" };
        let key = if route.idempotency.is_some() { ", idempotency-key" } else { "" };
        format!(
            "Access-Control-Allow-Methods: GET, HEAD, POST\r\n\
             Access-Control-Allow-Headers: content-type, if-match, gpt-actor{authorization}{key}\r\n\
             Access-Control-Max-Age: 600\r\n"
        )
    }

    /// The same at a desk, with the fields that MCP has.
    pub(super) fn desk_lines() -> &'static str {
        "Access-Control-Allow-Methods: POST\r\n\
         Access-Control-Allow-Headers: content-type, authorization, mcp-protocol-version, mcp-method, mcp-name, \
         mcp-session-id, last-event-id, gpt-actor\r\n\
         Access-Control-Max-Age: 600\r\n"
    }

    /// Whether every page that this request says it comes from may ask; so may what comes from none.
    pub fn admits(&self, head: &Head<'_>) -> bool {
        let listed =
            |asking: &[u8]| self.origins.iter().any(|origin| origin == "*" || origin.as_bytes() == asking);
        head.all("origin").all(listed)
    }

    /// The lines that let the asking page read this answer; none for an origin that is not listed.
    pub fn lines(&self, head: &Head<'_>) -> String {
        if self.origins.iter().any(|origin| origin == "*") {
            return "Access-Control-Allow-Origin: *\r\n".to_owned();
        }
        let asking = head.only("origin").and_then(|origin| std::str::from_utf8(origin).ok());
        // No `Vary`: acts and preflights are `no-store`, and a refusal stays what it is everywhere.
        match self.origins.iter().find(|origin| Some(origin.as_str()) == asking) {
            Some(origin) => format!("Access-Control-Allow-Origin: {origin}\r\n"),
            None => String::new(),
        }
    }
}
