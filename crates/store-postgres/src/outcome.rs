//! How a write ended that was not answered: whether it may have been stored.

use annals_event_log::{AppendError, RedactError};
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity};

use crate::failure::Failure;

/// A failure, and whether what was under way may have been stored all the same.
#[derive(Debug, Clone)]
pub(crate) struct Failed {
    pub(crate) failure: Failure,
    pub(crate) is_unknown: bool,
}

impl Failed {
    /// Nothing came back in time, perhaps to a commit.
    pub(crate) fn no_answer(limit: std::time::Duration) -> Failed {
        Failed {
            failure: Failure::no_answer(limit),
            is_unknown: true,
        }
    }

    /// A failure after the commit was sent. A server that answers with an ERROR has rolled back; a connection that
    /// ends, by whatever words, says nothing.
    pub(crate) fn at_commit(error: Error) -> Failed {
        let severity = error.as_db_error().and_then(DbError::parsed_severity);
        Failed {
            is_unknown: severity != Some(Severity::Error),
            failure: error.into(),
        }
    }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Failed {
        Failed {
            failure,
            is_unknown: false,
        }
    }
}

/// Before the commit was sent.
impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failure::from(error).into()
    }
}

/// Why an append was not acknowledged: the source of [`AppendError::Unavailable`].
#[derive(Debug, Clone, thiserror::Error)]
#[error("{state} after {attempts} attempts: {failure}", state = self.state())]
#[non_exhaustive]
pub struct AppendFailure {
    /// What the last attempt failed with.
    #[source]
    pub failure: Failure,
    /// Whether the batch may have been stored all the same. Repeat it with the same batch id to find out.
    pub is_unknown: bool,
    /// How often it was tried.
    pub attempts: u32,
}

impl AppendFailure {
    pub(crate) fn new(failed: Failed, attempts: u32) -> AppendFailure {
        AppendFailure {
            failure: failed.failure,
            is_unknown: failed.is_unknown,
            attempts,
        }
    }

    fn state(&self) -> &'static str {
        match self.is_unknown {
            true => "whether it was stored is not known (repeat it with the same batch id)",
            false => "nothing was stored",
        }
    }
}

impl From<AppendFailure> for AppendError {
    fn from(failed: AppendFailure) -> AppendError {
        match failed.failure {
            Failure::Damaged { ref detail } if !failed.is_unknown => AppendError::Corrupt {
                reason: detail.clone(),
            },
            Failure::NoPermission { .. } if !failed.is_unknown => AppendError::ReadOnly,
            _ => AppendError::Unavailable {
                source: Box::new(failed),
            },
        }
    }
}

impl From<AppendFailure> for RedactError {
    fn from(failed: AppendFailure) -> RedactError {
        RedactError::Append(failed.into())
    }
}
