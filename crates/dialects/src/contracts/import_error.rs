//! Why an import of contracts came to nothing.

use std::io;
use std::path::PathBuf;

use annals::{ExecuteError, LoadError};
use annals_event_log::{Classification, Classified, ErrorClass};

/// Why an import stopped. What was recorded before it stays, and the next import
/// leaves it as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContractsImportError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The log did not take objects.
    #[error("the log did not take the objects: {0}")]
    Execute(#[from] Box<ExecuteError>),
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The thread that reads the file ended before its end.
    #[error("reading {path} was interrupted; import it again", path = .path.display())]
    Interrupted {
        /// The file.
        path: PathBuf,
    },
}

impl Classified for ContractsImportError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, Unavailable};
        match self {
            ContractsImportError::Execute(error) => error.classify().of("import_failed"),
            ContractsImportError::Load(error) => error.classify().of("import_failed"),
            ContractsImportError::Interrupted { .. } => Unavailable.code("import_failed"),
            ContractsImportError::Unreadable { .. } => Failed.code("import_failed"),
        }
    }
}
