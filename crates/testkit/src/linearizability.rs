//! Whether what several threads were answered is explained by one order of events.
//!
//! A [`Recorder`] notes when each call was made and when it returned, and what was
//! asked and answered. [`check`] then says whether there is a moment within each call
//! at which it could have happened at once, so that all answers are those of a log
//! that is used by one caller at a time.
//!
//! ```
//! use std::sync::Arc;
//! use annals_event_log::{memory::MemoryLog, Position, Query, Store};
//! use annals_testkit::generators::appends::Sample;
//! use annals_testkit::linearizability::{Recorder, check};
//!
//! let log: Arc<dyn Store> = Arc::new(MemoryLog::new(uuid::Uuid::from_u128(1)));
//! let recorder = Recorder::new();
//! std::thread::scope(|scope| {
//!     for seed in 0..4 {
//!         let handle = recorder.handle(Arc::clone(&log));
//!         scope.spawn(move || {
//!             let mut sample = Sample::new(seed);
//!             for _ in 0..10 {
//!                 let _ = handle.append(sample.append("order-1", 2));
//!                 let _ = handle.read(Query::all(Position(1)));
//!             }
//!         });
//!     }
//! });
//! let history = recorder.finish(&*log)?;
//! assert_eq!(check(&history)?.batches, 40);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`exercise`] does such work with more kinds of calls: expectations that conflict,
//! repeats of batches that other threads appended, heads and watermarks.
//!
//! # Why no search is needed, and nothing is missed
//!
//! Deciding this for any data type takes a search over orders. A log says itself in
//! which order it took its batches, so only the moments are left to find. Let the log
//! in the end hold the batches *1..m* in this order. Its states are then known: in
//! state *j* it holds the first *j*. Call *t(j)* the moment at which batch *j* was
//! taken, so `t(1) < t(2) < … < t(m)`.
//!
//! - The append that took batch *j* began before *t(j)*, and *t(j)* was before it
//!   returned; one that never returned sets no end.
//! - Every other answer (a page, a watermark, a head, a conflict, a repeat) is right in
//!   exactly the states from some *lo* to some *hi*, since heads and positions only
//!   grow. It needs a moment within its call, after *t(lo)* and before *t(hi + 1)*.
//!   As `t(lo) < t(hi + 1)`, such a moment exists if and only if *t(lo)* is before the
//!   call returned and *t(hi + 1)* is after it was made.
//!
//! So each answer sets nothing but a lower bound on one moment and an upper bound on
//! another one. Moments in a fixed order that keep their bounds exist if and only if
//! for no *i ≤ j* the lower bound of *t(i)* is at or after the upper bound of *t(j)*:
//! go from the first to the last and put each right behind the largest lower bound so
//! far. [`check`] looks for such a pair, in one pass; where there is one, the two calls
//! that set its bounds are named. A test compares it with a search over all orders.
//!
//! # Handles that may lag
//!
//! A reader in another process may be behind. What it promises is less, and is checked
//! just as exactly: what it shows is a state that the log had; that state holds what
//! was acknowledged before the handle was opened, and nothing whose append was not called
//! yet when the read returned; and of two reads, one after the other, the second does
//! not show an earlier state. In the terms above: the moment of a read lies between the
//! handle's opening and the read's return, and moments keep the order of the reads.
//! Where reads overlap, no order is demanded.

mod check;
mod exercise;
mod recorder;

use annals_event_log::{
    Appended, BatchId, Classification, Classified, ErrorClass, EventId, Expectation, Expected,
    Position, ReadError, StreamName, Version,
};

use crate::invariants::Violation;

pub use check::{Checked, Inexplicable, check};
pub use exercise::exercise;
pub use recorder::{Recorded, Recorder};

/// A point in the order of all calls and returns; two are never the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u64);

/// A record, as a read showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its position.
    pub position: Position,
    /// Its batch.
    pub batch: BatchId,
    /// Its event.
    pub event: EventId,
    /// Its stream.
    pub stream: StreamName,
}

/// What an append was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendAnswer {
    /// It is in the log.
    Appended(Appended),
    /// A stream was not as expected.
    Conflict {
        /// The stream.
        stream: StreamName,
        /// What the append said of it.
        expected: Expected,
        /// Its version.
        actual: Version,
    },
    /// The batch is in the log, with another request.
    Mismatch,
    /// It was refused for what it is itself; nothing was stored.
    Refused,
    /// There was no answer, or one that leaves open whether it was stored.
    Unknown,
}

/// What was asked and answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// An append.
    Append {
        /// The batch.
        batch: BatchId,
        /// Its events with their streams.
        events: Vec<(StreamName, EventId)>,
        /// What it expected.
        expectations: Vec<Expectation>,
        /// What it was answered.
        answer: AppendAnswer,
    },
    /// A page of the whole log, forward.
    Read {
        /// Where it begins.
        from: Position,
        /// What it showed.
        records: Vec<Seen>,
        /// Whether it said that there was nothing more.
        ended: bool,
    },
    /// The watermark.
    Watermark {
        /// Where it was.
        position: Position,
    },
    /// A stream's head.
    Head {
        /// The stream.
        stream: StreamName,
        /// Its version.
        version: Version,
    },
}

/// One call with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The number of the handle in [`History::handles`].
    pub handle: usize,
    /// When it was made.
    pub invoked: Moment,
    /// When it returned.
    pub returned: Moment,
    /// What was asked and answered.
    pub call: Call,
}

/// Through what calls were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handle {
    /// A handle that must show what was acknowledged anywhere before the call.
    Current,
    /// A handle that may lag behind.
    Lagging {
        /// A moment before it was opened.
        opened: Moment,
    },
    /// A handle of one of several processes that write to a store elsewhere: what it asks the store must show what was
    /// acknowledged anywhere before the call. Its watermark, which it knows by itself, must show what its own process
    /// was answered, and may lag behind others.
    OfProcess {
        /// A moment before it was opened.
        opened: Moment,
        /// What tells the process from others.
        process: usize,
    },
}

/// What happened, and what the log held in the end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The handles by their numbers.
    pub handles: Vec<Handle>,
    /// The calls, in any order.
    pub operations: Vec<Operation>,
    /// The log's records after all calls.
    pub log: Vec<Seen>,
}

/// Why the log could not be read at the end of a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotFinished {
    /// A read failed.
    #[error("the log cannot be read after the recording: {source}")]
    Read {
        /// What the store says.
        #[from]
        source: ReadError,
    },
    /// Its pages do not lead from its first record to its last one.
    #[error("the log cannot be read to its end after the recording: {source}")]
    Pages {
        /// What a page should have been, and what it is.
        #[from]
        source: Violation,
    },
}

impl Classified for NotFinished {
    fn classify(&self) -> Classification {
        use ErrorClass::Failed;
        match self {
            NotFinished::Read { source } => source.classify(),
            NotFinished::Pages { .. } => Failed.code("unreadable"),
        }
    }
}
