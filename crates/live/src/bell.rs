//! A bell beside the spool: a process that stays hears of an event as soon as that is kept, so that a hook need not open
//! the log (ADR 33).
//!
//! It is a socket for datagrams in the spool's folder, `bell`. A hook that finds somebody at it keeps its event in the spool,
//! rings, and is done: the event is on disk, and is taken in at once. Nothing is lost where nobody hears it: whoever writes to
//! the log next takes in what waits.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use crate::spool::{Spool, SpoolError};

const NAME: &str = "bell";

/// The longest path that the operating system takes for a socket.
const LONGEST: usize = 100;

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

    /// Whether hooks find it, or another one that somebody hears. Where not, it is to be hung again: something took it down.
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

/// Somebody is there to hear it.
pub(crate) struct Ringer(UnixDatagram);

impl Ringer {
    /// Looks whether somebody is.
    pub(crate) fn find(spool: &Spool) -> Option<Ringer> {
        // The folder is to be this user's own.
        spool.open().ok()??;
        let socket = UnixDatagram::unbound().ok()?;
        let (path, _folder) = address(spool.path(), NAME).ok()?;
        socket.connect(path).ok()?;
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
    let at = folder.join(&own);
    match fs::remove_file(&at) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let (path, _opened) = address(folder, &own)?;
    let socket = UnixDatagram::bind(path)?;
    socket.set_nonblocking(true)?;
    fs::rename(&at, folder.join(NAME))?;
    Ok(socket)
}

/// The path of a socket in a folder, as short as it must be; it holds for as long as the file is open.
fn address(folder: &Path, name: &str) -> io::Result<(PathBuf, Option<File>)> {
    let path = folder.join(name);
    if path.as_os_str().len() <= LONGEST {
        return Ok((path, None));
    }
    let opened = File::open(folder)?;
    let path = format!("/proc/self/fd/{}/{name}", opened.as_raw_fd());
    Ok((path.into(), Some(opened)))
}

/// The device and the number of a file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
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
