//! Why a screen could not be read.

use annals::event_log::{Classification, Classified, ErrorClass, Position};
use annals::projections::InvalidTimeName;
use annals::{LoadError, MomentError, SessionError, ViewError};

/// A failed read of a screen's content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScreenError {
    /// An object or a conversation could not be read.
    #[error(transparent)]
    View(#[from] ViewError),
    /// A list could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A session could not be read.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A named event or commit is not in the log.
    #[error(transparent)]
    Moment(#[from] MomentError),
    /// A text names no position and no time.
    #[error("invalid time {text:?}: {source}, or a position such as 1234")]
    Time {
        /// The text.
        text: String,
        /// The forms of a time.
        source: InvalidTimeName,
    },
    /// A time is one of the callers' clocks, to which no position belongs.
    #[error("occurred: names no position: expected a time by the log's clock, or a position")]
    Occurred,
    /// A position is behind the log's end.
    #[error("position {position} is behind the log's end: expected at most {end}")]
    BeyondEnd {
        /// The position.
        position: Position,
        /// The log's end.
        end: Position,
    },
    /// An object or a session began later than the position.
    #[error("it had not begun at event {position}: expected event {first} or a later one")]
    NotYet {
        /// The position.
        position: Position,
        /// The position of its first event.
        first: Position,
    },
}

impl Classified for ScreenError {
    fn classify(&self) -> Classification {
        match self {
            ScreenError::View(error) => error.classify(),
            ScreenError::Load(error) => error.classify(),
            ScreenError::Session(error) => error.classify(),
            ScreenError::Moment(error) => error.classify(),
            ScreenError::Time { .. } | ScreenError::Occurred => {
                ErrorClass::Invalid.code("invalid_time")
            }
            ScreenError::BeyondEnd { .. } => ErrorClass::NotFound.code("beyond_end"),
            ScreenError::NotYet { .. } => ErrorClass::NotFound.code("not_yet"),
        }
    }
}
