//! OTLP's messages in protobuf's wire format: `opentelemetry/proto/collector/trace/v1/trace_service.proto` and what it
//! names. Only what is sent is here; the numbers are those of the fields there. `tests/wire/traces.rs` reads them with
//! the official decoder.

use super::super::label::{
    door_label, method_label, outcome_label, reason_label, replay_label, result_label,
};
use super::{Exchange, Trace};
use crate::gateway::{Door, Hex, Method, Outcome};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Who sends: the same in every message of a process.
#[derive(Debug)]
pub(super) struct Resource(Vec<u8>);

impl Resource {
    pub(super) fn of(service: &str) -> Self {
        let mut resource = Message::default();
        resource.attribute(1, "service.name", Any::Text(service));
        resource.attribute(1, "service.version", Any::Text(env!("CARGO_PKG_VERSION")));
        // Two processes of one name are two instances.
        let instance = format!("{:032x}", fastrand::u128(..));
        resource.attribute(1, "service.instance.id", Any::Text(&instance));
        resource.attribute(1, "process.pid", Any::Count(u64::from(std::process::id())));
        Self(resource.0)
    }
}

/// `ExportTraceServiceRequest`
pub(super) fn request(resource: &Resource, traces: &[Trace]) -> Vec<u8> {
    let mut scope = Message::default();
    scope.bytes(1, b"formgate");
    scope.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
    let mut of_scope = Message::default();
    of_scope.bytes(1, &scope.0);
    for trace in traces {
        of_scope.bytes(2, &server(trace).0);
        if let Some(exchange) = &trace.upstream {
            of_scope.bytes(2, &client(trace, exchange).0);
        }
    }
    let mut of_resource = Message::default();
    of_resource.bytes(1, &resource.0);
    of_resource.bytes(2, &of_scope.0);
    let mut request = Message::default();
    request.bytes(1, &of_resource.0);
    request.0
}

/// `SpanKind`
const SERVER: u64 = 2;
const CLIENT: u64 = 3;
/// `SpanFlags`: sampled; whether the parent is of another process is known; it is.
const SAMPLED: u32 = 0x01;
const PARENT_KNOWN: u32 = 0x100;
const PARENT_REMOTE: u32 = 0x200;

fn server(trace: &Trace) -> Message {
    let parent = trace.recorded.parent;
    let flags = SAMPLED | PARENT_KNOWN | if parent.is_some() { PARENT_REMOTE } else { 0 };
    let method = match trace.method {
        Method::Get | Method::Head | Method::Post | Method::Options => method_label(trace.method),
        Method::Other => "_OTHER",
    };
    let mut span = Message::default();
    span.names(trace, trace.recorded.server, parent, flags);
    span.bytes(5, format!("{method} {}", trace.route).as_bytes());
    span.number(6, SERVER);
    span.times(trace.time, trace.took);
    let request = trace.request.to_string();
    let text = Any::Text;
    span.attribute(9, "http.request.method", text(method));
    if trace.status > 0 {
        span.attribute(9, "http.response.status_code", Any::Count(u64::from(trace.status)));
    }
    if trace.method == Method::Post {
        span.attribute(9, "http.request.body.size", Any::Count(trace.bytes_in as u64));
    }
    span.attribute(9, "formgate.route", text(&trace.route));
    span.attribute(9, "formgate.outcome", text(outcome_label(trace.outcome)));
    span.attribute(9, "formgate.request_id", text(&request));
    match trace.door {
        Door::Address => {}
        Door::GetAction | Door::Tools | Door::Mcp => {
            span.attribute(9, "formgate.door", text(door_label(trace.door)));
        }
    }
    if let Some(reason) = trace.reason {
        span.attribute(9, "formgate.reason", text(reason_label(reason)));
    }
    if let Some((pointer, keyword)) = &trace.mismatch {
        span.attribute(9, "formgate.schema", text(pointer));
        span.attribute(9, "formgate.keyword", text(keyword));
    }
    if let Some(state) = trace.replay {
        span.attribute(9, "formgate.replay", text(replay_label(state)));
    }
    // What the client did wrong is no fault of the server's (semantic conventions for HTTP spans).
    if trace.status >= 500 || matches!(trace.outcome, Outcome::Unknown | Outcome::Internal) {
        span.attribute(9, "error.type", text(outcome_label(trace.outcome)));
        span.failed();
    }
    span
}

