//! Files and folders of this user alone: what is written has content of a log, and is not for others,
//! regardless of the umask.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::open_with;

/// The mode of a file of this user alone.
pub const OWN_FILE: u32 = 0o600;
/// The mode of a folder of this user alone.
pub const OWN_FOLDER: u32 = 0o700;

/// Creates a file of this user alone that is not there yet, and opens it for writing.
///
/// # Errors
/// Those of the operating system; [`io::ErrorKind::AlreadyExists`] where anything is there, also a
/// link.
pub fn create_own(path: &Path) -> io::Result<File> {
    open_own(path, OpenOptions::new().write(true).create_new(true))
}

/// Opens a file by a path whose last part must not be a link, as [`open_with`] does; if this creates
/// the file, it is for this user alone.
///
/// # Errors
/// Those of [`open_with`].
pub fn open_own(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    open_with(path, how.mode(OWN_FILE))
}

/// Makes a folder and those above it. Those that this creates are for this user alone.
///
/// # Errors
/// Those of the operating system.
pub fn make_own_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(OWN_FOLDER)
        .create(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_created_is_for_its_user_alone() {
        let home = tempfile::tempdir().unwrap();
        let (folder, file) = (home.path().join("a/b"), home.path().join("a/b/file"));
        make_own_folders(&folder).unwrap();
        make_own_folders(&folder).unwrap();
        create_own(&file).unwrap();
        assert_eq!(
            (mode(&home.path().join("a")), mode(&folder)),
            (OWN_FOLDER, OWN_FOLDER)
        );
        assert_eq!(mode(&file), OWN_FILE);
        let again = create_own(&file).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        symlink(home.path().join("gone"), home.path().join("link")).unwrap();
        create_own(&home.path().join("link")).unwrap_err();
        assert!(!home.path().join("gone").exists());
    }
}
