//! What a process costs, from `/proc`.

use std::time::{Duration, Instant};

pub(super) const KIB: u64 = 1024;
pub(super) const MIB: u64 = 1024 * KIB;

/// Resident memory in bytes.
pub(super) fn rss(pid: u32) -> u64 {
    field(pid, "VmRSS:") * KIB
}

/// The most that was ever resident, in bytes.
pub(super) fn peak(pid: u32) -> u64 {
    field(pid, "VmHWM:") * KIB
}

/// What is resident now, in bytes; from here on the peak counts anew, so that what loading took is not in it.
pub(super) fn rss_before(pid: u32) -> u64 {
    // Where the kernel does not let us, the peak is the one ever reached: nothing is missed by that.
    let _ = std::fs::write(format!("/proc/{pid}/clear_refs"), "5");
    rss(pid)
}

fn field(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap()
}

pub(super) fn threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().count()
}

pub(super) fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// How much it has grown, in MiB, for people.
pub(super) fn mib(bytes: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "memory of a machine is far below 2^52 bytes")]
    let mib = bytes as f64 / MIB as f64;
    mib
}

/// Memory over time.
pub(super) struct Curve {
    pid: u32,
    began: Instant,
    /// Seconds and bytes.
    points: Vec<(f64, f64)>,
}

impl Curve {
    pub(super) fn new(pid: u32) -> Self {
        Self { pid, began: Instant::now(), points: Vec::new() }
    }

    pub(super) fn sample(&mut self) {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        self.points.push((self.began.elapsed().as_secs_f64(), rss(self.pid) as f64));
    }

    /// Bytes a second by least squares over what came after `warm`.
    pub(super) fn slope(&self, warm: Duration) -> f64 {
        let points: Vec<_> = self.points.iter().filter(|(at, _)| *at >= warm.as_secs_f64()).collect();
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let count = points.len() as f64;
        let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(|point| pick(point)).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let over: f64 = points.iter().map(|(at, bytes)| (at - x) * (bytes - y)).sum();
        let under: f64 = points.iter().map(|(at, _)| (at - x).powi(2)).sum();
        over / under
    }

    /// How much higher the lowest point of the last third lies than that of the second, in bytes.
    pub(super) fn risen(&self) -> u64 {
        let third = self.points.len() / 3;
        let floor = |points: &[(f64, f64)]| points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "resident memory is a whole number of bytes, far below 2^52"
        )]
        let risen =
            (floor(&self.points[2 * third..]) - floor(&self.points[third..2 * third])).max(0.0) as u64;
        risen
    }
}
