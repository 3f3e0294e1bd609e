//! A constant rate of requests, and how long each took, counted from when it was due.
//!
//!     pace PORT RATE SECONDS CONNECTIONS STATUS FILE
//!
//! FILE is one request, byte for byte. Requests are due at even intervals, whatever the server does with those before:
//! one that finds all connections waiting for answers has been waiting since it was due. (A closed loop would send
//! less to a server that stalls, and so never see most of the stall.) One that finds a connection free is counted from
//! when it was sent; what it was late is the generator's fault, and is told apart (`late`).
//! The first second is not counted. Prints one line of JSON, times in microseconds.
//!
//! One thread, the standard library and one call of the C library: `rustc -O` alone builds it.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};
use std::{env, fs, process, ptr};

type Failure = Box<dyn std::error::Error>;

const UNCOUNTED: Duration = Duration::from_secs(1);
/// No answer for so long is a failure.
const PATIENCE: Duration = Duration::from_secs(10);

struct Connection {
    stream: TcpStream,
    /// Since when its request has been waiting, and what is there of the answer. None while it is free.
    waiting: Option<Waiting>,
}

struct Waiting {
    since: Instant,
    counted: bool,
    answer: Vec<u8>,
    /// Of the body, once the head has been read.
    missing: Option<usize>,
}

#[derive(Default)]
struct Seen {
    latency: Vec<u64>,
    late: Vec<u64>,
}

fn main() {
    // Wakes to the microsecond, not to the default fifty. Where it cannot be set, `late` shows it.
    let _ = fs::write("/proc/self/timerslack_ns", "1");
    if let Err(failure) = run() {
        eprintln!("pace: {failure}");
        process::exit(1);
    }
}

fn run() -> Result<(), Failure> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [port, rate, seconds, connections, status, file] = words.as_slice() else {
        return Err("usage: pace PORT RATE SECONDS CONNECTIONS STATUS FILE".into());
    };
    let (port, rate, seconds): (u16, f64, f64) = (port.parse()?, rate.parse()?, seconds.parse()?);
    let request = fs::read(file)?;
    let mut connections = (0..connections.parse()?)
        .map(|_: u32| {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            stream.set_nodelay(true)?;
            Ok(Connection { stream, waiting: None })
        })
        .collect::<Result<Vec<_>, std::io::Error>>()?;
    let requests = (rate * (seconds + UNCOUNTED.as_secs_f64())) as u32;
    let start = Instant::now();
    let seen = send(&mut connections, &request, start, rate, requests, status.parse()?)?;
    let took = start.elapsed().saturating_sub(UNCOUNTED).as_secs_f64();
    let (latency, late) = (sorted(seen.latency), sorted(seen.late));
    println!(
        "{{\"answers\":{},\"rate\":{:.0},\"p50_us\":{:.1},\"p99_us\":{:.1},\"p999_us\":{:.1},\"max_us\":{:.1},\
         \"late_p50_us\":{:.1},\"late_p99_us\":{:.1}}}",
        latency.len(),
        latency.len() as f64 / took,
        share(&latency, 0.5),
        share(&latency, 0.99),
        share(&latency, 0.999),
        share(&latency, 1.0),
        share(&late, 0.5),
        share(&late, 0.99),
    );
    Ok(())
}

fn send(
    connections: &mut [Connection],
    request: &[u8],
    start: Instant,
    rate: f64,
    requests: u32,
    status: u16,
) -> Result<Seen, Failure> {
    let due = |number: u32| start + Duration::from_secs_f64(f64::from(number) / rate);
    let (mut seen, mut sent, mut answered) = (Seen::default(), 0, 0);
    let mut free: VecDeque<usize> = (0..connections.len()).collect();
    // Whether the next request found no connection when it was due.
    let mut held_up = false;
    while answered < requests {
        while sent < requests && due(sent) <= Instant::now() {
            let Some(one) = free.pop_front() else {
                held_up = true;
                break;
            };
            let (was_due, now) = (due(sent), Instant::now());
            let counted = was_due >= start + UNCOUNTED;
            if counted && !held_up {
                seen.late.push(nanoseconds(now - was_due));
            }
            let since = if held_up { was_due } else { now };
            connections[one].waiting = Some(Waiting { since, counted, answer: Vec::new(), missing: None });
            connections[one].stream.write_all(request)?;
            sent += 1;
            // Those behind it that are due by now were held up with it.
            held_up = held_up && due(sent) <= now;
        }
        let next = if sent < requests && !free.is_empty() {
            due(sent).saturating_duration_since(Instant::now())
        } else {
            PATIENCE
        };
        for one in readable(connections, next)? {
            if let Some(waited) = read(&mut connections[one], status)? {
                if let Some(waited) = waited {
                    seen.latency.push(nanoseconds(waited));
                }
                free.push_back(one);
                answered += 1;
            }
        }
    }
    Ok(seen)
}

