//! What a verification says.

use annals_event_log::{BatchId, Digest, Position};

use crate::columns;

/// Findings that a report holds; the rest are only counted.
pub(super) const MAX_FINDINGS: usize = 100;

/// What a verification read, and what it found wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Up to where the log was checked.
    pub watermark: Position,
    /// Records that were read.
    pub records: u64,
    /// Chunks that hold them.
    pub chunks: u64,
    /// Streams that they are in.
    pub streams: u64,
    /// Batches that they came in.
    pub batches: u64,
    /// Blobs that are stored.
    pub blobs: u64,
    /// How many of them no record refers to, which is not a fault; `None` where there are
    /// too many blobs to remember, or where only a part of the log was checked.
    pub unreferenced_blobs: Option<u64>,
    /// The root of the Merkle tree over the records' headers, computed again; `None`
    /// where they could not all be read.
    pub root: Option<Digest>,
    /// How many of the records have their hashes in the stored tree. A log that an
    /// older program wrote gets the others when it is opened for writing.
    pub tree: u64,
    /// Records before those that were checked; 0 where all of them were.
    pub after: Position,
    /// What is wrong: the first hundred findings.
    pub findings: Vec<Finding>,
    /// How many findings there are in all.
    pub total_findings: u64,
    /// How many of these are of read models, which can be folded again.
    pub of_models: u64,
    /// How many are of indexes, which [`crate::RocksLog::rebuild_indexes`] may repair.
    pub of_indexes: u64,
    /// Where the files of the log end, if that is behind the watermark and no process writes:
    /// [`crate::RocksLog::unpublished`].
    pub unpublished: Option<Position>,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.total_findings == 0
    }

    /// Adds a finding.
    pub(crate) fn add(&mut self, finding: Finding) {
        self.total_findings += 1;
        let is_of_a_model = matches!(finding.fault, Fault::Model { .. });
        self.of_models += u64::from(is_of_a_model);
        self.of_indexes += u64::from(finding.fault.is_of_an_index());
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }
}

/// Something that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The record, or the first one of the chunk; `None` for the log as a whole.
    pub position: Option<Position>,
    /// The stream, if it could be read.
    pub stream: Option<String>,
    /// What is wrong.
    pub fault: Fault,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.position, &self.stream) {
            (Some(position), Some(stream)) => {
                write!(f, "record {position} of {stream}: {}", self.fault)
            }
            (Some(position), None) => write!(f, "at position {position}: {}", self.fault),
            (None, _) => write!(f, "{}", self.fault),
        }
    }
}

impl Fault {
    /// Whether it can be only what follows from the records, so that
    /// [`crate::RocksLog::rebuild_indexes`] may repair it.
    pub fn is_of_an_index(&self) -> bool {
        match self {
            Fault::StreamIndex
            | Fault::TypeIndex { .. }
            | Fault::Version { .. }
            | Fault::Batch { .. }
            | Fault::Tree { .. }
            | Fault::Frontier
            | Fault::Counts { .. } => true,
            Fault::Surplus { name, .. } => {
                let of_records = [columns::DEFAULT, columns::BLOBS, columns::MODELS];
                !of_records.contains(name)
            }
            _ => false,
        }
    }
}

