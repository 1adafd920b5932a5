//! A bell beside the spool: a process that stays hears of an event as soon as that is kept, so that a hook need not
//! open the log (ADR 33).
//!
//! It is a socket for datagrams in the spool's folder, `bell`. A hook that finds somebody at it keeps its event in the
//! spool, rings, and is done: the event is on disk, and is taken in at once. Nothing is lost where nobody hears it:
//! whoever writes to the log next takes in what waits.

use std::fs;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use annals_files::{SocketAddress, identity, put_socket};

use crate::spool::{Spool, SpoolError};

/// The socket's name.
pub(crate) const NAME: &str = "bell";

/// The bell of a process that takes in what waits. It is taken down with this.
#[derive(Debug)]
pub struct Bell {
    spool: Spool,
    socket: UnixDatagram,
    identity: Option<(u64, u64)>,
}

impl Bell {
    /// Hangs it where hooks look for it, in place of one that was there before.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn hang(spool: &Spool) -> Result<Bell, SpoolError> {
        spool.make()?;
        let hung = hang(spool.path());
        let socket = hung.map_err(|error| spool.io(error))?;
        Ok(Bell {
            identity: identity(&spool.path().join(NAME)),
            spool: spool.clone(),
            socket,
        })
    }

    /// Whether hooks find it, or another one that somebody hears. Where not, it is to be hung again: something took it
    /// down.
    pub fn is_there(&self) -> bool {
        let found = identity(&self.spool.path().join(NAME));
        (self.identity.is_some() && found == self.identity) || Ringer::find(&self.spool).is_some()
    }

    /// The socket, on which a datagram comes for each event; it does not block.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn socket(&self) -> io::Result<UnixDatagram> {
        self.socket.try_clone()
    }

    /// Forgets how often it was rung: what waits is taken in at once.
    pub fn quiet(&self) {
        while self.socket.recv(&mut [0; 1]).is_ok() {}
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        let at = self.spool.path().join(NAME);
        // Another process may have hung its own.
        if self.identity.is_some() && identity(&at) == self.identity {
            let _ = fs::remove_file(at);
        }
    }
}

/// Listens to the bell for as long as a process stays.
#[derive(Debug)]
pub struct Listener {
    spool: Spool,
    hung: Option<(Bell, tokio::net::UnixDatagram)>,
}

impl Listener {
    /// Listens to nothing yet: [`Listener::hang`] hangs the bell.
    pub fn new(spool: Spool) -> Listener {
        Listener { spool, hung: None }
    }

    /// Sees to it that hooks find a bell: it is hung where there is none, and where something took it down. To be
    /// called now and then, on a runtime of tokio.
    ///
    /// # Errors
    /// [`SpoolError`]; until it is hung, hooks bring what they have themselves.
    pub fn hang(&mut self) -> Result<(), SpoolError> {
        if self.hung.as_ref().is_some_and(|(bell, _)| bell.is_there()) {
            return Ok(());
        }
        self.hung = None;
        let bell = Bell::hang(&self.spool)?;
        let socket = bell.socket().and_then(tokio::net::UnixDatagram::from_std);
        let socket = socket.map_err(|error| self.spool.io(error))?;
        self.hung = Some((bell, socket));
        Ok(())
    }

    /// Waits until it is rung; where no bell hangs, for ever.
    pub async fn rung(&self) {
        let heard = match &self.hung {
            Some((_, socket)) => socket.recv(&mut [0; 1]).await.is_ok(),
            None => false,
        };
        match (heard, &self.hung) {
            (true, Some((bell, _))) => bell.quiet(),
            // A socket that fails would fail at once again.
            _ => std::future::pending().await,
        }
    }
}

/// Somebody is there to hear it.
pub(crate) struct Ringer(UnixDatagram);

impl Ringer {
    /// Looks whether somebody is.
    pub(crate) fn find(spool: &Spool) -> Option<Ringer> {
        // The folder is to be this user's own.
        spool.open().ok()??;
        let socket = UnixDatagram::unbound().ok()?;
        let address = SocketAddress::of(spool.path(), NAME).ok()?;
        socket.connect(address.path()).ok()?;
        socket.set_nonblocking(true).ok()?;
        Some(Ringer(socket))
    }

    pub(crate) fn ring(&self) {
        // Where there is no room for another one, it is about to look.
        let _ = self.0.send(b".");
    }
}

fn hang(folder: &Path) -> io::Result<UnixDatagram> {
    let own = format!(".{NAME}.{}", std::process::id());
    let socket = put_socket(folder, (NAME, &own), [], |path| UnixDatagram::bind(path))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn spool(name: &str) -> (tempfile::TempDir, Spool) {
        let place = tempfile::tempdir().unwrap();
        let log = place.path().join(name);
        let spool = Spool::of(log.to_str().unwrap()).unwrap();
        (place, spool)
    }

    #[test]
    fn who_rings_is_heard_and_who_is_gone_is_not_found() {
        for name in ["log", &"long".repeat(40)] {
            let (_place, spool) = spool(name);
            assert!(Ringer::find(&spool).is_none());
            let bell = Bell::hang(&spool).unwrap();
            let ringer = Ringer::find(&spool).unwrap();
            for _ in 0..10_000 {
                ringer.ring();
            }
            let socket = bell.socket().unwrap();
            assert_eq!(socket.recv(&mut [0; 1]).unwrap(), 1);
            bell.quiet();
            assert!(socket.recv(&mut [0; 1]).is_err());
            drop((bell, socket));
            assert!(Ringer::find(&spool).is_none());
        }
    }

    #[test]
    fn the_last_one_hears_and_the_first_one_again_when_that_is_gone() {
        let (_place, spool) = spool("log");
        let first = Bell::hang(&spool).unwrap();
        let second = Bell::hang(&spool).unwrap();
        assert!(first.is_there());
        Ringer::find(&spool).unwrap().ring();
        assert!(second.socket().unwrap().recv(&mut [0; 1]).is_ok());
        drop(second);
        assert!(!first.is_there());
        let first = Bell::hang(&spool).unwrap();
        Ringer::find(&spool).unwrap().ring();
        assert!(first.socket().unwrap().recv(&mut [0; 1]).is_ok());
        // One that was killed leaves its bell, which nobody hears.
        drop(UnixDatagram::bind(spool.path().join("dead")).unwrap());
        fs::rename(spool.path().join("dead"), spool.path().join(NAME)).unwrap();
        assert!(Ringer::find(&spool).is_none() && !first.is_there());
    }
}
