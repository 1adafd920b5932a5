//! Why an import or an export came to nothing.

use std::io;
use std::path::PathBuf;

use annals::{ExecuteError, LoadError, ViewError};
use annals_event_log::{Classification, Classified, ErrorClass, ReadError};

/// Why an import stopped. What was adopted before it stays, and the next
/// import leaves it as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitInternalImportError {
    /// A file or folder cannot be read.
    #[error("cannot read {path}: {source}", path = .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder has no file that could hold objects.
    #[error(
        "{path} has no .json, .jsonl or .ndjson file; other files and links in it: {passed_over}",
        path = .path.display()
    )]
    Empty {
        /// The folder.
        path: PathBuf,
        /// How many files and links it has that were not looked into.
        passed_over: u64,
    },
    /// The log did not take objects.
    #[error("the log did not take the objects: {0}")]
    Execute(#[from] Box<ExecuteError>),
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The thread that reads the source ended before its end.
    #[error("reading {path} was interrupted; import it again", path = .path.display())]
    Interrupted {
        /// The source.
        path: PathBuf,
    },
}

impl Classified for GitInternalImportError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, Unavailable};
        match self {
            GitInternalImportError::Unreadable { .. } | GitInternalImportError::Empty { .. } => {
                Failed.code("import_failed")
            }
            GitInternalImportError::Execute(error) => error.classify().of("import_failed"),
            GitInternalImportError::Load(error) => error.classify().of("import_failed"),
            GitInternalImportError::Interrupted { .. } => Unavailable.code("import_failed"),
        }
    }
}

/// Why an export stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitInternalExportError {
    /// An object could not be viewed.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An object could not be rendered, or a record not be decoded.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl Classified for GitInternalExportError {
    fn classify(&self) -> Classification {
        match self {
            GitInternalExportError::View(error) => error.classify().of("export_failed"),
            GitInternalExportError::Read(error) => error.classify().of("export_failed"),
            GitInternalExportError::Load(error) => error.classify().of("export_failed"),
        }
    }
}
