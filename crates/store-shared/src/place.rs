//! The socket's place in the log's folder.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::frame::{self, Address};

/// Where the socket is, and what tells it and its folder from others in their places.
pub(crate) struct Place {
    folder: PathBuf,
    folder_identity: Option<(u64, u64)>,
    /// None when the owner has left.
    socket: Mutex<Option<(u64, u64)>>,
}

impl Place {
    /// Listens in the folder.
    pub(crate) fn take(folder: &Path) -> io::Result<(Place, UnixListener)> {
        let listener = listen(folder)?;
        let place = Place {
            folder: folder.to_owned(),
            folder_identity: identity(folder),
            socket: Mutex::new(identity(&folder.join(frame::NAME))),
        };
        Ok((place, listener))
    }

    fn socket(&self) -> MutexGuard<'_, Option<(u64, u64)>> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens once more where something removed the socket. Nothing, where it is there, where the owner has left,
    /// or where another folder is in the log's place.
    pub(crate) fn put_back(&self) -> io::Result<Option<UnixListener>> {
        let mut socket = self.socket();
        let at = self.folder.join(frame::NAME);
        let is_gone = identity(&at).is_none() && identity(&self.folder) == self.folder_identity;
        if socket.is_none() || !is_gone {
            return Ok(None);
        }
        let listener = listen(&self.folder)?;
        *socket = identity(&at);
        Ok(Some(listener))
    }

    /// Removes the socket, for good.
    pub(crate) fn leave(&self) {
        let at = self.folder.join(frame::NAME);
        // Where the folder was replaced, another log's socket may be there.
        if let Some(known) = self.socket().take()
            && identity(&at) == Some(known)
        {
            let _ = std::fs::remove_file(at);
        }
    }
}

/// The device and the number of a file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = std::fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Puts a socket in the place of the one before: this process has the lock, so that no other one listens there.
fn listen(folder: &Path) -> io::Result<UnixListener> {
    let own = format!("{}.{}", frame::NAME, std::process::id());
    let address = Address::of(folder, &own)?;
    let at: PathBuf = folder.join(&own);
    match std::fs::remove_file(&at) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(address.path())?;
    std::fs::set_permissions(&at, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    std::fs::rename(&at, folder.join(frame::NAME))?;
    Ok(listener)
}
