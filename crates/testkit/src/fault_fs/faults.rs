//! What can be made to go wrong, and when.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fuser::Errno;

/// One thing that is to go wrong: the `nth` operation of a kind.
///
/// ```
/// use annals_testkit::fault_fs::{Effect, Errno, Fault, Operation, PathPattern};
///
/// // The third sync of a write-ahead log fails.
/// let fault = Fault {
///     on: Operation::Sync,
///     path: Some(PathPattern::EndsWith(".log".into())),
///     nth: 3,
///     then: Effect::Fail(Errno::EIO),
/// };
/// # let _ = fault;
/// ```
#[derive(Clone, Debug)]
pub struct Fault {
    /// The operation that it happens to.
    pub on: Operation,
    /// Only operations on matching paths count.
    pub path: Option<PathPattern>,
    /// Which of them, counted from 1 and from the moment of arming.
    pub nth: u64,
    /// What happens.
    pub then: Effect,
}

/// Which paths a fault means. Paths are relative to the mount point, such as
/// `log/000012.log`; a rename and a link are at their new name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPattern {
    /// Paths that end so, such as `.log`.
    EndsWith(String),
    /// Paths that have this somewhere.
    Contains(String),
}

impl PathPattern {
    pub(super) fn matches(&self, path: &Path) -> bool {
        let path = path.to_string_lossy();
        match self {
            PathPattern::EndsWith(end) => path.ends_with(end.as_str()),
            PathPattern::Contains(part) => path.contains(part.as_str()),
        }
    }
}

/// What a process asks of the file system.
///
/// The kernel splits a large `write` or `read` into operations of 1 MiB. `open` with
/// `O_TRUNC` is an [`Open`](Operation::Open) and a [`Truncate`](Operation::Truncate). A
/// write to a file that is open with `O_SYNC` or `O_DSYNC` is one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// `read`, at any offset.
    Read,
    /// `write`, at any offset.
    Write,
    /// `truncate`, `ftruncate`, and what `O_TRUNC` does.
    Truncate,
    /// `fallocate`.
    Allocate,
    /// `fsync` and `fdatasync` of a file.
    Sync,
    /// `fsync` and `fdatasync` of a directory.
    SyncDir,
    /// `open` of a file that exists.
    Open,
    /// `open` that creates a file; also `mknod` and `symlink`.
    Create,
    /// `mkdir`.
    MakeDir,
    /// `rmdir`.
    RemoveDir,
    /// `link`.
    Link,
    /// `unlink`.
    Unlink,
    /// `rename`.
    Rename,
    /// `chmod`, `chown` and `utimens`.
    SetAttributes,
    /// Opening a directory to list it.
    List,
    /// Any of the above that changes something or syncs: what a power cut falls
    /// between. Attributes are not counted.
    Change,
}

impl Operation {
    pub(super) fn includes(self, operation: Operation) -> bool {
        self == operation
            || (self == Operation::Change
                && !matches!(
                    operation,
                    Operation::Read | Operation::Open | Operation::List | Operation::SetAttributes
                ))
    }
}

/// What an armed fault does. All but [`KeepFailing`](Effect::KeepFailing) do it once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Effect {
    /// Nothing is done and the operation fails so. A sync that fails so leaves
    /// everything to the next one.
    Fail(Errno),
    /// As [`Fail`](Effect::Fail), and every later one too, until
    /// [`disarm`](super::FaultFs::disarm) or the next power on.
    KeepFailing(Errno),
    /// A sync that fails with EIO as Linux' do: what it should have written is
    /// marked clean. It stays visible, no later sync writes it unless a process
    /// writes it again, and it is gone at the cut. Other operations just fail.
    FailAndForget,
    /// A write of which only the first bytes happen. The process learns how many;
    /// its next write to the same file fails. With 0 bytes it fails at once.
    Partial {
        /// The bytes that are written, at most.
        bytes: usize,
        /// What the next one fails with.
        then: Errno,
    },
    /// A sync that says that it succeeded and does nothing: a disk whose cache
    /// lies. Other operations fail with EIO.
    Lie,
    /// The power goes, as with [`FaultFs::power_off`](super::FaultFs::power_off). The
    /// operation answers EIO either way, as nothing answers after a cut.
    PowerOff(When),
    /// A function is called while the process waits for the operation, which is done
    /// when the function has returned.
    Hook(Hook),
}

/// On which side of an operation the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Nothing of it happens.
    Before,
    /// All of it happens, and the process does not hear of it.
    After,
}

