//! Requests as bytes. Nothing is checked: tests write what no client would.

/// How the body is announced.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Framing {
    /// Content-Length when there is a body or the method is one that has them.
    Length,
    /// Chunks of so many bytes.
    Chunked(usize),
    /// Whatever the fields say; the body follows as it is.
    Raw,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    target: String,
    version: &'static str,
    host: Option<String>,
    fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    framing: Framing,
}

impl Request {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self {
            method: method.into(),
            target: target.into(),
            version: "HTTP/1.1",
            host: Some("formgate.test".into()),
            fields: Vec::new(),
            body: Vec::new(),
            framing: Framing::Length,
        }
    }

    pub(crate) fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    /// A POST of JSON.
    pub(crate) fn post(target: &str, body: impl AsRef<[u8]>) -> Self {
        Self::new("POST", target).field("Content-Type", "application/json").body(body)
    }

    pub(crate) fn field(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.into(), value.into()));
        self
    }

    /// Takes all fields of that name away.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.fields.retain(|(have, _)| !have.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        self
    }

    pub(crate) fn chunked(mut self, size: usize) -> Self {
        self.framing = Framing::Chunked(size);
        self
    }

    pub(crate) fn raw(mut self) -> Self {
        self.framing = Framing::Raw;
        self
    }

    pub(crate) fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    pub(crate) fn host(mut self, host: Option<&str>) -> Self {
        self.host = host.map(String::from);
        self
    }

    /// The head up to and with the empty line.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut lines = vec![format!("{} {} {}", self.method, self.target, self.version)];
        lines.extend(self.host.iter().map(|host| format!("Host: {host}")));
        lines.extend(self.fields.iter().map(|(name, value)| format!("{name}: {value}")));
        match self.framing {
            Framing::Length => {
                if !self.body.is_empty() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") {
                    lines.push(format!("Content-Length: {}", self.body.len()));
                }
            }
            Framing::Chunked(_) => lines.push("Transfer-Encoding: chunked".into()),
            Framing::Raw => {}
        }
        (lines.join("\r\n") + "\r\n\r\n").into_bytes()
    }

    /// The body as framed.
    pub(crate) fn tail(&self) -> Vec<u8> {
        match self.framing {
            Framing::Length | Framing::Raw => self.body.clone(),
            Framing::Chunked(size) => {
                let mut out = Vec::with_capacity(self.body.len() + 64);
                for chunk in self.body.chunks(size) {
                    out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                    out.extend_from_slice(chunk);
                    out.extend_from_slice(b"\r\n");
                }
                out.extend_from_slice(b"0\r\n\r\n");
                out
            }
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.head();
        out.extend_from_slice(&self.tail());
        out
    }
}
