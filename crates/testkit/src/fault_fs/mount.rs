//! Mounting and unmounting, and what to do where that is not possible.

use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use fuser::{BackgroundSession, Config, MountOption};

use super::disk::Disk;
use super::kernel::Kernel;
use super::tree::Attributes;
use super::watch::Watch;

/// Threads that answer the kernel. A hook keeps one of them while it runs.
const THREADS: usize = 8;

/// Why the file system could not be mounted. A retry helps when what is missing is there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// The kernel has no FUSE, or a container does not show it.
    #[error(
        "no /dev/fuse: load the kernel's module (modprobe fuse), or give the container \
         the device (docker run --device /dev/fuse --cap-add SYS_ADMIN)"
    )]
    NoDevice,
    /// The device is there and may not be used.
    #[error(
        "/dev/fuse may not be used by this user ({0}): run as root, or make it accessible \
         (chmod 666 /dev/fuse, which most systems have)"
    )]
    NoPermission(#[source] io::Error),
    /// Mounting takes root or the helper program, and neither is there.
    #[error(
        "mounting needs root with CAP_SYS_ADMIN, or the program fusermount3: install the \
         package fuse3 (apt-get install fuse3; dnf install fuse3), or run scripts/setup.sh"
    )]
    NoHelper(#[source] io::Error),
    /// The mount point is not an empty directory that exists.
    #[error("cannot mount at {}: expected an empty directory", .path.display())]
    MountPoint {
        /// The mount point.
        path: PathBuf,
        /// What looking at it answered, where that failed.
        #[source]
        source: Option<io::Error>,
    },
    /// The system has FUSE and refuses to mount, as containers do.
    #[error(
        "the system refuses to mount ({0}): a container needs the capability for it \
         (docker run --device /dev/fuse --cap-add SYS_ADMIN), a user other than root a \
         mount point of its own"
    )]
    Refused(#[source] io::Error),
}

/// A mounted file system, until it is dropped.
#[derive(Debug)]
pub(super) struct Mounted {
    session: Option<BackgroundSession>,
    watch: Option<Watch>,
    path: PathBuf,
}

impl Mounted {
    pub(super) fn new(path: PathBuf, disk: Arc<Disk>) -> Result<Mounted, MountError> {
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("annals-fault-fs".into()),
            MountOption::DefaultPermissions,
        ];
        config.n_threads = Some(THREADS);
        let session = fuser::spawn_mount(Kernel(disk), &path, &config).map_err(explain)?;
        let watch = Watch::over(&path);
        Ok(Mounted {
            session: Some(session),
            watch,
            path,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Finds the mount point, and whose it is: so is the root of the file system.
pub(super) fn check(at: &Path) -> Result<(PathBuf, Attributes), MountError> {
    let refused = |source| MountError::MountPoint {
        path: at.to_owned(),
        source,
    };
    let path = at.canonicalize().map_err(|error| refused(Some(error)))?;
    let mut entries = path.read_dir().map_err(|error| refused(Some(error)))?;
    if entries.next().is_some() {
        return Err(refused(None));
    }
    let found = path.metadata().map_err(|error| refused(Some(error)))?;
    let mode = (found.mode() & 0o7777) as u16;
    Ok((
        path,
        Attributes {
            mode,
            uid: found.uid(),
            gid: found.gid(),
        },
    ))
}

/// The device comes first: without it, all else fails with errors that say less.
fn explain(error: io::Error) -> MountError {
    let device = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/fuse");
    match device {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            MountError::NoPermission(error)
        }
        Err(_) => MountError::NoDevice,
        Ok(_) if error.kind() == io::ErrorKind::NotFound => MountError::NoHelper(error),
        Ok(_) => MountError::Refused(error),
    }
}

/// Says that a test did not run, or fails it where it had to.
#[expect(
    clippy::panic,
    reason = "a test that cannot run has to fail, and this is called in tests only"
)]
pub(super) fn say_not_run(error: &MountError) {
    let machine_lacks_it = !matches!(error, MountError::MountPoint { .. });
    if !machine_lacks_it || std::env::var_os("CI").is_some() {
        panic!("the fault file system cannot be mounted: {error}");
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Not `eprintln`: the harness shows what that prints only of tests that fail.
    let _ = writeln!(io::stderr(), "NOT RUN: {test}: {error}");
}

impl Drop for Mounted {
    /// The power is off by now, so that a look at the file system fails and one at the
    /// empty directory below it does not. The threads are not waited for: they end when
    /// the last process has closed what it had open.
    fn drop(&mut self) {
        drop(self.session.take());
        if self.path.metadata().is_err() {
            detach(&self.path);
        }
        if let Some(watch) = self.watch.take() {
            watch.end();
        }
    }
}

/// Takes a busy file system out of the tree; the kernel ends it with its last user.
fn detach(path: &Path) {
    for (program, flags) in [("umount", ["-l", "--"]), ("fusermount3", ["-uz", "--"])] {
        let status = Command::new(program)
            .args(flags)
            .arg(path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if status.is_ok_and(|status| status.success()) {
            return;
        }
    }
}
