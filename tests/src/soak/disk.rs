//! The disk that logs are on: a plain folder, or one that fails on command.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::fault::{Fault, Power};
use super::process::Victim;

/// A disk.
pub struct Disk {
    /// Where it is; it goes with this.
    folder: TempDir,
}

impl Disk {
    /// A plain folder: processes can be killed, and the power stays on.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn plain() -> std::io::Result<Disk> {
        let folder = tempfile::Builder::new().prefix("annals-soak-").tempdir()?;
        Ok(Disk { folder })
    }

    /// Whether it can fail, and lose what was not synced.
    pub fn can_fail(&self) -> bool {
        false
    }

    /// Where logs can be made.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A folder for a cycle.
    pub fn home(&self, seed: u64) -> PathBuf {
        self.path().join(format!("{seed:016x}"))
    }

    /// Lets a fault come to the process that begins next.
    pub fn arm(&self, _fault: &Fault) {}

    /// Names the process that a fault may kill.
    pub fn aim(&self, _victim: Victim) {}

    /// No fault comes any more.
    pub fn disarm(&self) {}

    /// Whether the fault has come.
    pub fn fired(&self) -> bool {
        false
    }

    /// The power goes: from now on every operation fails.
    pub fn power_off(&self) {}

    /// Whether the power is on.
    pub fn is_powered(&self) -> bool {
        true
    }

    /// The power comes back, after what was not synced met its fate.
    pub fn power_on(&self, _power: Power) -> String {
        String::new()
    }
}
