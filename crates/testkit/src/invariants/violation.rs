//! What a log must never show, and one check for it.

use annals_event_log::{Position, Record, Store};

/// What a [`Violation`] violates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Invariant {
    /// What is below the watermark can be read.
    Readable,
    /// Positions count from 1 to the watermark without a gap.
    DensePositions,
    /// Versions count from 1 in each stream without a gap.
    DenseVersions,
    /// No record was recorded before the record before it.
    Times,
    /// Structure and content are what the header says.
    Digests,
    /// A batch is in consecutive records, and known from its first to its last.
    Batches,
    /// Heads and lists of streams are those of the records.
    Heads,
    /// The indexes by stream and by event type give exactly the records.
    Indexes,
    /// The Merkle tree is that of the headers.
    Tree,
    /// Blobs that records refer to are there as they say.
    Blobs,
    /// The counts are those of the records.
    Stats,
    /// What was acknowledged is there.
    Acknowledged,
}

/// What a log must never show, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{invariant:?} is violated{}: expected {expected}, found {found}", at(.position))]
pub struct Violation {
    /// What is violated.
    pub invariant: Invariant,
    /// The first record where that shows; `None` where no single record shows it.
    pub position: Option<Position>,
    /// What should be there.
    pub expected: String,
    /// What is there instead.
    pub found: String,
}

fn at(position: &Option<Position>) -> String {
    position.map_or(String::new(), |position| format!(" at position {position}"))
}

/// One check, fed with the records in the order of their positions.
pub(super) trait Check {
    fn record(&mut self, record: &Record) -> Result<(), Violation>;

    /// After the last record: what is asked of the log as a whole.
    fn end(&mut self, log: &dyn Store, end: Position) -> Result<(), Violation>;
}
