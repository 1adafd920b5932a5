//! What can be wrong with a spool.

use std::io;
use std::path::PathBuf;

use annals::OpenError;
use annals::event_log::{Classification, Classified, ErrorClass};

/// Why an event could not be kept, or what waits could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpoolError {
    /// The log is in memory, and has nothing beside it.
    #[error("a log in memory has no spool; name a directory with --log")]
    InMemory,
    /// A file, a pipe or a device is where the log would be.
    #[error("{path} is not a folder, and no log: name the folder of one with --log", path = .path.display())]
    NotAFolder {
        /// What was named.
        path: PathBuf,
    },
    /// The log's URL is none.
    #[error(transparent)]
    Log(#[from] OpenError),
    /// The log is on PostgreSQL, and this user has no folder of their own.
    #[error(
        "the home folder is not known, and with it no place for what a log on PostgreSQL cannot take in time; set HOME"
    )]
    NoHome,
    /// So many events wait that there is no room for more.
    #[error("the spool {path} is full: {count} events with {bytes} bytes wait; any command that writes to the log takes them in", path = .path.display())]
    Full {
        /// The folder.
        path: PathBuf,
        /// How many wait.
        count: usize,
        /// How many bytes they have.
        bytes: u64,
    },
    /// The folder belongs to somebody else, or has something of somebody else.
    #[error("the spool {path} is not used: it is not this user's own folder, or has files of others", path = .path.display())]
    NotOwn {
        /// The folder.
        path: PathBuf,
    },
    /// The folder could not be read or written.
    #[error("the spool {path} cannot be used: {source}", path = .path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What failed.
        #[source]
        source: io::Error,
    },
}

impl Classified for SpoolError {
    fn classify(&self) -> Classification {
        match self {
            SpoolError::NotAFolder { .. } => ErrorClass::Failed.code("not_a_log"),
            SpoolError::InMemory => ErrorClass::Invalid.code("in_memory"),
            SpoolError::Log(error) => error.classify(),
            SpoolError::NoHome => ErrorClass::Usage.code("no_home"),
            SpoolError::Full { .. } => ErrorClass::Refused.code("spool_full"),
            SpoolError::NotOwn { .. } => ErrorClass::Refused.code("spool_not_own"),
            SpoolError::Io { .. } => ErrorClass::Failed.code("spool"),
        }
    }
}
