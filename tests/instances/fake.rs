//! What answers is not a Redis, or one that somebody else holds: its words are shown to nobody, its bytes are bounded,
//! and one thing that it refuses does not keep it from the others.

use super::{keyed, setup, with};
use crate::support::redis::{is_up, readiness};
use crate::support::{Backend, Gate, eventually};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

enum Said {
    Once(Vec<u8>),
    /// Said first, and then this without an end.
    Endless(&'static [u8], Vec<u8>),
    /// The connection ends.
    Gone,
}

fn once(bytes: impl Into<Vec<u8>>) -> Said {
    Said::Once(bytes.into())
}

/// Answers by the words of a command; the threads end with their connections, the listener with the tests.
struct Fake {
    port: u16,
}

impl Fake {
    fn start(answer: impl Fn(&[String]) -> Said + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, answer) = (stream.unwrap(), Arc::clone(&answer));
                // Whoever is answered may go at any time.
                std::thread::spawn(move || serve(&stream, &*answer));
            }
        });
        Self { port }
    }

    fn store(&self) -> Value {
        json!({ "redis": format!("redis://127.0.0.1:{}", self.port), "when_down": "refuse", "timeout": "2s" })
    }
}

fn serve(stream: &TcpStream, answer: &(impl Fn(&[String]) -> Said + ?Sized)) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let words = command(&mut reader)?;
        match answer(&words) {
            Said::Once(bytes) => writer.write_all(&bytes).ok()?,
            Said::Gone => return stream.shutdown(std::net::Shutdown::Both).ok(),
            Said::Endless(first, more) => {
                writer.write_all(first).ok()?;
                loop {
                    writer.write_all(&more).ok()?;
                }
            }
        }
    }
}

fn command(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let mut number = |sign: char| {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        line.trim_end().strip_prefix(sign)?.parse::<usize>().ok()
    };
    let count = number('*')?;
    let mut words = Vec::new();
    for _ in 0..count {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut word = vec![0; line.trim_end().strip_prefix('$')?.parse::<usize>().ok()? + 2];
        reader.read_exact(&mut word).ok()?;
        words.push(String::from_utf8_lossy(&word[..word.len() - 2]).into_owned());
    }
    Some(words)
}

const WELL: &str = "*3\r\n$32\r\n0123456789abcdef0123456789abcdef\r\n:1000\r\n:0\r\n";

/// What a Redis would say to all but the acts themselves.
fn sensible(words: &[String]) -> Option<Said> {
    let has = |text: &str| words.iter().any(|word| word == text);
    Some(once(match words[0].as_str() {
        "AUTH" | "SELECT" => "+OK\r\n",
        "PING" => "+PONG\r\n",
        "INFO" => "$15\r\naof_enabled:1\r\n\r\n",
        _ if words.iter().any(|word| word.ends_with(":mark")) => WELL,
        _ if has("forget") || has("done") || has("unknown") => ":1\r\n",
        _ => return None,
    }))
}

const NOTHING: &str = "$-1\r\n";
const FRESH: &str = "*1\r\n$5\r\nfresh\r\n";

/// Whether a key is to be begun, not looked up.
fn begins(words: &[String]) -> bool {
    words.len() > 4
}

/// No key has been used.
fn all_is_free(words: &[String]) -> Said {
    once(if begins(words) { FRESH } else { NOTHING })
}

const CANARY: &str = "cAnary-4Zx";

/// The canary in every kind of answer.
fn kinds() -> Vec<Vec<u8>> {
    let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
    let mut kinds = vec![
        bulk(CANARY),
        bulk(&CANARY.repeat(100_000)),
        format!("+{CANARY}\r\n"),
        format!("+{}\r\n", CANARY.repeat(20_000)),
        format!("*1\r\n{}", bulk(CANARY)),
        format!("*6\r\n{}{}", bulk("found"), bulk(CANARY).repeat(5)),
        format!("*2\r\n{}{}", bulk("late"), bulk(CANARY)),
        format!(":{CANARY}\r\n"),
        format!("${CANARY}\r\n"),
        format!("%1\r\n+{CANARY}\r\n+{CANARY}\r\n"),
        format!("!{}\r\n{CANARY}\r\n", CANARY.len()),
        format!("={}\r\ntxt:{CANARY}\r\n", CANARY.len() + 4),
        format!(">2\r\n+{CANARY}\r\n+{CANARY}\r\n"),
        format!("{CANARY}\r\n"),
        format!("-{CANARY}\u{1b}[2J\r\n"),
        format!("-{}\r\n", CANARY.repeat(5_000)),
    ];
    for code in ["NOAUTH", "WRONGPASS", "NOPERM", "LOADING", "MOVED", "OOM", "ERR", "WRONGTYPE", "NOVEL"] {
        kinds.push(format!("-{code} {CANARY} \u{1b}[2J\r\n"));
    }
    kinds.into_iter().map(String::into_bytes).collect()
}

