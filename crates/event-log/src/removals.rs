//! Comparing removed content with the events that record its removal.

use std::collections::BTreeSet;

use crate::{Content, PiecesOf, Position, Record};

/// The pieces that a record names as removed: none, if it is not a redaction. What an event says is known to the crates above
/// the store alone.
pub type NamedRemovals = fn(&Record) -> Vec<PiecesOf>;

/// Removed pieces that no event names. Records are added in the order of their positions: a redaction names pieces of earlier
/// records. Memory grows with the number of removed pieces, not with the log.
#[derive(Debug, Clone, Default)]
pub struct UnnamedRemovals {
    pieces: BTreeSet<(Position, u16)>,
}

impl UnnamedRemovals {
    /// Adds the next record.
    pub fn record(&mut self, record: &Record, named: NamedRemovals) {
        self.strike_out(&named(record));
        self.add(record.position(), &removed_pieces(&record.content()));
    }

    /// Adds removed pieces of a record.
    pub fn add(&mut self, position: Position, pieces: &[u16]) {
        let pieces = pieces.iter().map(|piece| (position, *piece));
        self.pieces.extend(pieces);
    }

    /// Strikes out pieces that an event names.
    pub fn strike_out(&mut self, named: &[PiecesOf]) {
        for PiecesOf { position, pieces } in named {
            for piece in pieces {
                self.pieces.remove(&(*position, *piece));
            }
        }
    }

    /// Returns `true` if an event names each removed piece.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The pieces that are left, by ascending positions.
    pub fn into_records(self) -> Vec<PiecesOf> {
        let mut records: Vec<PiecesOf> = Vec::new();
        for (position, piece) in self.pieces {
            match records.last_mut().filter(|last| last.position == position) {
                Some(last) => last.pieces.push(piece),
                None => records.push(PiecesOf {
                    position,
                    pieces: vec![piece],
                }),
            }
        }
        records
    }
}

/// The numbers of the removed pieces.
pub fn removed_pieces(content: &[Content]) -> Vec<u16> {
    let numbered = (0_u16..).zip(content);
    let removed = numbered.filter(|(_, piece)| matches!(piece, Content::Removed { .. }));
    removed.map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_left_that_no_later_event_names() {
        let of = |position, pieces: &[u16]| PiecesOf {
            position: Position(position),
            pieces: pieces.to_vec(),
        };
        let mut unnamed = UnnamedRemovals::default();
        // An event names nothing of what comes behind it.
        unnamed.strike_out(&[of(2, &[0])]);
        unnamed.add(Position(1), &[0, 3]);
        unnamed.add(Position(2), &[0, 1]);
        unnamed.strike_out(&[of(1, &[0, 3, 7]), of(2, &[1]), of(9, &[0])]);
        assert!(!unnamed.is_empty());
        assert_eq!(unnamed.into_records(), [of(2, &[0])]);
    }
}