/// Reads what is there. At the end of the answer: how long it took, if that counts.
fn read(connection: &mut Connection, expected: u16) -> Result<Option<Option<Duration>>, Failure> {
    let waiting = connection.waiting.as_mut().ok_or("an answer that nobody asked for")?;
    let mut buffer = [0; 16 * 1024];
    let more = connection.stream.read(&mut buffer)?;
    if more == 0 {
        return Err("the server hung up".into());
    }
    let missing = match waiting.missing {
        Some(missing) => missing,
        None => {
            waiting.answer.extend_from_slice(&buffer[..more]);
            let Some(at) = waiting.answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
                return Ok(None);
            };
            let body = length(std::str::from_utf8(&waiting.answer[..at])?, expected)?;
            // What came with the head is taken off below.
            at + 4 + body - (waiting.answer.len() - more)
        }
    };
    let missing = missing.checked_sub(more).ok_or("more than one answer")?;
    waiting.missing = Some(missing);
    if missing > 0 {
        return Ok(None);
    }
    let waited = waiting.counted.then(|| waiting.since.elapsed());
    connection.waiting = None;
    Ok(Some(waited))
}

/// Of the body that follows a head.
fn length(head: &str, expected: u16) -> Result<usize, Failure> {
    let status: u16 = head.get(9..12).ok_or("no status")?.parse()?;
    if status != expected {
        return Err(format!("status {status}").into());
    }
    if status == 204 || status == 304 {
        return Ok(0);
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim())
    });
    Ok(length.ok_or("an answer without a length")?.parse()?)
}

#[repr(C)]
struct PollFd {
    fd: i32,
    events: i16,
    revents: i16,
}

#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn ppoll(fds: *mut PollFd, count: usize, timeout: *const TimeSpec, mask: *const u8) -> i32;
}

/// Connections with something to read, as soon as there are any or the time is over.
fn readable(connections: &[Connection], most: Duration) -> Result<Vec<usize>, Failure> {
    const POLLIN: i16 = 1;
    // A negative number is passed over.
    let fd = |one: &Connection| if one.waiting.is_some() { one.stream.as_raw_fd() } else { -1 };
    let mut fds: Vec<_> =
        connections.iter().map(|one| PollFd { fd: fd(one), events: POLLIN, revents: 0 }).collect();
    let timeout = TimeSpec { seconds: most.as_secs() as i64, nanoseconds: i64::from(most.subsec_nanos()) };
    // SAFETY: the array and the time live as long as the call, the count is the array's, no mask is given. 64-bit Linux.
    let found = unsafe { ppoll(fds.as_mut_ptr(), fds.len(), &timeout, ptr::null()) };
    match found {
        ..0 => Err(std::io::Error::last_os_error().into()),
        0 if most >= PATIENCE => Err("no answer".into()),
        _ => Ok((0..fds.len()).filter(|&at| fds[at].revents != 0).collect()),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn sorted(mut times: Vec<u64>) -> Vec<u64> {
    times.sort_unstable();
    times
}

/// Microseconds that so large a share of the sorted times does not exceed.
fn share(times: &[u64], share: f64) -> f64 {
    let at = (times.len() as f64 * share).ceil() as usize;
    times.get(at.saturating_sub(1)).map_or(0.0, |&time| time as f64 / 1000.0)
}
