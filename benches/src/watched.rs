//! What a process takes: time, processors, memory, writes to the disk. From Linux's `/proc`.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use annals_testkit::process::{PeakMemory, own_peak};

/// How often a running program is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// The clock's ticks in a second, as Linux counts them for every process.
const TICKS: f64 = 100.0;

/// What a program took from its start to its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Took {
    /// How long it ran.
    pub time: Duration,
    /// Seconds of processors.
    pub processor: f64,
    /// The most memory that it had, in MiB.
    pub memory: u64,
}

/// Runs a program to its end, without its output.
///
/// # Errors
/// When it cannot be started or fails.
pub fn watched(command: &mut Command) -> io::Result<Took> {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let id = child.id().to_string();
    let mut peak = PeakMemory::of(&child);
    let mut took = Took::default();
    let status = loop {
        peak.sample();
        if let Some(processor) = processor(&id) {
            took.processor = processor;
        }
        match child.try_wait()? {
            Some(status) => break status,
            None => std::thread::sleep(LOOK),
        }
    };
    took.time = start.elapsed();
    took.memory = peak.resident() >> 20;
    match status.success() {
        true => Ok(took),
        false => Err(io::Error::other(format!("{command:?}: {status}"))),
    }
}

/// The most memory that this process has had, in MiB; 0 where nothing says it.
pub fn own_memory() -> u64 {
    own_peak() >> 20
}

/// Bytes that this process has had written to disks; 0 where nothing says it.
pub fn written_bytes() -> u64 {
    let counted = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let written = counted
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes:"));
    written.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

/// Seconds of processors that a process has used so far.
fn processor(process: &str) -> Option<f64> {
    let folder = Path::new("/proc").join(process);
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = |n: usize| fields.split_whitespace().nth(n)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS)
}
