//! A file system whose power can be cut, mounted over FUSE: programs run on it unchanged.
//!
//! A test that kills a process loses nothing that the process wrote: the kernel has it
//! and writes it. Only a power cut shows whether a store syncs what it acknowledges. This
//! file system has two states, what processes see and what a disk would have; a file's
//! `fsync` takes its content from one to the other, and a directory's `fsync` its names.
//! [`FaultFs::power_off`] and [`FaultFs::power_on`] are the cut. [`FaultFs::arm`] lets
//! single operations fail, as full and dying disks do.
//!
//! # A test of your own store
//!
//! ```
//! use annals_testkit::fault_fs::{Cut, Effect, Fault, FaultFs, Operation, When};
//! use std::fs::{self, File};
//! use std::io::{self, Write};
//! use std::path::Path;
//!
//! // The store under test: a file that is replaced as a whole.
//! fn save(folder: &Path, text: &str) -> io::Result<()> {
//!     let mut file = File::create(folder.join("new"))?;
//!     file.write_all(text.as_bytes())?;
//!     file.sync_all()?;
//!     fs::rename(folder.join("new"), folder.join("settings"))?;
//!     File::open(folder)?.sync_all() // without it, the rename may be lost
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let Some(disk) = FaultFs::mount_in_test(folder.path()) else { return Ok(()) };
//! save(disk.path(), "first")?;
//!
//! // The power goes at each operation of the second save, one after the other.
//! for nth in 1.. {
//!     let then = Effect::PowerOff(When::Before);
//!     disk.arm(Fault { on: Operation::Change, path: None, nth, then });
//!     let saved = save(disk.path(), "second");
//!     // What was acknowledged survives the worst, and what was not, any cut.
//!     let cut = if saved.is_ok() { Cut::DropAll } else { Cut::Random { seed: nth } };
//!     let report = disk.power_on(&cut);
//!     let text = fs::read_to_string(disk.path().join("settings"))?;
//!     match saved {
//!         Ok(()) => assert_eq!(text, "second", "acknowledged, and lost: {report}"),
//!         Err(_) => assert!(text == "first" || text == "second", "torn: {report}"),
//!     }
//!     if saved.is_ok() {
//!         break; // it has fewer operations than that
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Programs are tested as they are: start them with a folder below
//! [`path`](FaultFs::path), cut the power, kill them, bring it back, and start them once more.
//! A [`Hook`] is called within an operation, to kill a program there. With
//! [`snapshot`](FaultFs::snapshot) and [`restore`](FaultFs::restore), many cuts follow one run.
//!
//! # What it promises
//!
//! - What was synced survives every cut: a file's content when `fsync` or `fdatasync` of
//!   the file has succeeded, its name when that of its directory has. A file that
//!   was synced and has no durable name is gone, as POSIX has it; ext4 is kinder.
//! - [`Cut::DropAll`] leaves exactly that. With nothing unsynced, no cut changes anything.
//! - The same operations and the same seed leave the same. Programs with several threads
//!   do not always do the same operations.
//! - Operations on names are atomic, a rename between two directories too, and those on
//!   one name or one file survive in their order: no file loses all its names because it
//!   was renamed.
//! - After a cut every handle from before answers ESTALE or EIO, and the kernel has kept
//!   nothing: attributes, names and bytes are requested each time.
//!
//! # What it does not do
//!
//! - Damage what was synced. Disks that do are another test: change bytes.
//! - `sync` and `syncfs`. The kernel does not pass them on, so nothing is durable by them.
//!   What `O_SYNC` and `O_DSYNC` write is.
//! - Write back on its own. A kernel does after half a minute; here that is one of the
//!   results of a random cut.
//! - Times. A cut leaves them as they are.
//! - Shared mappings (`mmap`) before Linux 6.6: there they fail with ENODEV.
//!
//! # What it needs
//!
//! Linux with `/dev/fuse`, and root, or `fusermount3` of the package `fuse3`. Only processes
//! of the user who mounted it can use it. [`MountError`] says what is missing;
//! [`FaultFs::mount_in_test`] says it loudly, and fails where the variable `CI` is set.

mod content;
mod cut;
mod disk;
mod faults;
mod file;
mod journal;
mod kernel;
mod mount;
mod remains;
mod requests;
mod restart;
mod synced;
mod tree;
mod watch;

#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod tree_tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use self::cut::{Cut, CutReport, FileCut, Knobs, Survival, Unwritten};
pub use self::faults::{Counts, Effect, Event, Fault, Hook, Operation, PathPattern, When};
pub use self::mount::MountError;
pub use self::synced::Unsynced;
pub use fuser::Errno;

use self::content::PAGE;
use self::disk::Disk;
use self::mount::Mounted;
use self::tree::Tree;

/// Space that a file system has unless [`FaultFs::set_capacity`] says otherwise, in bytes.
const CAPACITY: u64 = 16 << 30;

