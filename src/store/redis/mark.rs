//! How well the server keeps what it is given, by what it says and by what it forgets.

use crate::store::Trouble;
use std::time::SystemTime;

/// Policies that remove what is still needed: Redis 8, Valkey 8.
const POLICIES: [&str; 9] = [
    "allkeys-lfu",
    "allkeys-lrm",
    "allkeys-lru",
    "allkeys-random",
    "volatile-lfu",
    "volatile-lrm",
    "volatile-lru",
    "volatile-random",
    "volatile-ttl",
];

/// What `INFO` says; nothing where it does not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Regard {
    /// `maxmemory_policy`, where there is a bound of memory and the policy removes what is still needed.
    evicts: Option<&'static str>,
    since: Option<SystemTime>,
    /// Nothing is written to a disk.
    forgets: bool,
}

impl Regard {
    pub(super) fn read(info: &str) -> Self {
        let field = |name: &str| {
            info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
        };
        let bounded = field("maxmemory").is_some_and(|bytes| bytes != "0");
        let policy = field("maxmemory_policy").filter(|policy| bounded && *policy != "noeviction");
        // For log and admin: what is not a policy is not repeated.
        let known = |text: &str| POLICIES.iter().find(|policy| **policy == text).copied();
        Self {
            evicts: policy.map(|policy| known(policy).unwrap_or("none that is known")),
            since: policy.map(|_| SystemTime::now()),
            forgets: field("aof_enabled") == Some("0"),
        }
    }

    /// Whether nothing is new, since whenever.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        (self.evicts, self.forgets) == (other.evicts, other.forgets)
    }

    /// Records need a server that removes none of them.
    pub(super) fn forgetful(&self) -> Option<Trouble> {
        let policy = self.evicts?;
        let cause = format!(
            "its maxmemory-policy is {policy}: it would remove records of acts that must not be done twice; set noeviction"
        );
        Some(Trouble { since: self.since.unwrap_or(SystemTime::UNIX_EPOCH), cause })
    }

    pub(super) fn warnings(&self) -> impl Iterator<Item = String> + use<> {
        let forgets = "it has no append-only file: keys are forgotten when it stops; set appendonly yes";
        let evicts = self.forgetful().map(|trouble| trouble.cause);
        evicts.into_iter().chain(self.forgets.then(|| forgets.to_owned()))
    }
}

/// A mark that stands in the data itself: another one is other data.
#[derive(Debug, Default)]
pub(super) struct Marks {
    seen: Option<String>,
    lost: Option<SystemTime>,
}

impl Marks {
    /// Whether what was there is gone.
    pub(super) fn see(&mut self, mark: String) -> bool {
        let lost = self.seen.as_ref().is_some_and(|seen| *seen != mark);
        if lost {
            self.lost = Some(SystemTime::now());
        }
        self.seen = Some(mark);
        lost
    }

    pub(super) fn warning(&self) -> Option<String> {
        let at = humantime::format_rfc3339_seconds(self.lost?);
        Some(format!("it lost its data by {at}: keys that were used before can be used again"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_of_itself() {
        let info = |memory: &str, policy: &str, aof: &str| {
            let told = format!(
                "# Memory\r\nmaxmemory:{memory}\r\nmaxmemory_policy:{policy}\r\naof_enabled:{aof}\r\n"
            );
            let regard = Regard::read(&told);
            (regard.forgetful().is_some(), regard.warnings().count())
        };
        assert_eq!(info("0", "allkeys-lru", "1"), (false, 0));
        assert_eq!(info("1048576", "noeviction", "1"), (false, 0));
        assert_eq!(info("1048576", "volatile-ttl", "1"), (true, 1));
        assert_eq!(info("1048576", "allkeys-lru", "0"), (true, 2));
        assert_eq!(Regard::read(""), Regard::default());
    }

    #[test]
    fn another_mark_is_other_data() {
        let mut marks = Marks::default();
        let mut see = |mark: &str| marks.see(mark.to_owned());
        assert_eq!([see("a"), see("a"), see("b"), see("b")], [false, false, true, false]);
        assert!(marks.warning().is_some());
    }
}
