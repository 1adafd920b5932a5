//! Removing an entry of a folder into which another process may still write.

use std::fs;
use std::io;
use std::path::Path;

/// What the name of a folder ends with that is being removed.
const GOING: &str = ".going";

/// Removes an entry of a folder by its name: a folder with all that is in it, and anything else by itself; a link is
/// not followed. A folder is renamed first, so that what a process still writes there by its old name goes nowhere.
/// What is not there, or what another process removed meanwhile, is removed.
///
/// # Errors
/// Those of the operating system.
pub fn forget_entry(folder: &Path, name: &Path) -> io::Result<()> {
    let found = folder.join(name);
    match fs::symlink_metadata(&found) {
        Ok(kind) if !kind.is_dir() => return gone(fs::remove_file(&found)),
        Ok(_) => {}
        Err(error) => return gone(Err(error)),
    }
    if name.to_string_lossy().ends_with(GOING) {
        return gone(fs::remove_dir_all(&found));
    }
    let mut going = name.as_os_str().to_owned();
    going.push(GOING);
    let going = folder.join(going);
    gone(fs::remove_dir_all(&going))?;
    gone(fs::rename(&found, &going))?;
    gone(fs::remove_dir_all(&going))
}

/// What another process removed first is removed, too.
///
/// # Errors
/// The given one, if it is not [`io::ErrorKind::NotFound`].
pub fn gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_folder_goes_with_what_is_in_it_and_a_link_by_itself() {
        let home = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("stays"), "").unwrap();
        let within = |name: &str| home.path().join(name);
        for name in ["0", "0.going", "1.going"] {
            fs::create_dir_all(within(name).join("within")).unwrap();
        }
        fs::write(within("file"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), within("link")).unwrap();
        for name in ["0", "1.going", "file", "link", "not there"] {
            forget_entry(home.path(), Path::new(name)).unwrap();
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        assert!(outside.path().join("stays").exists());
    }

    #[test]
    fn what_the_system_refuses_is_an_error() {
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(gone(Err(refused)).is_err());
        assert!(gone(Err(io::ErrorKind::NotFound.into())).is_ok());
    }
}
