//! The disk that logs are on: a plain folder, or one that fails on command.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use annals_testkit::fault_fs::{
    Cut, Effect, Errno, Fault as FsFault, FaultFs, Hook, MountError, Operation, PathPattern, When,
};
use tempfile::TempDir;

use super::fault::{Fault, FaultKind, On, Power};
use super::process::Victim;

/// Space of a disk that is not full.
const ROOM: u64 = 4 << 30;
/// How long it may take until a process that was started is known as the one to kill.
const UNTIL_KNOWN: Duration = Duration::from_secs(1);

/// A disk.
pub struct Disk {
    faulty: Option<FaultFs>,
    /// Faults that had come before the one that is armed.
    before: Mutex<usize>,
    is_full: Mutex<bool>,
    victim: Arc<Mutex<Option<Victim>>>,
    /// Where it is; it goes with this.
    folder: TempDir,
}

impl Disk {
    fn new(
        faulty: impl FnOnce(&Path) -> Result<Option<FaultFs>, MountError>,
    ) -> Result<Disk, DiskError> {
        let folder = tempfile::Builder::new().prefix("annals-soak-").tempdir()?;
        Ok(Disk {
            faulty: faulty(folder.path())?,
            before: Mutex::default(),
            is_full: Mutex::default(),
            victim: Arc::default(),
            folder,
        })
    }

    /// A plain folder: processes can be killed, and the power stays on.
    ///
    /// # Errors
    /// [`DiskError`].
    pub fn plain() -> Result<Disk, DiskError> {
        Disk::new(|_| Ok(None))
    }

    /// A disk that fails on command, over FUSE.
    ///
    /// # Errors
    /// [`DiskError`].
    pub fn faulty() -> Result<Disk, DiskError> {
        Disk::new(|at| FaultFs::mount(at).map(Some))
    }

    /// Whether it can fail, and lose what was not synced.
    pub fn can_fail(&self) -> bool {
        self.faulty.is_some()
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
    pub fn arm(&self, fault: &Fault) {
        let Some(disk) = &self.faulty else { return };
        *locked(&self.victim) = None;
        *locked(&self.before) = disk.fired().len();
        match fault {
            Fault::Full(bytes) => {
                *locked(&self.is_full) = true;
                disk.set_capacity(used(self.path()) + bytes);
            }
            Fault::In {
                kind,
                on,
                nth,
                after,
            } => disk.arm(FsFault {
                on: operation(*on),
                path: (*on == On::SyncLog).then(|| PathPattern::EndsWith(".log".into())),
                nth: *nth,
                then: self.effect(*kind, *after),
            }),
            Fault::None | Fault::Kill(_) | Fault::Cut(_) | Fault::Damage(_) => {}
        }
    }

    fn effect(&self, kind: FaultKind, after: bool) -> Effect {
        let fails = |errno| match after {
            true => Effect::KeepFailing(errno),
            false => Effect::Fail(errno),
        };
        match kind {
            FaultKind::KillIn => {
                let victim = Arc::clone(&self.victim);
                Effect::Hook(Hook::new(move |event| {
                    if kill(&victim) && !after {
                        event.fail(Errno::EIO); // It died before it could ask for it.
                    }
                }))
            }
            FaultKind::CutIn => Effect::PowerOff(if after { When::After } else { When::Before }),
            FaultKind::NoSpace => fails(Errno::ENOSPC),
            FaultKind::Forget => Effect::FailAndForget,
            FaultKind::Partial => Effect::Partial {
                bytes: if after { 100 } else { 1 },
                then: Errno::EIO,
            },
            FaultKind::Lie => Effect::Lie,
            _ => fails(Errno::EIO),
        }
    }

    /// Names the process that a fault may kill.
    pub fn aim(&self, victim: Victim) {
        *locked(&self.victim) = Some(victim);
    }

    /// No fault comes any more.
    pub fn disarm(&self) {
        let Some(disk) = &self.faulty else { return };
        disk.disarm();
        if std::mem::take(&mut *locked(&self.is_full)) {
            disk.set_capacity(ROOM);
        }
    }

    /// Whether the fault has come.
    pub fn fired(&self) -> bool {
        let Some(disk) = &self.faulty else {
            return false;
        };
        *locked(&self.is_full) || disk.fired().len() > *locked(&self.before)
    }

    /// The power goes: from now on every operation fails.
    pub fn power_off(&self) {
        if let Some(disk) = &self.faulty {
            disk.power_off();
        }
    }

    /// Whether the power is on.
    pub fn is_powered(&self) -> bool {
        self.faulty.as_ref().is_none_or(FaultFs::is_powered)
    }

    /// The power comes back, after what was not synced met its fate; says what that was.
    pub fn power_on(&self, power: Power) -> String {
        let Some(disk) = &self.faulty else {
            return String::new();
        };
        let cut = match power {
            Power::DropAll => Cut::DropAll,
            Power::KeepAll => Cut::KeepAll,
            Power::Random(seed) => Cut::Random { seed },
        };
        disk.power_on(&cut).to_string()
    }
}

/// Why there is no disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// There is no folder for it.
    #[error("no temporary folder can be made: {0}")]
    Folder(#[from] std::io::Error),
    /// The file system that fails cannot be mounted.
    #[error(transparent)]
    Mount(#[from] MountError),
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills the process, which is started at this moment if it is not known yet.
/// Kills it; whether it was there. A fault may come to the process behind it.
fn kill(victim: &Mutex<Option<Victim>>) -> bool {
    let began = Instant::now();
    while began.elapsed() < UNTIL_KNOWN {
        let known = locked(victim).clone();
        if let Some(child) = known {
            let mut child = locked(&child);
            let is_there = matches!(child.try_wait(), Ok(None));
            return child.kill().is_ok() && is_there;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    false
}

fn operation(on: On) -> Operation {
    match on {
        On::Read => Operation::Read,
        On::Write => Operation::Write,
        On::Sync | On::SyncLog => Operation::Sync,
        On::SyncDir => Operation::SyncDir,
        On::Open => Operation::Open,
        On::Create => Operation::Create,
        On::Rename => Operation::Rename,
        On::Unlink => Operation::Unlink,
        On::Truncate => Operation::Truncate,
    }
}

/// Bytes of all files in a folder, in whole pages.
fn used(folder: &Path) -> u64 {
    let files = super::copies::files(folder);
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |found| found.len());
    files
        .iter()
        .map(size)
        .map(|bytes| bytes.div_ceil(4_096) * 4_096)
        .sum()
}
