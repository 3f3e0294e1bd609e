//! A server that can be killed and come back at the same address, fall ill, and be slow.

use crate::support::backend::{answer, json, read_request};
use std::collections::HashMap;
use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
pub(super) struct State {
    /// How often each body came.
    pub(super) seen: Mutex<HashMap<Vec<u8>, usize>>,
    /// Heads of all requests, in order.
    pub(super) heads: Mutex<Vec<String>>,
    pub(super) acts: AtomicUsize,
    pub(super) checks: AtomicUsize,
    pub(super) connections: AtomicUsize,
    /// Acts at once, now and at most.
    now: AtomicUsize,
    pub(super) most: AtomicUsize,
    /// Milliseconds that an act takes.
    pub(super) slow: AtomicU64,
    /// The status of acts; 200 where zero.
    pub(super) status: AtomicU16,
    /// The status of checks; 200 where zero.
    pub(super) health: AtomicU16,
    streams: Mutex<Vec<TcpStream>>,
}

pub(super) struct Server {
    pub(super) addr: SocketAddr,
    pub(super) state: Arc<State>,
    alive: Mutex<Option<Arc<AtomicBool>>>,
}

impl Server {
    pub(super) fn start() -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap())
    }

    pub(super) fn start_at(addr: SocketAddr) -> Self {
        let listener = TcpListener::bind(addr).unwrap();
        let server =
            Self { addr: listener.local_addr().unwrap(), state: Arc::default(), alive: Mutex::default() };
        server.listen(listener);
        server
    }

    fn listen(&self, listener: TcpListener) {
        let alive = Arc::new(AtomicBool::new(true));
        *self.alive.lock().unwrap() = Some(alive.clone());
        let state = self.state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if !alive.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                state.connections.fetch_add(1, Ordering::SeqCst);
                state.streams.lock().unwrap().push(stream.try_clone().unwrap());
                let state = state.clone();
                std::thread::spawn(move || serve(stream, &state));
            }
        });
    }

    /// As when a process is killed: nothing listens, and every connection is cut, whatever is on it.
    pub(super) fn kill(&self) {
        let Some(alive) = self.alive.lock().unwrap().take() else { return };
        alive.store(false, Ordering::SeqCst);
        // Wakes the listener, which then goes.
        let _ = TcpStream::connect_timeout(&self.addr, Duration::from_secs(1));
        while TcpStream::connect_timeout(&self.addr, Duration::from_secs(1)).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        for stream in self.state.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Comes back at the same address.
    pub(super) fn revive(&self) {
        assert!(self.alive.lock().unwrap().is_none());
        let listener = loop {
            match TcpListener::bind(self.addr) {
                Ok(listener) => break listener,
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        self.listen(listener);
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    pub(super) fn acts(&self) -> usize {
        self.state.acts.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Answers requests until the connection ends.
fn serve(mut stream: TcpStream, state: &State) {
    let _ = stream.set_nodelay(true);
    let mut pending = Vec::new();
    while let Some((head, body)) = read_request(&mut stream, &mut pending) {
        let bytes = said(state, head, body);
        if stream.write_all(&bytes).is_err() {
            return;
        }
    }
}

/// What is answered to one request.
pub(super) fn said(state: &State, head: String, body: Vec<u8>) -> Vec<u8> {
    let is_check = head.starts_with("GET ");
    state.heads.lock().unwrap().push(head);
    if is_check {
        state.checks.fetch_add(1, Ordering::SeqCst);
        return match state.health.load(Ordering::SeqCst) {
            0 => answer("200 OK", "", "fine"),
            status => answer(&format!("{status} No"), "", "ill"),
        };
    }
    let now = state.now.fetch_add(1, Ordering::SeqCst) + 1;
    state.most.fetch_max(now, Ordering::SeqCst);
    state.acts.fetch_add(1, Ordering::SeqCst);
    *state.seen.lock().unwrap().entry(body).or_default() += 1;
    std::thread::sleep(Duration::from_millis(state.slow.load(Ordering::SeqCst)));
    state.now.fetch_sub(1, Ordering::SeqCst);
    match state.status.load(Ordering::SeqCst) {
        0 => json(r#"{"ok":true}"#),
        status => answer(&format!("{status} No"), "", "no"),
    }
}
