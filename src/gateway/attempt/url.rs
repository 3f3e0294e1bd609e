//! Where an answer leads: URLs that the operator wrote, or that the upstream gave and the operator allows (B-31, U-08).

use super::secret;
use crate::json::Document;

/// What a template has the key in.
const KEY: &str = "{key}";

/// A URL, maybe with the client's key in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(String);

/// Where `ok` leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultUrl {
    /// To what the upstream's answer says at a JSON Pointer, when it is https at one of these hosts.
    Pointer {
        /// RFC 6901.
        pointer: String,
        /// Lower case, with a port where the URL has one.
        hosts: Vec<String>,
    },
    /// To a URL with the key in it.
    Template(Template),
    /// To the receipt that the gateway keeps.
    Receipt,
}

impl Template {
    /// `config` has looked at it.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Keys have only characters that stand for themselves in a URL.
    pub fn with(&self, key: &str) -> String {
        self.0.replace(KEY, key)
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Characters of a URL from an upstream, at most.
const LONGEST: usize = 2048;

/// The public URL that an upstream's JSON answer holds at `pointer`.
pub(super) fn found(body: &[u8], pointer: &str, hosts: &[String]) -> Option<String> {
    let mut document = Document::new();
    let value = document.parse(body).ok()?;
    let url = value.find(pointer)?.as_str()?;
    is_public(url, hosts).then(|| url.to_owned())
}

/// https, at one of the hosts, nobody's name or password in it, nothing in its query that calls itself a secret.
fn is_public(url: &str, hosts: &[String]) -> bool {
    // Only what stands in a URL (RFC 3986, 2): a reader must not have to mend it first.
    let stands = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    if url.len() > LONGEST || !url.bytes().all(stands) {
        return false;
    }
    let Some(rest) = url.strip_prefix("https://") else { return false };
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let own = |host: &String| authority.eq_ignore_ascii_case(host);
    let behind = rest[authority.len()..].split(['?', '#', '&', ';', '/']);
    hosts.iter().any(own)
        && behind.filter_map(|part| part.split_once('=')).all(|(name, _)| !secret::names(name))
        && !secret::is_in(url)
}

#[cfg(test)]
mod tests {
    use super::{found, is_public};

    #[test]
    fn only_public_urls_at_listed_hosts() {
        let hosts = ["meet.example".to_owned(), "meet.example:8443".to_owned()];
        for url in ["https://meet.example/abc", "https://MEET.example", "https://meet.example:8443/a?b=c#d"] {
            assert!(is_public(url, &hosts), "{url}");
        }
        for url in [
            "http://meet.example/abc",
            "https://meet.example.evil.example/",
            "https://user@meet.example/",
            "https://meet.example@evil.example/",
            "https://meet.example:443/",
            "https://evil.example/#https://meet.example/",
            "https://evil.example\\@meet.example/",
            "https://meet.example/ x",
            "https://meet.example/?access_token=1",
            "https://meet.example/#token=1",
            "https://meet.example/a/b;session=1",
            "javascript:alert(1)",
            "//meet.example/",
            "",
            &format!("https://meet.example/{}", "x".repeat(2048)),
        ] {
            assert!(!is_public(url, &hosts), "{url}");
        }
    }

    #[test]
    fn pointers_lead_to_a_string() {
        let hosts = ["meet.example".to_owned()];
        let body = br#"{"a/b":[{"url":"https://meet.example/1"}],"n":7}"#;
        assert_eq!(found(body, "/a~1b/0/url", &hosts).as_deref(), Some("https://meet.example/1"));
        for pointer in ["", "/n", "/a~1b/1/url", "/a~1b/0", "/nothing"] {
            assert_eq!(found(body, pointer, &hosts), None, "{pointer}");
        }
        assert_eq!(found(b"", "/a", &hosts), None);
    }
}
