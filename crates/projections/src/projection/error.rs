//! Why a read model was not brought up to date, or gave no answer.

use annals_event_log::{Classification, Classified, CommitError, ErrorClass, ReadError};

use crate::EntryError;
use crate::generation::GenerationError;

/// Why a read model was not brought up to date, or gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The rows could not be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// An event could not be decoded.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// A name is taken, or has other characters.
    #[error(
        "invalid name of a projection {name:?}: expected 1 to 60 of `a-z`, `0-9` and `_`, and not `catalogue`, `costs`, `directory`, `sessions` or `subscriptions`"
    )]
    InvalidName {
        /// The name, cut to its first 100 characters.
        name: String,
    },
    /// A row cannot be read as what was asked for, or a value cannot be written as JSON.
    #[error("the row {key} of {model} does not have the expected form: {source}")]
    Row {
        /// The read model.
        model: String,
        /// The row's key, as hex digits.
        key: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The row that names the current rows is not what this version writes.
    #[error("the read model {model} is malformed; rebuild it")]
    Malformed {
        /// The read model.
        model: String,
    },
    /// Another process wrote rows, or removed content, all the time.
    #[error(
        "the read model {model} changed {attempts} times while it was being read or written; try again"
    )]
    Moving {
        /// The read model.
        model: String,
        /// How often it was tried.
        attempts: u32,
    },
    /// The projection's own reason.
    #[error("{0}")]
    Own(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ProjectionError {
    /// A projection's own reason not to take an event.
    pub fn own(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ProjectionError {
        ProjectionError::Own(reason.into())
    }

    pub(super) fn of(model: &str, error: GenerationError) -> ProjectionError {
        let model = model.to_owned();
        match error {
            GenerationError::Read(error) => error.into(),
            GenerationError::Commit(error) => error.into(),
            GenerationError::Malformed => ProjectionError::Malformed { model },
            GenerationError::Moving { attempts } => ProjectionError::Moving { model, attempts },
        }
    }

    /// Whether what it was folded from is not what there is now: it is folded once more.
    pub(super) fn is_outdated(&self) -> bool {
        use CommitError::{Checkpoint, Epoch};
        matches!(
            self,
            ProjectionError::Commit(Epoch { .. } | Checkpoint { .. })
        )
    }
}

impl Classified for ProjectionError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, Invalid, Unavailable};
        match self {
            ProjectionError::Read(error) => error.classify(),
            ProjectionError::Commit(error) => error.classify(),
            ProjectionError::Entry(error) => error.classify(),
            ProjectionError::InvalidName { .. } => Invalid.code("invalid_name"),
            ProjectionError::Row { .. } | ProjectionError::Malformed { .. } => {
                Failed.code("unreadable")
            }
            ProjectionError::Moving { .. } => Unavailable.code("unreadable"),
            ProjectionError::Own(_) => Failed.code("projection_failed"),
        }
    }
}
