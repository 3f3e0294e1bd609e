//! A constant rate of requests, and how long each took, counted from when it was due.
//!
//!     pace PORT RATE SECONDS CONNECTIONS STATUS FILE
//!
//! FILE is one request, byte for byte. Requests are due at even intervals, whatever the server does with those before:
//! one that could not be sent in time, because its connection still waited for an answer, has been waiting since it was
//! due. (A closed loop would send less to a server that stalls, and so never see most of the stall.)
//! A connection that was free slept until its request was due; what it overslept is the generator's fault and is told
//! apart (`late`). The first second is not counted. Prints one line of JSON, times in microseconds.
//!
//! The standard library only, so that `rustc -O` alone builds it: a thread a connection, blocking.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const UNCOUNTED: Duration = Duration::from_secs(1);

struct Plan {
    port: u16,
    interval: Duration,
    requests: u32,
    connections: u32,
    status: u16,
    request: Vec<u8>,
    start: Instant,
}

#[derive(Default)]
struct Seen {
    latency: Vec<u64>,
    late: Vec<u64>,
}

fn main() {
    // Threads inherit it: sleep to the microsecond, not to the default fifty. Where it cannot be set, `late` shows it.
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
    let (rate, seconds): (f64, f64) = (rate.parse()?, seconds.parse()?);
    let plan = Plan {
        port: port.parse()?,
        interval: Duration::from_secs_f64(1.0 / rate),
        requests: (rate * (seconds + UNCOUNTED.as_secs_f64())) as u32,
        connections: connections.parse()?,
        status: status.parse()?,
        request: fs::read(file)?,
        // All connections stand by then.
        start: Instant::now() + Duration::from_millis(200),
    };
    let mut seen = Seen::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.connections)
            .map(|first| {
                scope.spawn({
                    let plan = &plan;
                    move || converse(plan, first)
                })
            })
            .collect();
        for thread in threads {
            let mine = thread.join().map_err(|_| "a thread panicked")??;
            seen.latency.extend(mine.latency);
            seen.late.extend(mine.late);
        }
        Ok::<(), Failure>(())
    })?;
    let took = plan.start.elapsed().saturating_sub(UNCOUNTED).as_secs_f64();
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

/// Every so manieth request of the plan, beginning with one's own number, on one connection.
fn converse(plan: &Plan, first: u32) -> Result<Seen, Failure> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, plan.port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut seen = Seen::default();
    let mut buffer = vec![0; 64 * 1024];
    for number in (first..plan.requests).step_by(plan.connections as usize) {
        let due = plan.start + plan.interval * number;
        let before = Instant::now();
        let mut since = due;
        if before < due {
            thread::sleep(due - before);
            since = Instant::now();
        }
        stream.write_all(&plan.request)?;
        answer(&mut stream, &mut buffer, plan.status)?;
        if due >= plan.start + UNCOUNTED {
            seen.latency.push(nanoseconds(since.elapsed()));
            seen.late.push(nanoseconds(since - due));
        }
    }
    Ok(seen)
}

/// Reads one answer to its end.
fn answer(stream: &mut TcpStream, buffer: &mut [u8], expected: u16) -> Result<(), Failure> {
    let mut filled = 0;
    let head = loop {
        let more = stream.read(&mut buffer[filled..])?;
        if more == 0 {
            return Err("the server hung up".into());
        }
        filled += more;
        if let Some(at) = buffer[..filled].windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let text = std::str::from_utf8(&buffer[..head])?;
    let status: u16 = text.get(9..12).ok_or("no status")?.parse()?;
    if status != expected {
        return Err(format!("status {status}").into());
    }
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>())
    });
    let body = match length {
        _ if status == 204 || status == 304 => 0,
        Some(length) => length?,
        None => return Err("an answer without a length".into()),
    };
    let mut missing = (head + body).checked_sub(filled).ok_or("more than one answer")?;
    while missing > 0 {
        let room = missing.min(buffer.len());
        let more = stream.read(&mut buffer[..room])?;
        if more == 0 {
            return Err("the server hung up in an answer".into());
        }
        missing -= more;
    }
    Ok(())
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
