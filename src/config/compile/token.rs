//! The bearer tokens. Only hashes are read; no fault shows what stands where a hash should.

use super::{Compiler, given};
use crate::config::fault::nearest;
use crate::config::field::{Field, Name};
use crate::config::files::MAX_SECRET;
use crate::config::raw::{self, TokenClass};
use crate::config::tree::Mark;
use crate::config::words::{HashWord, parse_name};
use crate::gateway::{Guard, Token, TokenHash};
use crate::lint::Lint;
use std::cell::Cell;

/// What makes a hash, for whoever has none.
const MAKE: &str =
    "`formgate token` makes a token and prints its line; `formgate token --hash` reads one that exists";

/// An entry of `tokens:`, also when it is wrong: a route that names it is not.
pub(super) struct Holder {
    name: String,
    class: Option<TokenClass>,
    token: Option<Token>,
    used: Cell<bool>,
}

/// Hashes seen so far, and whose they are.
type Claimed = Vec<(TokenHash, String)>;

impl Compiler<'_> {
    pub(super) fn holders(&mut self, file: &raw::File) -> Vec<Holder> {
        let mut claimed = Claimed::new();
        let entries = file.tokens.given().into_iter().flat_map(|entries| &entries.0);
        entries.map(|(name, entry)| self.holder(name, entry, &mut claimed)).collect()
    }

    fn holder(&mut self, name: &Name, entry: &Field<raw::Token>, claimed: &mut Claimed) -> Holder {
        if let Err(reason) = parse_name(&name.text) {
            self.fault(name.mark, reason);
        }
        let mut holder = Holder { name: name.text.clone(), class: None, token: None, used: Cell::new(false) };
        let Field::Given(at, entry) = entry else { return holder };
        holder.class = self.required(&entry.class, *at, "class", "act").copied();
        let mut hashes = Vec::new();
        for element in entry.sha256.given().into_iter().flat_map(|list| &list.0) {
            if let Field::Given(at, HashWord(hash)) = element {
                self.claim(*at, *hash, &name.text, claimed);
                hashes.push(*hash);
            }
        }
        for element in entry.file.given().into_iter().flat_map(|list| &list.0) {
            if let Field::Given(at, path) = element {
                for hash in self.hashes_in(*at, &path.0) {
                    self.claim(*at, hash, &name.text, claimed);
                    hashes.push(hash);
                }
            }
        }
        if entry.sha256.is_absent() && entry.file.is_absent() {
            self.fault_with(*at, "neither `sha256` nor `file` is given", MAKE);
        }
        for (field, is_empty) in [
            (entry.sha256.mark(), entry.sha256.given().is_some_and(|list| list.0.is_empty())),
            (entry.file.mark(), entry.file.given().is_some_and(|list| list.0.is_empty())),
        ] {
            if let (Some(at), true) = (field, is_empty) {
                self.fault_with(at, "an empty list lets nobody in", MAKE);
            }
        }
        holder.token = (!hashes.is_empty()).then(|| Token { name: name.text.clone(), hashes });
        holder
    }

    /// One hash a line; what stands behind it (`sha256sum` writes a name) does not count.
    fn hashes_in(&mut self, at: Mark, path: &str) -> Vec<TokenHash> {
        let bytes = match self.files.read(path, MAX_SECRET) {
            Ok(bytes) => bytes,
            Err(reason) => {
                self.fault(at, reason);
                return Vec::new();
            }
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            self.fault_with(at, format!("{path} is not text"), MAKE);
            return Vec::new();
        };
        let mut hashes = Vec::new();
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        for (line, number) in lines {
            match line.split_whitespace().next().and_then(TokenHash::parse) {
                Some(hash) => hashes.push(hash),
                None => self.fault_with(
                    at,
                    format!("line {number} of {path} does not begin with a SHA-256 in 64 hex digits"),
                    MAKE,
                ),
            }
        }
        if text.trim().is_empty() {
            self.fault_with(at, format!("{path} is empty"), MAKE);
        }
        hashes
    }

    /// A hash is one holder's: two could not be told apart, and two classes would be one.
    fn claim(&self, at: Mark, hash: TokenHash, name: &str, claimed: &mut Claimed) {
        if hash == TokenHash::of(b"") {
            self.fault_with(at, "this is the hash of nothing", MAKE);
        }
        match claimed.iter().find(|(other, _)| *other == hash) {
            None => claimed.push((hash, name.to_owned())),
            Some((_, owner)) if owner == name => self.fault(at, "the same hash twice"),
            Some((_, owner)) => self.fault_with(
                at,
                format!("the same hash as that of `{owner}`: one token, two names"),
                "give each its own token",
            ),
        }
    }

    /// The guard of a route; `None` when the route is for everyone.
    pub(super) fn guard(&self, entry: &raw::Route, holders: &[Holder]) -> Option<Guard> {
        let list = &entry.tokens;
        if let Field::Given(at, names) = list
            && names.is_empty()
        {
            self.fault_with(*at, "an empty list lets nobody in", "leave `tokens` out where everyone may act");
        }
        let mut tokens: Vec<Token> = Vec::new();
        for (at, name) in given(list) {
            let Some(holder) = self.holder_named(at, &name.0, holders) else { continue };
            holder.used.set(true);
            match holder.class {
                Some(TokenClass::Operator) => self.fault_with(
                    at,
                    format!("`{}` is an operator's: it opens the admin listener, and no route", holder.name),
                    "name a token of `class: act`",
                ),
                Some(TokenClass::Act) if tokens.iter().any(|token| token.name == holder.name) => {
                    self.fault(at, format!("`{}` is named twice", holder.name));
                }
                Some(TokenClass::Act) => tokens.extend(holder.token.clone()),
                None => {}
            }
        }
        self.warn_of_passed_token(entry);
        Guard::new(tokens)
    }

    fn holder_named<'h>(&self, at: Mark, name: &str, holders: &'h [Holder]) -> Option<&'h Holder> {
        let found = holders.iter().find(|holder| holder.name == name);
        if found.is_none() {
            let acts = || holders.iter().filter(|holder| holder.class == Some(TokenClass::Act));
            let known = || acts().map(|holder| holder.name.as_str());
            let suggestion = match (nearest(name, known()), known().next()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, Some(_)) => format!("known tokens: {}", known().collect::<Vec<_>>().join(", ")),
                (None, None) => "declare it under `tokens:` with `class: act`".to_owned(),
            };
            // Not quoted: someone may have written the token itself.
            self.fault_with(at, "there is no token of this name under `tokens`", suggestion);
        }
        found
    }

    /// All operator tokens: what the admin listener asks for.
    pub(super) fn operators(holders: &[Holder]) -> Option<Guard> {
        let operators = holders.iter().filter(|holder| holder.class == Some(TokenClass::Operator));
        Guard::new(operators.filter_map(|holder| holder.token.clone()).collect())
    }

    /// Tokens that nothing asks for.
    pub(super) fn warn_of_unused_tokens(&self, file: &raw::File, holders: &[Holder]) {
        let entries = file.tokens.given().into_iter().flat_map(|entries| &entries.0);
        for ((name, _), holder) in entries.zip(holders) {
            let unused = match holder.class {
                Some(TokenClass::Act) if !holder.used.get() => Some("no route asks for this token"),
                Some(TokenClass::Act) | None => None,
                Some(TokenClass::Operator) => {
                    let admin = file.admin.given().and_then(|admin| admin.0.as_ref());
                    admin.is_none().then_some("there is no admin listener to ask for this token")
                }
            };
            if let Some(reason) = unused {
                let suggestion = "remove it, or name it in a route's `tokens`; operator tokens need `admin`";
                self.warn(name.mark, Lint::UnusedToken, reason, suggestion);
            }
        }
    }

    /// A token that opens the gateway is seldom meant for the backend, too.
    fn warn_of_passed_token(&self, entry: &raw::Route) {
        let passed = entry.upstream.given().map(|upstream| given(&upstream.pass_headers));
        for (at, name) in passed.into_iter().flatten() {
            if !entry.tokens.is_absent() && name.0.eq_ignore_ascii_case("authorization") {
                self.warn(
                    at,
                    Lint::PassedToken,
                    "the backend is sent the token that opens this route",
                    "set a secret of the backend's own with `set_headers`",
                );
            }
        }
    }
}
