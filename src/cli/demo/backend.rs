//! A legacy backend with the quirks that legacy backends have. Nothing of the gateway is in it.

use super::super::show::{printable, to_stderr};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Bodies, at most; the gateway in front sends less.
const BODY: u64 = 1 << 20;

#[derive(Default)]
struct Backend {
    count: AtomicU32,
    /// Issues by their exact bytes: the tracker refuses one that it has already.
    issues: Mutex<HashSet<Vec<u8>>>,
}

struct Answer {
    status: &'static str,
    fields: String,
    body: String,
}

/// Listens, and serves each connection on a thread of its own.
pub(super) fn start(address: &str) -> std::io::Result<()> {
    let listener = TcpListener::bind(address)?;
    let backend = Arc::new(Backend::default());
    std::thread::Builder::new().name("backend".into()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let backend = Arc::clone(&backend);
            // A demo that runs out of threads refuses a connection, as legacy backends do.
            let _ = std::thread::Builder::new().spawn(move || backend.converse(stream));
        }
    })?;
    Ok(())
}

impl Backend {
    fn converse(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut writer = stream.try_clone()?;
        let mut reader = BufReader::new(stream);
        loop {
            let Some((line, body)) = read_request(&mut reader)? else {
                return Ok(());
            };
            let size = body.len();
            let shown = printable(&String::from_utf8_lossy(&body));
            let Answer { status, fields, body } = self.answer(&line, &body);
            to_stderr(&format!("backend: {line}  {size} bytes  {shown}  ▶ {status}\n"));
            let length = body.len();
            // In one write: in two, Nagle's algorithm would hold the second one back.
            let answer = format!(
                "HTTP/1.1 {status}\r\nServer: Apache/2.2.3 (legacy)\r\nX-Powered-By: PHP/5.3\r\n\
                 Set-Cookie: SESSID=1\r\nContent-Length: {length}\r\n{fields}\r\n{body}"
            );
            writer.write_all(answer.as_bytes())?;
        }
    }

    fn answer(&self, line: &str, body: &[u8]) -> Answer {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        match line {
            "POST /meetings" => Answer {
                status: "201 Created",
                fields: format!("Location: /meetings/{number}\r\nContent-Type: application/json\r\n"),
                body: format!(r#"{{"id":{number},"join":"https://meet.example/{number}"}}"#),
            },
            "POST /refunds" => json("200 OK", format!(r#"{{"refund":"re_{number}","state":"queued"}}"#)),
            "POST /devices" => nothing("204 No Content"),
            "POST /issues" => {
                let mut issues = self.issues.lock().unwrap_or_else(PoisonError::into_inner);
                if issues.insert(body.to_vec()) {
                    json("201 Created", format!(r#"{{"key":"WEB-{number}"}}"#))
                } else {
                    json("422 Unprocessable Entity", r#"{"error":"duplicate title"}"#.into())
                }
            }
            "PUT /texts/front-page?draft=0" => json("200 OK", r#"{"published":true}"#.into()),
            "POST /notes" => Answer {
                status: "200 OK",
                fields: "Content-Type: text/html; charset=utf-8\r\n".into(),
                body: format!("<p>Pinned as note {number}.</p>"),
            },
            "POST /cache/purge" => nothing("200 OK"),
            "POST /registrations" => Answer {
                status: "303 See Other",
                fields: "Location: /registrations/thanks\r\n".into(),
                body: String::new(),
            },
            "POST /reviews" => {
                std::thread::sleep(Duration::from_secs(3));
                json("202 Accepted", format!(r#"{{"ticket":{number}}}"#))
            }
            _ => nothing("404 Not Found"),
        }
    }
}

fn json(status: &'static str, body: String) -> Answer {
    Answer { status, fields: "Content-Type: application/json\r\n".into(), body }
}

fn nothing(status: &'static str) -> Answer {
    Answer { status, fields: String::new(), body: String::new() }
}

/// Method and target, and the body. The gateway always sends a length.
fn read_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let request = line.rsplit_once(' ').map_or(line.as_str(), |(request, _)| request).to_owned();
    let mut length = 0;
    loop {
        let mut field = String::new();
        reader.read_line(&mut field)?;
        let field = field.trim_end();
        if field.is_empty() {
            break;
        }
        if let Some((name, value)) = field.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<u64>().unwrap_or(0).min(BODY);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok(Some((request, body)))
}
