//! What a process of a test takes: its memory, and how long it may take.
//!
//! # Memory of a child
//!
//! The memory of a child is `VmHWM` in `/proc/PID/status`, and counts only once `/proc/PID/exe` is another file than that
//! of the test. Linux begins the high-water mark of a process anew when it executes a program. Until then a child has the
//! memory of its parent: [`Command::spawn`] forks with `vfork` semantics and may return a moment before the child has its
//! own address space, whose mark is then the one of the test. `ru_maxrss` of `wait4` cannot be used instead: it keeps
//! the larger of the marks before and after the program was executed.
//!
//! [`Command::spawn`]: std::process::Command::spawn
//!
//! # Bounds on time
//!
//! A test that runs beside others promises no time. [`assert_within`] compares with the exact figure only where `make timings`
//! asks for it, on an idle machine; otherwise with [`WIDE`], which only what never ends exceeds.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

/// The longest time that anything in a test may take on a busy machine.
pub const WIDE: Duration = Duration::from_secs(300);

/// The variable that asks for exact figures; `make timings` sets it.
const EXACT: &str = "ANNALS_TIMINGS";

/// The peak of the memory of a child process, without the memory that it shares with the test before it executes its
/// program. The program must be another one than that of the test.
///
/// ```
/// use annals_testkit::process::PeakMemory;
/// let mut child = std::process::Command::new("true").spawn()?;
/// let mut peak = PeakMemory::of(&child);
/// while child.try_wait()?.is_none() {
///     peak.sample();
/// }
/// assert!(peak.bytes() < 64 << 20);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PeakMemory {
    process: PathBuf,
    /// The largest of each, in bytes: all of it, what is allocated, and files that are mapped.
    resident: u64,
    allocated: u64,
    mapped: u64,
}

impl PeakMemory {
    /// The memory of a child that was just started.
    pub fn of(child: &Child) -> PeakMemory {
        PeakMemory {
            process: Path::new("/proc").join(child.id().to_string()),
            resident: 0,
            allocated: 0,
            mapped: 0,
        }
    }

    /// Looks at the process. To be called until it has ended: the mark is gone with the process.
    pub fn sample(&mut self) {
        let is_program = program(&self.process)
            .zip(program(Path::new("/proc/self")))
            .is_some_and(|(child, test)| child != test);
        // A process executes its program once, so that what is read now is the program's.
        if !is_program {
            return;
        }
        for (most, field) in [
            (&mut self.resident, "VmHWM:"),
            (&mut self.allocated, "RssAnon:"),
            (&mut self.mapped, "RssFile:"),
        ] {
            *most = in_status(&self.process, field).unwrap_or(0).max(*most);
        }
    }

    /// The peak in bytes of what the process allocated; 0 where nothing could be measured. Files that are mapped do not
    /// count, of which the program is one: how much of them is in memory follows from the program's size and the cache.
    pub fn bytes(&self) -> u64 {
        let marked = self.resident.saturating_sub(self.mapped);
        self.allocated.max(marked)
    }

    /// The peak in bytes with all files that are mapped; 0 where nothing could be measured.
    pub fn resident(&self) -> u64 {
        self.resident
    }
}

/// The peak of the memory of this process in bytes; 0 where nothing can be measured.
pub fn own_peak() -> u64 {
    in_status(Path::new("/proc/self"), "VmHWM:").unwrap_or(0)
}

/// The memory that this process has allocated and uses, in bytes, without files that are mapped; 0 where nothing can be
/// measured.
pub fn own_allocated() -> u64 {
    in_status(Path::new("/proc/self"), "RssAnon:").unwrap_or(0)
}

/// Which file a process executes, also where that was deleted since.
fn program(process: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(process.join("exe")).ok()?;
    Some((found.dev(), found.ino()))
}

/// A size from a process's status, in bytes. The kernel prints it in KiB, whatever the size of a page is.
fn in_status(process: &Path, field: &str) -> Option<u64> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u64 = size.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

