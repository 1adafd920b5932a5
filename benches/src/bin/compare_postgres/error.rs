//! Why nothing was measured, or less than was asked for.

use std::io;
use std::path::PathBuf;
use std::time::TryFromFloatSecsError;

use annals_measure::marks::PageError;
use annals_measure::store::StoreError;
use annals_measure::workload::UnknownName;
use annals_testkit::postgres::ServerError;

/// Why it came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A name of `--only`.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// A number of seconds.
    #[error("invalid number of seconds, {seconds}: {source}")]
    Seconds {
        /// What was given.
        seconds: f64,
        /// What is wrong with it.
        source: TryFromFloatSecsError,
    },
    /// The folder for the data.
    #[error("{} is in memory, where a sync costs nothing: give --data", data.display())]
    InMemory {
        /// The folder.
        data: PathBuf,
    },
    /// The server could not be started, or refused what makes a database.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The page has no place for the results.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The results as JSON.
    #[error("the results cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// A file or a folder.
    #[error(transparent)]
    Io(#[from] io::Error),
}