/// Everything that a person or a machine may look at.
fn shows_nothing(gate: &Gate) {
    for text in [readiness(gate).to_string(), gate.written(), gate.metrics().text] {
        let at = text.find(CANARY).or_else(|| text.find('\u{1b}'));
        assert!(at.is_none(), "{:.300}", &text[at.unwrap_or(0)..]);
    }
}

#[test]
fn no_word_of_the_server_is_shown() {
    let kinds = kinds();
    let told = Arc::new(AtomicUsize::new(0));
    let (all, next) = (kinds.clone(), Arc::clone(&told));
    let fake = Fake::start(move |words| {
        sensible(words).unwrap_or_else(|| once(&all[next.fetch_add(1, Ordering::SeqCst) % all.len()][..]))
    });
    let backend = Backend::agreeing();
    let gate = setup(&backend, fake.store()).start();
    let mut number = 0;
    eventually("each is said to an act", || {
        number += 1;
        assert_eq!(gate.exchange(&keyed(&format!("k-{number}"))).status, 503);
        shows_nothing(&gate);
        told.load(Ordering::SeqCst) >= kinds.len()
    });
    assert_eq!(backend.count(), 0);
    assert!(gate.log().contains("does not answer as a Redis would"), "{}", gate.log());
}

/// Before anyone is let through: to the password, to what it says of itself, to the first question.
#[test]
fn no_word_of_the_greeting_is_shown() {
    let backend = Backend::agreeing();
    let policy = format!("maxmemory:1\r\nmaxmemory_policy:{CANARY}\r\naof_enabled:1\r\n");
    let info = format!("${}\r\n{policy}\r\n", policy.len());
    let no = format!("-NOAUTH {CANARY}\r\n");
    for (to, says, cause) in [
        ("AUTH", format!("-WRONGPASS {CANARY}\r\n"), "user or password is wrong"),
        ("EVALSHA", no, "it wants a password: set `password_file`"),
        ("EVALSHA", WELL.replace("0123456789abcdef", "cAnary-4Zx+23456"), "does not answer as a Redis"),
        ("INFO", info, "none that is known"),
    ] {
        let fake = Fake::start(move |words| {
            if words[0] == to {
                return once(&says[..]);
            }
            sensible(words).unwrap_or_else(|| once("*1\r\n$5\r\nfresh\r\n"))
        });
        let mut store = fake.store();
        store["password_file"] = json!("secrets/redis");
        let gate = setup(&backend, store).file("secrets/redis", "a-password").start();
        eventually(cause, || readiness(&gate)["records_down"]["cause"].to_string().contains(cause));
        shows_nothing(&gate);
    }
}

/// The most that was ever resident, in MiB.
fn peak(gate: &Gate) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gate.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() >> 10
}

/// It never stops talking: whatever it announces, no more than an answer's worth is kept, and that is let go of.
#[test]
fn an_answer_without_an_end_is_ended() {
    let told = Arc::new(AtomicUsize::new(0));
    let next = Arc::clone(&told);
    let fake = Fake::start(move |words| {
        if words[0] != "EVALSHA" {
            return sensible(words).unwrap();
        }
        let block = vec![b'A'; 1 << 20];
        let whole = [b"$16777216\r\n".to_vec(), vec![b'A'; 16 << 20], b"\r\n".to_vec()].concat();
        match next.fetch_add(1, Ordering::SeqCst) % 6 {
            0 => Said::Endless(b"$500000000\r\n", block),
            1 => Said::Endless(b"+", block),
            2 => Said::Endless(b"*60\r\n", whole),
            3 => Said::Endless(b"*9223372036854775807\r\n", b":1\r\n".repeat(1000)),
            4 => Said::Endless(b"", whole),
            _ => Said::Endless(b"", b"*1\r\n".repeat(1000)),
        }
    });
    let backend = Backend::agreeing();
    let gate = setup(&backend, fake.store()).start();
    let before = peak(&gate);
    eventually("each was said twice", || {
        assert_eq!(gate.exchange(&keyed("k")).status, 503);
        told.load(Ordering::SeqCst) >= 12
    });
    let grown = peak(&gate) - before;
    assert!(grown < 128, "{grown} MiB");
    let page = readiness(&gate).to_string();
    assert!(page.contains("records_down") && !page.contains("AAAA"), "{page}");
}

