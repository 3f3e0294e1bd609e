//! Whether a server is up: a GET that the gateway makes itself, with nothing of any client in it.

use super::App;
use super::dial;
use super::upkeep::jittered;
use crate::gateway::{HealthCheck, Streak, Upstream};
use pingora_timeout::timeout;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Checks server number `number`, as long as it is polled.
pub(super) async fn keep(app: Arc<App>, upstream: Arc<Upstream>, number: usize, rule: HealthCheck) {
    let mut streak = Streak::default();
    // Not all at once after a start, and none long after it.
    tokio::time::sleep(jittered(rule.interval.min(Duration::from_secs(1)) / 2)).await;
    loop {
        let found = check(&app, &upstream, number, &rule).await;
        let condition = upstream.condition(number);
        let up = streak.observe(&rule, condition.is_up(), found.is_ok());
        if condition.set_up(up) {
            let server = &upstream.servers[number];
            let (upstream, server, port) = (&upstream.name, server.url(), server.port);
            match found {
                Ok(()) => tracing::info!(upstream, server, port, "healthy again"),
                Err(cause) => {
                    tracing::warn!(upstream, server, port, %cause, "unhealthy: it gets no acts while others do");
                }
            }
        }
        tokio::time::sleep(jittered(rule.interval)).await;
    }
}

async fn check(app: &App, upstream: &Upstream, number: usize, rule: &HealthCheck) -> io::Result<()> {
    let asked = async {
        let mut stream = dial::open(&app.connector, upstream, number).await?.stream;
        let host = rule.host.clone().unwrap_or_else(|| upstream.servers[number].authority());
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: formgate/{} (health)\r\nAccept: */*\r\n\
             Connection: close\r\n\r\n",
            rule.path,
            env!("CARGO_PKG_VERSION"),
        );
        stream.write_all(request.as_bytes()).await?;
        stream.flush().await?;
        // `HTTP/1.1 200`, and whatever follows: nothing else of it is looked at.
        let mut start = [0; 13];
        stream.read_exact(&mut start).await?;
        match start {
            [
                b'H',
                b'T',
                b'T',
                b'P',
                b'/',
                b'1',
                b'.',
                b'0' | b'1',
                b' ',
                b'2',
                b'0'..=b'9',
                b'0'..=b'9',
                b' ' | b'\r',
            ] => Ok(()),
            [.., a, b, c, _] if [a, b, c].iter().all(u8::is_ascii_digit) => {
                let status: String = [a, b, c].map(char::from).iter().collect();
                Err(io::Error::other(format!("it answers {status}")))
            }
            _ => Err(io::Error::other("it does not speak HTTP/1")),
        }
    };
    timeout(rule.timeout, asked).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
