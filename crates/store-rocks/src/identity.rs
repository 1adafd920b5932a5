//! The file ANNALS: what the directory is, known before RocksDB is touched, and
//! the lock that makes one process the writer.
//!
//! ```text
//! annals log, format 1
//! <the log's id>
//! ```
//!
//! While a log is being created the file is called `ANNALS.new`; its renaming
//! is the moment at which the log exists. The writer holds an exclusive `flock`
//! on it; readers hold none.

mod reading;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use uuid::Uuid;

use crate::directories::{file_mode, sync_directory};
use crate::error::OpenError;
use crate::mutants;

pub(crate) use reading::read;

/// The newest format that this version reads, and the one that it writes.
pub(crate) const FORMAT: u32 = 1;
/// The file's name.
pub(crate) const NAME: &str = "ANNALS";
/// Its name while the log is being created.
pub(crate) const NEW_NAME: &str = "ANNALS.new";
const FIRST_WORDS: &str = "annals log, format ";
/// How often taking the lock is tried before it counts as held by another process.
const LOCK_ATTEMPTS: u32 = 5;
const BETWEEN_LOCK_ATTEMPTS: Duration = Duration::from_millis(4);

/// The file's content.
pub(crate) fn text(log_id: Uuid) -> String {
    format!("{FIRST_WORDS}{FORMAT}\n{log_id}\n")
}

/// The id of the log in a folder, without the log being opened; none where there is no log that can be read.
pub fn log_id(folder: &Path) -> Option<Uuid> {
    let content = crate::folder::read_file(&folder.join(NAME)).ok()?;
    let text = std::str::from_utf8(&content).ok()?;
    let mut lines = text.lines();
    lines.next().filter(|line| line.starts_with(FIRST_WORDS))?;
    lines.next()?.parse().ok()
}

/// Returns `true` if a file begins as one with the name of a log does.
pub(crate) fn is_named(file: &Path) -> bool {
    let read = crate::folder::read_file(file);
    read.is_ok_and(|content| content.starts_with(FIRST_WORDS.as_bytes()))
}

#[cfg(unix)]
fn links(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(found)
}

#[cfg(not(unix))]
fn links(_: &fs::Metadata) -> u64 {
    1
}

/// Takes the writer's lock. It is held for as long as the file is open.
pub(crate) fn lock(directory: &Path) -> Result<File, OpenError> {
    let path = directory.join(NAME);
    let file = annals_files::open_with(&path, OpenOptions::new().read(true));
    let file = file.map_err(|error| OpenError::io(&path, error))?;
    let found = file.metadata();
    let found = found.map_err(|error| OpenError::io(&path, error))?;
    refuse_linked(&found, directory)?;
    take_lock(file, directory)
}

/// Refuses a log whose files are in another folder, too.
pub(crate) fn check_links(directory: &Path) -> Result<(), OpenError> {
    let path = directory.join(NAME);
    let found = fs::metadata(&path).map_err(|error| OpenError::io(&path, error))?;
    refuse_linked(&found, directory)
}

/// RocksDB and the watermark write into files that are there.
fn refuse_linked(found: &fs::Metadata, directory: &Path) -> Result<(), OpenError> {
    match links(found) > 1 {
        false => Ok(()),
        true => Err(OpenError::Linked {
            path: directory.to_owned(),
        }),
    }
}

fn take_lock(file: File, directory: &Path) -> Result<File, OpenError> {
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            // A process that checks whether the log is written to holds it for a moment.
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_LOCK_ATTEMPTS),
            Err(TryLockError::Error(error)) => return Err(OpenError::io(directory, error)),
        }
    }
    Err(OpenError::Locked {
        path: directory.to_owned(),
    })
}

/// Begins a creation: makes the file under its first name, locked.
pub(crate) fn begin(directory: &Path, log_id: Uuid) -> Result<File, OpenError> {
    let path = directory.join(NEW_NAME);
    let failed = |error| OpenError::io(&path, error);
    let mut opening = OpenOptions::new();
    let opening = opening.read(true).write(true).create(true).truncate(false);
    let opening = opening.mode(file_mode(directory));
    let opened = annals_files::open_with(&path, opening).map_err(failed)?;
    let mut file = take_lock(opened, directory)?;
    // The process that held the lock before us may have finished the creation.
    if directory.join(NAME).exists() {
        let _ = fs::remove_file(&path);
        return Err(OpenError::AlreadyExists {
            path: directory.to_owned(),
        });
    }
    file.set_len(0).map_err(failed)?;
    file.rewind().map_err(failed)?;
    file.write_all(text(log_id).as_bytes()).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    // Its name before those of the database: after a power cut these must not be found alone.
    let names = File::open(directory).and_then(|names| names.sync_all());
    names.map_err(failed)?;
    Ok(file)
}

/// Ends a creation: from here on the log exists, even after a power cut.
pub(crate) fn finish(directory: &Path) -> Result<(), OpenError> {
    let (from, to) = (directory.join(NEW_NAME), directory.join(NAME));
    fs::rename(&from, &to).map_err(|error| OpenError::io(&to, error))?;
    if mutants::is(mutants::CREATION_UNSYNCED) {
        return Ok(());
    }
    sync_directory(directory).map_err(|error| OpenError::io(directory, error))
}

/// Whether a process has a log open for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// A process has.
    Now,
    /// No process has.
    No,
    /// It cannot be known: the file ANNALS may not be opened.
    Unknown,
}

/// Asks for the lock as readers would share it, and gives it back at once.
pub(crate) fn written(path: &Path) -> Written {
    let file = path.join(NAME);
    let Ok(file) = annals_files::open_with(&file, OpenOptions::new().read(true)) else {
        return Written::Unknown;
    };
    match file.try_lock_shared() {
        Ok(()) => Written::No,
        Err(TryLockError::WouldBlock) => Written::Now,
        Err(TryLockError::Error(_)) => Written::Unknown,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::reading::parse;
    use super::*;

    #[test]
    fn the_file_is_read_as_written_and_nothing_else_is() {
        let path = Path::new("log");
        let id = Uuid::from_u128(7);
        assert_eq!(parse(path, &text(id)).unwrap(), id);
        let newer = parse(path, &text(id).replace("format 1", "format 2")).unwrap_err();
        assert!(
            matches!(
                newer,
                OpenError::NewerFormat {
                    found: 2,
                    known: 1,
                    ..
                }
            ),
            "{newer}"
        );
        let bad = [
            "",
            "annals log, format 1",
            "annals log, format x\n",
            "annals log, format 0\n0\n",
        ];
        for bad in bad {
            assert!(
                matches!(parse(path, bad), Err(OpenError::NotALog { .. })),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn the_lock_is_taken_once_and_given_back() {
        let directory = tempfile::tempdir().unwrap();
        let held = begin(directory.path(), Uuid::from_u128(1)).unwrap();
        assert!(matches!(
            begin(directory.path(), Uuid::nil()),
            Err(OpenError::Locked { .. })
        ));
        finish(directory.path()).unwrap();
        assert!(matches!(
            lock(directory.path()),
            Err(OpenError::Locked { .. })
        ));
        drop(held);
        assert!(lock(directory.path()).is_ok());
        let again = begin(directory.path(), Uuid::nil());
        assert!(matches!(again, Err(OpenError::AlreadyExists { .. })));
        assert_eq!(read(directory.path()).unwrap(), Uuid::from_u128(1));
    }
}
