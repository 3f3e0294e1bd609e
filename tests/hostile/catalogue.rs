//! Reads `tests/cases/hostile/*.http`.

use super::framing::SMUGGLED;
use crate::support::{MEETING, MEETING_BODY, cases};

pub(super) struct Case {
    pub(super) name: String,
    /// Sent one after the other.
    pub(super) pieces: Vec<Vec<u8>>,
    /// The client says that it will send nothing more.
    pub(super) finishes: bool,
    /// The answers, in order.
    pub(super) statuses: Vec<u16>,
    pub(super) ending: Ending,
    /// Bodies that the upstream saw.
    pub(super) acts: Vec<String>,
}

pub(super) enum Ending {
    /// The gate closes, and sends nothing more.
    Close,
    /// The next request on the connection is answered as itself.
    Open,
    /// Open where the body is there with its head. Whoever does not wait for 100 and sends it later may find it closed:
    /// what comes then could be the body or not.
    Early,
}

/// All cases, by file.
pub(super) fn catalogue() -> Vec<(String, Vec<Case>)> {
    let dir = cases::dir().join("hostile");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "http"))
        .collect();
    files.sort();
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), read(&std::fs::read_to_string(path).unwrap()))).collect()
}

fn read(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let (mark, rest) = line.split_at(line.find(' ').map_or(line.len(), |at| at + 1));
        if mark.trim() == "==" {
            cases.push(Case {
                name: rest.into(),
                pieces: Vec::new(),
                finishes: false,
                statuses: Vec::new(),
                ending: Ending::Close,
                acts: Vec::new(),
            });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        match mark.trim() {
            ">" => match case.pieces.last_mut() {
                Some(piece) => piece.extend(bytes(rest)),
                None => case.pieces.push(bytes(rest)),
            },
            ">>" => case.pieces.push(bytes(rest)),
            ">|" => case.finishes = true,
            "<" => {
                for word in rest.split_ascii_whitespace() {
                    match word {
                        "close" => case.ending = Ending::Close,
                        "open" => case.ending = Ending::Open,
                        "early" => case.ending = Ending::Early,
                        status => case.statuses.push(status.parse().unwrap()),
                    }
                }
            }
            "@" => case.acts.push(String::from_utf8(bytes(rest)).unwrap()),
            "" | "#" => {}
            other => panic!("line {}: {other:?}", number + 1),
        }
    }
    cases
}

/// `\r`, `\n`, `\t`, `\0`, `\\`, `\xNN`, `{word}` and `{text*times}` become what they stand for.
fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '{']) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        if rest[at..].starts_with('{') {
            let end = at + rest[at..].find('}').unwrap();
            out.extend_from_slice(&word(&rest[at + 1..end]));
            rest = &rest[end + 1..];
            continue;
        }
        let (byte, length) = match rest.as_bytes()[at + 1] {
            b'r' => (b'\r', 2),
            b'n' => (b'\n', 2),
            b't' => (b'\t', 2),
            b'0' => (0, 2),
            b'\\' => (b'\\', 2),
            b'x' => (u8::from_str_radix(&rest[at + 2..at + 4], 16).unwrap(), 4),
            other => panic!("escape {:?} in {text:?}", char::from(other)),
        };
        out.push(byte);
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

fn word(word: &str) -> Vec<u8> {
    let head =
        format!("POST {MEETING} HTTP/1.1\r\nHost: formgate.test\r\nContent-Type: application/json\r\n");
    let act = |body: &str| format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    let length = MEETING_BODY.len();
    let text = match word {
        "path" => MEETING.to_owned(),
        "post" => head,
        "get" => format!("GET {MEETING} HTTP/1.1\r\nHost: formgate.test\r\n\r\n"),
        "body" => MEETING_BODY.to_owned(),
        "len" => length.to_string(),
        "hex" => format!("{length:x}"),
        "chunk" => format!("{length:x}\r\n{MEETING_BODY}\r\n"),
        "chunks" => format!("{length:x}\r\n{MEETING_BODY}\r\n0\r\n\r\n"),
        "chunks_len" => format!("{length:x}\r\n{MEETING_BODY}\r\n0\r\n\r\n").len().to_string(),
        "act" => act(MEETING_BODY),
        "stolen" => act(SMUGGLED),
        "stolen_len" => act(SMUGGLED).len().to_string(),
        "stolen_hex" => format!("{:x}", act(SMUGGLED).len()),
        "stolen_body" => SMUGGLED.to_owned(),
        "fields97" => numbered(97),
        "fields90" => numbered(90),
        repeated => {
            let (text, times) = repeated.rsplit_once('*').unwrap_or_else(|| panic!("word {word:?}"));
            return bytes(&text.replace("\\}", "}")).repeat(times.parse().unwrap());
        }
    };
    text.into_bytes()
}

fn numbered(many: usize) -> String {
    (0..many).map(|n| format!("X-{n}: {n}\r\n")).collect::<Vec<_>>().concat()
}
