//! What the files of a log say, whether or not it opens.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use annals_event_log::Position;
use rustix::fs::StatVfsMountFlags;
use uuid::Uuid;

use crate::aside::{self, ASIDE, REPLACED};
use crate::error::OpenError;
use crate::folder::{directory_bytes, files};
use crate::identity::{Written, written};
use crate::ingest::leftovers;
use crate::truncate::{self, Behind, End};
use crate::watermark_file::WatermarkFile;
use crate::{backup, identity, settle};

/// What was found. Each part is looked at by itself, so that one that is damaged hides
/// no other.
#[derive(Debug)]
pub struct Examined {
    /// The log's id as the file ANNALS has it, or why there is no log that this program
    /// reads. Nothing else is looked at then.
    pub identity: Result<Uuid, OpenError>,
    /// Up to where records were acknowledged, as the file WATERMARK has it; `None` where
    /// it is missing or damaged.
    pub acknowledged: Option<Position>,
    /// Whether a process has the log open for writing now.
    pub written: Written,
    /// How the log ends.
    pub tail: Tail,
    /// Bytes of all files in the directory.
    pub bytes: Option<u64>,
    /// Bytes that are free where the directory is.
    pub free: Option<u64>,
    /// Whether the file system of the directory takes no writes.
    pub is_read_only: bool,
    /// What interrupted work left.
    pub leftovers: Vec<Leftover>,
}

/// How a log ends.
#[derive(Debug)]
pub enum Tail {
    /// It was not looked at: a process writes, or there is no log.
    Unknown,
    /// All of the write-ahead log can be read; the log ends there.
    Sound(Position),
    /// The write-ahead log can be read up to this position, and not behind it.
    Damaged {
        /// The last record that can be read.
        last: Position,
        /// What is wrong behind it.
        damage: String,
        /// What is whole behind the damage.
        behind: Behind,
    },
    /// The log does not open for another reason.
    Unreadable(OpenError),
}

/// A file or folder that interrupted work left, or that was put aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub what: &'static str,
}

pub(crate) fn examine(path: &Path) -> Examined {
    let mut examined = Examined {
        identity: identity::read(path),
        acknowledged: None,
        written: Written::Unknown,
        tail: Tail::Unknown,
        bytes: None,
        free: free(path).ok(),
        is_read_only: is_read_only(path),
        leftovers: Vec::new(),
    };
    if examined.identity.is_err() {
        return examined;
    }
    let watermark = WatermarkFile::open(path).and_then(|file| file.read());
    examined.acknowledged = watermark.ok().flatten();
    examined.written = written(path);
    examined.bytes = directory_bytes(path).ok();
    examined.leftovers = leftovers(path, examined.written);
    if examined.written != Written::Now {
        examined.tail = tail(path);
        // What a writer who has just begun does looks like damage.
        if written(path) == Written::Now {
            (examined.written, examined.tail) = (Written::Now, Tail::Unknown);
        }
    }
    examined
}

fn tail(path: &Path) -> Tail {
    match truncate::look(path) {
        Ok(End::Sound(last)) => Tail::Sound(last),
        Ok(End::Damaged {
            last,
            damage,
            behind,
        }) => Tail::Damaged {
            last,
            damage,
            behind,
        },
        Err(error) => Tail::Unreadable(error),
    }
}

/// Bytes that are free for us where a path is, or its nearest ancestor that exists.
fn free(path: &Path) -> io::Result<u64> {
    let path = std::path::absolute(path)?;
    let existing = path.ancestors().find(|at| at.exists()).unwrap_or(&path);
    let found = rustix::fs::statvfs(existing)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

fn is_read_only(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn leftovers(path: &Path, written: Written) -> Vec<Leftover> {
    let mut leftovers = Vec::new();
    // A writer may be using one.
    if written == Written::No {
        let what = "rows of a read model that were not taken over; the next opening for writing \
                    removes it, or puts it in its place";
        let rows = leftovers::leftovers(path).into_iter();
        leftovers.extend(rows.map(|path| Leftover { path, what }));
        let what = "a copy of a write-ahead log that was not finished; the next opening for writing \
                    removes it";
        let copies = files(path, settle::UNFINISHED).unwrap_or_default();
        let copies = copies.into_iter().map(|name| path.join(name));
        leftovers.extend(copies.map(|path| Leftover { path, what }));
    }
    let Ok(directory) = path.canonicalize() else {
        return leftovers;
    };
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let (aside, replaced) = (format!("{name}{ASIDE}"), format!("{name}{REPLACED}"));
    let siblings = directory
        .parent()
        .and_then(|parent| fs::read_dir(parent).ok());
    for entry in siblings.into_iter().flatten().flatten() {
        let found = entry.file_name();
        let found = found.to_string_lossy();
        let what = if found.starts_with(backup::WORK) {
            "a backup or restore that was interrupted, or is being made now"
        } else if annals_files::is_part(&entry.file_name()) {
            "output of a command that was interrupted, or is being written now"
        } else if found.starts_with(&aside) {
            match aside::is_complete(&entry.path()) {
                true => "the log as it was before `annals doctor --truncate-tail` removed its end",
                false => "a part of the log that `annals doctor --truncate-tail` was putting aside",
            }
        } else if found.starts_with(&replaced) {
            "the log as it was before `annals doctor --put-back` put another in its place"
        } else {
            continue;
        };
        let path = entry.path();
        leftovers.push(Leftover { path, what });
    }
    leftovers.sort_by(|a, b| a.path.cmp(&b.path));
    leftovers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_that_of_the_nearest_folder_that_exists() {
        let home = tempfile::tempdir().expect("a folder");
        let there = free(home.path()).expect("a number");
        let below = free(&home.path().join("not/there")).expect("a number");
        assert!(there > 0 && below > 0);
    }
}
