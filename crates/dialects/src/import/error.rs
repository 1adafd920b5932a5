//! Why recordings were not imported.

use std::io;
use std::path::PathBuf;

use annals::{BulkError, ViewError};
use annals_event_log::{Classification, Classified, ErrorClass, ReadError};

/// Why an import of recordings stopped. What was imported before stays;
/// repeating the import goes on behind it. A line that cannot be read stops
/// nothing: it is named in the report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What failed.
        #[source]
        source: io::Error,
    },
    /// The folder has no recordings.
    #[error("there is no {wanted} in {} or below it; give the path of a recorded session, or of a folder of them", path.display())]
    NoRecordings {
        /// The path that was given.
        path: PathBuf,
        /// What was looked for.
        wanted: String,
    },
    /// The file is not a recording of this agent.
    #[error("{} is not a recording of {expected}: it looks like one of {found}; leave the agent out, and the recording says whose it is", path.display())]
    AnotherAgent {
        /// The path that was given.
        path: PathBuf,
        /// The agent that was asked for.
        expected: &'static str,
        /// The agent that the file is of.
        found: &'static str,
    },
    /// The file is not a recording of any known agent.
    #[error("{} is not a recording that is known; `annals import --help` lists the agents", path.display())]
    UnknownRecording {
        /// The path that was given.
        path: PathBuf,
    },
    /// There is no such agent.
    #[error("unknown agent \"{agent}\": expected one of {known}")]
    UnknownAgent {
        /// The agent that was asked for.
        agent: String,
        /// The agents that there are.
        known: String,
    },
    /// Commands of a line, or of lines before it, were not executed.
    #[error("{}{source}", at(file, *line))]
    Record {
        /// The file.
        file: String,
        /// The line up to which was read, from 1; 0 where it is not known.
        line: u64,
        /// Why not.
        #[source]
        source: Box<BulkError>,
    },
    /// The log could not be asked what it has already.
    #[error("the log cannot be read: {0}")]
    Log(#[from] ReadError),
    /// A session's task could not be looked at.
    #[error("the log cannot be read: {0}")]
    View(#[source] Box<ViewError>),
    /// The thread that reads the recordings could not be started.
    #[error("no thread could be started to read the recordings: {0}")]
    Thread(#[source] io::Error),
    /// The thread that reads the recordings ended without an answer.
    #[error("reading {} ended unexpectedly; repeat the import, it goes on where it stopped", path.display())]
    Interrupted {
        /// The path that was given.
        path: PathBuf,
    },
}

impl Classified for ImportError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, Invalid, NotFound, Unavailable};
        match self {
            ImportError::Unreadable { .. } => Failed.code("import_failed"),
            ImportError::NoRecordings { .. } => NotFound.code("import_failed"),
            ImportError::AnotherAgent { .. }
            | ImportError::UnknownRecording { .. }
            | ImportError::UnknownAgent { .. } => Invalid.code("import_failed"),
            ImportError::Record { source, .. } => source.classify().of("import_failed"),
            ImportError::Log(error) => error.classify().of("import_failed"),
            ImportError::View(error) => error.classify().of("import_failed"),
            ImportError::Thread(_) | ImportError::Interrupted { .. } => {
                Unavailable.code("import_failed")
            }
        }
    }
}

impl ImportError {
    /// Returns `true` if the file is no recording of the agent that was asked for: another one's, or none.
    pub fn is_no_recording(&self) -> bool {
        matches!(
            self,
            ImportError::NoRecordings { .. }
                | ImportError::AnotherAgent { .. }
                | ImportError::UnknownRecording { .. }
        )
    }

    /// Whether it is about the log, and not about what was to be imported.
    pub fn is_of_log(&self) -> bool {
        matches!(
            self,
            ImportError::Record { .. } | ImportError::Log(_) | ImportError::View(_)
        )
    }
}

fn at(file: &str, line: u64) -> String {
    match line {
        0 => format!("{file} was not imported: "),
        line => format!("{file} was not imported from about line {line} on: "),
    }
}
