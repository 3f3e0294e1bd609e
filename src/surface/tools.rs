//! The long tail of GPT Actions: one address that calls a tool by its name, one that lists them.
//!
//! A call is `{"tool":…,"arguments":{…}}` and nothing else. The bytes of `arguments` are cut out of
//! the body as they came and submitted to the route of that name, as if they had been posted to its
//! address. Whatever does not fit is refused like a body that does not fit: which tools there are is
//! told by the list, not by trying.

use super::object::{Object, array};
use super::openapi::is_longtail;
use super::{Telling, Turn};
use crate::gateway::{Desk, Gateway, Head, Outcome, Own, Reply, Route};
use crate::json::{Document, Kind, Value};
use crate::reason::Reason;
use bytes::Bytes;
use std::ops::Range;

/// The name of the operation that calls, and the last segment of its address.
pub const CALL: &str = "call_runtime_tool";
/// The name of the operation that lists, and the last segment of its address.
pub const MANIFEST: &str = "tool_manifest";

/// Bytes that a call has around its arguments, at most.
const AROUND: usize = 1 << 10;

/// What is told about the long tail.
#[derive(Debug)]
pub struct Tools {
    manifest: Bytes,
}

/// The two desks below `prefix`, and what they say; none where there is no long tail.
pub fn tools(routes: &[&Route], prefix: &str) -> Option<(Tools, [Desk; 2])> {
    let tail = || routes.iter().filter(|route| is_longtail(route));
    let most = tail().map(|route| route.max_body).max()?;
    let longest = tail().map(|route| route.body_deadline).max()?;
    let desk = |own, name: &str, max_body| {
        let address = format!("{prefix}/{name}");
        Desk { own, address, max_body, body_deadline: longest, cors: None }
    };
    let desks = [desk(Own::CallTool, CALL, most + AROUND), desk(Own::ToolManifest, MANIFEST, AROUND)];
    Some((Tools { manifest: Bytes::from(manifest(routes)) }, desks))
}

/// The list: every tool with what it does and the form of its arguments, in the order of the file.
pub(super) fn manifest(routes: &[&Route]) -> String {
    let tools = routes.iter().filter(|route| is_longtail(route)).map(|route| {
        Object::text_of(|tool| {
            tool.text("name", &route.name);
            tool.text("description", &route.says());
            tool.json("form", route.form.published());
        })
    });
    Object::text_of(|list| list.json("tools", &array(tools)))
}

/// What a call comes to.
pub(super) fn call<'g>(gateway: &'g Gateway, head: &Head<'_>, body: &Bytes) -> Turn<'g> {
    let read = read_call(&mut Document::new(), body, |name| {
        gateway.routes().position(|route| route.name == name && is_longtail(route))
    });
    match read {
        Err(reason) => Turn::Refuse(reason.into()),
        Ok(Call { route: index, arguments }) => match gateway.ticket(index, head) {
            Ok(ticket) => Turn::Act { ticket, body: body.slice(arguments), telling: Telling::Plainly },
            Err(rejection) => Turn::TurnedAway { index, rejection, telling: Telling::Plainly },
        },
    }
}

impl Tools {
    /// What a question for the list comes to.
    pub(super) fn list<'g>(&self, body: &[u8]) -> Turn<'g> {
        match Document::new().parse(body).map(is_question) {
            Ok(true) => Turn::Answer(Reply::consequence(self.manifest.clone(), ""), Outcome::Arrived),
            Ok(false) => Turn::Refuse(Reason::Form.into()),
            Err(fault) => Turn::Refuse(Reason::Syntax(fault.kind).into()),
        }
    }
}

/// An object without members: there is nothing to ask but everything.
fn is_question(value: Value<'_>) -> bool {
    value.as_object().is_some_and(|object| object.is_empty())
}

/// A call that could be read. Whether the arguments fit is for the form to say.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    /// The number of the route.
    route: usize,
    /// Where its arguments stand in the body.
    arguments: Range<usize>,
}

/// Reads a call. `named` gives the number of the tool that may be called by a name.
fn read_call(
    document: &mut Document,
    body: &[u8],
    named: impl FnOnce(&str) -> Option<usize>,
) -> Result<Call, Reason> {
    let value = document.parse(body).map_err(|fault| Reason::Syntax(fault.kind))?;
    let call = value.as_object().filter(|call| call.len() == 2).ok_or(Reason::Form)?;
    let tool = call.get("tool").and_then(|tool| tool.as_str()).ok_or(Reason::Form)?;
    let arguments = call.get("arguments").filter(|it| it.kind() == Kind::Object).ok_or(Reason::Form)?;
    let route = named(tool).ok_or(Reason::Form)?;
    Ok(Call { route, arguments: arguments.span() })
}
