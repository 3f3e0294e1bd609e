//! The one shape of a GET-Action's answer: `{"code":…,"url":…}`, two keys in that order, and nothing else (U-06).

use crate::gateway::reply::Reply;
use crate::json::quoted;
use bytes::Bytes;

/// What a client that reads nothing else is told (U-07).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The act was done.
    Ok,
    /// A person goes on from here; the client stops (U-22).
    Review,
    /// Nothing was done.
    Rejected,
}

impl Code {
    /// As on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Review => "human_review_required",
            Self::Rejected => "rejected",
        }
    }
}

/// A code and a URL, as they are sent and as they are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What is told.
    pub code: Code,
    body: Bytes,
}

/// What distinguishes a kept answer from what other surfaces keep under the same kind of record.
const KEPT: &[u8] = b"get_action 1\n";

impl Answer {
    /// `url` is absolute.
    pub fn new(code: Code, url: &str) -> Self {
        let body = format!("{{\"code\":\"{}\",\"url\":{}}}", code.name(), quoted(url));
        Self { code, body: Bytes::from(body) }
    }

    /// The bytes that are kept with a key.
    pub fn kept(&self) -> Bytes {
        Bytes::from([KEPT, &self.body].concat())
    }

    /// From the bytes that were kept; `None` for those of another surface.
    pub fn of_kept(kept: &Bytes) -> Option<Self> {
        let body = kept.strip_prefix(KEPT)?;
        let codes = [Code::Ok, Code::Review, Code::Rejected];
        let begins = |code: &Code| body.starts_with(format!("{{\"code\":\"{}\",", code.name()).as_bytes());
        let code = codes.into_iter().find(begins)?;
        Some(Self { code, body: kept.slice(KEPT.len()..) })
    }

    /// 200 (B-28: weak clients see bodies only).
    pub fn reply(&self) -> Reply {
        self.under(200)
    }

    /// 429, the same two keys.
    pub fn throttled(&self, seconds: u32) -> Reply {
        self.under(429).after(seconds)
    }

    fn under(&self, status: u16) -> Reply {
        let lines = format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             X-Robots-Tag: noindex, nofollow\r\n",
            self.body.len()
        );
        Reply::whole(status, lines, self.body.clone())
    }
}
