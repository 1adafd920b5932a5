//! The faults: what is done to a process, or to the disk below it.

use std::time::Duration;

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde::Serialize;

use super::plan::moment;

/// What is done, without where and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The processes end by themselves.
    None,
    /// SIGKILL at some moment.
    Kill,
    /// SIGKILL within an operation on the disk.
    KillIn,
    /// The power goes at some moment.
    Cut,
    /// The power goes with an operation.
    CutIn,
    /// An operation fails with EIO.
    Io,
    /// An operation fails with ENOSPC.
    NoSpace,
    /// The disk is full from then on.
    Full,
    /// A sync fails, and what it was of counts as clean from then on.
    Forget,
    /// A write comes to its half.
    Partial,
    /// A sync says that it was done and was not.
    Lie,
    /// A bit of a write-ahead log is turned over.
    Damage,
}

impl FaultKind {
    /// All of them. Those that find most are there twice.
    pub const ALL: &[FaultKind] = &[
        FaultKind::None,
        FaultKind::Kill,
        FaultKind::KillIn,
        FaultKind::KillIn,
        FaultKind::Cut,
        FaultKind::CutIn,
        FaultKind::CutIn,
        FaultKind::Io,
        FaultKind::NoSpace,
        FaultKind::Full,
        FaultKind::Forget,
        FaultKind::Partial,
        FaultKind::Lie,
        FaultKind::Damage,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::None => "none",
            FaultKind::Kill => "kill",
            FaultKind::KillIn => "kill-in",
            FaultKind::Cut => "cut",
            FaultKind::CutIn => "cut-in",
            FaultKind::Io => "io",
            FaultKind::NoSpace => "no-space",
            FaultKind::Full => "full",
            FaultKind::Forget => "forget",
            FaultKind::Partial => "partial",
            FaultKind::Lie => "lie",
            FaultKind::Damage => "damage",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<FaultKind> {
        FaultKind::ALL
            .iter()
            .copied()
            .find(|kind| kind.name() == name)
    }

    /// Whether only the fault file system can do it.
    pub fn needs_fault_fs(self) -> bool {
        !matches!(self, FaultKind::None | FaultKind::Kill | FaultKind::Damage)
    }
}

/// A fault with where and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// None: the processes end by themselves.
    None,
    /// SIGKILL so long after the process began.
    Kill(Duration),
    /// The power goes so long after the process began.
    Cut(Duration),
    /// Something happens in the nth operation of a sort.
    In {
        /// Which fault.
        kind: FaultKind,
        /// The sort.
        on: On,
        /// Which one of that sort, from 1.
        nth: u64,
        /// Whether the operation is done first, or all that follow fail too.
        after: bool,
    },
    /// The disk takes so many bytes and no more.
    Full(u64),
    /// A bit of the newest write-ahead log that has any is turned over, near its end or
    /// anywhere, as this number says.
    Damage(u64),
}

/// A sort of operation on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Syncing a file.
    Sync,
    /// Syncing a write-ahead log.
    SyncLog,
    /// Syncing a folder.
    SyncDir,
    /// Opening.
    Open,
    /// Making a file.
    Create,
    /// Changing a name.
    Rename,
    /// Removing a name.
    Unlink,
    /// Changing a size.
    Truncate,
}

/// Operations that change the disk, and those that bring it there.
const CHANGES: [On; 9] = [
    On::Write,
    On::Write,
    On::Sync,
    On::Sync,
    On::SyncDir,
    On::Rename,
    On::Create,
    On::Unlink,
    On::Truncate,
];

impl Fault {
    /// One of a kind.
    pub fn new(kind: FaultKind, rng: &mut StdRng) -> Fault {
        let any = *CHANGES.choose(rng).unwrap_or(&On::Sync);
        let on = match kind {
            FaultKind::None => return Fault::None,
            FaultKind::Kill => return Fault::Kill(moment(rng)),
            FaultKind::Cut => return Fault::Cut(moment(rng)),
            FaultKind::Full => return Fault::Full(1 << rng.random_range(10..21)),
            FaultKind::Damage => return Fault::Damage(rng.random()),
            FaultKind::KillIn | FaultKind::CutIn => match rng.random_range(0..8) {
                0 => On::Sync,
                1..4 => On::SyncLog,
                _ => any,
            },
            FaultKind::Io => match rng.random_range(0..8) {
                0 => On::Open,
                1 => On::Read,
                _ => any,
            },
            FaultKind::NoSpace => *[On::Write, On::Create, On::Sync]
                .choose(rng)
                .unwrap_or(&On::Write),
            FaultKind::Forget => *[On::Sync, On::SyncLog].choose(rng).unwrap_or(&On::Sync),
            FaultKind::Lie => On::Sync,
            FaultKind::Partial => On::Write,
        };
        // Small numbers are as likely as large ones: most happens in the beginning.
        let most = match on {
            On::SyncLog => 1_u64 << rng.random_range(0..5),
            _ => 1 << rng.random_range(1..9),
        };
        Fault::In {
            kind,
            on,
            nth: rng.random_range(1..=most),
            after: rng.random(),
        }
    }

    /// Whether it may leave bytes that a new process finds and a power cut takes away.
    pub fn leaves_unsynced(&self) -> bool {
        use FaultKind::{Forget, Io, Kill, KillIn};
        matches!(self.kind(), Kill | KillIn | Io | Forget)
    }

    /// Its kind.
    pub fn kind(&self) -> FaultKind {
        match self {
            Fault::None => FaultKind::None,
            Fault::Kill(_) => FaultKind::Kill,
            Fault::Cut(_) => FaultKind::Cut,
            Fault::Full(_) => FaultKind::Full,
            Fault::Damage(_) => FaultKind::Damage,
            Fault::In { kind, .. } => *kind,
        }
    }

    /// Whether the power goes with it.
    pub fn cuts(&self) -> bool {
        matches!(
            self.kind(),
            FaultKind::Cut | FaultKind::CutIn | FaultKind::Lie
        )
    }

    /// Whether the disk says what is not so.
    pub fn lies(&self) -> bool {
        self.kind() == FaultKind::Lie
    }

    /// Whether bytes are changed.
    pub fn damages(&self) -> bool {
        self.kind() == FaultKind::Damage
    }

    /// Whether the disk does what it says, as long as it has power.
    pub fn keeps_its_word(&self) -> bool {
        use FaultKind::{Cut, CutIn, Kill, KillIn, None};
        matches!(self.kind(), None | Kill | KillIn | Cut | CutIn)
    }
}

/// What becomes of what was not synced when the power goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Power {
    /// All of it is lost.
    DropAll,
    /// None of it is lost.
    KeepAll,
    /// Any of it, torn anywhere.
    Random(u64),
}

impl Power {
    /// One of them.
    pub fn new(rng: &mut StdRng) -> Power {
        match rng.random_range(0..5) {
            0 | 1 => Power::DropAll,
            2 => Power::KeepAll,
            _ => Power::Random(rng.random()),
        }
    }
}
