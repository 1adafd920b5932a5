//! Noticing recordings as agents write them.
//!
//! The system says when something in the folder changes; the folder is looked through every now and then, too, for some
//! file systems say nothing. A recording is ready once it stayed as it is for a moment, or has grown for some seconds:
//! an agent may work for hours.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use notify::RecursiveMode;

use crate::changes::Changes;
use crate::import::{compressed, database};

/// For how long a recording stays as it is before it is ready.
const QUIET: Duration = Duration::from_millis(300);

/// For how long it may grow before it is ready all the same.
const LONGEST: Duration = Duration::from_secs(3);

/// After how long the folder is looked through although the system reported no change.
const PATIENCE: Duration = Duration::from_secs(5);

/// So many folders are gone into, one in another.
const DEPTH: usize = 8;

/// So many recordings are followed.
const FOLLOWED: usize = 100_000;

/// What tells two states of a recording apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// The same of its write-ahead log, if it is a database.
    log: (u64, Option<SystemTime>),
}

/// A recording that was seen.
#[derive(Debug, Clone, Copy)]
struct Seen {
    stamp: Stamp,
    /// Since when it is as it is, and since when it was not given.
    since: Instant,
    waits_since: Instant,
    is_given: bool,
}

/// What is ready, and when to look again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadyRecordings {
    /// Recordings that are new or have grown, in the order of their names.
    pub paths: Vec<PathBuf>,
    /// After how long to look again, if nothing changes before.
    pub again: Duration,
}

/// Watches the recordings in a folder and below.
#[derive(Debug)]
pub struct RecordingWatch {
    root: PathBuf,
    endings: &'static [&'static str],
    seen: HashMap<PathBuf, Seen>,
    /// None where the system cannot say what changes, and the folder is looked through only.
    changes: Option<Changes>,
}

impl RecordingWatch {
    /// Begins to watch a folder for files with one of these endings ([`crate::import::endings`]), compressed ones
    /// (`*.jsonl.zst`) among them. A database changes with its write-ahead log.
    ///
    /// # Errors
    /// Those of the operating system, if the folder cannot be read.
    pub fn start(root: &Path, endings: &'static [&'static str]) -> io::Result<RecordingWatch> {
        fs::read_dir(root)?;
        Ok(RecordingWatch {
            root: root.to_owned(),
            endings,
            seen: HashMap::new(),
            changes: Changes::of([root], RecursiveMode::Recursive).ok(),
        })
    }

    /// Whether the system says what changes.
    pub fn is_told(&self) -> bool {
        self.changes.is_some()
    }

    /// Waits until something changed in the folder.
    pub async fn changed(&mut self) {
        match &mut self.changes {
            Some(changes) => changes.next().await,
            // The caller looks now and then.
            None => futures::future::pending().await,
        }
    }

    /// The recordings that are ready at a moment. Each is given once, until it changes.
    ///
    /// # Errors
    /// Those of the operating system, if the folder cannot be read any more.
    pub fn ready(&mut self, now: Instant) -> io::Result<ReadyRecordings> {
        let mut found = Vec::new();
        fs::read_dir(&self.root)?;
        files(&self.root, self.endings, DEPTH, &mut found);
        let mut before = std::mem::take(&mut self.seen);
        let mut ready = ReadyRecordings {
            paths: Vec::new(),
            again: PATIENCE,
        };
        for (path, stamp) in found {
            let old = before.remove(&path);
            let mut seen = match old {
                Some(old) if old.stamp == stamp => old,
                old => Seen {
                    stamp,
                    since: now,
                    waits_since: match old {
                        Some(old) if !old.is_given => old.waits_since,
                        _ => now,
                    },
                    is_given: false,
                },
            };
            if !seen.is_given {
                let quiet = now.saturating_duration_since(seen.since);
                let waits = now.saturating_duration_since(seen.waits_since);
                if quiet >= QUIET || waits >= LONGEST {
                    seen.is_given = true;
                    ready.paths.push(path.clone());
                } else {
                    ready.again = ready.again.min(QUIET - quiet);
                }
            }
            self.seen.insert(path, seen);
        }
        ready.paths.sort();
        Ok(ready)
    }

    /// Takes all recordings that are there now as given: each is ready once it has changed.
    pub fn skip_present(&mut self) {
        let mut found = Vec::new();
        files(&self.root, self.endings, DEPTH, &mut found);
        let now = Instant::now();
        for (path, stamp) in found {
            let seen = Seen {
                stamp,
                since: now,
                waits_since: now,
                is_given: true,
            };
            self.seen.insert(path, seen);
        }
    }

    /// Lets a recording be given again, since nothing became of it.
    pub fn forget(&mut self, path: &Path) {
        if let Some(seen) = self.seen.get_mut(path) {
            seen.is_given = false;
        }
    }
}

