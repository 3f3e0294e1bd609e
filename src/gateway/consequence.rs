//! What the client may see of what the upstream answered (DESIGN 4, "Act").

/// What holds for the answers of one route's upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsequenceRule {
    /// Bytes of an upstream's body, at most; over it the act is reported with `{}`.
    pub max_response: usize,
    /// A 3xx is how this backend says success (POST-redirect-GET). Never followed.
    pub redirect_is_success: bool,
    /// Text that is not JSON is embedded as `{"text":…}`.
    pub text: bool,
    /// Names of upstream fields that pass to the client, lower case.
    pub pass_fields: Vec<String>,
}
