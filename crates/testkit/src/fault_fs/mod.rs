//! A file system whose power can be cut, mounted over FUSE: programs run on it unchanged.

mod content;
mod cut;
mod disk;
mod faults;
mod file;
mod journal;
mod kernel;
mod mount;
mod remains;
mod restart;
mod synced;
mod tree;

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
    /// Mounts an empty file system at `at`, an empty directory, until it is dropped.
    pub fn mount(at: &Path) -> Result<FaultFs, MountError> {
        let (path, owner) = mount::check(at)?;
        let disk = Arc::new(Disk::new(Tree::new(CAPACITY / PAGE, owner)));
        let mounted = Mounted::new(path, Arc::clone(&disk))?;
        Ok(FaultFs { disk, mounted })
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
