//! One POST to a collector, bounded in time and in bytes (OTLP 1.7, "OTLP/HTTP").

use super::message::refused_spans;
use crate::config::Collector;
use crate::gateway::ForwardedField;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

/// What the collector said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It has them, but for so many spans.
    Taken { refused: u64 },
    /// It will not take them, whenever they come.
    Refused(u16),
    /// It may take them later.
    Later(u16),
}

/// Bytes of an answer that are read, at most: it has little to say.
const ANSWER: u64 = 64 << 10;
const CONNECT: Duration = Duration::from_secs(2);

/// Sends one message on a connection of its own.
pub(super) fn post(collector: &Collector, message: &[u8], by: Instant) -> io::Result<Answer> {
    let mut stream = connect(collector, by)?;
    let mut request = head(collector, message.len());
    request.extend_from_slice(message);
    let mut rest = &request[..];
    while !rest.is_empty() {
        stream.set_write_timeout(Some(left(by)?))?;
        match stream.write(rest)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            wrote => rest = &rest[wrote..],
        }
    }
    read(&mut stream, by)
}

fn connect(collector: &Collector, by: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in (collector.host.as_str(), collector.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left(by)?.min(CONNECT)) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn head(collector: &Collector, length: usize) -> Vec<u8> {
    let Collector { host, port, path, fields, service: _ } = collector;
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    let mut head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUser-Agent: formgate/{}\r\n\
         Content-Type: application/x-protobuf\r\nContent-Length: {length}\r\nConnection: close\r\n",
        env!("CARGO_PKG_VERSION")
    );
    for ForwardedField { name, value } in fields {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// Reads until the end of the answer, or of the connection: every status has been told by then.
fn read(stream: &mut TcpStream, by: Instant) -> io::Result<Answer> {
    let mut input = Vec::new();
    loop {
        if let Some(answer) = whole(&input)? {
            return Ok(answer);
        }
        stream.set_read_timeout(Some(left(by)?))?;
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return ended(&input);
        }
        input.extend_from_slice(&buffer[..count]);
        if input.len() as u64 > ANSWER {
            return Err(io::Error::other("the answer is too long"));
        }
    }
}

/// The answer, once all of it is there.
fn whole(input: &[u8]) -> io::Result<Option<Answer>> {
    let Some((status, length, body)) = parse(input)? else { return Ok(None) };
    let complete = length.is_some_and(|length| body.len() as u64 >= length) || status == 204;
    Ok(complete.then(|| answer(status, body)))
}

/// The answer at the end of the connection, whatever of it is there.
fn ended(input: &[u8]) -> io::Result<Answer> {
    match parse(input)? {
        Some((status, _, body)) => Ok(answer(status, body)),
        None => Err(io::Error::other("the connection ended before an answer")),
    }
}

type Parts<'i> = (u16, Option<u64>, &'i [u8]);

fn parse(input: &[u8]) -> io::Result<Option<Parts<'_>>> {
    let mut room = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut room);
    match response.parse(input) {
        Err(_) => Err(io::Error::other("the answer is not HTTP")),
        Ok(httparse::Status::Partial) => Ok(None),
        Ok(httparse::Status::Complete(end)) => {
            let length =
                response.headers.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"));
            let length = length.and_then(|field| std::str::from_utf8(field.value).ok()?.trim().parse().ok());
            Ok(Some((response.code.unwrap_or_default(), length, &input[end..])))
        }
    }
}

/// Which failures are worth another try is OTLP's to say.
fn answer(status: u16, body: &[u8]) -> Answer {
    match status {
        200..300 => Answer::Taken { refused: refused_spans(body) },
        429 | 502..=504 => Answer::Later(status),
        _ => Answer::Refused(status),
    }
}

fn left(by: Instant) -> io::Result<Duration> {
    match by.checked_duration_since(Instant::now()) {
        Some(left) if !left.is_zero() => Ok(left),
        _ => Err(io::ErrorKind::TimedOut.into()),
    }
}
