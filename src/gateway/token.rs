//! Bearer tokens (RFC 6750): who may act at an address that is not for everyone, and who may ask the admin
//! listener for more than its health.
//!
//! Only hashes are known here. A token opens what its guard stands before and nothing else: a route has a
//! guard of its own `act` tokens, the admin listener one of all `operator` tokens, and `config` lets no hash
//! stand in both.

use super::act;
use super::head::{ClientKey, Head, Method};
use super::route::Route;
use super::{Gateway, Spot};
use crate::hex;
use crate::reason::{Reason, Rejection};
use sha2::{Digest, Sha256};
use std::hint::black_box;

/// Bytes of a token, at most: what is longer is none, and is not hashed.
pub const LONGEST: usize = 512;

/// SHA-256 of a token. Shown by `Debug` as nothing: a hash of a weak token gives it away.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

/// A name, and what proves it. More than one hash while one token replaces another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// `^[a-z][a-z0-9_]{0,63}$`: what the access line says instead of the token.
    pub name: String,
    /// At least one.
    pub hashes: Vec<TokenHash>,
}

/// The tokens that open one door; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    tokens: Vec<Token>,
}

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl TokenHash {
    /// The hash of a token.
    pub fn of(token: &[u8]) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// From 64 hex digits.
    pub fn parse(digits: &str) -> Option<Self> {
        hex::bytes(digits).map(Self)
    }

    /// 64 hex digits, lower case.
    pub fn hex(&self) -> String {
        hex::of(&self.0)
    }

    /// Takes as long whichever bytes differ. A fold of our own: four lines need no crate, and what it compares are
    /// hashes, whose bytes a guesser cannot choose; `black_box` keeps the compiler from ending it early.
    fn same(&self, other: &Self) -> bool {
        let differ = self.0.iter().zip(&other.0).fold(0, |differ, (a, b)| black_box(differ | (a ^ b)));
        black_box(differ) == 0
    }
}

impl Guard {
    /// `None` where there are no tokens: then there is nothing to guard with.
    pub fn new(tokens: Vec<Token>) -> Option<Self> {
        (!tokens.is_empty()).then_some(Self { tokens })
    }

    /// The token that a head brings, if it is one of these. All are looked at, whichever it is.
    pub fn admit(&self, head: &Head<'_>) -> Option<&Token> {
        let hash = TokenHash::of(bearer(head)?);
        let mut found = None;
        for token in &self.tokens {
            for known in &token.hashes {
                if known.same(&hash) {
                    found = Some(token);
                }
            }
        }
        found
    }
}

/// What stands behind `Bearer` (RFC 6750, 2.1; the scheme in any case, RFC 9110, 11.1) in the one `Authorization`
/// field.
fn bearer<'a>(head: &Head<'a>) -> Option<&'a [u8]> {
    let (scheme, token) = head.only("authorization")?.split_at_checked("Bearer".len())?;
    let token = token.strip_prefix(b" ")?.trim_ascii();
    let is_token = !token.is_empty() && token.len() <= LONGEST && token.iter().all(u8::is_ascii_graphic);
    (scheme.eq_ignore_ascii_case(b"Bearer") && is_token).then_some(token)
}

/// Whom an act is counted against: the token where the route has tokens, for many callers may be behind few
/// addresses (B-18); else the address.
///
/// Who brings no token of this route is counted by address, like anyone refused, and is told to wait once that is
/// used up. A good token does not wait for what others at its address have done: it cannot be guessed, but it could
/// be shut out.
pub(super) fn identify(route: &Route, head: &Head<'_>, address: ClientKey) -> Result<ClientKey, Rejection> {
    let Some(guard) = &route.guard else {
        return act::throttle(&route.limits, address).map(|()| address);
    };
    if let Some(token) = guard.admit(head) {
        let key = ClientKey::of_token(&token.name);
        return act::throttle(&route.limits, key).map(|()| key);
    }
    act::throttle(&route.limits, address)?;
    route.limits.note_refused(address);
    Err(Reason::Unauthorized.into())
}

