//! Words about the shared store.

use super::{WordVisitor, split_host_port};
use crate::config::{Policy, RedisAddress};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::path::PathBuf;

word!(text
    /// `redis://host:6379/0`, or `redis+unix:///run/redis.sock?db=0`.
    RedisUrl((RedisAddress, u32)) by parse_redis,
    { "type": "string", "pattern": "^redis(://[^/?#@]+(/[0-9]*)?|\\+unix:///[^?#@]+(\\?db=[0-9]+)?)$",
      "examples": ["redis://10.0.0.9:6379/0", "redis+unix:///run/redis/redis.sock"] });
word!(any
    /// `refuse` or `local`.
    PolicyWord(Policy) by |text| match text {
        "refuse" => Ok(Policy::Refuse),
        "local" => Ok(Policy::Local),
        _ => Err("expected `refuse`, `local`, or a mapping: `{ records: refuse, limits: local }`".to_owned()),
    },
    { "enum": ["refuse", "local"] });
word!(text
    /// What all names in the store begin with.
    StorePrefix(String) by |text| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        if (1..=64).contains(&text.len()) && text.bytes().all(fits) { Ok(text.to_owned()) } else {
            Err("expected 1 to 64 letters, digits and `.`, `_`, `:`, `-`".to_owned())
        }
    },
    { "type": "string", "pattern": "^[A-Za-z0-9._:-]{1,64}$" });
word!(any
    /// `1/16`: one part of so many.
    Part(u64) by |text| match text.strip_prefix("1/").map(str::parse::<u16>) {
        Some(Ok(parts @ 1..=1000)) => Ok(u64::from(parts)),
        Some(_) | None => Err("expected a part, `1/16`: from `1/1`, which is no bound, to `1/1000`".to_owned()),
    },
    { "type": "string", "pattern": "^1/[0-9]{1,4}$", "examples": ["1/16"] });

/// What is written here may hold a password: nothing of it is repeated.
fn parse_redis(text: &str) -> Result<(RedisAddress, u32), String> {
    if text.starts_with("rediss://") {
        return Err(
            "TLS to Redis is not supported yet; use `redis://` over a trusted network, or a unix socket"
                .to_owned(),
        );
    }
    if text.contains('@') {
        return Err(
            "user and password do not stand in the address; name them with `user` and `password_file`"
                .to_owned(),
        );
    }
    let expected = || "expected `redis://host:6379/0`, or `redis+unix:///run/redis.sock?db=0`".to_owned();
    let number = |digits: &str| {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| plain).ok_or_else(expected)
    };
    if let Some(rest) = text.strip_prefix("redis+unix://") {
        let (path, database) = match rest.split_once('?') {
            Some((path, query)) => (path, number(query.strip_prefix("db=").unwrap_or_default())?),
            None => (rest, 0),
        };
        let is_path = path.starts_with('/') && !path.ends_with('/') && !path.contains(['%', '#', '\0']);
        return if is_path {
            Ok((RedisAddress::Unix(PathBuf::from(path)), database))
        } else {
            Err(expected())
        };
    }
    let rest = text.strip_prefix("redis://").ok_or_else(expected)?;
    let (authority, database) = match rest.split_once('/') {
        Some((authority, "")) => (authority, 0),
        Some((authority, digits)) => (authority, number(digits)?),
        None => (rest, 0),
    };
    let (host, port) = split_host_port(authority).ok_or_else(expected)?;
    Ok((RedisAddress::Tcp(host.to_owned(), port.unwrap_or(6379)), database))
}