fn client(trace: &Trace, exchange: &Exchange) -> Message {
    let mut span = Message::default();
    span.names(trace, exchange.span, Some(trace.recorded.server), SAMPLED | PARENT_KNOWN);
    span.bytes(5, format!("upstream {}", trace.route).as_bytes());
    span.number(6, CLIENT);
    span.times(trace.time + exchange.after, exchange.took);
    span.attribute(9, "formgate.route", Any::Text(&trace.route));
    span.attribute(9, "formgate.upstream.result", Any::Text(result_label(exchange.result)));
    if let Some(status) = exchange.status {
        span.attribute(9, "http.response.status_code", Any::Count(u64::from(status)));
    }
    let error = match exchange.status {
        Some(..400) => None,
        Some(status) => Some(status.to_string()),
        None => Some(result_label(exchange.result).to_owned()),
    };
    if let Some(error) = error {
        span.attribute(9, "error.type", Any::Text(&error));
        span.failed();
    }
    span
}

/// How many spans the collector says it did not keep (`ExportTraceServiceResponse.partial_success.rejected_spans`).
/// What cannot be read says nothing.
pub(super) fn refused_spans(body: &[u8]) -> u64 {
    let partial = field(body, 1).and_then(|(_, bytes)| bytes);
    partial.and_then(|partial| field(partial, 1)).map_or(0, |(number, _)| number)
}

/// The first field of this number: its varint, or its bytes.
fn field(mut message: &[u8], wanted: u64) -> Option<(u64, Option<&[u8]>)> {
    loop {
        let tag = varint(&mut message)?;
        let value = match tag & 7 {
            0 => (varint(&mut message)?, None),
            2 => {
                let length = usize::try_from(varint(&mut message)?).ok()?;
                let (bytes, rest) = message.split_at_checked(length)?;
                message = rest;
                (0, Some(bytes))
            }
            fixed @ (1 | 5) => {
                message = message.get(if fixed == 1 { 8 } else { 4 }..)?;
                (0, None)
            }
            _ => return None,
        };
        if tag >> 3 == wanted {
            return Some(value);
        }
    }
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// An attribute's value.
#[derive(Clone, Copy)]
enum Any<'v> {
    Text(&'v str),
    Count(u64),
}

/// A message being written.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push((number & 0x7f) as u8);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3);
        self.varint(number);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn time(&mut self, field: u64, time: SystemTime) {
        let nanos = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&u64::try_from(nanos).unwrap_or(u64::MAX).to_le_bytes());
    }

    fn times(&mut self, began: SystemTime, took: Duration) {
        self.time(7, began);
        self.time(8, began + took);
    }

    fn names(&mut self, trace: &Trace, span: Hex<16>, parent: Option<Hex<16>>, flags: u32) {
        self.bytes(1, &octets(trace.id));
        self.bytes(2, &octets(span));
        if let Some(parent) = parent {
            self.bytes(4, &octets(parent));
        }
        self.varint(16 << 3 | 5);
        self.0.extend_from_slice(&flags.to_le_bytes());
    }

    fn attribute(&mut self, field: u64, key: &str, value: Any<'_>) {
        let mut any = Self::default();
        match value {
            Any::Text(text) => any.bytes(1, text.as_bytes()),
            Any::Count(number) => any.number(3, number),
        }
        let mut pair = Self::default();
        pair.bytes(1, key.as_bytes());
        pair.bytes(2, &any.0);
        self.bytes(field, &pair.0);
    }

    /// `Status` with `STATUS_CODE_ERROR`.
    fn failed(&mut self) {
        let mut status = Self::default();
        status.number(3, 2);
        self.bytes(15, &status.0);
    }
}

/// What the digits stand for.
fn octets<const N: usize>(digits: Hex<N>) -> Vec<u8> {
    let digit = |byte: &u8| if byte.is_ascii_digit() { byte - b'0' } else { byte - b'a' + 10 };
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |octet, byte| octet << 4 | digit(byte)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again() {
        let mut partial = Message::default();
        partial.bytes(2, b"some were too old");
        partial.number(1, 300);
        let mut response = Message::default();
        response.number(9, 1);
        response.bytes(1, &partial.0);
        assert_eq!(refused_spans(&response.0), 300);
        assert_eq!(refused_spans(b""), 0);
    }

    #[test]
    fn garbage_says_nothing() {
        for length in 0..64 {
            for byte in [0, 0x0a, 0x0f, 0x7f, 0x80, 0xff] {
                refused_spans(&vec![byte; length]);
            }
        }
        assert_eq!(refused_spans(b"<html>no</html>"), 0);
    }
}
