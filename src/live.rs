//! The snapshot being served, and the one turn at a time that may replace it (P11).

use crate::config::{self, Fault, Loaded, OnWidening, Settings, Stock};
use crate::form::shortened;
use crate::gateway::{Gateway, Ledger, RouteDifference, Scrutiny, Widening, differences};
use crate::surface::Desks;
use crate::telemetry::{Meters, ReloadResult, Telemetry};
use arc_swap::ArcSwap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio::sync::watch;

/// Bytes of an example that are shown.
const SHOWN: usize = 300;

/// One generation. A request takes it once and sees it to its end.
#[derive(Debug)]
pub struct Snapshot {
    /// What decides.
    pub gateway: Gateway,
    /// What desks say.
    pub desks: Desks,
    /// What is counted on.
    pub meters: Meters,
}

/// The snapshot, and how it came to be.
#[derive(Debug)]
pub struct Live {
    current: ArcSwap<Snapshot>,
    /// Held for a whole turn: two reloads never interleave. What the newest generation was made of.
    turn: Mutex<Stock>,
    status: Mutex<Status>,
    path: PathBuf,
    settings: Settings,
    /// What the generation being served says of those that admit more.
    on_widening: Mutex<OnWidening>,
    telemetry: Arc<Telemetry>,
    generations: watch::Sender<()>,
    /// Where rates are counted together with other instances.
    ledger: Option<Arc<dyn Ledger>>,
}

/// What `/readyz` tells.
#[derive(Debug, Clone)]
pub struct Status {
    /// Digest of the generation being served.
    pub digest: String,
    /// When it was published.
    pub since: SystemTime,
    /// The newest files, when they were refused.
    pub refused: Option<Refused>,
    /// Settings that differ in the newest files and only a restart can change.
    pub needs_restart: Vec<&'static str>,
    /// Files that the watch looks at.
    pub files: Vec<PathBuf>,
}

/// A reload that changed nothing, because the files are wrong.
#[derive(Debug, Clone)]
pub struct Refused {
    /// Everything that is wrong.
    pub faults: Vec<Fault>,
    /// Since when.
    pub since: SystemTime,
}

/// What a turn came to.
#[derive(Debug)]
pub enum Reload {
    /// The same digest: nothing was done.
    Unchanged,
    /// A new generation is being served.
    Published {
        /// Its digest.
        digest: String,
        /// The addresses that differ.
        changes: Vec<RouteDifference>,
        /// Settings that only a restart can change.
        needs_restart: Vec<&'static str>,
    },
    /// The old generation goes on.
    Refused(Vec<Fault>),
}

impl Reload {
    /// For metrics and the admin listener.
    pub fn result(&self) -> ReloadResult {
        match self {
            Self::Unchanged => ReloadResult::Unchanged,
            Self::Published { .. } => ReloadResult::Published,
            Self::Refused(_) => ReloadResult::Refused,
        }
    }
}

impl Live {
    /// The first generation.
    pub fn new(
        path: &Path,
        loaded: Loaded,
        telemetry: Arc<Telemetry>,
        ledger: Option<Arc<dyn Ledger>>,
    ) -> Self {
        let Loaded { mut gateway, desks, settings, files, warnings: _, stock } = loaded;
        let status = Status {
            digest: gateway.digest.clone(),
            since: SystemTime::now(),
            refused: None,
            needs_restart: Vec::new(),
            files,
        };
        if let Some(ledger) = &ledger {
            gateway.share_rates(ledger);
        }
        telemetry.publish(&gateway);
        let meters = telemetry.meters(&gateway);
        Self {
            current: ArcSwap::from_pointee(Snapshot { gateway, desks, meters }),
            turn: Mutex::new(stock),
            status: Mutex::new(status),
            path: path.to_owned(),
            on_widening: Mutex::new(settings.on_widening),
            settings,
            telemetry,
            generations: watch::Sender::default(),
            ledger,
        }
    }

    /// Wakes whoever waits, each time a generation is published.
    pub fn generations(&self) -> watch::Receiver<()> {
        self.generations.subscribe()
    }

