//! `/-/log`: how much is said on standard error, seen and changed while the process runs.

use super::App;
use super::admin::{document, text};
use crate::bounds;
use crate::gateway::{Head, Reply};
use bytes::Bytes;
use serde_json::json;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// What `?for=` may say.
const LONGEST: Duration = Duration::from_hours(24);

/// `GET` shows, `PUT` with a filter as the body changes, for a time where the query has `for=10m`, `DELETE` goes back.
pub(super) fn answer(app: &Arc<App>, head: &Head<'_>, body: &Bytes) -> Reply {
    let outcome = match head.method {
        "GET" => Ok(()),
        "PUT" | "POST" => change(app, head, body),
        "DELETE" => app.log.reset(None),
        _ => return text(405, "GET, PUT or DELETE\n"),
    };
    if let Err(error) = outcome {
        return document(422, &json!({ "error": error }));
    }
    let state = app.log.state();
    let until = state.until.map(|until| humantime::format_rfc3339_seconds(until).to_string());
    document(200, &json!({ "filter": state.filter, "until": until, "default": app.log.default() }))
}

fn change(app: &Arc<App>, head: &Head<'_>, body: &Bytes) -> Result<(), String> {
    let during = match head.query {
        None => None,
        Some(query) => {
            let time = query.strip_prefix("for=").and_then(|time| bounds::parse_time(time).ok());
            let fits = |time: &Duration| (Duration::from_secs(1)..=LONGEST).contains(time);
            Some(time.filter(fits).ok_or("expected `?for=10m`, from 1s to 24h")?)
        }
    };
    let wanted = std::str::from_utf8(body).map_err(|_| "not UTF-8")?;
    let turn = app.log.change(wanted, during)?;
    let timer = during.map(|during| {
        let app = Arc::clone(app);
        let wait = async move {
            tokio::time::sleep(during).await;
            if let Err(error) = app.log.reset(Some(turn)) {
                tracing::error!(error, "log: the filter cannot be reset");
            }
        };
        tokio::spawn(wait).abort_handle()
    });
    // One at a time: the end of an earlier change is none any more.
    let mut current = app.log_timer.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(former) = std::mem::replace(&mut *current, timer) {
        former.abort();
    }
    Ok(())
}
