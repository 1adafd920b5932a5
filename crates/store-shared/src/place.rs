//! The socket's place in the log's folder.

use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use annals_files::{Access, READ_WRITE, identity, let_user, put_socket};

use crate::frame;
use crate::sharing::Sharing;

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

    /// Who else may write to the log.
    pub(crate) fn sharing(&self) -> io::Result<Sharing> {
        Sharing::of(&self.folder)
    }

    /// Lets those who are named connect.
    pub(crate) fn let_in(&self, sharing: &Sharing) -> io::Result<()> {
        let socket = self.socket();
        let at = self.folder.join(frame::NAME);
        if socket.is_none() || identity(&at) != *socket {
            return Ok(());
        }
        let mut users = sharing.users.iter();
        users.try_for_each(|user| let_user(&at, Access::Own, *user, READ_WRITE))
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

/// Puts a socket in the place of the one before: this process has the lock, so that no other one listens there.
fn listen(folder: &Path) -> io::Result<UnixListener> {
    let own = format!("{}.{}", frame::NAME, std::process::id());
    let names = (frame::NAME, own.as_str());
    // Where that cannot be read, it is nobody, which is said when guests come.
    let named = Sharing::of(folder).unwrap_or_default();
    let bind = |path: &Path| UnixListener::bind(path);
    let listener = match put_socket(folder, names, named.users, bind) {
        // The setting came here with a copy; who is named can still be let in by other means.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            tracing::warn!(%error, "no other user reaches the log's socket");
            put_socket(folder, names, [], bind)?
        }
        put => put?,
    };
    listener.set_nonblocking(true)?;
    Ok(listener)
}
