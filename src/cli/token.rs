//! `token`: makes a bearer token and the line that lets its hash in, or hashes one that exists.

use super::show::{to_stderr, to_stdout};
use super::{INTERNAL, USAGE};
use crate::config;
use crate::gateway::{LONGEST_TOKEN, TokenHash};
use std::fs::File;
use std::io::{Read, stdin};
use std::process::ExitCode;

/// What `token` can be asked.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The name under `tokens`. Default `agents`, or `oncall` for an operator.
    name: Option<String>,
    /// What it shall open: `act` routes, `operator` the admin listener.
    #[arg(short, long, value_enum)]
    class: Option<Class>,
    /// Read a token from standard input and print only its line.
    #[arg(long)]
    hash: bool,
}

/// What a token opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Class {
    Act,
    Operator,
}

/// Below this many characters a token could be guessed.
const SHORTEST: usize = 32;

/// Two lines on standard output: the token, and its entry in the YAML. With `--hash` only the second.
pub fn run(arguments: &Arguments) -> ExitCode {
    let token = if arguments.hash {
        match read() {
            Ok(token) => token,
            Err(reason) => return failed(&reason, USAGE),
        }
    } else {
        let class = arguments.class.unwrap_or(Class::Act);
        match make(class) {
            Ok(token) => token,
            Err(error) => return failed(&format!("no randomness: {error}"), INTERNAL),
        }
    };
    let class = arguments.class.unwrap_or_else(|| Class::of(&token));
    let name = arguments.name.as_deref().unwrap_or(class.usual_name());
    if let Err(reason) = config::check_name(name) {
        return failed(&reason, USAGE);
    }
    let hash = TokenHash::of(token.as_bytes()).hex();
    let entry = format!("{name}: {{ class: {}, sha256: \"{hash}\" }}\n", class.word());
    let text = if arguments.hash { entry } else { format!("{token}\n{entry}") };
    to_stdout(&text, ExitCode::SUCCESS)
}

impl Class {
    fn word(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Operator => "operator",
        }
    }

    /// So that a token that turns up somewhere says what it is, to people and to scanners.
    fn prefix(self) -> &'static str {
        match self {
            Self::Act => "fg_act_",
            Self::Operator => "fg_op_",
        }
    }

    fn usual_name(self) -> &'static str {
        match self {
            Self::Act => "agents",
            Self::Operator => "oncall",
        }
    }

    fn of(token: &str) -> Self {
        if token.starts_with(Self::Operator.prefix()) { Self::Operator } else { Self::Act }
    }
}

/// 256 bits of the system's randomness, in letters and digits that survive a double click and a phone call.
fn make(class: Class) -> std::io::Result<String> {
    let mut secret = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut secret)?;
    Ok(format!("{}{}", class.prefix(), base32(&secret)))
}

/// RFC 4648, 6, lower case, without padding.
fn base32(bytes: &[u8]) -> String {
    let bit = |at: usize| bytes.get(at / 8).is_some_and(|byte| byte >> (7 - at % 8) & 1 == 1);
    let digit = |group: usize| (0..5).fold(0, |digit, at| digit << 1 | usize::from(bit(group * 5 + at)));
    let digits = (0..(bytes.len() * 8).div_ceil(5)).map(digit);
    digits.map(|digit| char::from(b"abcdefghijklmnopqrstuvwxyz234567"[digit])).collect()
}

/// A token as it can stand in the field, from standard input; the line break behind it is not part of it.
fn read() -> Result<String, String> {
    let mut text = String::new();
    let most = LONGEST_TOKEN as u64 + 3;
    let read = stdin().take(most).read_to_string(&mut text);
    read.map_err(|error| format!("cannot read standard input: {error}"))?;
    let token = text.trim_end_matches(['\r', '\n']);
    if token.len() > LONGEST_TOKEN {
        return Err(format!("a token has {LONGEST_TOKEN} characters at most"));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("a token is visible ASCII without spaces: it is sent in a header field".to_owned());
    }
    if token.len() < SHORTEST {
        return Err(format!(
            "a token of less than {SHORTEST} characters could be guessed; `formgate token` makes one that cannot"
        ));
    }
    Ok(token.to_owned())
}

fn failed(reason: &str, code: u8) -> ExitCode {
    to_stderr(&format!("error: {reason}\n"));
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use super::{Class, base32, make};

    #[test]
    fn the_vectors_of_rfc_4648() {
        let vectors = [
            ("", ""),
            ("f", "my"),
            ("fo", "mzxq"),
            ("foo", "mzxw6"),
            ("foob", "mzxw6yq"),
            ("foobar", "mzxw6ytboi"),
        ];
        for (text, digits) in vectors {
            assert_eq!(base32(text.as_bytes()), digits);
        }
    }

    #[test]
    fn a_fresh_token_each_time_that_says_its_class() {
        let (one, two) = (make(Class::Act).unwrap(), make(Class::Act).unwrap());
        assert_ne!(one, two);
        assert_eq!((one.len(), Class::of(&one)), (7 + 52, Class::Act));
        assert_eq!(Class::of(&make(Class::Operator).unwrap()), Class::Operator);
    }
}
