//! What a power cut leaves: the caller's choice, and the report of what came of it.

use std::fmt;
use std::path::PathBuf;

/// What survives when the power goes. What was synced always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
    /// Exactly what was synced: the most that a disk may lose.
    DropAll,
    /// Everything, as if all had been synced just before. What a failed sync
    /// forgot ([`Effect::FailAndForget`](super::Effect::FailAndForget)) is gone even so.
    KeepAll,
    /// Any part of what was not synced, drawn from `seed` with the knobs that
    /// [`Knobs::default`] has. The same file system and seed give the same result.
    Random {
        /// What repeats the draw.
        seed: u64,
    },
    /// As [`Cut::Random`], with other knobs.
    Tuned {
        /// What repeats the draw.
        seed: u64,
        /// What may happen.
        knobs: Knobs,
    },
}

impl Cut {
    /// The seed that repeats it, where it draws.
    pub fn seed(&self) -> Option<u64> {
        match self {
            Cut::DropAll | Cut::KeepAll => None,
            Cut::Random { seed } | Cut::Tuned { seed, .. } => Some(*seed),
        }
    }
}

/// What a random cut may do. The default is everything that ext4, XFS and the disks
/// under them are known to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// Which unsynced writes and truncations of a file survive.
    pub writes: Survival,
    /// Which unsynced operations on names survive. What concerns one name or one
    /// file stays in order, as in a journal, with any choice.
    pub entries: Survival,
    /// A write may survive in part: up to any byte, or to the end of a sector of
    /// 512 bytes.
    pub tear: bool,
    /// A file may have grown although the bytes that it grew by were lost.
    pub size_without_data: bool,
    /// What such a file has in pages that were never written.
    pub unwritten: Unwritten,
}

impl Default for Knobs {
    fn default() -> Knobs {
        Knobs {
            writes: Survival::Mixed,
            entries: Survival::Mixed,
            tear: true,
            size_without_data: true,
            unwritten: Unwritten::Either,
        }
    }
}

/// Which of the unsynced changes survive a random cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// None.
    None,
    /// All.
    All,
    /// The first ones, in their order, up to any of them.
    Prefix,
    /// Any of them. Of writes: each page of 4 KiB as any of them left it, since
    /// that is what a kernel writes back.
    Subset,
    /// One of the above, drawn for each file and for the names.
    Mixed,
}

/// What a page has that is within a file's size and was never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// Zeros.
    Zeros,
    /// Bytes of any value, as of a block that was another file's.
    Garbage,
    /// One of them, drawn for each file.
    Either,
}

/// What [`FaultFs::power_on`](super::FaultFs::power_on) left. Print it when a test fails.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CutReport {
    /// The requested cut.
    pub cut: Cut,
    /// Operations on names that were not synced and survive.
    pub entries_kept: Vec<String>,
    /// Operations on names that were not synced and are undone.
    pub entries_lost: Vec<String>,
    /// The files that were not synced, by their paths after the cut.
    pub files: Vec<FileCut>,
}

impl CutReport {
    /// Whether there was anything that the cut could take.
    pub fn is_empty(&self) -> bool {
        self.entries_kept.is_empty() && self.entries_lost.is_empty() && self.files.is_empty()
    }
}

/// What a cut made of one file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileCut {
    /// Where it is after the cut, from the root of the file system.
    pub path: PathBuf,
    /// Its writes and truncations that were not synced.
    pub unsynced: usize,
    /// Which of them survive, in words.
    pub fate: String,
    /// Its size before the cut, in bytes.
    pub size_before: u64,
    /// Its size after the cut, in bytes.
    pub size_after: u64,
}

impl fmt::Display for CutReport {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(to, "power cut {:?}", self.cut)?;
        for file in &self.files {
            writeln!(
                to,
                "  {}: {} (of {} unsynced changes), {} bytes before, {} after",
                file.path.display(),
                file.fate,
                file.unsynced,
                file.size_before,
                file.size_after
            )?;
        }
        for entry in &self.entries_kept {
            writeln!(to, "  kept: {entry}")?;
        }
        for entry in &self.entries_lost {
            writeln!(to, "  lost: {entry}")?;
        }
        Ok(())
    }
}
