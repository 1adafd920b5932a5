//! Folders for what does not last, and those that killed processes left.
//!
//! A process holds a lock on each folder of its own for as long as it uses it. One that is not locked was left by a
//! process that was killed, and the next one that makes such a folder removes it. No process id is looked at: another
//! process may have it by then.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use tempfile::TempDir;

use crate::own::OWN_FOLDER;
use crate::temporary::{NoTemporary, in_temporary};

/// How many that were left are removed at once: the rest is for the next ones.
const MOST: usize = 200;
/// How often a folder is made that another process takes for one that was left.
const ATTEMPTS: usize = 20;

/// A folder for what does not last, which is removed with this. It is its owner's alone.
///
/// ```
/// let scratch = annals_files::Scratch::new("annals-example-", None)?;
/// let path = scratch.path().to_owned();
/// std::fs::write(path.join("file"), "text")?;
/// drop(scratch);
/// assert!(!path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Scratch {
    /// Before the lock: as long as it is there, it is locked.
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes a new one among the machine's temporary folders, in the user's cache, or else in the last folder, if there is
    /// one. Those of this prefix that killed processes of this user left there are removed.
    ///
    /// # Errors
    /// [`NoTemporary`].
    pub fn new(prefix: &str, last: Option<&Path>) -> Result<Scratch, NoTemporary> {
        in_temporary(last, |home| {
            remove_left(home, prefix);
            Scratch::within(home, prefix)
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn within(home: &Path, prefix: &str) -> io::Result<Scratch> {
        for _ in 0..ATTEMPTS {
            let folder = folder(prefix, home)?;
            // Until it is locked, another process may remove it.
            if let Some(lock) = hold(folder.path())? {
                return Ok(Scratch {
                    folder,
                    _lock: lock,
                });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }
}

fn folder(prefix: &str, home: &Path) -> io::Result<TempDir> {
    let mut made = tempfile::Builder::new();
    made.prefix(prefix);
    made.permissions(fs::Permissions::from_mode(OWN_FOLDER));
    made.tempdir_in(home)
}

/// Locks a folder that is there and that no process has locked.
fn hold(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let folder = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match folder.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // Who had the lock before may have removed it.
    let (held, there) = (folder.metadata()?, fs::symlink_metadata(path));
    let is_there = there.is_ok_and(|it| (it.dev(), it.ino()) == (held.dev(), held.ino()));
    Ok(is_there.then_some(folder))
}

/// Removes folders that killed processes of this user left. What cannot be removed stays.
fn remove_left(home: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(home) else {
        return;
    };
    let is_one = |name: &OsStr| name.as_bytes().starts_with(prefix.as_bytes());
    let user = rustix::process::geteuid().as_raw();
    let mut removed = 0;
    for entry in entries.flatten().filter(|it| is_one(&it.file_name())) {
        let path = entry.path();
        let Ok(Some(folder)) = hold(&path) else {
            continue;
        };
        let is_own = folder.metadata().is_ok_and(|found| found.uid() == user);
        if is_own && fs::remove_dir_all(&path).is_ok() {
            removed += 1;
        }
        if removed == MOST {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::symlink;

    use super::*;

    const READER: &str = "annals-reader-";

    #[test]
    fn what_killed_processes_left_goes_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for left in [
            "annals-reader-a",
            "annals-reader-b/no-wal",
            "other",
            "annals-rows-a",
        ] {
            fs::create_dir_all(at(left)).unwrap();
        }
        fs::write(at("annals-reader-b/LOG"), "x").unwrap();
        fs::write(at("annals-reader-file"), "x").unwrap();
        symlink(at("other"), at("annals-reader-link")).unwrap();
        let used = Scratch::within(home.path(), READER).unwrap();
        remove_left(home.path(), READER);
        assert!(used.path().is_dir(), "it is in use");
        let path = used.path().to_owned();
        assert!(!at("annals-reader-a").exists() && !at("annals-reader-b").exists());
        for stays in [
            "annals-reader-file",
            "annals-reader-link",
            "other",
            "annals-rows-a",
        ] {
            assert!(fs::symlink_metadata(at(stays)).is_ok(), "{stays}");
        }
        drop(used);
        assert!(!path.exists());
    }

    #[test]
    fn those_of_other_users_stay() {
        let home = tempfile::tempdir().unwrap();
        let others = home.path().join("annals-reader-x");
        fs::create_dir(&others).unwrap();
        if let Err(error) = std::os::unix::fs::chown(&others, Some(12_345), None) {
            eprintln!("NOT RUN: only root gives folders to others: {error}");
            return;
        }
        remove_left(home.path(), READER);
        assert!(others.exists());
    }

    #[test]
    fn many_at_once_leave_each_other_theirs() {
        let home = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        remove_left(home.path(), READER);
                        let scratch = Scratch::within(home.path(), READER).unwrap();
                        remove_left(home.path(), READER);
                        fs::write(scratch.path().join("file"), "x").unwrap();
                    }
                });
            }
        });
        assert!(fs::read_dir(home.path()).unwrap().next().is_none());
    }
}
