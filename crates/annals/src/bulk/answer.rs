//! What a bulk writer answers.

use std::sync::{Arc, OnceLock};

use annals_event_log::{Classification, Classified, Position};
use uuid::Uuid;

use crate::{BatchOutcome, DecidedOutcome, ExecuteError, Outcome};

/// A batch as it was decided. It may be on its way to the log still.
#[derive(Debug, Clone)]
pub struct Decided {
    /// One for each command, in order. Empty for a repeated batch of more than one command.
    pub outcomes: Vec<DecidedOutcome>,
    pub(super) appended: Arc<OnceLock<BatchOutcome>>,
}

impl Decided {
    /// The outcome with its positions, as soon as the batch is on disk and its writer knows it: at the latest
    /// after [`crate::BulkWriter::flush`].
    pub fn appended(&self) -> Option<&BatchOutcome> {
        self.appended.get()
    }

    pub(super) fn done(outcome: BatchOutcome) -> Decided {
        let decided = |outcome: &Outcome| DecidedOutcome {
            id: outcome.id,
            frame_id: outcome.frame_id,
            events: outcome.events,
        };
        Decided {
            outcomes: outcome.outcomes.iter().map(decided).collect(),
            appended: Arc::new(OnceLock::from(outcome)),
        }
    }
}

/// What a bulk writer and its log know of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownKey {
    /// A batch with it is on its way: [`crate::BulkWriter::flush`] says whether it arrives.
    OnItsWay,
    /// The log has a batch with it, for this request or another one.
    InLog {
        /// The batch's first position.
        first: Position,
        /// The batch's last position.
        last: Position,
    },
}

/// Why batches were not executed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BulkError {
    /// The batch that was just given is not executed, decided on what is in the log; after
    /// [`AppendError::Unavailable`] that is unknown. The writer can be used on.
    ///
    /// [`AppendError::Unavailable`]: annals_event_log::AppendError::Unavailable
    #[error(transparent)]
    Batch(#[from] ExecuteError),
    /// Batches that were given before, and were on their way, are not acknowledged. The log has nothing of
    /// them but what others gave with the same keys, except after [`AppendError::Unavailable`], where that
    /// is unknown. All that were given before the first of them are on disk. The batch that was
    /// just given is not executed. The writer can be used on; give the batches again, with the same keys.
    ///
    /// [`AppendError::Unavailable`]: annals_event_log::AppendError::Unavailable
    #[error(
        "batches were not acknowledged: {}. The first of them{}: {source}",
        keys.len(), named(keys)
    )]
    NotAcknowledged {
        /// The keys of these batches, in the order in which they were given; `None` for one without a key.
        keys: Vec<Option<Uuid>>,
        /// What became of the first one. The others were not tried again after it.
        source: Box<ExecuteError>,
    },
}

fn named(keys: &[Option<Uuid>]) -> String {
    match keys.first().copied().flatten() {
        Some(key) => format!(" (key {key})"),
        None => String::new(),
    }
}

impl Classified for BulkError {
    fn classify(&self) -> Classification {
        match self {
            BulkError::Batch(error) => error.classify(),
            BulkError::NotAcknowledged { source, .. } => source.classify(),
        }
    }
}