/// Ways in which a log can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// RocksDB cannot read on from here.
    #[error("the store cannot be read any further: {reason}")]
    Unreadable {
        /// RocksDB's own words.
        reason: String,
    },
    /// Positions are missing or occur twice.
    #[error("position {expected} was expected here")]
    Gap {
        /// The position that should come next.
        expected: Position,
    },
    /// A chunk or a record cannot be decoded.
    #[error("{reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
    /// A record says that it is elsewhere.
    #[error("the record says that it is at {found}")]
    Position {
        /// What it says.
        found: Position,
    },
    /// A stream's versions are not dense.
    #[error("its version is {found}, {expected} was expected")]
    Version {
        /// The version that should come next.
        expected: u64,
        /// What the record says.
        found: u64,
    },
    /// Times run backward.
    #[error("it was recorded before the record before it")]
    RecordedAt,
    /// A record's structure or content is not what its header says.
    #[error("its payload is not what its header says")]
    Digest,
    /// The stream index does not say where the record is.
    #[error("the stream index does not agree")]
    StreamIndex,
    /// The index of event types does not say where the record is.
    #[error("the index of event types does not agree on {event_type}")]
    TypeIndex {
        /// The event type.
        event_type: String,
    },
    /// A batch's row is missing, or names other records.
    #[error("the row of batch {batch} does not agree")]
    Batch {
        /// The batch.
        batch: BatchId,
    },
    /// A hash of the Merkle tree is missing, or is not that of the headers.
    #[error("hash {index} of level {level} of the tree does not agree")]
    Tree {
        /// The level.
        level: u8,
        /// The number within the level.
        index: u64,
    },
    /// The tree's right edge is not what its hashes come to.
    #[error("the frontier of the tree does not agree")]
    Frontier,
    /// Something is stored that fits nothing else.
    #[error("the column family {name} has an entry that fits nothing: {entry}")]
    Surplus {
        /// The column family.
        name: &'static str,
        /// Its key, in words where it can be read and else in hex digits.
        entry: String,
    },
    /// What the log says of itself is missing or damaged.
    #[error("what the log says of itself is damaged: {entry}")]
    Meta {
        /// Which of its words, and how.
        entry: String,
    },
    /// A read model cannot be as it is stored.
    #[error("the read model {model} is damaged: {reason}; `annals log rebuild` rebuilds it")]
    Model {
        /// Its name.
        model: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A blob that a record refers to is not there.
    #[error("the blob {digest} is missing")]
    MissingBlob {
        /// Its digest.
        digest: Digest,
    },
    /// A blob's length is not what a record says.
    #[error("the blob {digest} has {found} bytes, and not {said}")]
    BlobSize {
        /// Its digest.
        digest: Digest,
        /// What the record says.
        said: u64,
        /// How many there are.
        found: u64,
    },
    /// A blob's content has another digest.
    #[error("the content of blob {digest} was changed")]
    ChangedBlob {
        /// Its digest.
        digest: Digest,
    },
    /// The stored counts are wrong.
    #[error("the log counts {counted} {what}, but has {found}")]
    Counts {
        /// What was counted.
        what: &'static str,
        /// The stored count.
        counted: u64,
        /// The count of this verification.
        found: u64,
    },
    /// Rows were folded from records that are not there any more.
    #[error(
        "the read model {model} has rows of the records up to {checkpoint}, and the log ends at {last}: the log \
         has lost its end"
    )]
    LostEnd {
        /// The read model.
        model: String,
        /// Up to where it is folded.
        checkpoint: Position,
        /// The log's last record.
        last: Position,
    },
    /// Content was removed, and no event names it as removed.
    #[error("content was removed (pieces {}), and no redaction of the log names it", numbers(.pieces))]
    Removed {
        /// The record's removed pieces.
        pieces: Vec<u16>,
    },
    /// What is left to do of a redaction is not what its event names.
    #[error("content is to be removed as of event {said}, and that is not a redaction of it")]
    Pending {
        /// The position of the event.
        said: Position,
    },
    /// Behind the watermark the log goes on, and does not hang together: it is not opened for writing.
    #[error("behind position {last} the log cannot be read: {reason}")]
    Behind {
        /// The last record that can be read.
        last: Position,
        /// What is wrong behind it.
        reason: String,
    },
    /// The log ends before its watermark.
    #[error("the log ends at {last}, before its watermark")]
    Watermark {
        /// The last record's position.
        last: Position,
    },
}

fn numbers(pieces: &[u16]) -> String {
    let numbers: Vec<String> = pieces.iter().map(u16::to_string).collect();
    numbers.join(", ")
}