    /// The generation being served.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// What `/readyz` tells.
    pub fn status(&self) -> Status {
        self.lock_status().clone()
    }

    /// Takes the turn: reads everything once and serves it, or changes nothing. Blocks on files and
    /// compiles: never on a worker.
    pub fn reload(&self) -> Reload {
        let outcome = self.take_turn();
        self.tell(&outcome);
        outcome
    }

    /// The same for what may have changed since the first load; when nothing has, nothing is said.
    pub fn catch_up(&self) {
        match self.take_turn() {
            Reload::Unchanged => {}
            outcome @ (Reload::Published { .. } | Reload::Refused(_)) => self.tell(&outcome),
        }
    }

    fn take_turn(&self) -> Reload {
        let mut stock = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // As it is after every start, and when a file was only touched.
        if let Some(files) = stock.unchanged() {
            return self.unchanged(files);
        }
        // Were it to panic, the files are refused, and the next turn can be taken.
        match catch_unwind(AssertUnwindSafe(|| config::load_after(&self.path, &stock))) {
            Err(_) => self.refuse(vec![self.unforeseen()], Vec::new()),
            Ok(Err(refused)) => self.refuse(refused.faults, refused.files),
            Ok(Ok(loaded)) if loaded.gateway.digest == self.snapshot().gateway.digest => {
                self.unchanged(loaded.files)
            }
            Ok(Ok(mut loaded)) => {
                let made = std::mem::take(&mut loaded.stock);
                let outcome = self.publish(loaded);
                // Of a generation that is not served nothing is kept: the next is compared with the one that is.
                if let Reload::Published { .. } = outcome {
                    *stock = made;
                }
                outcome
            }
        }
    }

    fn tell(&self, outcome: &Reload) {
        let result = outcome.result();
        self.telemetry.count_reload(result);
        self.telemetry.config_refused.set(i64::from(result == ReloadResult::Refused));
        report(outcome);
    }

    fn unforeseen(&self) -> Fault {
        Fault {
            file: self.path.clone(),
            line: 0,
            column: 0,
            pointer: String::new(),
            reason: "something unforeseen happened while this was judged: please report it".to_owned(),
            suggestion: None,
            lint: None,
        }
    }

    fn unchanged(&self, files: Vec<PathBuf>) -> Reload {
        let mut status = self.lock_status();
        status.refused = None;
        status.files = files;
        Reload::Unchanged
    }

    fn publish(&self, loaded: Loaded) -> Reload {
        let older = self.snapshot();
        let Loaded { mut gateway, desks, settings, files, warnings, stock: _ } = loaded;
        for warning in &warnings {
            tracing::warn!("{warning}");
        }
        // Both must allow it: who edits one file cannot widen a form and say in the same breath that it may be.
        let mut on_widening = self.on_widening.lock().unwrap_or_else(PoisonError::into_inner);
        let policy = settings.on_widening.max(*on_widening);
        let scrutiny = if policy == OnWidening::Allow { Scrutiny::Proof } else { Scrutiny::Examples };
        let changes = differences(&older.gateway, &gateway, scrutiny);
        match policy {
            OnWidening::Allow => {}
            OnWidening::Warn => self.widened(&changes).iter().for_each(|fault| tracing::warn!("{fault}")),
            OnWidening::Refuse => {
                let faults = self.widened(&changes);
                if !faults.is_empty() {
                    return self.refuse(faults, files);
                }
            }
        }
        *on_widening = settings.on_widening;
        gateway.inherit(&older.gateway);
        if let Some(ledger) = &self.ledger {
            gateway.share_rates(ledger);
        }
        let needs_restart = settings.differences(&self.settings);
        let digest = gateway.digest.clone();
        let meters = self.telemetry.meters(&gateway);
        let snapshot = Arc::new(Snapshot { gateway, desks, meters });
        self.current.store(Arc::clone(&snapshot));
        self.telemetry.publish(&snapshot.gateway);
        self.generations.send_replace(());
        *self.lock_status() = Status {
            digest: digest.clone(),
            since: SystemTime::now(),
            refused: None,
            needs_restart: needs_restart.clone(),
            files,
        };
        Reload::Published { digest, changes, needs_restart }
    }

