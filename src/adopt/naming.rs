//! Addresses and names of routes, drawn from paths and identifiers: each once, and within our words.

use super::choose::Named;
use std::collections::{HashMap, HashSet};

/// Gives out addresses and names; none twice.
#[derive(Debug, Default)]
pub(super) struct Naming {
    addresses: Given,
    names: Given,
}

/// Words that are taken.
#[derive(Debug, Default)]
struct Given {
    words: HashSet<String>,
    /// The next number behind a word: all below it are taken, so that a word that comes a thousand times is not
    /// counted up from the first each time.
    next: HashMap<String, usize>,
}

/// How a route is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Called {
    pub(super) address: String,
    pub(super) name: String,
}

impl Naming {
    pub(super) fn call(&mut self, named: &Named) -> Called {
        let method = named.method.to_ascii_lowercase();
        let mut path = String::from("/api");
        for segment in named.path.split('/').filter(|segment| !segment.is_empty()) {
            let segment = plain(segment);
            if !segment.is_empty() {
                path = path + "/" + &segment;
            }
        }
        let whole = named.path.replace(['{', '}'], "");
        let name = snake(named.id.as_deref().unwrap_or(&format!("{method}_{whole}")), &method);
        // Most paths have one act; where there are more, the method says which.
        let address = self.addresses.once(&path, |path| format!("{path}/{method}"), "-");
        let name = self.names.once(&name, |name| cut(&format!("{name}_{method}")), "_");
        Called { address, name }
    }
}

impl Given {
    /// The word, or the first variant of it that has not been given out.
    fn once(&mut self, word: &str, second: impl Fn(&str) -> String, sign: &str) -> String {
        for candidate in [word.to_owned(), second(word)] {
            if self.words.insert(candidate.clone()) {
                return candidate;
            }
        }
        let stem = cut_to(word, 58);
        let next = self.next.entry(stem.clone()).or_insert(2);
        loop {
            let candidate = format!("{stem}{sign}{next}");
            *next += 1;
            if self.words.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// A segment of an address: unreserved characters (RFC 3986, 2.3), others as `-`.
fn plain(segment: &str) -> String {
    let kept: String = segment
        .chars()
        .filter(|c| !matches!(c, '{' | '}'))
        .map(|c| if c.is_ascii_alphanumeric() || "-._~".contains(c) { c } else { '-' })
        .collect();
    let kept = kept.trim_matches(['-', '.']).to_owned();
    kept.chars().take(100).collect()
}

/// `createUser`, `pets/create`, `Order.Refund V2` in lower case with `_` between words.
fn snake(text: &str, method: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    let characters: Vec<char> = text.chars().collect();
    for (index, &c) in characters.iter().enumerate() {
        if c.is_ascii_alphanumeric() {
            let next = characters.get(index + 1).copied().unwrap_or(' ');
            let begins = c.is_ascii_uppercase()
                && (before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || before.is_ascii_uppercase() && next.is_ascii_lowercase());
            if begins && !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        before = c;
    }
    let out = out.trim_matches('_');
    let out = if out.starts_with(|c: char| c.is_ascii_lowercase()) {
        out.to_owned()
    } else {
        format!("{method}_{out}")
    };
    cut(&out)
}

fn cut(text: &str) -> String {
    cut_to(text, 64)
}

fn cut_to(text: &str, most: usize) -> String {
    text.chars().take(most).collect::<String>().trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Naming, plain, snake};
    use crate::adopt::choose::Named;

    #[test]
    fn names_are_words_of_ours() {
        for (text, name) in [
            ("createUser", "create_user"),
            ("pets/create", "pets_create"),
            ("getHTTPStatus2", "get_http_status2"),
            ("Order.Refund V2", "order_refund_v2"),
            ("2fa", "post_2fa"),
            ("_", "post"),
            ("größe", "gr_e"),
        ] {
            assert_eq!(snake(text, "post").trim_end_matches('_'), name, "{text}");
        }
        assert_eq!(plain("v1.2"), "v1.2");
        assert_eq!(plain("a b:c"), "a-b-c");
        assert_eq!(plain(".."), "");
    }

    #[test]
    fn none_is_given_twice() {
        let mut naming = Naming::default();
        let named = |method: &str, id: Option<&str>| Named {
            method: method.into(),
            path: "/pets".into(),
            id: id.map(str::to_owned),
            line: 1,
        };
        let first = naming.call(&named("POST", Some("addPet")));
        let second = naming.call(&named("PUT", Some("addPet")));
        let third = naming.call(&named("PUT", Some("addPet")));
        let all = [first, second, third].map(|called| (called.address, called.name));
        let expected =
            [("/api/pets", "add_pet"), ("/api/pets/put", "add_pet_put"), ("/api/pets-2", "add_pet_2")];
        assert_eq!(all, expected.map(|(address, name)| (address.to_owned(), name.to_owned())));
    }

    #[test]
    fn a_word_that_comes_often_is_not_counted_from_the_first() {
        let mut naming = Naming::default();
        let named = Named { method: "POST".into(), path: "/pets".into(), id: Some("addPet".into()), line: 1 };
        let mut names = std::collections::HashSet::new();
        for _ in 0..30_000 {
            let called = naming.call(&named);
            assert!(names.insert(called.name.clone()) && called.name.len() <= 64, "{called:?}");
        }
        assert!(names.contains("add_pet_29999"));
    }
}
