//! What is known of a log while it is verified: what was found, and what the records that were
//! read have to agree with.

use std::collections::HashMap;

use annals_event_log::tree::{Frontier, Kept};
use annals_event_log::{BatchId, Digest, Position, ReadError, Record, UnnamedRemovals};
use chrono::{DateTime, Utc};

use super::chunks::{Entries, Scope};
use super::report::{Fault, Finding, VerifyReport};
use crate::read::View;

/// A verification under way.
pub(super) struct Verifier<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) scope: Scope,
    pub(super) report: VerifyReport,
    /// The last record that was looked at.
    pub(super) last: Position,
    pub(super) recorded_at: DateTime<Utc>,
    pub(super) batch: Option<OpenBatch>,
    pub(super) blobs: KnownBlobs,
    /// Entries of the indexes that were found where they should be.
    pub(super) entries: Entries,
    pub(super) tree: TreeCheck,
    pub(super) removals: UnnamedRemovals,
}

impl<'a> Verifier<'a> {
    pub(super) fn new(view: &'a View<'a>, scope: Scope) -> Verifier<'a> {
        Verifier {
            view,
            scope,
            report: VerifyReport {
                watermark: view.watermark,
                ..VerifyReport::default()
            },
            last: Position::START,
            recorded_at: DateTime::<Utc>::MIN_UTC,
            batch: None,
            blobs: KnownBlobs::default(),
            entries: Entries::default(),
            tree: TreeCheck::default(),
            removals: UnnamedRemovals::default(),
        }
    }

    pub(super) fn find(&mut self, position: Option<Position>, stream: Option<&str>, fault: Fault) {
        let stream = stream.map(str::to_owned);
        self.found(Finding {
            position,
            stream,
            fault,
        });
    }

    pub(super) fn found(&mut self, finding: Finding) {
        self.report.add(finding);
    }

    /// An unreadable store is a finding; one that cannot be reached is an error.
    pub(super) fn unreadable(&mut self, error: ReadError) -> Result<(), ReadError> {
        match error {
            ReadError::Corrupt { reason } => {
                // Where it was among the records that was, if it was there.
                let among = (Position(1)..self.view.watermark).contains(&self.last);
                let at = among.then(|| self.last.next());
                self.find(at, None, Fault::Unreadable { reason });
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Whether the log ends where this verification does: a writer may have gone on
    /// meanwhile. What was read before this call is then all of one moment.
    pub(super) fn is_at_end(&self) -> Result<bool, ReadError> {
        match self.view.db.last_position() {
            Ok(last) => Ok(last <= self.view.watermark),
            // Its chunk was read before, and that is a finding already.
            Err(ReadError::Corrupt { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// Batches are consecutive records: the one that is being read.
pub(super) struct OpenBatch {
    pub(super) id: BatchId,
    /// None where it began before what is checked.
    pub(super) first: Option<Position>,
    pub(super) last: Position,
}

impl OpenBatch {
    /// The batch of a record that is not checked itself.
    pub(super) fn unseen(record: &Record) -> OpenBatch {
        OpenBatch {
            id: record.batch_id(),
            first: None,
            last: record.position(),
        }
    }
}

/// Blobs that are remembered: some 50 bytes each. Where a log has more of them, those that
/// are not remembered are looked up for each reference.
const REMEMBERED: usize = 500_000;

/// What was found of a blob.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// It is as it should be, with its length; whether a record refers to it.
    Sound { size: u64, is_used: bool },
    /// There is a finding already.
    Faulty,
}

/// The blobs that were read.
#[derive(Default)]
pub(super) struct KnownBlobs {
    pub(super) known: HashMap<Digest, Known>,
    /// Whether more were there than are remembered.
    pub(super) is_partial: bool,
    /// Bytes of all of them.
    pub(super) bytes: u64,
    /// Whether one was not as it should be.
    pub(super) is_faulty: bool,
    /// What the log counted before they were read, if that can be read.
    pub(super) counted: Option<(u64, u64)>,
}

impl KnownBlobs {
    pub(super) fn remember(&mut self, digest: Digest, known: Known) {
        if self.known.len() < REMEMBERED {
            self.known.insert(digest, known);
        } else {
            self.is_partial = true;
        }
    }

    /// How many blobs no record refers to, if all of them are remembered.
    pub(super) fn unreferenced(&self) -> Option<u64> {
        let unused = |known: &&Known| matches!(known, Known::Sound { is_used: false, .. });
        (!self.is_partial).then(|| self.known.values().filter(unused).count() as u64)
    }
}

/// The tree that is computed again from the records.
#[derive(Default)]
pub(super) struct TreeCheck {
    pub(super) frontier: Frontier,
    /// The right edge as it is stored. An older program may have written the log, or
    /// gone on with it: then it ends before the log does.
    pub(super) stored: Frontier,
    /// Whether the stored one was come by, and was right.
    pub(super) is_right: bool,
    /// Hashes that were made and are not compared yet.
    pub(super) made: Vec<Kept>,
    /// Whether records are missing, so that nothing can be said of what follows.
    pub(super) is_broken: bool,
    /// Whether it is not known how far the tree is stored.
    pub(super) is_unknown: bool,
}

impl TreeCheck {
    pub(super) fn push(&mut self, position: Position, leaf: Digest) {
        self.is_broken |= position.0 != self.frontier.size() + 1;
        if self.is_broken {
            return;
        }
        let TreeCheck {
            frontier,
            stored,
            made,
            ..
        } = self;
        let is_stored = frontier.size() < stored.size();
        frontier.push(leaf, |hash| {
            if is_stored {
                made.push(hash);
            }
        });
        self.is_right |= self.frontier == self.stored;
    }
}
