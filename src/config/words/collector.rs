//! Words about traces.

use super::{WordVisitor, check_path, split_host_port};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer};
use std::borrow::Cow;

/// A collector's host, port and path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::config) struct Otlp {
    pub(in crate::config) host: String,
    pub(in crate::config) port: u16,
    pub(in crate::config) path: String,
}

word!(text
    /// `http://127.0.0.1:4318`.
    OtlpUrl(Otlp) by parse_otlp,
    { "type": "string", "pattern": "^http://[^/?#@]+(/[^?#]*)?$", "examples": ["http://127.0.0.1:4318"] });
word!(any
    /// `0.01`, or `parent`. What is held is how many of 2^64.
    Share(u64) by parse_share,
    { "anyOf": [{ "const": "parent" }, { "type": "number", "minimum": 0, "maximum": 1 }], "examples": [0.01, "parent"] });

fn parse_otlp(text: &str) -> Result<Otlp, String> {
    if text.starts_with("https://") {
        return Err(
            "traces leave without TLS: run a collector on this machine, or beside this pod, and let it \
                    have that; `http://127.0.0.1:4318`"
                .to_owned(),
        );
    }
    let expected = || "expected the URL of a collector, `http://127.0.0.1:4318`".to_owned();
    let rest = text.strip_prefix("http://").ok_or_else(expected)?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = split_host_port(authority).ok_or_else(expected)?;
    let path = match path.trim_end_matches('/') {
        "" => "/v1/traces",
        path => path,
    };
    check_path(path, false)?;
    Ok(Otlp { host: host.to_owned(), port: port.unwrap_or(4318), path: path.to_owned() })
}

fn parse_share(text: &str) -> Result<u64, String> {
    if text == "parent" {
        return Ok(0);
    }
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match text.parse::<f64>() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "from 0 to 2^64; a share is no more exact than that, and the cast saturates"
        )]
        Ok(share) if plain && (0.0..=1.0).contains(&share) => Ok((share * u64::MAX as f64) as u64),
        Ok(_) | Err(_) => Err("expected a share from 0 to 1, `0.01`, or `parent`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_two_to_the_sixty_fourth() {
        assert_eq!(parse_share("parent"), Ok(0));
        assert_eq!(parse_share("0"), Ok(0));
        assert_eq!(parse_share("1"), Ok(u64::MAX));
        assert_eq!(parse_share("0.5"), Ok(1 << 63));
        for bad in ["1.01", "-0.1", "nan", "inf", "1%", "", "all", "1e-3"] {
            assert!(parse_share(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_collector_has_a_port_and_a_path() {
        let of =
            |text: &str| parse_otlp(text).map(|Otlp { host, port, path }| format!("{host} {port} {path}"));
        assert_eq!(of("http://127.0.0.1:4318").as_deref(), Ok("127.0.0.1 4318 /v1/traces"));
        assert_eq!(of("http://[::1]/").as_deref(), Ok("::1 4318 /v1/traces"));
        assert_eq!(of("http://otel:1/a/b").as_deref(), Ok("otel 1 /a/b"));
        for bad in [
            "https://otel",
            "otel:4318",
            "http://",
            "http://a b",
            "http://u:p@h",
            "http://h/?x",
            "http://h:0",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