/// Returns `true` if exact figures are asked for, by `make timings`.
pub fn is_exact() -> bool {
    std::env::var_os(EXACT).is_some()
}

/// Compares how long something took with its exact figure where `make timings` asks for it, and with [`WIDE`] otherwise.
///
/// # Panics
/// When it took longer.
#[track_caller]
#[allow(clippy::panic)] // a failed test
pub fn assert_within(took: Duration, exact: Duration) {
    let most = if is_exact() { exact } else { WIDE };
    if took >= most {
        panic!("it took {took:?}, and may take {most:?} (exact figure: {exact:?})");
    }
}

/// Checks that `large` takes no more than `most` times as long as `small`: a ratio within one run, of the processor time of
/// this thread, which other processes hardly change. The least of several attempts counts.
///
/// # Panics
/// When it takes more in each attempt.
#[track_caller]
#[allow(clippy::panic)] // a failed test
pub fn assert_grows_at_most(most: f64, mut small: impl FnMut(), mut large: impl FnMut()) {
    const ATTEMPTS: usize = 5;
    // Below that the clock is not fine enough.
    let least = Duration::from_millis(2);
    let mut ratios = Vec::new();
    for _ in 0..ATTEMPTS {
        let (of_small, of_large) = (timed(&mut small).max(least), timed(&mut large));
        let ratio = of_large.as_secs_f64() / of_small.as_secs_f64();
        if ratio <= most {
            return;
        }
        ratios.push(ratio);
    }
    panic!("it takes {ratios:.1?} times as long, and may take {most} times");
}

/// Processor time of this thread; the time of the clock where the system does not count it.
fn timed(work: &mut impl FnMut()) -> Duration {
    let begun = (Instant::now(), thread_time());
    work();
    let ended = thread_time();
    match (begun.1, ended) {
        (Some(begun), Some(ended)) => ended.saturating_sub(begun),
        _ => begun.0.elapsed(),
    }
}

fn thread_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos: u64 = text.split_whitespace().next()?.parse().ok()?;
    (nanos > 0).then(|| Duration::from_nanos(nanos))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::{Command, Stdio};

    use super::*;

    /// A large test measures small children. Where many are started at once, some are looked at before they have their own
    /// memory: of 20,000 on two processors about 20 had that of the test.
    #[test]
    fn the_memory_of_the_test_does_not_count() {
        let held = std::hint::black_box(vec![1_u8; 200 << 20]);
        assert!(own_peak() > 200 << 20 && own_allocated() > 200 << 20);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        let mut child = Command::new("true").spawn().unwrap();
                        let mut peak = PeakMemory::of(&child);
                        peak.sample();
                        child.wait().unwrap();
                        assert!(peak.resident() < 100 << 20, "{peak:?}");
                    }
                });
            }
        });
        drop(held);
    }

    /// What a child had counts, also where it has given it back.
    #[test]
    fn the_peak_of_a_child_counts() {
        let script = "x=$(head -c 80000000 /dev/zero | tr '\\0' a); x=; echo done; read y";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let out = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut said).unwrap();
        let mut peak = PeakMemory::of(&child);
        peak.sample();
        assert!(peak.bytes() > 70 << 20, "{}", peak.bytes());
        drop(child.stdin.take());
        child.wait().unwrap();
        peak.sample();
        assert!(peak.bytes() > 70 << 20, "{}", peak.bytes());
    }

    #[test]
    fn a_ratio_is_told_from_a_larger_one() {
        let work = |rounds: u64| {
            move || {
                let sum = (0..rounds).fold(0_u64, |sum, n| std::hint::black_box(sum ^ (n * n)));
                assert!(std::hint::black_box(sum) < u64::MAX);
            }
        };
        assert_grows_at_most(8.0, work(2_000_000), work(8_000_000));
        let grown = || assert_grows_at_most(8.0, work(1_000_000), work(100_000_000));
        assert!(std::panic::catch_unwind(grown).is_err());
    }
}
