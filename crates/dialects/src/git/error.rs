//! Why a repository was not imported.

use std::error::Error as StdError;
use std::path::PathBuf;

use annals::ExecuteError;
use annals_event_log::{Classification, Classified, ErrorClass, ReadError};

use super::objects::Fault;
use super::own_files::Refusal;

/// Why an import of a repository stopped. Commits that were imported before
/// stay; repeating the import goes on behind them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitImportError {
    /// There is no repository at the path, nor in any folder above it.
    #[error("{} is not a git repository, nor is any folder above it; give the path of one", path.display())]
    NotARepository {
        /// The path that was given.
        path: PathBuf,
    },
    /// The repository is there, but something in it cannot be read.
    #[error("the git repository at {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The path that was given.
        path: PathBuf,
        /// What failed.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
    /// An object that should be there is not: a partial clone, or damage.
    #[error("the object {object} is missing from the git repository at {}; look with `git fsck`; a partial clone gets it with `git fetch --refetch --no-filter`", path.display())]
    MissingObject {
        /// The path that was given.
        path: PathBuf,
        /// The object's id.
        object: String,
    },
    /// A commit's commands were not executed.
    #[error("commit {commit} was not imported: {source}")]
    Execute {
        /// The commit's id.
        commit: String,
        /// Why not.
        #[source]
        source: Box<ExecuteError>,
    },
    /// The log could not be asked what it has already.
    #[error("the log cannot be read: {0}")]
    Log(#[from] ReadError),
    /// The thread that reads the repository could not be started.
    #[error("no thread could be started to read the repository: {0}")]
    Thread(#[source] std::io::Error),
    /// The thread that reads the repository ended without an answer.
    #[error("reading the git repository at {} ended unexpectedly; repeat the import, it goes on where it stopped", path.display())]
    Interrupted {
        /// The path that was given.
        path: PathBuf,
    },
}

impl Classified for GitImportError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, NotFound, Unavailable};
        match self {
            GitImportError::NotARepository { .. } => NotFound.code("import_failed"),
            GitImportError::Unreadable { .. } | GitImportError::MissingObject { .. } => {
                Failed.code("import_failed")
            }
            GitImportError::Execute { source, .. } => source.classify().of("import_failed"),
            GitImportError::Log(error) => error.classify().of("import_failed"),
            GitImportError::Thread(_) | GitImportError::Interrupted { .. } => {
                Unavailable.code("import_failed")
            }
        }
    }
}

/// What ends the reading of a repository, without its path.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Something of its own folder, or of its objects as a whole.
    Refused(Refusal),
    /// The commit that it all begins with.
    Head(Fault),
    /// There is more of something than memory is bounded for.
    TooMany(&'static str),
}

impl Trouble {
    pub(super) fn at(self, path: &std::path::Path) -> GitImportError {
        let path = path.to_owned();
        let source: Box<dyn StdError + Send + Sync> = match self {
            Trouble::Head(Fault::Missing(object)) => {
                let object = object.to_string();
                return GitImportError::MissingObject { path, object };
            }
            Trouble::Head(fault) => Box::new(fault),
            Trouble::Refused(refusal) => Box::new(refusal),
            Trouble::TooMany(what) => what.into(),
        };
        GitImportError::Unreadable { path, source }
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Trouble {
        Trouble::Refused(refusal)
    }
}
