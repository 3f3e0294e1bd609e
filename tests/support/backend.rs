//! A backend that records every byte it is sent and answers as the test says.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Counts connections from 0.
    pub(crate) connection: usize,
    /// Counts requests of the connection from 0.
    pub(crate) nth: usize,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn line(&self) -> &str {
        self.head.split("\r\n").next().unwrap_or("")
    }

    /// Names, lower case, and values of the fields, in order.
    pub(crate) fn fields(&self) -> Vec<(String, String)> {
        let lines = self.head.split("\r\n").skip(1).take_while(|line| !line.is_empty());
        lines
            .map(|line| {
                let (name, value) = line.split_once(':').unwrap_or((line, ""));
                (name.to_ascii_lowercase(), value.trim().to_owned())
            })
            .collect()
    }

    pub(crate) fn field(&self, name: &str) -> Option<String> {
        self.fields().into_iter().find(|(have, _)| have == name).map(|(_, value)| value)
    }
}

/// What becomes of the connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Keep,
    Close,
    Reset,
}

type Script = dyn Fn(&Seen, &mut TcpStream) -> After + Send + Sync;

pub(crate) struct Backend {
    pub(crate) addr: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
    stray: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

/// A complete answer with a length.
pub(crate) fn answer(status: &str, fields: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut out = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    out.extend_from_slice(body);
    out
}

/// `200` with JSON.
pub(crate) fn json(body: impl AsRef<[u8]>) -> Vec<u8> {
    answer("200 OK", "Content-Type: application/json\r\n", body)
}

impl Backend {
    /// Answers every request with the same bytes and keeps the connection.
    pub(crate) fn answering(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::scripted(
            move |_, stream| if stream.write_all(&bytes).is_ok() { After::Keep } else { After::Close },
        )
    }

    /// Answers `{"ok":true}`.
    pub(crate) fn agreeing() -> Self {
        Self::answering(json(r#"{"ok":true}"#))
    }

    /// Reads each request whole, then does as the script says.
    pub(crate) fn scripted(script: impl Fn(&Seen, &mut TcpStream) -> After + Send + Sync + 'static) -> Self {
        let script: Arc<Script> = Arc::new(script);
        Self::listening(move |connection, stream, seen, stray| {
            serve(connection, stream, seen, stray, &*script);
        })
    }

    /// Hands each connection, untouched, to the test; nothing is recorded.
    pub(crate) fn raw(script: impl Fn(usize, TcpStream) + Send + Sync + 'static) -> Self {
        Self::listening(move |connection, stream, _, _| script(connection, stream))
    }

    fn listening(
        run: impl Fn(usize, TcpStream, &Mutex<Vec<Seen>>, &AtomicUsize) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let backend = Self {
            addr: listener.local_addr().unwrap(),
            seen: Arc::default(),
            connections: Arc::default(),
            stray: Arc::default(),
            stop: Arc::default(),
        };
        let (seen, connections, stray, stop) =
            (backend.seen.clone(), backend.connections.clone(), backend.stray.clone(), backend.stop.clone());
        let run = Arc::new(run);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let connection = connections.fetch_add(1, Ordering::SeqCst);
                let (seen, stray, run) = (seen.clone(), stray.clone(), run.clone());
                std::thread::spawn(move || {
                    let _ = stream.set_nodelay(true);
                    run(connection, stream, &seen, &stray);
                });
            }
        });
        backend
    }

    /// All requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// Connections accepted so far, used or not.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Connections that brought bytes which are not a whole request.
    pub(crate) fn stray(&self) -> usize {
        self.stray.load(Ordering::SeqCst)
    }

    /// The only request; there must be exactly one.
    #[track_caller]
    pub(crate) fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "requests at the backend: {seen:#?}");
        assert_eq!(self.stray(), 0, "bytes at the backend that are no request");
        seen.into_iter().next().unwrap()
    }

    #[track_caller]
    pub(crate) fn untouched(&self) {
        let lines: Vec<_> = self.seen().iter().map(|seen| seen.line().to_owned()).collect();
        assert_eq!((self.connections(), lines.len()), (0, 0), "the backend was touched: {lines:?}");
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect_timeout(&self.addr, Duration::from_secs(1));
    }
}

/// An address where nothing listens.
pub(crate) fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

pub(crate) fn reset(stream: &TcpStream) {
    let _ = socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO));
}

fn serve(
    connection: usize,
    mut stream: TcpStream,
    seen: &Mutex<Vec<Seen>>,
    stray: &AtomicUsize,
    script: &Script,
) {
    let mut pending = Vec::new();
    for nth in 0.. {
        let Some((head, body)) = read_request(&mut stream, &mut pending) else {
            if !pending.is_empty() {
                stray.fetch_add(1, Ordering::SeqCst);
            }
            return;
        };
        let request = Seen { connection, nth, head, body };
        seen.lock().unwrap().push(request.clone());
        match script(&request, &mut stream) {
            After::Keep => {}
            After::Close => return,
            After::Reset => return reset(&stream),
        }
    }
}

/// One request with a Content-Length or without a body; anything else is nothing the gateway may send.
pub(crate) fn read_request(stream: &mut TcpStream, pending: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    read_request_from(stream, pending)
}

/// The same from whatever can be read.
pub(crate) fn read_request_from(stream: &mut impl Read, pending: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    let mut buffer = vec![0; 65536];
    let mut fill = |pending: &mut Vec<u8>| match stream.read(&mut buffer) {
        Ok(count) if count > 0 => {
            pending.extend_from_slice(&buffer[..count]);
            Some(())
        }
        Ok(_) | Err(_) => None,
    };
    let end = loop {
        if let Some(at) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        fill(pending)?;
    };
    let head = String::from_utf8_lossy(&pending[..end]).into_owned();
    let length = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap_or(usize::MAX))
    });
    let length = length.unwrap_or(0);
    while pending.len() < end.saturating_add(length) {
        fill(pending)?;
    }
    let body = pending[end..end + length].to_vec();
    pending.drain(..end + length);
    Some((head, body))
}
