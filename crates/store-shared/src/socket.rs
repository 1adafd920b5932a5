//! The owner's socket in the log's folder: put there, put back where somebody removed it, and taken away at the end.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::frame::{self, Address};

/// The device and the number of a file: what tells it from another one in its place.
type Identity = (u64, u64);

/// Where guests knock. Programs that clean folders up take a socket for a leftover: it is older than they allow.
pub(crate) struct Socket {
    folder: PathBuf,
    /// The folder that has the log. Another one in its place is another log's.
    of: Identity,
    /// The socket that this process bound; none once it has ended.
    bound: Mutex<Option<Identity>>,
}

impl Socket {
    /// Puts a socket in the place of the one before: this process has the lock, so that nobody listens there.
    pub(crate) fn bind(folder: &Path) -> io::Result<(Socket, UnixListener)> {
        let of = identity(folder)?;
        let listener = listen(folder)?;
        let bound = identity(&folder.join(frame::NAME))?;
        let socket = Socket {
            folder: folder.to_owned(),
            of,
            bound: Mutex::new(Some(bound)),
        };
        Ok((socket, listener))
    }

    /// Binds again where the socket is gone, or another file in its place. Nothing, where all is well, this has
    /// ended, or another folder is in the place of the log's.
    pub(crate) fn put_back(&self) -> io::Result<Option<UnixListener>> {
        let mut bound = self.bound();
        let Some(known) = *bound else {
            return Ok(None);
        };
        let at = self.folder.join(frame::NAME);
        let is_there = identity(&at).is_ok_and(|found| found == known);
        if is_there || identity(&self.folder).ok() != Some(self.of) {
            return Ok(None);
        }
        let listener = listen(&self.folder)?;
        *bound = Some(identity(&at)?);
        Ok(Some(listener))
    }

    /// Takes it away, and it is not put back any more.
    pub(crate) fn remove(&self) {
        let known = self.bound().take();
        let at = self.folder.join(frame::NAME);
        // Where the folder was replaced, another log's socket may be there.
        if known.is_some() && identity(&at).ok() == known {
            let _ = std::fs::remove_file(at);
        }
    }

    fn bound(&self) -> MutexGuard<'_, Option<Identity>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn identity(path: &Path) -> io::Result<Identity> {
    let found = std::fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// Binds a name of this process's own and renames it, so that there is never none in between.
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
