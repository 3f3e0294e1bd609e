//! What the tool of a route says of itself, beside its form.

/// A route that is called as a tool over MCP. Name and input schema are the route's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// For people; the name is for programs.
    pub title: Option<String>,
    /// What a model reads before it calls.
    pub description: String,
    /// What a client may show before it lets a model call.
    pub hints: Hints,
}

/// What a client may expect of a call. Advice, never a right: every call is judged all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four answers to four questions of the protocol")]
pub struct Hints {
    /// A call changes nothing.
    pub read_only: bool,
    /// A call may take away or overwrite.
    pub destructive: bool,
    /// The same call again changes nothing more.
    pub idempotent: bool,
    /// A call may reach things outside the backend.
    pub open_world: bool,
}

impl Hints {
    /// What holds where a route says nothing: the most that a client must reckon with.
    pub const CAUTIOUS: Self =
        Self { read_only: false, destructive: true, idempotent: false, open_world: true };
}
