//! What the directory's rows lack, in memory.

use std::collections::{BTreeMap, HashMap};

use annals_domain::Kind;
use annals_event_log::{Position, Rows};
use uuid::Uuid;

use super::rows::{self, Place};

/// The objects created above the rows' checkpoint.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    /// Up to where the log is folded; `None` before the first time.
    folded: Option<Position>,
    /// The checkpoint of the rows, as it was last seen.
    rows_at: Position,
    /// Whether the log is open for reading only.
    read_only: bool,
    places: HashMap<Uuid, Place>,
    /// The same objects by their digits from the last to the first.
    by_suffix: BTreeMap<String, Uuid>,
}

/// What is to be committed.
pub(super) struct Pending {
    pub(super) expected: Position,
    pub(super) rows: Rows,
    pub(super) checkpoint: Position,
}

impl Overlay {
    pub(super) fn folded(&self) -> Option<Position> {
        self.folded
    }

    /// Folding begins where the rows end.
    pub(super) fn start(&mut self, checkpoint: Position) {
        self.folded = Some(checkpoint);
        self.rows_at = checkpoint;
    }

    /// The log is folded up to `last`, which brought these objects.
    pub(super) fn advance(&mut self, new: Vec<(Uuid, Place)>, last: Position) {
        for (id, place) in new {
            // One page may create an id twice; the first one keeps it.
            self.places.entry(id).or_insert(place);
            self.by_suffix.insert(rows::reversed_digits(id), id);
        }
        self.folded = Some(last);
    }

    pub(super) fn place(&self, id: Uuid) -> Option<Place> {
        self.places.get(&id).copied()
    }

    /// Objects whose digits, from the last to the first, begin with `prefix`.
    pub(super) fn by_suffix(&self, prefix: &str, limit: usize) -> BTreeMap<String, (Kind, Uuid)> {
        self.by_suffix
            .range(prefix.to_owned()..)
            .take_while(|(reversed, _)| reversed.starts_with(prefix))
            .filter_map(|(reversed, id)| Some((reversed.clone(), (self.place(*id)?.0, *id))))
            .take(limit)
            .collect()
    }

    pub(super) fn is_over(&self, objects: usize, records: u64) -> bool {
        let folded = self.folded.unwrap_or(Position::START);
        let behind = folded.0.saturating_sub(self.rows_at.0);
        !self.read_only && (self.places.len() > objects || behind > records)
    }

    /// What is to be committed, if there is anything and it can be.
    pub(super) fn pending(&self) -> Option<Pending> {
        let checkpoint = self
            .folded
            .filter(|folded| *folded > self.rows_at && !self.read_only)?;
        let rows = self
            .places
            .iter()
            .flat_map(|(id, place)| rows::rows(*id, place))
            .collect();
        Some(Pending {
            expected: self.rows_at,
            rows,
            checkpoint,
        })
    }

    /// Everything is in the rows now.
    pub(super) fn written(&mut self, checkpoint: Position) {
        self.rows_at = checkpoint;
        self.places.clear();
        self.by_suffix.clear();
    }

    /// The log is open for reading only, so the overlay is all there will be.
    pub(super) fn never_write(&mut self) {
        self.read_only = true;
    }

    /// Another writer moved the rows' checkpoint to `actual`.
    ///
    /// If the rows are ahead of us, they have all that the overlay has. If they
    /// went back, what they had lost must be folded again.
    pub(super) fn rows_moved(&mut self, actual: Position) {
        let folded = self.folded.unwrap_or(Position::START);
        if actual >= folded {
            self.written(actual);
            self.folded = Some(actual);
        } else if actual < self.rows_at {
            self.folded = Some(actual);
        }
        self.rows_at = actual;
    }
}
