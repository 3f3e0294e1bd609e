//! Looks at the files of the config and takes the reload turn when one has changed.
//!
//! It looks rather than being told: a rename, a write in place, a symlink flipped as Kubernetes does
//! it and a file on a network share all look the same from here, and none needs a watch set up anew.

use crate::live::Live;
use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long files must have looked the same before they are read: an editor may still be writing.
const SETTLE: Duration = Duration::from_millis(100);

/// What tells one state of a file from the next. Inode and change time move with every way to write.
type Look = Option<(u64, u64, u64, i64, i64, i64, i64)>;

/// Runs until the process ends.
pub(super) fn watch(live: Arc<Live>, every: Duration) {
    let thread = std::thread::Builder::new().name("watch".into());
    let spawned = thread.spawn(move || {
        let mut known = look(&live);
        // Whatever changed between the first load and this first look.
        live.catch_up();
        loop {
            std::thread::sleep(every);
            let mut now = look(&live);
            if now == known {
                continue;
            }
            loop {
                std::thread::sleep(SETTLE);
                let again = look(&live);
                if again == now {
                    break;
                }
                now = again;
            }
            live.reload();
            // The turn may have made other files interesting; the others are known as they were before
            // it, so that a change during it is one.
            known = look(&live);
            for (file, seen) in &mut known {
                if let Some(before) = now.get(file) {
                    *seen = *before;
                }
            }
        }
    });
    if let Err(error) = spawned {
        tracing::error!(%error, "no thread to watch the config: reload by signal or admin");
    }
}

fn look(live: &Live) -> HashMap<PathBuf, Look> {
    let see = |file: PathBuf| {
        let seen = std::fs::metadata(&file).ok().map(|data| identity(&data));
        (file, seen)
    };
    live.status().files.into_iter().map(see).collect()
}

fn identity(data: &Metadata) -> (u64, u64, u64, i64, i64, i64, i64) {
    (data.dev(), data.ino(), data.size(), data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec())
}
