//! The process that has a log open for writing, by what the kernel lists of locks.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file with the writer's lock.
const LOCKED: &str = "ANNALS";

/// The process with the writer's lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) process: u32,
    /// Whether it was stopped, as by Ctrl-Z.
    pub(crate) is_stopped: bool,
}

/// Finds the process that holds a log's lock; `None` where the kernel does not list it, or it is another user's.
pub(crate) fn holder(folder: &Path) -> Option<Holder> {
    let file = fs::metadata(folder.join(LOCKED)).ok()?;
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let mut holders = locks
        .lines()
        .filter_map(|line| lock_of(line, file.ino()))
        .filter(|process| has_open(*process, &file));
    let process = holders.next()?;
    Some(Holder {
        process,
        is_stopped: is_stopped(process),
    })
}

/// The process of a line such as `1: FLOCK  ADVISORY  WRITE 700 08:01:1234 0 EOF`, if it is of this file's number.
fn lock_of(line: &str, number: u64) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, "WRITE", process, place, ..] = words.as_slice() else {
        return None;
    };
    let is_file = place.rsplit(':').next()?.parse() == Ok(number);
    is_file.then(|| process.parse().ok()).flatten()
}

/// Returns `true` if a process has a file open.
fn has_open(process: u32, file: &fs::Metadata) -> bool {
    let open = fs::read_dir(format!("/proc/{process}/fd"));
    let mut open = open.into_iter().flatten().flatten();
    open.any(|entry| {
        let found = fs::metadata(entry.path());
        found.is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
    })
}

fn is_stopped(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the name, which may have anything in it.
    let state = stat.rsplit(") ").next().unwrap_or_default();
    state.starts_with('T') || state.starts_with('t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_found_by_the_number_of_its_file() {
        let line = "12: FLOCK  ADVISORY  WRITE 700 08:01:1234 0 EOF";
        assert_eq!(lock_of(line, 1234), Some(700));
        assert_eq!(lock_of(line, 123), None);
        let posix = "12: POSIX  ADVISORY  WRITE 700 08:01:1234 0 EOF";
        assert_eq!(lock_of(posix, 1234), None);
        assert_eq!(lock_of("", 1234), None);
    }

    #[test]
    fn the_process_with_the_lock_is_found() {
        let home = tempfile::tempdir().expect("a folder");
        let file = fs::File::create(home.path().join(LOCKED)).expect("a file");
        assert_eq!(holder(home.path()), None);
        file.lock().expect("a lock");
        let Some(found) = holder(home.path()) else {
            // Not every container shows the locks.
            return;
        };
        assert_eq!(
            (found.process, found.is_stopped),
            (std::process::id(), false)
        );
    }
}
