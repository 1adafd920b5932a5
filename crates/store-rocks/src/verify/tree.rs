//! Whether the stored Merkle tree is that of the records' headers.

use annals_event_log::tree::{Kept, LEVELS, STEP};
use annals_event_log::{Position, ReadError};

use super::chunks::{Outline, Scope};
use super::report::Fault;
use super::verifier::Verifier;
use crate::{columns, keys, tree};

/// Runs that belong to no record and are looked for: beyond them it is said that there are
/// many.
const MOST_MISMATCHES: usize = 1_000;

impl Verifier<'_> {
    /// Reads how far the tree is stored.
    pub(super) fn tree_begin(&mut self) -> Result<(), ReadError> {
        match tree::frontier(self.view.db, &self.view.columns) {
            Ok(stored) => self.tree.stored = stored,
            Err(error) => {
                self.tree.is_unknown = true;
                self.find(None, None, Fault::Frontier);
                return self.unreadable(error);
            }
        }
        if self.scope == Scope::Behind {
            self.tree_behind()?;
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

    /// Begins with the tree of the records before those that are checked.
    fn tree_behind(&mut self) -> Result<(), ReadError> {
        let size = self.last.0;
        match tree::frontier_at(self.view, size) {
            Ok(frontier) => self.tree.frontier = frontier,
            // An older program wrote them, or it is damaged.
            Err(ReadError::Corrupt { .. }) if self.tree.stored.size() < size => {
                self.tree.is_broken = true;
            }
            Err(error) => {
                self.tree.is_broken = true;
                return self.unreadable(error);
            }
        }
        Ok(())
    }

    /// Adds a record's leaf. Where it has none, the stored one is taken: that the record was altered is a
    /// finding, and that no hash above it fits would be another one for each.
    pub(super) fn tree_leaf(&mut self, record: &Outline) -> Result<(), ReadError> {
        let position = record.position;
        let leaf = match record.leaf {
            Some(leaf) => Some(leaf),
            None => match tree::stored(self.view, 0, position.0.saturating_sub(1), 1) {
                Ok(stored) => stored.first().copied().flatten(),
                Err(error) => {
                    self.unreadable(error)?;
                    None
                }
            },
        };
        match leaf {
            Some(leaf) => self.tree.push(position, leaf),
            None => self.tree.is_broken = true,
        }
        Ok(())
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

    /// The root, the frontier, and hashes that belong to no record.
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
        match self.scope {
            Scope::All if !self.tree.is_unknown => self.tree_surplus(),
            Scope::All | Scope::Behind => Ok(()),
        }
    }

    /// Hashes that belong to no record, or that are there twice.
    fn tree_surplus(&mut self) -> Result<(), ReadError> {
        let mut iterator = self.view.db.iterate_once(self.view.columns.tree);
        iterator.seek_to_first();
        let mut mismatches = Vec::new();
        let (mut level_before, mut end_before) = (0, 0);
        while let Some((key, value)) = iterator.item() {
            let (hashes, rest) = value.as_chunks::<32>();
            let place = keys::split_tree(key);
            let kept = |level: u8| level < LEVELS && level.is_multiple_of(STEP);
            match place.filter(|(level, _)| kept(*level) && rest.is_empty() && !hashes.is_empty()) {
                Some((level, first)) => {
                    let end = first.saturating_add(hashes.len() as u64);
                    let overlaps = level == level_before && first < end_before;
                    if overlaps || end > self.tree.stored.size() >> level {
                        mismatches.push((key.to_vec(), !overlaps));
                    }
                    (level_before, end_before) = (level, end);
                }
                None => mismatches.push((key.to_vec(), false)),
            }
            if mismatches.len() > MOST_MISMATCHES {
                break;
            }
            iterator.next();
        }
        if let Err(error) = self.view.db.check(&iterator) {
            return self.unreadable(error);
        }
        // In this order: the log has not grown by now, so it had not when these were read.
        let is_at_end = self.is_at_end()?;
        for (key, may_be_new) in mismatches {
            if is_at_end || !may_be_new {
                let entry = match keys::split_tree(&key) {
                    Some((level, first)) => format!("level {level} from hash {first} on"),
                    None => hex::encode(&key),
                };
                let name = columns::TREE;
                self.find(None, None, Fault::Surplus { name, entry });
            }
        }
        Ok(())
    }
}