/// Returns `true` if a file's name has one of these endings, with or without that of compressed files.
fn has_ending(name: &OsStr, endings: &[&str]) -> bool {
    let name = name.to_string_lossy();
    let extension = Path::new(compressed::plain_name(&name)).extension();
    extension.is_some_and(|extension| endings.iter().any(|ending| extension == *ending))
}

/// The files with one of these endings, links not among them. What cannot be read is passed over until it can.
fn files(folder: &Path, endings: &[&str], depth: usize, found: &mut Vec<(PathBuf, Stamp)>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if found.len() >= FOLLOWED {
            return;
        }
        let path = entry.path();
        if kind.is_dir() && depth > 0 {
            files(&path, endings, depth - 1, found);
        } else if kind.is_file()
            && has_ending(&entry.file_name(), endings)
            && let Ok(about) = entry.metadata()
        {
            let log = database::log_path(&path).and_then(|log| fs::metadata(log).ok());
            let stamp = Stamp {
                bytes: about.len(),
                modified: about.modified().ok(),
                log: log.map_or((0, None), |log| (log.len(), log.modified().ok())),
            };
            found.push((path, stamp));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_recording_is_given_when_it_is_quiet_and_when_it_has_grown_for_long() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        let path = folder.path().join("project/s.jsonl");
        fs::write(&path, "1").unwrap();
        fs::write(folder.path().join("other.txt"), "1").unwrap();
        fs::write(folder.path().join("other.zst"), "1").unwrap();
        let mut watch = RecordingWatch::start(folder.path(), &["jsonl"]).unwrap();
        let begun = Instant::now();
        let given = |watch: &mut RecordingWatch, ms: u64| {
            let ready = watch.ready(begun + Duration::from_millis(ms)).unwrap();
            ready.paths.len()
        };
        assert_eq!(given(&mut watch, 0), 0);
        assert_eq!(given(&mut watch, 300), 1);
        assert_eq!(given(&mut watch, 600), 0);
        // It grows all the time.
        let mut times = 0;
        for step in 0..40 {
            fs::write(&path, "1".repeat(step + 2)).unwrap();
            times += given(&mut watch, 1_000 + 100 * step as u64);
        }
        assert_eq!(times, 1);
        assert_eq!(given(&mut watch, 6_000), 1);
        watch.forget(&path);
        assert_eq!(given(&mut watch, 6_500), 1);
        // A program compresses what is old.
        fs::rename(&path, folder.path().join("project/s.jsonl.zst")).unwrap();
        assert_eq!(given(&mut watch, 7_000), 0);
        assert_eq!(given(&mut watch, 7_300), 1);
    }

    #[test]
    fn a_database_is_given_when_its_write_ahead_log_grows() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("opencode.db", "pages");
        write("other.jsonl", "{}");
        let mut watch = RecordingWatch::start(folder.path(), &["db"]).unwrap();
        watch.skip_present();
        let begun = Instant::now();
        let mut given = |ms: u64| {
            let ready = watch.ready(begun + Duration::from_millis(ms)).unwrap();
            ready.paths
        };
        assert_eq!(given(0), Vec::<PathBuf>::new());
        write("opencode.db-wal", "frames");
        assert_eq!(given(1_000), Vec::<PathBuf>::new());
        assert_eq!(given(1_300), [folder.path().join("opencode.db")]);
        assert_eq!(given(2_000), Vec::<PathBuf>::new());
    }
}