/// An end that is refused for what it is, first in the queue, and another behind it.
#[test]
fn an_end_that_is_refused_does_not_keep_the_others() {
    let ends: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&ends);
    let fake = Fake::start(move |words| {
        if !words.iter().any(|word| word == "done") {
            return sensible(words).unwrap_or_else(|| all_is_free(words));
        }
        let mut ends = seen.lock().unwrap();
        let name = words[3].clone();
        let refused = ends.first().is_none_or(|first| *first == name) || !ends.contains(&name);
        ends.push(name);
        once(if refused { "-WRONGTYPE of another kind\r\n" } else { ":1\r\n" })
    });
    let backend = Backend::agreeing();
    let gate = setup(&backend, fake.store()).start();
    for key in ["first", "second"] {
        assert_eq!(gate.exchange(&keyed(key)).status, 200);
    }
    let times = |which: usize| {
        let ends = ends.lock().unwrap();
        let mut names = ends.clone();
        names.sort();
        names.dedup();
        let name = if which == 0 {
            ends[0].clone()
        } else {
            names.into_iter().find(|name| *name != ends[0]).unwrap()
        };
        ends.iter().filter(|end| **end == name).count()
    };
    eventually("the first is tried again and again", || times(0) > 3);
    assert!(times(1) >= 2, "the second was tried again");
    is_up(&gate, 1);
    assert_eq!(gate.exchange(&keyed("third")).status, 200);
}

/// An end that gets no answer, or ends the connection, first in the queue: the way to the server opens again all the same.
#[test]
fn an_end_that_is_not_answered_does_not_keep_the_others() {
    for ends in [false, true] {
        an_end_that_is_not_answered(ends);
    }
}

fn an_end_that_is_not_answered(ends: bool) {
    let slow: Arc<Mutex<Option<String>>> = Arc::default();
    let fake = Fake::start(move |words| {
        if !words.iter().any(|word| word == "done") {
            return sensible(words).unwrap_or_else(|| all_is_free(words));
        }
        let first = slow.lock().unwrap().get_or_insert_with(|| words[3].clone()).clone();
        if first == words[3] {
            if ends {
                return Said::Gone;
            }
            std::thread::sleep(Duration::from_secs(4));
        }
        once(":1\r\n")
    });
    let backend = Backend::agreeing();
    let gate = setup(&backend, with(fake.store(), "timeout", "200ms")).start();
    assert_eq!(gate.exchange(&keyed("first")).status, 200);
    let mut number = 0;
    eventually("others are done", || {
        number += 1;
        gate.exchange(&keyed(&format!("k-{number}"))).status == 200
    });
}

/// Two begin one key at once, and only one of them is answered: one act, whichever way the other goes.
#[test]
fn one_that_goes_on_alone_and_one_that_does_not_are_one() {
    let begun: Mutex<HashMap<String, usize>> = Mutex::default();
    let fake = Fake::start(move |words| {
        sensible(words).unwrap_or_else(|| {
            let mut begun = begun.lock().unwrap();
            let times = begun.entry(words[3].clone()).or_default();
            *times += usize::from(begins(words));
            match (begins(words), *times) {
                (false, 0) => once(NOTHING),
                (true, 2) => once(FRESH),
                (true | false, _) => {
                    std::thread::sleep(Duration::from_millis(30));
                    once("-OOM full\r\n")
                }
            }
        })
    });
    let backend = Backend::agreeing();
    let gate = setup(&backend, with(fake.store(), "when_down", "local")).start();
    for number in 0..40 {
        let key = keyed(&format!("pair-{number}"));
        let statuses: Vec<_> = std::thread::scope(|scope| {
            let both = [(); 2].map(|()| scope.spawn(|| gate.exchange(&key).status));
            both.map(|one| one.join().unwrap()).into()
        });
        assert_eq!(statuses, [200, 200], "{number}");
        assert_eq!(backend.count(), number + 1, "done twice");
    }
}
