//! Responses, read strictly: what a lenient client would forgive is a failed test.

/// One response. `head` is the status line and the fields as they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The 1xx responses that came before it.
    pub(crate) interim: Vec<u16>,
}

/// How long the body is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    None,
    Length(usize),
    Chunked,
    Close,
}

impl Response {
    /// Parses a head that ends with an empty line.
    pub(crate) fn parse(head: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(head).map_err(|_| "the head is not text".to_owned())?;
        let mut lines = text.split("\r\n");
        let status_line = lines.next().unwrap_or("");
        let rest =
            status_line.strip_prefix("HTTP/1.1 ").ok_or_else(|| format!("status line {status_line:?}"))?;
        let status = rest
            .get(..3)
            .and_then(|code| code.parse().ok())
            .ok_or_else(|| format!("status line {status_line:?}"))?;
        let mut fields = Vec::new();
        for line in lines.take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').ok_or_else(|| format!("field line {line:?}"))?;
            let token = !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
            if !token || value.contains(['\r', '\n', '\0']) {
                return Err(format!("field line {line:?}"));
            }
            fields.push((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()));
        }
        Ok(Self { status, fields, head: text.to_owned(), body: Vec::new(), interim: Vec::new() })
    }

    /// The value of a field that comes at most once.
    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut all = self.fields.iter().filter(|(have, _)| have.eq_ignore_ascii_case(name));
        let first = all.next().map(|(_, value)| value.as_str());
        assert!(all.next().is_none(), "{name} twice in\n{}", self.head);
        first
    }

    /// Names of all fields, lower case, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.fields.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        names.sort();
        names
    }

    /// The head byte for byte, but for what differs in every response.
    pub(crate) fn constant_head(&self) -> String {
        let differs = |line: &&str| {
            let name = line.split(':').next().unwrap_or("").to_ascii_lowercase();
            name != "date" && name != "x-request-id"
        };
        self.head.split("\r\n").filter(differs).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn extent(&self, method: &str) -> Result<Extent, String> {
        if method == "HEAD" || self.status < 200 || self.status == 204 || self.status == 304 {
            return Ok(Extent::None);
        }
        match (self.field("transfer-encoding"), self.field("content-length")) {
            (Some(_), Some(_)) => Err("both Content-Length and Transfer-Encoding".into()),
            (Some("chunked"), None) => Ok(Extent::Chunked),
            (Some(other), None) => Err(format!("Transfer-Encoding: {other}")),
            (None, Some(length)) => {
                length.parse().map(Extent::Length).map_err(|_| format!("Content-Length: {length}"))
            }
            (None, None) => Ok(Extent::Close),
        }
    }

    /// The body as JSON; it must be.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|fault| panic!("{fault}: {:?}", String::from_utf8_lossy(&self.body)))
    }

    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}
