//! What a process under test is to do.

use std::path::{Path, PathBuf};

use annals_store_rocks::Options;
use serde::{Deserialize, Serialize};

use super::batch::{Kind, named_removals};
use super::said::History;

/// What a worker is given on its standard input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// The folder in which the log and its copies are.
    pub home: PathBuf,
    /// Of what the worker draws from chance.
    pub seed: u64,
    /// Whether the log's files are compressed. Where not, texts can be looked for in them.
    pub compression: bool,
    /// What to do.
    pub task: Task,
    /// What was said of the log so far.
    pub history: History,
}

/// What a worker is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Does these steps.
    Work(Vec<Step>),
    /// Opens the log for reading next to a writer, and reads until it is ended.
    Read,
    /// Checks the log.
    Check(Check),
}

/// How a log is checked.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Check {
    /// A reader looks before any writer has opened the log.
    pub reader_first: bool,
    /// The disk lied or was damaged: what is lost must be named, and no more is asked.
    pub lied: bool,
    /// Bytes of the log were changed behind its back: it must be found out.
    pub damaged: bool,
    /// No operation on the disk failed so far but by the power's going.
    pub disk_kept_its_word: bool,
    /// What the log holds is that of objects, with a catalogue.
    pub objects: bool,
}

/// One thing that a worker does. A step that fails is said, and the next one is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Opens the log for writing, making it where there is none.
    Open,
    /// Closes it.
    Close,
    /// Ends the process without closing it.
    Leave,
    /// Several lists of steps at the same time, on one handle.
    Together(Vec<Vec<Step>>),
    /// Appends.
    Append {
        /// At the same time.
        clients: u16,
        /// By each client, one after the other.
        batches: u16,
        /// Of one batch, at most.
        events: u16,
        /// What they are.
        kind: Kind,
    },
    /// Sends what is not known to be stored again.
    Repeat,
    /// Reads all, and says what it was shown.
    Read,
    /// Writes rows of a read model, all of them at each commit.
    Rows {
        /// Of one commit.
        rows: u32,
        /// One after the other.
        commits: u16,
    },
    /// Folds the texts of records into rows.
    Fold {
        /// So many commits.
        commits: u16,
    },
    /// Removes the content of a few events.
    Redact {
        /// How many.
        events: u16,
    },
    /// Gives up the bytes of what was removed.
    Purge,
    /// Makes the indexes from the records, on a closed log.
    RebuildIndexes,
    /// Makes the catalogue's rows from the records.
    RebuildRows,
    /// Copies the log.
    Backup,
    /// Copies a copy.
    Restore,
    /// Removes an end that cannot be read, on a closed log.
    Truncate,
    /// The same of a log that was damaged, on a disk that is well: what begins to be removed
    /// is removed.
    TruncateDamaged,
    /// Waits until the file WATERMARK has been synced.
    Rest,
    /// Signs a checkpoint.
    Sign,
    /// Collects blobs that no record refers to.
    Collect,
    /// Writes everything into tables.
    Compact,
}

impl Job {
    /// The log's folder.
    pub fn log(&self) -> PathBuf {
        self.home.join("log")
    }

    /// How the log is opened: as every program opens it that does not choose, but for the
    /// compression.
    pub fn options(&self) -> Options {
        options(self.compression)
    }
}

/// How a log is opened.
pub fn options(compression: bool) -> Options {
    Options::default()
        .with_compression(compression)
        // Many logs are open at the same time, and all are small.
        .with_cache_bytes(4 * 1024 * 1024)
        // Or no redaction here would have more than one step.
        .with_redaction_step_bytes(1)
        .with_named_removals(named_removals)
}

/// A path as a log's URL.
pub fn url(path: &Path) -> String {
    format!("rocks:{}", path.display())
}
