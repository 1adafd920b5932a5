//! Why there is no answer about the past.

use annals_event_log::{Classification, Classified, ErrorClass, Position};

use crate::{LoadError, ObjectRef, ViewError};

/// Why there is no answer about the past.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PastError {
    /// There is no view of the object.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The earlier moment has an event that the later one has not.
    #[error(
        "the first moment is later than the second: event {position} had happened by the first, and not by the second. \
         Give the earlier one first; times by the callers' clocks need not be in the order of the log, and positions are"
    )]
    Order {
        /// The event.
        position: Position,
    },
    /// Between the two moments events were recorded that are dated before others.
    #[error(
        "by the callers' clocks event {position} had happened by the first moment, and event {before}, which comes before \
         it, only by the second: what changed is not one piece of the history. Give positions or times by the log's clock"
    )]
    Gap {
        /// The event that had happened.
        position: Position,
        /// The one before it that had not.
        before: Position,
    },
    /// A whole log is compared by positions.
    #[error(
        "what changed in a whole log is a piece of it: expected positions, times by the log's clock, events or commits, \
         found a time by the callers' clocks"
    )]
    ByCallersClocks,
    /// The object has no such field and never had one.
    #[error("{object} has no field {field}, and had none before. It has {}", list(.known))]
    NoField {
        /// The object.
        object: ObjectRef,
        /// The field's name.
        field: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Nothing happened to the object in between.
    #[error("no event on {object} is between the two moments: there is nothing to search")]
    NothingBetween {
        /// The object.
        object: ObjectRef,
    },
    /// Whoever was asked whether the condition holds ended the search.
    #[error("the search was ended")]
    Stopped,
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

impl From<LoadError> for PastError {
    fn from(error: LoadError) -> PastError {
        PastError::View(error.into())
    }
}

impl From<serde_json::Error> for PastError {
    fn from(error: serde_json::Error) -> PastError {
        LoadError::Render(error).into()
    }
}

impl Classified for PastError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, Invalid, NotFound};
        match self {
            PastError::View(error) => error.classify(),
            PastError::Order { .. } => Invalid.code("later_first"),
            PastError::Gap { .. } => Invalid.code("not_one_piece"),
            PastError::ByCallersClocks => Invalid.code("by_callers_clocks"),
            PastError::NoField { .. } => NotFound.code("no_field"),
            PastError::NothingBetween { .. } => NotFound.code("nothing_between"),
            PastError::Stopped => Failed.code("stopped"),
        }
    }
}
