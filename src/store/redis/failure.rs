//! Why there was no answer, in words of our own. What a server sends may be anything, of any length, and may quote
//! what it was sent: none of it is repeated, but for a code that looks like one.

use redis::{ErrorKind, RedisError};
use std::fmt;
use std::io;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    Timeout,
    Broken(Break),
    /// The server says no.
    Refused(Refusal),
}

/// Why a connection is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    /// No address for the name.
    Name,
    /// The system's word on connecting.
    Connect(io::ErrorKind),
    Password,
    /// It answers, and does not let us in.
    Setup,
    Closed,
    TooLarge,
    /// Not what a Redis says, or not what our scripts say.
    Strange,
}

/// The code of an error, as far as it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    Known(&'static Code),
    Word(String),
    Nameless,
}

/// A code that servers are known to use.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Code {
    word: &'static str,
    /// Nobody else would be answered either.
    breaks: bool,
    /// What it means, and what is to be done.
    means: &'static str,
}

const fn code(word: &'static str, breaks: bool, means: &'static str) -> Code {
    Code { word, breaks, means }
}

/// The longest code that is shown.
const WORD: usize = 24;

const CLUSTER: &str =
    "it is a node of a cluster that does not hold the keys of `prefix`: name the one that does";
const PASSWORD: &str = "user or password is wrong (`user`, `password_file`)";

/// What servers say no with: Redis 7 and 8, Valkey 8.
static CODES: [Code; 20] = [
    code("ASK", true, CLUSTER),
    code("BUSY", true, "a script of someone else's keeps it busy: SCRIPT KILL ends it"),
    code("CLUSTERDOWN", true, "its cluster is down"),
    code("CROSSSLOT", false, "it takes the names of one script for those of several slots"),
    code("ERR", false, "it refuses what it is asked: it may be too old, or not a Redis"),
    code("EXECABORT", false, "it gives up what it was asked"),
    code("LOADING", true, "it is still loading its data: it will come"),
    code("MASTERDOWN", true, "it is a replica that has lost its primary"),
    code("MISCONF", true, "it cannot write to its disk: its own log says why"),
    code("MOVED", true, CLUSTER),
    code("NOAUTH", true, "it wants a password: set `password_file`"),
    code("NOPERM", false, "the ACL user may not do all of docs/instances.md"),
    code(
        "NOREPLICAS",
        false,
        "too few replicas follow it for it to be written: see its min-replicas-to-write",
    ),
    code("NOSCRIPT", false, "it does not keep the scripts that it is told"),
    code("OOM", false, "its memory is full: raise its maxmemory"),
    code("READONLY", true, "it is a replica, which cannot be written: name the primary"),
    code("TRYAGAIN", true, "its cluster is moving keys: it will come"),
    code("UNKILLABLE", true, "a script of someone else's keeps it busy, and has written already"),
    code("WRONGPASS", true, PASSWORD),
    code("WRONGTYPE", false, "a name below `prefix` holds something else: does another program use it?"),
];

impl Failure {
    pub(super) fn of(error: &RedisError) -> Self {
        if error.is_timeout() {
            return Self::Timeout;
        }
        if let Some(word) = error.code() {
            return Self::Refused(Refusal::of(word));
        }
        Self::Broken(match error.kind() {
            ErrorKind::AuthenticationFailed => Break::Password,
            ErrorKind::Io => Break::Closed,
            // The kinds of a crate may become more.
            _ => Break::Strange,
        })
    }

    /// Before the first question: what the crate asks itself is a password and a database, and it hides the code.
    pub(super) fn of_setup(error: &RedisError) -> Self {
        match Self::of(error) {
            Self::Refused(Refusal::Known(Code { word: "ERR", .. })) => Self::Broken(Break::Setup),
            failure => failure,
        }
    }

    /// Nobody else would be answered either. A server that is full, or allows less than is asked, still answers what
    /// it can.
    pub(super) fn breaks(&self) -> bool {
        match self {
            Self::Timeout | Self::Broken(_) => true,
            Self::Refused(Refusal::Known(code)) => code.breaks,
            Self::Refused(Refusal::Word(_) | Refusal::Nameless) => false,
        }
    }
}

impl Refusal {
    fn of(word: &str) -> Self {
        if let Some(code) = CODES.iter().find(|code| code.word == word) {
            return Self::Known(code);
        }
        let shown = (1..=WORD).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase());
        if shown { Self::Word(word.to_owned()) } else { Self::Nameless }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("no answer in time"),
            Self::Broken(cause) => cause.fmt(f),
            Self::Refused(Refusal::Known(code)) => write!(f, "{} ({})", code.means, code.word),
            Self::Refused(Refusal::Word(word)) => write!(f, "it says {word}"),
            Self::Refused(Refusal::Nameless) => f.write_str("it says no"),
        }
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "there is no address for its name",
            Self::Connect(kind) => return write!(f, "it cannot be connected to: {kind}"),
            Self::Password => PASSWORD,
            Self::Setup => "it does not let in: see the database in its address, and `password_file`",
            Self::Closed => "it has ended the connection",
            Self::TooLarge => "it answers with more than was ever recorded: is it a Redis?",
            Self::Strange => "it does not answer as a Redis would",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(word: &str) -> String {
        Failure::Refused(Refusal::of(word)).to_string()
    }

    #[test]
    fn a_code_is_shown_only_if_it_looks_like_one() {
        assert_eq!(said("NOAUTH"), "it wants a password: set `password_file` (NOAUTH)");
        assert_eq!(said("NOTIMPLEMENTED"), "it says NOTIMPLEMENTED");
        for word in ["", "ERR\x1b[2J", "lower", "A1", "A B", &"A".repeat(25)] {
            assert_eq!(said(word), "it says no", "{word:?}");
        }
    }

    #[test]
    fn words_of_the_server_are_not_repeated() {
        for kind in [ErrorKind::Parse, ErrorKind::UnexpectedReturnType, ErrorKind::Io, ErrorKind::Client] {
            let error = RedisError::from((kind, "canary", "canary".to_owned()));
            let failure = Failure::of(&error);
            assert!(failure.breaks() && !failure.to_string().contains("canary"), "{failure}");
        }
    }
}
