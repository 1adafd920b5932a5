//! Why a screen could not be read.

use annals::event_log::{Classification, Classified};
use annals::{LoadError, SessionError, ViewError};

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
}

impl Classified for ScreenError {
    fn classify(&self) -> Classification {
        match self {
            ScreenError::View(error) => error.classify(),
            ScreenError::Load(error) => error.classify(),
            ScreenError::Session(error) => error.classify(),
        }
    }
}
