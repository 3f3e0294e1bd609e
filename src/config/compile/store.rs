//! Where acts that must not be done twice are recorded, and where rates are counted.

use super::Compiler;
use crate::config::field::{Either, Field};
use crate::config::raw;
use crate::config::tree::Mark;
use crate::config::words::{Filled, MemoryWord, Part, PolicyWord, RedisUrl, StorePrefix};
use crate::config::{Policy, RedisStore, Secret, Store, StoreHome, WhenDown};
use std::time::Duration;

/// What `when_down` means, for who has not said it.
const POLICIES: &str = "add `when_down: refuse` (no act that needs Redis is done while it is down: 503) or \
     `when_down: local` (each instance goes by its own records and rates meanwhile: a key is done once by each \
     instance, a rate holds for each), or one for each: `when_down: { records: refuse, limits: local }`";

impl Compiler<'_> {
    pub(super) fn store(&mut self, field: &Field<Either<MemoryWord, raw::Store>>) -> Store {
        let nothing = raw::Store::default();
        let entry = match field.given() {
            Some(Either::Mapping(entry)) => entry,
            Some(Either::Scalar(_)) | None => &nothing,
        };
        let home = self.home(entry);
        let bytes = if home == StoreHome::Memory { 64 << 20 } else { 1 << 30 };
        Store {
            home,
            max_records: u64::from(self.number(&entry.max_records, 1..=10_000_000, 100_000)),
            max_bytes: self.size(&entry.max_bytes, 1 << 16..=1 << 40, bytes) as u64,
            client_share: entry.client_share.given().map_or(16, |Part(parts)| *parts),
        }
    }

    fn home(&mut self, entry: &raw::Store) -> StoreHome {
        let file = match &entry.file {
            Field::Given(at, Filled(name)) if name.ends_with('/') || name.contains('\0') => {
                self.fault(*at, "expected the path of a file");
                None
            }
            Field::Given(_, Filled(name)) => Some(self.files.path_of(name)),
            Field::Absent | Field::Wrong(_) => None,
        };
        if let (Field::Given(..), Field::Given(at, _)) = (&entry.file, &entry.redis) {
            self.fault(*at, "records are kept in one place: `file` or `redis`");
        }
        match &entry.redis {
            Field::Given(at, RedisUrl((address, database))) => {
                let when_down = self.when_down(*at, &entry.when_down);
                StoreHome::Redis(Box::new(RedisStore {
                    address: address.clone(),
                    database: *database,
                    user: entry.user.given().map(|Filled(user)| user.clone()),
                    password: self.password(entry),
                    prefix: entry
                        .prefix
                        .given()
                        .map_or_else(|| "formgate".to_owned(), |StorePrefix(prefix)| prefix.clone()),
                    timeout: self.store_timeout(entry),
                    when_down,
                    shares_limits: entry.limits.given().is_none_or(|rates| *rates == raw::Rates::Shared),
                }))
            }
            Field::Wrong(_) => StoreHome::Memory,
            Field::Absent => {
                self.refuse_lonely_words(entry);
                file.map_or(StoreHome::Memory, StoreHome::File)
            }
        }
    }

    /// Words that have no effect without `redis`: whoever wrote them believes that they have.
    fn refuse_lonely_words(&self, entry: &raw::Store) {
        let words = [
            ("when_down", entry.when_down.mark()),
            ("password_file", entry.password_file.mark()),
            ("user", entry.user.mark()),
            ("prefix", entry.prefix.mark()),
            ("timeout", entry.timeout.mark()),
            ("limits", entry.limits.mark()),
        ];
        for (word, at) in words.into_iter().filter_map(|(word, at)| Some((word, at?))) {
            self.fault(at, format!("`{word}` has no effect without `redis`"));
        }
    }

    fn when_down(&self, redis: Mark, field: &Field<Either<PolicyWord, raw::WhenDown>>) -> WhenDown {
        let refuse = WhenDown { records: Policy::Refuse, limits: Policy::Refuse };
        match field {
            Field::Absent => {
                self.fault_with(redis, "`when_down` is missing: what is done while Redis is down", POLICIES);
                refuse
            }
            Field::Wrong(_) => refuse,
            Field::Given(_, Either::Scalar(PolicyWord(policy))) => {
                WhenDown { records: *policy, limits: *policy }
            }
            Field::Given(at, Either::Mapping(each)) => {
                let policy = |field: &Field<PolicyWord>, key| {
                    self.required(field, *at, key, "refuse")
                        .map_or(Policy::Refuse, |PolicyWord(policy)| *policy)
                };
                let records = policy(&each.records, "records");
                WhenDown { records, limits: policy(&each.limits, "limits") }
            }
        }
    }

    fn password(&mut self, entry: &raw::Store) -> Option<Secret> {
        let Field::Given(at, Filled(path)) = &entry.password_file else {
            if let Field::Given(at, _) = &entry.user {
                self.fault(*at, "a user without a password opens nothing: add `password_file`");
            }
            return None;
        };
        self.secret(*at, path).map(Secret::new)
    }

    fn store_timeout(&self, entry: &raw::Store) -> Duration {
        let timeout = self.time(&entry.timeout, Duration::from_millis(200));
        if let Field::Given(at, _) = &entry.timeout
            && !(Duration::from_millis(5)..=Duration::from_secs(5)).contains(&timeout)
        {
            self.fault(*at, "must be from 5ms to 5s: every act that needs Redis may wait this long");
        }
        timeout
    }
}
