//! Any bytes as an HTTP/1 head. Whatever is taken passes a second, independent look at what frames it.
#![no_main]

use formgate::edge::fuzzing::{Framing, find_head_end, read_head};
use libfuzzer_sys::fuzz_target;

/// The fields of a head, by a reader that knows nothing but lines. Names in lower case.
fn fields(head: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let text = head.strip_suffix(b"\r\n\r\n")?;
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"\r\n") {
        lines.push(&rest[..at]);
        rest = &rest[at + 2..];
    }
    lines.push(rest);
    assert!(lines.iter().all(|line| !line.iter().any(|byte| b"\r\n\0".contains(byte))), "bare CR, LF or NUL");
    lines[1..]
        .iter()
        .map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (name, value) = (&line[..colon], &line[colon + 1..]);
            (!name.is_empty() && !name.iter().any(u8::is_ascii_whitespace))
                .then(|| (name.to_ascii_lowercase(), value.trim_ascii().to_vec()))
        })
        .collect()
}

fuzz_target!(|bytes: &[u8]| {
    // The connection takes one empty line away and looks at the first byte before it looks for an end.
    if !bytes.first().is_some_and(u8::is_ascii_graphic) {
        return;
    }
    let whole = find_head_end(bytes, 0);
    // Wherever the bytes were cut before, the end is the same.
    for seen in [1, 2, bytes.len() / 2, bytes.len().saturating_sub(1)] {
        if seen <= bytes.len() && find_head_end(&bytes[..seen], 0) == Ok(None) {
            assert_eq!(find_head_end(bytes, seen), whole);
        }
    }
    let Ok(Some(end)) = whole else { return };
    let head = &bytes[..end];
    assert!(head.ends_with(b"\r\n\r\n"));
    assert_eq!(head.windows(4).position(|four| four == b"\r\n\r\n"), Some(end - 4), "the first empty line ends it");
    let Some(read) = read_head(head) else { return };
    let fields = fields(head).expect("lines of name and value");
    let values = |name: &str| fields.iter().filter(|(have, _)| have == name.as_bytes()).map(|(_, v)| v).collect::<Vec<_>>();
    let (lengths, codings, hosts) = (values("content-length"), values("transfer-encoding"), values("host"));
    let line_end = head.windows(2).position(|pair| pair == b"\r\n").unwrap();
    let line = std::str::from_utf8(&head[..line_end]).expect("a request line is ASCII");
    let words: Vec<&str> = line.split(' ').collect();
    let [method, target, version] = words[..] else { panic!("not three words: {line:?}") };
    assert_eq!(method, read.method);
    assert!(version == "HTTP/1.1" || version == "HTTP/1.0", "{version}");
    assert!(target.bytes().all(|byte| byte.is_ascii_graphic()) && !target.contains('#'));
    assert!(target.ends_with(&read.target) || read.target == "/" || read.target.starts_with("/?"), "{target} {}", read.target);
    assert!(hosts.len() == 1 || (hosts.is_empty() && version == "HTTP/1.0"), "hosts");
    assert!(lengths.len() + codings.len() <= 1, "framed twice");
    match read.framing {
        Framing::Chunked => {
            assert!(version == "HTTP/1.1" && codings.len() == 1);
            assert!(codings[0].eq_ignore_ascii_case(b"chunked"));
        }
        Framing::Length(length) => {
            assert!(codings.is_empty());
            let said = lengths.first().map_or("0".into(), |value| String::from_utf8_lossy(value));
            assert!(said.bytes().all(|byte| byte.is_ascii_digit()));
            assert_eq!(said.parse::<u64>().unwrap(), length);
        }
    }
});