    /// What `reload: { widening }` has to say about these changes.
    fn widened(&self, changes: &[RouteDifference]) -> Vec<Fault> {
        let fault = |change: &RouteDifference| {
            let RouteDifference { name, address, change: _ } = change;
            let reason = match change.widening()? {
                Widening::Address => format!("{name}: {address} is a new address"),
                Widening::Form(Some(example)) => {
                    format!("{name}: the form newly admits {}", shortened(&example, SHOWN))
                }
                Widening::Form(None) => format!("{name}: the form newly admits something"),
                Widening::Undecided => {
                    format!("{name}: whether the form newly admits something could not be decided")
                }
            };
            Some(Fault {
                file: self.path.clone(),
                line: 0,
                column: 0,
                pointer: String::new(),
                reason,
                suggestion: Some(
                    "first load the old forms with `reload: { widening: allow }`, or restart".to_owned(),
                ),
                lint: None,
            })
        };
        changes.iter().filter_map(fault).collect()
    }

    fn refuse(&self, faults: Vec<Fault>, files: Vec<PathBuf>) -> Reload {
        let mut status = self.lock_status();
        // Files of the generation being served stay watched: mending one of them is a change.
        for file in files {
            if !status.files.contains(&file) {
                status.files.push(file);
            }
        }
        let since = status.refused.as_ref().map_or_else(SystemTime::now, |refused| refused.since);
        status.refused = Some(Refused { faults: faults.clone(), since });
        Reload::Refused(faults)
    }

    fn lock_status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn report(outcome: &Reload) {
    match outcome {
        Reload::Unchanged => tracing::info!("reload: nothing changed"),
        Reload::Published { digest, changes, needs_restart } => {
            tracing::info!(%digest, "reload: published");
            for RouteDifference { name, address: _, change } in changes {
                tracing::info!(route = %name, change = change.name(), "reload: route");
            }
            for setting in needs_restart {
                tracing::warn!(%setting, "reload: needs a restart to change");
            }
        }
        Reload::Refused(faults) => {
            tracing::error!(faults = faults.len(), "reload: refused, the running generation stays");
            for fault in faults {
                tracing::error!("{fault}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::CompiledForm;
    use crate::telemetry::Sink;
    use std::fmt::Write as _;

    /// As many routes as are worth keeping, no form like another; two of them take integers up to what is said.
    fn write(path: &Path, seventh: u32, eighth: u32) {
        let mut yaml = String::from(
            "listen: [\"127.0.0.1:0\"]\n\
             reload: { widening: refuse }\n\
             upstreams: { legacy: { servers: [\"http://127.0.0.1:9\"] } }\n\
             defaults: { limits: none }\n\
             routes:\n",
        );
        for number in 0..40 {
            let most = match number {
                7 => seventh,
                8 => eighth,
                other => 1000 + other,
            };
            let _ = write!(
                yaml,
                "  - address: /{number}\n    name: route_{number}\n    upstream: {{ to: legacy, path: / }}\n    \
                 form: {{ type: integer, minimum: 0, maximum: {most} }}\n"
            );
        }
        std::fs::write(path, yaml).unwrap();
    }

    fn form(live: &Live, address: &str) -> Arc<CompiledForm> {
        Arc::clone(&live.snapshot().gateway.at(address).unwrap().form)
    }

    #[test]
    fn a_generation_that_is_not_served_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.yaml");
        write(&path, 79, 89);
        let telemetry = Arc::new(Telemetry::new(Sink::Off, None).unwrap());
        let live = Live::new(&path, config::load(&path).unwrap(), telemetry, None);
        let (seventh, eighth) = (form(&live, "/7"), form(&live, "/8"));
        write(&path, 80, 89);
        assert!(matches!(live.reload(), Reload::Refused(_)));
        write(&path, 79, 88);
        let outcome = live.reload();
        assert!(matches!(outcome, Reload::Published { .. }), "{outcome:?}");
        assert!(Arc::ptr_eq(&seventh, &form(&live, "/7")), "made again, though its words are the same");
        assert!(!Arc::ptr_eq(&eighth, &form(&live, "/8")));
    }
}