/// A function that is called within an operation, for example to kill the process.
///
/// A process that is killed there ends when the operation does. So send the signal
/// ([`Child::kill`](std::process::Child::kill)) and return; wait for the process
/// outside. The function must not use files below the mount point, which may wait for
/// this operation. It should not own the [`FaultFs`](super::FaultFs), which owns it while it is
/// armed: [`Event::power_off`] is there for it. If it panics, the operation answers EIO. Up
/// to seven operations can wait so while others go on.
#[derive(Clone)]
pub struct Hook(Option<Arc<Function>>);

type Function = dyn Fn(&Event<'_>) + Send + Sync;

impl Hook {
    /// Calls `function`.
    pub fn new(function: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Hook {
        Hook(Some(Arc::new(function)))
    }

    /// Whether it returned.
    pub(super) fn call(&self, event: &Event<'_>) -> bool {
        let Some(function) = &self.0 else { return true };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| function(event))).is_ok()
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Hook")
    }
}

/// An operation, as it is passed to a hook.
#[non_exhaustive]
pub struct Event<'a> {
    /// The requested operation.
    pub operation: Operation,
    /// Of what, from the root of the file system.
    pub path: PathBuf,
    /// The thread that asks, as the kernel numbers it.
    pub thread: u32,
    pub(super) cut_power: &'a (dyn Fn() + Send + Sync),
    pub(super) failed: Mutex<Option<Errno>>,
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Event")
            .field("operation", &self.operation)
            .field("path", &self.path)
            .field("thread", &self.thread)
            .finish_non_exhaustive()
    }
}

impl Event<'_> {
    /// Cuts the power, as [`FaultFs::power_off`](super::FaultFs::power_off) does: the operation
    /// is not done, and answers EIO.
    pub fn power_off(&self) {
        (self.cut_power)();
    }

    /// The operation is not done, and fails so. With the process killed by the same
    /// function, it is as if that had died just before it.
    pub fn fail(&self, errno: Errno) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(errno);
    }

    pub(super) fn failed(&self) -> Option<Errno> {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many operations of each kind a file system has seen since it was mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<Operation, u64>);

impl Counts {
    /// How many there were of this kind.
    pub fn of(&self, operation: Operation) -> u64 {
        self.0
            .iter()
            .filter(|(seen, _)| operation.includes(**seen))
            .map(|(_, count)| count)
            .sum()
    }

    /// The kinds that were seen, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Operation, u64)> + '_ {
        self.0.iter().map(|(operation, count)| (*operation, *count))
    }

    pub(super) fn add(&mut self, operation: Operation) {
        *self.0.entry(operation).or_default() += 1;
    }
}

/// The faults that are armed and those that have happened.
#[derive(Debug, Default)]
pub(super) struct Faults {
    armed: Vec<Armed>,
    pub(super) fired: Vec<Fault>,
    /// Files whose next write fails, after a partial one.
    pub(super) full: BTreeMap<u64, Errno>,
}

#[derive(Debug)]
struct Armed {
    fault: Fault,
    /// Matching operations until it happens, this one included.
    left: u64,
    fired: bool,
}

impl Faults {
    pub(super) fn arm(&mut self, fault: Fault) {
        self.armed.push(Armed {
            left: fault.nth.max(1),
            fault,
            fired: false,
        });
    }

    pub(super) fn disarm(&mut self) {
        self.armed.clear();
        self.full.clear();
    }

    /// Counts an operation, and says what is to happen to it. Where several
    /// faults are due, the others wait for the next operation that they match.
    pub(super) fn due(
        &mut self,
        operation: Operation,
        path: impl Fn() -> PathBuf,
    ) -> Option<Effect> {
        let mut known = None;
        let mut due = None;
        for (number, armed) in self.armed.iter_mut().enumerate() {
            let matches = armed.fault.on.includes(operation)
                && armed
                    .fault
                    .path
                    .as_ref()
                    .is_none_or(|pattern| pattern.matches(known.get_or_insert_with(&path)));
            if matches {
                armed.left = armed.left.saturating_sub(1);
                if armed.left == 0 && due.is_none() {
                    due = Some(number);
                }
            }
        }
        let armed = self.armed.get_mut(due?)?;
        let effect = armed.fault.then.clone();
        if !std::mem::replace(&mut armed.fired, true) {
            let mut fired = armed.fault.clone();
            if let Effect::Hook(hook) = &mut fired.then {
                hook.0 = None; // what the function owns is not kept
            }
            self.fired.push(fired);
        }
        if !matches!(effect, Effect::KeepFailing(_)) {
            self.armed.remove(due?);
        }
        Some(effect)
    }
}
