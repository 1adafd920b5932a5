//! Whether the stored Merkle tree is that of the records' headers.

use annals_event_log::tree::{Frontier, Kept, leaf};
use annals_event_log::{Position, ReadError, Record};

use super::{Fault, Verifier};
use crate::tree;

/// The tree that is made anew beside the records.
#[derive(Default)]
pub(super) struct TreeCheck {
    frontier: Frontier,
    /// The right edge as it is stored. An older program may have written the log, or
    /// gone on with it: then it ends before the log does.
    stored: Frontier,
    /// Whether the stored one was come by, and was right.
    is_right: bool,
    /// Hashes that were made and are not compared yet.
    made: Vec<Kept>,
    /// Hashes that should be stored.
    kept: u64,
    /// Whether records are missing, so that nothing can be said of what follows.
    is_broken: bool,
}

impl TreeCheck {
    pub(super) fn push(&mut self, position: Position, record: &Record) {
        self.is_broken |= position.0 != self.frontier.size() + 1;
        if self.is_broken {
            return;
        }
        let TreeCheck {
            frontier,
            stored,
            made,
            kept,
            ..
        } = self;
        let is_stored = frontier.size() < stored.size();
        frontier.push(leaf(record.header_bytes()), |hash| {
            if is_stored {
                made.push(hash);
                *kept += 1;
            }
        });
        self.is_right |= self.frontier == self.stored;
    }
}

impl Verifier<'_> {
    /// Reads how far the tree is stored.
    pub(super) fn tree_begin(&mut self) -> Result<(), ReadError> {
        match tree::frontier(self.view.db, &self.view.columns) {
            Ok(stored) => self.tree.stored = stored,
            Err(error) => {
                self.find(None, None, Fault::Frontier);
                return self.unreadable(error);
            }
        }
        // In this order: a writer may go on meanwhile.
        match self.view.db.last_position() {
            Ok(last) if self.tree.stored.size() > last.0 => {
                self.find(None, None, Fault::Frontier);
                Ok(())
            }
            Ok(_) => Ok(()),
            // The chunks themselves are read next, and say more.
            Err(ReadError::Corrupt { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Compares the hashes of the tree with those that are stored.
    pub(super) fn tree_hashes(&mut self) -> Result<(), ReadError> {
        let mut made = std::mem::take(&mut self.tree.made);
        made.sort_by_key(|kept| (kept.level, kept.index));
        // Hashes of one level follow each other.
        for run in made.chunk_by(|a, b| a.level == b.level) {
            let Some(Kept { level, index, .. }) = run.first().copied() else {
                continue;
            };
            let stored = match tree::stored(self.view, level, index, run.len()) {
                Ok(stored) => stored,
                Err(error) => {
                    self.unreadable(error)?;
                    continue;
                }
            };
            for (at, kept) in run.iter().enumerate() {
                if stored.get(at).copied().flatten() != Some(kept.hash) {
                    let position = (kept.index + 1) << level;
                    let (level, index) = (level, kept.index);
                    self.find(Some(Position(position)), None, Fault::Tree { level, index });
                }
            }
        }
        Ok(())
    }

    /// The root, the frontier, and hashes that stand for nothing.
    pub(super) fn tree_end(&mut self) -> Result<(), ReadError> {
        if self.tree.is_broken || self.tree.frontier.size() != self.view.watermark.0 {
            return Ok(());
        }
        self.report.root = Some(self.tree.frontier.root());
        let watermark = self.view.watermark;
        let stored = self.tree.stored.size();
        self.report.tree = stored.min(watermark.0);
        // Where the writer has moved on it is ahead of what was read here.
        if (1..=watermark.0).contains(&stored) && !self.tree.is_right {
            self.find(None, None, Fault::Frontier);
        }
        let counted = tree::count(self.view).and_then(|counted| {
            // In this order: if the log has not grown by now, it had not when these
            // were counted.
            Ok((counted, self.view.db.last_position()?))
        });
        let there = match counted {
            Ok(((all, _), last)) if last <= watermark => all,
            Ok(((_, seen), _)) => seen,
            Err(error) => return self.unreadable(error),
        };
        if there > self.tree.kept {
            let (name, surplus) = ("tree", there - self.tree.kept);
            self.find(None, None, Fault::Surplus { name, surplus });
        }
        Ok(())
    }
}
