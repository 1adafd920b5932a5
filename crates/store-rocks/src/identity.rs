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

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use uuid::Uuid;

use crate::error::OpenError;
use crate::mutants;
use crate::watermark_file;
use crate::{creation, folder};

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

/// Who may do what with a folder of ours, regardless of the user's mask: its owner alone.
const OWN_FOLDER: u32 = 0o700;
/// What an owner may do with a file.
const OWN_FILE: u32 = 0o600;
/// What others may do with one, where they may look into its folder.
const OTHERS: u32 = 0o066;

/// The file's content.
pub(crate) fn text(log_id: Uuid) -> String {
    format!("{FIRST_WORDS}{FORMAT}\n{log_id}\n")
}

/// Reads the file and answers with the log's id; alters nothing.
pub(crate) fn read(directory: &Path) -> Result<Uuid, OpenError> {
    let path = directory.join(NAME);
    let content = match folder::read_file(&path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(absent(directory)),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(not_a_log(directory, "it is not a directory"));
        }
        // Nothing that we wrote is longer.
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(not_ours(directory));
        }
        Err(error) => return Err(OpenError::io(&path, error)),
    };
    parse(directory, &String::from_utf8_lossy(&content))
}

/// What a directory without the file ANNALS is.
fn absent(directory: &Path) -> OpenError {
    if fs::symlink_metadata(directory.join(NEW_NAME)).is_ok() {
        return creation::interrupted(directory);
    }
    match is_empty(directory) {
        Ok(true) => OpenError::NotFound {
            path: directory.to_owned(),
        },
        Ok(false) if is_log_otherwise(directory) => damaged(directory, "missing"),
        Ok(false) if directory.join("CURRENT").exists() => {
            not_a_log(directory, "it holds a RocksDB of another program")
        }
        Ok(false) => not_a_log(directory, "it has no file ANNALS"),
        Err(error) => OpenError::io(directory, error),
    }
}

fn parse(directory: &Path, content: &str) -> Result<Uuid, OpenError> {
    let not_ours = || not_ours(directory);
    let mut lines = content.lines();
    let found = lines
        .next()
        .and_then(|line| line.strip_prefix(FIRST_WORDS))
        .ok_or_else(not_ours)?;
    let found: u32 = found.parse().map_err(|_| not_ours())?;
    if found > FORMAT {
        return Err(OpenError::NewerFormat {
            path: directory.to_owned(),
            found,
            known: FORMAT,
        });
    }
    if found == 0 {
        return Err(not_ours());
    }
    lines
        .next()
        .and_then(|id| id.parse().ok())
        .ok_or_else(not_ours)
}

/// Whether a directory has the other files that every log has.
fn is_log_otherwise(directory: &Path) -> bool {
    directory.join("CURRENT").exists() && directory.join(watermark_file::NAME).exists()
}

/// What a directory is whose file ANNALS says something else.
fn not_ours(directory: &Path) -> OpenError {
    if is_log_otherwise(directory) {
        return damaged(directory, "damaged");
    }
    not_a_log(directory, "its file ANNALS is not ours")
}

fn damaged(directory: &Path, how: &str) -> OpenError {
    let reason = format!("its file {NAME} is {how}");
    OpenError::corrupt_but(directory, reason, "restore that file from a backup")
}

/// Whether a directory has nothing in it.
pub(crate) fn is_empty(directory: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(directory)?.next().is_none())
}

fn not_a_log(path: &Path, reason: &str) -> OpenError {
    OpenError::NotALog {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Takes the writer's lock. It is held for as long as the file is open.
pub(crate) fn lock(directory: &Path) -> Result<File, OpenError> {
    let path = directory.join(NAME);
    let file = annals_files::open_with(&path, OpenOptions::new().read(true));
    let file = file.map_err(|error| OpenError::io(&path, error))?;
    take_lock(file, directory)
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

/// Brings the names in a directory to the disk, and its own name.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()?;
    sync_parent(directory)
}

/// Brings the name of a directory to the disk.
fn sync_parent(directory: &Path) -> io::Result<()> {
    // The parent of "log" or of "." is not in the path itself.
    let directory = directory.canonicalize()?;
    let Some(parent) = directory.parent() else {
        return Ok(());
    };
    sync_names(parent)
}

/// Brings the names in a directory to the disk.
pub(crate) fn sync_names(directory: &Path) -> io::Result<()> {
    match File::open(directory) {
        Ok(directory) => directory.sync_all(),
        // Where it may not be read by this user, its entry has to wait for the operating
        // system. It was not made by us then.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates the folder of a log, which only its owner may look into, and what is missing above
/// it. One that is there keeps its permissions: a user chose them.
pub(crate) fn create_log_folder(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    match create_own_folder(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        made => made?,
    }
    create_directory(folder)
}

/// Creates a folder that only its owner may look into.
pub(crate) fn create_own_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(OWN_FOLDER).create(folder)
}

/// The mode of a new file in a folder: it is as open as the folder is, so that a log whose owner lets
/// a group read it stays one that the group can read.
pub(crate) fn file_mode(folder: &Path) -> u32 {
    let found = fs::metadata(folder).map(|found| found.permissions().mode());
    OWN_FILE | (found.unwrap_or_default() & OTHERS)
}

/// Makes a folder that is there one that only its owner may look into.
pub(crate) fn make_own(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(OWN_FOLDER))
}

/// A folder for what does not last; only its owner may look into it.
pub(crate) fn temporary_folder(prefix: &str, within: &Path) -> io::Result<TempDir> {
    let mut made = tempfile::Builder::new();
    made.prefix(prefix);
    made.permissions(fs::Permissions::from_mode(OWN_FOLDER));
    made.tempdir_in(within)
}

/// Creates a directory, with those above it that are missing, and brings the name of each
/// to the disk. Those that are there may be from a creation that was interrupted: their names
/// are brought there too, up to where the file system begins.
pub(crate) fn create_directory(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let directory = directory.canonicalize()?;
    let device = fs::metadata(&directory)?.dev();
    let is_here = |at: &&Path| fs::metadata(at).is_ok_and(|found| found.dev() == device);
    let above: Vec<&Path> = directory.ancestors().skip(1).take_while(is_here).collect();
    above.into_iter().rev().try_for_each(sync_names)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

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
