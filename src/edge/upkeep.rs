//! What goes on beside the requests for each server of the generation being served: its name is looked up, and it
//! is asked whether it is up. Errands end with the generation that no longer wants them, and with the process.

use super::{App, health, resolve};
use crate::gateway::{HealthCheck, Upstream};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{AbortHandle, JoinSet};

/// One thing to be done again and again. An equal one of the next generation is the same, and is not begun anew.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Errand {
    /// The server's condition, by its number.
    id: u64,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum What {
    LookUp { every: Duration },
    Check { rule: HealthCheck, connect: Duration },
}

/// Runs the errands of each generation in turn, as long as it is polled.
pub(super) async fn keep(app: Arc<App>) {
    let mut generations = app.live.generations();
    let mut running: HashMap<Errand, (AbortHandle, Arc<Upstream>, usize)> = HashMap::new();
    let mut tasks = JoinSet::new();
    loop {
        generations.borrow_and_update();
        let wanted = wanted(&app);
        running.retain(|errand, (task, upstream, number)| {
            let stays = wanted.contains_key(errand);
            if !stays {
                task.abort();
                // Nobody asks it any more: it counts as up, until somebody says otherwise.
                if matches!(errand.what, What::Check { .. }) && !is_checked(&wanted, errand.id) {
                    upstream.condition(*number).set_up(true);
                }
            }
            stays
        });
        for (errand, (upstream, number)) in wanted {
            if running.contains_key(&errand) {
                continue;
            }
            let kept = Arc::clone(&upstream);
            let task = match errand.what.clone() {
                What::LookUp { every: _ } => tasks.spawn(resolve::keep(upstream, number)),
                What::Check { rule, connect: _ } => {
                    tasks.spawn(health::keep(Arc::clone(&app), upstream, number, rule))
                }
            };
            running.insert(errand, (task, kept, number));
        }
        while tasks.try_join_next().is_some() {}
        if generations.changed().await.is_err() {
            return;
        }
    }
}

type Wanted = HashMap<Errand, (Arc<Upstream>, usize)>;

fn is_checked(wanted: &Wanted, id: u64) -> bool {
    wanted.keys().any(|errand| errand.id == id && matches!(errand.what, What::Check { .. }))
}

fn wanted(app: &App) -> Wanted {
    let snapshot = app.snapshot();
    let mut wanted = HashMap::new();
    for upstream in snapshot.gateway.upstreams() {
        for (number, server) in upstream.servers.iter().enumerate() {
            let id = upstream.condition(number).id;
            let mut want = |what| {
                wanted.insert(Errand { id, what }, (Arc::clone(upstream), number));
            };
            if server.name().is_some() {
                want(What::LookUp { every: upstream.resolve });
            }
            if let Some(rule) = &upstream.health {
                want(What::Check { rule: rule.clone(), connect: upstream.timeouts.connect });
            }
        }
    }
    wanted
}

/// A tenth more or less: what begins together does not stay together.
pub(super) fn jittered(time: Duration) -> Duration {
    time.mul_f64(0.9 + 0.2 * fastrand::f64())
}
