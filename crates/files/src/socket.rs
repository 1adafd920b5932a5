//! Sockets with a place in a folder.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::{Access, READ_WRITE, User, let_user};

/// The path by which a socket in a folder can be reached: the operating system takes about a hundred bytes. It
/// holds for as long as this lives.
#[derive(Debug)]
pub struct SocketAddress {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketAddress {
    const LONGEST: usize = 100;

    /// Of a socket of this name in a folder.
    ///
    /// # Errors
    /// Those of opening the folder.
    pub fn of(folder: &Path, name: &str) -> io::Result<SocketAddress> {
        let path = folder.join(name);
        if path.as_os_str().len() <= SocketAddress::LONGEST {
            return Ok(SocketAddress {
                path,
                _folder: None,
            });
        }
        let opened = File::open(folder)?;
        Ok(SocketAddress {
            path: PathBuf::from(format!("/proc/self/fd/{}/{name}", opened.as_raw_fd())),
            _folder: Some(opened),
        })
    }

    /// What to bind or connect.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Puts a socket, for this user and `others`, in the place of the one of this name, so that there is never none in
/// between. `bind` makes it; until it is in its place it has the name `own`, which nothing else in the folder has.
///
/// # Errors
/// Those of the operating system, and of `bind`; [`io::ErrorKind::Unsupported`] where there are others and the file
/// system has no access control lists.
pub fn put_socket<S>(
    folder: &Path,
    (name, own): (&str, &str),
    others: impl IntoIterator<Item = User>,
    bind: impl FnOnce(&Path) -> io::Result<S>,
) -> io::Result<S> {
    let at = folder.join(own);
    match fs::remove_file(&at) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let address = SocketAddress::of(folder, own)?;
    let socket = bind(address.path())?;
    fs::set_permissions(&at, Permissions::from_mode(0o600))?;
    for user in others {
        let_user(&at, Access::Own, user, READ_WRITE)?;
    }
    fs::rename(&at, folder.join(name))?;
    Ok(socket)
}

/// What tells a file from another one in its place: its device and its number. Links are not followed; nothing, where
/// there is no file, or it cannot be looked at.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}
