//! Why a search has no answer.

use std::io;
use std::path::PathBuf;

use annals::{LoadError, SessionError, ViewError};
use annals_event_log::{Classification, Classified, ErrorClass, ReadError};

use crate::query::QueryError;

/// Why a search has no answer, or the index is not up to date. The log is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The question cannot be read.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A conversation with a hit could not be read.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The session of a hit could not be read.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The index's files could not be read or written. Searches without it are possible.
    #[error("the search index in {path} cannot be used: {source}. The log is not concerned; make room, make the folder writable, or search without it (`annals search --no-index`)", path = .path.display())]
    Io {
        /// The index's folder.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The index is damaged, or is not of this log, and could not be made again.
    #[error("the search index in {path} is damaged: {reason}. It can be removed: it is made again from the log", path = .path.display())]
    Damaged {
        /// The index's folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Content was removed time and again while the index was brought up to date.
    #[error(
        "content was removed from the log {attempts} times while the search index was being made; search again"
    )]
    Moving {
        /// How often it was begun.
        attempts: u32,
    },
}

impl Classified for SearchError {
    fn classify(&self) -> Classification {
        match self {
            SearchError::Query(error) => error.classify(),
            SearchError::Load(error) => error.classify(),
            SearchError::View(error) => error.classify(),
            SearchError::Session(error) => error.classify(),
            SearchError::Io { source, .. } => ErrorClass::of_file(source).code("search_index"),
            SearchError::Damaged { .. } => ErrorClass::Failed.code("search_index_damaged"),
            SearchError::Moving { .. } => ErrorClass::Contended.code("search_index_moving"),
        }
    }
}

impl From<ReadError> for SearchError {
    fn from(error: ReadError) -> SearchError {
        SearchError::Load(error.into())
    }
}
