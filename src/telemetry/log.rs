//! How much of what happens is said on standard error, and the change of it while the process runs.
//!
//! Only formgate's own events can be turned up live: other crates write what they read from a client into theirs, and
//! bytes of clients reach no log (P9). Who must see those sets `RUST_LOG` and restarts.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tracing_subscriber::EnvFilter;

/// What takes a new filter over.
type Apply = Box<dyn Fn(EnvFilter) -> Result<(), String> + Send + Sync>;

/// The filter of events, and who may change it.
pub struct Log {
    apply: Apply,
    /// What always holds for other crates.
    base: &'static str,
    /// What the process was started with.
    default: String,
    state: Mutex<State>,
}

/// What is said at present.
#[derive(Debug, Clone)]
pub struct State {
    /// As it was asked for.
    pub filter: String,
    /// When it is over; `None` where it stays.
    pub until: Option<SystemTime>,
    /// Counts changes, so that the end of one does not undo the next.
    pub turn: u64,
}

/// Characters of a filter, at most.
const LONGEST: usize = 512;
const DIRECTIVES: usize = 16;
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log")
            .field("default", &self.default)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Log {
    /// `base` is what is said unless someone asks for something else; `default` what was asked for at the start.
    pub fn new(
        base: &'static str,
        default: String,
        apply: impl Fn(EnvFilter) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let state = State { filter: default.clone(), until: None, turn: 0 };
        Self { apply: Box::new(apply), base, default, state: Mutex::new(state) }
    }

    /// What is said at present.
    pub fn state(&self) -> State {
        self.lock().clone()
    }

    /// What was said at the start.
    pub fn default(&self) -> &str {
        &self.default
    }

    /// Says what `wanted` asks for from now on, `during` some time or until it is changed; answers the number of the change.
    /// The error is for the operator who asked.
    pub fn change(&self, wanted: &str, during: Option<Duration>) -> Result<u64, String> {
        let filter = EnvFilter::try_new(directives(self.base, wanted)?).map_err(|error| error.to_string())?;
        let until = during.and_then(|time| SystemTime::now().checked_add(time));
        self.take_over(self.lock(), filter, wanted.trim(), until)
    }

    /// Back to what was said at the start. `turn`: only if that is still the latest change.
    pub fn reset(&self, turn: Option<u64>) -> Result<(), String> {
        let state = self.lock();
        if turn.is_some_and(|turn| turn != state.turn) {
            return Ok(());
        }
        let filter = EnvFilter::try_new(&self.default).map_err(|error| error.to_string())?;
        self.take_over(state, filter, &self.default, None).map(|_| ())
    }

    fn take_over(
        &self,
        mut state: MutexGuard<'_, State>,
        filter: EnvFilter,
        said: &str,
        until: Option<SystemTime>,
    ) -> Result<u64, String> {
        // Before and after: whichever of the two filters shows it.
        tracing::warn!(filter = said, "log: the filter changes");
        (self.apply)(filter)?;
        tracing::warn!(filter = said, "log: the filter has changed");
        *state = State { filter: said.to_owned(), until, turn: state.turn + 1 };
        Ok(state.turn)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What `wanted` means: a level, and levels of parts of formgate.
fn directives(base: &str, wanted: &str) -> Result<String, String> {
    let wanted = wanted.trim();
    if wanted.is_empty() || wanted.len() > LONGEST || wanted.split(',').count() > DIRECTIVES {
        return Err(format!("expected a level ({}), or `formgate::edge=debug,…`", LEVELS.join(", ")));
    }
    let mut filter = base.to_owned();
    for directive in wanted.split(',').map(str::trim) {
        let (target, level) = match directive.split_once('=') {
            None => ("formgate", directive),
            Some((target, level)) => (target.trim(), level.trim()),
        };
        if !LEVELS.contains(&level) {
            let shown = level.escape_debug();
            return Err(format!("`{shown}` is not a level: {}", LEVELS.join(", ")));
        }
        let inside = target.strip_prefix("formgate").filter(|rest| {
            let named =
                |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            rest.is_empty() || rest.strip_prefix("::").is_some_and(|path| path.split("::").all(named))
        });
        if inside.is_none() {
            let shown = target.escape_debug();
            return Err(format!(
                "`{shown}` is not a part of formgate: others write what clients sent into their events, and are turned up \
                 only at the start, with RUST_LOG"
            ));
        }
        // Writing to a `String` cannot fail.
        let _ = write!(filter, ",{target}={level}");
    }
    Ok(filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_formgate_is_turned_up() {
        assert_eq!(directives("info", " debug\n").unwrap(), "info,formgate=debug");
        let parts = "warn, formgate::edge=trace,formgate::live = off";
        let expected = "info,formgate=warn,formgate::edge=trace,formgate::live=off";
        assert_eq!(directives("info", parts).unwrap(), expected);
        for bad in [
            "",
            " ",
            ",",
            "infoo",
            "INFO",
            "3",
            "rustls=debug",
            "h2=trace",
            "formgated=debug",
            "formgate::=debug",
            "formgate[span]=debug",
            "formgate[{x=\"y\"}]=debug",
            "debug,rustls=debug",
            "=debug",
            "formgate=",
            "debug=formgate",
            &"debug,".repeat(17),
            &"x".repeat(600),
        ] {
            assert!(directives("info", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_end_of_one_change_does_not_undo_the_next() {
        let log = Log::new("info", "info".to_owned(), |_| Ok(()));
        let first = log.change("debug", Some(Duration::from_secs(1))).unwrap();
        assert!(log.state().until.is_some());
        log.change("trace", None).unwrap();
        log.reset(Some(first)).unwrap();
        assert_eq!(log.state().filter, "trace");
        log.reset(None).unwrap();
        assert_eq!(log.state().filter, "info");
    }
}
