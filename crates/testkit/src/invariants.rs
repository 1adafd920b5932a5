//! What holds of every log at every moment, as functions over any
//! [`Store`].
//!
//! [`check_all`] reads the whole log and answers with a [`Report`] of what it saw,
//! or with the first [`Violation`]. Run it after anything that may have harmed a
//! log: a fault, a restart, a restore, a night of load. Each check can also be run
//! by itself:
//!
//! | Function | What it demands |
//! | --- | --- |
//! | [`dense`] | positions count from 1 to the watermark, versions from 1 in each stream |
//! | [`times`] | `recorded_at` never decreases |
//! | [`digests`] | structure and content are what the headers say |
//! | [`batches`] | the records of a batch follow each other, and the log knows it from its first to its last |
//! | [`heads`] | heads and lists of streams are those of the records |
//! | [`indexes`] | a stream and an event type give exactly their records, in both directions; and the store finds no fault of its own in them |
//! | [`tree`] | the hashes that are kept, and the root, are those of the headers |
//! | [`blobs`] | every blob that a record refers to is there, with its digest and size |
//! | [`stats`] | the counts are those of the records |
//! | [`acknowledged`] | one batch that was acknowledged is there, whole, as it was given |
//!
//! They block the calling thread, and what is appended while they run is not
//! looked at or makes them fail: let writers rest meanwhile. They keep about a
//! hundred bytes in memory for each record.
//!
//! ```
//! use annals_event_log::memory::MemoryLog;
//! use annals_event_log::{EventLog, Position};
//! use annals_testkit::generators::appends::Sample;
//! use annals_testkit::invariants;
//! use futures::executor::block_on;
//!
//! let log = MemoryLog::new(uuid::Uuid::from_u128(1));
//! let append = Sample::new(7).append("order-1", 3);
//! let answer = block_on(log.append(append.clone()))?;
//!
//! let report = invariants::check_all(&log)?;
//! assert_eq!((report.records, report.streams, report.batches), (3, 1, 1));
//! invariants::acknowledged(&log, &append, answer)?;
//!
//! // An answer that the log does not confirm is a violation that says so.
//! let wrong = annals_event_log::Appended::new(Position(2), Position(4));
//! let violation = invariants::acknowledged(&log, &append, wrong).unwrap_err();
//! assert_eq!(violation.invariant, invariants::Invariant::Acknowledged);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acknowledged;
pub(crate) mod read;
mod record;
mod violation;
mod whole;

use annals_event_log::{Digest, Position, Store};

pub use acknowledged::acknowledged;
pub use violation::{Invariant, Violation};

use record::{Batches, Dense, Digests, Times};
use violation::Check;
use whole::{Blobs, Heads, Indexes, Stats, Tree};

/// What [`check_all`] saw of a sound log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Records, up to the watermark at the beginning.
    pub records: u64,
    /// Streams.
    pub streams: u64,
    /// Event types that occur.
    pub event_types: u64,
    /// Batches.
    pub batches: u64,
    /// Blobs that records refer to.
    pub blobs: u64,
    /// Blobs that are stored and that no record refers to; they do no harm.
    pub unreferenced_blobs: u64,
    /// Pieces of content that were removed.
    pub removed_pieces: u64,
    /// The root of the Merkle tree over all headers.
    pub root: Digest,
}

/// Reads the log once, up to the watermark, and feeds all checks.
fn run(log: &dyn Store, checks: &mut [&mut dyn Check]) -> Result<Position, Violation> {
    let end = log.watermark();
    let mut from = Position(1);
    while from <= end {
        for record in read::page(log, from, end)? {
            if record.position() != from {
                return Err(Violation {
                    invariant: Invariant::DensePositions,
                    position: Some(from),
                    expected: format!("the record at position {from}"),
                    found: format!("one at position {}", record.position()),
                });
            }
            for check in checks.iter_mut() {
                check.record(&record)?;
            }
            from = from.next();
        }
    }
    for check in checks {
        check.end(log, end)?;
    }
    Ok(end)
}

/// Demands all of the above but [`acknowledged`], which needs to be told what was.
///
/// # Errors
/// The first [`Violation`]; [`Invariant::Readable`] also where a read fails.
pub fn check_all(log: &dyn Store) -> Result<Report, Violation> {
    let (mut dense, mut batches) = (Dense::default(), Batches::default());
    let (mut tree, mut blobs) = (Tree::default(), Blobs::default());
    let (mut indexes, mut stats) = (Indexes::default(), Stats::default());
    let mut checks: [&mut dyn Check; 9] = [
        &mut dense,
        &mut Times::default(),
        &mut Digests,
        &mut batches,
        &mut Heads::default(),
        &mut indexes,
        &mut tree,
        &mut blobs,
        &mut stats,
    ];
    let end = run(log, &mut checks)?;
    Ok(Report {
        records: end.0,
        streams: indexes.streams(),
        event_types: indexes.event_types(),
        batches: batches.count(),
        blobs: blobs.referenced(),
        unreferenced_blobs: stats.unreferenced_blobs(),
        removed_pieces: blobs.removed_pieces(),
        root: tree.root(),
    })
}

macro_rules! alone {
    ($($(#[$meta:meta])* $name:ident => $check:expr;)+) => {
        $(
            $(#[$meta])*
            ///
            /// # Errors
            /// The first [`Violation`].
            pub fn $name(log: &dyn Store) -> Result<(), Violation> {
                run(log, &mut [&mut $check]).map(|_| ())
            }
        )+
    };
}

alone! {
    /// Demands that positions count from 1 to the watermark, that nothing lies above
    /// it, and that versions count from 1 in each stream.
    dense => Dense::default();
    /// Demands that `recorded_at` never decreases.
    times => Times::default();
    /// Demands that the structure and the content of each record are what its header
    /// says.
    digests => Digests;
    /// Demands that each batch is in consecutive records, and that the log knows it
    /// from its first to its last one. Where the log says only that the request was
    /// another one, as it may for a batch whose request is not known here, that it
    /// knows the batch must do.
    batches => Batches::default();
    /// Demands that the heads of streams and the list of them are those of the
    /// records.
    heads => Heads::default();
    /// Demands that reading a stream or an event type, forward and backward, gives
    /// exactly its records.
    indexes => Indexes::default();
    /// Demands that the hashes that are kept of the Merkle tree, and its root, are
    /// those that RFC 6962 defines for the headers.
    tree => Tree::default();
    /// Demands that each blob that a record refers to is there, with the digest and
    /// the size that the record says.
    blobs => Blobs::default();
    /// Demands that the counts are those of the records: position, streams and
    /// batches exactly, blobs at least those that records refer to.
    stats => Stats::default();
}
