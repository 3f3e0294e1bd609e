//! Names of servers, looked up beside the acts: an act waits for a look-up only where there has been none yet.
//!
//! The last answer is kept until there is another, however long that takes: an address that still takes
//! connections is worth more than none.

use super::upkeep::jittered;
use crate::gateway::Upstream;
use pingora_timeout::timeout;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one look-up may take.
const LOOKUP: Duration = Duration::from_secs(5);
/// How often a name is asked for that has no answer yet.
const AGAIN: Duration = Duration::from_secs(1);

/// The addresses of a server, as they are known.
pub(super) async fn addresses(upstream: &Upstream, number: usize) -> io::Result<Arc<Vec<SocketAddr>>> {
    let (server, condition) = (&upstream.servers[number], upstream.condition(number));
    if let Ok(address) = server.host.parse::<IpAddr>() {
        return Ok(Arc::new(vec![SocketAddr::new(address, server.port)]));
    }
    if let Some(known) = condition.addresses() {
        return Ok(known);
    }
    // Asked for already, and again soon: not by each act.
    if condition.is_unresolved() {
        return Err(io::Error::other("its name has no address"));
    }
    look_up(upstream, number, upstream.timeouts.connect).await?;
    condition.addresses().ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Keeps the addresses of a server's name, as long as it is polled.
pub(super) async fn keep(upstream: Arc<Upstream>, number: usize) {
    loop {
        if let Err(error) = look_up(&upstream, number, LOOKUP).await {
            tell(&upstream, number, &error);
        }
        let known = upstream.condition(number).addresses().is_some();
        let pause = if known { upstream.resolve } else { upstream.resolve.min(AGAIN) };
        tokio::time::sleep(jittered(pause)).await;
    }
}

fn tell(upstream: &Upstream, number: usize, error: &io::Error) {
    let (server, condition) = (upstream.servers[number].url(), upstream.condition(number));
    if !condition.nameless.again(Instant::now()) {
        return;
    }
    let upstream = &upstream.name;
    if condition.addresses().is_some() {
        tracing::warn!(upstream, server, %error, "its name has no answer; what was known of it stays");
    } else {
        tracing::warn!(upstream, server, %error, "its name has no answer; nothing is known of it yet: acts get 503");
    }
}

async fn look_up(upstream: &Upstream, number: usize, time: Duration) -> io::Result<()> {
    let (server, condition) = (&upstream.servers[number], upstream.condition(number));
    let found = timeout(time, tokio::net::lookup_host((server.host.as_str(), server.port))).await;
    let found = found.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map(Iterator::collect);
    let found: Vec<SocketAddr> = match found {
        Ok(found) => found,
        Err(error) => {
            condition.set_unresolved();
            return Err(error);
        }
    };
    if found.is_empty() {
        condition.set_unresolved();
        return Err(io::ErrorKind::NotFound.into());
    }
    let count = found.len();
    if condition.set_addresses(found) {
        tracing::info!(upstream = upstream.name, server = server.url(), count, "its name has new addresses");
    }
    Ok(())
}
