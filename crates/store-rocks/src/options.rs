//! What can be chosen when a log is opened.

use annals_event_log::NamedRemovals;
use derive_setters::Setters;
use uuid::Uuid;

use crate::mutants;

/// Choices for opening a log. None of them changes the stored format.
#[derive(Debug, Clone, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Options {
    /// Whether every group is synced to the disk before it is acknowledged.
    /// `false` is for tests only: a power cut then loses acknowledged batches.
    pub sync: bool,
    /// The id of a log that is created; a new one (version 7) where it is `None`.
    /// Opening an existing log does not look at it.
    #[setters(into)]
    pub log_id: Option<Uuid>,
    /// Threads that serve reads, at least 1.
    pub read_threads: usize,
    /// Bytes of decompressed blocks that are kept in memory.
    pub cache_bytes: usize,
    /// Table files that a writer keeps open. A reader keeps all of them open,
    /// because the writer may delete them under its feet.
    pub max_open_files: u16,
    /// Bytes of appends that may wait for the writer; beyond them an append
    /// waits for room.
    pub queue_bytes: usize,
    /// Bytes of records that a redaction rewrites at once, about: who appends meanwhile waits for
    /// one such write, and not for all of them.
    pub redaction_step_bytes: usize,
    /// The pieces that a record names as removed. With it, verification finds pieces that were removed without such a record,
    /// and an interrupted redaction is completed only if its records name what it removes.
    #[setters(strip_option)]
    pub named_removals: Option<NamedRemovals>,
    /// Whether the hashes of the Merkle tree are kept. `false` is for measuring what
    /// they cost: the next opening with `true` makes those that are missing, and until
    /// then nothing can be proved.
    pub tree: bool,
    /// Whether files that are written from now on are compressed. `false` is for
    /// looking at what they hold; any file is read either way.
    pub compression: bool,
    /// Whether RocksDB counts what it does, for [`crate::RocksLog::wal_syncs`].
    /// It costs a few percent.
    pub statistics: bool,
    /// Whether content of 4 KiB and more is written to blob files, as programs before 0.1 did.
    /// `true` is for tests: RocksDB's readers do not find the newest state of a log whose last blob file is gone.
    #[doc(hidden)]
    pub blob_files: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            sync: !mutants::is(mutants::DEFAULT_NO_SYNC),
            log_id: None,
            read_threads: 2,
            cache_bytes: 64 * 1024 * 1024,
            max_open_files: 512,
            queue_bytes: 128 * 1024 * 1024,
            redaction_step_bytes: 1024 * 1024,
            named_removals: None,
            tree: true,
            compression: true,
            statistics: false,
            blob_files: false,
        }
    }
}