/// A mounted file system that is kept in memory and can be made to fail.
#[derive(Debug)]
pub struct FaultFs {
    disk: Arc<Disk>,
    mounted: Mounted,
}

impl FaultFs {
    /// Mounts an empty file system at `at`, an empty directory, until it is dropped. It
    /// is unmounted then even where it is in use; what uses it gets errors. Where the
    /// process is killed before that, a shell that watches it unmounts.
    ///
    /// # Errors
    /// What is missing, and how to get it.
    pub fn mount(at: &Path) -> Result<FaultFs, MountError> {
        let (path, owner) = mount::check(at)?;
        let disk = Arc::new(Disk::new(Tree::new(CAPACITY / PAGE, owner)));
        let mounted = Mounted::new(path, Arc::clone(&disk))?;
        Ok(FaultFs { disk, mounted })
    }

    /// As [`mount`](FaultFs::mount), for a test that cannot run on every machine: where
    /// FUSE is not to be had, says so past the test harness, which would hide it, and
    /// gives `None`.
    ///
    /// # Panics
    /// Where FUSE is not to be had and the environment variable `CI` is set; and where
    /// `at` is not an empty directory.
    pub fn mount_in_test(at: &Path) -> Option<FaultFs> {
        match FaultFs::mount(at) {
            Ok(fs) => Some(fs),
            Err(error) => {
                mount::say_not_run(&error);
                None
            }
        }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }

    /// Lets something go wrong; several faults may be armed.
    pub fn arm(&self, fault: Fault) {
        self.disk.state().faults.arm(fault);
    }

    /// Takes back every fault that has not happened.
    pub fn disarm(&self) {
        self.disk.state().faults.disarm();
    }

    /// The faults that have happened, in their order, since the file system was mounted.
    pub fn fired(&self) -> Vec<Fault> {
        self.disk.state().faults.fired.clone()
    }

    /// Cuts the power: from now on every operation answers EIO and changes nothing.
    pub fn power_off(&self) {
        self.disk.power_off();
    }

    /// Whether the power is on.
    pub fn is_powered(&self) -> bool {
        self.disk.is_powered()
    }

    /// Waits until a fault has cut the power, at most so long; says whether one has.
    pub fn wait_for_power_off(&self, at_most: Duration) -> bool {
        self.disk.wait_for_power_off(at_most)
    }

    /// Brings the power back, after cutting it if it is on. What survives `cut` is
    /// visible and durable, what was open before is stale, and no fault is armed.
    pub fn power_on(&self, cut: &Cut) -> CutReport {
        self.disk.power_on(*cut)
    }

    /// Keeps the state as it is, also what is not synced, for [`restore`](FaultFs::restore).
    /// It shares its pages with the file system, so it is cheap.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.disk.state().tree.clone())
    }

    /// Cuts the power, and makes the state what it was at a snapshot. So a program is
    /// run once, and started on what many different cuts leave of that:
    ///
    /// ```no_run
    /// # use annals_testkit::fault_fs::{Cut, FaultFs};
    /// # fn check(fs: &FaultFs) {}
    /// # fn cuts(fs: &FaultFs) {
    /// fs.power_off(); // and the program has ended
    /// let crashed = fs.snapshot();
    /// for seed in 0..100 {
    ///     fs.restore(&crashed);
    ///     let report = fs.power_on(&Cut::Random { seed });
    ///     check(fs);
    /// }
    /// # }
    /// ```
    pub fn restore(&self, snapshot: &Snapshot) {
        self.disk.restore(&snapshot.0);
    }

    /// The operations seen since the file system was mounted.
    pub fn counts(&self) -> Counts {
        self.disk.state().counts.clone()
    }

    /// Whether the file or directory at `path`, below the mount point or relative to it,
    /// would be found there unchanged after any cut: its content or its names are
    /// synced, and so is every name on the way to it. False where nothing is there.
    pub fn is_synced(&self, path: &Path) -> bool {
        let path = path.strip_prefix(self.path()).unwrap_or(path);
        synced::is_synced(&self.disk.state().tree, path)
    }

    /// What a cut could take now: files whose content is not synced, and names.
    pub fn unsynced(&self) -> Vec<Unsynced> {
        synced::unsynced(&self.disk.state().tree)
    }

    /// Makes the file system this large. Writes that do not fit fail with ENOSPC.
    pub fn set_capacity(&self, bytes: u64) {
        self.disk.state().tree.capacity = bytes / PAGE;
    }
}

/// A file system's state at one time, with what was not synced.
#[derive(Clone, Debug)]
pub struct Snapshot(Tree);

impl Drop for FaultFs {
    /// Ends what uses it, so that nothing goes on in a file system without a path.
    fn drop(&mut self) {
        self.disk.power_off();
    }
}
