//! A client that sends any bytes in any pieces and says exactly what came back.

use super::response::{Extent, Response};
use super::{PATIENCE, Request};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Why no response came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The other side closed; with the bytes that had come of an unfinished response.
    Closed(usize),
    /// The other side reset the connection.
    Reset,
    /// Nothing, or nothing more, came in time.
    Timeout,
    /// What came is not HTTP.
    Malformed(String),
}

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    pending: Vec<u8>,
}

impl Client {
    #[track_caller]
    pub(crate) fn connect(to: SocketAddr) -> Self {
        Self::try_connect(to).unwrap()
    }

    pub(crate) fn try_connect(to: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect_timeout(&to, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, pending: Vec::new() })
    }

    /// Sends all of it; false when the other side would not take it.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Sends piece by piece, each in its own packet.
    pub(crate) fn send_pieces<'p>(
        &mut self,
        pieces: impl IntoIterator<Item = &'p [u8]>,
        pause: Duration,
    ) -> bool {
        pieces.into_iter().all(|piece| {
            let sent = self.send(piece);
            std::thread::sleep(pause);
            sent
        })
    }

    /// Says that nothing more will be sent.
    pub(crate) fn finish(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Closes with a reset instead of a farewell.
    pub(crate) fn reset(self) {
        let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    /// The response to a request of `method`, interim ones set aside.
    pub(crate) fn try_receive(&mut self, method: &str) -> Result<Response, Loss> {
        let mut interim = Vec::new();
        loop {
            let end = loop {
                if let Some(at) = self.pending.windows(4).position(|four| four == b"\r\n\r\n") {
                    break at + 4;
                }
                if self.pending.len() > 1 << 20 {
                    return Err(Loss::Malformed("a head without end".into()));
                }
                self.fill()?;
            };
            let head: Vec<u8> = self.pending.drain(..end).collect();
            let mut response = Response::parse(&head).map_err(Loss::Malformed)?;
            if response.status < 200 {
                interim.push(response.status);
                continue;
            }
            response.body = match response.extent(method).map_err(Loss::Malformed)? {
                Extent::None => Vec::new(),
                Extent::Length(length) => self.take(length)?,
                Extent::Chunked => self.take_chunks()?,
                Extent::Close => loop {
                    match self.fill() {
                        Ok(()) => {}
                        Err(Loss::Closed(_)) => break std::mem::take(&mut self.pending),
                        Err(loss) => return Err(loss),
                    }
                },
            };
            response.interim = interim;
            return Ok(response);
        }
    }

    #[track_caller]
    pub(crate) fn receive(&mut self, method: &str) -> Response {
        self.try_receive(method).unwrap_or_else(|loss| panic!("no response to {method}: {loss:?}"))
    }

    /// Sends a request and reads its response.
    #[track_caller]
    pub(crate) fn exchange(&mut self, request: &Request) -> Response {
        self.send(&request.bytes());
        self.receive(&request.method)
    }

    pub(crate) fn try_exchange(&mut self, request: &Request) -> Result<Response, Loss> {
        self.send(&request.bytes());
        self.try_receive(&request.method)
    }

    /// Whether the other side closes, sending nothing more, within the time.
    pub(crate) fn closes_within(&mut self, time: Duration) -> bool {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            let _ = self.stream.set_read_timeout(Some(left));
            let got = self.fill();
            let _ = self.stream.set_read_timeout(Some(PATIENCE));
            match got {
                Ok(()) => panic!("more came: {:?}", String::from_utf8_lossy(&self.pending)),
                Err(Loss::Closed(_) | Loss::Reset) => return true,
                Err(Loss::Timeout | Loss::Malformed(_)) => {}
            }
        }
        false
    }

    /// Bytes that came after the last response.
    pub(crate) fn leftover(&self) -> usize {
        self.pending.len()
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>, Loss> {
        while self.pending.len() < length {
            self.fill()?;
        }
        Ok(self.pending.drain(..length).collect())
    }

    fn take_chunks(&mut self) -> Result<Vec<u8>, Loss> {
        let mut body = Vec::new();
        loop {
            let line = loop {
                if let Some(at) = self.pending.windows(2).position(|two| two == b"\r\n") {
                    break self.take(at + 2)?;
                }
                self.fill()?;
            };
            let text = String::from_utf8_lossy(&line[..line.len() - 2]).into_owned();
            let size = usize::from_str_radix(&text, 16)
                .map_err(|_| Loss::Malformed(format!("chunk size {text:?}")))?;
            body.extend(self.take(size)?);
            if self.take(2)? != b"\r\n" {
                return Err(Loss::Malformed("no line end after a chunk".into()));
            }
            if size == 0 {
                return Ok(body);
            }
        }
    }

    fn fill(&mut self) -> Result<(), Loss> {
        let mut buffer = vec![0; 65536];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(Loss::Closed(self.pending.len())),
            Ok(count) => {
                self.pending.extend_from_slice(&buffer[..count]);
                Ok(())
            }
            Err(fault) => Err(match fault.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Loss::Timeout,
                ErrorKind::Interrupted => return Ok(()),
                _ => Loss::Reset,
            }),
        }
    }
}