impl Gateway {
    /// All tokens of all routes: whom a desk counts before it knows which route is meant.
    pub(super) fn guard_of(routes: &[Route]) -> Option<Guard> {
        let mut tokens: Vec<Token> = Vec::new();
        for token in routes.iter().flat_map(|route| &route.guard).flat_map(|guard| &guard.tokens) {
            if !tokens.contains(token) {
                tokens.push(token.clone());
            }
        }
        Guard::new(tokens)
    }

    /// The holder of a token, at a desk. It opens nothing there: the route that is meant asks for it again.
    pub(super) fn holder(&self, head: &Head<'_>) -> Option<ClientKey> {
        let guard = self.holders.as_ref().filter(|_| head.verb() == Method::Post)?;
        guard.admit(head).map(|token| ClientKey::of_token(&token.name))
    }

    /// The name of the token that opened the route to an act, for the access line.
    pub fn token_name(&self, spot: Spot, head: &Head<'_>) -> Option<&str> {
        let (Spot::Route(index), Method::Post) = (spot, head.verb()) else { return None };
        let guard = self.places[index].route.guard.as_ref()?;
        guard.admit(head).map(|token| token.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::{Field, Length};
    use std::net::{IpAddr, Ipv4Addr};

    fn head<'a>(fields: &'a [Field<'a>]) -> Head<'a> {
        let nothing = Head::nothing(IpAddr::V4(Ipv4Addr::LOCALHOST));
        Head { method: "POST", fields, length: Length::Unknown, ..nothing }
    }

    fn guard() -> Guard {
        let token = |name: &str, tokens: &[&str]| Token {
            name: name.into(),
            hashes: tokens.iter().map(|token| TokenHash::of(token.as_bytes())).collect(),
        };
        Guard::new(vec![token("first", &["one", "uno"]), token("second", &["two"])]).unwrap()
    }

    fn admitted(values: &[&str]) -> Option<String> {
        let fields: Vec<Field<'_>> =
            values.iter().map(|value| Field { name: "AUTHORIZATION", value: value.as_bytes() }).collect();
        guard().admit(&head(&fields)).map(|token| token.name.clone())
    }

    #[test]
    fn one_field_one_scheme_one_token() {
        for (value, name) in [("Bearer one", "first"), ("bearer uno", "first"), ("BEARER  two", "second")] {
            assert_eq!(admitted(&[value]).as_deref(), Some(name), "{value}");
        }
        let long = format!("Bearer {}", "x".repeat(LONGEST + 1));
        for values in [
            &[][..],
            &["Bearer one", "Bearer one"],
            &["Bearer One"],
            &["Bearer onetwo"],
            &["Bearer one two"],
            &["Bearer one,two"],
            &["Bearerone"],
            &["Bearer\tone"],
            &["Basic one"],
            &["one"],
            &["Bearer "],
            &["Bearer"],
            &[""],
            &["B\u{e9}arer one"],
            &[&long],
        ] {
            assert_eq!(admitted(values), None, "{values:?}");
        }
    }

    #[test]
    fn hex_there_and_back() {
        let hash = TokenHash::of(b"");
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hash.hex(), text);
        assert_eq!(TokenHash::parse(text), Some(hash));
        assert_eq!(TokenHash::parse(&text.to_uppercase()), Some(hash));
        for wrong in
            ["", &text[1..], &format!("{text}0"), &text.replace('e', "g"), &text.replace('e', "\u{ff45}")]
        {
            assert_eq!(TokenHash::parse(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{hash:?}"), "***");
    }

    /// Every bit counts, wherever it stands.
    #[test]
    fn any_bit_that_differs_is_seen() {
        let hash = TokenHash::of(b"x");
        for bit in 0..256 {
            let mut other = hash;
            other.0[bit / 8] ^= 1 << (bit % 8);
            assert!(!hash.same(&other) && !other.same(&hash), "{bit}");
        }
        assert!(hash.same(&hash.clone()));
    }

    /// A token's allowance is nobody's address, whatever address that is.
    #[test]
    fn tokens_and_addresses_are_counted_apart() {
        let key = ClientKey::of_token("agents");
        assert_eq!(key, ClientKey::of_token("agents"));
        assert_ne!(key, ClientKey::of_token("agent"));
        for address in ["::", "::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "255.255.255.255", "0.0.0.0"]
        {
            assert_ne!(key, ClientKey::of(address.parse().unwrap()));
        }
    }
}
