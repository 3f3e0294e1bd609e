//! What must not stand in a URL: secrets, and data of persons and accounts (REQUIREMENTS U-14). URLs are kept
//! in histories and in the logs of everyone on the way.
//!
//! Words and shapes, so it finds what calls itself a secret and what looks like the well-known ones, no more.
//! Everything here is one pass over the text for each thing looked for.

/// Words that make a name one of a secret, wherever they stand in it.
const WORDS: [&str; 33] = [
    "token",
    "tokens",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "apikey",
    "credential",
    "credentials",
    "bearer",
    "authorization",
    "auth",
    "jwt",
    "otp",
    "cookie",
    "session",
    "sessionid",
    "cvv",
    "cvc",
    "iban",
    "pan",
    "ssn",
    "pin",
    "diagnosis",
    "medical",
    "patient",
    "accesstoken",
    "refreshtoken",
    "cardnumber",
    "creditcard",
];

/// Two words in a row that do.
const PAIRS: [(&str, &str); 19] = [
    ("api", "key"),
    ("access", "key"),
    ("private", "key"),
    ("secret", "key"),
    ("client", "key"),
    ("signing", "key"),
    ("encryption", "key"),
    ("card", "number"),
    ("credit", "card"),
    ("debit", "card"),
    ("account", "number"),
    ("account", "id"),
    ("bank", "account"),
    ("routing", "number"),
    ("social", "security"),
    ("health", "record"),
    ("insurance", "number"),
    ("private", "message"),
    ("direct", "message"),
];

/// Names before `=` inside a value that announce a secret.
const ANNOUNCED: [&str; 8] =
    ["token=", "api_key=", "apikey=", "api-key=", "password=", "passwd=", "secret=", "authorization="];

/// How the secrets of well-known issuers begin; at least [`OPAQUE`] characters of a token follow.
const ISSUED: [&str; 18] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "AKIA",
    "AIza",
];
const OPAQUE: usize = 16;

/// Whether a name says that its value is a secret: `api_key`, `accessToken`, `user-password`.
pub(super) fn names(name: &str) -> bool {
    let words = words(name);
    let is = |word: &String, other: &str| word == other;
    words.iter().any(|word| WORDS.contains(&word.as_str()))
        || words.windows(2).any(|two| PAIRS.iter().any(|(a, b)| is(&two[0], a) && is(&two[1], b)))
}

/// Lower-case words: `clientSecret`, `client_secret` and `client-secret` are the same two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for character in name.chars() {
        let starts = character.is_uppercase() && after_lower;
        if starts || !character.is_alphanumeric() {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
        after_lower = character.is_lowercase() || character.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a value looks like a secret.
pub(super) fn is_in(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    bears(&lower)
        || ANNOUNCED.iter().any(|name| {
            lower.match_indices(name).any(|(at, _)| {
                lower.as_bytes().get(at + name.len()).is_some_and(|byte| !byte.is_ascii_whitespace())
            })
        })
        || text.contains("-----BEGIN ")
        || is_signed(text)
        || ISSUED.iter().any(|prefix| {
            text.match_indices(prefix).any(|(at, _)| {
                let bytes = text.as_bytes();
                let alone = at == 0 || !is_token(bytes[at - 1]);
                alone && token_length(&bytes[at + prefix.len()..]) >= OPAQUE
            })
        })
        || has_card(text.as_bytes())
}

/// `Bearer …` from its beginning, or further in with something behind it that is no word.
fn bears(lower: &str) -> bool {
    let text = lower.trim_start();
    ["bearer ", "basic "].iter().any(|scheme| {
        text.match_indices(scheme).any(|(at, _)| {
            let bytes = text.as_bytes();
            let rest = &bytes[at + scheme.len()..];
            let token = &rest[..token_length(rest)];
            let opaque = token.len() >= 8 && token.iter().any(u8::is_ascii_digit);
            let alone = at == 0 || !is_token(bytes[at - 1]);
            alone && (opaque || at == 0 && *scheme == "bearer " && !token.is_empty())
        })
    })
}

/// A signed token (RFC 7519): `eyJ` is how base64url writes the first bytes of a JSON object.
fn is_signed(text: &str) -> bool {
    text.match_indices("eyJ").any(|(at, _)| {
        let part = |bytes: &[u8]| {
            bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte)).count()
        };
        // A part that goes on for longer is looked at from its own beginning.
        let bytes = text.as_bytes();
        let alone = at == 0 || !is_token(bytes[at - 1]);
        let head = if alone { part(&bytes[at..]) } else { 0 };
        head >= 10 && bytes.get(at + head) == Some(&b'.') && part(&bytes[at + head + 1..]) >= 2
    })
}

/// RFC 6750, 2.1.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

fn token_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_token(**byte)).count()
}

/// A number of 13 to 19 digits, spaces and hyphens between them, with the check digit of payment cards
/// (ISO/IEC 7812-1), standing alone.
fn has_card(bytes: &[u8]) -> bool {
    let mut digits: Vec<u8> = Vec::new();
    for byte in bytes.iter().copied().chain([b'.']) {
        match byte {
            b'0'..=b'9' => digits.push(byte - b'0'),
            b' ' | b'-' if !digits.is_empty() => {}
            _ => {
                if (13..=19).contains(&digits.len()) && (2..=6).contains(&digits[0]) && passes_luhn(&digits) {
                    return true;
                }
                digits.clear();
            }
        }
    }
    false
}

fn passes_luhn(digits: &[u8]) -> bool {
    let weighed = digits.iter().rev().enumerate().map(|(place, digit)| match place % 2 {
        0 => u32::from(*digit),
        _ => u32::from(*digit * 2 / 10 + *digit * 2 % 10),
    });
    weighed.sum::<u32>() % 10 == 0
}

#[cfg(test)]
mod tests {
    use super::{is_in, names};

    #[test]
    fn names_of_secrets() {
        for name in [
            "token",
            "access_token",
            "accessToken",
            "api_key",
            "apiKey",
            "API-KEY",
            "password",
            "userPassword",
            "client_secret",
            "Authorization",
            "cardNumber",
            "account_id",
            "sessionId",
            "private_message",
            "iban",
        ] {
            assert!(names(name), "{name}");
        }
        for name in [
            "title",
            "displayName",
            "author",
            "tokenize",
            "passenger",
            "key",
            "opinion",
            "spinner",
            "authorName",
        ] {
            assert!(!names(name), "{name}");
        }
    }

    #[test]
    fn values_that_are_secrets() {
        for value in [
            "Bearer x",
            "bearer eyJhbGciOiJIUzI1NiJ9.e30.ZRrHA1JJJW8opsbCGfG",
            "say Bearer abcdefgh1",
            "Basic dXNlcjpwYXNzd29yZDE=",
            "eyJhbGciOiJIUzI1NiJ9.e30.ZRrHA1JJJW8opsbCGfG",
            "see https://x.example/?token=abc",
            "my api_key=1",
            "-----BEGIN PRIVATE KEY-----",
            "sk_live_0123456789abcdef",
            "ghp_0123456789abcdef0123",
            "4111 1111 1111 1111",
            "card 4111-1111-1111-1111, please",
        ] {
            assert!(is_in(value), "{value}");
        }
        for value in [
            "Q3 Planning",
            "the bearer of news",
            "Basic understanding",
            "token= and nothing",
            "eyJ",
            "task_live_0123456789abcdef",
            "call +49 30 901820",
            "order 1111111111111111",
            "",
        ] {
            assert!(!is_in(value), "{value}");
        }
    }
}
