//! Making durable what an earlier process left, before anything is built on it.
//!
//! What RocksDB reads out of a write-ahead log when it opens may be in the operating
//! system's memory only: its writer may have been killed inside the sync, or before it. RocksDB
//! itself never syncs such a file again, so a writer that went on from there would acknowledge
//! events that rest on bytes which the next power cut takes away.
//!
//! To sync the old files once more would not be enough. After a sync that failed, the
//! operating system may take the pages for clean although they never reached the disk; the
//! next sync then succeeds and writes nothing. So the bytes are written again, into new
//! files, and a sync of those says something about them.
//!
//! It costs nothing where the log was closed by a writer that had synced all of it: the
//! closing mark in WATERMARK says so ([`crate::watermark_file`]).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::directories;
use crate::error::OpenError;
use crate::folder::{files, number};
use crate::mutants;
use crate::watermark_file::{Closed, WatermarkFile};

/// How a copy ends before it takes its file's place. RocksDB does not know such names.
pub(crate) const UNFINISHED: &str = "settling";
/// Bytes that are copied at once.
const PIECE: usize = 1024 * 1024;

/// The newest write-ahead log of a directory; `None` where there is none.
pub(crate) fn newest_log(directory: &Path) -> io::Result<Option<Closed>> {
    let names = files(directory, "log")?;
    let newest = names
        .iter()
        .rev()
        .find_map(|name| Some((name, number(name)?)));
    let Some((name, number)) = newest else {
        return Ok(None);
    };
    let bytes = fs::metadata(directory.join(name))?.len();
    Ok(Some(Closed { number, bytes }))
}

/// Makes the write-ahead logs of a log durable that no process has open, unless they are known
/// to be; whether they were not. Their bytes stay what they are.
pub(crate) fn settle(directory: &Path, file: &WatermarkFile) -> Result<bool, OpenError> {
    let failed = |error| OpenError::io(directory, error);
    let closed = file.closed().map_err(failed)?;
    if closed.is_some() && closed == newest_log(directory).map_err(failed)? {
        return Ok(false);
    }
    if mutants::is(mutants::WAL_NOT_SETTLED) {
        return Ok(true);
    }
    for left in files(directory, UNFINISHED).map_err(failed)? {
        let left = directory.join(left);
        fs::remove_file(&left).map_err(|error| OpenError::io(&left, error))?;
    }
    let mut rewritten = 0;
    for name in files(directory, "log").map_err(failed)? {
        let path = directory.join(name);
        rewritten += write_again(&path).map_err(|error| OpenError::io(&path, error))?;
    }
    tracing::debug!(bytes = rewritten, "the write-ahead logs were written again");
    directories::sync_directory(directory).map_err(failed)?;
    Ok(true)
}

/// Puts a durable copy of a file in its place; how many bytes it has.
fn write_again(path: &Path) -> io::Result<u64> {
    let mut from = annals_files::open_with(path, OpenOptions::new().read(true))?;
    if mutants::is(mutants::SETTLED_BY_SYNC) {
        return from.sync_all().map(|()| 0);
    }
    let found = from.metadata()?;
    if found.len() == 0 {
        return Ok(0);
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(UNFINISHED);
    let mut to = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&name)?;
    let copied = copy(&mut from, &mut to).and_then(|copied| {
        to.set_permissions(found.permissions())?;
        to.sync_all()?;
        fs::rename(&name, path)?;
        Ok(copied)
    });
    if copied.is_err() {
        // A disk that is full stays full of it otherwise.
        let _ = fs::remove_file(&name);
    }
    copied
}

fn copy(from: &mut File, to: &mut File) -> io::Result<u64> {
    // Not `fs::copy`: where the file system can, that shares the blocks of the old file,
    // which are just what may not hold what is in memory.
    let mut piece = vec![0; PIECE];
    let mut copied = 0;
    loop {
        let read = from.read(&mut piece)?;
        let Some(read) = piece.get(..read).filter(|read| !read.is_empty()) else {
            break;
        };
        to.write_all(read)?;
        copied += read.len() as u64;
    }
    Ok(copied)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::MetadataExt;

    use annals_event_log::Position;

    use super::*;

    #[test]
    fn the_newest_log_is_the_one_with_the_highest_number() {
        let home = tempfile::tempdir().unwrap();
        for (name, bytes) in [("999999.log", "old"), ("1000000.log", "newest")] {
            fs::write(home.path().join(name), bytes).unwrap();
        }
        let newest = newest_log(home.path()).unwrap();
        assert_eq!(
            newest.map(|log| (log.number, log.bytes)),
            Some((1_000_000, 6))
        );
        assert!(newest_log(&home.path().join("none")).is_err());
    }

    #[test]
    fn logs_are_written_again_unless_they_are_what_was_closed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path();
        let file = WatermarkFile::open_for_writing(path).unwrap();
        file.write(Position(3)).unwrap();
        let write = |name: &str, content: &str| fs::write(path.join(name), content).unwrap();
        let inode = |name: &str| fs::metadata(path.join(name)).unwrap().ino();
        write("000009.log", "old");
        write("000010.log", "newest");
        write("000010.log.settling", "left by a crash");
        let before = (inode("000009.log"), inode("000010.log"));
        settle(path, &file).unwrap();
        assert_ne!(inode("000009.log"), before.0);
        assert_ne!(inode("000010.log"), before.1);
        assert_eq!(fs::read(path.join("000009.log")).unwrap(), b"old");
        assert_eq!(fs::read(path.join("000010.log")).unwrap(), b"newest");
        assert!(!path.join("000010.log.settling").exists());

        let closed = newest_log(path).unwrap().unwrap();
        assert_eq!((closed.number, closed.bytes), (10, 6));
        file.close(Position(3), closed).unwrap();
        let before = inode("000010.log");
        settle(path, &file).unwrap();
        assert_eq!(inode("000010.log"), before, "it is known to be durable");
        write("000011.log", "");
        settle(path, &file).unwrap();
        assert_ne!(inode("000010.log"), before, "another process wrote since");
    }
}
