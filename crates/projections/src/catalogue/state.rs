//! What the catalogue has in memory: the overlay, and which rows it lies over.

use std::sync::Arc;

use annals_event_log::{ModelCheckpoint, Position, Store};

use super::generation::ROWS;
use super::layer::{Layer, Loaded};
use super::overlay_view::OverlayView;
use super::step::Step;
use crate::generation::Generation;

/// The overlay and its place.
#[derive(Debug, Default)]
pub(super) struct State {
    /// `None` before folding has begun.
    begun: Option<Begun>,
    /// The furthest that the log was folded, also in what was forgotten since: answers were
    /// given up to there.
    reached: Position,
    /// Whether the log is open for reading only.
    read_only: bool,
}

#[derive(Debug)]
struct Begun {
    model: Arc<str>,
    /// The checkpoint of the rows, as it was last seen. Everything was read under its epoch.
    rows_at: ModelCheckpoint,
    /// Up to where the log is folded.
    folded: Position,
    /// The end of the log when folding began: what was removed up to here was gone
    /// before anything was read.
    since: Position,
    /// A reader holds on to the layer as it was; a fold then goes on with
    /// a copy.
    layer: Arc<Layer>,
}

/// What is to be committed.
pub(super) struct Pending {
    pub(super) model: Arc<str>,
    pub(super) expected: ModelCheckpoint,
    pub(super) layer: Arc<Layer>,
    pub(super) checkpoint: Position,
}

impl State {
    pub(super) fn folded(&self) -> Option<Position> {
        self.begun.as_ref().map(|begun| begun.folded)
    }

    pub(super) fn reached(&self) -> Position {
        self.reached
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Folding begins where the rows of a generation end; the log ended at `since`
    /// then, or later.
    pub(super) fn start(
        &mut self,
        generation: Generation,
        checkpoint: ModelCheckpoint,
        since: Position,
    ) {
        self.begun = Some(Begun {
            model: ROWS.model(generation).into(),
            rows_at: checkpoint,
            folded: checkpoint.position,
            since,
            layer: Arc::default(),
        });
        self.note_reached();
    }

    fn note_reached(&mut self) {
        let folded = self.folded().unwrap_or(Position::START);
        self.reached = self.reached.max(folded);
    }

    /// Has what was folded dropped, at any time: what is under way from it comes to nothing,
    /// and folding begins again from the rows.
    pub(super) fn forget(&mut self) {
        self.begun = None;
    }

    /// Whether content may have been read that an event at this position removed.
    pub(super) fn is_older_than(&self, redaction: Position) -> bool {
        self.begun
            .as_ref()
            .is_some_and(|begun| begun.since < redaction)
    }

    /// Begins again where the rows end, if that is further on or in another
    /// generation.
    pub(super) fn trim(
        &mut self,
        generation: Generation,
        checkpoint: ModelCheckpoint,
        since: Position,
    ) {
        let moved =
            |begun: &Begun| checkpoint != begun.rows_at || *begun.model != *ROWS.model(generation);
        if self.begun.as_ref().is_some_and(moved) {
            self.start(generation, checkpoint, since);
        }
    }

    /// The rows as they are now, if folding has begun.
    pub(super) fn view<'l>(&self, log: &'l dyn Store) -> Option<OverlayView<'l>> {
        self.begun.as_ref().map(|begun| OverlayView {
            log,
            model: Arc::clone(&begun.model),
            layer: Arc::clone(&begun.layer),
            rows_at: begun.rows_at,
        })
    }

    /// The same to answer from: not before everything is folded again that was once.
    pub(super) fn view_to_answer<'l>(&self, log: &'l dyn Store) -> Option<OverlayView<'l>> {
        let is_back = self.folded().is_some_and(|folded| folded >= self.reached);
        self.view(log).filter(|_| is_back)
    }

    /// Whether it still takes the stored rows for what a view took them for.
    pub(super) fn is_as(&self, view: &OverlayView<'_>) -> bool {
        let same = |begun: &Begun| begun.model == view.model && begun.rows_at == view.rows_at;
        self.begun.as_ref().is_some_and(same)
    }

    /// Folds steps in, up to `last`.
    pub(super) fn advance(&mut self, steps: &mut [Step], loaded: Loaded, last: Position) {
        if let Some(begun) = &mut self.begun {
            Arc::make_mut(&mut begun.layer).fold(steps, loaded);
            begun.folded = last;
        }
        self.note_reached();
    }

    pub(super) fn is_over(&self, rows: usize, records: u64) -> bool {
        self.begun.as_ref().is_some_and(|begun| {
            let behind = begun.folded.0.saturating_sub(begun.rows_at.position.0);
            begun.layer.changes() > rows || behind > records
        })
    }

    /// What is to be committed, if there is anything and it can be.
    pub(super) fn pending(&self) -> Option<Pending> {
        let begun = self.begun.as_ref()?;
        let behind = begun.folded > begun.rows_at.position && !self.read_only;
        behind.then(|| Pending {
            model: Arc::clone(&begun.model),
            expected: begun.rows_at,
            layer: Arc::clone(&begun.layer),
            checkpoint: begun.folded,
        })
    }

    /// Everything is in the rows now.
    pub(super) fn written(&mut self, position: Position) {
        if let Some(begun) = &mut self.begun {
            begun.rows_at.position = position;
            begun.layer = Arc::default();
        }
    }

    /// The log is open for reading only: its writer writes the rows.
    pub(super) fn never_write(&mut self) {
        self.read_only = true;
    }

    /// Another writer moved the rows' checkpoint to this position, under the same epoch.
    pub(super) fn rows_are_at(&mut self, position: Position) {
        if let Some(begun) = &self.begun {
            let actual = begun.rows_at.at(position);
            self.rows_moved(actual);
        }
    }

    /// Another writer moved the rows' checkpoint to `actual`, or content was removed.
    ///
    /// If the rows are ahead of us, they have all that the overlay has. If they
    /// are between, the overlay is right over them too: it has the newest form
    /// of every row that changed since. If they went back, or are gone, because
    /// they were rebuilt, all begins again. So it does under another epoch: what was folded
    /// may have what was removed.
    pub(super) fn rows_moved(&mut self, actual: ModelCheckpoint) {
        let Some(begun) = &mut self.begun else {
            return;
        };
        let is_other = actual.epoch != begun.rows_at.epoch;
        if is_other || actual.position < begun.rows_at.position {
            self.begun = None;
        } else if actual.position >= begun.folded {
            begun.layer = Arc::default();
            begun.folded = actual.position;
            begun.rows_at = actual;
        } else {
            begun.rows_at = actual;
            Arc::make_mut(&mut begun.layer).rows.forget_what_is_fresh();
        }
        self.note_reached();
    }
}
